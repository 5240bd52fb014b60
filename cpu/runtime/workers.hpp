// The pool of threads that run grids, one per core: the thread that drains the launch's stream, plus helpers.
#pragma once

namespace cucore::cpu::runtime {

struct Grid;

/// Runs `grid` to its end (or failure) on the calling thread, with helpers where it is large enough to pay.
void run_grid(Grid& grid);

}  // namespace cucore::cpu::runtime
