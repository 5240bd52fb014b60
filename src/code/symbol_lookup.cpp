// Matches C++ names with mangled symbols, by the demangler and one canonical spelling for both.
#include "src/code/symbol_lookup.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/formats/demangle.hpp"

namespace cucore::detail {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// Words and single other characters; white space only divides.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) ++end;
    if (const char c = text[i]; c != ' ' && c != '\t' && c != '\n') tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

// The names of integer types that are other names for what the demangler prints.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"int8_t", "signed char"},  {"uint8_t", "unsigned char"}, {"int16_t", "short"}, {"uint16_t", "unsigned short"},
    {"int32_t", "int"},         {"uint32_t", "unsigned int"}, {"int64_t", "long"},  {"uint64_t", "unsigned long"},
    {"size_t", "unsigned long"}};

bool is_integer_word(std::string_view word) {
  return word == "unsigned" || word == "signed" || word == "long" || word == "short" || word == "int" || word == "char";
}

// "unsigned long int", "long unsigned" and "unsigned long" are one type, which the demangler calls by the last name.
std::string integer_type(const std::vector<std::string>& words) {
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  const std::string sign = count("unsigned") > 0 ? "unsigned " : "";
  if (count("char") > 0) return count("signed") > 0 ? "signed char" : sign + "char";
  if (count("short") > 0) return sign + "short";
  if (count("long") > 1) return sign + "long long";
  return sign + (count("long") > 0 ? "long" : "int");
}

// Where the name that begins at `at` ends: words divided by ::, each perhaps with template arguments.
std::size_t end_of_name(const std::vector<std::string>& tokens, std::size_t at) {
  const auto is = [&](std::size_t index, const char* token) { return index < tokens.size() && tokens[index] == token; };
  for (;;) {
    while (is(at, ":")) ++at;
    if (at < tokens.size()) ++at;
    if (is(at, "<")) {
      int depth = 0;
      do {
        if (tokens[at] == "<") ++depth;
        if (tokens[at] == ">") --depth;
      } while (++at < tokens.size() && depth > 0);
    }
    if (!is(at, ":")) return at;
  }
}

// One spelling for all that mean the same: words divided by one space where both sides are words, integer types and
// the place of const as the demangler has them.
std::string canonical(std::string_view text) {
  std::vector<std::string> tokens = tokens_of(text);
  for (std::string& token : tokens) {
    for (const auto& [alias, type] : aliases) {
      if (token == alias) token = type;
    }
  }
  std::vector<std::string> merged;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::vector<std::string> words;
    while (i < tokens.size() && is_integer_word(tokens[i])) words.push_back(tokens[i++]);
    if (!words.empty()) merged.push_back(integer_type(words));
    if (i < tokens.size()) merged.push_back(tokens[i]);
  }
  for (std::size_t i = 0; i + 1 < merged.size(); ++i) {
    const bool begins_type = i == 0 || merged[i - 1] == "<" || merged[i - 1] == "," || merged[i - 1] == "(";
    if (merged[i] != "const" || !begins_type) continue;
    const auto at = merged.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(at, at + 1, merged.begin() + static_cast<std::ptrdiff_t>(end_of_name(merged, i + 1)));
  }
  std::string result;
  for (const std::string& token : merged) {
    if (!result.empty() && is_word(result.back()) && is_word(token.front())) result += ' ';
    result += token;
  }
  const std::size_t begin = result.find_first_not_of("&:");
  return begin == std::string::npos ? std::string() : result.substr(begin);
}

// Edit distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string source_name(const std::string& symbol) {
  std::string name = demangled(symbol);
  if (name == symbol) return name;
  // Drop the parameter list, and what stands before the last space outside of brackets: the result's type.
  int depth = 0;
  std::size_t end = name.size();
  if (name.ends_with(')')) {
    do {
      --end;
      if (name[end] == ')') ++depth;
      if (name[end] == '(') --depth;
    } while (depth > 0 && end > 0);
  }
  std::size_t begin = end;
  for (depth = 0; begin > 0; --begin) {
    const char c = name[begin - 1];
    if (c == '>' || c == ')' || c == ']' || c == '}') ++depth;
    if (c == '<' || c == '(' || c == '[' || c == '{') --depth;
    if (c == ' ' && depth == 0) break;
  }
  return name.substr(begin, end - begin);
}

std::vector<std::string> symbols_spelled(std::string_view spelling, const std::vector<std::string>& symbols) {
  std::vector<std::string> found;
  const std::string wanted = canonical(spelling);
  if (wanted.empty()) return found;
  for (const std::string& symbol : symbols) {
    if (symbol.starts_with("_Z") && canonical(source_name(symbol)) == wanted) found.push_back(symbol);
  }
  return found;
}

std::string symbol_of_variable(std::string_view name) {
  while (name.starts_with('&') || name.starts_with(':')) name.remove_prefix(1);
  std::string parts;
  std::size_t count = 0;
  while (!name.empty()) {
    const std::size_t colons = name.find("::");
    const std::string_view part = name.substr(0, colons);
    if (part.empty() || !std::all_of(part.begin(), part.end(), is_word)) return {};
    parts += std::to_string(part.size()) + std::string(part);
    ++count;
    if (colons == std::string_view::npos) break;
    name.remove_prefix(colons + 2);
  }
  return count > 1 ? "_ZN" + parts + "E" : std::string();
}

std::string not_found_hint(std::string_view wanted, const std::vector<std::string>& symbols, std::string_view what) {
  if (symbols.empty()) return "check the spelling; C++ functions have mangled names unless declared extern \"C\"";
  const std::string* nearest = nullptr;
  std::size_t best = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const std::string& symbol : symbols) {
    const std::string name = source_name(symbol);
    // A template asked for without its arguments is the likeliest mistake of all.
    const std::string plain = name.substr(0, name.find('<'));
    const std::size_t d = std::min({distance(wanted, symbol), distance(wanted, name), distance(wanted, plain)});
    if (d < best) {
      best = d;
      nearest = &symbol;
    }
  }
  const auto both = [](const std::string& symbol) {
    const std::string name = source_name(symbol);
    return name == symbol ? symbol : name + " (" + symbol + ")";
  };
  constexpr std::size_t most = 16;
  std::string hint;
  if (nearest != nullptr) hint = "did you mean '" + source_name(*nearest) + "'? ";
  hint += std::string(what) + " in it: ";
  for (std::size_t i = 0; i < symbols.size() && i < most; ++i) hint += (i == 0 ? "" : ", ") + both(symbols[i]);
  if (symbols.size() > most) hint += " and " + std::to_string(symbols.size() - most) + " more";
  return hint;
}

}  // namespace cucore::detail
