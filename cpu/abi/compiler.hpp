// One PTX kernel in, callable code out: the only header of this room that others include. LLVM stays behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/ptx/ast.hpp"

namespace cucore::cpu::codegen {

/// An instruction that parses but has no generator (yet).
struct Unsupported {
  std::string kernel;       ///< function it stands in
  std::string instruction;  ///< full spelling
  std::uint32_t line = 0;   ///< PTX line
  std::string reason;       ///< which part: opcode, type, modifier, operand
};

/// Every instruction of `module` that cannot be compiled. Cheap: a table look-up per instruction, no LLVM.
std::vector<Unsupported> find_unsupported(const ptx::Module& module);

/// Addresses of module-scope variables (.global, .const) of `module`, by index into Module::variables; null for shared
/// ones. The memory must outlive the code. Where an initialiser names a function, compiling a kernel that can reach it
/// writes the address of the compiled function.
struct ModuleAddresses {
  std::vector<void*> variables;
};

/// Scalar: one device thread after the other, the reference. Vector: threads in lockstep in SIMD lanes, for one shape
/// of block; a kernel that cannot have it gets the scalar form as a whole. Auto asks for whichever of the two is worth
/// more (form_choice.hpp); what was compiled is one of them. Masked asks for the vector form with every block under
/// masks, which takes nothing for granted of where lanes go: a second reference.
enum class FormOfCode : std::uint8_t { Scalar, Vector, Auto, Masked };

struct KernelInfo {
  std::uint32_t static_shared = 0;      ///< bytes of .shared variables this kernel reaches (dynamic ones start after)
  std::uint32_t shared_alignment = 16;  ///< of the window
  std::uint32_t local_bytes = 0;        ///< bytes of .local variables, one thread, deepest call chain known
  std::uint32_t param_bytes = 0;        ///< size of the parameter block
  std::uint32_t registers = 0;          ///< an estimate, as attributes report it
  bool needs_fibers = false;            ///< which of the two entry points of Code there is
  bool runs_rows = false;               ///< `run_block` runs several blocks, see RunBlock
  bool counts_laps = false;             ///< it may call cucpu_lap, and so be set aside
  FormOfCode form = FormOfCode::Scalar;
  std::uint32_t frame_bytes = 0;  ///< stack wanted beyond local variables by the vector form and by code for debuggers
  std::uint32_t waiting_bytes = 0;  ///< of that: what the threads of a block keep across barriers
};

/// In checked code, bytes between shared variables.
inline constexpr std::uint32_t kSharedRedzone = 128;

/// Where a static .shared variable stands in the block's window.
struct SharedVariable {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

struct CompileOptions {
  FormOfCode form = FormOfCode::Scalar;
  std::uint32_t block[3] = {0, 0, 0};  ///< %ntid, which the vector form is made for
  bool debug = false;        ///< for a debugger: scalar form, not optimised, never from the cache, known to debuggers
  bool perf_map = false;     ///< its functions go into the file where perf looks for names
  std::uint32_t checks = 0;  ///< of check_class (checks.hpp): with any but kMemory, the scalar form
  bool by_thread = false;    ///< `run_thread` for every kernel, which the caller runs in an order of its own
  std::string march = {};    ///< a processor as compilers' -march names it: code uses what both it and this one have
};

/// The PTX instruction that a host instruction was made for.
struct PtxPlace {
  std::uint32_t line = 0;  ///< 0: not known
  bool reads = false;      ///< memory, by itself
  bool writes = false;
  /// If it does not read: lines of the loads that its operands come from, one of which the host may do in the same
  /// instruction. Nothing if others may be.
  std::optional<std::vector<std::uint32_t>> loads;
  std::uint32_t next_line = 0;  ///< if there is no line, that of the code behind the host instruction; perhaps 0
};

/// Compiled code of one kernel: `run_thread` if it needs fibers (or was asked for), else `run_block`; the other is
/// null. The vector form needs none. Owns its memory; destroy only when no launch uses it.
class Code {
 public:
  virtual ~Code() = default;
  KernelInfo info;
  RunThread run_thread = nullptr;
  RunBlock run_block = nullptr;

  /// What the host instruction at `address` was made for; `module` is that which the code was made of.
  virtual PtxPlace place_of(std::uintptr_t address, const ptx::Module& module) const = 0;

  std::vector<SharedVariable> shared_variables;  ///< of checked code: what may be accessed of its static shared memory
};

struct CompileResult {
  std::unique_ptr<Code> code;  ///< null on failure
  std::string error;           ///< what failed, in a sentence, naming kernel and line
  /// Why the vector form was asked for, or open, and is not there, and why the scalar form is not optimised as others
  /// are; empty if nothing is missing.
  std::string refusal;
  bool was_cached = false;      ///< the object code came from the cache
  bool lacks_compiler = false;  ///< the compiler library is not there: `error` says so
};

inline std::string join_refusals(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", and " + second;
}

class KernelCache;

/// What can be said of a kernel without compiling it (attributes must not cost a compile).
KernelInfo describe(const ptx::Module& module, ptx::FunctionId kernel);

/// Compiles one kernel and everything it calls for the host CPU, unless `cache` has its object code; what was compiled
/// goes there. Thread-safe; takes milliseconds, five seconds at most.
CompileResult compile(const ptx::Module& module, ptx::FunctionId kernel, const ModuleAddresses& addresses,
                      const CompileOptions& options = {}, KernelCache* cache = nullptr);

/// Text forms for `cucore dump` and tests: LLVM IR after optimisation, host assembly.
std::string dump_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options = {});
std::string dump_assembly(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options = {});

/// For `cucore driver-status`: PTX opcodes with at least one generator, and all opcodes of the ISA known here.
std::vector<std::string_view> covered_opcodes();
std::vector<std::string_view> known_opcodes();

}  // namespace cucore::cpu::codegen
