// Makes link-time optimisation keep functions of its LTO-IR that only the PTX of other inputs calls: with LTO-IR of a
// kernel that takes their addresses, whatever their signatures are. nvJitLink keeps kernels and variables by itself.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/compile/linker_inputs.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/toolkit/nvrtc.hpp"

namespace cucore::detail {
namespace {

// The function that a line of the compiler's PTX declares or defines for its own module only; empty if it is no such
// line: ".func  (.param .b32 func_retval0) name(", ".func name".
std::string_view internal_function(std::string_view line) {
  constexpr std::string_view directive = ".func";
  if (!line.starts_with(directive)) return {};
  line.remove_prefix(directive.size());
  const auto skip_spaces = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_spaces();
  if (line.starts_with('(')) {
    line.remove_prefix(std::min(line.find(')'), line.size() - 1) + 1);
    skip_spaces();
  }
  return line.substr(0, line.find_first_of("( \t"));
}

}  // namespace

std::vector<std::string> functions_missing_in(const std::vector<std::string>& ptx_modules) {
  std::set<std::string, std::less<>> variables;
  for (const std::string& module : ptx_modules) {
    for (CodeSymbol& symbol : ptx_symbols(module)) {
      if (symbol.is_variable) variables.insert(std::move(symbol.name));
    }
  }
  std::vector<std::string> missing = undefined_in({ptx_modules.begin(), ptx_modules.end()});
  std::erase_if(missing, [&](const std::string& name) { return variables.contains(name); });
  return missing;
}

// The same kernel as in cpu/toolkit_shims/lto_ptx.cpp, for clients that are not cucore: library and shims share no
// code.
LinkInput keeper_of(const std::vector<std::string>& functions, std::string_view arch) {
  std::string source;
  std::string body;
  for (const std::string& name : functions) {
    source += "extern \"C\" __device__ void " + name + "();\n";
    body += " *out++ = (void*)" + name + ";";
  }
  source += "extern \"C\" __global__ void " + std::string(keeper_name) + "(void** out) {" + body + " }\n";
  const std::string name(keeper_name);
  const std::vector<std::string> flags{"-dlto", "-rdc=true", "-arch=" + std::string(arch)};
  std::unique_ptr<toolkit::NvrtcNative> native;
  toolkit::NvrtcOutput made = toolkit::compile_with_nvrtc({.source = source,
                                                           .name = name,
                                                           .headers = {},
                                                           .flags = flags,
                                                           .name_expressions = {},
                                                           .target = CodeType::ltoir,
                                                           .arch = arch},
                                                          native);
  return {.type = CodeType::ltoir, .name = name, .bytes = std::move(made.image)};
}

std::string without_keeper(std::string_view ptx, const std::vector<std::string>& functions) {
  const std::set<std::string_view> kept(functions.begin(), functions.end());
  const std::string its_entry = ".visible .entry " + std::string(keeper_name) + "(";
  std::string result;
  bool is_inside = false;
  while (!ptx.empty()) {
    const std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(line.size() + 1, ptx.size()));
    is_inside = is_inside || line.starts_with(its_entry);
    const bool names_it = line.starts_with("\t//") && line.ends_with(keeper_name);
    if (!is_inside && !names_it) {
      if (kept.contains(internal_function(line))) result += ".visible ";
      result.append(line) += '\n';
    }
    if (line == "}") is_inside = false;
  }
  return result;
}

}  // namespace cucore::detail
