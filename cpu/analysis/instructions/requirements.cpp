// What generators require beyond what their row of the table says, one function a family of instructions.
#include "cpu/analysis/instructions/requirements.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>
#include <vector>

#include "cpu/analysis/instructions/matrix_form.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/warpgroup_form.hpp"

namespace cucore::cpu::analysis::requirements {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

namespace {

Result<void> spaces_one_of(const Instruction& i, std::initializer_list<Space> allowed) {
  for (Space space : i.spaces) {
    if (std::find(allowed.begin(), allowed.end(), space) == allowed.end()) return not_supported("state space");
  }
  return require(i.spaces.size() <= 1, "several state spaces");
}

Result<void> cache_policy_operand(const Instruction& i, std::size_t operands) {
  return require(i.operands.size() == operands + (i.has(M::L2CacheHint) ? 1 : 0), "operands");
}

Result<void> vector_access(const Instruction& i) {
  if (size_in_bytes(i.type()) * i.vector_width > 16) return not_supported("vector of more than 16 bytes");
  return require(i.vector_width != 3, "vector of three");
}

/// Whether there is such a form.
template <class Form>
Result<void> outcome(Result<Form> read) {
  if (!read) return std::move(read).failure();
  return {};
}

/// Bindless objects only: what stands before the coordinates is a 64-bit register.
Result<void> texel_object(const Instruction& i, std::size_t operand, std::size_t elements) {
  const Operand& address = i.operands[operand];
  if (address.kind != Operand::Kind::Address) return not_supported("operands");
  if (address.elements[0].kind == Operand::Kind::Variable)
    return not_supported("a texture, sampler or surface reference");
  return require(address.elements.size() == elements, "a sampler of its own");
}

}  // namespace

Result<void> names_half(const Instruction& i) {
  return require(i.has(M::Lo) || i.has(M::Hi) || i.has(M::Wide), "needs .lo, .hi or .wide");
}

Result<void> integer_multiply(const Instruction& i) {
  if (i.has(M::Wide) && size_in_bytes(i.type()) == 8) return not_supported("no .wide of a 64-bit type");
  if (i.has(M::Sat) && !(i.has(M::Hi) && i.type() == T::S32)) return not_supported(".sat needs .hi.s32");
  return names_half(i);
}

Result<void> saturating_add(const Instruction& i) {
  return require(!i.has(M::Sat) || i.type() == T::S32, ".sat needs .s32");
}

Result<void> single_precision_modifiers(const Instruction& i) {
  const bool single = i.type() == T::F32;
  return require(single || (!i.has(M::Ftz) && !i.has(M::Sat)), ".ftz and .sat need .f32");
}

Result<void> rounded(const Instruction& i) {
  if (!i.has(M::Rn) && !i.has(M::Rz) && !i.has(M::Rm) && !i.has(M::Rp))
    return not_supported("needs a rounding or .approx");
  return single_precision_modifiers(i);
}

Result<void> approximate(const Instruction& i) {
  if (!i.has(M::Approx) && !i.has(M::Full)) return not_supported("needs .approx or a rounding");
  if (i.type() == T::F64 && i.opcode != O::Rsqrt && !(i.opcode == O::Rcp && i.has(M::Ftz)))
    return not_supported("type .f64");
  return {};
}

Result<void> relu_min_max(const Instruction& i) {
  return require(!i.has(M::Relu) || i.type() == T::S32 || i.type() == T::S16x2, ".relu needs a signed type");
}

Result<void> float_min_max(const Instruction& i) {
  if (i.has(M::Abs) != i.has(M::Xorsign)) return not_supported(".xorsign and .abs come together");
  return single_precision_modifiers(i);
}

Result<void> unpredicated_compare(const Instruction& i) {
  const bool combines = i.has(M::And) || i.has(M::Or) || i.has(M::Xor);
  return require(combines == (i.operands.size() == 4), "a Boolean operation needs a third source operand");
}

Result<void> set_types(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  const Type result = i.types[0];
  if (result != T::U32 && result != T::S32 && result != T::F32) return not_supported("result type");
  return unpredicated_compare(i);
}

Result<void> agreed_video(const Instruction& i) {
  const bool selects = !i.operands[0].selector.empty();
  const bool is_unsigned = i.types.size() == 3 && (i.types[1] == T::U32 || i.types[2] == T::U32);
  const bool is_changed = i.has(M::Sat) || i.has(M::Shr7) || i.has(M::Shr15);
  switch (i.opcode) {
    case ptx::Opcode::Vmad:
      return require(!is_unsigned || !is_changed,
                     "of numbers without sign, saturated or scaled, GPUs compute otherwise than the PTX ISA says");
    case ptx::Opcode::Vshl:
    case ptx::Opcode::Vshr:
      return require(!selects, "of a shift into a part of a register GPUs make otherwise than the PTX ISA says");
    case ptx::Opcode::Vadd:
    case ptx::Opcode::Vsub:
    case ptx::Opcode::Vmin:
    case ptx::Opcode::Vmax:
      return require(!selects || !i.has(M::Sat) || i.types[0] != T::S32,
                     "saturated into a part of a register, GPUs make of it otherwise than the PTX ISA says");
    default:
      return {};
  }
}

Result<void> two_types(const Instruction& i) { return require(i.types.size() == 2, "needs two types"); }

Result<void> slct_types(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  return require(i.types[1] == T::S32 || i.types[1] == T::F32, "selector type");
}

Result<void> conversion(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  const Type to = i.types[0];
  const Type from = i.types[1];
  const bool to_nearest_integer = i.has(M::Rni) || i.has(M::Rzi) || i.has(M::Rmi) || i.has(M::Rpi);
  const bool rounds = i.has(M::Rn) || i.has(M::Rz) || i.has(M::Rm) || i.has(M::Rp);
  if (is_packed_half(from)) return not_supported("packed source");
  if (is_packed_half(to)) {
    if (from != T::F32 || i.operands.size() != 3) return not_supported("packed halves come from two .f32");
    if (i.has(M::Sat)) return not_supported(".sat on a packed type");
    return require(i.has(M::Rn) || i.has(M::Rz), "needs .rn or .rz");
  }
  if (i.operands.size() != 2) return not_supported("operands");
  if (i.has(M::Relu) && !(is_half(to) && from == T::F32)) return not_supported(".relu needs .f32 to a half");
  if (is_integer(to) && is_integer(from)) return require(!rounds && !to_nearest_integer, "rounding between integers");
  if (is_integer(to)) return require(to_nearest_integer, "needs .rni, .rzi, .rmi or .rpi");
  if (is_integer(from)) return require(rounds && !to_nearest_integer, "needs .rn, .rz, .rm or .rp");
  if (to == from) return require(!rounds, "rounding without narrowing");
  const bool narrows = size_in_bytes(to) < size_in_bytes(from) || (is_half(to) && is_half(from));
  if (narrows && !rounds) return not_supported("needs .rn, .rz, .rm or .rp");
  return require(!to_nearest_integer, "rounds to an integer between different types");
}

Result<void> eight_bit_conversion(const Instruction& i) {
  if (i.types.size() != 2 || !i.has(M::Rn)) return not_supported("form");
  const auto is_eight_bit = [](Type type) { return type == T::E4m3x2 || type == T::E5m2x2; };
  if (is_eight_bit(i.types[0])) {
    if (is_eight_bit(i.types[1])) return not_supported("conversion between 8-bit formats");
    if (!i.has(M::Satfinite)) return not_supported("needs .satfinite");
    return require(i.operands.size() == (i.types[1] == T::F32 ? 3 : 2), "operands");
  }
  const bool widens = i.types[0] == T::F16x2 && is_eight_bit(i.types[1]) && !i.has(M::Satfinite);
  return require(widens && i.operands.size() == 2, "form");
}

Result<void> packing_conversion(const Instruction& i) {
  if (!i.has(M::Pack) || !i.has(M::Sat)) return not_supported("needs .pack.sat");
  if (i.types.size() < 2 || i.types[1] != T::S32) return not_supported("packs .s32");
  const bool fills = i.types[0] == T::U16 || i.types[0] == T::S16;
  if (i.types[0] == T::S32 || i.types[0] == T::B32) return not_supported("type");
  if (i.types.size() != (fills ? 2 : 3) || i.operands.size() != (fills ? 3 : 4)) return not_supported("operands");
  return require(fills || i.types[2] == T::B32, "what is shifted is a .b32");
}

Result<void> move(const Instruction& i) {
  return require(i.type() != T::Pred || i.operands[1].kind != Operand::Kind::Vector, "vector of predicates");
}

Result<void> load(const Instruction& i) {
  using enum Space;
  if (Result<void> met = spaces_one_of(i, {Generic, Const, Global, Local, Param, Shared}); !met) return met;
  if (Result<void> met = vector_access(i); !met) return met;
  return cache_policy_operand(i, 2);
}

Result<void> store(const Instruction& i) {
  using enum Space;
  if (Result<void> met = spaces_one_of(i, {Generic, Global, Local, Param, Shared}); !met) return met;
  if (Result<void> met = vector_access(i); !met) return met;
  return cache_policy_operand(i, 2);
}

Result<void> address_conversion(const Instruction& i) {
  using enum Space;
  if (i.spaces.size() != 1) return not_supported("needs one state space");
  return spaces_one_of(i, {Const, Global, Local, Param, Shared});
}

Result<void> space_test(const Instruction& i) {
  if (i.spaces.size() != 1) return not_supported("needs one state space");
  return spaces_one_of(i, {Space::Shared, Space::Param, Space::Const, Space::Local, Space::Global});
}

Result<void> stack_alignment(const Instruction& i) {
  const bool is_power = i.operands.size() < 3 || std::has_single_bit(i.operands[2].integer);
  return is_power ? Result<void>() : not_supported("alignment");
}

Result<void> atomic(const Instruction& i) {
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared}); !met) return met;
  const Type type = i.type();
  if (i.vector_width != 1 && (type != T::F32 || !i.has(M::Add) || i.vector_width > 4 || i.space() == Space::Shared))
    return not_supported("vector");
  const bool is_untyped = is_bits(type);
  const bool cas = i.has(M::Cas);
  const bool exchange = i.has(M::Exch);
  if (type == T::B16 && !cas) return not_supported("type .b16");
  if (type == T::B128 && !cas && !exchange) return not_supported("type .b128");
  if (i.has(M::Inc) || i.has(M::Dec)) {
    if (type != T::U32) return not_supported("type");
  } else if (i.has(M::Add)) {
    if (is_untyped || type == T::S64) return not_supported("type");
  } else if (i.has(M::Min) || i.has(M::Max)) {
    if (!is_integer(type)) return not_supported("type");
  } else if (!is_untyped) {
    return not_supported("type");
  }
  if (i.opcode == O::Red && (cas || exchange)) return not_supported("operation of red");
  return cache_policy_operand(i, (i.opcode == O::Atom ? 3U : 2U) + (cas ? 1U : 0U));
}

Result<void> barrier(const Instruction& i) {
  const std::size_t n = i.operands.size();
  if (i.has(M::Warp)) return require(i.has(M::Sync) && n == 1, "form");
  if (i.has(M::Sync)) return require(n == 1 || n == 2, "operands");
  if (i.has(M::Arrive)) return require(n == 2, "needs a thread count");
  if (i.has(M::Red)) return require(n == 3 || n == 4, "operands");
  return not_supported("form");
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

Result<void> call(const Instruction& i) {
  const bool has_signature = std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::Function || o.kind == Operand::Kind::Prototype ||
           o.kind == Operand::Kind::TargetList;
  });
  return require(has_signature, "indirect call without a prototype");
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

Result<void> reduction(const Instruction& i) {
  if (!i.has(M::Sync)) return not_supported("needs .sync");
  const bool logical = i.has(M::And) || i.has(M::Or) || i.has(M::Xor);
  return require(logical == (i.type() == T::B32), "type");
}

Result<void> half_atomic(const Instruction& i) {
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared}); !met) return met;
  const std::size_t bytes = size_in_bytes(i.type()) * i.vector_width;
  if (i.vector_width != 1 && (bytes > 16 || i.space() == Space::Shared)) return not_supported("vector");
  if (!i.has(M::Add)) return not_supported("operation of a half");
  return cache_policy_operand(i, i.opcode == O::Atom ? 3 : 2);
}

Result<void> half_set(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  if (is_packed_half(i.types[1]) != is_packed_half(i.types[0]))
    return not_supported("packed and scalar types together");
  return unpredicated_compare(i);
}

Result<void> matrix_multiply(const Instruction& i) { return outcome(read_matrix_form(i)); }

Result<void> warpgroup_multiply(const Instruction& i) { return outcome(read_warpgroup_form(i)); }

Result<void> warpgroup_order(const Instruction& i) {
  if (!i.has(M::Sync) || !i.has(M::Aligned)) return not_supported("needs .sync.aligned");
  if (i.has(M::WaitGroup)) return require(i.operands[0].kind == Operand::Kind::Integer, "a number that is no constant");
  return require(i.has(M::Fence) != i.has(M::CommitGroup), "form");
}

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

Result<void> texture_fetch(const Instruction& i) {
  if (!i.spaces.empty()) return not_supported("state space");
  if (i.types.size() != 2) return not_supported("needs two types");
  const Type coordinate = i.types[1];
  if (coordinate != T::F32 && coordinate != T::S32) return not_supported("coordinate type");
  if (i.vector_width != (i.types[0] == T::F16x2 ? 2 : 4)) return not_supported("vector width");
  const bool is_cube = i.has(M::Cube) || i.has(M::Acube);
  if (is_cube && coordinate != T::F32) return not_supported("coordinate type");
  if (i.opcode == O::Tld4 && (i.has(M::D1) || i.has(M::D3) || i.has(M::A1D) || coordinate != T::F32))
    return not_supported("geometry");
  const std::size_t least = i.has(M::Grad) ? 4 : i.has(M::Level) ? 3 : 2;
  if (i.operands.size() < least) return not_supported("operands");
  const bool has_offset = i.operands.size() == least + 1 && i.operands.back().kind == Operand::Kind::Vector;
  if (i.operands.size() > least && (!has_offset || is_cube)) return not_supported("depth comparison");
  return texel_object(i, 1, 2);
}

Result<void> surface_access(const Instruction& i) {
  if (!i.spaces.empty()) return not_supported("state space");
  if (i.has(M::Cube) || i.has(M::Acube)) return not_supported("geometry");
  if (!i.has(M::B) && !i.has(M::P)) return not_supported("needs .b or .p");
  if (i.opcode == O::Sust && i.has(M::P) && i.type() != T::B32) return not_supported("type");
  if (i.opcode == O::Sured) {
    if (i.vector_width != 1) return not_supported("vector");
    const bool logical = i.has(M::And) || i.has(M::Or);
    if (!logical && !i.has(M::Add) && !i.has(M::Min) && !i.has(M::Max)) return not_supported("operation");
    // .p takes plain bits, and the texels say what they mean.
    if ((logical || i.has(M::P)) != is_bits(i.type())) return not_supported("type");
  }
  if (Result<void> met = vector_access(i); !met) return met;
  return texel_object(i, i.opcode == O::Suld ? 1 : 0, 2);
}

Result<void> texel_query(const Instruction& i) {
  if (!i.spaces.empty()) return not_supported("state space");
  if (i.modifiers.size() != (i.has(M::Level) ? 2U : 1U)) return not_supported("attribute");
  if (i.operands.size() != (i.has(M::Level) ? 3U : 2U)) return not_supported("operands");
  return texel_object(i, 1, 1);
}

Result<void> memory_barrier(const Instruction& i) {
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared}); !met) return met;
  const bool names_object = i.has(M::TensormapGeneric) && i.has(M::Acquire);
  if (i.operands.size() != (names_object ? 2U : 0U)) return not_supported("operands");
  const bool restricts = i.has(M::SyncRestrictSharedCta) || i.has(M::SyncRestrictSharedCluster);
  return require(i.has(M::Proxy) || i.has(M::MbarrierInit) || restricts, "form");
}

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

Result<void> cluster_address(const Instruction& i) {
  if (i.vector_width != 1) return not_supported("vector");
  if (i.spaces.empty() && i.type() != T::U64) return not_supported("a generic address of 32 bits");
  return spaces_one_of(i, {Space::Shared});
}

Result<void> cluster_barrier(const Instruction& i) {
  if (!i.has(M::Cluster) || i.has(M::Arrive) == i.has(M::Wait)) return not_supported("form");
  const bool relaxes_wait = i.has(M::Wait) && i.has(M::Relaxed);
  return require(!i.has(i.has(M::Arrive) ? M::Acquire : M::Release) && !relaxes_wait, "semantics");
}

Result<void> any_space(const Instruction&) { return {}; }

}  // namespace cucore::cpu::analysis::requirements
