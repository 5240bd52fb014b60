// What a piece of code is: the kinds of source a Program takes and the kinds of compiled code an ObjectCode holds.
//
// Both are small values that come from a constant or, case-insensitively, from the word used in Python:
//   CodeType t = CodeType::cubin;    CodeType u = "CUBIN";    t == u;    t.name() == "cubin"
// An unknown word throws ValueError with the list of known ones.
#pragma once

#include <cstdint>
#include <string_view>

#include "cucore/export.hpp"

namespace cucore {

/// The kind of source text a Program is made from.
class SourceType {
 public:
  enum Value : std::uint8_t { cxx, ptx, nvvm };

  constexpr SourceType(Value value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// From "c++", "ptx" or "nvvm" in any case. Throws ValueError.
  CUCORE_API SourceType(std::string_view word);                         // NOLINT(google-explicit-constructor)
  SourceType(const char* word) : SourceType(std::string_view(word)) {}  // NOLINT(google-explicit-constructor)

  constexpr Value value() const noexcept { return value_; }
  /// "c++", "ptx" or "nvvm".
  CUCORE_API std::string_view name() const noexcept;

  friend constexpr bool operator==(SourceType a, SourceType b) noexcept { return a.value_ == b.value_; }

 private:
  Value value_;
};

/// The kind of compiled code an ObjectCode holds, and the target of Program::compile.
class CodeType {
 public:
  enum Value : std::uint8_t { ptx, cubin, ltoir, fatbin, object, library };

  constexpr CodeType(Value value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// From "ptx", "cubin", "ltoir", "fatbin", "object" or "library" in any case. Throws ValueError.
  CUCORE_API CodeType(std::string_view word);                       // NOLINT(google-explicit-constructor)
  CodeType(const char* word) : CodeType(std::string_view(word)) {}  // NOLINT(google-explicit-constructor)

  constexpr Value value() const noexcept { return value_; }
  /// The word, as above.
  CUCORE_API std::string_view name() const noexcept;
  /// Whether the driver can load it as it is: ptx, cubin and fatbin. The others are input for the linker.
  constexpr bool is_loadable() const noexcept { return value_ == ptx || value_ == cubin || value_ == fatbin; }

  friend constexpr bool operator==(CodeType a, CodeType b) noexcept { return a.value_ == b.value_; }

 private:
  Value value_;
};

}  // namespace cucore
