// Finds directives by their first character. Lines are spliced and comments inside a directive are skipped as a
// preprocessor would; comments and strings around a directive are not recognised, which can only add names.
#include "src/files/include_scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace cucore::detail {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Joins lines that end in a backslash.
std::string splice(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      std::size_t end = i + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
      if (end < text.size() && text[end] == '\n') {
        i = end;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  IncludeScan run() {
    for (std::size_t at = text_.find_first_of("#%?"); at != std::string_view::npos;
         at = text_.find_first_of("#%?", at + 1)) {
      if (text_[at] == '#') directive(at, at + 1);
      if (text_.substr(at, 2) == "%:") directive(at, at + 2);
      if (text_.substr(at, 3) == "\?\?=") directive(at, at + 3);
      if (text_.substr(at, 3) == "\?\?/") fail(at, "has a trigraph", false);
    }
    tests_for_headers();
    for (const char* word : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
      if (const std::size_t at = text_.find(word); at != std::string_view::npos) {
        fail(at, std::string("uses ") + word, false);
      }
    }
    std::sort(result_.names.begin(), result_.names.end());
    result_.names.erase(std::unique(result_.names.begin(), result_.names.end()), result_.names.end());
    return std::move(result_);
  }

 private:
  // The position after blanks and comments, from `at`; comments may span lines.
  std::size_t skip(std::size_t at) const {
    for (;;) {
      while (at < text_.size() &&
             (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\v' || text_[at] == '\f' || text_[at] == '\r')) {
        ++at;
      }
      if (text_.substr(at, 2) != "/*") return at;
      const std::size_t end = text_.find("*/", at + 2);
      if (end == std::string_view::npos) return text_.size();
      at = end + 2;
    }
  }

  // Whether what precedes `at` in its line lets a directive begin there: nothing, or the end of a comment.
  bool begins_directive(std::size_t at) const {
    while (at > 0 && text_[at - 1] != '\n' && std::isspace(static_cast<unsigned char>(text_[at - 1])) != 0) --at;
    return at == 0 || text_[at - 1] == '\n' || (at >= 2 && text_.substr(at - 2, 2) == "*/");
  }

  // The name between the quotes or brackets that begin at `at`; empty if there are none.
  std::string_view literal(std::size_t at) const {
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '<')) return {};
    const std::size_t end = text_.find(text_[at] == '"' ? '"' : '>', at + 1);
    if (end == std::string_view::npos) return {};
    const std::string_view name = text_.substr(at + 1, end - at - 1);
    return name.find('\n') == std::string_view::npos ? name : std::string_view();
  }

  void directive(std::size_t hash, std::size_t after) {
    std::size_t at = skip(after);
    std::size_t end = at;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    static constexpr std::array<std::string_view, 4> including_directives = {"include", "include_next", "import",
                                                                             "embed"};
    if (std::find(including_directives.begin(), including_directives.end(), text_.substr(at, end - at)) ==
        including_directives.end())
      return;
    at = skip(end);
    if (const std::string_view name = literal(at); !name.empty()) {
      result_.names.emplace_back(name);
    } else if (begins_directive(hash)) {
      fail(hash, "includes a file that a macro names", true);
    }
  }

  // __has_include(<x>), also through a macro that is named after it.
  void tests_for_headers() {
    for (std::string_view word : {"has_include", "HAS_INCLUDE"}) {
      for (std::size_t at = text_.find(word); at != std::string_view::npos; at = text_.find(word, at + 1)) {
        std::size_t open = at + word.size();
        while (open < text_.size() && is_name_character(text_[open])) ++open;
        open = skip(open);
        if (open >= text_.size() || text_[open] != '(') continue;
        const std::size_t argument = skip(open + 1);
        if (const std::string_view name = literal(argument); !name.empty()) {
          result_.names.emplace_back(name);
        } else if (!in_definition(at)) {
          fail(at, "tests for a header that a macro names", true);
        }
      }
    }
  }

  // Whether the line of `at` is a #define: there the argument is the macro's own parameter.
  bool in_definition(std::size_t at) const {
    const std::size_t newline = text_.rfind('\n', at);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const std::size_t hash = skip(begin);
    return hash < text_.size() && text_[hash] == '#' && text_.substr(skip(hash + 1), 6) == "define";
  }

  void fail(std::size_t at, const std::string& what, bool computed) {
    if (!result_.unknowable.empty() && (!result_.computed_include || computed)) return;
    result_.unknowable =
        "line " + std::to_string(1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
        " " + what;
    result_.computed_include = computed;
  }

  std::string_view text_;
  IncludeScan result_;
};

}  // namespace

IncludeScan scan_includes(std::string_view text) {
  // Lines are only counted for messages; splicing makes them a little too small.
  if (text.find('\\') == std::string_view::npos) return Scanner(text).run();
  const std::string spliced = splice(text);
  return Scanner(spliced).run();
}

}  // namespace cucore::detail
