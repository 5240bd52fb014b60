// Texture and surface objects that are destroyed while work that uses them is still queued: the work can still use
// them, on any driver.
#include <atomic>
#include <thread>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

class TextureLifetimes : public Textures {
 protected:
  void SetUp() override {
    Textures::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    const Float4 place{2.5F, 1.5F};
    where_ = device_copy(&place, sizeof place);
    const float nothing = -1;
    out_ = device_copy(&nothing, sizeof nothing);
    texture_kernel("tex_2d");
  }
  void TearDown() override {
    open_ = true;
    EXPECT_OK(cuStreamSynchronize(stream_));
    EXPECT_OK(cuStreamDestroy(stream_));
    EXPECT_OK(cuMemFree(where_));
    EXPECT_OK(cuMemFree(out_));
    Textures::TearDown();
  }

  /// Later work in the stream waits until the gate is opened.
  void close_gate() {
    open_ = false;
    ASSERT_OK(cuLaunchHostFunc(
        stream_,
        [](void* open) {
          while (!static_cast<std::atomic<bool>*>(open)->load()) std::this_thread::yield();
        },
        &open_));
  }
  float after_opening() {
    open_ = true;
    EXPECT_OK(cuStreamSynchronize(stream_));
    return found();
  }
  float found() {
    float value = 0;
    EXPECT_OK(cuMemcpyDtoH(&value, out_, sizeof value));
    return value;
  }

  CUtexObject point_texture(CUarray of) {
    const CUDA_RESOURCE_DESC resource = resource_of(of);
    const CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
    CUtexObject made = 0;
    EXPECT_OK(cuTexObjectCreate(&made, &resource, &how, nullptr));
    return made;
  }
  void look(CUtexObject texture) {
    int count = 1;
    void* parameters[] = {&texture, &where_, &out_, &count};
    ASSERT_OK(cuLaunchKernel(kernel("tex_2d"), 1, 1, 1, 1, 1, 1, 0, stream_, parameters, nullptr));
  }

  CUstream stream_ = nullptr;
  CUdeviceptr where_ = 0, out_ = 0;
  std::atomic<bool> open_{true};
};

TEST_F(TextureLifetimes, a_texture_destroyed_early_is_read_by_what_was_queued_before) {
  const CUtexObject t = point_texture(counting(4, 3));
  close_gate();
  look(t);
  EXPECT_OK(cuTexObjectDestroy(t));
  CUDA_RESOURCE_DESC resource{};
  EXPECT_NE(CUDA_SUCCESS, cuTexObjectGetResourceDesc(&resource, t));
  EXPECT_EQ(6.0F, after_opening());
}

TEST_F(TextureLifetimes, many_others_destroyed_meanwhile_are_not_mistaken_for_it) {
  const CUarray a = counting(4, 3), other = counting(4, 3);
  const CUtexObject t = point_texture(a);
  close_gate();
  look(t);
  EXPECT_OK(cuTexObjectDestroy(t));
  for (int i = 0; i < 1000; ++i) EXPECT_OK(cuTexObjectDestroy(point_texture(other)));
  fill(other, std::vector<float>(12, 100), 3);
  EXPECT_EQ(6.0F, after_opening());
}

TEST_F(TextureLifetimes, a_surface_destroyed_early_is_written_by_what_was_queued_before) {
  const CUarray a = array(CU_AD_FORMAT_SIGNED_INT16, 1, 2, 2, 2, CUDA_ARRAY3D_SURFACE_LDST);
  fill(a, std::vector<std::int16_t>(8), 2, 2);
  const CUDA_RESOURCE_DESC resource = resource_of(a);
  CUsurfObject s = 0;
  ASSERT_OK(cuSurfObjectCreate(&s, &resource));
  close_gate();
  void* parameters[] = {&s};
  ASSERT_OK(cuLaunchKernel(kernel("surface_3d"), 1, 1, 1, 2, 2, 2, 0, stream_, parameters, nullptr));
  EXPECT_OK(cuSurfObjectDestroy(s));
  after_opening();
  EXPECT_EQ((std::vector<std::int16_t>{0, 1, 10, 11, 100, 101, 110, 111}), contents<std::int16_t>(a, 8, 2, 2));
}

TEST_F(TextureLifetimes, an_array_is_destroyed_when_what_was_queued_before_is_done) {
  const CUarray a = counting(4, 3);
  arrays_.clear();
  const CUtexObject t = point_texture(a);
  close_gate();
  look(t);
  EXPECT_OK(cuTexObjectDestroy(t));
  std::thread opener([&] { open_ = true; });
  EXPECT_OK(cuArrayDestroy(a));
  EXPECT_TRUE(open_);
  EXPECT_EQ(CUDA_SUCCESS, cuStreamQuery(stream_));
  opener.join();
  EXPECT_EQ(6.0F, found());
}

TEST_F(TextureLifetimes, a_graph_launched_before_finds_what_is_destroyed_after) {
  const CUtexObject t = point_texture(counting(4, 3));
  ASSERT_OK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  look(t);
  CUgraph graph = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream_, &graph));
  CUgraphExec exec = nullptr;
  ASSERT_OK(cuGraphInstantiate(&exec, graph, 0));
  close_gate();
  ASSERT_OK(cuGraphLaunch(exec, stream_));
  EXPECT_OK(cuTexObjectDestroy(t));
  EXPECT_EQ(6.0F, after_opening());
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

}  // namespace
