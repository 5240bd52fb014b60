// Events between processes: two counters in memory that all of them map. Thread-safe.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "cpu/runtime/process/shared_file.hpp"

namespace cucore::cpu::runtime {

class SharedEvent {
 public:
  /// Null if the system has no memory for it.
  static std::shared_ptr<SharedEvent> create();
  /// Whether the handle is of an event that this process made.
  static bool is_own(const CUipcEventHandle& handle);
  /// Null for a handle that is none, or whose event is gone.
  static std::shared_ptr<SharedEvent> open(const CUipcEventHandle& handle);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  void write(CUipcEventHandle* handle) const;
  std::uint64_t begin();  ///< a recording starts; its number
  void reach(std::uint64_t number);
  std::uint64_t latest() const;
  bool is_reached(std::uint64_t number) const;

 private:
  struct State {
    std::uint64_t magic;
    std::atomic<std::uint64_t> begun;
    std::atomic<std::uint64_t> reached;
  };
  SharedEvent(int file, const SharedFileName& name) : file_(file), name_(name) {}
  static State* map(int file);

  const File file_;  ///< kept open: others find it there
  const SharedFileName name_;
  State* state_ = nullptr;
};

}  // namespace cucore::cpu::runtime
