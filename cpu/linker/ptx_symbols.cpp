// Reading statements at module scope: up to ';', or over a body in braces.
#include "cpu/linker/ptx_symbols.hpp"

#include <optional>

#include "cpu/abi/device_calls.hpp"
#include "cpu/ptx/syntax/lexer.hpp"

namespace cucore::cpu::linker {

namespace {

using Linkage = PtxSymbols::Linkage;

std::optional<Linkage> linkage_of(const ptx::Token& token) {
  if (token.is_dot("visible")) return Linkage::Visible;
  if (token.is_dot("extern")) return Linkage::Extern;
  if (token.is_dot("weak") || token.is_dot("common")) return Linkage::Weak;
  return std::nullopt;
}

}  // namespace

PtxSymbols::PtxSymbols(std::string_view text) : text_(text) {
  ptx::Lexer lexer(text);
  const auto begin_of = [&](const ptx::Token& token) {
    const auto offset = static_cast<std::size_t>(token.text.data() - text.data());
    return token.kind == ptx::TokenKind::DotWord ? offset - 1 : offset;
  };
  Declaration now;
  bool started = false, is_function = false, is_variable = false, in_value = false;
  int braces = 0, parentheses = 0, brackets = 0;
  const auto finish = [&](std::size_t end) {
    now.end = end;
    if (!now.name.empty() && (is_function || is_variable)) {
      if (is_variable) now.defines = now.linkage != Linkage::Extern;
      declarations_.push_back(now);
    }
    now = {};
    started = is_function = is_variable = in_value = false;
    parentheses = brackets = 0;
  };
  for (ptx::Token token = lexer.next(); token.kind != ptx::TokenKind::End; token = lexer.next()) {
    if (token.kind == ptx::TokenKind::Integer || token.kind == ptx::TokenKind::Single ||
        token.kind == ptx::TokenKind::Double || token.kind == ptx::TokenKind::String) {
      continue;
    }
    const std::size_t begin = begin_of(token);
    const std::size_t end = begin + token.text.size() + (token.kind == ptx::TokenKind::DotWord ? 1 : 0);
    if (!started) {
      started = true;
      now.begin = begin;
    }
    const bool is_name = token.kind == ptx::TokenKind::Identifier;
    if (is_name) names_.push_back({token.text, begin});
    if (braces > 0 || in_value) {  // a body or a value
      if (is_name) references_.insert(token.text);
      if (token.is("{")) ++braces;
      if (token.is("}") && --braces == 0 && !in_value) finish(end);
      if (token.is(";") && braces == 0) finish(end);
      continue;
    }
    if (token.is("{")) {
      braces = 1;
      now.defines = is_function;
      now.definition_begin = begin;
    } else if (token.is(";")) {
      if (now.definition_begin == 0) now.definition_begin = begin;
      finish(end);
    } else if (token.is("=")) {
      in_value = true;
      now.definition_begin = begin;
    } else if (token.is("(")) {
      ++parentheses;
    } else if (token.is(")")) {
      --parentheses;
    } else if (token.is("[")) {
      ++brackets;
    } else if (token.is("]")) {
      --brackets;
    } else if (const auto linkage = linkage_of(token); linkage && parentheses == 0) {
      now.linkage = *linkage;
      now.linkage_begin = begin;
      now.linkage_end = end;
    } else if (parentheses == 0 && (token.is_dot("func") || token.is_dot("entry"))) {
      is_function = now.is_function = true;
      now.is_entry = token.is_dot("entry");
      now.name = {};
    } else if (parentheses == 0 && !is_function && (token.is_dot("global") || token.is_dot("const"))) {
      is_variable = true;
      now.name = {};
    } else if (is_name && parentheses == 0 && brackets == 0 && now.name.empty() && (is_function || is_variable)) {
      now.name = token.text;
    }
  }
}

std::vector<const PtxSymbols::Declaration*> PtxSymbols::unresolved() const {
  std::set<std::string_view> defined;
  for (const Declaration& declaration : declarations_)
    if (declaration.defines) defined.insert(declaration.name);
  std::vector<const Declaration*> found;
  for (const Declaration& declaration : declarations_)
    if (declaration.linkage == Linkage::Extern && !declaration.defines && references_.contains(declaration.name) &&
        !defined.contains(declaration.name) && !is_supplied(declaration.name))
      found.push_back(&declaration);
  return found;
}

std::string PtxSymbols::changed(const std::map<std::string_view, std::string>& renamed,
                                const std::set<std::string_view>& dropped,
                                const std::set<std::string_view>& exposed) const {
  // Replacements in ascending order, none inside another.
  std::map<std::size_t, std::pair<std::size_t, std::string>> edits;
  for (const Declaration& declaration : declarations_) {
    if (declaration.is_function && declaration.linkage == Linkage::Internal && exposed.contains(declaration.name))
      edits[declaration.begin] = {declaration.begin, ".visible "};
    if (!declaration.defines || !dropped.contains(declaration.name)) continue;
    if (declaration.is_entry) {
      edits[declaration.begin] = {declaration.end, ""};
      continue;
    }
    edits[declaration.linkage_begin] = {declaration.linkage_end, ".extern"};
    edits[declaration.definition_begin] = {declaration.end, ";"};
  }
  for (const Name& name : names_) {
    const auto found = renamed.find(name.text);
    if (found != renamed.end()) edits.try_emplace(name.offset, name.offset + name.text.size(), found->second);
  }
  std::string result;
  std::size_t at = 0;
  for (const auto& [begin, edit] : edits) {
    if (begin < at) continue;  // inside a part that was removed
    result += text_.substr(at, begin - at);
    result += edit.second;
    at = edit.first;
  }
  result += text_.substr(at);
  return result;
}

bool is_supplied(std::string_view name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" || name == "free" ||
         name == "cudaGraphSetConditional" || name.starts_with("cudaCG") || find_device_call(name);
}

}  // namespace cucore::cpu::linker
