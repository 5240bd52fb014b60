// ptxas tells of a kernel in a paragraph, and the linker in another, which names no architecture:
//   ptxas info    : Compiling entry function 'k' for 'sm_90'
//   ptxas info    : Function properties for k
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 24 registers, used 1 barriers, 128 bytes smem, 376 bytes cmem[0]
//   info    : Function properties for 'k':
//   info    : used 24 registers, used 0 barriers, 0 stack, 0 bytes smem, 536 bytes cmem[0], 0 bytes lmem
// Older versions write the second and third line without "ptxas" or the dot.
#include "cucore/kernel_statistics.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace cucore {
namespace {

// The text between the first pair of quotes at or after `at`.
std::string_view quoted_name(std::string_view line, std::size_t at) {
  const std::size_t begin = line.find('\'', at);
  const std::size_t end = begin == std::string_view::npos ? begin : line.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin + 1, end - begin - 1);
}

std::string_view statement_of(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r.:");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// "24 registers", "used 1 barriers" or "128 bytes smem". False for what is not a number and a noun.
bool take_fact(KernelStatistics& kernel, std::string_view fact) {
  if (fact.starts_with("used ")) fact.remove_prefix(5);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(fact.data(), fact.data() + fact.size(), number);
  if (error != std::errc()) return false;
  const std::string_view unit = statement_of(fact.substr(static_cast<std::size_t>(end - fact.data())));
  const auto as_int = static_cast<int>(std::min<std::uint64_t>(number, std::numeric_limits<int>::max()));
  if (unit == "registers") kernel.registers = as_int;
  if (unit == "barriers") kernel.barriers = as_int;
  if (unit == "bytes stack frame" || unit == "stack") kernel.stack_bytes = number;
  if (unit == "bytes spill stores") kernel.spill_store_bytes = number;
  if (unit == "bytes spill loads") kernel.spill_load_bytes = number;
  if (unit == "bytes smem") kernel.shared_bytes = number;
  if (unit == "bytes lmem") kernel.local_bytes = number;
  if (unit.starts_with("bytes cmem[")) kernel.constant_bytes += number;
  return true;
}

class Reader {
 public:
  void read(std::string_view line) {
    constexpr std::string_view compiling = "Compiling entry function '";
    constexpr std::string_view properties_of = "Function properties for ";
    if (const std::size_t at = line.find(compiling); at != std::string_view::npos) {
      const std::string_view name = quoted_name(line, at);
      open(name, quoted_name(line, at + compiling.size() + name.size() + 1));
    } else if (const std::size_t place = line.find(properties_of); place != std::string_view::npos) {
      const std::string_view rest = line.substr(place + properties_of.size());
      if (rest.starts_with('\'')) {
        open_linked(quoted_name(rest, 0));
      } else if (!current_ || kernels_[*current_].kernel != statement_of(rest)) {
        current_.reset();  // a function's own paragraph
      }
    } else if (current_) {
      read_facts(line);
    }
  }
  std::vector<KernelStatistics> take() { return std::move(kernels_); }

 private:
  void open(std::string_view name, std::string_view arch) {
    current_.reset();
    if (name.empty()) return;
    current_ = kernels_.size();
    kernels_.push_back({.kernel = std::string(name), .arch = std::string(arch)});
  }

  // The linker has the last word on what ptxas told before.
  void open_linked(std::string_view name) {
    const auto known =
        std::find_if(kernels_.rbegin(), kernels_.rend(), [&](const KernelStatistics& k) { return k.kernel == name; });
    if (known == kernels_.rend()) {
      open(name, {});
      return;
    }
    current_ = static_cast<std::size_t>(kernels_.rend() - known) - 1;
    known->constant_bytes = 0;
  }

  void read_facts(std::string_view line) {
    const std::size_t colon = line.find(": ");
    std::string_view facts = statement_of(line.substr(colon == std::string_view::npos ? 0 : colon + 2));
    if (facts.starts_with("ptxas")) facts = statement_of(facts.substr(5));
    const bool is_last = facts.starts_with("Used ") || facts.starts_with("used ");
    if (is_last) facts.remove_prefix(5);
    KernelStatistics& kernel = kernels_[*current_];
    for (bool goes_on = true; goes_on && !facts.empty();) {
      const std::size_t end = std::min(facts.find(','), facts.size());
      goes_on = take_fact(kernel, statement_of(facts.substr(0, end)));
      facts.remove_prefix(std::min(end + 1, facts.size()));
    }
    if (is_last) current_.reset();
  }

  std::vector<KernelStatistics> kernels_;
  std::optional<std::size_t> current_;
};

}  // namespace

std::vector<KernelStatistics> parse_kernel_statistics(std::string_view log) {
  Reader reader;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    reader.read(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return reader.take();
}

}  // namespace cucore
