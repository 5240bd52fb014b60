// What kernels printed that no synchronisation has shown yet: bounded, oldest lines dropped first. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

namespace cucore::cpu::runtime {

class PrintfBuffer {
 public:
  void append(std::string text);
  /// Writes everything to standard output, in order.
  void flush();
  std::size_t capacity() const;
  void set_capacity(std::size_t bytes);

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  std::size_t capacity_ = 1u << 20;
};

}  // namespace cucore::cpu::runtime
