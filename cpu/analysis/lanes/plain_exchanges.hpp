// Plain accesses, and volatile ones of global memory, by which lanes of a warp exchange values with no barrier between
// them, counting on each other to run in step: `a[t] = v; w = a[t ^ 1];`, the steps of a sorting network, a scan or a
// merge in one warp.
//
// The rule. Two accesses of one array, at least one of them a store, exchange values if
// - control may go from the first to the second with nothing on the way where lanes wait for each other: no barrier of
//   the block, no __syncwarp, vote, shuffle or wait at an mbarrier (where these name lanes by a number: none of the
//   lanes that come to the first); round loops too, and from one call of a function to the next; and
// - what is known of both addresses (lane_places.hpp) has a lane store where another one of its warp loads or stores.
//
// By their numbers. Where both places follow from the lanes' numbers alone, but for what is the same for all, they are
// computed for every lane of a warp that comes there, as far as comparisons of numbers say who does: `if (t < 8) a[t]
// += a[t + 8];` is none. So it is with distances that are doubled or halved from step to step, of which those that
// matter are tried, and with loops, whose places differ by multiples of their steps. Nothing is taken for granted of
// arrays' ends: who leaves one is in any other one. What all lanes have stored, they may load. Where a block has
// several rows, or is one warp, its shape is known, and code is made for it (block_shape.hpp).
//
// Else by a guess. Surely: in shared memory a distance that is doubled or halved from step to step, or that of the lane
// with some bits flipped. Perhaps: the place is computed from the lane's number in another way, comes from memory, or
// from the arguments of a function that is not inlined, or lanes come to one place by a condition that is not known.
// This counts only in kernels that know of warps: that have a warp's operation, read the lane's number, divide by 32 or
// mask with 31, or have at most 32 threads, by their directives or as they are launched. In global memory what is
// loaded before it is stored counts only where numbers tell, in such kernels through places from memory, and in blocks
// of one warp.
//
// Between functions that are called, all that one leaves undone and another one does counts: in shared memory, and in
// kernels that know of warps in all. Functions that poll have no such accesses: there lanes hand something on to each
// other one by one. Of an array that is only written over the stores count, not its loads.
//
// Two exchanges go beyond the warp. One is of a place in shared memory that others load, and one thread then stores to,
// as where thread 0 draws the next ticket. The other is of places that lanes of another warp load: each thread takes
// what the one before it left and leaves its own, with one barrier a round; warps go through a tile, then write to it;
// or all rows of a block do the same to the same places, `a[threadIdx.x] *= b[threadIdx.x]`, as if they were one. Warps
// of a GPU start, and come from a barrier, about together, so that they have all loaded by then. Who stores waits until
// all others of the block can do nothing else. This counts in all kernels but those that poll, and for these places
// alone. In the vector form all threads of the block are then one group, which has loaded before any of it stores.
//
// In what gcc's offloading compiler makes for OpenMP, whose lanes are one thread of the program (uniform SIMT), every
// access counts, and every atomic operation.
//
// What ordinary kernels do is none: a thread's own places from one iteration to the next, places strides apart that
// only the launch knows, rows of each thread, columns of each (`counts[digit][t]`), tables indexed by what was loaded,
// arrays of different names, one place that all lanes write.
#pragma once

#include "cpu/analysis/flow/block_shape.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// `gives_anew`: set if a thread stores to a place that others of its block, beyond its warp, have loaded.
PlainExchanges find_plain_exchanges(const ptx::Module& module, const Reach& reach, const BlockShape& shape,
                                    bool* gives_anew);

}  // namespace cucore::cpu::analysis
