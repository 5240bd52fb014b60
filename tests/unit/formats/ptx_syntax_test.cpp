// What is plain to see in PTX: the compiler's own output passes, damage of every kind does not.
#include "src/formats/ptx_syntax.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cucore/error.hpp"
#include "cucore/program.hpp"

namespace cucore {
namespace {

using detail::looks_like_ptx;

constexpr std::string_view sound_ptx = R"(//
/* hand-written */ .version 8.0
.target sm_80, debug
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 a);
.visible .global .align 4 .b8 table[8] = {1, 2, 0xFF(table), 4}; .const .u32 c = 3, d[2] = {1, 2};
.file 1 "a.cu", 12, 34
.visible .entry k(.param .u64 p) .maxntid 1, 1, 1 .minnctapersm 2
{
  .reg .b32 %r<3>; .reg .pred %p;
  .loc 1 2 3, function_name $L__info, inlined_at 1 4 5
  ld.param.u64 %r1, [p+4];
$again: @!%p bra $again;
  { .param .b32 a; st.param.b32 [a+0], %r1; call.uni (%r2), twice, (a); }
  tex.2d.v4.f32.s32 {%r1, %r1, %r1, %r1}, [c, {%r1, %r2}];
  shfl.sync.down.b32 %r1|%p, %r2, -1, 31, 0xffffffff; proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  .pragma "nounroll"; membar.gl; ret;
}
.section .debug_str { .b8 1, 2 }
)";

TEST(ptx_syntax, what_is_sound_passes) {
  EXPECT_TRUE(looks_like_ptx(sound_ptx));
  EXPECT_TRUE(looks_like_ptx(".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }"));
}

TEST(ptx_syntax, what_the_compiler_writes_passes) {
  constexpr const char* source =
      "#include <cuda_fp16.h>\n#include <mma.h>\n#include <cooperative_groups.h>\n"
      "__constant__ float c[4] = {1, 2, 3, 4}; __device__ int g; __device__ __noinline__ float f(float x) { return x + "
      "c[1]; } typedef float (*F)(float); struct S { int a; double b[3]; };\n"
      "__global__ void k(float* p, S s, F h) { extern __shared__ float sh[]; sh[threadIdx.x] = h(p[0]) * s.b[s.a]; "
      "__syncthreads(); switch (s.a) { case 0: p[1] = 1; break; case 1: p[2] = 3; break; case 2: p[9] = sin(p[1]); "
      "break; case 3: p[4] = f(3); break; case 4: p[5] = 2; } atomicAdd(&g, 1); printf(\"%d\", g); "
      "asm volatile(\"bar.sync 0;\"); cooperative_groups::this_grid().sync(); p[7] = __half2float(__float2half(p[3])); "
      "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> a; nvcuda::wmma::fill_fragment(a, p[0]); "
      "nvcuda::wmma::store_matrix_sync(p, a, 16, nvcuda::wmma::mem_row_major); }";
  for (const bool debug : {false, true}) {
    const ObjectCode ptx = compile_ptx(source, {.arch = "sm_90", .debug = debug, .lineinfo = !debug});
    EXPECT_TRUE(looks_like_ptx(ptx.code()));
  }
}

TEST(ptx_syntax, what_is_cut_off_or_misspelt_is_seen) {
  const std::string sound(sound_ptx);
  const std::size_t body = sound.find("{\n");
  for (std::size_t size = body; size < sound.rfind("}\n.section"); size += 7) {
    EXPECT_FALSE(looks_like_ptx(sound.substr(0, size))) << size;
  }
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string text = sound;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const auto& [from, to] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"ret;", "return;"},
           {"ret;", "ret"},
           {"%r1, [p+4];", "%r1, [p+4;"},
           {"[p+4];", "[p+4]"},
           {"membar.gl;", "membar.gl; nonsense"},
           {"membar.gl;", "membrane.gl;"},
           {"bra $again;", "bra $again"},
           {".section", ".selection"},
           {".reg .pred", ".register .pred"},
           {"(.param .u64 p)", "(.param .u64 p"},
           {".version 8.0", "nonsense"},
           {".target sm_80, debug", ""},
           {"/* hand-written */", "/* hand-written"},
       }) {
    EXPECT_FALSE(looks_like_ptx(changed(from, to))) << from << " -> " << to;
  }
  for (const std::string_view text :
       {"", "x", ".version 8.0", "{", ".version 8.0\n.target sm_80\nnonsense", "\"", "@"}) {
    EXPECT_FALSE(looks_like_ptx(text)) << text;
  }
}

TEST(ptx_syntax, errors_of_it_come_when_the_program_is_made) {
  constexpr const char* broken = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense";
  for (const ProgramOptions& options : {ProgramOptions{.name = "bad", .arch = "sm_80"}, ProgramOptions{.name = "bad"},
                                        ProgramOptions{.name = "bad", .arch = "compute_80"},
                                        ProgramOptions{.name = "bad", .archs = {"sm_80", "sm_90"}}}) {
    try {
      const Program program(broken, "ptx", options);
      ADD_FAILURE() << "accepted";
    } catch (const NvJitLinkError& error) {
      EXPECT_EQ(error.code_name(), "NVJITLINK_ERROR_PTX_COMPILE");
      EXPECT_NE(error.log().find("nonsense"), std::string::npos);
    }
  }
  const std::string unusual = "@@DWARF .b8 1\n";  // ptxas takes it, however it looks
  EXPECT_FALSE(looks_like_ptx(unusual));
}

}  // namespace
}  // namespace cucore
