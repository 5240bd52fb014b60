// Plain accesses by which lanes of a warp exchange values with no barrier between them, counting on each other to run
// in step: `a[t] = v; w = a[t ^ 1];`, the steps of a sorting network, a scan or a merge in one warp.
//
// The rule. A store and a load of one array, both of shared or both of global memory, exchange values if
// - control may go from the store to the load with nothing on the way where lanes wait for each other: no barrier of
//   the block, no __syncwarp, vote, shuffle or wait at an mbarrier; round loops too, and from one call of a function to
//   the next; and
// - what is known of both addresses (lane_places.hpp) has a lane load where another one of its warp stored.
//   Surely: the place is a constant number of lanes away, or in shared memory a distance that is doubled or halved from
//   step to step, or that of the lane with some bits flipped.
//   Perhaps: it is computed from the lane's number in another way, or by a distance that is doubled or halved in global
//   memory. This counts only in kernels that know of warps: that have a warp's operation, read the lane's number, have
//   at most 32 threads, or divide by 32 or mask with 31.
// So do a load and a store behind it, and two stores, of which the second one's values stay: lanes in step have all
// loaded, or stored, before one of them stores the next. Here both places must follow from the lanes' numbers, and so
// must, where a comparison of these numbers leads to an access, which lanes come there: `if (t < 8) a[t] += a[t + 8];`
// is none. It holds for shared memory, in functions that do not poll: lanes that hand something on to each other one by
// one are not in step. Stores only of an array that is written over and not read in between count, not its loads.
//
// What ordinary kernels do is none: a thread's own places from one iteration to the next, places strides apart that
// only the launch knows, rows of each thread, tables indexed by what was loaded, arrays of different names, one place
// that all lanes read or write (where mostly one lane does).
#pragma once

#include <map>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

struct Reach;

/// By function, for each instruction: whether it accesses an array through which values are exchanged.
using PlainExchanges = std::map<ptx::FunctionId, std::vector<bool>>;

PlainExchanges find_plain_exchanges(const ptx::Module& module, const Reach& reach);

}  // namespace cucore::cpu::analysis
