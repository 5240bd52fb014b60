// The pool of threads that run grids, one per core: the thread that runs the launch's stream, plus helpers.
#pragma once

namespace cucore::cpu::runtime {

struct Grid;

/// Whether `grid` is so small that run_grid uses the calling thread alone.
bool runs_alone(const Grid& grid);

/// Runs `grid` to its end (or failure) on the calling thread, with helpers where it is large enough to pay.
void run_grid(Grid& grid);

}  // namespace cucore::cpu::runtime
