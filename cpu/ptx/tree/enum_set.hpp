// Constant sets of enumerators: types and modifiers that an instruction may have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

template <typename Enum, std::size_t Capacity>
class EnumSet {
 public:
  constexpr EnumSet(std::initializer_list<Enum> members) {
    for (const Enum member : members) insert(member);
  }
  constexpr void insert(Enum member) {
    const auto index = static_cast<std::size_t>(member);
    words_[index / 64] |= std::uint64_t{1} << index % 64;
  }
  constexpr bool contains(Enum member) const {
    const auto index = static_cast<std::size_t>(member);
    return (words_[index / 64] >> index % 64 & 1) != 0;
  }
  constexpr bool empty() const { return words_ == std::array<std::uint64_t, Capacity / 64>{}; }
  friend constexpr EnumSet operator|(EnumSet a, const EnumSet& b) {
    for (std::size_t i = 0; i < a.words_.size(); ++i) a.words_[i] |= b.words_[i];
    return a;
  }

 private:
  std::array<std::uint64_t, Capacity / 64> words_{};
};

using TypeSet = EnumSet<Type, 128>;
using ModifierSet = EnumSet<Modifier, 1024>;

}  // namespace cucore::cpu::ptx
