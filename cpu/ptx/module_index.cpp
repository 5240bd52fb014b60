// Reads a module by its items: see module_index.hpp.
#include "cpu/ptx/module_index.hpp"

#include <algorithm>
#include <utility>

#include "cpu/ptx/syntax/lexer.hpp"

namespace cucore::cpu::ptx {

namespace {

/// Values of this length are left out of excerpts of kernels.
constexpr std::size_t long_value = 4096;

/// Whether only numbers stand there: no word begins, and no comment.
bool names_nothing(std::string_view value) {
  const auto is_of_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           c == '%';
  };
  char before = ' ';
  for (const char c : value) {
    if (c == '/' || (is_of_word(c) && !is_of_word(before) && (c < '0' || c > '9'))) return false;
    before = c;
  }
  return true;
}

}  // namespace

/// The one pass. Whatever is not as it should be makes a reader return false.
class IndexPass {
 public:
  explicit IndexPass(ModuleIndex& index) : index_(index), lexer_(index.text_) {}

  bool run() {
    advance();
    while (token_.kind == TokenKind::DotWord) {
      item_ = {};
      item_.position = token_.position;
      item_.begin = static_cast<std::size_t>(token_.text.data() - index_.text_.data()) - 1;
      names_.clear();
      is_section_ = false;
      if (!read_item()) return false;
      item_.end = end_;
      if (!is_section_ && !index_.add(item_, names_)) return false;
    }
    return token_.kind == TokenKind::End && lexer_.error().empty();
  }

 private:
  void advance() {
    end_ = lexer_.offset();
    token_ = lexer_.next();
  }

  bool accept(std::string_view punctuation) {
    if (!token_.is(punctuation)) return false;
    advance();
    return true;
  }

  bool accept(TokenKind kind) {
    if (token_.kind != kind) return false;
    advance();
    return true;
  }

  bool accept_name() {
    if (token_.kind != TokenKind::Identifier) return false;
    names_.push_back(token_.text);
    advance();
    return true;
  }

  /// From a `{` to behind its `}`.
  bool pass_block(bool may_declare) {
    const Lexer::Block block = lexer_.pass_block();
    if (block == Lexer::Block::NeverEnds || (block == Lexer::Block::Declares && !may_declare)) return false;
    advance();
    return true;
  }

  /// From a bracket to behind the one that closes it.
  bool pass_brackets(std::string_view open, std::string_view close) {
    std::size_t depth = 0;
    do {
      if (token_.kind == TokenKind::End) return false;
      if (token_.is(open)) ++depth;
      if (token_.is(close)) --depth;
      advance();
    } while (depth != 0);
    return true;
  }

  bool read_item() {
    const std::string_view word = token_.text;
    if (word == "version" || word == "address_size" || word == "target" || word == "file" || word == "section" ||
        word == "pragma" || word == "alias") {
      advance();
      return read_directive(word);
    }
    while (token_.is_dot("attribute") || token_.is_dot("visible") || token_.is_dot("extern") || token_.is_dot("weak") ||
           token_.is_dot("common")) {
      const bool is_attribute = token_.is_dot("attribute");
      advance();
      if (is_attribute && !(token_.is("(") && pass_brackets("(", ")"))) return false;
    }
    if (token_.is_dot("entry") || token_.is_dot("func")) return read_function();
    if (token_.is_dot("global") || token_.is_dot("const") || token_.is_dot("shared") || token_.is_dot("local"))
      return read_variables();
    return false;
  }

  bool read_directive(std::string_view word) {
    if (word == "version") return accept(TokenKind::Double);
    if (word == "address_size") return accept(TokenKind::Integer);
    if (word == "target") {
      do {
        if (!accept(TokenKind::Identifier)) return false;
      } while (accept(","));
      return true;
    }
    if (word == "file") {
      if (!accept(TokenKind::Integer) || !accept(TokenKind::String)) return false;
      while (accept(","))
        if (!accept(TokenKind::Integer)) return false;
      return true;
    }
    if (word == "section") {
      is_section_ = true;
      return accept(TokenKind::DotWord) && token_.is("{") && pass_block(true);
    }
    if (word == "alias") {
      item_.kind = ModuleIndex::Kind::Alias;
      return accept_name() && accept(",") && accept(TokenKind::Identifier) && accept(";");
    }
    return read_pragma();
  }

  bool read_pragma() {
    do {
      if (!accept(TokenKind::String)) return false;
    } while (accept(","));
    return accept(";");
  }

  bool read_function() {
    item_.kind = ModuleIndex::Kind::Function;
    item_.is_entry = token_.is_dot("entry");
    advance();
    if (token_.is_dot("attribute")) {
      advance();
      if (!token_.is("(") || !pass_brackets("(", ")")) return false;
    }
    if (token_.is("(") && !pass_brackets("(", ")")) return false;
    if (!accept_name()) return false;
    if (token_.is("(") && !pass_brackets("(", ")")) return false;
    while (!token_.is("{")) {
      if (accept(";")) return true;
      if (token_.kind == TokenKind::End) return false;
      const bool is_pragma = token_.is_dot("pragma");
      advance();
      if (is_pragma && !read_pragma()) return false;
    }
    item_.has_body = true;
    item_.rest = lexer_.offset() - 1;
    return pass_block(false);
  }

  bool read_variables() {
    item_.kind = ModuleIndex::Kind::Variable;
    bool has_open_length = false;  // which the value gives
    advance();
    do {
      while (token_.kind == TokenKind::DotWord || token_.kind == TokenKind::Integer) {
        const bool is_attribute = token_.is_dot("attribute");
        advance();
        if (is_attribute && !(token_.is("(") && pass_brackets("(", ")"))) return false;
      }
      if (!accept_name()) return false;
      while (accept("[")) {
        has_open_length = has_open_length || token_.is("]");
        for (; !accept("]"); advance())
          if (token_.kind == TokenKind::End) return false;
      }
      if (token_.is("=") && !pass_initialiser()) return false;
    } while (accept(","));
    if (names_.size() > 1 || has_open_length) item_.rest = 0;
    return accept(";");
  }

  bool pass_initialiser() {
    const std::size_t begin = lexer_.offset() - 1;
    if (!pass_value()) return false;
    const std::string_view value = index_.text_.substr(begin, end_ - begin);
    if (value.size() >= long_value && names_nothing(value)) item_.rest = begin;
    return true;
  }

  bool pass_value() {
    advance();
    while (!token_.is(",") && !token_.is(";")) {
      if (token_.kind == TokenKind::End) return false;
      if (token_.is("{")) {
        if (!pass_block(true)) return false;
      } else if (token_.is("(")) {
        if (!pass_brackets("(", ")")) return false;
      } else {
        advance();
      }
    }
    return true;
  }

  ModuleIndex& index_;
  Lexer lexer_;
  Token token_;          ///< the next one, not yet consumed
  std::size_t end_ = 0;  ///< of the last one consumed
  ModuleIndex::Item item_;
  std::vector<std::string_view> names_;  ///< that the item declares
  bool is_section_ = false;              ///< debug information, of which nothing is read
};

std::optional<ModuleIndex> ModuleIndex::of(std::string_view text) {
  ModuleIndex index;
  index.text_ = text.substr(0, text.find('\0'));
  if (!IndexPass(index).run()) return std::nullopt;
  return index;
}

/// False if a name of the item is a register's, another kind's too, or a function's that has a body already.
bool ModuleIndex::add(const Item& item, const std::vector<std::string_view>& names) {
  const auto number = static_cast<Number>(items_.size());
  items_.push_back(item);
  if (item.kind == Kind::Directive) directives_.push_back(number);
  for (const std::string_view name : names) {
    if (name.front() == '%') return false;  // choose() takes it for a register
    std::vector<Number>& same = by_name_[name];
    for (const Number other : same) {
      const Item& earlier = items_[other];
      if ((earlier.kind == Kind::Variable) != (item.kind == Kind::Variable) || earlier.is_entry != item.is_entry ||
          (earlier.has_body && item.has_body))
        return false;
    }
    if (item.is_entry && same.empty()) entries_.push_back(name);
    same.push_back(number);
  }
  return true;
}

std::vector<std::string_view> ModuleIndex::kernels() const {
  std::vector<std::string_view> with_bodies;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(with_bodies), [&](std::string_view name) {
    const std::vector<Number>& items = by_name_.at(name);
    return std::any_of(items.begin(), items.end(), [&](Number item) { return items_[item].has_body; });
  });
  return with_bodies;
}

/// Those items, and those that they name, and so on; of the kind `shortened` without their rest.
ModuleIndex::Chosen ModuleIndex::choose(std::vector<Number> items, Kind shortened) const {
  Chosen chosen;
  while (!items.empty()) {
    const Item& item = items_[items.back()];
    const bool is_short = item.kind == shortened && item.rest != 0;
    const bool is_new = chosen.emplace(items.back(), is_short).second;
    items.pop_back();
    if (!is_new || is_short) continue;
    Lexer lexer(text_of(item));
    for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
      if (token.kind != TokenKind::Identifier || token.text.front() == '%') continue;
      const auto named = by_name_.find(token.text);
      if (named != by_name_.end()) items.insert(items.end(), named->second.begin(), named->second.end());
    }
  }
  return chosen;
}

Excerpt ModuleIndex::variables() const {
  std::vector<Number> items = directives_;
  for (Number number = 0; number < items_.size(); ++number)
    if (items_[number].kind == Kind::Variable) items.push_back(number);
  return excerpt(std::move(items), Kind::Function);
}

Excerpt ModuleIndex::kernel(std::string_view name) const {
  std::vector<Number> items = directives_;
  if (const auto its = by_name_.find(name); its != by_name_.end())
    items.insert(items.end(), its->second.begin(), its->second.end());
  return excerpt(std::move(items), Kind::Variable);
}

Excerpt ModuleIndex::excerpt(std::vector<Number> items, Kind shortened) const {
  Excerpt excerpt;
  for (const auto& [number, is_short] : choose(std::move(items), shortened)) {
    const Item& item = items_[number];
    excerpt.pieces.push_back({.offset = excerpt.text.size(), .position = item.position});
    excerpt.text += is_short ? text_.substr(item.begin, item.rest - item.begin) : text_of(item);
    excerpt.text += !is_short ? "\n" : item.kind == Kind::Function ? "{}\n" : ";\n";
  }
  return excerpt;
}

}  // namespace cucore::cpu::ptx
