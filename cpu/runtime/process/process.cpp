// The life of the driver in its process: see process.hpp.
#include "cpu/runtime/process/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cpu/runtime/process/default_stream.hpp"
#include "cpu/runtime/process/logs.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {

thread_local bool PerThreadDefaultStream::current_ = false;

namespace {

enum class Phase { Fresh, Ready, Exiting, Forked };

struct Process {
  std::mutex mutex;
  bool launches_block = false;
  void (*at_exit)() = nullptr;
  std::mutex report_mutex;
  std::string report;
  std::string fault;
  std::string findings;
};

std::atomic<Phase> phase{Phase::Fresh};
thread_local bool in_host_function = false;

Process& process() {
  static auto* instance = new Process;  // never destroyed: threads of ours may outlive static destruction
  return *instance;
}

void end(int, void*) {
  Phase ready = Phase::Ready;
  if (phase.compare_exchange_strong(ready, Phase::Exiting)) process().at_exit();
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

Result<void> start_process(Result<void> (*start)(), void (*at_exit)()) {
  const Phase now = phase.load(std::memory_order_acquire);
  if (now == Phase::Ready) return {};
  if (now == Phase::Exiting) return ErrorCode::Deinitialized;
  if (now == Phase::Forked) return ErrorCode::NotInitialized;
  Process& self = process();
  const std::lock_guard lock(self.mutex);
  if (phase.load(std::memory_order_acquire) == Phase::Ready) return {};
  if (Result<void> started = start(); !started) return started;
  for (const std::string& word : words_of(Setting::report))
    if (word != "stderr" && word != "forms" && word != "0") ignore(Setting::report, word, "neither stderr nor forms");
  self.launches_block = number_of(Setting::launch_blocking, 0, 0, 1) == 1;
  self.at_exit = at_exit;
  pthread_atfork(nullptr, nullptr, on_fork_in_child);
  ::on_exit(end, nullptr);  // not std::atexit, which goes the way of the destructors: abi/no_destructors.cpp
  phase.store(Phase::Ready, std::memory_order_release);
  return {};
}

HostFunctionScope::HostFunctionScope() { in_host_function = true; }

HostFunctionScope::~HostFunctionScope() { in_host_function = false; }

bool has_exited() { return phase.load(std::memory_order_relaxed) == Phase::Exiting; }

bool is_shutting_down() { return phase.load(std::memory_order_relaxed) != Phase::Ready; }

bool launches_block() { return process().launches_block; }

void report(std::string text) {
  Process& self = process();
  logs::add(text);
  if (is_reported("stderr")) std::fprintf(stderr, "cucore CPU device: %s\n", text.c_str());
  const std::lock_guard lock(self.report_mutex);
  self.report = std::move(text);
}

void report_fault(std::string text) {
  Process& self = process();
  {
    const std::lock_guard lock(self.report_mutex);
    self.fault = text;
  }
  report(std::move(text));
}

void report_finding(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  Process& self = process();
  const std::lock_guard lock(self.report_mutex);
  self.findings += text;
}

std::string findings_from(std::size_t from) {
  Process& self = process();
  const std::lock_guard lock(self.report_mutex);
  return from < self.findings.size() ? self.findings.substr(from) : std::string();
}

std::string last_fault() {
  Process& self = process();
  const std::lock_guard lock(self.report_mutex);
  return self.fault;
}

std::string last_report() {
  Process& self = process();
  const std::lock_guard lock(self.report_mutex);
  return self.report;
}

bool is_reported(std::string_view what) {
  const std::vector<std::string> asked = words_of(Setting::report);
  return std::find(asked.begin(), asked.end(), what) != asked.end();
}

}  // namespace cucore::cpu::runtime
