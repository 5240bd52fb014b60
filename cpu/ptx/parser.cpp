// Text in, verified tree or diagnostics out.
#include "cpu/ptx/parser.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "cpu/ptx/checks/verifier.hpp"
#include "cpu/ptx/rewrites/old_spellings.hpp"
#include "cpu/ptx/rewrites/uniform_simt.hpp"
#include "cpu/ptx/rewrites/vector_moves.hpp"
#include "cpu/ptx/syntax/module_parser.hpp"

namespace cucore::cpu::ptx {

namespace {

ParseResult parse(std::string_view text, std::span<const TextPiece> pieces) {
  ParseResult result;
  result.module = std::make_unique<Module>();
  result.module->text = text.substr(0, text.find('\0'));
  try {
    ModuleParser(*result.module, result.diagnostics, pieces).parse_module();
  } catch (const Abandon&) {
    // The diagnostic is in the list already.
  }
  if (result.diagnostics.empty()) {
    spell_out_vector_moves(*result.module, result.diagnostics);
    guard_releases_of_uniform_warps(*result.module);
    complete_old_spellings(*result.module);
  }
  if (result.diagnostics.empty()) verify(*result.module, result.diagnostics);
  if (!result.diagnostics.empty()) {
    result.module.reset();
    std::sort(result.diagnostics.begin(), result.diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.position.line, a.position.column, a.message) <
             std::tie(b.position.line, b.position.column, b.message);
    });
  }
  return result;
}

}  // namespace

ParseResult parse(std::string_view text) { return parse(text, {}); }

ParseResult parse(const Excerpt& excerpt) { return parse(excerpt.text, excerpt.pieces); }

std::string format(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += "ptx:" + std::to_string(diagnostic.position.line) + ":" + std::to_string(diagnostic.position.column) +
            ": error: " + diagnostic.message + "\n";
  }
  return text;
}

}  // namespace cucore::cpu::ptx
