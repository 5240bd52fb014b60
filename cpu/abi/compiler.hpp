// The interface of the driver's compiler, which is a library of its own: one PTX kernel in, object code out, which the
// loader turns into code that can be called. No LLVM types here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu {

/// Scalar: one device thread after the other, the reference. Vector: threads in lockstep in SIMD lanes, for one shape
/// of block; a kernel that cannot have it gets the scalar form as a whole. Auto asks for the better of the two
/// (choose_form.hpp); the result is one of them. Masked asks for the vector form with every block under masks, which
/// assumes nothing about where lanes go: a second reference.
enum class FormOfCode : std::uint8_t { Scalar, Vector, Auto, Masked };

struct KernelInfo {
  std::uint32_t static_shared = 0;      ///< bytes of .shared variables this kernel reaches (dynamic ones start after)
  std::uint32_t declared_shared = 0;    ///< of that: what the program declares; the rest is reserved_shared_bytes
  std::uint32_t shared_alignment = 16;  ///< of the window
  std::uint32_t local_bytes = 0;        ///< bytes of .local variables, one thread, deepest call chain known
  std::uint32_t param_bytes = 0;        ///< size of the parameter block
  std::uint32_t registers = 0;          ///< an estimate, as attributes report it
  bool needs_fibers = false;            ///< which of the two entry points of Code there is
  bool runs_rows = false;               ///< `run_block` runs several blocks, see RunBlock
  bool counts_laps = false;             ///< it may call cucpu_lap, and so be suspended
  FormOfCode form = FormOfCode::Scalar;
  std::uint32_t frame_bytes = 0;  ///< stack wanted beyond local variables by the vector form and by code for debuggers
  std::uint32_t waiting_bytes = 0;     ///< of that: what the threads of a block keep across barriers
  std::uint32_t threads_of_fiber = 1;  ///< that `run_thread` runs, from the one that it is called for on: a warp where
                                       ///< the vector form has loops that wait for other threads
};

/// Shared memory that GPUs keep back in every block for their own software, such as cooperative groups' scratch. Here a
/// kernel has it only if it asks for its place (%reserved_smem_offset_begin and its like), after its own variables.
inline constexpr std::uint32_t reserved_shared_bytes = 1024;
inline constexpr std::uint32_t reserved_shared_alignment = 16;

/// In checked code, bytes between shared variables.
inline constexpr std::uint32_t shared_redzone = 128;

/// Where a static .shared variable stands in the block's window.
struct SharedVariable {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

struct CompileOptions {
  FormOfCode form = FormOfCode::Scalar;
  /// %ntid, which the vector form is made for, and the scalar one if warps of such blocks are in several rows.
  std::uint32_t block[3] = {0, 0, 0};
  bool debug = false;        ///< for a debugger: scalar form, not optimised, never from the cache, known to debuggers
  bool perf_map = false;     ///< its functions go into the file where perf looks for names
  std::uint32_t checks = 0;  ///< of check_class (checks.hpp): with any but memory_checks, the scalar form
  bool by_thread = false;    ///< `run_thread` for every kernel, which the caller runs in an order of its own
  std::string march = {};    ///< a processor as compilers' -march names it: code uses what both it and this one have
};

/// A compiled kernel: object code with no address of any process in it, and what the run-time must know of it.
struct KernelRecord {
  KernelInfo info;
  std::string refusal;  ///< as CompiledKernel (cpu/loader) has it
  std::string object;   ///< relocatable: variables, services and built-ins are symbols
};

/// What the compiler's library exports: one function, cucore_cpu_compiler, returns it. Both sides are of one
/// build and pass C++ objects; `interface` tells whether they are.
struct CompilerLibrary {
  const char* interface;
  /// InvalidPtx, and why, if the kernel cannot be compiled; the others likewise.
  Result<KernelRecord> (*compile)(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options);
  Result<std::string> (*print_ir)(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options);
  Result<std::string> (*print_assembly)(const ptx::Module& module, ptx::FunctionId kernel,
                                        const CompileOptions& options);
};

/// The PTX instruction that a host instruction was made for.
struct PtxPlace {
  std::uint32_t line = 0;  ///< 0: not known
  bool reads = false;      ///< memory, by itself
  bool writes = false;
  /// If it does not read: lines of the loads that its operands come from, one of which may be folded into the same host
  /// instruction. Empty if that may be another load.
  std::optional<std::vector<std::uint32_t>> loads;
  std::uint32_t next_line = 0;  ///< if there is no line, that of the code behind the host instruction; perhaps 0
};

/// Compiled code of one kernel: `run_thread` if it needs fibers (or was asked for), else `run_block`; the other is
/// null. Owns its memory; destroy only when no launch uses it.
class Code {
 public:
  virtual ~Code() = default;
  KernelInfo info;
  RunThread run_thread = nullptr;
  RunBlock run_block = nullptr;
  std::uintptr_t begin = 0, end = 0;  ///< where its instructions are

  bool names_functions_of_it = false;  ///< memory of the module has addresses of functions in it

  /// What the host instruction at `address` was made for; `module` is that which the code was made of.
  virtual PtxPlace place_of(std::uintptr_t address, const ptx::Module& module) const = 0;

  std::vector<SharedVariable> shared_variables;  ///< of checked code: what may be accessed of its static shared memory
};

inline std::string join_refusals(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", and " + second;
}

}  // namespace cucore::cpu
