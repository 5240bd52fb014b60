// The entry point of a kernel's vector form, which runs the groups of a block: one after the other, in rounds from
// barrier to barrier, or in rows through several blocks; or one of them, on a fiber of its own.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace cucore::cpu::compiler {

class StrideAnalysis;
class ControlFlow;
struct VectorWidth;

/// Whether adjacent blocks had better run row by row: code without loops that goes through arrays as their rows lie in
/// memory, as of images and grids. A single block leaves each row after a few cache lines, just when the hardware
/// prefetcher has begun to fetch ahead.
bool may_run_rows(const llvm::Function& scalar, const ControlFlow& flow, const StrideAnalysis& strides,
                  const VectorWidth& width);

/// Emits `void cucpu_run_block(BlockState*)`, which calls what emit_group gave. `frame_bytes`: of a group that
/// waits at barriers, else 0.
void emit_run_block(llvm::Function* group, const VectorWidth& width, std::uint64_t frame_bytes, bool by_rows);

/// Emits `void cucpu_run_thread(ThreadState*)` for groups on fibers: runs that which begins with the thread.
void emit_run_fiber(llvm::Function* group);

}  // namespace cucore::cpu::compiler
