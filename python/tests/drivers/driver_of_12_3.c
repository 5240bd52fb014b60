// A driver that passes everything on to the one named by NEWER_DRIVER, but says that it is of CUDA 12.3, and has none of
// these that came later: questions for a kernel's parameters and for the kernels of a library, batches of memory
// operations, pools of other memory than a device's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, int*);

int cucore_cpu_device_version = 1;  // says that this is the CPU device

static const char* const lacking[] = {"cuKernelGetParamInfo",
                                      "cuFuncGetParamInfo",
                                      "cuLibraryGetKernelCount",
                                      "cuLibraryEnumerateKernels",
                                      "cuMemcpyBatchAsync",
                                      "cuMemPrefetchBatchAsync",
                                      "cuMemDiscardBatchAsync",
                                      "cuMemDiscardAndPrefetchBatchAsync",
                                      "cuMemGetMemPool",
                                      "cuMemGetDefaultMemPool"};

static int version_12_3(int* version) {
  *version = 12030;
  return 0;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static GetProcAddress get;
  if (get == NULL) get = (GetProcAddress)dlsym(dlopen(getenv("NEWER_DRIVER"), RTLD_NOW), "cuGetProcAddress_v2");
  for (unsigned i = 0; i < sizeof lacking / sizeof *lacking; ++i) {
    if (strcmp(name, lacking[i]) != 0) continue;
    *function = NULL;
    if (status != NULL) *status = 1;
    return 500;
  }
  if (strcmp(name, "cuDriverGetVersion") == 0) {
    *function = (void*)version_12_3;
    return 0;
  }
  return get(name, function, version, flags, status);
}
