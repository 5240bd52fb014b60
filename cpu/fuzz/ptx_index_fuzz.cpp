// Any text is indexed; whatever the parser accepts whole must have the same kernels and variables in excerpts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "cpu/ptx/module_index.hpp"
#include "cpu/ptx/parser.hpp"

namespace {

using namespace cucore::cpu::ptx;

void require(bool condition) {
  if (!condition) std::abort();
}

void compare(const Module& whole, const Module& variables) {
  require(whole.variables.size() == variables.variables.size());
  for (std::size_t i = 0; i < whole.variables.size(); ++i) {
    require(whole.variables[i].name == variables.variables[i].name);
    require(whole.variables[i].initial == variables.variables[i].initial);
    require(whole.variables[i].position.line == variables.variables[i].position.line);
  }
}

void compare(const Function& whole, const Function* in_excerpt) {
  require(in_excerpt != nullptr && in_excerpt->text == whole.text);
  require(in_excerpt->body.size() == whole.body.size());
  for (std::size_t i = 0; i < whole.body.size(); ++i) {
    require(in_excerpt->body[i].spelt == whole.body[i].spelt);
    require(in_excerpt->body[i].position.line == whole.body[i].position.line);
    require(in_excerpt->body[i].position.column == whole.body[i].position.column);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<ModuleIndex> index = ModuleIndex::of(text);
  if (!index) return 0;
  const ParseResult whole = parse(text);
  const ParseResult variables = parse(index->variables());
  if (whole.module) {
    require(variables.module != nullptr);
    compare(*whole.module, *variables.module);
  }
  std::size_t kernels = 0;
  for (const std::string_view name : index->kernels()) {
    const ParseResult kernel = parse(index->kernel(name));
    if (!whole.module) continue;
    require(kernel.module != nullptr);
    while (kernels < whole.module->functions.size() &&
           (!whole.module->functions[kernels].is_entry || !whole.module->functions[kernels].has_body))
      ++kernels;
    require(kernels < whole.module->functions.size() && whole.module->functions[kernels].name == name);
    compare(whole.module->functions[kernels++], kernel.module->find_function(name));
  }
  return 0;
}
