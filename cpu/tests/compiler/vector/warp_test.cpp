// Convergent operations have a vector form, with the same results there as with a fiber for each lane.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

namespace {

/// Of threads that read 64 bits each and write %out. Those with a nonzero top byte are gone before `body`.
std::string warp_kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred %gone, %p;
  .reg .b32 %r<8>, %out, %mask;
  .reg .b64 %from, %to, %in;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r0, %r1, %r2, %r0;
  mad.wide.u32 %from, %r0, 8, %from;
  mad.wide.u32 %to, %r0, 4, %to;
  ld.global.u64 %in, [%from];
  mov.b64 {%r3, %r4}, %in;
  shr.u32 %r5, %r4, 24;
  setp.ne.u32 %gone, %r5, 0;
  mov.u32 %mask, -1;
  mov.u32 %out, 0;
  @%gone bra done;
)" + body +
         R"(
  st.global.u32 [%to], %out;
done:
  ret;
}
)";
}

/// Threads of a grid: in every other warp some are gone, and few values are different.
std::vector<std::uint64_t> inputs(std::size_t threads) {
  std::mt19937 random(7);
  std::vector<std::uint64_t> all;
  for (std::size_t n = 0; n < threads; ++n) {
    const std::uint64_t value = n / 32 % 4 < 2 ? 5 : random() % 3 == 0 ? 0xfffffff0U : random() % 4;
    const bool gone = n / 32 % 2 == 1 && random() % 3 == 0;
    all.push_back(value | std::uint64_t{random() % 2} << 32 | std::uint64_t{gone} << 56);
  }
  return all;
}

std::vector<std::uint32_t> run(const std::string& body, FormOfCode form, const std::string& march,
                               std::uint32_t threads) {
  constexpr std::uint32_t blocks = 8;
  TestModule module(warp_kernel(body), form);
  module.march = march;
  const std::vector<std::uint64_t> in = inputs(std::size_t{blocks} * threads);
  std::vector<std::uint32_t> out(in.size(), 0xdddddddd);
  module.launch("k", {blocks, 1, 1}, {threads, 1, 1}, in.data(), out.data());
  EXPECT_EQ(module.refusal, "") << body;
  return out;
}

void expect_same(const std::string& body, const std::string& reference) {
  for (const std::uint32_t threads : {40U, 256U}) {
    const std::vector<std::uint32_t> expected = run(reference, FormOfCode::Scalar, "", threads);
    EXPECT_EQ(run(body, FormOfCode::Vector, "", threads), expected) << body << " of " << threads;
    EXPECT_EQ(run(body, FormOfCode::Masked, "", threads), expected) << body << " of " << threads;
    EXPECT_EQ(run(body, FormOfCode::Vector, plain_processor, threads), expected) << body << " of " << threads;
  }
}

}  // namespace

TEST(VectorFormOfWarps, finds_out_what_fibers_do) {
  const char* const bodies[] = {
      "redux.sync.add.s32 %out, %r3, %mask;",
      "redux.sync.add.u32 %out, 1, %mask;",
      "redux.sync.and.b32 %out, %r3, %mask;",
      "redux.sync.or.b32 %out, %r3, %mask;",
      "redux.sync.xor.b32 %out, %r3, %mask;",
      "redux.sync.min.s32 %out, %r3, %mask;",
      "redux.sync.max.s32 %out, %r3, %mask;",
      "redux.sync.min.u32 %out, %r3, %mask;",
      "redux.sync.max.u32 %out, %r3, %mask;",
      "match.any.sync.b32 %out, %r3, %mask;",
      "match.any.sync.b64 %out, %in, %mask;",
      "match.all.sync.b32 %out|%p, %r3, %mask;\n@%p add.u32 %out, %out, 1;",
      "match.all.sync.b64 %out|%p, %in, %mask;\n@%p add.u32 %out, %out, 1;",
      "elect.sync %out|%p, %mask;\n@%p add.u32 %out, %out, 100;",
      "setp.gt.u32 %p, %r3, 2;\nbar.red.popc.u32 %out, 0, %p;",
      "setp.gt.u32 %p, %r3, 2;\nbar.red.popc.u32 %out, 1, !%p;",
      "setp.ne.u32 %p, %r3, 7;\nbar.red.and.pred %p, 0, %p;\n@%p add.u32 %out, %r3, 3;",
      "setp.eq.u32 %p, %r3, 3;\nbar.red.and.pred %p, 0, %p;\n@%p add.u32 %out, %r3, 3;",
      "setp.eq.u32 %p, %r3, 3;\nbarrier.cta.red.or.pred %p, 0, %p;\n@%p add.u32 %out, %r3, 3;",
      "setp.eq.u32 %p, %r3, 77;\nbar.red.or.pred %p, 0, %p;\n@%p add.u32 %out, %r3, 3;",
      "setp.eq.u32 %p, %r1, 3;\nbar.red.popc.u32 %out, 0, %p;",
      // In a loop, with what one round found out in the next.
      R"(
  mov.u32 %r6, 0;
again:
  redux.sync.add.u32 %out, %r3, %mask;
  add.u32 %r3, %r3, %out;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p, %r6, 3;
  @%p bra again;)",
  };
  for (const std::string body : bodies) expect_same(body, body);
}

/// NaNs, subnormal numbers and lanes that are gone are among the fragments.
TEST(VectorFormOfWarps, multiplies_fragments_as_fibers_do) {
  const auto product = [](const std::string& instruction, unsigned a, unsigned b, unsigned accumulators,
                          const std::string& more = "") {
    const auto registers = [](const std::string& name, unsigned count) {
      std::string all;
      for (unsigned n = 0; n < count; ++n) all += (n == 0 ? "{" : ", ") + name + std::to_string(n);
      return all + "}";
    };
    std::string body = "{\n.reg .b32 %a<8>, %b<8>, %d<8>;\n";
    for (unsigned n = 0; n < 8; ++n) {
      const std::string number = std::to_string(n);
      body += "mad.lo.u32 %a" + number + ", %r3, " + number + ", %r0;\n";
      body += "mad.lo.u32 %b" + number + ", %r0, 6" + number + "1, %r3;\n";
      body += "mul.lo.u32 %d" + number + ", %r3, " + number + ";\n";
    }
    const std::string d = registers("%d", accumulators);
    body += instruction + " " + d + ", " + registers("%a", a) + ", " + registers("%b", b) + ", " + d + more + ";\n";
    for (unsigned n = 0; n < accumulators; ++n) body += "mad.lo.u32 %out, %out, 31, %d" + std::to_string(n) + ";\n";
    return body + "}\n";
  };
  const std::string bodies[] = {
      product("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4),
      product("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2),
      product("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4),
      product("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4),
      product("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4),
      product("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", 4, 2, 4),
      product("mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 4, 2, 4),
      product("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4),
      product("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, ", %r3, 0x0"),
      product("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8),
      "movmatrix.sync.aligned.m8n8.trans.b16 %out, %r3;",
  };
  for (const std::string& body : bodies) expect_same(body, body);
}

/// Words of a warp in an order that is known when the kernel runs: by instructions of the host, or in memory.
TEST(VectorFormOfWarps, shuffles_by_lanes_that_differ) {
  const std::string all = "vote.sync.ballot.b32 %mask, 1, -1;\n";
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const std::string clamp : {"0", "31", "0x1807", "0x1c00"}) {
      const std::string body = all + "mad.lo.u32 %r5, %r0, 13, %r4;\nshfl.sync." + mode + ".b32 %out|%p, %r0, %r5, " +
                               clamp + ", %mask;\n@%p add.u32 %out, %out, 0x10000;";
      expect_same(body, body);
    }
  }
}

/// The run-time that tests have in the place of the driver's keeps no lanes together for activemask.
TEST(VectorFormOfWarps, names_the_lanes_that_are_here) {
  const std::string vote = "vote.sync.ballot.b32 %mask, 1, -1;\n";
  const std::string active = "activemask.b32 %mask;\n";
  for (const std::string body : {"mov.u32 %out, %mask;", "redux.sync.add.u32 %out, %r3, %mask;"})
    expect_same(active + body, vote + body);
}

TEST(VectorFormOfWarps, is_refused_where_lanes_name_different_masks) {
  TestModule module(warp_kernel("match.any.sync.b32 %mask, %r3, %mask;\nredux.sync.add.u32 %out, %r3, %mask;"),
                    FormOfCode::Vector);
  module.compile("k", {32, 1, 1});
  EXPECT_NE(module.refusal.find("redux_add whose lanes name different masks"), std::string::npos) << module.refusal;
}

}  // namespace cucore::cpu
