// External memory: file descriptors of this driver and of other programs, as buffers of device memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "cpu/tests/api/driver.hpp"

namespace {

class ExternalMemory : public DriverTest {
 protected:
  static constexpr std::size_t byte_count = 3 * 4096;

  static int make_file() {
    const int file = memfd_create("external", 0);
    EXPECT_EQ(0, ftruncate(file, byte_count));
    return file;
  }
  static CUDA_EXTERNAL_MEMORY_HANDLE_DESC describe(int file, std::size_t size = byte_count) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC given{};
    given.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    given.handle.fd = file;
    given.size = size;
    return given;
  }
  CUresult import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& given) { return cuImportExternalMemory(&memory, &given); }
  CUresult map(std::size_t offset, std::size_t size, unsigned int flags = 0) {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC given{};
    given.offset = offset;
    given.size = size;
    given.flags = flags;
    return cuExternalMemoryGetMappedBuffer(&buffer, memory, &given);
  }
  CUexternalMemory memory = nullptr;
  CUdeviceptr buffer = 0;
};

TEST_F(ExternalMemory, what_another_program_wrote_is_read_and_the_other_way_round) {
  const int file = make_file();
  const int others = dup(file);  // the first is the driver's from now on
  ASSERT_EQ(5, pwrite(others, "hello", 5, 5000));
  ASSERT_OK(import(describe(file)));
  ASSERT_OK(map(5000, 100));
  char seen[6] = "";
  ASSERT_OK(cuMemcpyDtoH(seen, buffer, 5));
  EXPECT_STREQ("hello", seen);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  ASSERT_OK(cuMemGetAddressRange(&base, &size, buffer + 50));
  EXPECT_EQ(buffer, base);
  EXPECT_EQ(100u, size);
  ASSERT_OK(launch(kernel("set_to"), 1, 1, nullptr, buffer, 0x21212121));
  ASSERT_OK(cuCtxSynchronize());
  ASSERT_EQ(5, pread(others, seen, 5, 5000));
  EXPECT_STREQ("!!!!o", seen);
  close(others);
}

TEST_F(ExternalMemory, a_buffer_outlives_the_object_and_is_freed_as_memory) {
  const int file = make_file();
  ASSERT_OK(import(describe(file)));
  ASSERT_OK(map(0, byte_count));
  ASSERT_OK(cuDestroyExternalMemory(memory));
  EXPECT_EQ(-1, fcntl(file, F_GETFD));  // the driver had it, and closed it
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, map(0, byte_count));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
  ASSERT_OK(cuMemsetD8(buffer, 1, byte_count));
  CUipcMemHandle handle{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, buffer));
  EXPECT_OK(cuMemFree(buffer));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(buffer));
}

TEST_F(ExternalMemory, memory_that_this_driver_exports_can_be_imported) {
  CUmemAllocationProp given{};
  given.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  given.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  given.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  constexpr std::size_t size_bytes = std::size_t{2} << 20;
  CUmemGenericAllocationHandle physical = 0;
  ASSERT_OK(cuMemCreate(&physical, size_bytes, &given, 0));
  int file = -1;
  ASSERT_OK(cuMemExportToShareableHandle(&file, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_OK(import(describe(file, size_bytes)));
  ASSERT_OK(map(0, size_bytes));
  ASSERT_OK(cuMemsetD8(buffer, 9, size_bytes));
  CUdeviceptr range = 0;
  ASSERT_OK(cuMemAddressReserve(&range, size_bytes, 0, 0, 0));
  ASSERT_OK(cuMemMap(range, size_bytes, 0, physical, 0));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_OK(cuMemSetAccess(range, size_bytes, &access, 1));
  unsigned char last = 0;
  ASSERT_OK(cuMemcpyDtoH(&last, range + size_bytes - 1, 1));
  EXPECT_EQ(9, last);
  EXPECT_OK(cuMemUnmap(range, size_bytes));
  EXPECT_OK(cuMemAddressFree(range, size_bytes));
  EXPECT_OK(cuMemRelease(physical));
}

TEST_F(ExternalMemory, what_cannot_be_mapped_is_refused) {
  const int file = make_file();
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, import(describe(-1)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, import(describe(ends[0])));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, import(describe(file, byte_count + 1)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, import(describe(file, 0)));
  const int readable = open("/proc/self/exe", O_RDONLY);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, import(describe(readable)));
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC other = describe(file);
  other.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, import(other));
  other.type = unknown<CUexternalMemoryHandleType>(77);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, import(other));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, nullptr));
  ASSERT_OK(import(describe(file)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, map(0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, map(byte_count, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, map(1, ~std::size_t{0}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, map(0, 1, 1));
  EXPECT_OK(cuDestroyExternalMemory(memory));
  for (const int each : {ends[0], ends[1], readable}) close(each);
}

TEST_F(ExternalMemory, semaphores_of_other_interfaces_are_not_supported) {
  CUexternalSemaphore semaphore = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC given{};
  given.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuImportExternalSemaphore(&semaphore, &given));
}

}  // namespace
