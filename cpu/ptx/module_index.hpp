// Where the items of a large module lie in its text, found without reading their bodies, and excerpts of it that can be
// parsed alone: a kernel with all that it names, or the module's variables.
//
//   const std::optional<ModuleIndex> index = ModuleIndex::of(text);   // none: parse the text whole
//   const Excerpt excerpt = index->kernel("reduce");
//   ParseResult parsed = parse(excerpt);                              // positions are those of the whole text
//
// An excerpt keeps the order of the module, and has every item whose name an item in it spells, so names in it mean
// what they mean in the module. What a call through a register may lead to is not spelt: such a kernel needs the whole
// text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

class ModuleIndex {
 public:
  /// One pass over the text, which ends at its first NUL and must outlive the index. None if something stands in it
  /// that is wrong, or that excerpts could not show: what is wrong with it, parsing the whole text says.
  static std::optional<ModuleIndex> of(std::string_view text);

  /// Kernels with bodies, in the order of Module::functions.
  std::vector<std::string_view> kernels() const;

  /// All variables of module scope, in the order of Module::variables. What their initialisers name is there, functions
  /// with empty bodies.
  Excerpt variables() const;

  /// The kernel and all that it reaches. Without the kernel if the module has none of that name. Long initial values
  /// that name nothing are left out: those of the same variables in variables() are to be taken.
  Excerpt kernel(std::string_view name) const;

 private:
  friend class IndexPass;

  enum class Kind : std::uint8_t { Directive, Alias, Function, Variable };
  struct Item {
    Kind kind = Kind::Directive;
    bool is_entry = false;
    bool has_body = false;
    std::size_t begin = 0;  ///< offsets in the text
    std::size_t rest = 0;   ///< what may be left out: a body, from its `{`; a long value, from its `=`; 0: nothing
    std::size_t end = 0;
    Position position;
  };
  using Number = std::uint32_t;           ///< of an item
  using Chosen = std::map<Number, bool>;  ///< items of an excerpt; true: without their rest

  ModuleIndex() = default;
  bool add(const Item& item, const std::vector<std::string_view>& names);
  std::string_view text_of(const Item& item) const { return text_.substr(item.begin, item.end - item.begin); }
  Chosen choose(std::vector<Number> items, Kind shortened) const;
  Excerpt excerpt(std::vector<Number> items, Kind shortened) const;

  std::string_view text_;
  std::vector<Item> items_;
  std::vector<Number> directives_;
  std::unordered_map<std::string_view, std::vector<Number>> by_name_;
  std::vector<std::string_view> entries_;  ///< in the order of their first declarations
};

}  // namespace cucore::cpu::ptx
