// A program that shares memory with its parent: sharing_program BYTES OFFSET. It fills as many bytes of device memory
// with ones, prints a handle of the address OFFSET bytes in and one of an event, in hexadecimal, and obeys its standard
// input: `sum` prints the sum of the bytes, `record` records the event, `free` gives the memory back, `again` allocates
// and shares as much and prints whether it lies at the same address and has the same handle; the end of the input ends
// it.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", call, static_cast<int>(result));
  std::exit(1);
}

CUdeviceptr allocate(std::size_t bytes, CUipcMemHandle* handle, std::size_t offset) {
  CUdeviceptr memory = 0;
  check(cuMemAlloc(&memory, bytes), "cuMemAlloc");
  check(cuMemsetD8(memory, 1, bytes), "cuMemsetD8");
  check(cuIpcGetMemHandle(handle, memory + offset), "cuIpcGetMemHandle");
  return memory;
}

void print(const char (&bytes)[64]) {
  for (const char byte : bytes) std::printf("%02x", static_cast<unsigned char>(byte));
  std::puts("");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::size_t bytes = std::strtoull(arguments[1], nullptr, 10);
  CUcontext context = nullptr;
  CUdeviceptr before = 0;
  CUipcMemHandle handle{};
  check(cuInit(0), "cuInit");
  check(cuCtxCreate(&context, nullptr, 0, 0), "cuCtxCreate");
  check(cuMemAlloc(&before, 700), "cuMemAlloc");  // so that small memory does not begin a page
  CUdeviceptr memory = allocate(bytes, &handle, std::strtoull(arguments[2], nullptr, 10));
  CUevent event = nullptr;
  CUipcEventHandle event_handle{};
  check(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  check(cuIpcGetEventHandle(&event_handle, event), "cuIpcGetEventHandle");
  print(handle.reserved);
  print(event_handle.reserved);
  std::fflush(stdout);
  for (std::string command; std::cin >> command; std::fflush(stdout)) {
    if (command == "sum") {
      std::vector<unsigned char> seen(bytes);
      check(cuMemcpyDtoH(seen.data(), memory, bytes), "cuMemcpyDtoH");
      std::printf("%ld\n", std::accumulate(seen.begin(), seen.end(), 0L));
    } else if (command == "free") {
      check(cuMemFree(memory), "cuMemFree");
      std::puts("freed");
    } else if (command == "record") {
      check(cuEventRecord(event, nullptr), "cuEventRecord");
      check(cuEventSynchronize(event), "cuEventSynchronize");
      std::puts("recorded");
    } else if (command == "again") {
      const CUdeviceptr old = memory;
      CUipcMemHandle other{};
      memory = allocate(bytes, &other, 0);
      std::printf("%d %d\n", memory == old, std::memcmp(&handle, &other, sizeof handle) == 0);
    }
  }
}
