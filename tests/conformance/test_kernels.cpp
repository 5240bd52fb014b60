// The kernels, written out by hand so that the tests need no compiler.
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

const char* const header = R"(.version 7.8
.target sm_75
.address_size 64
)";

const char* const saxpy_body = R"(
{
  .reg .pred %p<2>;
  .reg .f32 %f<5>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.f32 %f1, [a];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd3, %rd1;
  mul.wide.s32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  ld.global.f32 %f2, [%rd5];
  cvta.to.global.u64 %rd6, %rd2;
  add.s64 %rd7, %rd6, %rd4;
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f2, %f1, %f3;
  st.global.f32 [%rd7], %f4;
DONE:
  ret;
}
)";

const char* const saxpy_parameters = "(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)";

const char* const others = R"(
.visible .global .align 4 .u32 counter = 7;
.visible .global .align 4 .b8 table[16];
.extern .shared .align 16 .b8 dynamic_shared[];

.visible .entry _Z4copy5BlockPS_(.param .align 8 .b8 value[24], .param .u64 out)
{
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [value];
  ld.param.u64 %rd4, [value+8];
  ld.param.u64 %rd5, [value+16];
  st.global.u64 [%rd2], %rd3;
  st.global.u64 [%rd2+8], %rd4;
  st.global.u64 [%rd2+16], %rd5;
  ret;
}

.visible .entry count_threads(.param .u64 out)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  atom.global.add.u32 %r1, [%rd2], 1;
  ret;
}

.visible .entry touch_shared(.param .u64 out, .param .u32 bytes)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<6>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [bytes];
  mov.u32 %r2, dynamic_shared;
  add.u32 %r3, %r2, %r1;
  mov.u32 %r4, 12345;
  st.shared.u32 [%r3+-4], %r4;
  bar.sync 0;
  ld.shared.u32 %r5, [%r3+-4];
  st.global.u32 [%rd2], %r5;
  ret;
}

.visible .entry fixed_shared(.param .u64 out)
{
  .shared .align 4 .b8 fixed[1024];
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 54321;
  st.shared.u32 [fixed+1020], %r1;
  ld.shared.u32 %r2, [fixed+1020];
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry spin(.param .u64 out, .param .u64 n)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [n];
  mov.u64 %rd4, 0;
AGAIN:
  add.u64 %rd4, %rd4, 1;
  st.volatile.global.u64 [%rd2], %rd4;
  setp.lt.u64 %p1, %rd4, %rd3;
  @%p1 bra AGAIN;
  ret;
}

.visible .entry bump_counter(.param .u32 by)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [by];
  ld.global.u32 %r2, [counter];
  add.u32 %r3, %r2, %r1;
  st.global.u32 [counter], %r3;
  ret;
}

.visible .entry at_most_64_threads()
.maxntid 64, 1, 1
{
  ret;
}

.visible .entry no_parameters()
{
  ret;
}
)";

// *out = value, for one type. `type` as in .param lines; half types come as two bytes.
std::string echo(const std::string& mangled, const std::string& parameter, const std::string& access,
                 const std::string& reg) {
  return "\n.visible .entry " + mangled + "(.param .u64 out, .param " + parameter +
         ")\n{\n  .reg .b64 %rd<3>;\n  .reg ." + reg +
         " %v;\n  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd2, %rd1;\n  ld.param." + access +
         " %v, [value];\n  st.global." + access + " [%rd2], %v;\n  ret;\n}\n";
}

std::string sum_many() {
  constexpr int count = 70;
  std::string text = "\n.visible .entry sum_many(.param .u64 out";
  for (int i = 0; i < count; ++i) text += ", .param .u32 v" + std::to_string(i);
  text +=
      ")\n{\n  .reg .b64 %rd<3>;\n  .reg .b32 %v, %sum;\n  ld.param.u64 %rd1, [out];\n"
      "  cvta.to.global.u64 %rd2, %rd1;\n  mov.u32 %sum, 0;\n";
  for (int i = 0; i < count; ++i) {
    text += "  ld.param.u32 %v, [v" + std::to_string(i) + "];\n  add.u32 %sum, %sum, %v;\n";
  }
  return text + "  st.global.u32 [%rd2], %sum;\n  ret;\n}\n";
}

}  // namespace

const std::string& kernels_ptx() {
  static const std::string text = [] {
    std::string all = header;
    all += others;
    all += std::string("\n.visible .entry _Z5saxpyfPKfPfi") + saxpy_parameters + saxpy_body;
    all += std::string("\n.visible .entry saxpy_c") + saxpy_parameters + saxpy_body;
    all += sum_many();
    all += echo("_Z4echoPbb", ".u8 value", "u8", "b16");
    all += echo("_Z4echoPaa", ".u8 value", "u8", "b16");
    all += echo("_Z4echoPhh", ".u8 value", "u8", "b16");
    all += echo("_Z4echoPss", ".u16 value", "u16", "b16");
    all += echo("_Z4echoPtt", ".u16 value", "u16", "b16");
    all += echo("_Z4echoPii", ".u32 value", "u32", "b32");
    all += echo("_Z4echoPjj", ".u32 value", "u32", "b32");
    all += echo("_Z4echoPll", ".u64 value", "u64", "b64");
    all += echo("_Z4echoPmm", ".u64 value", "u64", "b64");
    all += echo("_Z4echoPff", ".f32 value", "f32", "f32");
    all += echo("_Z4echoPdd", ".f64 value", "f64", "f64");
    all += echo("_Z4echoP6__halfS_", ".align 2 .b8 value[2]", "u16", "b16");
    all += echo("_Z4echoP13__nv_bfloat16S_", ".align 2 .b8 value[2]", "u16", "b16");
    return all;
  }();
  return text;
}

const std::string& trapping_ptx() {
  static const std::string text = std::string(header) + "\n.visible .entry trap_now()\n{\n  trap;\n  ret;\n}\n";
  return text;
}

Kernel kernel(const char* name) {
  // Never unloaded: the tests share it.
  static const ObjectCode* const code = new ObjectCode(ObjectCode::from_ptx(kernels_ptx(), "test_kernels"));
  return code->get_kernel(name);
}

}  // namespace cucore::test
