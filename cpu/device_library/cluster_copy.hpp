// Copies to several blocks of a cluster at once: `.multicast::cluster`.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library::cluster_copy {

/// Copies to the place that `to` is in its own block's shared memory, in that of each block whose rank is a bit of
/// `ranks`, and reports the bytes to the mbarrier at the place of `barrier` there. A rank that the cluster does not
/// have traps.
void bulk(ThreadState* thread, std::byte* to, const void* from, std::uint32_t bytes, std::byte* barrier,
          std::uint32_t ranks);
/// The same of a box of a tensor: see tensor_copy::load.
void tensor(ThreadState* thread, std::byte* to, const void* map, std::uint32_t rank, const std::int32_t* coordinates,
            const std::int32_t* offsets, std::byte* barrier, std::uint32_t ranks);

}  // namespace cucore::cpu::device_library::cluster_copy
