// What kernels printed: see printf_buffer.hpp.
#include "cpu/runtime/objects/printf_buffer.hpp"

#include <cstdio>
#include <utility>

namespace cucore::cpu::runtime {

void PrintfBuffer::append(std::string text) {
  const std::lock_guard lock(mutex_);
  bytes_ += text.size();
  lines_.push_back(std::move(text));
  while (bytes_ > capacity_ && !lines_.empty()) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
}

void PrintfBuffer::flush() {
  std::unique_lock lock(mutex_);
  if (lines_.empty()) return;
  const std::deque<std::string> lines = std::exchange(lines_, {});
  bytes_ = 0;
  lock.unlock();
  for (const std::string& line : lines) std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::size_t PrintfBuffer::capacity() const {
  const std::lock_guard lock(mutex_);
  return capacity_;
}

void PrintfBuffer::set_capacity(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

}  // namespace cucore::cpu::runtime
