// The blocks that kernels have, in parts with a lock each: see kernel_heap.hpp.
#include "cpu/runtime/execution/kernel_heap.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>

#include "cpu/runtime/memory/allocation_table.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime::kernel_heap {
namespace {

/// In front of each block, as a GPU's heap has it: nvcc 13.0 writes the count of `new T[n]` to the eight bytes before
/// the block of some types, such as Eigen's Vector3f. In the host's heap these hold the block's size.
constexpr std::uint64_t bytes_before_a_block = 16;
/// As on an H100: kernels that write past the end of a small block harm nothing.
constexpr std::uint64_t least_block = 64;
constexpr std::uint64_t alignment_of_a_free = 4;
/// A part forgets them all when it knows more; freeing one of them again is then a wild address.
constexpr std::size_t most_freed = 4096;

using Blocks = std::map<std::uint64_t, std::uint64_t>;  ///< by address, their bytes

struct Part {
  std::mutex mutex;
  Blocks blocks;
  Blocks freed;  ///< and not handed out since
};

std::array<Part, 64>& parts() {
  static auto* const all = new std::array<Part, 64>;
  return *all;
}

/// Blocks of a page have one: host threads have pages of their own.
Part& part_of(std::uint64_t address) { return parts()[(address >> 12) % parts().size()]; }

enum class Known : std::uint8_t { Block, FreeAlready, Other };

/// Takes a block out.
Known take(std::uint64_t address) {
  Part& part = part_of(address);
  const std::lock_guard lock(part.mutex);
  const auto block = part.blocks.find(address);
  if (block == part.blocks.end()) return part.freed.contains(address) ? Known::FreeAlready : Known::Other;
  if (part.freed.size() >= most_freed) part.freed.clear();
  part.freed.insert(part.blocks.extract(block));
  return Known::Block;
}

/// In one of them, in what is in front of it, or in the same of a block that would follow.
bool is_in_one(const Blocks& blocks, std::uint64_t address) {
  const auto after = blocks.upper_bound(address + bytes_before_a_block);
  if (after == blocks.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address < begin + bytes + bytes_before_a_block;
}

/// That is there, or was.
bool is_in_a_block(std::uint64_t address) {
  return std::any_of(parts().begin(), parts().end(), [address](Part& part) {
    const std::lock_guard lock(part.mutex);
    return is_in_one(part.blocks, address) || is_in_one(part.freed, address);
  });
}

bool is_within(std::uint64_t address, const void* from, std::uint64_t bytes) {
  return from != nullptr && address - reinterpret_cast<std::uintptr_t>(from) < bytes;
}

/// Of the calling thread, which runs on a fiber, or of its block and cluster.
bool is_local_or_shared(const ThreadState& thread, std::uint64_t address) {
  const FiberStack& stack = Fiber::current()->stack();
  const BlockState& block = *thread.block;
  const LaunchState& launch = *block.launch;
  return is_within(address, stack.low, stack.size) || is_within(address, block.shared, launch.total_shared) ||
         is_within(address, block.cluster_shared, std::uint64_t{launch.cluster_size} * launch.cluster_stride);
}

bool is_variable(std::uint64_t address) {
  const auto allocation = find_allocation(address);
  return allocation && allocation->origin == Allocation::Origin::Variable;
}

}  // namespace

std::uint64_t allocate(std::uint64_t bytes) {
  const std::uint64_t size = std::max(bytes, least_block);
  if (size > SIZE_MAX - bytes_before_a_block) return 0;
  void* const memory = std::malloc(size + bytes_before_a_block);
  if (memory == nullptr) return 0;
  const std::uint64_t block = reinterpret_cast<std::uintptr_t>(memory) + bytes_before_a_block;
  Part& part = part_of(block);
  const std::lock_guard lock(part.mutex);
  part.blocks.emplace(block, size);
  part.freed.erase(block);
  return block;
}

std::optional<Misuse> release(const ThreadState& thread, std::uint64_t address) {
  if (address == 0) return std::nullopt;
  const auto named = [address] { return "free of " + hexadecimal(address); };
  switch (take(address)) {
    case Known::Block:
      std::free(reinterpret_cast<void*>(address - bytes_before_a_block));
      return std::nullopt;
    case Known::FreeAlready:
      return Misuse{ErrorCode::LaunchFailed, named() + ", a block of the heap that is free already"};
    case Known::Other:
      break;
  }
  if (!is_in_a_block(address) && !is_local_or_shared(thread, address) && !is_variable(address))
    return Misuse{ErrorCode::IllegalAddress, named() + ", which is no block of the heap"};
  if (address % alignment_of_a_free == 0) return std::nullopt;
  return Misuse{ErrorCode::MisalignedAddress, named() + ", which begins no block of the heap and is not aligned"};
}

}  // namespace cucore::cpu::runtime::kernel_heap
