// PTX is a sequence of statements. Those at the top level begin with a directive, those in the body of a function with
// a directive, a label, a guard or an opcode. They end with ';' or a body, but for the few that end with their line.
#include "src/formats/ptx_syntax.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "src/formats/ptx_words.hpp"

namespace cucore::detail {
namespace {

// Sorted. The first words of instructions, up to PTX 9.0.
constexpr auto opcodes = std::to_array<std::string_view>({
    "abs",          "activemask",    "add",       "addc",       "alloca",
    "and",          "applypriority", "atom",      "bar",        "barrier",
    "bfe",          "bfi",           "bfind",     "bmsk",       "bra",
    "brev",         "brkpt",         "brx",       "call",       "clusterlaunchcontrol",
    "clz",          "cnot",          "copysign",  "cos",        "cp",
    "createpolicy", "cvt",           "cvta",      "discard",    "div",
    "dp2a",         "dp4a",          "elect",     "ex2",        "exit",
    "fence",        "fma",           "fns",       "getctarank", "griddepcontrol",
    "isspacep",     "istypep",       "ld",        "ldmatrix",   "ldu",
    "lg2",          "lop3",          "mad",       "mad24",      "madc",
    "mapa",         "match",         "max",       "mbarrier",   "membar",
    "min",          "mma",           "mov",       "movmatrix",  "mul",
    "mul24",        "multimem",      "nanosleep", "neg",        "not",
    "or",           "pmevent",       "popc",      "prefetch",   "prefetchu",
    "prmt",         "rcp",           "red",       "redux",      "rem",
    "ret",          "rsqrt",         "sad",       "selp",       "set",
    "setmaxnreg",   "setp",          "shf",       "shfl",       "shl",
    "shr",          "sin",           "slct",      "sqrt",       "st",
    "stackrestore", "stacksave",     "stmatrix",  "sub",        "subc",
    "suld",         "suq",           "sured",     "sust",       "szext",
    "tanh",         "tcgen05",       "tensormap", "testp",      "tex",
    "tld4",         "trap",          "txq",       "vabsdiff",   "vabsdiff2",
    "vabsdiff4",    "vadd",          "vadd2",     "vadd4",      "vavrg2",
    "vavrg4",       "vmad",          "vmax",      "vmax2",      "vmax4",
    "vmin",         "vmin2",         "vmin4",     "vote",       "vset",
    "vset2",        "vset4",         "vshl",      "vshr",       "vsub",
    "vsub2",        "vsub4",         "wgmma",     "wmma",       "xor",
});
static_assert(std::is_sorted(opcodes.begin(), opcodes.end()));

constexpr auto line_directives =
    std::to_array<std::string_view>({".address_size", ".file", ".loc", ".target", ".version"});

constexpr auto top_directives = std::to_array<std::string_view>(
    {".alias", ".common", ".const", ".entry", ".extern", ".func", ".global", ".pragma", ".samplerref", ".section",
     ".shared", ".surfref", ".tex", ".texref", ".visible", ".weak"});

constexpr auto body_directives =
    std::to_array<std::string_view>({".align", ".attribute", ".branchtargets", ".callprototype", ".calltargets",
                                     ".const", ".global", ".local", ".param", ".pragma", ".reg", ".shared"});

bool is_in(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_opcode(std::string_view word) {
  return std::binary_search(opcodes.begin(), opcodes.end(), word.substr(0, word.find('.')));
}

class Glance {
 public:
  explicit Glance(std::string_view text) : text_(text) { advance(); }

  bool is_ptx() {
    if (word_ != ".version") return false;
    bool has_target = false;
    while (ok_ && !word_.empty()) {
      has_target = has_target || word_ == ".target";
      if (!top_statement()) return false;
    }
    return ok_ && has_target;
  }

 private:
  // To the next word, string or character; empty at the end.
  void advance() {
    starts_line_ = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '\n') {
        starts_line_ = true;
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        ok_ = ok_ && end != std::string_view::npos;
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        break;
      }
    }
    const std::size_t begin = at_;
    if (at_ < text_.size()) ++at_;
    if (begin < text_.size() && text_[begin] == '"') {
      at_ = text_.find('"', begin + 1);
      ok_ = ok_ && at_ != std::string_view::npos;
      at_ = at_ == std::string_view::npos ? text_.size() : at_ + 1;
    } else if (begin < text_.size() && is_ptx_word_character(text_[begin])) {
      while (at_ < text_.size() && is_ptx_word_character(text_[at_])) ++at_;
    }
    word_ = text_.substr(begin, at_ - begin);
  }

  bool is_word() const { return !word_.empty() && is_ptx_word_character(word_.front()); }

  // ".loc 1 2 3" and the like: up to the end of the line or the next directive.
  void skip_line() {
    advance();
    while (!word_.empty() && !starts_line_ && !word_.starts_with('.')) advance();
  }

  // Past the '}' of a '{'.
  bool skip_braces() {
    int depth = 0;
    do {
      depth += word_ == "{" ? 1 : word_ == "}" ? -1 : 0;
      advance();
    } while (ok_ && depth != 0 && !word_.empty());
    return depth == 0;
  }

  // Up to ';' or '{', neither of which may stand in brackets. Values in braces are passed over.
  bool to_end(bool is_instruction) {
    std::string open;
    bool has_value = false;
    bool after_word = true;  // the directive or opcode
    for (advance(); ok_ && !word_.empty(); advance()) {
      const bool is_separate = !is_word() && word_.front() != '"';
      if (is_instruction && !is_separate && after_word && !first_operand_) return false;  // a ';' is missing
      first_operand_ = false;
      after_word = !is_separate;
      if (word_ == "(" || word_ == "[" || (is_instruction && word_ == "{")) {
        open += word_.front();
      } else if (word_ == ")" || word_ == "]" || (is_instruction && word_ == "}")) {
        const char wanted = word_ == ")" ? '(' : word_ == "]" ? '[' : '{';
        if (open.empty() || open.back() != wanted) return false;
        open.pop_back();
      } else if (word_ == ";" || word_ == "{") {
        if (!open.empty()) return false;
        if (word_ == ";" || !has_value) return true;
        if (!skip_braces()) return false;
        return word_ == ";" || word_ == ",";
      } else if (word_ == "}") {
        return false;
      }
      has_value = has_value || word_ == "=";
    }
    return false;
  }

  bool top_statement() {
    if (word_ == ";") return advance(), true;
    if (is_in(line_directives, word_)) return skip_line(), true;
    if (!is_in(top_directives, word_)) return false;
    const bool is_section = word_ == ".section";
    first_operand_ = false;
    bool is_function = word_ == ".entry" || word_ == ".func";
    const std::size_t begin = at_;
    if (!to_end(false)) return false;
    const std::string_view statement = text_.substr(begin, at_ - begin);
    is_function =
        is_function || statement.find(".entry") != statement.npos || statement.find(".func") != statement.npos;
    if (word_ != "{") return advance(), true;
    if (is_section) return skip_braces();
    return is_function && body();
  }

  bool body() {
    int depth = 0;
    do {
      if (word_ == "{" || word_ == "}") {
        depth += word_ == "{" ? 1 : -1;
        advance();
      } else if (!body_statement()) {
        return false;
      }
    } while (ok_ && depth != 0 && !word_.empty());
    return ok_ && depth == 0;
  }

  bool body_statement() {
    if (word_ == ";") return advance(), true;
    if (is_in(line_directives, word_)) return skip_line(), true;
    if (word_.starts_with('.')) return is_in(body_directives, word_) && to_end(false) && end_of_statement();
    if (word_ == "@") {
      advance();
      if (word_ == "!") advance();
      if (!is_word()) return false;
      advance();
    } else if (is_word() && !is_opcode(word_)) {
      advance();
      if (word_ != ":") return false;
      return advance(), true;
    }
    if (!is_word() || !is_opcode(word_)) return false;
    first_operand_ = true;
    return to_end(true) && end_of_statement();
  }

  bool end_of_statement() {
    if (word_ != ";") return false;
    advance();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view word_;
  bool starts_line_ = false;
  bool first_operand_ = false;  // the next word is the first after an opcode
  bool ok_ = true;
};

}  // namespace

bool looks_like_ptx(std::string_view text) { return Glance(text).is_ptx(); }

std::string_view ptx_directive(std::string_view ptx, std::string_view directive) {
  for (std::size_t at = ptx.find(directive); at != std::string_view::npos; at = ptx.find(directive, at + 1)) {
    const std::size_t line = ptx.rfind('\n', at) + 1;                                              // npos + 1 is 0
    if (ptx.substr(line, at - line).find_first_not_of(" \t") != std::string_view::npos) continue;  // in a comment
    const std::size_t begin = ptx.find_first_not_of(" \t", at + directive.size());
    if (begin == std::string_view::npos) return {};
    return ptx.substr(begin, ptx.find_first_of(" \t\r\n,", begin) - begin);
  }
  return {};
}

}  // namespace cucore::detail
