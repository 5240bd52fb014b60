// What generators require of what threads do together: barriers, exchanges in a warp, matrices, calls. See
// requirements.hpp.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "cpu/analysis/instructions/access_requirements.hpp"
#include "cpu/analysis/instructions/matrix_form.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/requirements.hpp"
#include "cpu/analysis/instructions/warpgroup_form.hpp"

namespace cucore::cpu::analysis::requirements {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

namespace {

/// Whether there is such a form.
template <class Form>
Result<void> outcome(Result<Form> read) {
  if (!read) return std::move(read).failure();
  return {};
}

}  // namespace

Result<void> barrier(const Instruction& i) {
  const std::size_t n = i.operands.size();
  if (i.has(M::Warp)) return require(i.has(M::Sync) && n == 1, "form");
  if (i.has(M::Sync)) return require(n == 1 || n == 2, "operands");
  if (i.has(M::Arrive)) return require(n == 2, "needs a thread count");
  if (i.has(M::Red)) return require(n == 3 || n == 4, "operands");
  return not_supported("form");
}

Result<void> cluster_barrier(const Instruction& i) {
  if (!i.has(M::Cluster) || i.has(M::Arrive) == i.has(M::Wait)) return not_supported("form");
  const bool relaxes_wait = i.has(M::Wait) && i.has(M::Relaxed);
  return require(!i.has(i.has(M::Arrive) ? M::Acquire : M::Release) && !relaxes_wait, "semantics");
}

Result<void> shuffle(const Instruction& i) { return require(i.has(M::Sync), "needs .sync"); }

/// With .sync the participating lanes are an operand.
Result<void> exchange(const Instruction& i) {
  return require(i.operands.size() == (i.has(M::Sync) ? 5U : 4U), "operands");
}

Result<void> vote(const Instruction& i) {
  if (i.operands.size() != (i.has(M::Sync) ? 3U : 2U)) return not_supported("operands");
  return require(i.has(M::Ballot) == (i.type() == T::B32), "type");
}

Result<void> reduction(const Instruction& i) {
  if (!i.has(M::Sync)) return not_supported("needs .sync");
  const bool logical = i.has(M::And) || i.has(M::Or) || i.has(M::Xor);
  return require(logical == (i.type() == T::B32), "type");
}

Result<void> call(const Instruction& i) {
  const bool has_signature = std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::Function || o.kind == Operand::Kind::Prototype ||
           o.kind == Operand::Kind::TargetList;
  });
  return require(has_signature, "indirect call without a prototype");
}

Result<void> matrix_multiply(const Instruction& i) { return outcome(read_matrix_form(i)); }

Result<void> matrix_transfer(const Instruction& i) { return outcome(read_fragment_form(i)); }

Result<void> matrix_rows(const Instruction& i) {
  if (!i.has(M::Sync) || !i.has(M::Aligned) || !i.has(M::M8n8)) return not_supported("form");
  if (i.has(M::X1) + i.has(M::X2) + i.has(M::X4) != 1) return not_supported("number of matrices");
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Shared}); !met) return met;
  if (i.vector_width != 1) return not_supported("vector");
  const Operand& registers = i.operands[i.opcode == O::Ldmatrix ? 0 : 1];
  const std::size_t count = registers.kind == Operand::Kind::Vector ? registers.elements.size() : 1;
  return require(count == (i.has(M::X1) ? 1U : i.has(M::X2) ? 2U : 4U), "number of registers");
}

Result<void> matrix_move(const Instruction& i) {
  return require(i.has(M::Sync) && i.has(M::Aligned) && i.has(M::M8n8) && i.has(M::Trans), "form");
}

Result<void> warpgroup_multiply(const Instruction& i) { return outcome(read_warpgroup_form(i)); }

Result<void> warpgroup_order(const Instruction& i) {
  if (!i.has(M::Sync) || !i.has(M::Aligned)) return not_supported("needs .sync.aligned");
  if (i.has(M::WaitGroup)) return require(i.operands[0].kind == Operand::Kind::Integer, "a number that is no constant");
  return require(i.has(M::Fence) != i.has(M::CommitGroup), "form");
}

}  // namespace cucore::cpu::analysis::requirements
