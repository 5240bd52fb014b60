// What the driver answers at the edges of its calls, as drivers of GPUs do (seen with an H200 and CUDA 13.0). Nothing
// in it knows the CPU device, so it runs on a GPU's driver too.
#include <array>
#include <cstring>
#include <vector>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

using DriverAnswers = Textures;

TEST_F(DriverAnswers, limits_are_known_and_those_that_are_only_hints_are_kept) {
  size_t value = 0;
  const auto limit = [&](CUlimit which) {
    value = 12345;
    return cuCtxGetLimit(&value, which);
  };
  EXPECT_OK(limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
  EXPECT_EQ(2048u, value);
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096));
  EXPECT_OK(limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
  EXPECT_EQ(4096u, value);
  EXPECT_OK(limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
  EXPECT_EQ(64u, value);
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128));
  EXPECT_OK(limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
  EXPECT_EQ(128u, value);
  EXPECT_OK(limit(CU_LIMIT_SHMEM_SIZE));
  int most = 0;
  ASSERT_OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  EXPECT_EQ(static_cast<size_t>(most), value);
  EXPECT_OK(limit(CU_LIMIT_CIG_ENABLED));
  EXPECT_EQ(0u, value);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129));
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 0));
  EXPECT_OK(limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
  EXPECT_EQ(32u, value);
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1024));
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, cuCtxSetLimit(CU_LIMIT_CIG_ENABLED, 0));
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_LIMIT, limit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_LIMIT, limit(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, limit(CU_LIMIT_MAX));
}

TEST_F(DriverAnswers, a_current_primary_context_that_nobody_holds_tells_its_device_and_flags_and_no_more) {
  CUcontext primary = nullptr;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device));
  ASSERT_OK(cuDevicePrimaryCtxRelease(device));
  ASSERT_OK(cuCtxPushCurrent(primary));
  CUdevice of_current = -1;
  EXPECT_OK(cuCtxGetDevice(&of_current));
  EXPECT_EQ(device, of_current);
  unsigned int flags = 1;
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(0U, flags);
  unsigned long long id = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(primary, &flags));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetApiVersion(nullptr, &flags));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetId(primary, &id));
  CUdeviceptr memory = 0;
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 64));
  EXPECT_OK(cuCtxPopCurrent(nullptr));
}

TEST_F(DriverAnswers, a_primary_context_maps_host_memory_and_each_has_all_multiprocessors) {
  unsigned int flags = 1;
  ASSERT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(0U, flags);
  CUcontext primary = nullptr;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device));
  ASSERT_OK(cuCtxPushCurrent(primary));
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(static_cast<unsigned int>(CU_CTX_MAP_HOST), flags);
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  CUexecAffinityParam affinity{};
  ASSERT_OK(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  int count = 0;
  ASSERT_OK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT_EQ(CU_EXEC_AFFINITY_TYPE_SM_COUNT, affinity.type);
  EXPECT_EQ(static_cast<unsigned int>(count), affinity.param.smCount.val);
}

TEST_F(DriverAnswers, null_where_a_context_belongs_is_told_apart) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxPushCurrent(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxDestroy(nullptr));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(context, 0)) << "one's own device is no peer";
  CUgraph graph = nullptr;
  ASSERT_OK(cuGraphCreate(&graph, 0));
  CUgraphConditionalHandle handle = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0));
  EXPECT_OK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
  EXPECT_OK(cuGraphDestroy(graph));
}

// As an H100 answers (driver 580): a stream that was created brings its context along.
TEST_F(DriverAnswers, work_on_a_created_stream_needs_no_current_context) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0, allocated = 0;
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_OK(cuEventRecord(event, stream));
  ASSERT_OK(cuMemAlloc(&memory, 64));
  ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, device));
  ASSERT_OK(cuCtxSetCurrent(nullptr));
  std::array<unsigned char, 64> bytes{};
  EXPECT_OK(cuMemsetD8Async(memory, 7, bytes.size(), stream));
  EXPECT_OK(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(bytes.data()), memory, bytes.size(), stream));
  EXPECT_OK(cuMemAllocFromPoolAsync(&allocated, 64, pool, stream));
  EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(7, bytes.back());
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuStreamSynchronize(nullptr)) << "default streams are the current context's";
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 64));
  ASSERT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuMemFreeAsync(allocated, stream));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_OK(cuEventDestroy(event));
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(DriverAnswers, a_device_is_found_by_its_place_on_the_bus) {
  std::array<char, 32> place{};
  ASSERT_OK(cuDeviceGetPCIBusId(place.data(), static_cast<int>(place.size()), device));
  CUdevice found = -1;
  EXPECT_OK(cuDeviceGetByPCIBusId(&found, place.data()));
  EXPECT_EQ(device, found);
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&found, "0000:ff:00.0"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&found, "zz"));
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetMemPool(&pool, 99));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool(&pool, 99));
  ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(99, pool));
}

TEST_F(DriverAnswers, no_bytes_are_host_memory_without_an_address) {
  void* host = this;
  EXPECT_OK(cuMemAllocHost(&host, 0));
  EXPECT_EQ(nullptr, host);
  host = this;
  EXPECT_OK(cuMemHostAlloc(&host, 0, CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(nullptr, host);
  EXPECT_OK(cuMemFreeHost(host));
  CUdeviceptr memory = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL));
}

TEST_F(DriverAnswers, managed_memory_is_attached_as_a_whole_and_to_one_stream_only) {
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_SINGLE));
  ASSERT_OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
  EXPECT_OK(cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(stream, memory, 64, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(stream, memory + 64, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_SINGLE));
  EXPECT_OK(cuStreamAttachMemAsync(CU_STREAM_LEGACY, memory, 0, CU_MEM_ATTACH_SINGLE));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(DriverAnswers, a_wait_flushes_only_where_the_device_can) {
  int can_flush = 0;
  ASSERT_OK(cuDeviceGetAttribute(&can_flush, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, device));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAlloc(&memory, 64));
  ASSERT_OK(cuMemsetD8(memory, 0, 64));
  EXPECT_EQ(can_flush != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED,
            cuStreamWaitValue32(nullptr, memory, 0, CU_STREAM_WAIT_VALUE_GEQ | CU_STREAM_WAIT_VALUE_FLUSH));
  EXPECT_OK(cuStreamWaitValue32(nullptr, memory, 0, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(cuMemFree(memory));
}

TEST_F(DriverAnswers, ordinary_memory_is_not_registered_as_a_devices) {
  alignas(4096) static std::array<char, 4096> memory;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory.data(), memory.size(), CU_MEMHOSTREGISTER_IOMEMORY));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory.data()));
}

TEST_F(DriverAnswers, memory_operations_are_synchronous_on_managed_memory_only_unless_asked_for) {
  CUdeviceptr plain = 0, managed = 0, of_pool = 0;
  void* host = nullptr;
  ASSERT_OK(cuMemAlloc(&plain, 64));
  ASSERT_OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  ASSERT_OK(cuMemAllocAsync(&of_pool, 64, nullptr));
  ASSERT_OK(cuMemAllocHost(&host, 64));
  const auto is_synchronous = [](CUdeviceptr memory) {
    int value = -1;
    EXPECT_OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    return value;
  };
  EXPECT_EQ(0, is_synchronous(plain));
  EXPECT_EQ(1, is_synchronous(managed));
  EXPECT_EQ(0, is_synchronous(of_pool));
  EXPECT_EQ(0, is_synchronous(reinterpret_cast<CUdeviceptr>(host)));
  EXPECT_OK(cuMemFree(plain));
  EXPECT_OK(cuMemFree(managed));
  EXPECT_OK(cuMemFreeAsync(of_pool, nullptr));
  EXPECT_OK(cuMemFreeHost(host));
}

TEST_F(DriverAnswers, a_pool_with_a_largest_size_holds_whole_chunks) {
  constexpr size_t megabyte = 1 << 20;
  CUmemPoolProps given{};
  given.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  given.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  given.maxSize = 4 * megabyte;
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &given));
  CUdeviceptr memory = 0;
  EXPECT_OK(cuMemAllocFromPoolAsync(&memory, 8 * megabyte, pool, nullptr));
  EXPECT_OK(cuMemFreeAsync(memory, nullptr));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&memory, 64 * megabyte, pool, nullptr));
  EXPECT_OK(cuMemPoolDestroy(pool));
  given.maxSize = size_t{1} << 42;
  ASSERT_OK(cuMemPoolCreate(&pool, &given)) << "a bound may lie above what there is";
  EXPECT_OK(cuMemPoolDestroy(pool));
  given.maxSize = size_t{1} << 50;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemPoolCreate(&pool, &given));
  given.maxSize = 0;
  given.reserved[sizeof given.reserved - 1] = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, &given));
}

TEST_F(DriverAnswers, a_pool_of_managed_memory_has_no_largest_size_and_no_usage) {
  CUmemPoolProps given{};
  given.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  given.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemoryPool pool = nullptr;
  given.maxSize = 1 << 20;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, &given));
  given.maxSize = 0;
  given.usage = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, &given));
}

TEST_F(DriverAnswers, where_nothing_is_mapped_there_is_nothing_to_unmap) {
  CUmemAllocationProp given{};
  given.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  given.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  size_t size = 0;
  ASSERT_OK(cuMemGetAllocationGranularity(&size, &given, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0;
  CUmemGenericAllocationHandle memory = 0;
  ASSERT_OK(cuMemAddressReserve(&range, 2 * size, 0, 0, 0));
  ASSERT_OK(cuMemCreate(&memory, size, &given, 0));
  ASSERT_OK(cuMemMap(range, size, 0, memory, 0));
  const CUmemAccessDesc nobody{{CU_MEM_LOCATION_TYPE_DEVICE, 99}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range, size, &nobody, 1));
  const CUmemAccessDesc host{{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuMemSetAccess(range, size, &host, 1)) << "device memory";
  unsigned long long flags = 0;
  const CUmemLocation nowhere{CU_MEM_LOCATION_TYPE_DEVICE, 99};
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&flags, &nowhere, range));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, size / 2)) << "part of a mapping";
  EXPECT_OK(cuMemUnmap(range + size + 4096, 4096)) << "never mapped";
  EXPECT_OK(cuMemUnmap(range + size, size)) << "never mapped";
  EXPECT_OK(cuMemUnmap(range, size));
  EXPECT_OK(cuMemUnmap(range, size)) << "a second time";
  EXPECT_OK(cuMemRelease(memory));
  EXPECT_OK(cuMemAddressFree(range, 2 * size));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, size)) << "not reserved";
  given.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_OK(cuMemGetAllocationGranularity(&size, &given, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
}

TEST_F(DriverAnswers, a_bad_image_is_a_library_until_something_is_asked_of_it) {
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, "junk", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuLibraryGetKernel(&kernel, library, "any"));
  CUmodule module_of_library = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuLibraryGetModule(&module_of_library, library));
  unsigned int count = 7;
  EXPECT_OK(cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(0u, count);
  EXPECT_OK(cuLibraryUnload(library));
  size_t offset = 0, size = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(nullptr, 0, &offset, &size));
  EXPECT_EQ(CUDA_ERROR_FILE_NOT_FOUND,
            cuLibraryLoadFromFile(&library, "/nonexistent", nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadFromFile(&library, "", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUmodule module_of_it = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module_of_it, "junk"));
}

TEST_F(DriverAnswers, a_mipmapped_array_has_the_levels_its_size_allows) {
  const CUDA_ARRAY3D_DESCRIPTOR descriptor{8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  ASSERT_OK(cuMipmappedArrayCreate(&array, &descriptor, 0));
  EXPECT_OK(cuMipmappedArrayDestroy(array));
  ASSERT_OK(cuMipmappedArrayCreate(&array, &descriptor, 100));
  CUarray level = nullptr;
  EXPECT_OK(cuMipmappedArrayGetLevel(&level, array, 3));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, array, 4));
  EXPECT_OK(cuMipmappedArrayDestroy(array));
}

TEST_F(DriverAnswers, arrays_of_each_shape_have_bounds_of_their_own) {
  const auto made = [](size_t width, size_t height, size_t depth, unsigned int flags) {
    const CUDA_ARRAY3D_DESCRIPTOR descriptor{width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags};
    CUarray array = nullptr;
    const CUresult result = cuArray3DCreate(&array, &descriptor);
    if (result == CUDA_SUCCESS) {
      EXPECT_OK(cuArrayDestroy(array));
    }
    return result;
  };
  EXPECT_OK(made(131072, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(32769, 0, 0, CUDA_ARRAY3D_SURFACE_LDST));
  EXPECT_OK(made(1, 65536, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(1, 65537, 0, 0));
  EXPECT_OK(made(1, 8192, 32768, 0)) << "deeper if it is narrower";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(1, 8193, 32768, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(1, 1, 32768, CUDA_ARRAY3D_SURFACE_LDST));
  EXPECT_OK(made(1, 0, 2048, CUDA_ARRAY3D_LAYERED));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(1, 0, 2049, CUDA_ARRAY3D_LAYERED));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(1, 32769, 1, CUDA_ARRAY3D_LAYERED));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(4, 4, 2052, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(32769, 1, 0, CUDA_ARRAY3D_TEXTURE_GATHER));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(4, 4, 4, CUDA_ARRAY3D_TEXTURE_GATHER));
}

TEST_F(DriverAnswers, where_the_bounds_of_levels_cross_the_lower_one_counts) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmaps(8, 4);
  CUDA_TEXTURE_DESC crossed =
      reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
  crossed.minMipmapLevelClamp = 2;
  crossed.maxMipmapLevelClamp = 1;
  EXPECT_EQ(20.0F, one<float>("tex_2d_lod", texture(resource, crossed), {0.5F, 0.5F, 0, 0}));
  EXPECT_OK(cuTexObjectDestroy(0)) << "no object at all";
  EXPECT_OK(cuSurfObjectDestroy(0));
}

TEST_F(DriverAnswers, only_eight_bit_channels_without_a_sign_are_read_as_srgb) {
  const CUarray floats = array(CU_AD_FORMAT_FLOAT, 1, 1, 1);
  fill(floats, std::vector<float>{0.5F});
  const CUDA_TEXTURE_DESC encoded = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_SRGB);
  EXPECT_EQ(0.5F, one<float>("tex_2d", texture(resource_of(floats), encoded)));
  const CUarray with_signs = array(CU_AD_FORMAT_SIGNED_INT8, 1, 1, 1);
  fill(with_signs, std::vector<std::int8_t>{100});
  EXPECT_NEAR(100.0F / 127, one<float>("tex_2d", texture(resource_of(with_signs), encoded)), 1e-6F);
}

/// A kernel that does nothing, launched and added to a graph with one attribute.
class LaunchAttributes : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuModuleLoadData(&module,
                               ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry nothing()\n{ ret; }\n"));
    config_.gridDimX = 4;
    config_.gridDimY = config_.gridDimZ = config_.blockDimY = config_.blockDimZ = 1;
    config_.blockDimX = 32;
  }

  CUresult launched(std::vector<CUlaunchAttribute> attributes) {
    config_.attrs = attributes.data();
    config_.numAttrs = static_cast<unsigned int>(attributes.size());
    void* none[] = {nullptr};
    const CUresult result = cuLaunchKernelEx(&config_, kernel("nothing"), none, nullptr);
    EXPECT_OK(cuCtxSynchronize());
    return result;
  }
  CUresult set_on_node(CUlaunchAttribute attribute) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    void* none[] = {nullptr};
    const CUDA_KERNEL_NODE_PARAMS parameters{kernel("nothing"), 4, 1, 1, 32, 1, 1, 0, none, nullptr, nullptr, nullptr};
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    const CUresult result = cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value);
    if (result == CUDA_SUCCESS) {
      EXPECT_OK(cuGraphKernelNodeGetAttribute(node, attribute.id, &of_node_));
    }
    EXPECT_OK(cuGraphDestroy(graph));
    return result;
  }

  /// With a number in its first four bytes.
  static CUlaunchAttribute of(CUlaunchAttributeID id, int number = 0) {
    CUlaunchAttribute attribute{};
    attribute.id = id;
    std::memcpy(&attribute.value, &number, sizeof number);
    return attribute;
  }
  static CUlaunchAttribute cluster(CUlaunchAttributeID id, unsigned int x, unsigned int y, unsigned int z) {
    CUlaunchAttribute attribute = of(id);
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = y;
    attribute.value.clusterDim.z = z;
    return attribute;
  }

  CUlaunchConfig config_{};
  CUlaunchAttributeValue of_node_{};
};

TEST_F(LaunchAttributes, are_within_their_bounds) {
  struct {
    CUlaunchAttributeID id;
    int number;
    CUresult launched, on_node;
  } const cases[] = {
      {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 0, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
      {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 1, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
      {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 2, CUDA_SUCCESS, CUDA_SUCCESS},
      {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 3, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS},
      {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, -1, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS},
      {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1, CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE},
      {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, 4, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
      {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 1, CUDA_SUCCESS, CUDA_SUCCESS},
      {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 2, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
      {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, 0, CUDA_ERROR_NOT_SUPPORTED, CUDA_SUCCESS},
      {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100, CUDA_SUCCESS, CUDA_SUCCESS},
      {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
      {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, 2, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(each.launched, launched({of(each.id, each.number)})) << each.id << " " << each.number;
    EXPECT_EQ(each.on_node, set_on_node(of(each.id, each.number))) << each.id << " " << each.number;
  }
  EXPECT_OK(set_on_node(of(CU_LAUNCH_ATTRIBUTE_PRIORITY, -100)));
  EXPECT_EQ(-5, of_node_.priority);
}

TEST_F(LaunchAttributes, events_behind_kernels_have_no_time_and_no_flags) {
  const auto asked = [&](unsigned int made_with, int flags) {
    CUlaunchAttribute attribute = of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
    EXPECT_OK(cuEventCreate(&attribute.value.programmaticEvent.event, made_with));
    attribute.value.programmaticEvent.flags = flags;
    const CUresult result = launched({attribute});
    EXPECT_OK(cuEventDestroy(attribute.value.programmaticEvent.event));
    return result;
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launched({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)}));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launched({of(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)}));
  EXPECT_OK(asked(CU_EVENT_DISABLE_TIMING, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, asked(CU_EVENT_DEFAULT, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, asked(CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, 0));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, asked(CU_EVENT_DISABLE_TIMING, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, asked(CU_EVENT_DISABLE_TIMING, 2));
}

TEST_F(LaunchAttributes, no_cluster_is_zero_in_all_three_directions) {
  const auto id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  EXPECT_OK(launched({cluster(id, 0, 0, 0)}));
  EXPECT_OK(launched({cluster(id, 2, 1, 1)}));
  EXPECT_EQ(CUDA_ERROR_INVALID_CLUSTER_SIZE, launched({cluster(id, 2, 0, 1)}));
  EXPECT_EQ(CUDA_ERROR_INVALID_CLUSTER_SIZE, launched({cluster(id, 3, 1, 1)}));
}

TEST_F(LaunchAttributes, a_stream_takes_another_priority) {
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUlaunchAttributeValue value{};
  value.priority = -100;
  EXPECT_OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  int priority = 0;
  EXPECT_OK(cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(-5, priority);
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(DriverAnswers, limits_have_least_values_and_steps) {
  size_t value = 0;
  const auto set = [&](CUlimit which, size_t to) {
    EXPECT_OK(cuCtxSetLimit(which, to));
    EXPECT_OK(cuCtxGetLimit(&value, which));
    return value;
  };
  EXPECT_EQ(524288U, set(CU_LIMIT_PRINTF_FIFO_SIZE, 1));
  EXPECT_EQ(3000064U, set(CU_LIMIT_PRINTF_FIFO_SIZE, 3000001));
  EXPECT_EQ(4194304U, set(CU_LIMIT_MALLOC_HEAP_SIZE, 1));
  EXPECT_EQ(10027008U, set(CU_LIMIT_MALLOC_HEAP_SIZE, 10000001));
  EXPECT_OK(cuMemGetInfo(nullptr, nullptr));
}

TEST_F(DriverAnswers, a_level_is_destroyed_with_its_mipmapped_array_only) {
  const CUmipmappedArray array = mipmaps(8, 2);
  CUarray level = nullptr;
  ASSERT_OK(cuMipmappedArrayGetLevel(&level, array, 1));
  EXPECT_OK(cuArrayDestroy(level));
  ASSERT_OK(cuMipmappedArrayGetLevel(&level, array, 1));
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  EXPECT_OK(cuArray3DGetDescriptor(&descriptor, level));
  EXPECT_EQ(4U, descriptor.Width);
}

}  // namespace
