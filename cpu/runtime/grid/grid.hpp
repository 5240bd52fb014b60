// One launch while it runs: what its participating threads share. Thread-safe.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/texture/resources_in_use.hpp"

namespace cucore::cpu::runtime {

class Context;
class Function;
class LaterForm;
class LaunchNumbers;
class LaunchRaces;
class RunningGraph;
struct LaunchedItem;

/// Called by the watchdog from time to time while a grid runs, perhaps several times at one look.
class ToldOfLooks {
 public:
  virtual void note_look(std::chrono::steady_clock::time_point look) = 0;

 protected:
  ToldOfLooks() = default;
  ~ToldOfLooks() = default;
};

/// Why a grid is made to end before it has.
enum class Cancellation : std::uint8_t { Timeout, CtrlC, InterpreterLeaves };

struct Grid {
  LaunchState state{};
  Context* context = nullptr;
  std::shared_ptr<const Code> code;      ///< that it begins with
  std::shared_ptr<Function> function;    ///< which keeps the module alive, whose memory the code uses
  const std::string* kernel = nullptr;   ///< its name, for reports; the module owns it
  std::vector<std::max_align_t> params;  ///< the block that state.params points at
  std::vector<std::uint64_t> workspace;  ///< of grid-wide barriers; empty unless cooperative
  std::atomic<bool> has_failed{false};
  std::atomic<bool> is_cancelled{false};                          ///< it is to end: see watchdog.hpp
  std::atomic<Cancellation> cancellation{Cancellation::Timeout};  ///< why, if it is
  std::uint64_t block_count = 0;
  std::uint32_t threads_per_block = 0;
  std::size_t own_stack_bytes = 0;    ///< of one device thread, beside what its code needs
  std::uint32_t usual_residents = 1;  ///< clusters that one participant keeps going at once, and
  std::uint32_t most_resident = 1;    ///< that all of them do together, as occupancy promises
  /// The watchdog's: when its first participant came, if there is a limit. Of the clock, 0: none has.
  std::atomic<std::chrono::steady_clock::rep> began{0};
  bool is_cooperative = false;
  std::atomic<std::uint64_t>* pace = nullptr;  ///< Function::pace
  const ptx::Module* ptx = nullptr;            ///< of the kernel, for reports
  checker::Findings findings;
  std::shared_ptr<LaunchRaces> races;      ///< if they are looked for
  std::shared_ptr<LaunchNumbers> numbers;  ///< likewise
  ResourcesInUse resources;

  std::shared_ptr<LaunchedItem> item;  ///< if it was launched by a grid, or has launched some (launch_tree.hpp)
  std::once_flag item_made;
  std::atomic<ToldOfLooks*> launches{nullptr};  ///< the item's tree, if there is one
  RunningGraph* graph = nullptr;                ///< whose node it is (launch_tree.hpp)

  // Of a grid that goes on in another form when that is there (later_code.hpp); empty if it does not.
  std::shared_ptr<LaterForm> later;
  std::once_flag later_once;
  std::shared_ptr<const Code> later_code;     ///< read through `current` only
  std::atomic<const Code*> current{nullptr};  ///< what blocks that begin now run; null: `code`
  std::atomic<bool> has_taken_later{false};   ///< or has found that there is none

  std::atomic<std::uint64_t> resident{0};  ///< clusters that are going now, where blocks may wait for each other

  std::atomic<std::uint64_t> next_block{0};  ///< another cache line: all threads write it all the time

  /// The first failure wins; it abandons the grid.
  void fail(ErrorCode error, std::string what);
  /// The failure of one that is cancelled. `where`: kernel, block, and where its threads stand.
  void fail_cancelled(const std::string& where);
  bool is_abandoned() const;

  /// The stack of a device thread that runs such code.
  std::size_t stack_bytes(const KernelInfo& info) const {
    return own_stack_bytes + 2 * std::size_t{info.local_bytes} + std::size_t{info.frame_bytes};
  }
  /// For the blocks that begin now.
  const Code& code_now() const {
    const Code* const other = current.load(std::memory_order_acquire);
    return other != nullptr ? *other : *code;
  }
  /// Of which a host instruction is part.
  const Code& code_at(std::uintptr_t instruction) const {
    const Code& now = code_now();
    return now.begin <= instruction && instruction < now.end ? now : *code;
  }
};

/// Runs blocks of `grid` on the calling thread until none is left to start; where threads of a block do not wait for
/// each other, not long after `until`, and `chunk` blocks are taken at once. `worker` is its %smid. Returns how many
/// blocks it took.
std::uint64_t run_blocks(Grid& grid, std::uint32_t worker, std::uint64_t chunk,
                         std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());

}  // namespace cucore::cpu::runtime
