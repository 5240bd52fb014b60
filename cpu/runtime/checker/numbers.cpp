// Exceptional results of a launch: see numbers.hpp.
#include "cpu/runtime/checker/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "cpu/runtime/checker/quiet_places.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"

namespace cucore::cpu::runtime {
namespace {

using analysis::bits_of;
using analysis::NumberCheck;
using analysis::NumberFormat;
using analysis::NumberOperation;
using analysis::NumberTest;

/// Threads' results that are remembered in a launch, and addresses in the process: what comes later has no origin.
constexpr std::size_t most_remembered = std::size_t{1} << 20;
/// Origins of one finding with a thread of their own; then they share the last.
constexpr std::uint64_t most_origins = 4096;

/// Where stored values that are NaN or infinite came from, in any launch of the process.
class StoredOrigins {
 public:
  void put(std::uint64_t address, std::uint64_t bits, OriginPointer origin) {
    const std::lock_guard lock(mutex_);
    if (stored_.size() >= most_remembered && !stored_.contains(address)) return;
    stored_[address] = {bits, std::move(origin)};
  }
  /// Null if another value is there now.
  OriginPointer find(std::uint64_t address, std::uint64_t bits) {
    const std::lock_guard lock(mutex_);
    const auto found = stored_.find(address);
    return found != stored_.end() && found->second.bits == bits ? found->second.origin : nullptr;
  }

 private:
  struct Stored {
    std::uint64_t bits;
    OriginPointer origin;
  };
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Stored> stored_;
};

std::atomic<std::uint64_t> next_serial{1};

StoredOrigins& stored_origins() {
  static auto& stored = *new StoredOrigins;
  return stored;
}

bool is_in_shared(const BlockState& block, std::uint64_t address) {
  return address - reinterpret_cast<std::uintptr_t>(block.shared) < block.launch->total_shared;
}

/// Windows of shared memory serve one block after the other.
std::uint64_t key_of(const ThreadState& thread, std::uint64_t address, std::uint64_t launch) {
  const BlockState& block = *thread.block;
  if (!is_in_shared(block, address)) return address;
  const std::uint64_t index =
      block.block_id[0] + std::uint64_t{block.launch->grid[0]} *
                              (block.block_id[1] + std::uint64_t{block.launch->grid[1]} * block.block_id[2]);
  return (address ^ (index + 1) * 0x9e3779b97f4a7c15U ^ launch << 40) | std::uint64_t{1} << 63;
}

std::string memory_in_words(const ThreadState& thread, std::uint64_t address) {
  const BlockState& block = *thread.block;
  if (is_in_shared(block, address))
    return "shared memory at " + hexadecimal(address - reinterpret_cast<std::uintptr_t>(block.shared));
  return "memory at " + hexadecimal(address);
}

std::string thread_in_words(const ThreadState& thread) {
  return "thread " + runtime::spelt(thread.thread_id) + " in block " + runtime::spelt(thread.block->block_id);
}

std::uint64_t element(std::uint64_t value, NumberFormat format, unsigned e) {
  const unsigned width = bits_of(format);
  return width == 64 ? value : value >> e * width & ((std::uint64_t{1} << width) - 1);
}

/// Which of NumberPlace::seen counts an event.
std::size_t kind_of(NumberEvent event, const Computed& computed) {
  switch (event) {
    case NumberEvent::Underflow:
      return computed.result.value == 0 ? 1 : 2;
    case NumberEvent::Nan:
      return 3;
    case NumberEvent::Overflow:
      return 4;
    case NumberEvent::DivisionByZero:
      return 5;
    case NumberEvent::Handed:
      return 6;
    default:
      return 0;
  }
}

/// How many events of a kind are looked at; the others are counted only. Of values that are followed more is wanted.
std::uint64_t most_looked_at(NumberEvent event) {
  return event == NumberEvent::Underflow || event == NumberEvent::Cancellation ? 1 : most_origins;
}

/// Integers are as wide as their type.
Number source_number(const NumberCheck& check, std::uint64_t value, unsigned e) {
  if (check.test.source >= NumberFormat::F16) return number_of(check.test.source, element(value, check.test.source, e));
  const std::size_t bytes = size_in_bytes(check.source);
  if (check.test.source == NumberFormat::Signed && bytes < 8) {
    const unsigned shift = 64 - 8 * static_cast<unsigned>(bytes);
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  }
  return number_of(check.test.source, value);
}

}  // namespace

LaunchNumbers::LaunchNumbers(Grid& grid) : grid_(grid), serial_(next_serial.fetch_add(1)), places_(*grid.ptx) {}

/// Most of a thread's calls are about the same few places.
const NumberPlace* LaunchNumbers::place_at(std::uint64_t place) {
  struct Seen {
    std::uint64_t launch = 0;
    std::uint64_t place = 0;
    const NumberPlace* known = nullptr;
  };
  thread_local Seen seen[16];
  Seen& mine = seen[place % std::size(seen)];
  if (mine.launch != serial_ || mine.place != place) mine = {serial_, place, places_.at(place)};
  return mine.known;
}

std::uint64_t LaunchNumbers::number_of_thread(const ThreadState& thread, std::uint32_t linear) const {
  const std::uint32_t(&block)[3] = thread.block->block_id;
  const std::uint32_t(&grid)[3] = grid_.state.grid;
  const std::uint64_t index = block[0] + std::uint64_t{grid[0]} * (block[1] + std::uint64_t{grid[1]} * block[2]);
  return index * grid_.threads_per_block + linear;
}

OriginPointer LaunchNumbers::origin_in(std::uint64_t thread, const NumberSources& sources, bool is_nan) {
  const auto found = made_.find(thread);
  if (found == made_.end()) return nullptr;
  const Made* best = nullptr;
  for (const Made& made : found->second) {
    const bool is_maker = std::find(sources.makers.begin(), sources.makers.end(), made.place) != sources.makers.end();
    if (is_maker && made.is_nan == is_nan && (best == nullptr || made.when > best->when)) best = &made;
  }
  return best == nullptr ? nullptr : best->origin;
}

OriginPointer LaunchNumbers::origin_of(const ThreadState& thread, const NumberSources& sources, bool is_nan) {
  if (OriginPointer own = origin_in(number_of_thread(thread, thread.linear), sources, is_nan)) return own;
  if (!sources.is_exchanged) return nullptr;
  const std::uint32_t first = thread.linear / 32 * 32;
  for (std::uint32_t lane = first; lane < first + 32 && lane < grid_.threads_per_block; ++lane)
    if (OriginPointer other = origin_in(number_of_thread(thread, lane), sources, is_nan)) return other;
  return nullptr;
}

void LaunchNumbers::remember(const ThreadState& thread, std::uint64_t place, bool is_nan, OriginPointer origin) {
  std::vector<Made>& made = made_[number_of_thread(thread, thread.linear)];
  const auto known = std::find_if(made.begin(), made.end(), [&](const Made& each) { return each.place == place; });
  if (known != made.end()) {
    *known = {place, ++clock_, is_nan, std::move(origin)};
  } else if (remembered_ < most_remembered) {
    ++remembered_;
    made.push_back({place, ++clock_, is_nan, std::move(origin)});
  }
}

std::string LaunchNumbers::source_in_words(const NumberSources& sources, const OriginPointer& origin) const {
  if (origin) return origin->text + origin->way;
  if (sources.constant_line != 0) return "a constant in PTX line " + std::to_string(sources.constant_line);
  if (sources.parameter_line != 0) return "a parameter, read in PTX line " + std::to_string(sources.parameter_line);
  return "not known";
}

void LaunchNumbers::hand_on(const OriginPointer& origin) {
  if (origin && origin->handed_on) origin->handed_on->fetch_add(1);
}

OriginPointer LaunchNumbers::report(const ThreadState& thread, std::uint64_t place, const NumberPlace& known,
                                    NumberEvent event, const std::string& headline, std::vector<std::string> details,
                                    const std::atomic<std::uint64_t>* seen) {
  const auto [at, is_new] = reported_.try_emplace({place, headline});
  Reported& reported = at->second;
  if (is_new) {
    reported.is_quiet = is_quiet(*grid_.ptx, *known.function, *known.instruction, *grid_.kernel, event);
    reported.handed_on = std::make_shared<std::atomic<std::uint64_t>>(0);
    reported.seen = seen;
    reported.finding.headline = headline;
    reported.finding.line = known.instruction->position.line;
    reported.finding.details = std::move(details);
    std::copy_n(thread.block->block_id, 3, reported.finding.block);
    std::copy_n(thread.thread_id, 3, reported.finding.thread);
  } else {
    ++reported.finding.count;
  }
  if (reported.origins < most_origins) {
    ++reported.origins;
    reported.last_origin = std::make_shared<NumberOrigin>(
        NumberOrigin{.text = headline + " at " + known.text + ", " + thread_in_words(thread),
                     .way = {},
                     .handed_on = reported.handed_on});
  }
  return reported.last_origin;
}

void LaunchNumbers::tell_element(const ThreadState& thread, std::uint64_t place, const NumberPlace& known,
                                 NumberEvent event, const Computed& computed, std::size_t first_source) {
  OriginPointer origins[3];
  bool is_handed = false;
  for (std::size_t n = 0; n < computed.count; ++n) {
    if (!computed.operands[n].is_special()) continue;
    origins[n] = origin_of(thread, known.sources[first_source + n], computed.operands[n].is_nan());
    is_handed = is_handed || origins[n];
  }
  if (event == NumberEvent::Handed) {
    const auto* const first =
        std::find_if(std::begin(origins), std::end(origins), [](const auto& each) { return each != nullptr; });
    if (first == std::end(origins)) return;
    hand_on(*first);
    counters_.insert((*first)->handed_on);
    known.handed_for.store((*first)->handed_on.get());
    remember(thread, place, computed.result.is_nan(), *first);
    return;
  }
  std::vector<std::string> details{equation(computed)};
  for (std::size_t n = 0; n < computed.count; ++n) {
    if (!computed.operands[n].is_special()) continue;
    details.push_back("operand " + std::to_string(n + 1) + ", " + number_in_words(computed.operands[n]) + ": " +
                      source_in_words(known.sources[first_source + n], origins[n]));
  }
  const OriginPointer origin = report(thread, place, known, event, headline(event, computed), std::move(details),
                                      &known.seen[kind_of(event, computed)]);
  if (computed.result.is_special()) remember(thread, place, computed.result.is_nan(), origin);
}

void LaunchNumbers::tell_memory(const ThreadState& thread, std::uint64_t place, const NumberPlace& known,
                                const Number& number, std::uint64_t bits, std::uint64_t address) {
  if (!number.is_special()) return;
  const std::uint64_t key = key_of(thread, address, grid_.state.grid_id);
  if (known.instruction->opcode == ptx::Opcode::St) {
    const OriginPointer origin = origin_of(thread, known.sources[0], number.is_nan());
    if (origin) stored_origins().put(key, bits, origin);
    return;
  }
  OriginPointer origin = stored_origins().find(key, bits);
  auto loaded = std::make_shared<NumberOrigin>();
  if (origin) {
    *loaded = *origin;
    loaded->way = ", by way of " + memory_in_words(thread, address);
  } else {
    loaded->text = "from " + memory_in_words(thread, address) +
                   ", where no instruction that was looked at has put it, by " + known.text;
  }
  remember(thread, place, number.is_nan(), std::move(loaded));
}

void LaunchNumbers::tell(const BlockState& block, std::uint32_t linear, std::uint64_t place,
                         const std::uint64_t (&values)[4], std::size_t count) {
  const NumberPlace* const known = place_at(place);
  if (known == nullptr) return;
  ThreadState thread{};
  thread.block = &block;
  thread.linear = linear;
  if (known->check == nullptr) {
    if (!known->held) return;
    const std::lock_guard lock(mutex_);
    set_thread_id(thread, grid_, linear);
    for (unsigned e = 0; e < known->held->elements; ++e) {
      const Number number = number_of(known->held->result, element(values[0], known->held->result, e));
      if (number.is_special()) return tell_memory(thread, place, *known, number, values[0], values[1]);
    }
    return;
  }
  const NumberTest& test = known->check->test;
  for (unsigned e = 0; e < test.elements; ++e) {
    Computed computed{};
    computed.test = test;
    computed.result = number_of(test.result, element(values[0], test.result, e));
    if (test.has(NumberTest::by_operand)) {
      computed.operands[0] = source_number(*known->check, values[1 + e], 0);
      computed.count = 1;
    } else {
      computed.count = count - 1;
      for (std::size_t n = 0; n + 1 < count; ++n) computed.operands[n] = source_number(*known->check, values[1 + n], e);
    }
    const NumberEvent event = judge(computed);
    if (event == NumberEvent::Nothing) continue;
    std::atomic<std::uint64_t>& seen = known->seen[kind_of(event, computed)];
    if (seen.fetch_add(1, std::memory_order_relaxed) >= most_looked_at(event)) {
      std::atomic<std::uint64_t>* const handed_for = known->handed_for.load();
      if (event == NumberEvent::Handed && handed_for != nullptr) handed_for->fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    const std::lock_guard lock(mutex_);
    set_thread_id(thread, grid_, linear);
    tell_element(thread, place, *known, event, computed, test.has(NumberTest::by_operand) ? e : 0);
  }
}

void LaunchNumbers::finish() {
  const std::lock_guard lock(mutex_);
  for (auto& [key, reported] : reported_) {
    if (reported.is_quiet) continue;
    if (reported.seen != nullptr) reported.finding.count = reported.seen->load();
    if (const std::uint64_t handed = reported.handed_on->load(); handed != 0)
      reported.finding.details.push_back("it made " + std::to_string(handed) + " other result" +
                                         (handed == 1 ? "" : "s") + " NaN or infinite");
    grid_.findings.add(std::move(reported.finding));
  }
  reported_.clear();
}

}  // namespace cucore::cpu::runtime
