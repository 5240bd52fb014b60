// Names of registers, variables and labels by block: see name_scopes.hpp.
#include "cpu/ptx/syntax/name_scopes.hpp"

#include <charconv>
#include <utility>

namespace cucore::cpu::ptx {

bool NameScopes::declare(std::string_view name, Entity entity) {
  Scope& scope = scopes_.back();
  if (find_range(scope, name) != nullptr) return false;
  return scope.names.emplace(name, entity).second;
}

bool NameScopes::declare(const RegisterRange& range) {
  return scopes_.back().ranges.emplace(range.prefix, range).second;
}

const RegisterRange* NameScopes::find_range(const Scope& scope, std::string_view name) {
  if (scope.ranges.empty()) return nullptr;
  // The prefix may itself end in digits, so every way to split the trailing digits is tried: ten at most.
  std::size_t split = name.size();
  while (split > 0 && name.size() - split < 10 && name[split - 1] >= '0' && name[split - 1] <= '9') {
    --split;
    const auto found = scope.ranges.find(name.substr(0, split));
    if (found == scope.ranges.end()) continue;
    std::uint64_t number = 0;
    std::from_chars(name.data() + split, name.data() + name.size(), number);
    const bool canonical = name.size() - split == 1 || name[split] != '0';
    if (canonical && number < found->second.count) return &found->second;
  }
  return nullptr;
}

std::optional<Entity> NameScopes::find(std::string_view name, std::vector<Register>& registers) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    if (const RegisterRange* range = find_range(*scope, name)) {
      const Entity entity{Entity::Kind::Register, static_cast<std::uint32_t>(registers.size())};
      registers.push_back({name, range->type, range->vector_width});
      scope->names.emplace(name, entity);
      return entity;
    }
  }
  return std::nullopt;
}

std::optional<Entity> NameScopes::find_innermost(std::string_view name) const {
  const auto found = scopes_.back().names.find(name);
  if (found == scopes_.back().names.end()) return std::nullopt;
  return found->second;
}

void NameScopes::pass_outwards(std::vector<LabelUse> uses) {
  std::vector<LabelUse>& outer = scopes_[scopes_.size() - 2].label_uses;
  if (outer.empty()) {
    outer = std::move(uses);
  } else {
    outer.insert(outer.end(), uses.begin(), uses.end());
  }
}

}  // namespace cucore::cpu::ptx
