// The order that accesses and fences of PTX ask for reaches LLVM, and the processor's instructions, in every scope that
// is wider than a block. Threads of one block share one host thread, so theirs needs none.
#include <gtest/gtest.h>

#include <string>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

struct Ordered {
  const char* ptx;
  const char* ir;   ///< what the IR must contain
  const char* arm;  ///< what code for 64-bit Arm must contain; empty: nothing
};

constexpr Ordered accesses[] = {
    {"ld.relaxed.gpu.global.u32 %r0, [%a0];", " monotonic, align 4", "ldr\t"},
    {"ld.volatile.global.u32 %r0, [%a0];", "load atomic volatile i32", "ldr\t"},
    {"ld.acquire.gpu.global.u32 %r0, [%a0];", " acquire, align 4", "ldar\t"},
    {"ld.acquire.sys.u32 %r0, [%a0];", " acquire, align 4", "ldar\t"},
    {"st.release.gpu.global.u32 [%a0], %r0;", " release, align 4", "stlr\t"},
    {"st.release.cluster.global.u32 [%a0], %r0;", " release, align 4", "stlr\t"},
    {"st.relaxed.sys.global.u32 [%a0], %r0;", "store atomic i32", "str\t"},
    {"atom.global.add.u32 %r0, [%a0], %r1;", "atomicrmw add ptr %", "ldxr\t"},
    {"atom.acquire.gpu.global.add.u32 %r0, [%a0], %r1;", " acquire, align 4", "ldaxr\t"},
    {"red.release.gpu.global.add.u32 [%a0], %r1;", " release, align 4", "stlxr\t"},
    {"atom.acq_rel.sys.global.exch.b32 %r0, [%a0], %r1;", " acq_rel, align 4", "stlxr\t"},
    {"atom.acq_rel.gpu.global.cas.b32 %r0, [%a0], %r1, %r2;", " acq_rel acquire, align 4", "stlxr\t"},
    {"fence.acq_rel.gpu;", "fence acq_rel", "dmb\tish"},
    {"fence.sc.gpu;", "fence seq_cst", "dmb\tish"},
    {"fence.sc.sys;", "fence seq_cst", "dmb\tish"},
    {"fence.acq_rel.cluster;", "fence acq_rel", "dmb\tish"},
    {"membar.gl;", "fence seq_cst", "dmb\tish"},
    {"membar.sys;", "fence seq_cst", "dmb\tish"},
    {"fence.acq_rel.cta;", "fence syncscope(\"singlethread\") acq_rel", ""},
};

std::string ordering_kernel(const char* body) {
  return std::string(
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n.reg .u64 %a<2>;\n"
             ".reg .u32 %r<4>;\nld.param.u64 %a0, [at];\nld.param.u64 %a1, [at];\nmov.u32 %r1, %tid.x;\n"
             "mov.u32 %r0, %r1;\nmov.u32 %r2, 3;\n") +
         body + "\nst.global.u32 [%a1+64], %r0;\nret;\n}\n";
}

TEST(Orderings, are_those_of_the_instructions_in_ir_and_on_arm) {
  for (const Ordered& each : accesses) {
    TestModule module(ordering_kernel(each.ptx), FormOfCode::Scalar);
    const CompileOptions options{.form = FormOfCode::Scalar, .march = plain_processor};
    const std::string ir = value_of(loader::dump_ir(module.module(), 0, options));
    EXPECT_NE(ir.find(each.ir), std::string::npos) << each.ptx << '\n' << ir;
#if defined(__aarch64__)
    const std::string code = value_of(loader::dump_assembly(module.module(), 0, options));
    if (*each.arm == '\0')
      EXPECT_EQ(code.find("dmb"), std::string::npos) << each.ptx << '\n' << code;
    else
      EXPECT_NE(code.find(each.arm), std::string::npos) << each.ptx << '\n' << code;
#endif
  }
}

/// Lanes do not take the order from each other's accesses.
TEST(Orderings, are_kept_in_the_vector_form) {
  for (const Ordered& each : accesses) {
    TestModule module(ordering_kernel(each.ptx), FormOfCode::Vector);
    const CompileOptions options{.form = FormOfCode::Vector, .block = {32, 1, 1}, .march = plain_processor};
    const std::string ir = value_of(loader::dump_ir(module.module(), 0, options));
    EXPECT_NE(ir.find(each.ir), std::string::npos) << each.ptx << '\n' << ir;
  }
}

}  // namespace
}  // namespace cucore::cpu
