// PTX types: what types.def says of each, and the groups of them that instructions treat alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cucore::cpu::ptx {

/// Fundamental, packed and opaque types: types.def gives spelling, size in bytes and kind.
enum class Type : std::uint8_t {
#define PTX_TYPE(enumerator, spelling, bytes, kind) enumerator,
#include "cpu/ptx/tree/types.def"
#undef PTX_TYPE
};

enum class TypeKind : std::uint8_t { None, Predicate, Bits, Unsigned, Signed, Float, Opaque };

struct TypeRow {
  std::string_view spelling;
  std::size_t bytes;
  TypeKind kind;
};

inline constexpr TypeRow type_rows[] = {
#define PTX_TYPE(enumerator, spelling, bytes, kind) {spelling, bytes, TypeKind::kind},
#include "cpu/ptx/tree/types.def"
#undef PTX_TYPE
};

constexpr std::string_view spelling(Type type) { return type_rows[static_cast<std::size_t>(type)].spelling; }
/// 0 for opaque types and predicates
constexpr std::size_t size_in_bytes(Type type) { return type_rows[static_cast<std::size_t>(type)].bytes; }
constexpr TypeKind kind_of(Type type) { return type_rows[static_cast<std::size_t>(type)].kind; }

constexpr bool is_bits(Type type) { return kind_of(type) == TypeKind::Bits; }
constexpr bool is_float(Type type) { return kind_of(type) == TypeKind::Float; }    ///< halves and packed ones too
constexpr bool is_signed(Type type) { return kind_of(type) == TypeKind::Signed; }  ///< packed ones too
constexpr bool is_opaque(Type type) { return kind_of(type) == TypeKind::Opaque; }

/// One number of 8 to 64 bits.
constexpr bool is_integer(Type type) {
  return (type >= Type::U8 && type <= Type::U64) || (type >= Type::S8 && type <= Type::S64);
}
constexpr bool is_packed_integer(Type type) { return type == Type::U16x2 || type == Type::S16x2; }

/// One number of 16 bits.
constexpr bool is_half(Type type) { return type == Type::F16 || type == Type::Bf16; }
constexpr bool is_packed_half(Type type) { return type == Type::F16x2 || type == Type::Bf16x2; }

}  // namespace cucore::cpu::ptx
