// Code of gcc's offloading compiler for OpenMP, in which the lanes of a warp are one thread of the program (uniform
// SIMT): all of them run it, with the same values, and atomic operations are guarded so that one lane does them. A
// store that gives a lock back is not guarded: where lanes run in step it is one store, and here one lane does it.
#pragma once

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// Which lanes are threads of their own is in the warp's word of the shared array __nvptx_uni: bits of their numbers.
/// Does nothing to modules without that array.
void guard_releases_of_uniform_warps(Module& module);

}  // namespace cucore::cpu::ptx
