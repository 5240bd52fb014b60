// A driver that passes everything on to the one named by NEWER_DRIVER, but compiles no PTX of version 8.0 or newer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, int*);
typedef int (*LoadData)(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);

int cucore_cpu_device_version = 1;  // says that this is the CPU device

static LoadData load_data;

static int load_no_new_ptx(void** library, const void* code, int* a, void** b, unsigned c, int* d, void** e,
                           unsigned f) {
  const char* version = memcmp(code,
                               "\x7f"
                               "ELF",
                               4) == 0
                            ? NULL
                            : strstr(code, ".version ");
  if (version != NULL && atoi(version + strlen(".version ")) >= 8) return 222;
  return load_data(library, code, a, b, c, d, e, f);
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static GetProcAddress get;
  if (get == NULL) get = (GetProcAddress)dlsym(dlopen(getenv("NEWER_DRIVER"), RTLD_NOW), "cuGetProcAddress_v2");
  const int code = get(name, function, version, flags, status);
  if (code == 0 && strcmp(name, "cuLibraryLoadData") == 0) {
    load_data = (LoadData)*function;
    *function = (void*)load_no_new_ptx;
  }
  return code;
}
