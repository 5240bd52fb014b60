// Bulk copies to several blocks of a cluster, each reported to its mbarrier: see cluster_copy.hpp.
#include "cpu/device_library/cluster_copy.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

#include "cpu/device_library/mbarrier.hpp"
#include "cpu/device_library/self_checks.hpp"
#include "cpu/device_library/tensor_copy.hpp"

namespace cucore::cpu::device_library::cluster_copy {
namespace {

constexpr std::uint32_t base_alignment = 16;  ///< of all bulk copies

/// Calls visit(to, barrier) with those places in each block; `visit` returns the bytes that it copied.
template <typename Visit>
void for_each_block(ThreadState* thread, std::byte* to, std::byte* barrier, std::uint32_t ranks, const Visit& visit) {
  const LaunchState& launch = *thread->block->launch;
  std::byte* const windows = thread->block->cluster_shared;
  const auto place_of = [&](const std::byte* address) {
    return static_cast<std::size_t>(address - windows) % launch.cluster_stride;
  };
  for (; ranks != 0; ranks &= ranks - 1) {
    const auto rank = static_cast<std::uint32_t>(std::countr_zero(ranks));
    if (rank >= launch.cluster_size) return cucpu_trap(thread);
    std::byte* const window = windows + std::size_t{rank} * launch.cluster_stride;
    const std::uint32_t bytes = visit(window + place_of(to));
    auto* const there = reinterpret_cast<std::uint64_t*>(window + place_of(barrier));
    mbarrier::complete_bytes(there, bytes);
    SelfChecks(thread, check_access::writes_memory, CheckedSpace::Shared, 1).deliver_to(there);
  }
}

}  // namespace

void bulk(ThreadState* thread, std::byte* to, const void* from, std::uint32_t bytes, std::byte* barrier,
          std::uint32_t ranks) {
  SelfChecks reads(thread, check_access::reads_memory, CheckedSpace::Global, base_alignment);
  reads.add(from, bytes);
  const bool may_read = reads.may_happen();
  for_each_block(thread, to, barrier, ranks, [&](std::byte* there) {
    SelfChecks writes(thread, check_access::writes_memory | check_access::until_delivered, CheckedSpace::Shared,
                      base_alignment);
    writes.add(there, bytes);
    if (writes.may_happen() && may_read) std::memcpy(there, from, bytes);
    return bytes;
  });
}

void tensor(ThreadState* thread, std::byte* to, const void* map, std::uint32_t rank, const std::int32_t* coordinates,
            const std::int32_t* offsets, std::byte* barrier, std::uint32_t ranks) {
  for_each_block(thread, to, barrier, ranks,
                 [&](std::byte* there) { return tensor_copy::load(thread, there, map, rank, coordinates, offsets); });
}

}  // namespace cucore::cpu::device_library::cluster_copy
