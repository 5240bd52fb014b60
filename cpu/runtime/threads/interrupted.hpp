// The registers of a thread that a signal interrupted, as its handler is given them: what differs from one kind of
// processor to another.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

/// In a signal handler: calls nothing that a handler may not call.
class Interrupted {
 public:
  /// `registers`: the handler's third argument.
  explicit Interrupted(void* registers) : machine_(static_cast<ucontext_t*>(registers)->uc_mcontext) {}

  std::uintptr_t instruction() const;
  /// Of a fault in memory, Unknown for others and where the system does not say.
  Fault::Access access() const;
  /// When the handler returns, the thread calls `function(fiber)` on a stack that ends at `top`, a multiple of 16.
  void go_on_in(void (*function)(Fiber*), Fiber* fiber, std::uintptr_t top);

 private:
  mcontext_t& machine_;
};

#if defined(__x86_64__)
inline std::uintptr_t Interrupted::instruction() const { return static_cast<std::uintptr_t>(machine_.gregs[REG_RIP]); }

inline Fault::Access Interrupted::access() const {
  constexpr greg_t page_fault = 14, writes_memory = 2;  // the exception, and a bit of its error code
  if (machine_.gregs[REG_TRAPNO] != page_fault) return Fault::Access::Unknown;
  return (machine_.gregs[REG_ERR] & writes_memory) != 0 ? Fault::Access::Write : Fault::Access::Read;
}

inline void Interrupted::go_on_in(void (*function)(Fiber*), Fiber* fiber, std::uintptr_t top) {
  machine_.gregs[REG_RDI] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(fiber));
  machine_.gregs[REG_RSP] = static_cast<greg_t>(top - 8);  // as after a call
  machine_.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(function));
}
#elif defined(__aarch64__)
inline std::uintptr_t Interrupted::instruction() const { return machine_.pc; }

/// By the syndrome register, which Linux saves for faults in memory (qemu-user before 8.2 does not).
inline Fault::Access Interrupted::access() const {
  constexpr std::uint32_t syndrome_magic = 0x45535201;
  constexpr std::uint64_t of_class = 26, data_abort = 0x24, data_abort_in_place = 0x25, writes_memory = 1U << 6;
  struct Header {
    std::uint32_t magic, size;
  };
  const unsigned char* at = machine_.__reserved;
  const unsigned char* const end = at + sizeof machine_.__reserved;
  while (at + sizeof(Header) + sizeof(std::uint64_t) <= end) {
    const auto* const record = reinterpret_cast<const Header*>(at);
    if (record->magic == 0 || record->size < sizeof(Header)) break;
    if (record->magic == syndrome_magic) {
      const std::uint64_t syndrome = *reinterpret_cast<const std::uint64_t*>(at + sizeof(Header));
      const std::uint64_t kind = syndrome >> of_class & 0x3f;
      if (kind != data_abort && kind != data_abort_in_place) break;
      return (syndrome & writes_memory) != 0 ? Fault::Access::Write : Fault::Access::Read;
    }
    at += record->size;
  }
  return Fault::Access::Unknown;
}

inline void Interrupted::go_on_in(void (*function)(Fiber*), Fiber* fiber, std::uintptr_t top) {
  machine_.regs[0] = reinterpret_cast<std::uintptr_t>(fiber);
  machine_.sp = top;
  machine_.pc = reinterpret_cast<std::uintptr_t>(function);
}
#else
#error "the fault handler knows x86-64 and 64-bit Arm"
#endif

}  // namespace cucore::cpu::runtime
