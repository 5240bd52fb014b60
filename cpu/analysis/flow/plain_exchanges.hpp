// Plain accesses, and volatile ones of global memory, by which lanes of a warp exchange values with no barrier between
// them, counting on each other to run in step: `a[t] = v; w = a[t ^ 1];`, the steps of a sorting network, a scan or a
// merge in one warp.
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
//
// A load and a store after it in shared memory are judged likewise (`v = a[i]; ... a[t] = w;`, where lane i is not to
// store before the others have loaded), but for distances that are halved from step to step: there the lanes that add
// are those below it. Among these, one place that all lanes load is one that another lane may store to.
//
// So are a load or store and a store after it in shared memory where both places follow from the lanes' numbers alone,
// and so does, where a comparison of these numbers leads to an access, which lanes come there: `if (t < 8) a[t] += a[t
// + 8];` is none. The accesses of a function's own arrays say which lanes there are: none whose place would lie behind
// the array, and where two-dimensional arrays have rows of less than 32 elements, lanes of several rows. Nor do lanes
// meet that each keep to a column, as counters of digits do: `counts[digit][t]`. Functions that poll have none: there
// lanes hand something on to each other one by one. Of an array that is only written over the stores count, not its
// loads.
//
// One exchange goes beyond the warp: a place in shared memory that others load, and one thread then stores to, as where
// thread 0 draws the next ticket. Who stores waits until all others of the block can do nothing else. This counts in
// all kernels but those that poll, and for that place alone.
//
// What ordinary kernels do is none: a thread's own places from one iteration to the next, places strides apart that
// only the launch knows, rows of each thread, tables indexed by what was loaded, arrays of different names, one place
// that all lanes write, or read after a store (where mostly one lane stores).
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
