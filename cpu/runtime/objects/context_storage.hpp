// Context-local storage for another library: values under keys, each with a function that is called at the context's
// end. The CUDA run-time library has its state of a context here and looks it up in every call. Thread-safe.
#pragma once

#include <cuda.h>

#include <map>
#include <shared_mutex>

namespace cucore::cpu::runtime {

class ContextStorage {
 public:
  using End = void (*)(CUcontext context, void* key, void* value);

  /// Replaces what was under the key. `at_end` may be null.
  void put(void* key, void* value, End at_end);
  /// False if there is nothing under the key.
  bool find(void* key, void** value) const;
  /// Forgets the value without calling its function.
  bool remove(void* key);
  /// Forgets all values and calls their functions, with no lock held.
  void end(CUcontext context);

 private:
  struct Kept {
    void* value;
    End at_end;
  };
  mutable std::shared_mutex mutex_;
  std::map<void*, Kept> kept_;
};

}  // namespace cucore::cpu::runtime
