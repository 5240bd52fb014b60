// What the checker knows of one running block: its shared memory, in device memory so that it has a shadow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/checker/races.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

struct Grid;

class BlockChecks : public CheckedBlock {
 public:
  /// `window`: the block's shared memory, in device memory that is the caller's; null: it gets its own.
  explicit BlockChecks(Grid& grid, std::byte* window = nullptr);
  ~BlockChecks();
  BlockChecks(const BlockChecks&) = delete;
  BlockChecks& operator=(const BlockChecks&) = delete;

  /// Another block begins, in the same memory.
  void begin(std::uint64_t block);
  /// The accessible interval around an address; size 0: none that stays so. It never begins at 0.
  CheckInterval interval_at(std::uint64_t address) const;
  /// Base of the shared window.
  std::byte* shared() const { return shared_; }
  /// Null if races are not looked for.
  BlockRaces* races() { return races_ ? &*races_ : nullptr; }

  static BlockChecks& of(const BlockState& block) {
    return *static_cast<BlockChecks*>(static_cast<CheckedBlock*>(block.checks));
  }

 private:
  const Grid& grid_;
  std::byte* shared_ = nullptr;
  std::uintptr_t own_memory_ = 0;
  std::size_t own_bytes_ = 0;  ///< 0: they are another object's
  std::optional<BlockRaces> races_;
};

/// Variables of a thread that was abandoned are still in the shadow of its stack.
void forget_variables(const FiberStack& stack);

}  // namespace cucore::cpu::runtime
