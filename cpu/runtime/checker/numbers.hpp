// Floating-point results that are worth a report: which instruction made the first NaN, infinity, subnormal number or
// sum of nothing but rounding errors, of what, and where that came from.
//
// Checked code tells of exceptional results only (CheckTable::numbers), so all of this is on a rare way. What is NaN or
// infinite because an operand is, is no finding: it is counted for the instruction that made the first of them, its
// origin. Origins are remembered by thread and instruction, and by address for what is stored; loads find them there as
// long as the same value is at the address. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/checker/number_places.hpp"
#include "cpu/runtime/checker/number_values.hpp"
#include "cpu/runtime/grid/checker.hpp"

namespace cucore::cpu::runtime {

struct Grid;

/// Where a value that is NaN or infinite was made.
struct NumberOrigin {
  std::string text;  ///< "Overflow to infinity at k.cu:9 (PTX line 40: mul.f32), thread (3,0,0) in block (0,0,0)"
  std::string way;   ///< by which memory it came; empty: none
  std::shared_ptr<std::atomic<std::uint64_t>> handed_on;  ///< results that are NaN or infinite because of it
};
using OriginPointer = std::shared_ptr<const NumberOrigin>;

/// Of one launch.
class LaunchNumbers {
 public:
  explicit LaunchNumbers(Grid& grid);

  /// One lane's result and operands, as checked code has them.
  void tell(const BlockState& block, std::uint32_t thread, std::uint64_t place, const std::uint64_t (&values)[4],
            std::size_t count);
  void tell_product(const ThreadState& first, std::uint32_t line, const MatrixNumbers& numbers);

  /// Gives the findings to the grid's.
  void finish();

 private:
  /// What a thread knows of one instruction's last exceptional result.
  struct Made {
    std::uint64_t place;
    std::uint64_t when;
    bool is_nan;
    OriginPointer origin;
  };
  struct Reported {
    checker::Finding finding;
    std::shared_ptr<std::atomic<std::uint64_t>> handed_on;
    std::uint64_t origins = 0;
    OriginPointer last_origin;
    bool is_quiet = false;
    const std::atomic<std::uint64_t>* seen = nullptr;  ///< all of them, if the place counts them
  };

  /// `first_source`: which of the place's sources belongs to the first operand.
  const NumberPlace* place_at(std::uint64_t place);
  void tell_element(const ThreadState& thread, std::uint64_t place, const NumberPlace& known, NumberEvent event,
                    const Computed& computed, std::size_t first_source);
  void tell_memory(const ThreadState& thread, std::uint64_t place, const NumberPlace& known, const Number& number,
                   std::uint64_t bits, std::uint64_t address);
  OriginPointer report(const ThreadState& thread, std::uint64_t place, const NumberPlace& known, NumberEvent event,
                       const std::string& headline, std::vector<std::string> details,
                       const std::atomic<std::uint64_t>* seen);
  void hand_on(const OriginPointer& origin);
  OriginPointer origin_of(const ThreadState& thread, const NumberSources& sources, bool is_nan);
  OriginPointer origin_in(std::uint64_t thread, const NumberSources& sources, bool is_nan);
  void remember(const ThreadState& thread, std::uint64_t place, bool is_nan, OriginPointer origin);
  std::string source_in_words(const NumberSources& sources, const OriginPointer& origin) const;
  std::uint64_t number_of_thread(const ThreadState& thread, std::uint32_t linear) const;

  Grid& grid_;
  const std::uint64_t serial_;  ///< among all launches
  NumberPlaces places_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::string>, Reported> reported_;
  std::unordered_map<std::uint64_t, std::vector<Made>> made_;       ///< by thread of the grid
  std::set<std::shared_ptr<std::atomic<std::uint64_t>>> counters_;  ///< that places count for: of other launches, too
  std::size_t remembered_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace cucore::cpu::runtime
