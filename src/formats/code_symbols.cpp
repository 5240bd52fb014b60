// Reading symbols. PTX is read as statements at the top level: words up to ';', or up to the '{' of a body.
#include "src/formats/code_symbols.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "src/formats/elf.hpp"
#include "src/formats/ptx_words.hpp"

namespace cucore::detail {
namespace {

// What the driver supplies to every module, and what libcudadevrt.a does, which has no PTX to carry.
constexpr std::array<std::string_view, 8> supplied = {
    "vprintf",
    "malloc",
    "free",
    "__assertfail",
    "cudaGraphSetConditional",
    "cudaGraphLaunch",
    "cudaGetParameterBuffer",
    "cudaLaunchDevice",
};
constexpr std::array<std::string_view, 2> supplied_prefixes = {"__cudaCDP2", "cudaCG"};

bool is_supplied(std::string_view name) {
  return std::find(supplied.begin(), supplied.end(), name) != supplied.end() ||
         std::any_of(supplied_prefixes.begin(), supplied_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

class Statements {
 public:
  explicit Statements(std::string_view text) : words_(text) {}

  struct Statement {
    std::vector<std::string_view> words;  // punctuation is a word of one character
    bool has_body = false;
  };

  std::optional<Statement> next() {
    Statement statement;
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (word == ";") return statement;
      if (word == "{") {
        skip_body();
        const bool is_initialiser =
            std::find(statement.words.begin(), statement.words.end(), "=") != statement.words.end();
        if (is_initialiser) continue;  // up to its ';'
        statement.has_body = true;
        return statement;
      }
      statement.words.push_back(word);
    }
    return std::nullopt;
  }

 private:
  void skip_body() {
    int depth = 1;
    for (std::string_view word = words_.next(); !word.empty() && depth != 0; word = words_.next()) {
      if (word == "{") ++depth;
      if (word == "}" && --depth == 0) return;
    }
  }

  PtxWords words_;
};

bool has(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The name after .func or .entry, past the return value in parentheses.
std::string_view function_name(const std::vector<std::string_view>& words, std::string_view directive) {
  auto word = std::find(words.begin(), words.end(), directive) + 1;
  if (word != words.end() && *word == "(") {
    word = std::find(word, words.end(), ")");
    if (word != words.end()) ++word;
  }
  while (word != words.end() && word->starts_with('.')) ++word;  // .noreturn and the like
  return word != words.end() ? *word : std::string_view();
}

// The name of a variable: the word before its dimensions, its value, or the end.
std::string_view variable_name(const std::vector<std::string_view>& words) {
  std::string_view name;
  for (const std::string_view word : words) {
    if (word == "[" || word == "=" || word == ",") break;
    name = word;
  }
  return name;
}

}  // namespace

std::vector<CodeSymbol> ptx_symbols(std::string_view ptx) {
  std::vector<CodeSymbol> symbols;
  Statements statements(ptx);
  while (const auto statement = statements.next()) {
    const std::vector<std::string_view>& words = statement->words;
    const bool is_kernel = has(words, ".entry");
    const bool is_function = is_kernel || has(words, ".func");
    const bool is_variable = !is_function && (has(words, ".global") || has(words, ".const"));
    if (!is_function && !is_variable) continue;
    const bool is_extern = has(words, ".extern");
    const bool is_weak = has(words, ".weak") || has(words, ".common");
    const bool is_visible = has(words, ".visible") || is_kernel;
    if (!is_extern && !is_weak && !is_visible) continue;
    const std::string_view name =
        is_function ? function_name(words, is_kernel ? ".entry" : ".func") : variable_name(words);
    if (name.empty() || name.starts_with('.')) continue;
    const bool defines = !is_extern && (is_variable || statement->has_body);
    const CodeSymbol::Kind kind = !defines ? CodeSymbol::undefined : is_weak ? CodeSymbol::weak : CodeSymbol::strong;
    symbols.push_back({.name = std::string(name), .kind = kind, .is_kernel = is_kernel, .is_variable = is_variable});
  }
  return symbols;
}

std::vector<CodeSymbol> cubin_symbols(std::string_view cubin) {
  constexpr unsigned char is_entry = 0x10;  // in st_other: a kernel
  const auto table = elf_section(cubin, ".symtab");
  const auto names = elf_section(cubin, ".strtab");
  std::vector<CodeSymbol> symbols;
  if (!table || !names) return symbols;
  for (std::size_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= table->size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table->data() + at, sizeof symbol);
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    if ((binding != STB_GLOBAL && binding != STB_WEAK) || symbol.st_name >= names->size()) continue;
    const std::string_view rest = names->substr(symbol.st_name);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name.empty()) continue;
    const CodeSymbol::Kind kind = symbol.st_shndx == SHN_UNDEF ? CodeSymbol::undefined
                                  : binding == STB_WEAK        ? CodeSymbol::weak
                                                               : CodeSymbol::strong;
    symbols.push_back({.name = std::string(name), .kind = kind, .is_kernel = (symbol.st_other & is_entry) != 0});
  }
  return symbols;
}

std::vector<std::string> undefined_in(const std::vector<std::string_view>& ptx_modules) {
  std::set<std::string> defined;
  std::set<std::string> needed;
  for (const std::string_view module : ptx_modules) {
    for (CodeSymbol& symbol : ptx_symbols(module)) {
      if (symbol.kind == CodeSymbol::undefined && is_supplied(symbol.name)) continue;
      (symbol.kind == CodeSymbol::undefined ? needed : defined).insert(std::move(symbol.name));
    }
  }
  std::vector<std::string> missing;
  std::set_difference(needed.begin(), needed.end(), defined.begin(), defined.end(), std::back_inserter(missing));
  return missing;
}

}  // namespace cucore::detail
