// Relocations of x86-64 and 64-bit Arm: see machine.hpp.
#include "cpu/loader/machine.hpp"

#include <elf.h>

#include <cstring>

namespace cucore::cpu::loader {
namespace {

template <typename Word>
bool put(void* place, Word word) {
  std::memcpy(place, &word, sizeof word);
  return true;
}

bool put_distance(void* place, std::uint64_t distance) {
  const auto narrowed = static_cast<std::int32_t>(distance);
  return static_cast<std::uint64_t>(std::int64_t{narrowed}) == distance && put(place, narrowed);
}

// ---- x86-64 --------------------------------------------------------------------------------------------------------

RelocationKind x86_64_kind(std::uint64_t type) {
  switch (type) {
    case R_X86_64_NONE:
      return {LeadsTo::Nothing, 0};
    case R_X86_64_64:
    case R_X86_64_PC64:
      return {LeadsTo::Symbol, 8};
    case R_X86_64_PC32:
      return {LeadsTo::Symbol, 4};
    case R_X86_64_PLT32:
      return {LeadsTo::Call, 4};
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return {LeadsTo::Slot, 4};
    default:
      return {};
  }
}

bool x86_64_apply(std::uint64_t type, void* place, std::uint64_t target, std::uint64_t here) {
  if (type == R_X86_64_64) return put(place, target);
  if (type == R_X86_64_PC64) return put(place, target - here);
  return put_distance(place, target - here);
}

void x86_64_stub(void* place, std::uint64_t here, std::uint64_t slot) {
  // jmp *offset(%rip)
  const unsigned char jump[] = {0xff, 0x25};
  std::memcpy(place, jump, sizeof jump);
  put(static_cast<char*>(place) + sizeof jump, static_cast<std::int32_t>(slot - (here + 6)));
}

// ---- 64-bit Arm ----------------------------------------------------------------------------------------------------

RelocationKind aarch64_kind(std::uint64_t type) {
  switch (type) {
    case R_AARCH64_NONE:
      return {LeadsTo::Nothing, 0};
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
      return {LeadsTo::Symbol, 8};
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_LO21:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
    case R_AARCH64_CONDBR19:
    case R_AARCH64_TSTBR14:
      return {LeadsTo::Symbol, 4};
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return {LeadsTo::Call, 4};
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return {LeadsTo::Slot, 4};
    default:
      return {};
  }
}

/// Puts the low `bits` of a number into an instruction, `shift` bits up, over what is there.
bool put_field(void* place, std::uint64_t number, unsigned bits, unsigned shift) {
  std::uint32_t instruction;
  std::memcpy(&instruction, place, sizeof instruction);
  const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << bits) - 1) << shift);
  return put(place, (instruction & ~mask) | (static_cast<std::uint32_t>(number << shift) & mask));
}

bool fits(std::uint64_t number, unsigned bits) {
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  return number + half < 2 * half;
}

/// A distance in instructions.
bool put_branch(void* place, std::uint64_t distance, unsigned bits, unsigned shift) {
  return distance % 4 == 0 && fits(distance, bits + 2) && put_field(place, distance / 4, bits, shift);
}

/// That of adr and adrp, whose low bits stand apart.
bool put_offset(void* place, std::uint64_t offset) {
  constexpr unsigned all = 21, low = 2;
  return fits(offset, all) && put_field(place, offset, low, 29) && put_field(place, offset >> low, all - low, 5);
}

constexpr std::uint64_t page_bits = 12;  // of adrp, whatever the system's pages are

/// The offset within a page, in units of what is accessed.
bool put_in_page(void* place, std::uint64_t target, unsigned shift) {
  const std::uint64_t offset = target & ((std::uint64_t{1} << page_bits) - 1);
  return offset % (std::uint64_t{1} << shift) == 0 && put_field(place, offset >> shift, page_bits, 10);
}

std::uint64_t pages_between(std::uint64_t here, std::uint64_t target) {
  return static_cast<std::uint64_t>(
      static_cast<std::int64_t>((target >> page_bits << page_bits) - (here >> page_bits << page_bits)) >> page_bits);
}

bool aarch64_apply(std::uint64_t type, void* place, std::uint64_t target, std::uint64_t here) {
  switch (type) {
    case R_AARCH64_ABS64:
      return put(place, target);
    case R_AARCH64_PREL64:
      return put(place, target - here);
    case R_AARCH64_PREL32:
      return put_distance(place, target - here);
    case R_AARCH64_ADR_PREL_LO21:
      return put_offset(place, target - here);
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
      return put_offset(place, pages_between(here, target));
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return put_in_page(place, target, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return put_in_page(place, target, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return put_in_page(place, target, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return put_in_page(place, target, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return put_in_page(place, target, 4);
    case R_AARCH64_CONDBR19:
      return put_branch(place, target - here, 19, 5);
    case R_AARCH64_TSTBR14:
      return put_branch(place, target - here, 14, 5);
    default:
      return put_branch(place, target - here, 26, 0);
  }
}

void aarch64_stub(void* place, std::uint64_t here, std::uint64_t slot) {
  const std::uint32_t jump[] = {
      0x90000010,  // adrp x16, slot
      0xf9400210,  // ldr x16, [x16, low bits of slot]
      0xd61f0200,  // br x16
      0xd503201f,  // nop
  };
  std::memcpy(place, jump, sizeof jump);
  aarch64_apply(R_AARCH64_ADR_GOT_PAGE, place, slot, here);
  aarch64_apply(R_AARCH64_LD64_GOT_LO12_NC, static_cast<char*>(place) + sizeof *jump, slot, here);
}

}  // namespace

const Machine x86_64{.name = "x86-64",
                     .elf_number = EM_X86_64,
                     .address = R_X86_64_64,
                     .stub_bytes = 8,
                     .kind = x86_64_kind,
                     .apply = x86_64_apply,
                     .write_stub = x86_64_stub};

const Machine aarch64{.name = "64-bit Arm",
                      .elf_number = EM_AARCH64,
                      .address = R_AARCH64_ABS64,
                      .stub_bytes = 16,
                      .kind = aarch64_kind,
                      .apply = aarch64_apply,
                      .write_stub = aarch64_stub};

const Machine& this_machine() {
#if defined(__aarch64__)
  return aarch64;
#else
  return x86_64;
#endif
}

}  // namespace cucore::cpu::loader
