// libcuda.so of the Python package: a filter, in the linker's words, for libcuda.so.1 beside it. It has the names of the
// driver's functions, for -lcuda, and the loader takes the functions themselves from there, also for programs that open
// the driver as libcuda.so (IREE). A wheel cannot hold the symbolic link that installations have elsewhere.

// Called by nobody: a loader that knew no filters would come here.
#define NAME(function) \
  extern "C" __attribute__((visibility("default"))) void function() { __builtin_trap(); }
#include "names.def"
