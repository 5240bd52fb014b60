// Which memory an instruction accesses, for checks: from its spelling alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

struct MemoryAccess {
  enum class Extent : std::uint8_t {
    Fixed,      ///< `bytes`
    Operand,    ///< as many bytes as the operand `count` says
    CopyLimit,  ///< of cp.async: `bytes`, or fewer if there is a fourth operand
    Rows,       ///< `bytes` in those lanes that bring the address of a row, which are the first `count` ones
  };

  const ptx::Operand* address = nullptr;
  ptx::Space space = ptx::Space::Generic;
  Extent extent = Extent::Fixed;
  std::uint32_t bytes = 0;
  std::uint32_t element = 0;  ///< bytes of one, of a vector; what is initialised or not
  std::uint32_t count = 0;
  std::uint32_t alignment = 1;
  std::uint32_t flags = 0;   ///< of check_access, without space and alignment
  bool is_mbarrier = false;  ///< which orders what the instruction itself did before it

  bool reads() const { return (flags & check_access::reads_memory) != 0; }
  bool writes() const { return (flags & check_access::writes_memory) != 0; }
};

/// Whether the code that the instruction calls reports its accesses itself (may_access): only it knows the addresses.
bool accesses_by_itself(const ptx::Instruction& instruction);

/// In the order in which they happen, without those of such code. Empty for parameters, whose accesses are always in
/// bounds, and for textures and surfaces, which check themselves.
std::vector<MemoryAccess> memory_accesses_of(const ptx::Instruction& instruction);

/// Local variables whose lifetime these checks must know: those whose addresses the function takes, since only through
/// an address can an access be out of bounds, and all that may be read before they are written.
std::vector<ptx::VariableId> variables_to_follow(const ptx::Function& function, std::uint32_t checks);

/// The `.local` variable of a function that has one.
std::optional<ptx::VariableId> only_local_variable(const ptx::Function& function);

/// Whether it takes the address of a `.local` variable in 32 bits, as LLVM does with the option for short pointers
/// (Triton).
bool has_short_local_addresses(const ptx::Function& function);

}  // namespace cucore::cpu::analysis
