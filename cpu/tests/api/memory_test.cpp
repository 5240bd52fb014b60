// Memory: allocation, copies and fills of every shape, pools, pinned, registered and managed memory, pointer queries.
#include <cstring>
#include <numeric>

#include "cpu/tests/api/driver.hpp"

namespace {

class Memory : public DriverTest {
 protected:
  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc(&memory, bytes));
    return memory;
  }
  template <class T>
  T attribute(CUpointer_attribute which, CUdeviceptr memory) {
    T value{};
    EXPECT_OK(cuPointerGetAttribute(&value, which, memory));
    return value;
  }
};

TEST_F(Memory, allocations_are_aligned_and_apart) {
  const CUdeviceptr first = allocate(1);
  const CUdeviceptr second = allocate(1);
  EXPECT_EQ(0u, first % 256);
  EXPECT_EQ(0u, second % 256);
  EXPECT_NE(first, second);
}

TEST_F(Memory, nothing_and_too_much_cannot_be_allocated) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, std::size_t{1} << 50));
}

TEST_F(Memory, only_a_live_allocation_is_freed) {
  const CUdeviceptr memory = allocate(1000);
  EXPECT_OK(cuMemFree(0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory + 8));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
}

TEST_F(Memory, free_memory_shrinks_by_what_is_allocated) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_OK(cuMemGetInfo(&before, &total));
  const CUdeviceptr memory = allocate(10 << 20);
  ASSERT_OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before - (10 << 20), after);
  ASSERT_OK(cuMemFree(memory));
  ASSERT_OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(Memory, a_copy_comes_back) {
  std::vector<int> values(100000);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> back(values.size());
  const std::size_t bytes = values.size() * sizeof(int);
  const CUdeviceptr first = allocate(bytes);
  const CUdeviceptr second = allocate(bytes);
  ASSERT_OK(cuMemcpyHtoD(first, values.data(), bytes));
  ASSERT_OK(cuMemcpyDtoD(second, first, bytes));
  ASSERT_OK(cuMemcpyDtoH(back.data(), second, bytes));
  EXPECT_EQ(values, back);
}

TEST_F(Memory, copies_beyond_an_allocation_are_refused) {
  std::vector<char> host(5000);
  const CUdeviceptr memory = allocate(1000);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, host.data(), 1001));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host.data(), memory + 1, 1000));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(64, host.data(), 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, nullptr, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy(memory, memory + 4000, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(memory, 0, 1001));
}

TEST_F(Memory, copying_and_filling_nothing_succeeds) {
  EXPECT_OK(cuMemcpyHtoD(0, nullptr, 0));
  EXPECT_OK(cuMemsetD8(0, 1, 0));
}

TEST_F(Memory, fills_of_each_width) {
  unsigned char* const bytes = device_array<unsigned char>(64);
  const auto memory = reinterpret_cast<CUdeviceptr>(bytes);
  ASSERT_OK(cuMemsetD8(memory, 0x11, 3));
  ASSERT_OK(cuMemsetD16(memory + 4, 0x2233, 2));
  ASSERT_OK(cuMemsetD32(memory + 8, 0x44556677, 2));
  EXPECT_EQ(0, bytes[3]);
  EXPECT_EQ(0x33, bytes[4]);
  EXPECT_EQ(0x22, bytes[7]);
  EXPECT_EQ(0x77, bytes[12]);
  EXPECT_EQ(0x44, bytes[15]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 2, 0, 1)) << "misaligned";
  unsigned int ordinary[4] = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(reinterpret_cast<CUdeviceptr>(ordinary), 0, 1));
}

TEST_F(Memory, two_dimensional_copies_and_fills_respect_the_pitch) {
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  ASSERT_OK(cuMemAllocPitch(&memory, &pitch, 10, 3, 4));
  EXPECT_GE(pitch, 10u);
  EXPECT_EQ(0u, pitch % 256);
  char source[3][16] = {"0123456789", "abcdefghij", "ABCDEFGHIJ"};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 10;
  copy.Height = 3;
  ASSERT_OK(cuMemcpy2D(&copy));
  const char* const rows = reinterpret_cast<const char*>(memory);
  EXPECT_EQ('a', rows[pitch]);
  EXPECT_EQ('J', rows[2 * pitch + 9]);
  ASSERT_OK(cuMemsetD2D8(memory + 1, pitch, 'x', 2, 3));
  EXPECT_EQ('A', rows[2 * pitch]);
  EXPECT_EQ('x', rows[2 * pitch + 2]);
  EXPECT_EQ('D', rows[2 * pitch + 3]);
  copy.dstPitch = 4;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy)) << "rows would overlap";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(nullptr));
}

TEST_F(Memory, three_dimensional_copies_take_a_box_out_of_the_middle) {
  unsigned char* const box = device_array<unsigned char>(4 * 5 * 6);
  for (int i = 0; i < 4 * 5 * 6; ++i) box[i] = static_cast<unsigned char>(i);
  unsigned char out[2][2][3] = {};
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(box);
  copy.srcPitch = 6;
  copy.srcHeight = 5;
  copy.srcXInBytes = 1;
  copy.srcY = 2;
  copy.srcZ = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = out;
  copy.dstPitch = 3;
  copy.dstHeight = 2;
  copy.WidthInBytes = 3;
  copy.Height = 2;
  copy.Depth = 2;
  ASSERT_OK(cuMemcpy3D(&copy));
  EXPECT_EQ(1 * 30 + 2 * 6 + 1, out[0][0][0]);
  EXPECT_EQ(2 * 30 + 3 * 6 + 3, out[1][1][2]);
}

TEST_F(Memory, a_batch_copies_each_pair) {
  int* const out = device_array<int>(2);
  int first = 3;
  int second = 4;
  const auto address = [](const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
  CUdeviceptr targets[] = {address(out), address(out + 1)};
  CUdeviceptr sources[] = {address(&first), address(&second)};
  std::size_t sizes[] = {sizeof(int), sizeof(int)};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  std::size_t index = 0;
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &index, 1, stream));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(3, out[0]);
  EXPECT_EQ(4, out[1]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &index, 1, nullptr))
      << "the legacy stream takes no batches";
}

TEST_F(Memory, sizes_that_wrap_around_are_refused) {
  const CUdeviceptr memory = allocate(1000);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = copy.dstDevice = memory;
  copy.srcPitch = copy.dstPitch = std::size_t{1} << 40;
  copy.WidthInBytes = 8;
  copy.Height = std::size_t{1} << 30;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory, 0, (std::size_t{1} << 62) + 1));
}

TEST_F(Memory, stream_ordered_memory_is_freed_once) {
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocAsync(&memory, 1 << 20, nullptr));
  ASSERT_OK(cuMemsetD8Async(memory, 1, 1 << 20, nullptr));
  EXPECT_OK(cuMemFreeAsync(memory, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(memory, nullptr));
  EXPECT_OK(cuMemAllocAsync(&memory, 0, nullptr));
  EXPECT_EQ(0u, memory);
  EXPECT_OK(cuMemFreeAsync(0, nullptr));
}

TEST_F(Memory, memory_is_freed_only_when_the_stream_gets_there) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(1);
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuMemAllocAsync(&memory, sizeof(int), stream));
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, out));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, memory, 3));
  ASSERT_OK(cuMemFreeAsync(memory, stream));
  raise(flag);
  EXPECT_OK(cuStreamSynchronize(stream));
}

TEST_F(Memory, a_graph_copies_memory_that_is_freed_behind_it) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(2);
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuMemAllocAsync(&memory, sizeof(int), stream));
  ASSERT_OK(cuMemsetD32Async(memory, 5, 1, stream));
  ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_OK(cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(out + 1), memory, sizeof(int), stream));
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, out));
  ASSERT_OK(cuGraphLaunch(executable, stream));
  ASSERT_OK(cuMemFreeAsync(memory, stream));
  raise(flag);
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(5, out[1]);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(Memory, a_pool_counts_and_trims) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &properties));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocFromPoolAsync(&memory, 1 << 20, pool, nullptr));
  EXPECT_EQ(pool, attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
  cuuint64_t used = 0;
  cuuint64_t keep = UINT64_MAX;
  ASSERT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(1u << 20, used);
  ASSERT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  ASSERT_OK(cuMemFreeAsync(memory, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  cuuint64_t reserved = 0;
  ASSERT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  EXPECT_EQ(32u << 20, reserved);
  ASSERT_OK(cuMemPoolTrimTo(pool, 0));
  ASSERT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  EXPECT_EQ(0u, reserved);
  EXPECT_OK(cuMemPoolDestroy(pool));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
  ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool)) << "the default pool stays";
}

/// In MiB, but what is used.
struct Counted {
  cuuint64_t reserved, reserved_high, used, used_high;
  bool operator==(const Counted&) const = default;
};

Counted counted(CUmemoryPool pool) {
  const auto number = [&](CUmemPool_attribute which) {
    cuuint64_t value = 0;
    EXPECT_OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
  };
  return {number(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >> 20, number(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) >> 20,
          number(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), number(CU_MEMPOOL_ATTR_USED_MEM_HIGH)};
}

// The numbers are those of an H100 (driver 580), for pools of devices, of hosts, of managed memory and to share alike.
TEST_F(Memory, pools_count_what_is_used_and_reserve_in_chunks_of_32_mib) {
  for (int kind = 0; kind < 4; ++kind) {
    CUmemPoolProps properties{};
    properties.allocType = kind == 3 ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {kind == 2 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, 0};
    if (kind == 1) properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemoryPool pool = nullptr;
    ASSERT_OK(cuMemPoolCreate(&pool, &properties));
    cuuint64_t keep = UINT64_MAX;
    ASSERT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    CUdeviceptr one = 0;
    CUdeviceptr more = 0;
    ASSERT_OK(cuMemAllocFromPoolAsync(&one, 5000, pool, nullptr));
    EXPECT_EQ((Counted{32, 32, 5000, 5000}), counted(pool)) << kind;
    ASSERT_OK(cuMemAllocFromPoolAsync(&more, 100 << 20, pool, nullptr));
    const cuuint64_t most = (100 << 20) + 5000;
    EXPECT_EQ((Counted{128, 128, most, most}), counted(pool)) << kind;
    ASSERT_OK(cuMemFreeAsync(more, nullptr));
    ASSERT_OK(cuStreamSynchronize(nullptr));
    EXPECT_EQ((Counted{128, 128, 5000, most}), counted(pool)) << kind;
    ASSERT_OK(cuMemAllocFromPoolAsync(&more, 20 << 20, pool, nullptr));  // out of what is kept
    EXPECT_EQ((Counted{128, 128, (20 << 20) + 5000, most}), counted(pool)) << kind;
    ASSERT_OK(cuMemFreeAsync(more, nullptr));
    ASSERT_OK(cuStreamSynchronize(nullptr));
    ASSERT_OK(cuMemPoolTrimTo(pool, 70 << 20));
    EXPECT_EQ(96u, counted(pool).reserved) << kind;
    ASSERT_OK(cuMemPoolTrimTo(pool, 0));
    EXPECT_EQ((Counted{32, 128, 5000, most}), counted(pool)) << kind;
    cuuint64_t none = 0;
    ASSERT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &none));
    ASSERT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &none));
    EXPECT_EQ((Counted{32, 32, 5000, 5000}), counted(pool)) << kind;
    ASSERT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none));
    ASSERT_OK(cuMemFreeAsync(one, nullptr));
    ASSERT_OK(cuStreamSynchronize(nullptr));
    EXPECT_EQ((Counted{0, 32, 0, 5000}), counted(pool)) << kind;
    EXPECT_OK(cuMemPoolDestroy(pool));
  }
}

TEST_F(Memory, pools_are_made_on_the_one_node_of_the_host) {
  CUmemPoolProps properties{};
  for (const CUmemAllocationType type : {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_ALLOCATION_TYPE_MANAGED}) {
    properties.allocType = type;
    for (const int node : {-1, 0, 1, 99}) {
      properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, node};
      CUmemoryPool pool = nullptr;
      EXPECT_EQ(node == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, &properties)) << node;
      if (pool) {
        EXPECT_OK(cuMemPoolDestroy(pool));
      }
    }
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
    CUmemoryPool none = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&none, &properties));
  }
}

TEST_F(Memory, host_pools_give_devices_no_access_until_granted) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, &properties)) << "of a place that changes";
  properties.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  ASSERT_OK(cuMemPoolCreate(&pool, &properties));
  CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  ASSERT_OK(cuMemPoolGetAccess(&flags, pool, &here));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, flags);
  CUdeviceptr memory = 0;
  int value = 5;
  ASSERT_OK(cuMemAllocFromPoolAsync(&memory, 4096, pool, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(memory, 0, 4096));
  EXPECT_OK(cuMemcpyHtoD(memory, &value, sizeof value)) << "copies get through";
  const CUmemAccessDesc grant{here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_OK(cuMemPoolSetAccess(pool, &grant, 1));
  ASSERT_OK(cuMemPoolGetAccess(&flags, pool, &here));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, flags);
  EXPECT_OK(cuMemsetD8(memory, 0, 4096));
  EXPECT_OK(cuMemFreeAsync(memory, nullptr));
  EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST_F(Memory, pinned_memory_is_host_memory_with_a_device_address) {
  void* host = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  ASSERT_OK(cuMemHostGetDevicePointer(&memory, host, 0));
  EXPECT_EQ(static_cast<unsigned int>(CU_MEMORYTYPE_HOST),
            attribute<unsigned int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory)) << "not device memory";
  EXPECT_OK(cuMemFreeHost(host));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
}

TEST_F(Memory, host_memory_is_registered_once) {
  std::vector<int> values(1000, 7);
  const std::size_t bytes = values.size() * sizeof(int);
  ASSERT_OK(cuMemHostRegister(values.data(), bytes, 0));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(values.data() + 10, 4, 0));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&memory, values.data(), 0));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, nullptr, memory, 9));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(9, values[0]);
  EXPECT_OK(cuMemHostUnregister(values.data()));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(values.data()));
}

TEST_F(Memory, managed_memory_takes_advice_and_remembers_it) {
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(1, attribute<int>(CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, device};
  EXPECT_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  EXPECT_OK(cuMemPrefetchAsync(memory, 4096, here, 0, nullptr));
  int read_mostly = 0;
  EXPECT_OK(cuMemRangeGetAttribute(&read_mostly, sizeof(int), CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 4096));
  EXPECT_EQ(1, read_mostly);
  const CUdeviceptr plain = allocate(4096);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(plain, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(Memory, pointers_are_asked_about_without_a_current_context) {
  const CUdeviceptr memory = allocate(16);
  CUcontext own = nullptr;
  ASSERT_OK(cuCtxPopCurrent(&own));
  EXPECT_EQ(memory, attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 8));
  CUdeviceptr address = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuPointerGetAttribute(&address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory))
      << "as an H100 answers";
  unsigned int type = 77;
  int ordinal = 55;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* answers[] = {&type, &ordinal};
  const auto host = reinterpret_cast<CUdeviceptr>(&type);
  EXPECT_OK(cuPointerGetAttributes(2, which, answers, host));
  EXPECT_EQ(0u, type);
  EXPECT_EQ(CU_DEVICE_INVALID, ordinal);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host));
  ASSERT_OK(cuCtxPushCurrent(own));
}

TEST_F(Memory, any_address_inside_an_allocation_finds_it) {
  const CUdeviceptr memory = allocate(1000);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_OK(cuMemGetAddressRange(&base, &size, memory + 999));
  EXPECT_EQ(memory, base);
  EXPECT_EQ(1000u, size);
  EXPECT_EQ(context, attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, memory + 5));
  EXPECT_EQ(device, attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
  int local = 0;
  unsigned int type = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&local)));
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* out[] = {&type};
  type = 77;
  EXPECT_OK(cuPointerGetAttributes(1, which, out, reinterpret_cast<CUdeviceptr>(&local)));
  EXPECT_EQ(0u, type) << "ordinary host memory";
}

}  // namespace
