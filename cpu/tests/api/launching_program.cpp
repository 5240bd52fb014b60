// A program that launches a kernel of a PTX file and says how long that took, where its code came from and whether the
// compiler is in memory: launching_program FILE KERNEL [BLOCKSxTHREADS]... with a launch for each of them, or of 1x4.
// The kernel takes one pointer to 4 KiB of zeros; their sum, as integers, is printed.
#include <cuda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/api/cucore_cpu.h"

namespace {

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  char report[1024] = "";
  cucore_cpu_last_report(report, sizeof report);
  std::size_t compiled = 0;
  std::size_t loaded = 0;
  cucore_cpu_kernel_counts(&compiled, &loaded);
  std::fprintf(stderr, "%s: %d %s\ncompiled %zu loaded %zu\n", call, static_cast<int>(result), report, compiled,
               loaded);
  std::exit(1);
}

/// Whether a library is mapped that holds LLVM.
bool has_compiler() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("cucore-cpu-compiler") != std::string::npos || line.find("LLVM") != std::string::npos) return true;
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  std::vector<std::string> grids(arguments + 3, arguments + count);
  if (grids.empty()) grids.emplace_back("1x4");
  std::ifstream file(arguments[1]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  constexpr std::size_t word_count = 1024;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr memory = 0;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuCtxCreate(&context, nullptr, 0, device), "cuCtxCreate");
  check(cuModuleLoadData(&module, text.c_str()), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, arguments[2]), "cuModuleGetFunction");
  check(cuMemAlloc(&memory, word_count * sizeof(int)), "cuMemAlloc");
  check(cuMemsetD32(memory, 0, word_count), "cuMemsetD32");
  check(cuCtxSynchronize(), "cuCtxSynchronize");

  void* parameters[] = {&memory};
  const auto started = std::chrono::steady_clock::now();
  for (const std::string& grid : grids) {
    unsigned blocks = 0, threads = 0;
    if (std::sscanf(grid.c_str(), "%ux%u", &blocks, &threads) != 2) return 2;
    check(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr), "cuLaunchKernel");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;

  const int* words = reinterpret_cast<const int*>(memory);  // addresses of this driver are host addresses
  std::size_t compiled = 0;
  std::size_t loaded = 0;
  cucore_cpu_kernel_counts(&compiled, &loaded);
  std::printf("sum %d compiled %zu loaded %zu compiler %s\n", std::accumulate(words, words + word_count, 0), compiled,
              loaded, has_compiler() ? "in memory" : "absent");
  std::fprintf(stderr, "launches: %.3f ms\n", took.count());
}
