// Batches of three-dimensional copies, and questions about atomics and unified functions. Nothing in it knows the CPU
// device, so it runs on a GPU's driver too.
#include <numeric>
#include <vector>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

CUmemcpy3DOperand pointer(const void* address, std::size_t row_length = 0, std::size_t layer_height = 0) {
  CUmemcpy3DOperand operand{};
  operand.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  operand.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(address);
  operand.op.ptr.rowLength = row_length;
  operand.op.ptr.layerHeight = layer_height;
  operand.op.ptr.locHint = {CU_MEM_LOCATION_TYPE_HOST, 0};
  return operand;
}

CUmemcpy3DOperand part_of(CUarray array, CUoffset3D offset) {
  CUmemcpy3DOperand operand{};
  operand.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  operand.op.array.array = array;
  operand.op.array.offset = offset;
  return operand;
}

class Batches : public Textures {
 protected:
  void SetUp() override {
    Textures::SetUp();
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuMemAllocHost(reinterpret_cast<void**>(&words), 2 * word_count * sizeof *words));
    std::iota(words, words + word_count, 1);
    std::fill_n(words + word_count, word_count, 0);
  }
  void TearDown() override {
    EXPECT_OK(cuMemFreeHost(words));
    EXPECT_OK(cuStreamDestroy(stream));
    Textures::TearDown();
  }

  static CUDA_MEMCPY3D_BATCH_OP copy_of(CUmemcpy3DOperand from, CUmemcpy3DOperand to, CUextent3D extent) {
    return {from, to, extent, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 0};
  }

  CUresult run(std::vector<CUDA_MEMCPY3D_BATCH_OP> operations, unsigned long long flags = 0) {
    const CUresult result = cuMemcpy3DBatchAsync(operations.size(), operations.data(), flags, stream);
    EXPECT_OK(cuStreamSynchronize(stream));
    return result;
  }

  static constexpr std::size_t word_count = 4 * 4 * 4;
  CUstream stream = nullptr;
  int* words = nullptr;  ///< those to read, then those to write
};

TEST_F(Batches, boxes_go_through_an_array_and_back) {
  const CUarray box = array(CU_AD_FORMAT_SIGNED_INT32, 1, 4, 4, 4);
  ASSERT_EQ(CUDA_SUCCESS, run({copy_of(pointer(words), part_of(box, {0, 0, 0}), {4, 4, 4})}));
  ASSERT_EQ(CUDA_SUCCESS, run({copy_of(part_of(box, {1, 2, 3}), pointer(words + word_count), {2, 2, 1})}));
  const int first = 1 + 1 + 4 * 2 + 16 * 3;
  EXPECT_EQ((std::vector{first, first + 1, first + 4, first + 5, 0}),
            std::vector(words + word_count, words + word_count + 5));
}

TEST_F(Batches, pointers_count_bytes_and_have_pitches) {
  const std::size_t row = 4 * sizeof(int);
  // One word of each of two rows of two layers, four rows of four words to a layer, packed.
  ASSERT_EQ(CUDA_SUCCESS, run({copy_of(pointer(words, row, 4), pointer(words + word_count), {sizeof(int), 2, 2}),
                               copy_of(pointer(words + 1), pointer(words + word_count + 8), {sizeof(int), 1, 1})}));
  EXPECT_EQ((std::vector{1, 5, 17, 21, 0, 0, 0, 0, 2}), std::vector(words + word_count, words + word_count + 9));
}

TEST_F(Batches, a_source_read_during_the_call_may_change_after_it) {
  auto operation = copy_of(pointer(words, 16, 4), pointer(words + word_count), {8, 2, 1});
  operation.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  ASSERT_OK(cuMemcpy3DBatchAsync(1, &operation, 0, stream));
  std::fill_n(words, word_count, -1);
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ((std::vector{1, 2, 5, 6}), std::vector(words + word_count, words + word_count + 4));
}

TEST_F(Batches, what_cannot_be_copied_is_refused) {
  const auto good = copy_of(pointer(words), pointer(words + word_count), {16, 1, 1});
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, run({good}, 1)) << "flags are for later versions";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, run({}));
  for (const CUextent3D extent : {CUextent3D{0, 1, 1}, CUextent3D{16, 0, 1}, CUextent3D{16, 1, 0}}) {
    auto empty = good;
    empty.extent = extent;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, run({empty}));
  }
  auto disordered = good;
  disordered.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, run({disordered}));
  auto narrow = good;
  narrow.src.op.ptr.rowLength = 8;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, run({narrow}));
  auto operation = good;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, &operation, 0, nullptr)) << "the default stream";
}

TEST_F(Batches, each_atomic_operation_tells_what_reaches_the_host) {
  const std::vector<CUatomicOperation> operations{CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
  std::vector<unsigned int> capabilities(2, ~0u);
  ASSERT_OK(cuDeviceGetHostAtomicCapabilities(capabilities.data(), operations.data(), 2, 0));
  for (const unsigned int each : capabilities) EXPECT_EQ(0u, each & ~0x7fu);
  const auto unknown = CU_ATOMIC_OPERATION_MAX;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetHostAtomicCapabilities(capabilities.data(), &unknown, 1, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetHostAtomicCapabilities(nullptr, operations.data(), 2, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetHostAtomicCapabilities(capabilities.data(), operations.data(), 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE,
            cuDeviceGetHostAtomicCapabilities(capabilities.data(), operations.data(), 2, 1000));
}

}  // namespace
