// Calls of the toolkit, and loads of code by the driver, that are under way when the process ends. Its libraries and
// the driver's own compiler free what a compile uses in their destructors at exit: without this, a process whose main
// thread returns while another one compiles dies of a segmentation fault, or with "LLVM ERROR" on standard error.
//
// Three things together keep that from happening. Exit waits for the calls that are under way (an atexit function,
// which runs before the destructors that were registered before it). From then on no call begins: it is an error, and
// objects that die later leave their handles to the end of the process. And the destructors that the libraries register
// during a call, for what they make when they first need it, are kept back until exit has waited
// (late_destructors.hpp): they are newer than any function that could be registered before the call, and would be run
// first. Compiling something small beforehand is not enough: each target, and the linker's link-time optimisation,
// registers more.
//
// A fork, too, waits for the calls that are under way, and holds back new ones. So the child can compile and exit;
// otherwise locks could be held by threads that it does not have.
#pragma once

#include <optional>

namespace cucore::toolkit {

/// For the length of a call, or of several. Process exit waits for those of other threads to end, and none begins after
/// that. A call within a call belongs to it. Thread-safe.
class RunningCall {
 public:
  /// For a call that is refused when the process is exiting. @throws StateError naming `call`
  explicit RunningCall(const char* call);
  /// For the release of a handle, which is then left to the end of the process: see operator bool.
  RunningCall() noexcept;
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  /// False: the process is exiting, and the toolkit may not be called any more.
  explicit operator bool() const noexcept { return counted_; }

 private:
  friend class RunningLoad;
  RunningCall(const char* call, bool may_begin_where_the_process_exits);

  bool counted_;
};

/// For a compile that ended early because exit did not want to wait. @throws StateError naming `call`, if so
void require_no_exit(const char* call);

/// The function for nvrtcSetFlowCallback: ends a compile that exit waits for. Neither argument is used.
int cancels(void*, void*);

/// For as long as a library is opened, which registers its destructors meanwhile: exit waits for that, in time. Its
/// first and its last act register the function that waits: for the call, and before the library's destructors run.
class Opening {
 public:
  /// @throws StateError as RunningCall does
  explicit Opening(const char* call = "dlopen");
  ~Opening();
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

 private:
  RunningCall call_;
};

/// For as long as the driver loads code, which it may compile. As a RunningCall, but the thread in which the process
/// exits may load still: nothing ends while it does. The first load of PTX is an Opening, of the driver's compiler.
class RunningLoad {
 public:
  /// @throws StateError naming `call`, in any other thread once the process is exiting
  RunningLoad(const char* call, bool is_ptx);
  ~RunningLoad();
  RunningLoad(const RunningLoad&) = delete;
  RunningLoad& operator=(const RunningLoad&) = delete;

 private:
  RunningCall call_;
  std::optional<Opening> opening_;  // empty but for the first loads of PTX
};

}  // namespace cucore::toolkit
