// The checker's state of one block: see block_checks.hpp.
#include "cpu/runtime/checker/block_checks.hpp"

#include <algorithm>
#include <new>

#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {
namespace {

/// Not an interval that was never looked up, which begins at 0.
constexpr CheckInterval no_interval{1, 0};

/// Bytes after the window, whatever its size.
constexpr std::size_t redzone = 1024;

std::uintptr_t address_of(const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

BlockChecks::BlockChecks(Grid& grid, std::byte* window) : CheckedBlock{}, grid_(grid), shared_(window) {
  if (!window) {
    own_bytes_ = grid.state.total_shared + redzone + shared_alignment;
    own_memory_ = AddressSpace::instance().allocate(own_bytes_);
    if (own_memory_ == 0) throw std::bad_alloc();
    shared_ = aligned_shared(reinterpret_cast<std::byte*>(own_memory_));
  }
  const std::uintptr_t base = address_of(shared_);
  for (const SharedVariable& variable : grid.code->shared_variables)
    shadow::allow(base + variable.offset, variable.bytes, false);
  shadow::allow(base + (grid.state.total_shared - grid.state.dynamic_shared), grid.state.dynamic_shared, false);
  if (grid.races) races_.emplace(grid);
}

BlockChecks::~BlockChecks() {
  shadow::forbid(address_of(shared_), grid_.state.total_shared);
  if (own_bytes_ != 0) AddressSpace::instance().release(own_memory_, own_bytes_);
}

CheckInterval BlockChecks::interval_at(std::uint64_t address) const {
  const auto of = [&](std::uint64_t begin, std::uint64_t bytes) {
    return address - begin < bytes ? CheckInterval{begin, bytes} : no_interval;
  };
  const std::uint64_t window = address_of(shared_);
  if (address >= window && address - window < grid_.state.total_shared) {
    for (const SharedVariable& variable : grid_.code->shared_variables)
      if (const CheckInterval found = of(window + variable.offset, variable.bytes); found.size != 0) return found;
    return of(window + (grid_.state.total_shared - grid_.state.dynamic_shared), grid_.state.dynamic_shared);
  }
  const auto [base, bytes] = shadow::allocation_at(address, true);
  return of(base, bytes);
}

void BlockChecks::begin(std::uint64_t block) {
  shadow::mark_unwritten(address_of(shared_), grid_.state.total_shared);
  if (races_) races_->begin(static_cast<std::uint32_t>(block));
}

void forget_variables(const FiberStack& stack) {
  if (shadow::is_open()) shadow::forbid(address_of(stack.low), stack.size);
}

}  // namespace cucore::cpu::runtime
