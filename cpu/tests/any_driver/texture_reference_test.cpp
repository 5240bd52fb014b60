// Texture and surface references: .texref and .surfref variables of a module, which the host binds to memory by the
// deprecated part of the driver API, as programs of CUDA 11 and older do.
#include <string>

#include "cpu/tests/any_driver/texture_driver.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

/// Kernels that read row 1 of a texture of two dimensions, read from a linear one, and write to a surface.
constexpr const char* ptx_text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .texref plane;
.visible .global .texref line;
.visible .global .surfref written;
.visible .entry look(.param .u64 out, .param .f32 step)
{
  .reg .f32 %f<8>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  ld.param.f32 %f2, [step];
  fma.rn.f32 %f1, %f1, %f2, 0f3F000000;
  mov.f32 %f2, 0f3FC00000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [plane, {%f1, %f2}];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.f32 [%rd1], %f3;
  ret;
}
.visible .entry fetch(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry mark()
{
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  sust.b.2d.b32.trap [written, {%r2, %r1}], %r1;
  ret;
}
)";

class TextureReferences : public Textures {
 protected:
  void SetUp() override {
    Textures::SetUp();
    ASSERT_OK(cuModuleLoadData(&module, ptx_text));
  }

  CUtexref reference(const char* name) {
    CUtexref found = nullptr;
    EXPECT_OK(cuModuleGetTexRef(&found, module, name));
    return found;
  }

  std::vector<float> seen(float step = 1) {
    std::vector<float> values(8, -1);
    const CUdeviceptr out = device_copy(values.data(), values.size() * sizeof(float));
    EXPECT_OK(launch(kernel("look"), 1, 8, nullptr, out, step));
    EXPECT_OK(cuMemcpyDtoH(values.data(), out, values.size() * sizeof(float)));
    EXPECT_OK(cuMemFree(out));
    return values;
  }
};

TEST_F(TextureReferences, names_lead_to_references_of_their_kind) {
  const CUtexref plane = reference("plane");
  EXPECT_EQ(plane, reference("plane"));
  EXPECT_NE(plane, reference("line"));
  CUtexref texture = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&texture, module, "nothing"));
  CUsurfref surface = nullptr;
  EXPECT_OK(cuModuleGetSurfRef(&surface, module, "written"));
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetSurfRef(&surface, module, "nothing"));
}

TEST_F(TextureReferences, kernels_read_what_a_reference_is_bound_to_at_their_launch) {
  const CUtexref plane = reference("plane");
  ASSERT_OK(cuTexRefSetAddressMode(plane, 0, CU_TR_ADDRESS_MODE_CLAMP));
  ASSERT_OK(cuTexRefSetAddressMode(plane, 1, CU_TR_ADDRESS_MODE_CLAMP));
  ASSERT_OK(cuTexRefSetFilterMode(plane, CU_TR_FILTER_MODE_POINT));
  const CUarray first = counting(4, 2), second = counting(8, 2);
  ASSERT_OK(cuTexRefSetArray(plane, first, CU_TRSA_OVERRIDE_FORMAT));
  CUarray bound = nullptr;
  ASSERT_OK(cuTexRefGetArray(&bound, plane));
  EXPECT_EQ(first, bound);
  EXPECT_EQ((std::vector<float>{4, 5, 6, 7, 7, 7, 7, 7}), seen());
  ASSERT_OK(cuTexRefSetArray(plane, second, CU_TRSA_OVERRIDE_FORMAT));
  EXPECT_EQ((std::vector<float>{8, 9, 10, 11, 12, 13, 14, 15}), seen());
  ASSERT_OK(cuTexRefSetFilterMode(plane, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ((std::vector<float>{8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5}), seen(0.5F));
}

TEST_F(TextureReferences, memory_is_bound_with_the_format_that_was_set) {
  const CUtexref line = reference("line");
  std::vector<std::uint32_t> values{3, 1, 4, 1, 5, 9, 2, 6};
  const CUdeviceptr memory = device_copy(values.data(), values.size() * 4);
  ASSERT_OK(cuTexRefSetFormat(line, CU_AD_FORMAT_UNSIGNED_INT32, 1));
  ASSERT_OK(cuTexRefSetFlags(line, CU_TRSF_READ_AS_INTEGER));
  std::size_t offset = 1;
  ASSERT_OK(cuTexRefSetAddress(&offset, line, memory, values.size() * 4));
  EXPECT_EQ(0U, offset);
  CUdeviceptr bound = 0;
  ASSERT_OK(cuTexRefGetAddress(&bound, line));
  EXPECT_EQ(memory, bound);
  std::vector<std::uint32_t> found(values.size());
  const CUdeviceptr out = device_copy(found.data(), found.size() * 4);
  ASSERT_OK(launch(kernel("fetch"), 1, 8, nullptr, out));
  ASSERT_OK(cuMemcpyDtoH(found.data(), out, found.size() * 4));
  EXPECT_EQ(values, found);
  EXPECT_OK(cuMemFree(out));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(TextureReferences, surfaces_are_bound_by_reference_too) {
  const CUarray made = array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, 4, 0, CUDA_ARRAY3D_SURFACE_LDST);
  fill(made, std::vector<std::uint32_t>(16, 9), 4);
  CUsurfref written = nullptr;
  ASSERT_OK(cuModuleGetSurfRef(&written, module, "written"));
  ASSERT_OK(cuSurfRefSetArray(written, made, 0));
  CUarray bound = nullptr;
  ASSERT_OK(cuSurfRefGetArray(&bound, written));
  EXPECT_EQ(made, bound);
  ASSERT_OK(launch(kernel("mark"), 1, 4, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<std::uint32_t>{0, 9, 9, 9, 9, 1, 9, 9, 9, 9, 2, 9, 9, 9, 9, 3}),
            contents<std::uint32_t>(made, 16, 4));
}

}  // namespace
