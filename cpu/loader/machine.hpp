// How object code of each kind of processor refers to other code and data: its relocations, as the compiler library's
// code models use them. All kinds are known everywhere, so that all are tested everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::loader {

/// What stands at the place that a relocation leads to.
enum class LeadsTo : std::uint8_t {
  Unknown,  ///< to this file
  Nothing,  ///< the relocation has nothing to do
  Symbol,
  Call,  ///< the symbol, or a stub that jumps to it if it is elsewhere: calls do not reach all of memory
  Slot,  ///< a word with the symbol's address
};

/// A kind of relocation.
struct RelocationKind {
  LeadsTo leads_to = LeadsTo::Unknown;
  std::size_t bytes = 0;  ///< of the place that is changed
};

struct Machine {
  const char* name;
  std::uint16_t elf_number;
  std::uint64_t address;   ///< the relocation that is a 64-bit address
  std::size_t stub_bytes;  ///< a multiple of 8
  RelocationKind (*kind)(std::uint64_t type);
  /// Changes `place`, which is at address `here` when the code runs. False if the target is too far away, or not
  /// aligned as the instruction needs it.
  bool (*apply)(std::uint64_t type, void* place, std::uint64_t target, std::uint64_t here);
  /// At address `here`: jumps to the address in the word at `slot`.
  void (*write_stub)(void* place, std::uint64_t here, std::uint64_t slot);
};

extern const Machine x86_64, aarch64;

/// That of the code this is compiled to.
const Machine& this_machine();

}  // namespace cucore::cpu::loader
