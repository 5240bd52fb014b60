// This library's own exports: see cucore_cpu.h.
#include "cpu/api/cucore_cpu.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/analysis/unsupported.hpp"
#include "cpu/api/entry_table.hpp"
#include "cpu/runtime/loading/forms/kernel_source.hpp"
#include "cpu/runtime/loading/kernel_dump.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/live_objects.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"

using namespace cucore::cpu;

namespace {

struct Lists {
  std::vector<const char*> real, stubs, covered, known;
};

/// The views point at literals, which end with a zero, but nothing says so: keep copies.
std::vector<const char*> keep(const std::vector<std::string_view>& names) {
  std::vector<std::string> copies(names.begin(), names.end());
  std::sort(copies.begin(), copies.end());
  static auto* kept = new std::vector<std::vector<std::string>>;
  kept->reserve(2);
  std::vector<const char*> pointers;
  for (const std::string& name : kept->emplace_back(std::move(copies))) pointers.push_back(name.c_str());
  return pointers;
}

const Lists& lists() {
  static const Lists* const made = [] {
    auto* all = new Lists;
    for (std::size_t i = 0; i < api::entry_count; ++i)
      (api::entries[i].is_stub() ? all->stubs : all->real).push_back(api::entries[i].symbol);
    const auto by_text = [](const char* a, const char* b) { return std::strcmp(a, b) < 0; };
    std::sort(all->real.begin(), all->real.end(), by_text);
    std::sort(all->stubs.begin(), all->stubs.end(), by_text);
    all->covered = keep(analysis::covered_opcodes());
    all->known = keep(analysis::known_opcodes());
    return all;
  }();
  return *made;
}

size_t hand_out(const std::string& words, char* text, size_t size) {
  if (text && size > 0) {
    const size_t taken = std::min(size - 1, words.size());
    std::memcpy(text, words.data(), taken);
    text[taken] = '\0';
  }
  return words.size();
}

}  // namespace

#pragma GCC visibility push(default)

int cucore_cpu_device_version(void) { return CUCORE_CPU_INTERFACE; }

int cucore_cpu_is_initialized(void) { return runtime::is_shutting_down() ? 0 : 1; }

int cucore_cpu_driver_status(cucore_cpu_status* status) {
  if (!status || status->size < sizeof *status) return 1;
  const Lists& all = lists();
  status->real_count = all.real.size();
  status->real_names = all.real.data();
  status->stub_count = all.stubs.size();
  status->stub_names = all.stubs.data();
  status->covered_opcode_count = all.covered.size();
  status->covered_opcodes = all.covered.data();
  status->known_opcode_count = all.known.size();
  status->known_opcodes = all.known.data();
  return 0;
}

void cucore_cpu_kernel_counts(size_t* compiled, size_t* loaded) {
  const runtime::KernelCounts counts = runtime::kernel_counts();
  if (compiled) *compiled = counts.compiled;
  if (loaded) *loaded = counts.loaded;
}

int cucore_cpu_dump(const void* image, size_t size, const char* kernel, const char* what, const unsigned int* block,
                    void (*write)(void* context, const char* text, size_t size), void* context) {
  if (!image || !what || !write) return CUDA_ERROR_INVALID_VALUE;
  std::uint32_t shape[3] = {256, 1, 1};
  if (block) std::copy_n(block, 3, shape);
  const Result<std::string> dumped = runtime::dump(image, size, kernel ? kernel : "", what, shape);
  const std::string text = dumped ? *dumped : dumped.failure().sentence();
  write(context, text.data(), text.size());
  return dumped ? CUDA_SUCCESS : runtime::driver_result(dumped.failure());
}

size_t cucore_cpu_last_report(char* text, size_t size) { return hand_out(runtime::last_report(), text, size); }

size_t cucore_cpu_last_fault(char* text, size_t size) { return hand_out(runtime::last_fault(), text, size); }

size_t cucore_cpu_findings(size_t from, char* text, size_t size) {
  return hand_out(runtime::findings_from(from), text, size);
}

size_t cucore_cpu_live_objects(char* text, size_t size) {
  return hand_out(runtime::live_objects::summary(), text, size);
}

int cucore_cpu_trace_join(void) { return runtime::trace::join() ? 1 : 0; }

void cucore_cpu_trace_write(const char* event, size_t size) { runtime::trace::write({event, size}); }

void cucore_cpu_trace_end(const char* last_event, size_t size) { runtime::trace::end({last_event, size}); }

void cucore_cpu_trace_caller_writes(int writes) { runtime::trace::set_caller_writes(writes != 0); }

void cucore_cpu_set_origin(size_t (*origin)(char*, size_t)) { runtime::live_objects::set_origin(origin); }
