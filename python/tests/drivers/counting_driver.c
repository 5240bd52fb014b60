// A driver that passes everything on to the one named by COUNTED_DRIVER, NVIDIA's or the CPU device, counts its loads,
// and holds one on demand. The core asks a driver for cuGetProcAddress_v2 and for nothing else by name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, int*);
typedef int (*LoadData)(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);

#ifdef CPU_DEVICE
int cucore_cpu_device_version = 1;  // says that this is the CPU device
#endif
atomic_int loads, unloads, hold;

static LoadData load_data, load_from_file;
static int (*unload)(void*);

static int counted_load(void** library, const void* code, int* a, void** b, unsigned c, int* d, void** e, unsigned f) {
  atomic_fetch_add(&loads, 1);
  for (int left = 60000; atomic_load(&hold); --left) {
    if (left == 0) return 999;
    usleep(1000);
  }
  return load_data(library, code, a, b, c, d, e, f);
}

static int counted_load_from_file(void** library, const void* path, int* a, void** b, unsigned c, int* d, void** e,
                                  unsigned f) {
  atomic_fetch_add(&loads, 1);
  return load_from_file(library, path, a, b, c, d, e, f);
}

static int counted_unload(void* library) {
  atomic_fetch_add(&unloads, 1);
  return unload(library);
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static GetProcAddress get;
  if (get == NULL) {
    void* driver = dlopen(getenv("COUNTED_DRIVER"), RTLD_NOW);
    if (driver != NULL) get = (GetProcAddress)dlsym(driver, "cuGetProcAddress_v2");
    if (get == NULL) return 999;
  }
  const int code = get(name, function, version, flags, status);
  if (code == 0 && strcmp(name, "cuLibraryLoadData") == 0) {
    load_data = (LoadData)*function;
    *function = (void*)counted_load;
  } else if (code == 0 && strcmp(name, "cuLibraryLoadFromFile") == 0) {
    load_from_file = (LoadData)*function;
    *function = (void*)counted_load_from_file;
  } else if (code == 0 && strcmp(name, "cuLibraryUnload") == 0) {
    unload = (int (*)(void*))*function;
    *function = (void*)counted_unload;
  }
  return code;
}
