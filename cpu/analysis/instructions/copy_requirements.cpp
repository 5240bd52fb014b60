// What generators require of asynchronous copies and the barrier objects that they arrive at. See requirements.hpp.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "cpu/analysis/instructions/access_requirements.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/requirements.hpp"

namespace cucore::cpu::analysis::requirements {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using M = ptx::Modifier;
using O = ptx::Opcode;

namespace {

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, of `n` operands without a cache policy
Result<void> tensor_copy(const Instruction& i, std::size_t n) {
  static constexpr M dimensions[] = {M::D1, M::D2, M::D3, M::D4, M::D5};
  std::size_t rank = 0;
  for (std::size_t d = 0; d < std::size(dimensions); ++d) {
    if (i.has(dimensions[d])) rank = d + 1;
  }
  const bool prefetches = i.has(M::Prefetch);
  const bool loads = i.spaces == std::vector{Space::Shared, Space::Global} && i.has(M::MbarrierCompleteTxBytes);
  const bool stores = i.spaces == std::vector{Space::Global, Space::Shared} && i.has(M::BulkGroup);
  if (!loads && !stores && !prefetches) return not_supported("form");
  static constexpr M operations[] = {M::Add, M::Min, M::Max, M::Inc, M::Dec, M::And, M::Or, M::Xor};
  const auto operation_count =
      std::count_if(std::begin(operations), std::end(operations), [&](M operation) { return i.has(operation); });
  if (operation_count != (i.has(M::Reduce) ? 1 : 0) || (i.has(M::Reduce) && !stores)) return not_supported("form");
  const bool is_im2col = i.has(M::Im2col) || i.has(M::Im2colNoOffs);
  if (is_im2col && (rank < 3 || i.has(M::Tile) || i.has(stores ? M::Im2col : M::Im2colNoOffs)))
    return not_supported("form");
  if (i.has(M::MulticastCluster) && !loads) return not_supported("form");
  const bool is_of_rows = i.has(M::TileGather4) || i.has(M::TileScatter4);  // a column and four rows
  if (is_of_rows && (rank != 2 || i.has(M::Tile) || is_im2col || i.has(M::Reduce) || i.has(M::TileScatter4) != stores))
    return not_supported("form");
  const std::size_t more = (i.has(M::Im2col) ? 1U : 0U) + (i.has(M::MulticastCluster) ? 1U : 0U);
  if (n != (loads ? 3U : stores ? 2U : 1U) + more) return not_supported("operands");
  if (loads && i.has(M::Im2col) &&
      (i.operands[3].kind != Operand::Kind::Vector || i.operands[3].elements.size() != rank - 2))
    return not_supported("number of offsets");
  const Operand& tensor = i.operands[loads ? 1 : 0];
  if (tensor.kind != Operand::Kind::Address || tensor.elements.size() != 2) return not_supported("operands");
  if (tensor.elements[1].kind != Operand::Kind::Vector || tensor.elements[1].elements.size() != (is_of_rows ? 5 : rank))
    return not_supported("number of coordinates");
  return {};
}

/// The element that cp.reduce.async.bulk combines, as red would.
Result<void> reduced_element(const Instruction& i) {
  if (is_half(i.type()))
    return require(i.has(M::Add) == i.has(M::Noftz) && (i.has(M::Add) || i.has(M::Min) || i.has(M::Max)),
                   "operation of a half");
  if (i.has(M::Noftz)) return not_supported("modifier .noftz");
  Instruction one = i;
  one.opcode = O::Red;
  one.spaces.resize(1);
  one.operands.resize(2);
  std::erase(one.modifiers, M::L2CacheHint);
  return atomic(one);
}

}  // namespace

Result<void> barrier_object(const Instruction& i) {
  if (i.vector_width != 1) return not_supported("vector");
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Shared}); !met) return met;
  const std::size_t n = i.operands.size();
  if (i.has(M::PendingCount)) return require(n == 2 && i.spaces.empty(), "operands");
  const bool arrives = i.has(M::Arrive) || i.has(M::ArriveDrop);
  const bool waits = i.has(M::TestWait) || i.has(M::TryWait);
  const bool has_result = arrives || waits;
  if (n < (has_result ? 2U : 1U)) return not_supported("operands");
  if (i.operands[has_result ? 1 : 0].kind != Operand::Kind::Address) return not_supported("operands");
  if (arrives) return require(n == 3 || (n < 3 && !i.has(M::ExpectTx)), "operands");
  if (waits) return require(n == 3 || (n == 4 && i.has(M::TryWait)), "operands");
  if (i.has(M::Inval)) return require(n == 1, "operands");
  return require((i.has(M::Init) || i.has(M::ExpectTx) || i.has(M::CompleteTx)) && n == 2, "form");
}

Result<void> copies_arrive(const Instruction& i) {
  if (i.vector_width != 1 || !i.has(M::Async) || !i.has(M::Mbarrier) || !i.has(M::Arrive)) return not_supported("form");
  return spaces_one_of(i, {Space::Generic, Space::Shared});
}

Result<void> asynchronous_copy(const Instruction& i) {
  if (!i.has(M::Async)) return not_supported("form");
  if (i.has(M::CommitGroup) || i.has(M::WaitAll)) return require(i.operands.empty(), "operands");
  if (i.has(M::WaitGroup)) return require(i.operands.size() == 1, "operands");
  if (i.spaces != std::vector{Space::Shared, Space::Global}) return not_supported("state spaces");
  const std::size_t operands = i.operands.size() - (i.has(M::L2CacheHint) ? 1 : 0);
  if (operands != 3 && operands != 4) return not_supported("operands");
  return require(i.operands[2].kind == Operand::Kind::Integer, "a size that is no constant");
}

Result<void> bulk_copy(const Instruction& i) {
  if (!i.has(M::Async) || !i.has(M::Bulk) || i.vector_width != 1) return not_supported("form");
  const std::size_t n = i.operands.size() - (i.has(M::L2CacheHint) && !i.operands.empty() ? 1 : 0);
  if (i.has(M::CommitGroup)) return require(n == 0, "operands");
  if (i.has(M::WaitGroup)) return require(n == 1, "operands");
  if (i.has(M::Tensor)) return tensor_copy(i, n);
  if (i.has(M::Reduce)) {
    if (Result<void> met = reduced_element(i); !met) return met;
    if (i.spaces == std::vector{Space::Shared, Space::Global}) return not_supported("state spaces");
  }
  if (i.has(M::Prefetch)) return require(n == 2, "operands");
  using Spaces = std::vector<Space>;
  if (i.has(M::MbarrierCompleteTxBytes)) {
    if (i.spaces != Spaces{Space::Shared, Space::Global} && i.spaces != Spaces{Space::Shared, Space::Shared})
      return not_supported("state spaces");
    if (i.has(M::MulticastCluster) && i.spaces[1] == Space::Shared)
      return not_supported("modifier .multicast::cluster");
    return require(n == (i.has(M::MulticastCluster) ? 5U : 4U), "operands");
  }
  if (i.has(M::MulticastCluster) || !i.has(M::BulkGroup)) return not_supported("form");
  if (i.spaces != Spaces{Space::Global, Space::Shared}) return not_supported("state spaces");
  return require(n == (i.has(M::CpMask) ? 4U : 3U), "operands");
}

Result<void> async_store(const Instruction& i) {
  if (!i.has(M::Async) || !i.has(M::MbarrierCompleteTxBytes)) return not_supported("form");
  if (i.space() != Space::Shared || i.spaces.size() != 1) return not_supported("state space");
  if (i.operands[2].kind != Operand::Kind::Address) return not_supported("operands");
  Instruction plain = i;
  plain.operands.pop_back();
  return i.opcode == O::St ? vector_access(i) : atomic(plain);
}

}  // namespace cucore::cpu::analysis::requirements
