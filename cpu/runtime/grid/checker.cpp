// Findings of launches, and their reports: see checker.hpp.
#include "cpu/runtime/grid/checker.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include "cpu/loader/ptx_place.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime::checker {

namespace {

std::atomic<std::uint64_t> errors{0};  ///< different ones
std::atomic<std::uint64_t> printed{0};

std::string text_of(const Grid& grid, const Finding& finding) {
  std::string text = "========= " + finding.headline + "\n";
  text += "=========     in kernel " + *grid.kernel;
  if (finding.line != 0) text += " at " + place_of(grid, finding.line);
  if (const std::string source = loader::source_text(*grid.ptx, finding.line); !source.empty()) {
    text += "\n=========     source: " + source;
  }
  text += "\n=========     by ";
  if (finding.names_thread) text += "thread " + spelt(finding.thread) + " in ";
  text += "block " + spelt(finding.block);
  if (finding.count > 1) text += ", the first of " + std::to_string(finding.count);
  text += '\n';
  for (const std::string& detail : finding.details) text += "=========     " + detail + "\n";
  return text + "=========\n";
}

}  // namespace

Finding* Findings::find(std::uint32_t line, std::string_view headline) {
  const auto found = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& known) {
    return known.line == line && known.headline == headline;
  });
  return found != findings_.end() ? &*found : nullptr;
}

bool Findings::count_another(std::uint32_t line, std::string_view headline) {
  const std::lock_guard lock(mutex_);
  Finding* const known = find(line, headline);
  if (known) ++known->count;
  return known != nullptr;
}

void Findings::add(Finding finding) {
  const std::lock_guard lock(mutex_);
  if (Finding* const known = find(finding.line, finding.headline))
    ++known->count;
  else
    findings_.push_back(std::move(finding));
}

std::vector<Finding> Findings::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(findings_, {});
}

void add(Grid& grid, const BlockState& block, const ThreadState* thread, Finding finding) {
  std::copy_n(block.block_id, 3, finding.block);
  finding.names_thread = thread != nullptr;
  if (thread) std::copy_n(thread->thread_id, 3, finding.thread);
  grid.findings.add(std::move(finding));
}

std::string place_of(const Grid& grid, std::uint32_t line) { return loader::place_in_words(*grid.ptx, line); }

void finish(Grid& grid) {
  if (classes() == 0) return;
  const std::vector<Finding> findings = grid.findings.take();
  bool has_error = false;
  for (const Finding& finding : findings) {
    errors.fetch_add(1);
    const std::string text = text_of(grid, finding);
    if (printed.fetch_add(1) < limit()) report_finding(text);
    if (!has_error && finding.error) {
      has_error = true;
      if (!continues()) grid.fail(*finding.error, text);
    }
  }
}

void write_summary() {
  if (classes() == 0) return;
  const std::uint64_t all = errors.load();
  std::fprintf(stderr, "========= CUCORE CPU CHECK SUMMARY: %llu error%s", static_cast<unsigned long long>(all),
               all == 1 ? "" : "s");
  if (all > limit())
    std::fprintf(stderr, ", of which %llu are not shown", static_cast<unsigned long long>(all - limit()));
  std::fputc('\n', stderr);
}

int status_of_process() { return errors.load() == 0 ? 0 : exit_status(); }

}  // namespace cucore::cpu::runtime::checker
