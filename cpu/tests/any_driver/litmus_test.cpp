// Litmus tests: programs of two to four blocks, an access or two each, that run side by side many times. What PTX's
// memory model forbids must never be seen. A processor that is not allowed to reorder what a test is about can only
// show that the test itself is right: x86-64 reorders stores with later loads (SB) and nothing else.
#include <functional>
#include <string>
#include <vector>

#include "cpu/tests/api/driver.hpp"

namespace {

constexpr std::uint32_t rounds = 64 * 256;
constexpr std::uint32_t line_bytes = 128;  // apart, so that no two cells move together

/// What a block does in a round with cells x and y, and results r0 and r1.
struct Litmus {
  const char* name;
  std::vector<std::string> blocks;
  /// Of the results of all blocks, two for each.
  std::function<bool(const std::uint32_t*)> is_forbidden;
};

void PrintTo(const Litmus& litmus, std::ostream* out) { *out << litmus.name; }

/// Every block waits for the others now and then, though not for ever: between two waits they run freely, which is when
/// their accesses meet.
std::string program(const Litmus& litmus) {
  const std::string count = std::to_string(litmus.blocks.size());
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 cells, .param .u64 arrived, .param .u64 results)\n{\n"
      ".reg .u64 %a<4>, %x, %y, %arrived, %out, %old;\n.reg .u32 %r0, %r1, %one, %two, %round, %block, %all, %spins, "
      "%seen;\n.reg .pred %p, %q, %is<4>;\n"
      "ld.param.u64 %a0, [cells];\nld.param.u64 %arrived, [arrived];\nld.param.u64 %a2, [results];\n"
      "mov.u32 %block, %ctaid.x;\nmov.u32 %one, 1;\nmov.u32 %two, 2;\nmov.u32 %round, 0;\nmov.u32 %all, 0;\n"
      "round:\nand.b32 %seen, %round, 63;\nsetp.ne.u32 %p, %seen, 0;\n@%p bra go;\n"
      "add.u32 %all, %all, " +
      count +
      ";\nred.relaxed.gpu.global.add.u32 [%arrived], 1;\nmov.u32 %spins, 0;\n"
      "wait:\nld.relaxed.gpu.global.u32 %seen, [%arrived];\nadd.u32 %spins, %spins, 1;\n"
      "setp.ge.u32 %p, %seen, %all;\nsetp.gt.u32 %q, %spins, 2000;\nor.pred %p, %p, %q;\n@!%p bra wait;\ngo:\n"
      "mad.wide.u32 %x, %round, " +
      std::to_string(2 * line_bytes) + ", %a0;\nadd.u64 %y, %x, " + std::to_string(line_bytes) +
      ";\nmad.lo.u32 %seen, %round, " + count +
      ", %block;\nmad.wide.u32 %out, %seen, 8, %a2;\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\n";
  for (std::size_t b = 0; b < litmus.blocks.size(); ++b) {
    const std::string number = std::to_string(b);
    text += "setp.eq.u32 %is" + number + ", %block, " + number + ";\n@%is" + number + " bra block" + number + ";\n";
  }
  text += "bra done;\n";
  for (std::size_t b = 0; b < litmus.blocks.size(); ++b)
    text += "block" + std::to_string(b) + ":\n" + litmus.blocks[b] + "\nbra done;\n";
  return text + "done:\nst.global.v2.u32 [%out], {%r0, %r1};\nadd.u32 %round, %round, 1;\nsetp.lt.u32 %p, %round, " +
         std::to_string(rounds) + ";\n@%p bra round;\nret;\n}\n";
}

class LitmusTest : public DriverTest, public testing::WithParamInterface<Litmus> {};

TEST_P(LitmusTest, shows_nothing_that_is_forbidden) {
  const Litmus& litmus = GetParam();
  const auto blocks = static_cast<std::uint32_t>(litmus.blocks.size());
  const std::string text = program(litmus);
  CUmodule made = nullptr;
  CUfunction function = nullptr;
  ASSERT_OK(cuModuleLoadData(&made, text.c_str())) << text;
  ASSERT_OK(cuModuleGetFunction(&function, made, "k"));
  CUdeviceptr cells = 0, arrived = 0, results = 0;
  ASSERT_OK(cuMemAlloc(&cells, std::size_t{rounds} * 2 * line_bytes));
  ASSERT_OK(cuMemAlloc(&arrived, 4));
  ASSERT_OK(cuMemAlloc(&results, std::size_t{rounds} * blocks * 8));
  ASSERT_OK(cuMemsetD8(cells, 0, std::size_t{rounds} * 2 * line_bytes));
  ASSERT_OK(cuMemsetD8(arrived, 0, 4));
  // All blocks run at once, and on threads of their own where there are as many.
  void* arguments[] = {&cells, &arrived, &results};
  ASSERT_OK(cuLaunchCooperativeKernel(function, blocks, 1, 1, 1, 1, 1, 0, nullptr, arguments));
  ASSERT_OK(cuCtxSynchronize());
  std::vector<std::uint32_t> found(std::size_t{rounds} * blocks * 2);
  ASSERT_OK(cuMemcpyDtoH(found.data(), results, found.size() * 4));
  std::uint32_t forbidden = 0;
  for (std::uint32_t round = 0; round < rounds; ++round)
    forbidden += litmus.is_forbidden(&found[std::size_t{round} * blocks * 2]) ? 1 : 0;
  EXPECT_EQ(0U, forbidden) << "of " << rounds << " rounds:\n" << text;
  for (const CUdeviceptr memory : {cells, arrived, results}) EXPECT_OK(cuMemFree(memory));
  EXPECT_OK(cuModuleUnload(made));
}

/// A message: who sees the flag sees what was written before it.
Litmus message(const char* name, const std::string& write, const std::string& read) {
  return {name, {write, read}, [](const std::uint32_t* r) { return r[2] == 1 && r[3] == 0; }};
}

/// Store buffering: at least one block sees the other's store.
Litmus buffering(const char* name, const std::string& store, const std::string& between) {
  const auto block = [&](const char* mine, const char* others) {
    std::string text = store;
    text.replace(text.find('@'), 1, mine);
    return text + "\n" + between + "\nld.relaxed.gpu.global.u32 %r0, [" + others + "];";
  };
  return {name, {block("%x", "%y"), block("%y", "%x")}, [](const std::uint32_t* r) { return r[0] == 0 && r[2] == 0; }};
}

std::vector<Litmus> all() {
  const std::string data = "st.relaxed.gpu.global.u32 [%x], 1;\n", flag = "st.relaxed.gpu.global.u32 [%y], 1;";
  const std::string see = "ld.relaxed.gpu.global.u32 %r0, [%y];\n", read = "ld.relaxed.gpu.global.u32 %r1, [%x];";
  const std::string weak = "st.global.u32 [%x], 1;\n";
  const std::string acquire = "ld.acquire.gpu.global.u32 %r0, [%y];\n";
  std::vector<Litmus> list;
  for (const std::string scope : {"gpu", "sys"}) {
    const bool gpu = scope == "gpu";
    list.push_back(message(gpu ? "message_release_acquire_gpu" : "message_release_acquire_sys",
                           weak + "st.release." + scope + ".global.u32 [%y], 1;",
                           "ld.acquire." + scope + ".global.u32 %r0, [%y];\n" + read));
    list.push_back(message(gpu ? "message_fence_acq_rel_gpu" : "message_fence_acq_rel_sys",
                           data + "fence.acq_rel." + scope + ";\n" + flag,
                           see + "fence.acq_rel." + scope + ";\n" + read));
    list.push_back(buffering(gpu ? "buffering_fence_sc_gpu" : "buffering_fence_sc_sys",
                             "st.relaxed.gpu.global.u32 [@], 1;", "fence.sc." + scope + ";"));
    list.push_back(buffering(gpu ? "buffering_membar_gl" : "buffering_membar_sys", "st.volatile.global.u32 [@], 1;",
                             gpu ? "membar.gl;" : "membar.sys;"));
  }
  list.push_back(message("message_fence_of_cluster", data + "fence.acq_rel.cluster;\nfence.acq_rel.gpu;\n" + flag,
                         see + "fence.acq_rel.gpu;\n" + read));
  list.push_back(message("message_membar",
                         "st.volatile.global.u32 [%x], 1;\nmembar.gl;\nst.volatile.global.u32 [%y], 1;",
                         "ld.volatile.global.u32 %r0, [%y];\nmembar.gl;\nld.volatile.global.u32 %r1, [%x];"));
  list.push_back(message("message_by_atomics", weak + "red.release.gpu.global.add.u32 [%y], 1;",
                         "atom.acquire.gpu.global.or.b32 %r0, [%y], 0;\n" + read));
  list.push_back(message("message_by_exchange", weak + "atom.acq_rel.gpu.global.exch.b32 %seen, [%y], 1;",
                         "atom.acq_rel.gpu.global.cas.b32 %r0, [%y], 1, 1;\n" + read));
  list.push_back(message("message_generic_addresses", "st.u32 [%x], 1;\nst.release.gpu.u32 [%y], 1;",
                         "ld.acquire.gpu.u32 %r0, [%y];\nld.u32 %r1, [%x];"));
  list.push_back(message("message_release_pattern_weak_read", weak + "fence.acq_rel.gpu;\n" + flag,
                         acquire + "ld.global.u32 %r1, [%x];"));
  list.push_back(
      buffering("buffering_atomic_fence_sc", "atom.relaxed.gpu.global.exch.b32 %seen, [@], 1;", "fence.sc.gpu;"));
  list.push_back({"loads_before_stores",
                  {"ld.acquire.gpu.global.u32 %r0, [%x];\nst.relaxed.gpu.global.u32 [%y], 1;",
                   "ld.acquire.gpu.global.u32 %r0, [%y];\nst.relaxed.gpu.global.u32 [%x], 1;"},
                  [](const std::uint32_t* r) { return r[0] == 1 && r[2] == 1; }});
  list.push_back({"loads_before_released_stores",
                  {"ld.relaxed.gpu.global.u32 %r0, [%x];\nst.release.gpu.global.u32 [%y], 1;",
                   "ld.relaxed.gpu.global.u32 %r0, [%y];\nst.release.gpu.global.u32 [%x], 1;"},
                  [](const std::uint32_t* r) { return r[0] == 1 && r[2] == 1; }});
  list.push_back({"one_place_goes_forward",
                  {"st.relaxed.gpu.global.u32 [%x], 1;",
                   "ld.relaxed.gpu.global.u32 %r0, [%x];\nld.relaxed.gpu.global.u32 %r1, [%x];"},
                  [](const std::uint32_t* r) { return r[2] == 1 && r[3] == 0; }});
  list.push_back(
      {"writes_are_seen_in_one_order",
       {data, flag, "ld.acquire.gpu.global.u32 %r0, [%x];\nfence.sc.gpu;\nld.acquire.gpu.global.u32 %r1, [%y];",
        "ld.acquire.gpu.global.u32 %r0, [%y];\nfence.sc.gpu;\nld.acquire.gpu.global.u32 %r1, [%x];"},
       [](const std::uint32_t* r) { return r[4] == 1 && r[5] == 0 && r[6] == 1 && r[7] == 0; }});
  list.push_back(
      {"message_by_way_of_a_third",
       {data, "ld.relaxed.gpu.global.u32 %r0, [%x];\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%y], %r0;",
        "ld.acquire.gpu.global.u32 %r0, [%y];\nld.relaxed.gpu.global.u32 %r1, [%x];"},
       [](const std::uint32_t* r) { return r[4] == 1 && r[5] == 0; }});
  list.push_back({"vectors_are_one_access",
                  {"st.relaxed.gpu.global.v4.u32 [%x], {%one, %two, %one, %two};",
                   "ld.relaxed.gpu.global.v4.u32 {%r0, %seen, %spins, %r1}, [%x];"},
                  [](const std::uint32_t* r) { return 2 * r[2] != r[3]; }});
  return list;
}

INSTANTIATE_TEST_SUITE_P(Ordered, LitmusTest, testing::ValuesIn(all()),
                         [](const auto& each) { return std::string(each.param.name); });

/// An operation that every thread of all blocks applies to one word, and what is there in the end.
struct Contended {
  const char* name;
  const char* operation;  ///< of address %a, with the number of the thread in %n
  std::uint32_t first, last;
};

constexpr std::uint32_t contending_blocks = 8, contending = contending_blocks * 64;

class ContendedTest : public DriverTest, public testing::WithParamInterface<Contended> {};

TEST_P(ContendedTest, loses_nothing) {
  const Contended& test = GetParam();
  const std::string text = std::string(
                               ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 word)\n{\n"
                               ".reg .u64 %a;\n.reg .u32 %n, %t, %old, %new;\n.reg .f32 %f;\n.reg .pred %p;\n"
                               "ld.param.u64 %a, [word];\nmov.u32 %n, %ctaid.x;\nmov.u32 %t, %tid.x;\n"
                               "mad.lo.u32 %n, %n, 64, %t;\n") +
                           test.operation + "\nret;\n}\n";
  CUmodule made = nullptr;
  CUfunction function = nullptr;
  ASSERT_OK(cuModuleLoadData(&made, text.c_str())) << text;
  ASSERT_OK(cuModuleGetFunction(&function, made, "k"));
  CUdeviceptr word = 0;
  ASSERT_OK(cuMemAlloc(&word, 4));
  for (int round = 0; round < 20; ++round) {
    ASSERT_OK(cuMemsetD32(word, test.first, 1));
    void* arguments[] = {&word};
    ASSERT_OK(cuLaunchCooperativeKernel(function, contending_blocks, 1, 1, 64, 1, 1, 0, nullptr, arguments));
    ASSERT_OK(cuCtxSynchronize());
    std::uint32_t found = 0;
    ASSERT_OK(cuMemcpyDtoH(&found, word, 4));
    ASSERT_EQ(test.last, found) << text;
  }
  EXPECT_OK(cuMemFree(word));
  EXPECT_OK(cuModuleUnload(made));
}

INSTANTIATE_TEST_SUITE_P(
    Words, ContendedTest,
    testing::Values(
        Contended{"add", "red.relaxed.gpu.global.add.u32 [%a], 3;", 5, 5 + 3 * contending},
        Contended{"inc", "red.global.inc.u32 [%a], 99;", 0, contending % 100},
        Contended{"max", "red.global.max.u32 [%a], %n;", 0, contending - 1},
        Contended{"xor", "atom.acq_rel.sys.global.xor.b32 %old, [%a], %n;", 7, 7},
        Contended{"float_add", "mov.f32 %f, 0f3F800000;\nred.global.add.f32 [%a], %f;", 0, 0x44000000},
        Contended{"halves_add", "mov.b32 %new, 0x3c003c00;\nred.global.add.noftz.f16x2 [%a], %new;", 0, 0x60006000},
        Contended{"swaps",
                  "ld.relaxed.gpu.global.u32 %old, [%a];\nagain: add.u32 %new, %old, 1;\nmov.u32 %t, %old;\n"
                  "atom.relaxed.gpu.global.cas.b32 %old, [%a], %t, %new;\nsetp.ne.u32 %p, %old, %t;\n@%p bra again;",
                  0, contending},
        Contended{"add_at_a_generic_address", "atom.release.gpu.add.u32 %old, [%a], 1;", 0, contending}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
