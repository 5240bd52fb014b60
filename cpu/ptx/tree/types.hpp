// PTX types: what types.def says of each, and the groups of them that instructions treat alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// The untyped one of a size: `.b8` to `.b128`.
constexpr std::optional<Type> untyped_of(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return Type::B8;
    case 2:
      return Type::B16;
    case 4:
      return Type::B32;
    case 8:
      return Type::B64;
    case 16:
      return Type::B128;
    default:
      return std::nullopt;
  }
}

/// The type of a `.wide` product of such factors: an integer of twice their width. Other types are unchanged.
constexpr Type doubled(Type type) {
  switch (type) {
    case Type::U16:
      return Type::U32;
    case Type::S16:
      return Type::S32;
    case Type::U32:
      return Type::U64;
    case Type::S32:
      return Type::S64;
    default:
      return type;
  }
}

/// One number of 16 bits.
constexpr bool is_half(Type type) { return type == Type::F16 || type == Type::Bf16; }
constexpr bool is_packed_half(Type type) { return type == Type::F16x2 || type == Type::Bf16x2; }

}  // namespace cucore::cpu::ptx
