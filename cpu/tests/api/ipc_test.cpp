// Memory between processes: sharing_program shares, this process opens.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cpu/tests/api/driver.hpp"

namespace {

constexpr unsigned int lazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
constexpr std::size_t mebi = std::size_t{1} << 20;

/// A running sharing_program.
class Owner {
 public:
  explicit Owner(std::size_t bytes, std::size_t offset = 0) {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
      const std::string size = std::to_string(bytes), place = std::to_string(offset);
      execl(CUCORE_SHARING_PROGRAM, CUCORE_SHARING_PROGRAM, size.c_str(), place.c_str(), nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    commands_ = fdopen(to[1], "w");
    answers_ = fdopen(from[0], "r");
    read(handle.reserved);
    read(event_handle.reserved);
  }
  ~Owner() { end(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  std::string ask(const char* command) {
    std::fprintf(commands_, "%s\n", command);
    std::fflush(commands_);
    return answer();
  }
  int end() {
    if (process_ <= 0) return 0;
    std::fclose(commands_);
    std::fclose(answers_);
    return wait();
  }
  void kill() {
    ::kill(process_, SIGKILL);
    std::fclose(commands_);
    std::fclose(answers_);
    wait();
  }

  CUipcMemHandle handle{};
  CUipcEventHandle event_handle{};

 private:
  void read(char (&bytes)[64]) {
    const std::string digits = answer();
    for (std::size_t n = 0; n < sizeof bytes && 2 * n + 1 < digits.size(); ++n)
      bytes[n] = static_cast<char>(std::stoi(digits.substr(2 * n, 2), nullptr, 16));
  }
  std::string answer() {
    char line[256] = "";
    if (!std::fgets(line, sizeof line, answers_)) return "";
    line[std::strcspn(line, "\n")] = '\0';
    return line;
  }
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return status;
  }

  pid_t process_ = -1;
  std::FILE* commands_ = nullptr;
  std::FILE* answers_ = nullptr;
};

class Ipc : public DriverTest {
 protected:
  static long sum_of(CUdeviceptr memory, std::size_t bytes) {
    std::vector<unsigned char> seen(bytes);
    EXPECT_OK(cuMemcpyDtoH(seen.data(), memory, bytes));
    return std::accumulate(seen.begin(), seen.end(), 0L);
  }
  /// How many mappings of shared memory this process has.
  static int mappings() {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) count += line.find("cucore device memory") != std::string::npos;
    return count;
  }
  CUdeviceptr opened = 0;
  CUipcMemHandle own{};
};

TEST_F(Ipc, what_either_process_writes_the_other_reads) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, 200 * mebi / 1000, 5 * mebi + 12345}) {
    Owner owner(bytes);
    ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
    const long ones = static_cast<long>(bytes);
    EXPECT_EQ(ones, sum_of(opened, bytes));
    ASSERT_OK(cuMemsetD8(opened, 3, bytes));
    EXPECT_EQ(std::to_string(3 * ones), owner.ask("sum"));
    std::size_t size = 0;
    CUdeviceptr base = 0;
    EXPECT_OK(cuMemGetAddressRange(&base, &size, opened + bytes / 2));
    EXPECT_EQ(opened, base);
    EXPECT_EQ(bytes, size);
    EXPECT_OK(cuIpcCloseMemHandle(opened));
    EXPECT_EQ(std::to_string(3 * ones), owner.ask("sum"));
    EXPECT_EQ(0, owner.end());
  }
}

TEST_F(Ipc, a_kernel_writes_to_another_process) {
  Owner owner(64);
  ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  ASSERT_OK(cuMemsetD8(opened, 0, 64));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, nullptr, opened, 200));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ("200", owner.ask("sum"));
}

TEST_F(Ipc, a_handle_of_an_address_within_opens_the_allocation) {
  Owner owner(5000, 4096);
  ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  EXPECT_EQ(5000, sum_of(opened, 5000));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(opened + 4096));
  EXPECT_OK(cuIpcCloseMemHandle(opened));
}

TEST_F(Ipc, opening_again_counts) {
  Owner owner(3000);
  CUdeviceptr again = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  ASSERT_OK(cuIpcOpenMemHandle(&again, owner.handle, lazy));
  EXPECT_EQ(opened, again);
  EXPECT_OK(cuIpcCloseMemHandle(opened));
  EXPECT_EQ(3000, sum_of(opened, 3000));
  const int before = mappings();
  EXPECT_OK(cuIpcCloseMemHandle(opened));
  EXPECT_EQ(before - 1, mappings());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(opened));
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(nullptr, nullptr, opened));
  EXPECT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  EXPECT_EQ(3000, sum_of(opened, 3000));
}

TEST_F(Ipc, the_end_of_a_context_closes_what_it_opened) {
  Owner owner(3000);
  CUcontext other = nullptr;
  CUdeviceptr there = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  ASSERT_OK(cuIpcOpenMemHandle(&there, owner.handle, lazy));
  EXPECT_NE(opened, there);
  const int before = mappings();
  ASSERT_OK(cuCtxDestroy(other));
  EXPECT_EQ(before - 1, mappings());
  ASSERT_OK(cuCtxSetCurrent(context));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(there));
  EXPECT_EQ(3000, sum_of(opened, 3000));
  ASSERT_OK(cuMemsetD8(opened, 2, 3000));
  EXPECT_EQ("6000", owner.ask("sum"));
}

TEST_F(Ipc, opened_memory_outlives_its_owner_and_its_handle_does_not) {
  for (const std::size_t bytes : {std::size_t{3000}, 3 * mebi}) {
    Owner owner(bytes);
    ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
    owner.kill();
    EXPECT_EQ(static_cast<long>(bytes), sum_of(opened, bytes));
    EXPECT_OK(cuMemsetD8(opened, 7, bytes));
    EXPECT_EQ(7 * static_cast<long>(bytes), sum_of(opened, bytes));
    CUdeviceptr again = 0;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&again, owner.handle, lazy));
    EXPECT_OK(cuIpcCloseMemHandle(opened));
  }
}

TEST_F(Ipc, an_opened_event_outlives_its_owner_and_its_handle_does_not) {
  Owner owner(64);
  CUevent event = nullptr;
  ASSERT_OK(cuIpcOpenEventHandle(&event, owner.event_handle));
  EXPECT_EQ("recorded", owner.ask("record"));
  EXPECT_OK(cuEventSynchronize(event));
  owner.kill();
  EXPECT_OK(cuEventQuery(event));
  EXPECT_OK(cuStreamWaitEvent(nullptr, event, 0));
  EXPECT_OK(cuCtxSynchronize());
  CUipcEventHandle passed_on{};  // all of it as an H100 and an H200 answer
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&passed_on, event));
  EXPECT_OK(cuEventRecord(event, nullptr));
  float milliseconds = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, event, event));
  CUevent again = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(&again, owner.event_handle));
  EXPECT_OK(cuEventDestroy(event));
}

TEST_F(Ipc, bytes_that_are_no_event_are_refused) {
  Owner owner(64);
  CUevent event = nullptr;
  CUipcEventHandle wrong{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(&event, wrong));
  for (std::size_t bit = 0; bit < 32 * 8; ++bit) {  // magic, file, process, descriptor
    wrong = owner.event_handle;
    wrong.reserved[bit / 8] = static_cast<char>(wrong.reserved[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(&event, wrong)) << "bit " << bit;
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(&event, reinterpret_cast<CUipcEventHandle&>(owner.handle)));
}

TEST_F(Ipc, a_handle_of_memory_that_was_freed_opens_nothing) {
  for (const std::size_t bytes : {std::size_t{3000}, 3 * mebi}) {
    Owner owner(bytes);
    EXPECT_EQ("freed", owner.ask("free"));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, owner.handle, lazy));
    EXPECT_NE("1 1", owner.ask("again"));  // at the same address, unless that rests for the checker: another handle
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  }
}

TEST_F(Ipc, bytes_that_are_no_handle_are_refused) {
  Owner owner(3000);
  CUipcMemHandle wrong{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, wrong, lazy));
  std::memset(&wrong, 0x5a, sizeof wrong);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, wrong, lazy));
  for (std::size_t bit = 0; bit < 8 * sizeof wrong; ++bit) {
    wrong = owner.handle;
    wrong.reserved[bit / 8] = static_cast<char>(wrong.reserved[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, wrong, lazy)) << "bit " << bit;
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&opened, owner.handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(nullptr, owner.handle, lazy));
  EXPECT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
}

TEST_F(Ipc, a_handle_is_not_for_the_process_that_made_it) {
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAlloc(&memory, 3000));
  int can_be_shared = 0;
  EXPECT_OK(cuPointerGetAttribute(&can_be_shared, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
  EXPECT_EQ(1, can_be_shared);
  ASSERT_OK(cuIpcGetMemHandle(&own, memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&opened, own, lazy));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&own, memory));
}

TEST_F(Ipc, only_memory_of_cuMemAlloc_is_shared) {
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  Owner owner(3000);
  ASSERT_OK(cuIpcOpenMemHandle(&opened, owner.handle, lazy));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&own, opened));  // its owner shares it
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(opened));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(opened, nullptr));
  ASSERT_OK(cuMemAllocManaged(&memory, 3000, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&own, memory));
  ASSERT_OK(cuMemAllocAsync(&memory, 3000, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&own, memory));
  ASSERT_OK(cuMemAllocHost(&pinned, 3000));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&own, reinterpret_cast<CUdeviceptr>(pinned)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&own, 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(nullptr, memory));
}

/// Adds one to the words of an array, one after the other, until told to stop; then says how many.
constexpr const char* counting = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 array, .param .u32 mask, .param .u64 stop, .param .u64 counted)
{
  .reg .pred %go_on;
  .reg .b32 %n, %value, %mask, %at;
  .reg .b64 %array, %stop, %counted, %place;
  ld.param.u64 %array, [array];
  ld.param.u32 %mask, [mask];
  ld.param.u64 %stop, [stop];
  ld.param.u64 %counted, [counted];
  mov.u32 %n, 0;
again:
  mul.lo.u32 %at, %n, 2654435761;
  and.b32 %at, %at, %mask;
  mad.wide.u32 %place, %at, 4, %array;
  ld.volatile.u32 %value, [%place];
  add.u32 %value, %value, 1;
  st.volatile.u32 [%place], %value;
  add.u32 %n, %n, 1;
  st.volatile.u32 [%counted], %n;
  ld.volatile.u32 %value, [%stop];
  setp.eq.u32 %go_on, %value, 0;
  @%go_on bra again;
  ret;
}
)";

TEST_F(Ipc, memory_can_be_shared_while_a_kernel_and_a_host_thread_write_to_it) {
#ifdef __SANITIZE_THREAD__  // a hundred times slower
  constexpr std::uint32_t word_count = 1 << 19;
#else
  constexpr std::uint32_t word_count = 1 << 23;
#endif
  auto* const array = device_array<std::uint32_t>(word_count);
  auto* const others = device_array<std::uint32_t>(word_count);
  for (std::uint32_t n = 0; n < word_count; n += 1024) array[n] = others[n] = 0x1000000;  // no page is empty
  void* pinned = nullptr;
  ASSERT_OK(cuMemAllocHost(&pinned, 64));
  auto* const stop = static_cast<int*>(pinned);
  auto* const counted = static_cast<std::uint32_t*>(pinned) + 8;
  *stop = 0;
  *counted = 0;
  CUfunction function = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, counting));
  ASSERT_OK(cuModuleGetFunction(&function, module, "count"));
  ASSERT_OK(launch(function, 1, 1, nullptr, array, word_count - 1, stop, counted));
  std::uint32_t by_host = 0;
  std::thread host([&] {
    for (; std::atomic_ref<int>(*stop).load() == 0; ++by_host)
      others[by_host * 2654435761U % word_count] += 1;  // the memory's addresses are the host's
  });
  while (std::atomic_ref<std::uint32_t>(*counted).load() == 0) std::this_thread::yield();
  EXPECT_OK(cuIpcGetMemHandle(&own, reinterpret_cast<CUdeviceptr>(array)));
  EXPECT_OK(cuIpcGetMemHandle(&own, reinterpret_cast<CUdeviceptr>(others)));
  raise(stop);
  host.join();
  ASSERT_OK(cuCtxSynchronize());
  const std::uint64_t marks = std::uint64_t{word_count / 1024} * 0x1000000;
  EXPECT_EQ(marks + *counted, std::accumulate(array, array + word_count, std::uint64_t{0}));
  EXPECT_EQ(marks + by_host, std::accumulate(others, others + word_count, std::uint64_t{0}));
}

}  // namespace
