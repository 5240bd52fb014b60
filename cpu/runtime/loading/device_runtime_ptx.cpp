// What stands for libcudadevrt.a: see device_runtime_ptx.hpp.
#include "cpu/runtime/loading/device_runtime_ptx.hpp"

#include <algorithm>

#include "cpu/abi/device_calls.hpp"

namespace cucore::cpu::runtime {

namespace {

// A handle is the address of the grid's workspace, in %envreg1 and 2: 0 where the launch was not cooperative, and for
// groups larger than the grid. Its second word is the barrier: the blocks of one pass add up to 2^31 and so turn its
// topmost bit, for which one thread of each block waits.
constexpr char grid_barrier[] = R"(
.version 6.0
.target sm_60
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p;
  .reg .b32 %low, %high, %scope;
  .reg .b64 %workspace;
  mov.u32 %high, %envreg1;
  mov.u32 %low, %envreg2;
  mov.b64 %workspace, {%low, %high};
  ld.param.b32 %scope, [scope];
  setp.ne.u32 %p, %scope, 1;
  @%p mov.b64 %workspace, 0;
  st.param.b64 [handle], %workspace;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %is_first, %p;
  .reg .b32 %x, %y, %z, %nx, %ny, %nz, %blocks, %step, %before, %now;
  .reg .b64 %workspace;
  ld.param.b64 %workspace, [handle];
  setp.eq.u64 %p, %workspace, 0;
  @%p bra refused;
  bar.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.ne.u32 %p, %x, 0;
  @%p bra passed;
  mov.u32 %nx, %nctaid.x;
  mov.u32 %ny, %nctaid.y;
  mov.u32 %nz, %nctaid.z;
  mul.lo.u32 %blocks, %nx, %ny;
  mul.lo.u32 %blocks, %blocks, %nz;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y;
  or.b32 %x, %x, %z;
  setp.eq.u32 %is_first, %x, 0;
  sub.u32 %step, 0x80000001, %blocks;
  @!%is_first mov.u32 %step, 1;
  membar.gl;
  atom.global.add.u32 %before, [%workspace + 4], %step;
waiting:
  ld.volatile.global.u32 %now, [%workspace + 4];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %p, %now, 0;
  @%p bra waiting;
  membar.gl;
passed:
  bar.sync 0;
  st.param.b32 [error], 0;
  ret;
refused:
  st.param.b32 [error], 1;
  ret;
}
)";

}  // namespace

std::string_view grid_barrier_ptx() { return grid_barrier; }

bool may_call_grid_barrier(std::string_view ptx) { return ptx.find("cudaCG") != std::string_view::npos; }

bool is_device_runtime(std::string_view ptx) {
  if (ptx.find("cudaGetParameterBuffer") == std::string_view::npos) return false;  // most modules
  const linker::PtxSymbols symbols(ptx);
  return std::any_of(symbols.declarations().begin(), symbols.declarations().end(), [](const auto& declaration) {
    return declaration.defines && declaration.linkage == linker::PtxSymbols::Linkage::Visible &&
           find_device_call(declaration.name);
  });
}

}  // namespace cucore::cpu::runtime
