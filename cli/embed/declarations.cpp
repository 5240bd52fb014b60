// Reads declarations word by word: see declarations.hpp.
#include "cli/embed/declarations.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace cucore::embed {
namespace {

struct Word {
  std::string_view text;
  unsigned line;
};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where a comment, a literal or a line of the preprocessor that begins at `at` ends; `at` if none begins there.
std::size_t skipped(std::string_view text, std::size_t at, bool line_begins) {
  const auto after = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) == "/*") return after("*/", at + 2);
  if (text[at] == '#' && line_begins) {
    std::size_t end = at;
    do end = std::min(text.find('\n', end + 1), text.size());
    while (end < text.size() && text[end - 1] == '\\');
    return end;
  }
  if (text[at] == '"' || text[at] == '\'') {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  return at;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  unsigned line = 1;
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = skipped(text, at, line_begins);
    const bool literal = end != at && (text[at] == '"' || text[at] == '\'');
    if (end == at) {
      end = at + 1;
      if (is_letter(text[at])) {
        while (end < text.size() && is_letter(text[end])) ++end;
      } else if (text.substr(at, 2) == "::") {
        end = at + 2;
      }
      if (text[at] == '\n') line_begins = true;
      if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
        words.push_back({text.substr(at, end - at), line});
        line_begins = false;
      }
    } else if (literal) {
      words.push_back({text.substr(at, end - at), line});
    }
    line += static_cast<unsigned>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                             text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at = end;
  }
  return words;
}

using Words = std::vector<Word>;

std::string joined(const Words& words, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i) {
    const bool apart = !text.empty() && is_letter(words[i].text.front()) &&
                       (is_letter(text.back()) || text.back() == ',' || text.back() == '*');
    text += (apart ? " " : "") + std::string(words[i].text);
  }
  return text;
}

// The words that are the same type to any C++ compiler for x86-64 Linux and for CUDA.
constexpr std::array<std::string_view, 22> known_types = {
    "void",    "bool",     "char",   "short",     "int",      "long",     "float",   "double",
    "signed",  "unsigned", "int8_t", "uint8_t",   "int16_t",  "uint16_t", "int32_t", "uint32_t",
    "int64_t", "uint64_t", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};

Parameter parameter(const Words& words, std::size_t from, std::size_t to, std::size_t number) {
  Parameter result{.type = {}, .name = "argument_" + std::to_string(number)};
  std::string base;
  bool constant = false;
  bool known = true;
  bool has_type = false;
  unsigned stars = 0;
  for (std::size_t i = from; i < to && words[i].text != "="; ++i) {
    const std::string_view word = words[i].text;
    if (word == "const") {
      constant = constant || stars == 0;
    } else if (word == "*" || word == "[") {
      ++stars;
      if (word == "[")
        while (i + 1 < to && words[i].text != "]") ++i;
    } else if (word == "volatile" || word == "struct" || word == "enum" || word.starts_with("__") || word == "std" ||
               word == "::" || word == "restrict") {
      continue;
    } else if (std::find(known_types.begin(), known_types.end(), word) != known_types.end()) {
      base += (base.empty() ? "" : " ") + std::string(word);
      has_type = true;
    } else if (word == "cudaTextureObject_t" || word == "cudaSurfaceObject_t") {
      base = "unsigned long long";
      has_type = true;
    } else if (has_type && is_letter(word.front())) {
      result.name = word;
    } else {
      known = false;
      has_type = true;
      if (word == "<")  // the arguments of a template
        for (int depth = 1; i + 1 < to && depth > 0;)
          depth += words[++i].text == "<" ? 1 : words[i].text == ">" ? -1 : 0;
    }
  }
  if (!known && stars == 0) return result;
  result.type = (constant && stars > 0 ? "const " : "") + (known ? base : "void");
  if (stars > 0) result.type += std::string(stars, '*');
  if (result.type.starts_with("const void*") && stars > 1) result.type = "const void* const*";
  return result;
}

std::vector<Parameter> parameters(const Words& words, std::size_t open, std::size_t close) {
  std::vector<Parameter> list;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t i = open + 1; i <= close; ++i) {
    const std::string_view word = words[i].text;
    if (word == "(" || word == "<" || word == "[" || word == "{") ++depth;
    if (i != close && (word == ")" || word == ">" || word == "]" || word == "}")) --depth;
    if (i == close || (word == "," && depth == 0)) {
      const bool nothing = begin == i || (i == begin + 1 && words[begin].text == "void");
      if (!nothing) list.push_back(parameter(words, begin, i, list.size()));
      begin = i + 1;
    }
  }
  return list;
}

std::size_t closing(const Words& words, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < words.size(); ++i) {
    if (words[i].text == "(") ++depth;
    if (words[i].text == ")" && --depth == 0) return i;
  }
  return words.size();
}

}  // namespace

std::vector<Declaration> kernels_of(std::string_view source) {
  const Words words = words_of(source);
  std::vector<Declaration> found;
  std::vector<std::string> scopes;  // one for each open brace: the namespace that it opens, else nothing
  std::size_t statement = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    if (word == "{") {
      std::string scope;
      if (words[statement].text == "namespace" || (words[statement].text == "inline" && statement + 1 < i))
        for (std::size_t w = statement; w < i; ++w)
          if (words[w].text != "namespace" && words[w].text != "inline") scope += words[w].text;
      scopes.push_back(scope);
    } else if (word == "}" && !scopes.empty()) {
      scopes.pop_back();
    }
    if (word == "{" || word == "}" || word == ";") statement = i + 1;
    if (word != "__global__") continue;
    std::size_t open = i + 1;  // of the parameters: behind a name that is no __launch_bounds__ and the like
    while (open < words.size() && (words[open].text != "(" || words[open - 1].text.starts_with("__")))
      open = words[open].text == "(" ? closing(words, open) + 1 : open + 1;
    const std::size_t close = open < words.size() ? closing(words, open) : words.size();
    if (close >= words.size()) break;
    Declaration kernel;
    for (const std::string& scope : scopes)
      if (!scope.empty()) kernel.name += scope + "::";
    kernel.name += words[open - 1].text;
    kernel.parameters = parameters(words, open, close);
    kernel.text = joined(words, i, close + 1);
    kernel.line = words[i].line;
    kernel.is_template = words[statement].text == "template";
    const auto same = [&](const Declaration& other) { return other.name == kernel.name; };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(kernel));
    i = close;
  }
  return found;
}

}  // namespace cucore::embed
