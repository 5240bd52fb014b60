// A driver that passes everything on to the one named by NEWER_DRIVER, but has nothing that came with CUDA 12.4: no
// question for a kernel's parameters, nor for the kernels of a library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, int*);

int cucore_cpu_device_version = 1;  // says that this is the CPU device

static const char* const lacking[] = {"cuKernelGetParamInfo", "cuFuncGetParamInfo", "cuLibraryGetKernelCount",
                                      "cuLibraryEnumerateKernels"};

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static GetProcAddress get;
  if (get == NULL) get = (GetProcAddress)dlsym(dlopen(getenv("NEWER_DRIVER"), RTLD_NOW), "cuGetProcAddress_v2");
  for (unsigned i = 0; i < sizeof lacking / sizeof *lacking; ++i) {
    if (strcmp(name, lacking[i]) != 0) continue;
    *function = NULL;
    if (status != NULL) *status = 1;
    return 500;
  }
  return get(name, function, version, flags, status);
}
