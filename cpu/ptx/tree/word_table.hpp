// Words found by their spelling: hash tables that the compiler fills, since a process that loads one small kernel would
// take longer to fill them than to parse the kernel. And the two tables of PTX, mnemonics and what may follow them, for
// words.cpp and for lists of words that the compiler reads.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::ptx {

/// The words `spelling_of(0)` to `spelling_of(count - 1)`. An empty one is not found, nor one that is spelt as an
/// earlier one. It holds numbers only: pointers would have to be relocated in each process.
template <std::size_t count, std::string_view (*spelling_of)(std::size_t)>
class WordTable {
 public:
  consteval WordTable() {
    for (std::size_t word = 0; word < count; ++word) {
      if (spelling_of(word).empty() || find(spelling_of(word)) != count) continue;
      std::size_t slot = first_slot(spelling_of(word));
      while (slots_[slot] != 0) slot = next(slot);
      slots_[slot] = static_cast<std::uint16_t>(word + 1);
    }
  }
  /// The word's number; `count` if there is none.
  constexpr std::size_t find(std::string_view spelling) const {
    for (std::size_t slot = first_slot(spelling); slots_[slot] != 0; slot = next(slot))
      if (const std::size_t word = slots_[slot] - 1u; spelling_of(word) == spelling) return word;
    return count;
  }

 private:
  static constexpr std::size_t slot_count = std::bit_ceil(2 * count);

  /// By FNV-1a.
  static constexpr std::size_t first_slot(std::string_view spelling) {
    std::uint32_t hash = 2166136261;
    for (const char letter : spelling) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619;
    return (hash ^ hash >> 15) % slot_count;
  }
  static constexpr std::size_t next(std::size_t slot) { return (slot + 1) % slot_count; }

  std::array<std::uint16_t, slot_count> slots_{};  ///< a word's number and one; 0: free
};

inline constexpr std::string_view opcode_spellings[] = {
#define PTX_OPCODE(enumerator, spelling) spelling,
#include "cpu/ptx/tree/opcodes.def"
#undef PTX_OPCODE
};

inline constexpr std::string_view modifier_spellings[] = {
#define PTX_MODIFIER(enumerator, spelling) spelling,
#include "cpu/ptx/tree/modifiers.def"
#undef PTX_MODIFIER
};

struct SpaceWord {
  std::string_view spelling;
  Space space;
  SubSpace subspace;
};

inline constexpr SpaceWord space_words[] = {
    {"const", Space::Const, SubSpace::None},
    {"global", Space::Global, SubSpace::None},
    {"local", Space::Local, SubSpace::None},
    {"param", Space::Param, SubSpace::None},
    {"param::entry", Space::Param, SubSpace::Entry},
    {"param::func", Space::Param, SubSpace::Func},
    {"shared", Space::Shared, SubSpace::None},
    {"shared::cta", Space::Shared, SubSpace::Cta},
    {"shared::cluster", Space::Shared, SubSpace::Cluster},
};

struct VectorWord {
  std::string_view spelling;
  std::uint8_t width;
};

inline constexpr VectorWord vector_words[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};

/// What may follow a mnemonic, by number: modifiers, types, spaces, vector widths.
class DotWords {
 public:
  static constexpr std::size_t first_type = std::size(modifier_spellings);
  static constexpr std::size_t first_space = first_type + std::size(type_rows);
  static constexpr std::size_t first_vector = first_space + std::size(space_words);
  static constexpr std::size_t count = first_vector + std::size(vector_words);

  static constexpr std::string_view spelling_of(std::size_t word) {
    if (word < first_type) return modifier_spellings[word];
    if (word < first_space) return type_rows[word - first_type].spelling;
    if (word < first_vector) return space_words[word - first_space].spelling;
    return vector_words[word - first_vector].spelling;
  }
  static constexpr DotWordMeaning meaning_of(std::size_t word) {
    if (word < first_type)
      return {.kind = DotWordMeaning::Kind::Modifier, .modifier = static_cast<ptx::Modifier>(word)};
    if (word < first_space)
      return {.kind = DotWordMeaning::Kind::Type, .type = static_cast<ptx::Type>(word - first_type)};
    if (word < first_vector) {
      const SpaceWord& found = space_words[word - first_space];
      return {.kind = DotWordMeaning::Kind::Space, .space = found.space, .subspace = found.subspace};
    }
    return {.kind = DotWordMeaning::Kind::VectorWidth, .vector_width = vector_words[word - first_vector].width};
  }
};

constexpr std::string_view opcode_spelling(std::size_t opcode) { return opcode_spellings[opcode]; }
inline constexpr WordTable<std::size(opcode_spellings), opcode_spelling> opcode_words;

/// `b1` is found as a modifier, which the parser takes for the type where matrices are multiplied.
inline constexpr WordTable<DotWords::count, DotWords::spelling_of> dot_words;

constexpr std::optional<DotWordMeaning> meaning_of_dot_word(std::string_view spelling) {
  const std::size_t word = dot_words.find(spelling);
  return word == DotWords::count ? std::nullopt : std::optional(DotWords::meaning_of(word));
}

}  // namespace cucore::cpu::ptx
