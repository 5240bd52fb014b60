// Initialization, version and profiler chapters.
#include "cpu/api/entry.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/start/start.hpp"

using namespace cucore::cpu::api;

CUresult cuInit(unsigned int Flags) {
  return guarded([&] { return driver_result(cucore::cpu::runtime::initialize(Flags)); });
}

CUresult cuDriverGetVersion(int* driverVersion) {  // answers before cuInit too
  if (!driverVersion) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = cucore::cpu::runtime::cuda_version;
  return CUDA_SUCCESS;
}

// There is no profiler to start: the calls mark a range for tools, and no tool is listening.
extern "C" {
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}
CUresult cuProfilerStart() {
  return in_context([](Context&) { return CUDA_SUCCESS; });
}
CUresult cuProfilerStop() {
  return in_context([](Context&) { return CUDA_SUCCESS; });
}
