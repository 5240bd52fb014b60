#include "cpu/codegen/instruction_table.hpp"

#include <algorithm>

#include "cpu/codegen/generators.hpp"
#include "cpu/codegen/special_registers.hpp"

namespace cucore::cpu::codegen {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using ptx::TypeKind;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

namespace {

// Types by the groups in which instructions accept them.
constexpr TypeSet none{};
constexpr TypeSet int16{T::U16, T::S16};
constexpr TypeSet int32{T::U32, T::S32};
constexpr TypeSet int64{T::U64, T::S64};
constexpr TypeSet integers = int16 | int32 | int64;
constexpr TypeSet signed_integers{T::S16, T::S32, T::S64};
constexpr TypeSet packed16{T::U16x2, T::S16x2};
constexpr TypeSet bits{T::B16, T::B32, T::B64};
constexpr TypeSet bits32{T::B32, T::B64};
constexpr TypeSet floats{T::F32, T::F64};
constexpr TypeSet halves{T::F16, T::F16x2, T::Bf16, T::Bf16x2};
constexpr TypeSet predicate{T::Pred};
constexpr TypeSet bytes{T::B8, T::U8, T::S8};
constexpr TypeSet in_memory = bytes | bits | integers | floats | TypeSet{T::F16, T::Bf16, T::F16x2, T::Bf16x2};

// Modifiers likewise.
constexpr ModifierSet plain{};
constexpr ModifierSet rounding{M::Rn, M::Rz, M::Rm, M::Rp};
constexpr ModifierSet comparison{M::Eq, M::Ne,  M::Lt,  M::Le,  M::Gt,  M::Ge,  M::Lo,  M::Ls,  M::Hi,
                                 M::Hs, M::Equ, M::Neu, M::Ltu, M::Leu, M::Gtu, M::Geu, M::Num, M::Nan};
constexpr ModifierSet combination{M::And, M::Or, M::Xor};
constexpr ModifierSet scopes{M::Cta, M::Cluster, M::Gpu, M::Sys};
constexpr ModifierSet cache_hints{M::Ca,
                                  M::Cg,
                                  M::Cs,
                                  M::Lu,
                                  M::Cv,
                                  M::Wb,
                                  M::Wt,
                                  M::Nc,
                                  M::L1EvictNormal,
                                  M::L1EvictUnchanged,
                                  M::L1EvictFirst,
                                  M::L1EvictLast,
                                  M::L1NoAllocate,
                                  M::L2EvictNormal,
                                  M::L2EvictUnchanged,
                                  M::L2EvictFirst,
                                  M::L2EvictLast,
                                  M::L2CacheHint,
                                  M::L2Prefetch64B,
                                  M::L2Prefetch128B,
                                  M::L2Prefetch256B};
constexpr ModifierSet load_order{M::Weak, M::Volatile, M::Relaxed, M::Acquire, M::Mmio};
constexpr ModifierSet store_order{M::Weak, M::Volatile, M::Relaxed, M::Release, M::Mmio};
constexpr ModifierSet atomic_order{M::Relaxed, M::Acquire, M::Release, M::AcqRel};
constexpr ModifierSet atomic_operation{M::Add, M::Min, M::Max, M::Inc, M::Dec, M::And, M::Or, M::Xor, M::Exch, M::Cas};

// Refusals: what the sets above cannot say.

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

bool is_half(Type type) { return type == T::F16 || type == T::Bf16; }
bool is_packed_half(Type type) { return type == T::F16x2 || type == T::Bf16x2; }
bool is_integer(Type type) { return kind_of(type) == TypeKind::Unsigned || kind_of(type) == TypeKind::Signed; }

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

const char* move(const Instruction& i) {
  const bool has_predicate = i.type() == T::Pred;
  return has_predicate && i.operands[1].kind == Operand::Kind::Vector ? "vector of predicates" : nullptr;
}

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
  if (i.vector_width != 1) return "vector";
  const Type type = i.type();
  const bool is_bits = kind_of(type) == TypeKind::Bits;
  const bool cas = i.has(M::Cas);
  const bool exchange = i.has(M::Exch);
  if (type == T::B16 && !cas) return "type .b16";
  if (i.has(M::Inc) || i.has(M::Dec)) {
    if (type != T::U32) return "type";
  } else if (i.has(M::Add)) {
    if (is_bits || (type == T::S64)) return "type";
  } else if (i.has(M::Min) || i.has(M::Max)) {
    if (!is_integer(type)) return "type";
  } else if (!is_bits) {
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
  if (i.vector_width != 1) return "vector";
  if (!i.has(M::Add)) return "operation of a half";
  return cache_policy_operand(i, i.opcode == O::Atom ? 3 : 2);
}

const char* half_set(const Instruction& i) {
  if (i.types.size() != 2) return "needs two types";
  if (is_packed_half(i.types[1]) != is_packed_half(i.types[0])) return "packed and scalar types together";
  return unpredicated_compare(i);
}

const char* any_space(const Instruction&) { return nullptr; }

constexpr ModifierSet ftz_sat{M::Ftz, M::Sat};

}  // namespace

const std::vector<Form>& instruction_table() {
  // clang-format off
  static const std::vector<Form> table{
      // integer arithmetic
      {O::Add, emit_integer_add, 3, 3, integers | packed16, {M::Sat}, saturating_add},
      {O::Sub, emit_integer_sub, 3, 3, integers, {M::Sat}, saturating_add},
      {O::Mul, emit_integer_mul, 3, 3, integers, {M::Lo, M::Hi, M::Wide}, integer_multiply},
      {O::Mad, emit_integer_mad, 4, 4, integers, {M::Lo, M::Hi, M::Wide, M::Sat}, integer_multiply},
      {O::Mul24, emit_mul24, 3, 3, int32, {M::Lo, M::Hi}, lacks_half},
      {O::Mad24, emit_mul24, 4, 4, int32, {M::Lo, M::Hi}, lacks_half},
      {O::Div, emit_integer_div, 3, 3, integers, plain},
      {O::Rem, emit_integer_rem, 3, 3, integers, plain},
      {O::Abs, emit_integer_abs, 2, 2, signed_integers, plain},
      {O::Neg, emit_integer_neg, 2, 2, signed_integers, plain},
      {O::Min, emit_integer_min_max, 3, 3, integers | packed16, {M::Relu}, relu_min_max},
      {O::Max, emit_integer_min_max, 3, 3, integers | packed16, {M::Relu}, relu_min_max},
      {O::Sad, emit_sad, 4, 4, integers, plain},
      {O::Dp4a, emit_dot_product, 4, 4, int32, plain, two_types},
      {O::Dp2a, emit_dot_product, 4, 4, int32, {M::Lo, M::Hi}, two_types},

      // carry chains
      {O::Add, emit_add_carry, 3, 3, int32 | int64, {M::Cc}},
      {O::Addc, emit_add_carry, 3, 3, int32 | int64, {M::Cc}},
      {O::Sub, emit_sub_borrow, 3, 3, int32 | int64, {M::Cc}},
      {O::Subc, emit_sub_borrow, 3, 3, int32 | int64, {M::Cc}},
      {O::Mad, emit_mad_carry, 4, 4, int32 | int64, {M::Lo, M::Hi, M::Cc}, lacks_half},
      {O::Madc, emit_mad_carry, 4, 4, int32 | int64, {M::Lo, M::Hi, M::Cc}, lacks_half},

      // floating point
      {O::Add, emit_float_arithmetic, 3, 3, floats, rounding | ftz_sat, single_precision_modifiers},
      {O::Sub, emit_float_arithmetic, 3, 3, floats, rounding | ftz_sat, single_precision_modifiers},
      {O::Mul, emit_float_arithmetic, 3, 3, floats, rounding | ftz_sat, single_precision_modifiers},
      {O::Fma, emit_float_arithmetic, 4, 4, floats, rounding | ftz_sat, rounded},
      {O::Mad, emit_float_arithmetic, 4, 4, floats, rounding | ftz_sat, rounded},
      {O::Div, emit_float_arithmetic, 3, 3, floats, rounding | ModifierSet{M::Ftz}, rounded},
      {O::Rcp, emit_float_arithmetic, 2, 2, floats, rounding | ModifierSet{M::Ftz}, rounded},
      {O::Sqrt, emit_float_arithmetic, 2, 2, floats, rounding | ModifierSet{M::Ftz}, rounded},
      {O::Abs, emit_float_abs, 2, 2, floats, {M::Ftz}, single_precision_modifiers},
      {O::Neg, emit_float_neg, 2, 2, floats, {M::Ftz}, single_precision_modifiers},
      {O::Min, emit_float_min_max, 3, 4, floats, {M::Ftz, M::NaN, M::Xorsign, M::Abs}, float_min_max},
      {O::Max, emit_float_min_max, 3, 4, floats, {M::Ftz, M::NaN, M::Xorsign, M::Abs}, float_min_max},
      {O::Copysign, emit_copysign, 3, 3, floats, plain},
      {O::Testp, emit_testp, 2, 2, floats, {M::Finite, M::Infinite, M::Number, M::Notanumber, M::Normal, M::Subnormal}},

      // halves: scalar and packed
      {O::Add, emit_half_arithmetic, 3, 3, halves, {M::Rn, M::Ftz, M::Sat}},
      {O::Sub, emit_half_arithmetic, 3, 3, halves, {M::Rn, M::Ftz, M::Sat}},
      {O::Mul, emit_half_arithmetic, 3, 3, halves, {M::Rn, M::Ftz, M::Sat}},
      {O::Fma, emit_half_arithmetic, 4, 4, halves, {M::Rn, M::Ftz, M::Sat, M::Relu}},
      {O::Abs, emit_half_arithmetic, 2, 2, halves, {M::Ftz}},
      {O::Neg, emit_half_arithmetic, 2, 2, halves, {M::Ftz}},
      {O::Min, emit_half_arithmetic, 3, 3, halves, {M::Ftz, M::NaN}},
      {O::Max, emit_half_arithmetic, 3, 3, halves, {M::Ftz, M::NaN}},

      // functions with a stated error
      {O::Div, emit_approximate, 3, 3, floats, {M::Approx, M::Full, M::Ftz}, approximate},
      {O::Rcp, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Sqrt, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Rsqrt, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Ex2, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Lg2, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Sin, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Cos, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Tanh, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, approximate},
      {O::Ex2, emit_approximate_half, 2, 2, halves, {M::Approx, M::Ftz}},
      {O::Tanh, emit_approximate_half, 2, 2, halves, {M::Approx}},

      // comparison and selection
      {O::Setp, emit_setp, 3, 4, integers | bits | floats | TypeSet{T::F16, T::Bf16},
       comparison | combination | ModifierSet{M::Ftz}, unpredicated_compare},
      {O::Setp, emit_setp_packed, 3, 4, {T::F16x2, T::Bf16x2}, comparison | combination | ModifierSet{M::Ftz},
       unpredicated_compare},
      {O::Set, emit_set, 3, 4, integers | bits | floats, comparison | combination | ModifierSet{M::Ftz}, set_types},
      {O::Set, emit_set_half, 3, 4, int32 | halves, comparison | combination | ModifierSet{M::Ftz}, half_set},
      {O::Selp, emit_selp, 4, 4, integers | bits | floats, plain},
      {O::Slct, emit_slct, 4, 4, integers | bits | floats, {M::Ftz}, slct_types},

      // bits
      {O::And, emit_logic, 3, 3, bits | predicate, plain},
      {O::Or, emit_logic, 3, 3, bits | predicate, plain},
      {O::Xor, emit_logic, 3, 3, bits | predicate, plain},
      {O::Not, emit_not, 2, 2, bits | predicate, plain},
      {O::Cnot, emit_cnot, 2, 2, bits, plain},
      {O::Lop3, emit_lop3, 5, 5, {T::B32}, plain},
      {O::Shl, emit_shift, 3, 3, bits, plain},
      {O::Shr, emit_shift, 3, 3, bits | integers, plain},
      {O::Shf, emit_funnel_shift, 4, 4, {T::B32}, {M::L, M::R, M::Clamp, M::Wrap}},
      {O::Popc, emit_count, 2, 2, bits32, plain},
      {O::Clz, emit_count, 2, 2, bits32, plain},
      {O::Brev, emit_brev, 2, 2, bits32, plain},
      {O::Bfind, emit_bfind, 2, 2, int32 | int64, {M::Shiftamt}},
      {O::Bfe, emit_bfe, 4, 4, int32 | int64, plain},
      {O::Bfi, emit_bfi, 5, 5, bits32, plain},
      {O::Bmsk, emit_bmsk, 3, 3, {T::B32}, {M::Clamp, M::Wrap}},
      {O::Szext, emit_szext, 3, 3, int32, {M::Clamp, M::Wrap}},
      {O::Prmt, emit_prmt, 4, 4, {T::B32}, {M::F4e, M::B4e, M::Rc8, M::Ecl, M::Ecr, M::Rc16}},

      // data movement and conversion
      {O::Mov, emit_mov, 2, 2, integers | bits | floats | predicate, plain, move},
      {O::Cvt, emit_cvt, 2, 3, integers | TypeSet{T::U8, T::S8} | floats | halves,
       rounding | ModifierSet{M::Rni, M::Rzi, M::Rmi, M::Rpi, M::Ftz, M::Sat, M::Relu}, conversion},
      {O::Cvt, emit_cvt_tf32, 2, 2, {T::Tf32, T::F32}, {M::Rna}, two_types},
      {O::Cvta, emit_cvta, 2, 2, {T::U64}, {M::To}, address_conversion, true},
      {O::Isspacep, emit_isspacep, 2, 2, none, plain, space_test, true},

      // memory
      {O::Ld, emit_ld, 2, 3, in_memory, load_order | cache_hints | scopes, load, true},
      {O::Ldu, emit_ld, 2, 2, in_memory, plain, load, true},
      {O::St, emit_st, 2, 3, in_memory, store_order | cache_hints | scopes, store, true},
      {O::Cp, emit_cp_async, 0, 5, none,
       cache_hints | ModifierSet{M::Async, M::CommitGroup, M::WaitGroup, M::WaitAll}, asynchronous_copy, true},
      {O::Membar, emit_fence, 0, 0, none, {M::Cta, M::Gl, M::Sys}},
      {O::Fence, emit_fence, 0, 0, none, scopes | ModifierSet{M::Sc, M::AcqRel, M::Acquire, M::Release}},
      {O::Prefetch, emit_nothing, 1, 1, none, cache_hints | ModifierSet{M::L1, M::L2}, any_space, true},
      {O::Prefetchu, emit_nothing, 1, 1, none, {M::L1}, any_space, true},
      {O::Applypriority, emit_nothing, 2, 2, none, cache_hints, any_space, true},
      {O::Discard, emit_nothing, 2, 2, none, {M::L2}, any_space, true},
      {O::Atom, emit_atomic, 3, 5, integers | bits | floats, atomic_order | scopes | atomic_operation | cache_hints,
       atomic, true},
      {O::Red, emit_atomic, 2, 3, integers | bits | floats, atomic_order | scopes | atomic_operation | cache_hints,
       atomic, true},
      {O::Atom, emit_atomic_half, 3, 4, halves, atomic_order | scopes | cache_hints | ModifierSet{M::Add, M::Noftz},
       half_atomic, true},
      {O::Red, emit_atomic_half, 2, 3, halves, atomic_order | scopes | cache_hints | ModifierSet{M::Add, M::Noftz},
       half_atomic, true},

      // control flow
      {O::Bra, emit_bra, 1, 1, none, {M::Uni}},
      {O::Brx, emit_brx, 2, 2, none, {M::Idx, M::Uni}},
      {O::Call, emit_call, 1, 4, none, {M::Uni}, call},
      {O::Ret, emit_ret, 0, 0, none, {M::Uni}},
      {O::Exit, emit_exit, 0, 0, none, plain},
      {O::Trap, emit_trap, 0, 0, none, plain},
      {O::Brkpt, emit_trap, 0, 0, none, plain},
      {O::Pmevent, emit_nothing, 1, 1, none, {M::Mask}},
      {O::Nanosleep, emit_nanosleep, 1, 1, {T::U32}, plain},
      {O::Griddepcontrol, emit_nothing, 0, 0, none, {M::LaunchDependents, M::Wait}},

      // blocks and warps
      {O::Bar, emit_barrier, 1, 4, {T::U32, T::Pred},
       {M::Cta, M::Warp, M::Sync, M::Arrive, M::Red, M::Popc, M::And, M::Or}, barrier},
      {O::Barrier, emit_barrier, 1, 4, {T::U32, T::Pred},
       {M::Cta, M::Sync, M::Aligned, M::Arrive, M::Red, M::Popc, M::And, M::Or}, barrier},
      {O::Shfl, emit_shfl, 5, 5, {T::B32}, {M::Sync, M::Up, M::Down, M::Bfly, M::Idx}, shuffle},
      {O::Vote, emit_vote, 3, 3, {T::B32, T::Pred}, {M::Sync, M::All, M::Any, M::Uni, M::Ballot}, vote},
      {O::Activemask, emit_activemask, 1, 1, {T::B32}, plain},
      {O::Redux, emit_redux, 3, 3, int32 | TypeSet{T::B32},
       {M::Sync, M::Add, M::Min, M::Max, M::And, M::Or, M::Xor}, reduction},
      {O::Match, emit_match, 3, 3, bits32, {M::Sync, M::Any, M::All}, shuffle},
      {O::Elect, emit_elect, 2, 2, none, {M::Sync}, shuffle},
  };
  // clang-format on
  return table;
}

namespace {

/// Why `form` does not accept `instruction`; empty if it does. `rank` grows with how far the check came, so that the
/// best of several refusals is reported.
std::string why_not(const Form& form, const Instruction& instruction, int& rank) {
  rank = 0;
  for (Type type : instruction.types) {
    if (!form.types.contains(type)) return "type ." + std::string(ptx::spelling(type));
  }
  rank = 1;
  for (M modifier : instruction.modifiers) {
    if (!form.modifiers.contains(modifier)) return "modifier ." + std::string(ptx::spelling(modifier));
  }
  rank = 2;
  const std::size_t operands = instruction.operands.size();
  if (operands < form.least_operands || operands > form.most_operands) return "number of operands";
  if (!form.accesses_memory) {
    if (!instruction.spaces.empty()) return "state space";
    if (instruction.vector_width != 1) return "vector width";
  }
  if (form.refusal != nullptr) {
    if (const char* why = form.refusal(instruction)) return why;
  }
  return {};
}

std::string unreadable_operand(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (operand.kind == Operand::Kind::Special && !find_special(operand.special)) {
      return "special register " + std::string(operand.special.name);
    }
    if (std::string why = unreadable_operand(operand.elements); !why.empty()) return why;
  }
  return {};
}

/// Rows by opcode: the table lists an opcode in several families.
const std::vector<std::vector<const Form*>>& forms_by_opcode() {
  static const std::vector<std::vector<const Form*>> index = [] {
    std::vector<std::vector<const Form*>> rows;
    for (const Form& form : instruction_table()) {
      const auto opcode = static_cast<std::size_t>(form.opcode);
      if (rows.size() <= opcode) rows.resize(opcode + 1);
      rows[opcode].push_back(&form);
    }
    return rows;
  }();
  return index;
}

}  // namespace

Coverage find_form(const Instruction& instruction) {
  const auto opcode = static_cast<std::size_t>(instruction.opcode);
  const auto& index = forms_by_opcode();
  if (opcode >= index.size() || index[opcode].empty()) return {.form = nullptr, .reason = "opcode"};
  Coverage best;
  int best_rank = -1;
  for (const Form* form : index[opcode]) {
    int rank = 0;
    std::string why = why_not(*form, instruction, rank);
    if (why.empty()) {
      why = unreadable_operand(instruction.operands);
      if (why.empty()) return {.form = form, .reason = {}};
      return {.form = nullptr, .reason = std::move(why)};
    }
    if (rank > best_rank) {
      best_rank = rank;
      best.reason = std::move(why);
    }
  }
  return best;
}

}  // namespace cucore::cpu::codegen
