// Names in force while a module is parsed: module scope, then one scope for each open `{`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// What a name stands for: `index` is an id of the table that `kind` names.
struct Entity {
  enum class Kind : std::uint8_t {
    Register,
    FunctionVariable,
    ModuleVariable,
    Function,
    Label,
    Prototype,
    TargetList,
  };
  Kind kind{};
  std::uint32_t index = 0;
};

/// `%r<8>`: eight registers that come into being when they are first used, so that a large count costs nothing.
struct RegisterRange {
  std::string_view prefix;
  std::uint64_t count = 0;
  Type type{};
  std::uint8_t vector_width = 1;
};

/// A use of a label that is resolved when its scope closes, because labels may be used before they stand.
struct LabelUse {
  std::string_view name;
  Position position;
  bool in_target_list = false;  ///< else in operand 0 of an instruction
  std::uint32_t index = 0;      ///< of the instruction or target list
  std::uint32_t element = 0;    ///< of the target list
};

class NameScopes {
 public:
  NameScopes() : scopes_(1) {}

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }

  /// False if the innermost scope has the name already.
  bool declare(std::string_view name, Entity entity);
  bool declare(const RegisterRange& range);

  /// The entity of the innermost scope that has the name. A register of a range that was not used before is added to
  /// `registers` first.
  std::optional<Entity> find(std::string_view name, std::vector<Register>& registers);

  /// Same, in the innermost scope and among named entities only.
  std::optional<Entity> find_innermost(std::string_view name) const;

  std::vector<LabelUse>& label_uses() { return scopes_.back().label_uses; }
  /// The label uses of the innermost scope, handed to the scope around it.
  void pass_outwards(std::vector<LabelUse> uses);

 private:
  struct Scope {
    std::unordered_map<std::string_view, Entity> names;
    std::unordered_map<std::string_view, RegisterRange> ranges;  ///< by prefix
    std::vector<LabelUse> label_uses;
  };

  static const RegisterRange* find_range(const Scope& scope, std::string_view name);

  std::vector<Scope> scopes_;
};

}  // namespace cucore::cpu::ptx
