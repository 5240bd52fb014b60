// What a null stream means to the call in progress: the legacy default stream, or (in `_ptds` and `_ptsz` variants)
// the calling thread's own. The variants set it for the duration of the plain call they forward to.
#pragma once

namespace cucore::cpu::runtime {

class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream() : outer_(current_) { current_ = true; }
  ~PerThreadDefaultStream() { current_ = outer_; }
  PerThreadDefaultStream(const PerThreadDefaultStream&) = delete;
  PerThreadDefaultStream& operator=(const PerThreadDefaultStream&) = delete;

  static bool requested() { return current_; }

 private:
  static thread_local bool current_;
  bool outer_;
};

}  // namespace cucore::cpu::runtime
