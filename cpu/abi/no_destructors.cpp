// Static objects of the driver and of its compiler library, LLVM's among them, are never destroyed: a thread may be
// compiling when the process ends, and would use destroyed ones. Neither library is ever unloaded (-z nodelete), so
// their memory is freed with the process. LLVM makes some while it is opened and some when it first compiles or meets a
// case; the C++ compiler registers the destructors of all with __cxa_atexit, which the linker (--wrap) turns into this.

extern "C" int __wrap___cxa_atexit(void (*)(void*), void*,
                                   void*);  // NOLINT(bugprone-reserved-identifier): the linker's

extern "C" int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }  // NOLINT(bugprone-reserved-identifier)
