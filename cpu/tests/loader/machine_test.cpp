// Relocations of every kind of processor, wherever the tests run: what they make of an instruction, and how far they
// reach.
#include "cpu/loader/machine.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace cucore::cpu::loader {
namespace {

constexpr std::uint64_t base = 0x7f12'3456'7000;

/// What a relocation makes of an instruction at `here`; 0 if it is too far.
std::uint32_t changed(std::uint64_t type, std::uint32_t instruction, std::uint64_t target, std::uint64_t here) {
  return aarch64.apply(type, &instruction, target, here) ? instruction : 0;
}

TEST(Machine, calls_of_arm_reach_128_megabytes_in_steps_of_an_instruction) {
  constexpr std::uint32_t bl = 0x94000000;
  constexpr std::uint64_t most = std::uint64_t{1} << 27;
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base + 8, base), bl | 2);
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base - 4, base), bl | 0x3ffffff);
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base + most - 4, base), bl | 0x1ffffff);
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base - most, base), bl | 0x2000000);
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base + most, base), 0U);
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base - most - 4, base), 0U);
  EXPECT_EQ(changed(R_AARCH64_CALL26, bl, base + 2, base), 0U);
  EXPECT_EQ(changed(R_AARCH64_JUMP26, 0x14000000, base + 12, base), 0x14000003U);
}

TEST(Machine, pages_of_arm_reach_four_gigabytes) {
  constexpr std::uint32_t adrp = 0x90000003;
  EXPECT_EQ(changed(R_AARCH64_ADR_PREL_PG_HI21, adrp, base + 0x123, base + 0xffc), adrp);
  EXPECT_EQ(changed(R_AARCH64_ADR_PREL_PG_HI21, adrp, base + 0x1000, base + 0xffc), adrp | 1U << 29);
  EXPECT_EQ(changed(R_AARCH64_ADR_PREL_PG_HI21, adrp, base + 0x4000, base), adrp | 1U << 5);
  EXPECT_EQ(changed(R_AARCH64_ADR_PREL_PG_HI21, adrp, base - 1, base), adrp | 3U << 29 | 0x7ffffU << 5);
  EXPECT_EQ(changed(R_AARCH64_ADR_PREL_PG_HI21, adrp, base + (std::uint64_t{1} << 32), base), 0U);
  EXPECT_NE(changed(R_AARCH64_ADR_PREL_PG_HI21, adrp, base - (std::uint64_t{1} << 32), base), 0U);
}

TEST(Machine, offsets_in_pages_of_arm_count_what_is_accessed) {
  constexpr std::uint64_t target = base + 0xab0;
  EXPECT_EQ(changed(R_AARCH64_ADD_ABS_LO12_NC, 0x91000063, target + 1, base), 0x91000063U | 0xab1U << 10);
  EXPECT_EQ(changed(R_AARCH64_LDST8_ABS_LO12_NC, 0x39400063, target + 1, base), 0x39400063U | 0xab1U << 10);
  EXPECT_EQ(changed(R_AARCH64_LDST16_ABS_LO12_NC, 0x79400063, target, base), 0x79400063U | 0xab0U / 2 << 10);
  EXPECT_EQ(changed(R_AARCH64_LDST32_ABS_LO12_NC, 0xb9400063, target, base), 0xb9400063U | 0xab0U / 4 << 10);
  EXPECT_EQ(changed(R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400063, target, base), 0xf9400063U | 0xab0U / 8 << 10);
  EXPECT_EQ(changed(R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00063, target, base), 0x3dc00063U | 0xab0U / 16 << 10);
  EXPECT_EQ(changed(R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400063, target + 4, base), 0U) << "it is not aligned";
}

TEST(Machine, addresses_and_distances_of_arm_are_words) {
  std::uint64_t word = 0;
  EXPECT_TRUE(aarch64.apply(R_AARCH64_ABS64, &word, base, 0));
  EXPECT_EQ(word, base);
  EXPECT_TRUE(aarch64.apply(R_AARCH64_PREL64, &word, base - 8, base));
  EXPECT_EQ(word, ~std::uint64_t{7});
  std::int32_t half = 0;
  EXPECT_TRUE(aarch64.apply(R_AARCH64_PREL32, &half, base - 8, base));
  EXPECT_EQ(half, -8);
  EXPECT_FALSE(aarch64.apply(R_AARCH64_PREL32, &half, base + (std::uint64_t{1} << 31), base));
  EXPECT_EQ(aarch64.kind(aarch64.address).bytes, 8U);
  EXPECT_EQ(x86_64.kind(x86_64.address).bytes, 8U);
}

TEST(Machine, what_is_not_known_is_said_to_be_so) {
  for (const Machine* const machine : {&x86_64, &aarch64}) {
    EXPECT_EQ(machine->kind(0).leads_to, LeadsTo::Nothing);
    EXPECT_EQ(machine->kind(9999).leads_to, LeadsTo::Unknown);
  }
}

TEST(Machine, stubs_jump_by_way_of_their_slot) {
  std::uint32_t jump[4];
  aarch64.write_stub(jump, base + 0xff0, base + 0x1018);
  EXPECT_EQ(jump[0], 0xb0000010U) << "adrp x16, of the next page";
  EXPECT_EQ(jump[1], 0xf9400e10U) << "ldr x16, [x16, 0x18]";
  EXPECT_EQ(jump[2], 0xd61f0200U) << "br x16";
  unsigned char bytes[8] = {};
  x86_64.write_stub(bytes, base, base + 0x106);
  EXPECT_EQ(bytes[0], 0xff);
  EXPECT_EQ(bytes[1], 0x25);
  EXPECT_EQ(bytes[2], 0x00);
  EXPECT_EQ(bytes[3], 0x01);
}

}  // namespace
}  // namespace cucore::cpu::loader
