// Which access a fault is of, as far as the PTX tells: nothing is claimed that may be otherwise.
#include <gtest/gtest.h>

#include <vector>

#include "cpu/loader/faulting_access.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu::loader {
namespace {

using Lines = std::vector<std::uint32_t>;

/// Of a kernel whose instructions stand on the lines from 10 on.
PtxPlace place_at(const std::string& instructions, std::uint32_t line) {
  const TestModule module(
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 memory)\n{\n"
      ".reg .b32 %a, %b, %c, %d;\n.reg .b64 %at, %to;\n.reg .pred %p;\n.local .b32 own;\n" +
      instructions + "ret;\n}\n");
  const ptx::Function& function = *module.module().find_function("k");
  for (std::size_t index = 0; index < function.body.size(); ++index)
    if (function.body[index].position.line == line) return place_of_access(function, index);
  ADD_FAILURE() << "no instruction on line " << line;
  return {};
}

TEST(FaultingAccess, accesses_are_their_own) {
  const PtxPlace load = place_at("ld.global.u32 %a, [%at];\n", 10);
  EXPECT_TRUE(load.line == 10 && load.reads && !load.writes);
  const PtxPlace atomic = place_at("ld.global.u32 %a, [%at];\natom.global.add.u32 %b, [%to], %a;\n", 11);
  EXPECT_TRUE(atomic.line == 11 && atomic.reads && atomic.writes);
}

TEST(FaultingAccess, what_computes_names_the_loads_before_it) {
  EXPECT_EQ(place_at("ld.global.u32 %a, [%at];\nadd.u32 %b, %a, 1;\n", 11).loads, Lines{10});
  const char* const through_others =
      "ld.global.u32 %a, [%at];\nld.shared.u32 %b, [%to];\nshl.b32 %b, %b, 1;\nadd.u32 %c, %a, %b;\n";
  EXPECT_EQ(place_at(through_others, 13).loads, (Lines{10, 11}));
  EXPECT_EQ(place_at("mov.u32 %a, %tid.x;\nadd.u32 %b, %a, 1;\n", 11).loads, Lines{});
}

TEST(FaultingAccess, a_store_names_the_loads_of_its_value_and_address) {
  const PtxPlace store =
      place_at("ld.global.u32 %a, [%at];\nld.global.u64 %to, [%at+8];\nst.global.u32 [%to], %a;\n", 12);
  EXPECT_TRUE(store.writes && !store.reads);
  EXPECT_EQ(store.loads, (Lines{10, 11}));
}

TEST(FaultingAccess, a_guarded_instruction_may_keep_what_was_loaded) {
  EXPECT_EQ(place_at("ld.global.u32 %b, [%at];\nsetp.eq.u32 %p, %a, 0;\n@%p add.u32 %b, %a, 1;\n", 12).loads,
            Lines{10});
}

TEST(FaultingAccess, where_values_come_from_elsewhere_no_load_is_named) {
  const char* const load = "ld.global.u32 %a, [%at];\n";
  EXPECT_FALSE(place_at(load + std::string("setp.eq.u32 %p, %a, 0;\n@%p bra end;\nend:\n"), 12).loads);
  EXPECT_FALSE(place_at(load + std::string("ld.local.u32 %b, [own];\nadd.u32 %c, %a, %b;\n"), 12).loads);
  EXPECT_EQ(place_at(load + std::string("ld.param.u32 %b, [memory];\nadd.u32 %c, %a, %b;\n"), 12).loads, Lines{10});
}

}  // namespace
}  // namespace cucore::cpu::loader
