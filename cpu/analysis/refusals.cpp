// What generators cannot do although their row of the table accepts it, one function a family of instructions.
#include "cpu/analysis/refusals.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "cpu/analysis/matrix_form.hpp"
#include "cpu/analysis/warpgroup_form.hpp"

namespace cucore::cpu::codegen::refusals {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

namespace {

const char* spaces_one_of(const Instruction& i, std::initializer_list<Space> allowed) {
  for (Space space : i.spaces) {
    if (std::find(allowed.begin(), allowed.end(), space) == allowed.end()) return "state space";
  }
  return i.spaces.size() > 1 ? "several state spaces" : nullptr;
}

const char* cache_policy_operand(const Instruction& i, std::size_t operands) {
  return i.operands.size() == operands + (i.has(M::L2CacheHint) ? 1 : 0) ? nullptr : "operands";
}

const char* vector_access(const Instruction& i) {
  if (size_in_bytes(i.type()) * i.vector_width > 16) return "vector of more than 16 bytes";
  return i.vector_width == 3 ? "vector of three" : nullptr;
}

/// Bindless objects only: what stands before the coordinates is a 64-bit register.
const char* texel_object(const Instruction& i, std::size_t operand, std::size_t elements) {
  const Operand& address = i.operands[operand];
  if (address.kind != Operand::Kind::Address) return "operands";
  if (address.elements[0].kind == Operand::Kind::Variable) return "a texture, sampler or surface reference";
  return address.elements.size() == elements ? nullptr : "a sampler of its own";
}

}  // namespace

const char* lacks_half(const Instruction& i) {
  return i.has(M::Lo) || i.has(M::Hi) || i.has(M::Wide) ? nullptr : "needs .lo, .hi or .wide";
}

const char* integer_multiply(const Instruction& i) {
  if (i.has(M::Wide) && size_in_bytes(i.type()) == 8) return "no .wide of a 64-bit type";
  if (i.has(M::Sat) && !(i.has(M::Hi) && i.type() == T::S32)) return ".sat needs .hi.s32";
  return lacks_half(i);
}

const char* saturating_add(const Instruction& i) {
  return i.has(M::Sat) && i.type() != T::S32 ? ".sat needs .s32" : nullptr;
}

const char* single_precision_modifiers(const Instruction& i) {
  const bool single = i.type() == T::F32;
  return !single && (i.has(M::Ftz) || i.has(M::Sat)) ? ".ftz and .sat need .f32" : nullptr;
}

const char* rounded(const Instruction& i) {
  if (!i.has(M::Rn) && !i.has(M::Rz) && !i.has(M::Rm) && !i.has(M::Rp)) return "needs a rounding or .approx";
  return single_precision_modifiers(i);
}

const char* approximate(const Instruction& i) {
  if (!i.has(M::Approx) && !i.has(M::Full)) return "needs .approx or a rounding";
  if (i.type() == T::F64 && i.opcode != O::Rsqrt && !(i.opcode == O::Rcp && i.has(M::Ftz))) return "type .f64";
  return nullptr;
}

const char* relu_min_max(const Instruction& i) {
  return i.has(M::Relu) && i.type() != T::S32 && i.type() != T::S16x2 ? ".relu needs a signed type" : nullptr;
}

const char* float_min_max(const Instruction& i) {
  return i.has(M::Abs) != i.has(M::Xorsign) ? ".xorsign and .abs come together" : single_precision_modifiers(i);
}

const char* unpredicated_compare(const Instruction& i) {
  const bool combines = i.has(M::And) || i.has(M::Or) || i.has(M::Xor);
  return combines != (i.operands.size() == 4) ? "a Boolean operation needs a third source operand" : nullptr;
}

const char* set_types(const Instruction& i) {
  if (i.types.size() != 2) return "needs two types";
  const Type result = i.types[0];
  if (result != T::U32 && result != T::S32 && result != T::F32) return "result type";
  return unpredicated_compare(i);
}

const char* two_types(const Instruction& i) { return i.types.size() == 2 ? nullptr : "needs two types"; }

const char* slct_types(const Instruction& i) {
  if (i.types.size() != 2) return "needs two types";
  return i.types[1] == T::S32 || i.types[1] == T::F32 ? nullptr : "selector type";
}

const char* conversion(const Instruction& i) {
  if (i.types.size() != 2) return "needs two types";
  const Type to = i.types[0];
  const Type from = i.types[1];
  const bool to_nearest_integer = i.has(M::Rni) || i.has(M::Rzi) || i.has(M::Rmi) || i.has(M::Rpi);
  const bool rounds = i.has(M::Rn) || i.has(M::Rz) || i.has(M::Rm) || i.has(M::Rp);
  if (is_packed_half(from)) return "packed source";
  if (is_packed_half(to)) {
    if (from != T::F32 || i.operands.size() != 3) return "packed halves come from two .f32";
    if (i.has(M::Sat)) return ".sat on a packed type";
    return i.has(M::Rn) || i.has(M::Rz) ? nullptr : "needs .rn or .rz";
  }
  if (i.operands.size() != 2) return "operands";
  if (i.has(M::Relu) && !(is_half(to) && from == T::F32)) return ".relu needs .f32 to a half";
  if (is_integer(to) && is_integer(from)) return rounds || to_nearest_integer ? "rounding between integers" : nullptr;
  if (is_integer(to)) return to_nearest_integer ? nullptr : "needs .rni, .rzi, .rmi or .rpi";
  if (is_integer(from)) return rounds && !to_nearest_integer ? nullptr : "needs .rn, .rz, .rm or .rp";
  if (to == from) return rounds ? "rounding without narrowing" : nullptr;
  const bool narrows = size_in_bytes(to) < size_in_bytes(from) || (is_half(to) && is_half(from));
  if (narrows && !rounds) return "needs .rn, .rz, .rm or .rp";
  return to_nearest_integer ? "rounds to an integer between different types" : nullptr;
}

const char* eight_bit_conversion(const Instruction& i) {
  if (i.types.size() != 2 || !i.has(M::Rn)) return "form";
  const auto is_eight_bit = [](Type type) { return type == T::E4m3x2 || type == T::E5m2x2; };
  if (is_eight_bit(i.types[0])) {
    if (is_eight_bit(i.types[1])) return "conversion between 8-bit formats";
    if (!i.has(M::Satfinite)) return "needs .satfinite";
    return i.operands.size() == (i.types[1] == T::F32 ? 3 : 2) ? nullptr : "operands";
  }
  const bool widens = i.types[0] == T::F16x2 && is_eight_bit(i.types[1]) && !i.has(M::Satfinite);
  return widens && i.operands.size() == 2 ? nullptr : "form";
}

const char* move(const Instruction& i) {
  const bool has_predicate = i.type() == T::Pred;
  return has_predicate && i.operands[1].kind == Operand::Kind::Vector ? "vector of predicates" : nullptr;
}

const char* load(const Instruction& i) {
  using enum Space;
  if (const char* why = spaces_one_of(i, {Generic, Const, Global, Local, Param, Shared})) return why;
  if (const char* why = vector_access(i)) return why;
  return cache_policy_operand(i, 2);
}

const char* store(const Instruction& i) {
  using enum Space;
  if (const char* why = spaces_one_of(i, {Generic, Global, Local, Param, Shared})) return why;
  if (const char* why = vector_access(i)) return why;
  return cache_policy_operand(i, 2);
}

const char* address_conversion(const Instruction& i) {
  using enum Space;
  if (i.spaces.size() != 1) return "needs one state space";
  return spaces_one_of(i, {Const, Global, Local, Param, Shared});
}

const char* space_test(const Instruction& i) {
  if (i.spaces.size() != 1) return "needs one state space";
  return spaces_one_of(i, {Space::Shared, Space::Param, Space::Const, Space::Local, Space::Global});
}

const char* atomic(const Instruction& i) {
  if (const char* why = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared})) return why;
  const Type type = i.type();
  if (i.vector_width != 1 && (type != T::F32 || !i.has(M::Add) || i.vector_width > 4 || i.space() == Space::Shared))
    return "vector";
  const bool is_untyped = is_bits(type);
  const bool cas = i.has(M::Cas);
  const bool exchange = i.has(M::Exch);
  if (type == T::B16 && !cas) return "type .b16";
  if (type == T::B128 && !cas && !exchange) return "type .b128";
  if (i.has(M::Inc) || i.has(M::Dec)) {
    if (type != T::U32) return "type";
  } else if (i.has(M::Add)) {
    if (is_untyped || type == T::S64) return "type";
  } else if (i.has(M::Min) || i.has(M::Max)) {
    if (!is_integer(type)) return "type";
  } else if (!is_untyped) {
    return "type";
  }
  if (i.opcode == O::Red && (cas || exchange)) return "operation of red";
  return cache_policy_operand(i, (i.opcode == O::Atom ? 3U : 2U) + (cas ? 1U : 0U));
}

const char* barrier(const Instruction& i) {
  const std::size_t n = i.operands.size();
  if (i.has(M::Warp)) return i.has(M::Sync) && n == 1 ? nullptr : "form";
  if (i.has(M::Sync)) return n == 1 || n == 2 ? nullptr : "operands";
  if (i.has(M::Arrive)) return n == 2 ? nullptr : "needs a thread count";
  if (i.has(M::Red)) return n == 3 || n == 4 ? nullptr : "operands";
  return "form";
}

const char* shuffle(const Instruction& i) { return i.has(M::Sync) ? nullptr : "needs .sync"; }

const char* vote(const Instruction& i) {
  if (!i.has(M::Sync)) return "needs .sync";
  return i.has(M::Ballot) == (i.type() == T::B32) ? nullptr : "type";
}

const char* call(const Instruction& i) {
  const bool has_signature = std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::Function || o.kind == Operand::Kind::Prototype ||
           o.kind == Operand::Kind::TargetList;
  });
  return has_signature ? nullptr : "indirect call without a prototype";
}

const char* asynchronous_copy(const Instruction& i) {
  if (!i.has(M::Async)) return "form";
  if (i.has(M::CommitGroup) || i.has(M::WaitAll)) return i.operands.empty() ? nullptr : "operands";
  if (i.has(M::WaitGroup)) return i.operands.size() == 1 ? nullptr : "operands";
  if (i.spaces != std::vector{Space::Shared, Space::Global}) return "state spaces";
  const std::size_t operands = i.operands.size() - (i.has(M::L2CacheHint) ? 1 : 0);
  if (operands != 3 && operands != 4) return "operands";
  return i.operands[2].kind == Operand::Kind::Integer ? nullptr : "a size that is no constant";
}

const char* reduction(const Instruction& i) {
  if (!i.has(M::Sync)) return "needs .sync";
  const bool logical = i.has(M::And) || i.has(M::Or) || i.has(M::Xor);
  return logical == (i.type() == T::B32) ? nullptr : "type";
}

const char* half_atomic(const Instruction& i) {
  if (const char* why = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared})) return why;
  const std::size_t bytes = size_in_bytes(i.type()) * i.vector_width;
  if (i.vector_width != 1 && (bytes > 16 || i.space() == Space::Shared)) return "vector";
  if (!i.has(M::Add)) return "operation of a half";
  return cache_policy_operand(i, i.opcode == O::Atom ? 3 : 2);
}

const char* half_set(const Instruction& i) {
  if (i.types.size() != 2) return "needs two types";
  if (is_packed_half(i.types[1]) != is_packed_half(i.types[0])) return "packed and scalar types together";
  return unpredicated_compare(i);
}

const char* matrix_multiply(const Instruction& i) {
  MatrixForm form;
  return read_matrix_form(i, form);
}

const char* warpgroup_multiply(const Instruction& i) {
  WarpgroupForm form;
  return read_warpgroup_form(i, form);
}

const char* warpgroup_order(const Instruction& i) {
  if (!i.has(M::Sync) || !i.has(M::Aligned)) return "needs .sync.aligned";
  if (i.has(M::WaitGroup))
    return i.operands[0].kind == Operand::Kind::Integer ? nullptr : "a number that is no constant";
  return i.has(M::Fence) != i.has(M::CommitGroup) ? nullptr : "form";
}

const char* matrix_transfer(const Instruction& i) {
  FragmentForm form;
  return read_fragment_form(i, form);
}

const char* matrix_rows(const Instruction& i) {
  if (!i.has(M::Sync) || !i.has(M::Aligned) || !i.has(M::M8n8)) return "form";
  if (i.has(M::X1) + i.has(M::X2) + i.has(M::X4) != 1) return "number of matrices";
  if (const char* why = spaces_one_of(i, {Space::Generic, Space::Shared})) return why;
  if (i.vector_width != 1) return "vector";
  const Operand& registers = i.operands[i.opcode == O::Ldmatrix ? 0 : 1];
  const std::size_t count = registers.kind == Operand::Kind::Vector ? registers.elements.size() : 1;
  return count == (i.has(M::X1) ? 1U : i.has(M::X2) ? 2U : 4U) ? nullptr : "number of registers";
}

const char* matrix_move(const Instruction& i) {
  return i.has(M::Sync) && i.has(M::Aligned) && i.has(M::M8n8) && i.has(M::Trans) ? nullptr : "form";
}

const char* texture_fetch(const Instruction& i) {
  if (!i.spaces.empty()) return "state space";
  if (i.types.size() != 2) return "needs two types";
  const Type coordinate = i.types[1];
  if (coordinate != T::F32 && coordinate != T::S32) return "coordinate type";
  if (i.vector_width != (i.types[0] == T::F16x2 ? 2 : 4)) return "vector width";
  const bool is_cube = i.has(M::Cube) || i.has(M::Acube);
  if (is_cube && coordinate != T::F32) return "coordinate type";
  if (i.opcode == O::Tld4 && (i.has(M::D1) || i.has(M::D3) || i.has(M::A1D) || coordinate != T::F32)) return "geometry";
  const std::size_t least = i.has(M::Grad) ? 4 : i.has(M::Level) ? 3 : 2;
  if (i.operands.size() < least) return "operands";
  const bool has_offset = i.operands.size() == least + 1 && i.operands.back().kind == Operand::Kind::Vector;
  if (i.operands.size() > least && (!has_offset || is_cube)) return "depth comparison";
  return texel_object(i, 1, 2);
}

const char* surface_access(const Instruction& i) {
  if (!i.spaces.empty()) return "state space";
  if (i.has(M::Cube) || i.has(M::Acube)) return "geometry";
  if (!i.has(M::B) && !i.has(M::P)) return "needs .b or .p";
  if (i.opcode == O::Sust && i.has(M::P) && i.type() != T::B32) return "type";
  if (i.opcode == O::Sured) {
    if (i.vector_width != 1) return "vector";
    const bool logical = i.has(M::And) || i.has(M::Or);
    if (!logical && !i.has(M::Add) && !i.has(M::Min) && !i.has(M::Max)) return "operation";
    // .p takes plain bits, and the texels say what they mean.
    if ((logical || i.has(M::P)) != is_bits(i.type())) return "type";
  }
  if (const char* why = vector_access(i)) return why;
  return texel_object(i, i.opcode == O::Suld ? 1 : 0, 2);
}

const char* texel_query(const Instruction& i) {
  if (!i.spaces.empty()) return "state space";
  if (i.modifiers.size() != (i.has(M::Level) ? 2U : 1U)) return "attribute";
  if (i.operands.size() != (i.has(M::Level) ? 3U : 2U)) return "operands";
  return texel_object(i, 1, 1);
}

const char* memory_barrier(const Instruction& i) {
  if (const char* why = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared})) return why;
  const bool names_object = i.has(M::TensormapGeneric) && i.has(M::Acquire);
  if (i.operands.size() != (names_object ? 2U : 0U)) return "operands";
  const bool restricts = i.has(M::SyncRestrictSharedCta) || i.has(M::SyncRestrictSharedCluster);
  return i.has(M::Proxy) || i.has(M::MbarrierInit) || restricts ? nullptr : "form";
}

const char* barrier_object(const Instruction& i) {
  if (i.vector_width != 1) return "vector";
  if (const char* why = spaces_one_of(i, {Space::Generic, Space::Shared})) return why;
  const std::size_t n = i.operands.size();
  if (i.has(M::PendingCount)) return n == 2 && i.spaces.empty() ? nullptr : "operands";
  const bool arrives = i.has(M::Arrive) || i.has(M::ArriveDrop);
  const bool waits = i.has(M::TestWait) || i.has(M::TryWait);
  const bool has_result = arrives || waits;
  if (n < (has_result ? 2U : 1U)) return "operands";
  if (i.operands[has_result ? 1 : 0].kind != Operand::Kind::Address) return "operands";
  if (arrives) return i.has(M::ExpectTx) && n != 3 ? "operands" : n <= 3 ? nullptr : "operands";
  if (waits) return n == 3 || (n == 4 && i.has(M::TryWait)) ? nullptr : "operands";
  if (i.has(M::Inval)) return n == 1 ? nullptr : "operands";
  return (i.has(M::Init) || i.has(M::ExpectTx) || i.has(M::CompleteTx)) && n == 2 ? nullptr : "form";
}

const char* copies_arrive(const Instruction& i) {
  if (i.vector_width != 1 || !i.has(M::Async) || !i.has(M::Mbarrier) || !i.has(M::Arrive)) return "form";
  return spaces_one_of(i, {Space::Generic, Space::Shared});
}

namespace {

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, of `n` operands without a cache policy
const char* tensor_copy(const Instruction& i, std::size_t n) {
  static constexpr M dimensions[] = {M::D1, M::D2, M::D3, M::D4, M::D5};
  std::size_t rank = 0;
  for (std::size_t d = 0; d < std::size(dimensions); ++d) {
    if (i.has(dimensions[d])) rank = d + 1;
  }
  const bool prefetches = i.has(M::Prefetch);
  const bool loads = i.spaces == std::vector{Space::Shared, Space::Global} && i.has(M::MbarrierCompleteTxBytes);
  const bool stores = i.spaces == std::vector{Space::Global, Space::Shared} && i.has(M::BulkGroup);
  if (!loads && !stores && !prefetches) return "form";
  static constexpr M operations[] = {M::Add, M::Min, M::Max, M::Inc, M::Dec, M::And, M::Or, M::Xor};
  const auto operation_count =
      std::count_if(std::begin(operations), std::end(operations), [&](M operation) { return i.has(operation); });
  if (operation_count != (i.has(M::Reduce) ? 1 : 0) || (i.has(M::Reduce) && !stores)) return "form";
  const bool is_im2col = i.has(M::Im2col) || i.has(M::Im2colNoOffs);
  if (is_im2col && (rank < 3 || i.has(M::Tile) || i.has(stores ? M::Im2col : M::Im2colNoOffs))) return "form";
  if (i.has(M::MulticastCluster) && !loads) return "form";
  const std::size_t more = (i.has(M::Im2col) ? 1U : 0U) + (i.has(M::MulticastCluster) ? 1U : 0U);
  if (n != (loads ? 3U : stores ? 2U : 1U) + more) return "operands";
  if (loads && i.has(M::Im2col) &&
      (i.operands[3].kind != Operand::Kind::Vector || i.operands[3].elements.size() != rank - 2))
    return "number of offsets";
  const Operand& tensor = i.operands[loads ? 1 : 0];
  if (tensor.kind != Operand::Kind::Address || tensor.elements.size() != 2) return "operands";
  if (tensor.elements[1].kind != Operand::Kind::Vector || tensor.elements[1].elements.size() != rank)
    return "number of coordinates";
  return nullptr;
}

/// The element that cp.reduce.async.bulk combines, as red would.
const char* reduced_element(const Instruction& i) {
  if (is_half(i.type()))
    return i.has(M::Add) == i.has(M::Noftz) && (i.has(M::Add) || i.has(M::Min) || i.has(M::Max))
               ? nullptr
               : "operation of a half";
  Instruction one = i;
  one.opcode = O::Red;
  one.spaces.resize(1);
  one.operands.resize(2);
  std::erase(one.modifiers, M::L2CacheHint);
  return i.has(M::Noftz) ? "modifier .noftz" : atomic(one);
}

}  // namespace

const char* bulk_copy(const Instruction& i) {
  if (!i.has(M::Async) || !i.has(M::Bulk) || i.vector_width != 1) return "form";
  const std::size_t n = i.operands.size() - (i.has(M::L2CacheHint) && !i.operands.empty() ? 1 : 0);
  if (i.has(M::CommitGroup)) return n == 0 ? nullptr : "operands";
  if (i.has(M::WaitGroup)) return n == 1 ? nullptr : "operands";
  if (i.has(M::Tensor)) return tensor_copy(i, n);
  if (i.has(M::Reduce)) {
    if (const char* why = reduced_element(i)) return why;
    if (i.spaces == std::vector{Space::Shared, Space::Global}) return "state spaces";
  }
  if (i.has(M::Prefetch)) return n == 2 ? nullptr : "operands";
  using Spaces = std::vector<Space>;
  if (i.has(M::MbarrierCompleteTxBytes)) {
    if (i.spaces != Spaces{Space::Shared, Space::Global} && i.spaces != Spaces{Space::Shared, Space::Shared})
      return "state spaces";
    if (i.has(M::MulticastCluster) && i.spaces[1] == Space::Shared) return "modifier .multicast::cluster";
    return n == (i.has(M::MulticastCluster) ? 5U : 4U) ? nullptr : "operands";
  }
  if (i.has(M::MulticastCluster) || !i.has(M::BulkGroup)) return "form";
  if (i.spaces != Spaces{Space::Global, Space::Shared}) return "state spaces";
  return n == (i.has(M::CpMask) ? 4U : 3U) ? nullptr : "operands";
}

const char* async_store(const Instruction& i) {
  if (!i.has(M::Async) || !i.has(M::MbarrierCompleteTxBytes)) return "form";
  if (i.space() != Space::Shared || i.spaces.size() != 1) return "state space";
  if (i.operands[2].kind != Operand::Kind::Address) return "operands";
  Instruction plain = i;
  plain.operands.pop_back();
  return i.opcode == O::St ? vector_access(i) : atomic(plain);
}

const char* cluster_address(const Instruction& i) {
  if (i.vector_width != 1) return "vector";
  return i.spaces.empty() && i.type() != T::U64 ? "a generic address of 32 bits" : spaces_one_of(i, {Space::Shared});
}

const char* cluster_barrier(const Instruction& i) {
  if (!i.has(M::Cluster) || i.has(M::Arrive) == i.has(M::Wait)) return "form";
  return i.has(i.has(M::Arrive) ? M::Acquire : M::Release) || (i.has(M::Wait) && i.has(M::Relaxed)) ? "semantics"
                                                                                                    : nullptr;
}

const char* any_space(const Instruction&) { return nullptr; }

}  // namespace cucore::cpu::codegen::refusals
