// Reading and checking the inputs of a link.
#include "src/linker_inputs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cucore/error.hpp"
#include "src/detail/code_symbols.hpp"
#include "src/detail/elf.hpp"
#include "src/detail/fatbin.hpp"

namespace cucore::detail {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw ValueError({.call = "Linker", .message = message, .hint = hint});
}

std::string quoted(const LinkInput& input) {
  return "input '" + input.name + "' (" + std::string(input.type.name()) + ")";
}

// The PTX in a fat binary that is best for `arch`.
std::vector<std::string> ptx_of_fatbin(std::string_view bytes, std::string_view arch) {
  std::vector<FatbinImage> images = read_fatbin(bytes).value_or(std::vector<FatbinImage>());
  std::erase_if(images, [](const FatbinImage& image) { return image.type != CodeType(CodeType::ptx); });
  const std::vector<std::size_t> usable = usable_images(images, parse_architecture(arch).number);
  if (usable.empty()) return {};
  return {std::string(images[usable.front()].bytes)};
}

std::vector<CodeSymbol> symbols_of(const LinkInput& input) {
  if (input.type == CodeType(CodeType::ptx)) return ptx_symbols(input.bytes);
  if (input.type == CodeType(CodeType::cubin)) return cubin_symbols(input.bytes);
  return {};
}

// Names that `input` defines for others to see, whichever of its images is linked.
std::set<std::string> definitions_of(const LinkInput& input) {
  std::set<std::string> names;
  const auto add = [](std::set<std::string>& to, const std::vector<CodeSymbol>& symbols) {
    for (const CodeSymbol& symbol : symbols) {
      if (symbol.kind == CodeSymbol::strong) to.insert(symbol.name);
    }
  };
  add(names, symbols_of(input));
  if (input.type != CodeType(CodeType::fatbin)) return names;
  bool is_first = true;
  for (const FatbinImage& image : read_fatbin(input.bytes).value_or(std::vector<FatbinImage>())) {
    if (image.is_compressed) return {};
    const bool is_ptx = image.type == CodeType(CodeType::ptx);
    std::set<std::string> its;
    add(its, is_ptx ? ptx_symbols(image.bytes) : cubin_symbols(image.bytes));
    if (is_first) names = its;
    std::erase_if(names, [&](const std::string& name) { return !its.contains(name); });
    is_first = false;
  }
  return names;
}

}  // namespace

bool LinkInputs::any(CodeType type) const noexcept {
  return std::any_of(inputs.begin(), inputs.end(), [&](const LinkInput& input) { return input.type == type; });
}

bool LinkInputs::all(CodeType type) const noexcept {
  return std::all_of(inputs.begin(), inputs.end(), [&](const LinkInput& input) { return input.type == type; });
}

LinkInputs read_inputs(const std::vector<ObjectCode>& codes) {
  LinkInputs result;
  std::map<std::string, int> uses;
  for (const ObjectCode& code : codes) ++uses[code.name()];
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const ObjectCode& code = codes[i];
    LinkInput input{.type = code.code_type(), .name = code.name(), .bytes = code.read()};
    if (input.name.empty() && !code.path().empty()) input.name = code.path().string();
    if (input.name.empty() || uses[code.name()] > 1) {
      input.name += (input.name.empty() ? "input " : ", input ") + std::to_string(i + 1);
    }
    if (input.bytes.empty()) refuse(quoted(input) + " is empty", "compile it again");
    if (input.type == CodeType(CodeType::ptx) && input.bytes.find('\0') != std::string::npos) {
      refuse(quoted(input) + " has a NUL character inside", "PTX is text");
    }
    if (input.type == CodeType(CodeType::cubin)) {
      // Linkers believe what a cubin says of itself.
      if (const char* fault = elf_fault(input.bytes))
        refuse(quoted(input) + " is no cubin: " + fault, "compile it again");
    }
    for (const auto& [spelling, symbol] : code.symbol_mapping()) result.mapping.emplace(spelling, symbol);
    result.inputs.push_back(std::move(input));
  }
  return result;
}

void refuse_double_definitions(const LinkInputs& inputs) {
  std::map<std::string, const LinkInput*> definitions;
  for (const LinkInput& input : inputs.inputs) {
    for (const std::string& symbol : definitions_of(input)) {
      const auto [known, fresh] = definitions.emplace(symbol, &input);
      if (!fresh) {
        refuse("symbol '" + symbol + "' is defined by " + quoted(*known->second) + " and by " + quoted(input),
               "define it in one of them and declare it extern in the other, or make it static or inline");
      }
    }
  }
}

void refuse_other_architectures(const LinkInputs& inputs, std::string_view arch) {
  const int wanted = parse_architecture(arch).number;
  for (const LinkInput& input : inputs.inputs) {
    std::string its;
    bool usable = true;
    if (input.type == CodeType(CodeType::cubin)) {
      its = architecture_of_cubin(input.bytes);
      usable = can_use(input.type, "sm_" + std::to_string(parse_architecture(its).number), wanted);
    } else if (input.type == CodeType(CodeType::ptx)) {
      its = architecture_of_ptx(input.bytes);
      usable = its.empty() || can_use(input.type, its, wanted);
    } else if (const auto images = read_fatbin(input.bytes)) {
      usable = images->empty();
      for (const FatbinImage& image : *images) {
        its += (its.empty() ? "" : ", ") + image.arch;
        usable = usable || can_use(image.type, image.arch, wanted);
      }
    }
    if (!usable) {
      refuse(quoted(input) + " is for " + its + " and cannot be linked for " + std::string(arch),
             "compile it for " + std::string(arch) + ", or link for its architecture");
    }
  }
}

void refuse_lost_kernels(const LinkInputs& inputs, std::string_view cubin, const std::string& description) {
  std::set<std::string> present;
  for (CodeSymbol& symbol : cubin_symbols(cubin)) {
    if (symbol.kind != CodeSymbol::undefined) present.insert(std::move(symbol.name));
  }
  if (present.empty() && elf_section(cubin, ".symtab") == std::nullopt) return;
  for (const LinkInput& input : inputs.inputs) {
    for (const CodeSymbol& symbol : symbols_of(input)) {
      if (!symbol.is_kernel || symbol.kind == CodeSymbol::undefined || present.contains(symbol.name)) continue;
      throw NvJitLinkError({.call = "nvJitLinkComplete",
                            .message = description + ": the linker reported success, but kernel '" + symbol.name +
                                       "' of " + quoted(input) + " is not in the result",
                            .hint = "check that the input is for the architecture of the link"});
    }
  }
}

std::vector<std::string> ptx_of_inputs(const LinkInputs& inputs, std::string_view arch, std::string& lacking) {
  std::vector<std::string> modules;
  for (const LinkInput& input : inputs.inputs) {
    std::vector<std::string> its;
    if (input.type == CodeType(CodeType::ptx)) {
      its.push_back(input.bytes);
    } else if (input.type == CodeType(CodeType::fatbin)) {
      its = ptx_of_fatbin(input.bytes, arch);
    } else if (input.type == CodeType(CodeType::cubin)) {
      for (const std::string_view module : embedded_ptx_modules(input.bytes)) its.emplace_back(module);
    }
    // Of a library only what is needed goes in; whether that is anything shows in what the PTX leaves undefined.
    const bool may_do_without = input.type == CodeType(CodeType::ltoir) || input.type == CodeType(CodeType::library);
    if (its.empty() && !may_do_without) {
      lacking += (lacking.empty() ? "" : ", ") + quoted(input);
    }
    std::move(its.begin(), its.end(), std::back_inserter(modules));
  }
  return modules;
}

}  // namespace cucore::detail
