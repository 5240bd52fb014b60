// The life of the driver in its process: see process.hpp.
#include "cpu/runtime/process/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/default_stream.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/process/live_objects.hpp"
#include "cpu/runtime/process/logs.hpp"
#include "cpu/runtime/process/settings.hpp"
#include "cpu/runtime/threads/faults.hpp"

namespace cucore::cpu::runtime {

thread_local bool PerThreadDefaultStream::current_ = false;

namespace {

enum class Phase { Fresh, Ready, Exiting, Forked };

struct Process {
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> devices;
  bool launches_block = false;
  std::mutex report_mutex;
  std::string report;
};

std::atomic<Phase> phase{Phase::Fresh};
thread_local bool in_host_function = false;

Process& process() {
  static auto* instance = new Process;  // never destroyed: threads of ours may outlive static destruction
  return *instance;
}

void end(int, void*) {
  Phase ready = Phase::Ready;
  if (phase.compare_exchange_strong(ready, Phase::Exiting)) {
    checker::write_summary();
    live_objects::report_at_exit();
  }
}

void on_fork_in_child() {
  Phase ready = Phase::Ready;
  if (!phase.compare_exchange_strong(ready, Phase::Forked)) {
    Phase exiting = Phase::Exiting;
    phase.compare_exchange_strong(exiting, Phase::Forked);
  }
}

}  // namespace

CUresult process_state() {
  switch (phase.load(std::memory_order_acquire)) {
    case Phase::Ready:
      return in_host_function ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    case Phase::Exiting:
      return CUDA_ERROR_DEINITIALIZED;
    default:
      return CUDA_ERROR_NOT_INITIALIZED;
  }
}

CUresult initialize(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Phase now = phase.load(std::memory_order_acquire);
  if (now == Phase::Ready) return CUDA_SUCCESS;
  if (now == Phase::Exiting) return CUDA_ERROR_DEINITIALIZED;
  if (now == Phase::Forked) return CUDA_ERROR_NOT_INITIALIZED;
  Process& self = process();
  const std::lock_guard lock(self.mutex);
  if (phase.load(std::memory_order_acquire) == Phase::Ready) return CUDA_SUCCESS;
  const std::vector<int> visible = visible_devices();
  if (visible.empty()) return CUDA_ERROR_NO_DEVICE;
  const int capability = compute_capability_from_environment();
  for (const int index : visible)
    self.devices.push_back(std::make_unique<Device>(static_cast<int>(self.devices.size()), index, capability));
  self.launches_block = number_of(Setting::launch_blocking, 0, 0, 1) == 1;
  install_fault_handler();
  pthread_atfork(nullptr, nullptr, on_fork_in_child);
  ::on_exit(end, nullptr);  // not std::atexit, which goes the way of the destructors: api/no_destructors.cpp
  phase.store(Phase::Ready, std::memory_order_release);
  return CUDA_SUCCESS;
}

HostFunctionScope::HostFunctionScope() { in_host_function = true; }

HostFunctionScope::~HostFunctionScope() { in_host_function = false; }

bool is_shutting_down() { return phase.load(std::memory_order_relaxed) != Phase::Ready; }

bool launches_block() { return process().launches_block; }

const std::vector<std::unique_ptr<Device>>& devices() { return process().devices; }

void report(std::string text) {
  Process& self = process();
  logs::add(text);
  if (is_set_to(Setting::report, "stderr")) std::fprintf(stderr, "cucore CPU device: %s\n", text.c_str());
  const std::lock_guard lock(self.report_mutex);
  self.report = std::move(text);
}

std::string last_report() {
  Process& self = process();
  const std::lock_guard lock(self.report_mutex);
  return self.report;
}

}  // namespace cucore::cpu::runtime
