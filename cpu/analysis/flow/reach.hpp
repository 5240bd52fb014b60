// Step one of a compile: which functions a kernel reaches, and what follows from what they contain.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cpu/abi/device_calls.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// Functions of the run-time that device code calls by name.
/// Call: one of device_calls.hpp.
enum class DeviceRuntime { Vprintf, Assertfail, Malloc, Free, GraphSetConditional, Call };

/// What a direct call leads to: a function with a body, an entry of the run-time, or (neither set) nothing known.
struct Callee {
  std::optional<ptx::FunctionId> function;
  std::optional<DeviceRuntime> runtime;
  DeviceCall call{};  ///< of DeviceRuntime::Call
};

/// Follows aliases and forward declarations.
Callee resolve(const ptx::Module& module, ptx::FunctionId called);

/// By function, for each instruction: whether it accesses an array through which lanes of a warp exchange values by
/// plain accesses (lanes/plain_exchanges.hpp).
using PlainExchanges = std::map<ptx::FunctionId, std::vector<bool>>;

/// By function, the instructions before which lanes of a warp wait for each other (lanes/lockstep.hpp), and the one
/// whose place in the text says whose turn it is: the instruction itself, or for the ends of a loop's iterations the
/// last one of the loop.
using LockstepPoints = std::map<ptx::FunctionId, std::map<std::uint32_t, std::uint32_t>>;

/// Everything one kernel needs, found without LLVM: what find_reach returns.
struct Reach {
  std::vector<ptx::FunctionId> functions;  ///< with bodies, the kernel first, in order of discovery
  std::vector<ptx::VariableId> variables;  ///< of the module, in order of first use, and what their initialisers name
  std::vector<ptx::FunctionId> kernels;    ///< whose addresses are named, to launch them
  std::vector<bool> may_exit;              ///< by FunctionId: `exit` or `trap` in it or below it
  std::vector<bool> observes;              ///< by FunctionId: reads memory that other threads may be changing, or below
  std::vector<bool> has_barrier;           ///< by FunctionId: of the block, in it or below it
  bool reads_reserved_shared = false;      ///< asks where the shared memory is that a GPU keeps back in every block
  bool names_other_blocks = false;         ///< addresses shared memory of other blocks of its cluster
  bool needs_fibers = false;               ///< a barrier, a warp operation, a waiting loop or a lockstep point anywhere

  // Only find_reach_and_waits (reach_and_waits.hpp) says the rest, and all of needs_fibers.
  bool waits = false;        ///< a waiting loop anywhere
  bool counts_laps = false;  ///< a loop with a lapping edge anywhere (waiting_loops.hpp)
  PlainExchanges exchanges;  ///< plain accesses by which lanes of a warp exchange values
  bool gives_anew = false;   ///< of these: one stores to a place that others of its block have loaded
  LockstepPoints lockstep;   ///< where lanes of a warp count on running in step

  /// Of `exchanges`.
  bool is_exchange(ptx::FunctionId function, std::uint32_t instruction) const {
    const auto found = exchanges.find(function);
    return found != exchanges.end() && found->second[instruction];
  }
};

Reach find_reach(const ptx::Module& module, ptx::FunctionId kernel);

/// The function whose address stands there, if device code can call it: no kernel.
std::optional<ptx::FunctionId> named_function(const ptx::Module& module, const ptx::Relocation& relocation);
/// The variable's initialiser has such places.
bool names_functions(const ptx::Module& module, const ptx::Variable& variable);

/// A call through a register.
bool is_indirect_call(const ptx::Instruction& instruction);

}  // namespace cucore::cpu::analysis
