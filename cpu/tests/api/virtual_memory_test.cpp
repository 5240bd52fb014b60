// Virtual memory, shared pools and arrays: the order of the calls, and what comes back out of them.
#include <unistd.h>

#include <cstring>

#include "cpu/tests/api/driver.hpp"

namespace {

class VirtualMemory : public DriverTest {
 protected:
  static CUmemAllocationProp properties() {
    CUmemAllocationProp given{};
    given.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    given.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    given.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return given;
  }
  size_t granularity() {
    size_t size = 0;
    const CUmemAllocationProp given = properties();
    EXPECT_OK(cuMemGetAllocationGranularity(&size, &given, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return size;
  }
  CUmemGenericAllocationHandle created(size_t size) {
    const CUmemAllocationProp given = properties();
    CUmemGenericAllocationHandle memory = 0;
    EXPECT_OK(cuMemCreate(&memory, size, &given, 0));
    return memory;
  }
  /// Closes the file.
  static CUmemoryPool import_pool(int file) {
    CUmemoryPool pool = nullptr;
    void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
    EXPECT_OK(cuMemPoolImportFromShareableHandle(&pool, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(file);
    return pool;
  }
};

TEST_F(VirtualMemory, two_mappings_of_one_memory_are_the_same_bytes) {
  const size_t size = granularity();
  const CUmemGenericAllocationHandle memory = created(size);
  CUdeviceptr range = 0;
  ASSERT_OK(cuMemAddressReserve(&range, 2 * size, 0, 0, 0));
  ASSERT_OK(cuMemMap(range, size, 0, memory, 0));
  ASSERT_OK(cuMemMap(range + size, size, 0, memory, 0));
  ASSERT_OK(cuMemRelease(memory));  // the mappings keep it
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_OK(cuMemSetAccess(range, 2 * size, &access, 1));
  ASSERT_OK(cuMemsetD8(range, 7, 16));
  unsigned char seen[16] = {};
  ASSERT_OK(cuMemcpyDtoH(seen, range + size, sizeof seen));
  EXPECT_EQ(7, seen[15]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 2 * size));  // still mapped
  ASSERT_OK(cuMemUnmap(range, 2 * size));
  EXPECT_OK(cuMemAddressFree(range, 2 * size));
}

TEST_F(VirtualMemory, a_mapping_outside_a_reservation_is_refused) {
  const size_t size = granularity();
  const CUmemAllocationProp given = properties();
  CUmemGenericAllocationHandle memory = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&memory, size + 1, &given, 0));
  ASSERT_OK(cuMemCreate(&memory, size, &given, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(size, size, 0, memory, 0));
  EXPECT_OK(cuMemRelease(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(memory));
}

TEST_F(VirtualMemory, a_mapping_is_filled_only_where_the_device_may_write) {
  const size_t size = granularity();
  const CUmemGenericAllocationHandle memory = created(size);
  CUdeviceptr range = 0;
  ASSERT_OK(cuMemAddressReserve(&range, size, 0, 0, 0));
  ASSERT_OK(cuMemMap(range, size, 0, memory, 0));
  ASSERT_OK(cuMemRelease(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(range, 7, 16)) << "no access was given yet";
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
  ASSERT_OK(cuMemSetAccess(range, size, &access, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(range, 7, 16, nullptr));
  EXPECT_OK(cuCtxSynchronize()) << "the context is whole";
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ASSERT_OK(cuMemSetAccess(range, size, &access, 1));
  EXPECT_OK(cuMemsetD8(range, 7, 16));
  ASSERT_OK(cuMemUnmap(range, size));
  EXPECT_OK(cuMemAddressFree(range, size));
}

TEST_F(VirtualMemory, memory_is_made_where_it_can_be) {
  CUmemAllocationProp given = properties();
  CUmemGenericAllocationHandle memory = 0;
  const auto made = [&](CUmemLocationType type, int id) {
    given.location = {type, id};
    const CUresult result = cuMemCreate(&memory, granularity(), &given, 0);
    if (result == CUDA_SUCCESS) {
      EXPECT_OK(cuMemRelease(memory));
    }
    return result;
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(CU_MEM_LOCATION_TYPE_HOST, 0)) << "nor shared";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, made(CU_MEM_LOCATION_TYPE_HOST_NUMA, 1));
  EXPECT_OK(made(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0));
  given.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  EXPECT_OK(made(CU_MEM_LOCATION_TYPE_HOST, 0));
  CUdeviceptr range = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, granularity(), 0, 12345, 0)) << "inside a page";
}

TEST_F(VirtualMemory, a_pool_and_its_pointers_go_through_a_file_descriptor) {
  const CUmemPoolProps given = shareable_pool();
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &given));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocFromPoolAsync(&memory, 100, pool, nullptr));
  ASSERT_OK(cuMemsetD8(memory, 3, 100));
  int file = -1;
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&data, memory));  // the pool first
  ASSERT_OK(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_OK(cuMemPoolExportPointer(&data, memory));
  CUmemoryPool imported = import_pool(file);
  CUdeviceptr again = 0;
  ASSERT_OK(cuMemPoolImportPointer(&again, imported, &data));
  EXPECT_NE(memory, again);
  unsigned char seen = 0;
  ASSERT_OK(cuMemcpyDtoH(&seen, again + 99, 1));
  EXPECT_EQ(3, seen);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&memory, 8, imported, nullptr));
  CUmemoryPool other = nullptr;
  ASSERT_OK(cuMemPoolCreate(&other, &given));
  ASSERT_OK(cuMemPoolExportToShareableHandle(&file, other, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemoryPool wrong = import_pool(file);
  CUdeviceptr none = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&none, wrong, &data)) << "a pointer of another pool";
  EXPECT_OK(cuMemPoolDestroy(wrong));
  EXPECT_OK(cuMemPoolDestroy(other));
  std::memset(&data, 0x5a, sizeof data);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&none, imported, &data));
  EXPECT_OK(cuMemFreeAsync(again, nullptr));
  EXPECT_OK(cuMemPoolDestroy(imported));
}

// As NVIDIA's driver 580 answers.
TEST_F(VirtualMemory, a_pool_imported_twice_is_one_that_stays_while_memory_is_mapped) {
  const CUmemPoolProps given = shareable_pool();
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &given));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocFromPoolAsync(&memory, 100, pool, nullptr));
  const auto exported = [&] {
    int file = -1;
    EXPECT_OK(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return file;
  };
  CUmemoryPool imported = import_pool(exported());
  EXPECT_NE(pool, imported);
  EXPECT_EQ(imported, import_pool(exported()));
  CUmemPoolPtrExportData data{};
  ASSERT_OK(cuMemPoolExportPointer(&data, memory));
  CUdeviceptr mapped = 0, again = 0;
  ASSERT_OK(cuMemPoolImportPointer(&mapped, imported, &data));
  ASSERT_OK(cuMemPoolImportPointer(&again, imported, &data));
  EXPECT_EQ(mapped, again);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(imported)) << "mapped";
  std::uint64_t value = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(imported, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(imported, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(imported, 0));
  int file = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemPoolExportToShareableHandle(&file, imported, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemPoolPtrExportData passed_on{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&passed_on, mapped));
  unsigned long long handle_types = 77;
  EXPECT_OK(cuPointerGetAttribute(&handle_types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, mapped));
  EXPECT_EQ(0ULL, handle_types);
  EXPECT_OK(cuPointerGetAttribute(&handle_types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, memory));
  EXPECT_EQ(static_cast<unsigned long long>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), handle_types);
  for (const CUmemoryPool each : {pool, imported}) {
    const CUmemAccessDesc none{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMemPoolSetAccess(each, &none, 1));
    const CUmemAccessDesc all{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_OK(cuMemPoolSetAccess(each, &all, 1));
  }
  EXPECT_OK(cuMemFree(mapped));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(again)) << "one free unmaps it";
  EXPECT_OK(cuMemPoolDestroy(imported));
  ASSERT_OK(cuMemPoolImportPointer(&mapped, imported, &data)) << "the other import";
  EXPECT_OK(cuMemFreeAsync(mapped, nullptr));
  EXPECT_OK(cuMemPoolDestroy(imported));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&mapped, imported, &data));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST_F(VirtualMemory, a_pointer_that_was_freed_cannot_be_imported_even_if_its_place_is_used_again) {
  const CUmemPoolProps given = shareable_pool();
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &given));
  int file = -1;
  ASSERT_OK(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemoryPool imported = import_pool(file);
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocFromPoolAsync(&memory, 100, pool, nullptr));
  CUmemPoolPtrExportData data{};
  ASSERT_OK(cuMemPoolExportPointer(&data, memory));
  ASSERT_OK(cuMemFreeAsync(memory, nullptr));
  CUdeviceptr none = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&none, imported, &data));
  CUdeviceptr next = 0;
  ASSERT_OK(cuMemAllocFromPoolAsync(&next, 100, pool, nullptr));
  EXPECT_EQ(memory, next) << "it is no longer used again: this test then shows less";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&none, imported, &data));
  EXPECT_OK(cuMemFreeAsync(next, nullptr));
  EXPECT_OK(cuMemPoolDestroy(imported));
  EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST_F(VirtualMemory, an_array_gives_back_the_rows_put_into_it) {
  const CUDA_ARRAY_DESCRIPTOR given{4, 3, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray array = nullptr;
  ASSERT_OK(cuArrayCreate(&array, &given));
  unsigned char in[12], out[12] = {};
  for (unsigned char i = 0; i < 12; ++i) in[i] = i;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = in;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4;
  copy.Height = 3;
  ASSERT_OK(cuMemcpy2D(&copy));
  ASSERT_OK(cuMemcpyAtoH(out, array, 1, 3));
  EXPECT_EQ(3, out[2]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(out, array, 2, 3));  // past the row
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
}

}  // namespace
