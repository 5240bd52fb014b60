// How C++ that generated code calls uses the checker: where only it knows which bytes an instruction touches
// (accesses_by_itself), it reports them itself.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library {

/// Checks a copy or matrix, consecutive bytes at once. Does nothing in code that is not checked.
class SelfChecks {
 public:
  /// `flags` of check_access; addresses are multiples of `alignment`.
  SelfChecks(ThreadState* thread, std::uint32_t flags, CheckedSpace space, std::uint32_t alignment)
      : checks_(thread->block->launch->checks),
        thread_(thread),
        access_(flags | static_cast<std::uint32_t>(space) << check_access::space_shift |
                static_cast<std::uint32_t>(std::countr_zero(alignment)) << check_access::align_shift) {}

  bool are_wanted() const { return checks_ != nullptr; }

  void add(const void* address, std::uint32_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at != begin_ + bytes_) {
      ask();
      begin_ = at;
      bytes_ = 0;
    }
    bytes_ += bytes;
  }

  /// Reports the accesses so far to an mbarrier.
  void deliver_to(const void* barrier) {
    constexpr auto shared = static_cast<std::uint32_t>(CheckedSpace::Shared) << check_access::space_shift;
    if (checks_ != nullptr)
      checks_->race(thread_, reinterpret_cast<std::uintptr_t>(barrier), sizeof(std::uint64_t),
                    check_access::arrives | shared, thread_->place & ~aligned_place);
  }

  /// Whether all that was added may be accessed.
  bool may_happen() {
    ask();
    bytes_ = 0;
    return may_happen_;
  }

 private:
  void ask() {
    if (checks_ != nullptr && bytes_ != 0 && checks_->access(thread_, begin_, bytes_, access_) == 0)
      may_happen_ = false;
  }

  const CheckTable* checks_;
  ThreadState* thread_;
  std::uint32_t access_;
  std::uintptr_t begin_ = 0;
  std::uint32_t bytes_ = 0;
  bool may_happen_ = true;
};

}  // namespace cucore::cpu::device_library
