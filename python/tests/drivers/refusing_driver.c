// A driver that passes everything on to the one named by REAL_DRIVER, and refuses the calls that a test tells it to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef long Word;
// Every wrapped call has at most eight arguments, all of them integers or pointers: handing on more than there are is
// harmless.
typedef int (*Call)(Word, Word, Word, Word, Word, Word, Word, Word);
typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, int*);

int cucore_cpu_device_version = 1;  // says that this is the CPU device

static struct {
  const char* name;
  Call call;
  int code;   // what to answer, 0: what the driver does, below 0: -code where no context is current
  int after;  // how many calls go through first
} wrapped[] = {{"cuInit"},          {"cuDeviceGetAttribute"}, {"cuEventCreate"},      {"cuEventRecord"},
               {"cuEventQuery"},    {"cuEventDestroy"},       {"cuEventElapsedTime"}, {"cuStreamCreateWithPriority"},
               {"cuStreamGetCtx"},  {"cuStreamQuery"},        {"cuStreamWaitEvent"},  {"cuStreamDestroy"},
               {"cuCtxSetCurrent"}, {"cuStreamSynchronize"},  {"cuCtxSynchronize"},   {"cuEventSynchronize"}};
enum { kCalls = sizeof wrapped / sizeof *wrapped };

static void* of_driver(const char* name) { return dlsym(dlopen(getenv("REAL_DRIVER"), RTLD_NOW), name); }

static int has_context(void) {
  void* current = NULL;
  return ((int (*)(void**))of_driver("cuCtxGetCurrent"))(&current) == 0 && current != NULL;
}

#define WRAPPER(n)                                                                      \
  static int call_##n(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h) { \
    if (wrapped[n].code < 0 && !has_context()) return -wrapped[n].code;                 \
    if (wrapped[n].code > 0 && wrapped[n].after-- <= 0) return wrapped[n].code;         \
    return wrapped[n].call(a, b, c, d, e, f, g, h);                                     \
  }
WRAPPER(0)
WRAPPER(1)
WRAPPER(2)
WRAPPER(3)
WRAPPER(4)
WRAPPER(5)
WRAPPER(6)
WRAPPER(7)
WRAPPER(8)
WRAPPER(9)
WRAPPER(10)
WRAPPER(11)
WRAPPER(12)
WRAPPER(13)
WRAPPER(14)
WRAPPER(15)
static const Call wrappers[] = {call_0, call_1, call_2,  call_3,  call_4,  call_5,  call_6,  call_7,
                                call_8, call_9, call_10, call_11, call_12, call_13, call_14, call_15};
_Static_assert(sizeof wrappers / sizeof *wrappers == kCalls, "a wrapper for each call");

// From now on `name` answers `code`, once `after` calls have gone through; 0: it works again. Below 0: it answers -code
// where no context is current.
int refuse(const char* name, int code, int after) {
  for (int i = 0; i < kCalls; ++i) {
    if (strcmp(wrapped[i].name, name) != 0) continue;
    wrapped[i].after = after;
    wrapped[i].code = code;
    return 1;
  }
  return 0;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static GetProcAddress get;
  if (get == NULL) get = (GetProcAddress)of_driver("cuGetProcAddress_v2");
  const int code = get(name, function, version, flags, status);
  for (int i = 0; code == 0 && i < kCalls; ++i) {
    if (strcmp(wrapped[i].name, name) != 0) continue;
    wrapped[i].call = (Call)*function;
    *function = (void*)wrappers[i];
  }
  return code;
}
