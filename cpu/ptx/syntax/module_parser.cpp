// Token handling and the directives of module scope.
#include "cpu/ptx/syntax/module_parser.hpp"

#include <charconv>
#include <limits>
#include <utility>

#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::ptx {

std::string quote(std::string_view word) {
  constexpr std::size_t longest = 80;
  std::string quoted = "'";
  quoted += word.substr(0, longest);
  if (word.size() > longest) quoted += "...";
  return quoted + "'";
}

ModuleParser::ModuleParser(Module& module, std::vector<Diagnostic>& diagnostics, std::span<const TextPiece> pieces)
    : module_(module), diagnostics_(diagnostics), lexer_(module.text, pieces) {}

ModuleParser::Nesting::Nesting(ModuleParser& parser) : parser_(parser) {
  // The destructor does not run if the constructor throws, so the count is only raised once it is known to be allowed.
  if (parser_.nesting_ >= max_nesting) {
    parser_.fail(parser_.token_.position, "nested more than " + std::to_string(max_nesting) + " deep");
  }
  ++parser_.nesting_;
}

void ModuleParser::advance() {
  last_ = token_;
  token_ = lexer_.next();
  if (!lexer_.error().empty()) fail(token_.position, std::string(lexer_.error()));
}

bool ModuleParser::accept(std::string_view punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

bool ModuleParser::accept_dot(std::string_view word) {
  if (!token_.is_dot(word)) return false;
  advance();
  return true;
}

void ModuleParser::expect(std::string_view punctuation) {
  if (!accept(punctuation)) fail_at_token(quote(punctuation));
}

Token ModuleParser::expect_kind(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) fail_at_token(what);
  advance();
  return last_;
}

std::string_view ModuleParser::expect_name(std::string_view what) {
  return expect_kind(TokenKind::Identifier, what).text;
}

std::uint32_t ModuleParser::expect_number(std::string_view what) {
  const Token token = expect_kind(TokenKind::Integer, what);
  if (token.value > std::numeric_limits<std::uint32_t>::max())
    fail(token.position, quote(token.text) + " is too large");
  return static_cast<std::uint32_t>(token.value);
}

void ModuleParser::fail(Position position, std::string message) {
  diagnostics_.push_back({Diagnostic::Kind::Syntax, position, std::move(message)});
  throw Abandon();
}

void ModuleParser::fail_at_token(std::string_view expected) {
  std::string message = "expected ";
  message += expected;
  if (token_.kind == TokenKind::End) {
    message += ", but the text ends";
  } else {
    message += " before ";
    message +=
        token_.kind == TokenKind::DotWord ? quote("." + std::string(token_.text.substr(0, 100))) : quote(token_.text);
  }
  fail(token_.position, std::move(message));
}

void ModuleParser::report(Position position, std::string message) {
  diagnostics_.push_back({Diagnostic::Kind::Semantic, position, std::move(message)});
  if (diagnostics_.size() >= max_diagnostics) throw Abandon();
}

void ModuleParser::parse_module() {
  advance();
  parse_version();
  parse_target();
  while (token_.kind != TokenKind::End) {
    if (token_.kind != TokenKind::DotWord) fail_at_token("a directive");
    if (token_.is_dot("address_size")) {
      parse_address_size();
    } else if (token_.is_dot("target")) {
      parse_target();
    } else if (token_.is_dot("file")) {
      parse_file();
    } else if (token_.is_dot("section")) {
      parse_section();
    } else if (token_.is_dot("alias")) {
      parse_alias();
    } else if (token_.is_dot("pragma")) {
      parse_pragma();
    } else if (token_.is_dot("loc")) {
      parse_loc();
    } else {
      parse_module_declaration();
    }
  }
}

void ModuleParser::parse_version() {
  if (!accept_dot("version")) fail_at_token("'.version' as the first directive");
  const Token token = expect_kind(TokenKind::Double, "a version such as 9.0");
  const char* const end = token.text.data() + token.text.size();
  const auto major = std::from_chars(token.text.data(), end, module_.version.major);
  if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.') {
    const auto minor = std::from_chars(major.ptr + 1, end, module_.version.minor);
    if (minor.ec == std::errc() && minor.ptr == end) {
      if (module_.version.major <= newest_major_version) return;
      diagnostics_.push_back({Diagnostic::Kind::UnsupportedVersion, token.position,
                              ".version " + std::string(token.text) + " is newer than " +
                                  std::to_string(newest_major_version) + ".x, the newest PTX ISA versions supported"});
      throw Abandon();
    }
  }
  fail(token.position, quote(token.text) + " is not a version");
}

void ModuleParser::parse_target() {
  if (!accept_dot("target")) fail_at_token("'.target' after '.version'");
  do {
    const Token word = expect_kind(TokenKind::Identifier, "a target such as sm_80");
    if (word.text.starts_with("sm_") || word.text.starts_with("compute_")) {
      if (module_.target.empty()) module_.target = word.text;
    } else if (word.text == "debug" || word.text == "texmode_unified" || word.text == "texmode_independent" ||
               word.text == "map_f64_to_f32") {
      module_.target_options.push_back(word.text);
    } else {
      report(word.position, "unknown target " + quote(word.text));
    }
  } while (accept(","));
  if (module_.target.empty()) report(last_.position, "'.target' names no architecture");
}

void ModuleParser::parse_address_size() {
  advance();
  module_.address_size = expect_number("32 or 64");
  if (module_.address_size != 32 && module_.address_size != 64) {
    report(last_.position, "address size " + quote(last_.text) + " is neither 32 nor 64");
  }
}

void ModuleParser::parse_file() {
  advance();
  const std::uint32_t index = expect_number("the index of a file");
  const std::string_view path = expect_kind(TokenKind::String, "the path of a file").text;
  if (accept(",")) {
    expect_kind(TokenKind::Integer, "the time stamp of the file");
    expect(",");
    expect_kind(TokenKind::Integer, "the size of the file");
  }
  // An index beyond the length of the text comes from no compiler: its path is not kept, so that memory stays linear.
  if (index >= module_.text.size()) return;
  if (module_.files.size() <= index) module_.files.resize(std::size_t{index} + 1);
  module_.files[index] = path;
}

void ModuleParser::parse_section() {
  advance();
  expect_kind(TokenKind::DotWord, "the name of a section");
  expect("{");
  std::size_t depth = 1;
  while (depth > 0) {
    if (token_.kind == TokenKind::End) fail_at_token("'}' of a section");
    if (token_.is("{")) ++depth;
    if (token_.is("}")) --depth;
    advance();
  }
}

void ModuleParser::parse_pragma() {
  advance();
  do {
    expect_kind(TokenKind::String, "the text of a pragma");
  } while (accept(","));
  expect(";");
}

void ModuleParser::parse_alias() {
  advance();
  const Token alias = expect_kind(TokenKind::Identifier, "the name of an alias");
  expect(",");
  const Token aliasee = expect_kind(TokenKind::Identifier, "the name of the function behind the alias");
  expect(";");
  std::optional<FunctionId> ids[2];
  const Token* const names[2] = {&alias, &aliasee};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto entity = scopes_.find_innermost(names[i]->text);
    if (!entity) {
      report(names[i]->position, "undefined name " + quote(names[i]->text));
    } else if (entity->kind != Entity::Kind::Function) {
      report(names[i]->position, quote(names[i]->text) + " is not a function");
    } else {
      ids[i] = entity->index;
    }
  }
  if (!ids[0] || !ids[1]) return;
  Function& function = module_.functions[*ids[0]];
  if (function.has_body) {
    report(alias.position, "alias " + quote(alias.text) + " has a body of its own");
  } else if (*ids[0] == *ids[1] || module_.functions[*ids[1]].alias_of) {
    report(aliasee.position, quote(aliasee.text) + " is itself an alias");
  } else {
    function.alias_of = ids[1];
  }
}

void ModuleParser::parse_attributes(Variable* variable) {
  expect("(");
  do {
    const Token word = expect_kind(TokenKind::DotWord, "an attribute");
    if (word.text == "managed") {
      if (variable != nullptr) variable->managed = true;
    } else if (word.text == "unified") {
      expect("(");
      expect_kind(TokenKind::Integer, "the upper half of a unique identifier");
      expect(",");
      expect_kind(TokenKind::Integer, "the lower half of a unique identifier");
      expect(")");
    } else {
      report(word.position, "unknown attribute '." + std::string(word.text) + "'");
    }
  } while (accept(","));
  expect(")");
}

Linkage ModuleParser::parse_linkage() {
  if (accept_dot("visible")) return Linkage::Visible;
  if (accept_dot("extern")) return Linkage::Extern;
  if (accept_dot("weak")) return Linkage::Weak;
  if (accept_dot("common")) return Linkage::Common;
  return Linkage::Internal;
}

void ModuleParser::parse_module_declaration() {
  const Position position = token_.position;
  Variable attributes;
  if (accept_dot("attribute")) parse_attributes(&attributes);
  const Linkage linkage = parse_linkage();
  if (accept_dot("attribute")) parse_attributes(&attributes);
  if (accept_dot("entry")) {
    parse_function(true, linkage, position);
  } else if (accept_dot("func")) {
    parse_function(false, linkage, position);
  } else if (token_.is_dot("global") || token_.is_dot("const") || token_.is_dot("shared") || token_.is_dot("local") ||
             token_.is_dot("param") || token_.is_dot("tex")) {
    if (linkage == Linkage::Common && !token_.is_dot("global")) {
      report(position, "'.common' is for '.global' variables only");
    }
    parse_variables(linkage, attributes);
  } else {
    fail_at_token("a directive of module scope");
  }
}

}  // namespace cucore::cpu::ptx
