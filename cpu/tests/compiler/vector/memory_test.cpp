// Indices and memory in the vector form against the scalar reference.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

TEST(VectorForm, extends_indices_whose_bounds_it_knows_as_each_lane_would) {
  for (const char* const index : {
           "sub.u32 %r2, %r0, 5;\n",
           "shl.b32 %r2, %r0, 24;\n",
           "shl.b32 %r2, %r0, 23;\n",
           "mul.lo.u32 %r2, %r0, 0x7fffff;\n",
           "sub.u32 %r2, 0x7fffffff, %r0;\n",
           "sub.u32 %r2, 0x80000007, %r0;\n",
           "add.u32 %r2, %r0, 0x7ffffff9;\n",
           "add.u32 %r2, %r0, 0xfffffff9;\n",
           "xor.b32 %r2, %r0, 7;\n",
           "xor.b32 %r2, %r0, 511;\n",
           "xor.b32 %r2, %r0, 255;\n",
           "xor.b32 %r2, %r0, 0x80000000;\n",
           "xor.b32 %r2, %r0, 0xffffffff;\n",
           "shl.b32 %r2, %r0, 1;\nand.b32 %r3, %r0, 15;\nsub.u32 %r2, %r2, %r3;\n",
           "shl.b32 %r2, %r0, 1;\nand.b32 %r3, %r0, 31;\nsub.u32 %r2, %r3, %r2;\n",
           "min.u32 %r2, %r0, 20;\n",
           "sub.u32 %r2, %r0, 9;\nmax.s32 %r2, %r2, 3;\n",
           "and.b32 %r3, %r0, 64;\nsetp.eq.u32 %p0, %r3, 0;\nadd.u32 %r3, %r0, 0xfffffff0;\nselp.b32 %r2, %r0, %r3, "
           "%p0;\n",
       }) {
    for (const char* const type : {"u32", "s32"}) {
      const std::string text = kernel(std::string(index) + "mul.wide." + type +
                                      " %a2, %r2, 5;\nshr.u64 %a3, %a2, 29;\nxor.b64 %a2, %a2, %a3;\n"
                                      "cvt.u32.u64 %r1, %a2;\n");
      for (const unsigned threads : {40U, 512U}) {
        EXPECT_EQ(run_form(text, FormOfCode::Vector, threads), run_form(text, FormOfCode::Scalar, threads))
            << index << type << threads;
      }
    }
  }
}

TEST(VectorForm, loads_by_row_and_column_as_the_scalar_form_does) {
  // Rows of which a chunk has a part, one or several; of elements of all sizes; by all threads or some.
  struct Rows {
    std::string type, length, first, count;
  };
  for (const auto& [type, length, first, count] :
       {Rows{"u8", "3", "5", "37"}, Rows{"u32", "16", "5", "37"}, Rows{"u64", "40", "0", "4096"},
        Rows{"u8", "40", "0", "4096"}, Rows{"u32", "1000", "17", "100"}, Rows{"u32", "7", "0", "4096"}}) {
    const std::string size = std::to_string(std::stoi(type.substr(1)) / 8);
    const std::string text = kernel(
        ".shared .align 16 .b8 tile[8192];\n.reg .u32 %at, %by;\n.reg .pred %in;\n"
        "mul.lo.u32 %r2, %r0, 0x9e3779b1;\nmov.u32 %at, tile;\nmad.lo.u32 %at, %r0, 8, %at;\n"
        "st.shared.v2.u32 [%at], {%r2, %r0};\nbar.sync 0;\nld.volatile.shared.u32 %by, [tile+4];\n"
        "add.u32 %by, %by, " +
        length + ";\nmov.u32 %r1, 7;\nsub.u32 %r2, %r0, " + first + ";\nsetp.lt.u32 %in, %r2, " + count +
        ";\n@!%in bra L0;\n"
        "div.u32 %r3, %r0, %by;\nrem.u32 %r4, %r0, %by;\nmov.u32 %at, tile;\n"
        "mad.lo.u32 %r3, %r3, " +
        size + ", %at;\nmad.lo.u32 %r4, %r4, " + size +
        ", %at;\n"
        "ld.shared." +
        type + " %a2, [%r3];\nld.shared." + type +
        " %a3, [%r4];\n"
        "xor.b64 %a2, %a2, %a3;\nshr.u64 %a3, %a2, 32;\nxor.b64 %a2, %a2, %a3;\ncvt.u32.u64 %r1, %a2;\nL0:\n");
    const Words expected = run_form(text, FormOfCode::Scalar, 1024);
    EXPECT_EQ(run_form(text, FormOfCode::Vector, 1024), expected) << type << ", rows of " << length;
    EXPECT_EQ(run_form(text, FormOfCode::Masked, 1024), expected) << type << ", rows of " << length;
  }
}

TEST(VectorForm, accesses_no_more_than_the_first_lanes_where_only_they_do) {
  for (const char* const march : {plain_processor, ""}) {
    for (const unsigned first : {1U, 2U, 3U, 4U, 6U, 8U, 15U, 16U}) {
      const std::string number = std::to_string(first);
      const std::string text = kernel(
          ".shared .align 16 .b8 tile[512];\n.reg .u32 %mine;\nmov.u32 %mine, tile;\nshl.b32 %r2, %r0, 2;\n"
          "add.u32 %mine, %mine, %r2;\nmul.lo.u32 %r4, %r0, %r0;\nst.shared.u32 [%mine], %r4;\nbar.sync 0;\n"
          "mov.u32 %r3, 7;\nmov.u32 %r5, 5;\nsetp.gt.s32 %p0, %r0, " +
          std::to_string(first - 1) + ";\n@%p0 bra L0;\nld.shared.u32 %r3, [%mine+" + std::to_string(4 * first) +
          "];\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%mine], %r4;\nld.shared.u32 %r5, [%mine];\n"
          "L0: bar.sync 0;\n"
          "ld.shared.u32 %r1, [%mine];\nmad.lo.u32 %r1, %r1, 31, %r3;\nmad.lo.u32 %r1, %r1, 31, %r5;\n");
      TestModule module(text, FormOfCode::Vector);
      if (*march != '\0') module.march = march;
      Words out(32);
      module.launch("k", {1, 1, 1}, {32, 1, 1}, out.data());
      EXPECT_EQ(module.refusal, "");
      EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, 32)) << number << march;
      const std::string ir = value_of(
          loader::dump_ir(module.module(), 0, {.form = FormOfCode::Vector, .block = {32, 1, 1}, .march = march}));
      if (first > 1 && std::has_single_bit(first)) {  // whether one lane is alone turns out as the code runs
        EXPECT_EQ(ir.find("call void @llvm.masked.store"), std::string::npos) << number;
      }
    }
  }
}

TEST(VectorForm, checks_no_index_that_the_shape_of_the_block_bounds) {
  // What needs no check is straight code: groups may then be whole blocks, which keep nothing across barriers.
  auto waiting_bytes = [](const std::string& index) {
    TestModule module(kernel(index + "mul.wide.s32 %a2, %r2, 4;\nadd.u64 %a2, %a2, %a0;\nld.global.u32 %r1, [%a2];\n"
                                     "bar.sync 0;\nadd.u32 %r1, %r1, 1;\n"),
                      FormOfCode::Vector);
    const KernelInfo info = module.compile("k", {1024, 1, 1})->info;
    EXPECT_EQ(module.refusal, "");
    return info.waiting_bytes;
  };
  EXPECT_GT(waiting_bytes("ld.global.u32 %r2, [%a0];\nadd.u32 %r2, %r2, %r0;\n"), 0U);
  EXPECT_EQ(waiting_bytes("mad.lo.u32 %r2, %r0, 3, 7;\n"), 0U);
  EXPECT_EQ(waiting_bytes("sub.u32 %r2, 1023, %r0;\n"), 0U);
  EXPECT_EQ(waiting_bytes("sub.u32 %r2, 1000, %r0;\n"), 0U);
}

TEST(VectorForm, accesses_pairs_of_words_as_the_scalar_form_does) {
  constexpr unsigned threads = 200;  // the last group is not full
  // Where each thread's pair is: side by side, some words apart, backwards, in another order.
  const std::string places[] = {
      "mul.wide.u32 %a2, %r0, 8;\n",
      "mul.wide.u32 %a2, %r0, 12;\n",
      "mul.wide.u32 %a2, %r0, 16;\n",
      "mul.wide.u32 %a2, %r0, 36;\n",
      "sub.u32 %r2, 511, %r0;\nmul.wide.u32 %a2, %r2, 8;\n",
      "mul.lo.u32 %r2, %r0, 37;\nand.b32 %r2, %r2, 511;\nmul.wide.u32 %a2, %r2, 8;\n",
      "xor.b32 %r2, %r0, 5;\nmul.wide.u32 %a2, %r2, 8;\n",
  };
  const std::string accesses[] = {
      "ld.global.v2.u32 {%r3, %r4}, [%a2];\nst.global.v2.u32 [%a2], {%r4, %r3};\nadd.u32 %r1, %r3, 1;\n",
      "ld.global.v2.u32 {%r3, %r4}, [%a2];\nmov.b32 %f0, %r3;\nmov.b32 %f1, %r4;\nadd.f32 %f0, %f0, %f1;\n"
      "st.global.v2.f32 [%a2], {%f1, %f0};\nmov.b32 %r1, %f0;\n",
      "ld.global.u32 %r4, [%a2+4];\nld.global.u32 %r3, [%a2];\nsub.u32 %r1, %r3, %r4;\n"
      "st.global.u32 [%a2+4], %r1;\nst.global.u32 [%a2], %r4;\n",
      "ld.global.u32 %r3, [%a2];\nst.global.u32 [%a2+4], %r3;\nld.global.u32 %r4, [%a2+4];\nsub.u32 %r1, %r3, %r4;\n"
      "add.u32 %r1, %r1, 77;\n",
      // Twice to the same place, by an address that nobody knows is the same.
      "ld.global.u32 %r5, [%a0+32000];\nsub.u32 %r5, %r5, 8003;\nmul.wide.u32 %a3, %r5, 4;\nadd.u64 %a3, %a3, %a2;\n"
      "st.global.u32 [%a2], 1;\nst.global.u32 [%a3], 2;\nst.global.u32 [%a2+4], 3;\nld.global.u32 %r1, [%a2];\n",
      "st.global.u32 [%a2], 1;\nst.global.u32 [%a2+4], 2;\nst.global.u32 [%a2], %r0;\nld.global.u32 %r1, [%a2];\n",
      "st.global.u32 [%a2+4], 2;\nst.global.u32 [%a2], %r0;\nst.global.u32 [%a2+4], %r0;\nld.global.u32 %r1, "
      "[%a2+4];\n",
      "mov.u32 %r1, 5;\nand.b32 %r5, %r0, 3;\nsetp.eq.u32 %p0, %r5, 1;\n@%p0 bra L0;\n"
      "ld.global.v2.u32 {%r3, %r4}, [%a2];\nadd.u32 %r1, %r3, %r4;\nst.global.v2.u32 [%a2], {%r1, %r4};\nL0:\n",
  };
  for (const std::string& place : places) {
    for (const std::string& access : accesses) {
      const std::string text =
          kernel(".reg .f32 %f<2>;\n" + place + "add.u64 %a2, %a2, %a0;\nadd.u64 %a2, %a2, 4096;\n" + access);
      Words expected(8192, 0);
      std::iota(expected.begin(), expected.end(), 3U);
      Words computed = expected;
      TestModule scalar(text, FormOfCode::Scalar);
      TestModule vector(text, FormOfCode::Vector);
      scalar.launch("k", {1, 1, 1}, {threads, 1, 1}, expected.data());
      vector.launch("k", {1, 1, 1}, {threads, 1, 1}, computed.data());
      EXPECT_EQ(vector.refusal, "");
      EXPECT_EQ(computed, expected) << place << access;
    }
  }
}

TEST(VectorForm, stores_to_one_address_what_the_last_active_lane_has) {
  const std::string one_address =
      "@!%p0 bra L1;\nst.global.u32 [%a0 + 12], %r0;\nst.global.u16 [%a0 + 20], %r4;\nL1: bar.sync 0;\n"
      "ld.global.u32 %r1, [%a0 + 12];\nld.global.u16 %r3, [%a0 + 20];\nbar.sync 0;\nmad.lo.u32 %r1, %r3, 1000, %r1;\n";
  for (const char* const guard : {
           "and.b32 %r2, %r0, 13;\nsetp.eq.u32 %p0, %r2, 1;\n",
           "setp.eq.u32 %p0, %r0, 0;\n",
           "setp.eq.u32 %p0, %r0, 37;\n",
           "setp.lt.u32 %p0, %r0, 21;\n",
           "setp.gt.u32 %p0, %r0, 5000;\n",
           "mul.lo.u32 %r2, %r0, 0x9e3779b1;\nshr.u32 %r2, %r2, 30;\nsetp.eq.u32 %p0, %r2, 2;\n",
       }) {
    // What differs from lane to lane, from chunk to chunk, and not at all.
    for (const char* const value : {"mul.lo.u32 %r4, %r0, %r0;\n", "shr.u32 %r4, %r0, 5;\n", "mov.u32 %r4, 77;\n"}) {
      const std::string text = kernel(std::string(guard) + value + one_address);
      const Words scalar = run_form(text, FormOfCode::Scalar, 72);
      EXPECT_EQ(run_form(text, FormOfCode::Vector, 72), scalar) << guard << value;
      EXPECT_EQ(run_form(text, FormOfCode::Masked, 72), scalar) << guard << value;
    }
  }
}

TEST(VectorForm, makes_what_it_loads_of_what_it_has_just_stored) {
  // One group runs the whole block as straight code: what others stored lies `distance` words away, in one vector or
  // two.
  const std::string before =
      ".shared .align 4 .b8 tile[8192];\n.reg .u32 %mine;\n.reg .u64 %far;\nshl.b32 %mine, %r0, 2;\nmov.u32 %r2, "
      "tile;\n"
      "add.u32 %mine, %mine, %r2;\nadd.u32 %mine, %mine, 2048;\nmov.u32 %r1, 5;\n"
      "ld.global.u64 %far, [%a0];\ncvt.u64.u32 %a3, %mine;\nadd.u64 %far, %far, %a3;\n"
      "st.shared.u32 [%mine-1024], 0;\nst.shared.u32 [%mine+1024], 0;\nbar.sync 0;\n";
  for (const char* const exchange : {
           "st.shared.u32 [%mine], %r0;\nbar.sync 0;\nld.shared.u32 %r1, [%mine+DISTANCE];\n",
           // Over and over, as a scan does; the last lanes or the first have nobody to ask.
           "st.shared.u32 [%mine], %r0;\nbar.sync 0;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra L0;\n"
           "ld.shared.u32 %r1, [%mine-DISTANCE];\nL0: bar.sync 0;\nld.shared.u32 %r3, [%mine];\n"
           "add.u32 %r1, %r1, %r3;\nst.shared.u32 [%mine], %r1;\nbar.sync 0;\nsetp.gt.u32 %p1, %r0, 50;\n"
           "@%p1 bra L1;\nld.shared.u32 %r4, [%mine+DISTANCE];\nadd.u32 %r1, %r1, %r4;\nL1:\n",
           // Half of it written again, by some.
           "st.shared.u32 [%mine], 1;\nbar.sync 0;\nsetp.lt.u32 %p0, %r0, 21;\n@%p0 st.shared.u32 [%mine], %r0;\n"
           "bar.sync 0;\nld.shared.u32 %r1, [%mine+DISTANCE];\n",
           // Written again by an address that may be any, and as bytes.
           "st.shared.u32 [%mine], 1;\nst.shared.u32 [%far], %r0;\n"
           "bar.sync 0;\nld.shared.u32 %r1, [%mine+DISTANCE];\n",
           "st.shared.u32 [%mine], 0x01020304;\nst.shared.u8 [%mine+1], %r0;\nbar.sync 0;\n"
           "ld.shared.u32 %r1, [%mine+DISTANCE];\n",
           // Read by an address that may be any before it is written again.
           "st.shared.u32 [%mine], %r0;\nbar.sync 0;\n"
           "ld.shared.u32 %r1, [%far+DISTANCE];\nbar.sync 0;\nst.shared.u32 [%mine], 1;\n",
           // Read as halves, and in part, before it is written again.
           "mul.lo.u32 %r3, %r0, 0x00030005;\nst.shared.u32 [%mine], %r3;\nbar.sync 0;\n"
           "ld.shared.u16 %r1, [%mine+DISTANCE];\nld.shared.u32 %r4, [%mine-1024];\nbar.sync 0;\n"
           "st.shared.u32 [%mine], 1;\nand.b32 %r4, %r4, 0;\nadd.u32 %r1, %r1, %r4;\n",
           // By one thread, from somewhere.
           "st.shared.u32 [%mine], %r0;\nbar.sync 0;\nld.shared.u32 %r1, [tile+2060];\nadd.u32 %r1, %r1, %r0;\n",
       }) {
    for (const unsigned distance : {0U, 12U, 64U, 100U}) {
      std::string body = before + exchange;
      for (std::size_t at; (at = body.find("DISTANCE")) != std::string::npos;)
        body.replace(at, std::strlen("DISTANCE"), std::to_string(distance));
      const std::string text = kernel(body);
      EXPECT_EQ(run_form(text, FormOfCode::Vector, 256), run_form(text, FormOfCode::Scalar, 256)) << body;
    }
  }
}

TEST(VectorForm, joins_updates_of_one_place_that_ask_for_nothing) {
  // By all lanes, by some of each vector, by those of the first vector alone, and by none (where the place is none).
  const std::string guards[] = {"setp.ge.u32 %p0, %r0, 0;\n", "and.b32 %r5, %r0, 5;\nsetp.eq.u32 %p0, %r5, 1;\n",
                                "setp.lt.u32 %p0, %r0, 3;\n",
                                "setp.gt.u32 %p0, %r0, 9999;\nselp.u64 %a4, %a4, 0, %p0;\n"};
  for (const std::string operation :
       {"add.u32", "add.u64", "and.b32", "xor.b64", "max.s64", "min.u64", "inc.u32", "add.f32"}) {
    const std::string operand = operation == "add.f32"      ? "0f3f800000"
                                : operation == "inc.u32"    ? "77"
                                : operation.ends_with("64") ? "%a3"
                                                            : "%r3";
    for (const std::string space : {"shared", "global"}) {
      const std::string at = space == "shared" ? "cell" : "%a0";
      for (const std::string& guard : guards) {
        const std::string text = kernel(
            ".shared .align 8 .b8 cell[8];\nmov.u64 %a2, 0x123456789a;\nmov.u64 %a4, " + at +
            ";\nmov.u64 %a5, %a4;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 st." + space + ".u64 [%a4], %a2;\nbar.sync 0;\n" +
            "mul.lo.u32 %r3, %r0, 0x9e3779b1;\nmul.wide.u32 %a3, %r3, 0x85ebca6b;\n" + guard + "@%p0 red." + space +
            "." + operation + " [%a4], " + operand + ";\nbar.sync 0;\nld." + space +
            ".v2.u32 {%r1, %r2}, [%a5];\nxor.b32 %r1, %r1, %r2;\nbar.sync 0;\n");
        const Words expected = run_form(text, FormOfCode::Scalar, 72);
        EXPECT_EQ(run_form(text, FormOfCode::Vector, 72), expected) << operation << space << guard;
        EXPECT_EQ(run_form(text, FormOfCode::Masked, 72), expected) << operation << space << guard;
      }
    }
  }
}

}  // namespace cucore::cpu
