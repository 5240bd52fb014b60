// The PTX of the inputs of a link, which the linked cubin carries and the CPU device links.
#include <algorithm>
#include <set>
#include <utility>

#include "src/compile/linker_inputs.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/device_units.hpp"

namespace cucore::detail {
namespace {

bool has_units(CodeType type) {
  return type == CodeType(CodeType::fatbin) || type == CodeType(CodeType::object) ||
         type == CodeType(CodeType::library);
}

std::string name_of(const LinkInput& input, const DeviceUnit& unit) {
  return input.name + (unit.member.empty() ? "" : ":" + unit.member);
}

// Whether LTO-IR is the part of it that is linked.
bool is_ir(const DeviceUnit& unit, int capability) {
  const FatbinImage* image = unit.best(capability);
  return image != nullptr && image->type == CodeType(CodeType::ltoir) &&
         unit.best(capability, CodeType::ptx) == nullptr;
}

// An image of PTX, or what the cubin carries.
std::vector<LinkInput> ptx_of_unit(const LinkInput& input, const DeviceUnit& unit, int capability, std::string& why) {
  std::vector<LinkInput> modules;
  const FatbinImage* ptx = unit.best(capability, CodeType::ptx);
  const FatbinImage* image = ptx != nullptr ? ptx : unit.best(capability, CodeType::cubin);
  if (image == nullptr) return modules;
  ImageBytes read = decompressed(*image);
  if (!read.fault.empty()) {
    why = "its image for " + image->arch + " cannot be read: " + read.fault;
  } else if (ptx != nullptr) {
    modules.push_back({.type = CodeType::ptx, .name = name_of(input, unit), .bytes = std::move(read.bytes)});
  } else {
    for (const std::string_view module : embedded_ptx_modules(read.bytes)) {
      modules.push_back({.type = CodeType::ptx, .name = name_of(input, unit), .bytes = std::string(module)});
    }
  }
  return modules;
}

// From a library: its kernels, what others need, and what that needs in turn.
void add_needed(std::vector<LinkInput>& modules, std::vector<LinkInput> offered) {
  for (bool grew = true; grew;) {
    std::vector<std::string_view> texts;
    for (const LinkInput& module : modules) texts.push_back(module.bytes);
    const std::vector<std::string> sorted = undefined_in(texts);
    const std::set<std::string, std::less<>> missing(sorted.begin(), sorted.end());
    const auto is_needed = [&](const LinkInput& module) {
      const std::vector<CodeSymbol> symbols = ptx_symbols(module.bytes);
      return std::any_of(symbols.begin(), symbols.end(), [&](const CodeSymbol& symbol) {
        return symbol.kind != CodeSymbol::undefined && (symbol.is_kernel || missing.contains(symbol.name));
      });
    };
    std::vector<LinkInput> left;
    for (LinkInput& module : offered) (is_needed(module) ? modules : left).push_back(std::move(module));
    grew = left.size() != offered.size();
    offered = std::move(left);
  }
}

}  // namespace

std::vector<LinkInput> ptx_of_inputs(const LinkInputs& inputs, std::string_view arch, std::string& lacking) {
  const int capability = parse_architecture(arch).number;
  std::vector<LinkInput> modules;
  std::vector<LinkInput> offered;
  const auto note = [&](const LinkInput& input, const std::string& why) {
    lacking += (lacking.empty() ? "" : ", ") + quoted(input) + (why.empty() ? "" : ", as " + why);
  };
  for (const LinkInput& input : inputs.inputs) {
    if (input.type == CodeType(CodeType::ptx)) {
      modules.push_back(input);
    } else if (input.type == CodeType(CodeType::cubin)) {
      const std::vector<std::string_view> its = embedded_ptx_modules(input.bytes);
      for (const std::string_view module : its) {
        modules.push_back({.type = CodeType::ptx, .name = input.name, .bytes = std::string(module)});
      }
      if (its.empty()) note(input, {});
    } else if (has_units(input.type)) {
      // A library's members without PTX matter only if the PTX of the others leaves something undefined.
      const bool is_library = input.type == CodeType(CodeType::library);
      for (const DeviceUnit& unit : device_units(input.type, input.bytes).units) {
        if (unit.images.empty() || is_ir(unit, capability)) continue;
        std::string why;
        std::vector<LinkInput> its = ptx_of_unit(input, unit, capability, why);
        if (its.empty() && !is_library) note(input, why);
        std::move(its.begin(), its.end(), std::back_inserter(is_library ? offered : modules));
      }
    }
  }
  add_needed(modules, std::move(offered));
  return modules;
}

std::vector<LinkInput> ir_of_inputs(const LinkInputs& inputs, std::string_view arch) {
  const int capability = parse_architecture(arch).number;
  const auto has_ir = [&](const LinkInput& input) {
    if (input.type == CodeType(CodeType::ltoir)) return true;
    const std::vector<DeviceUnit> units = device_units(input.type, input.bytes).units;
    return std::any_of(units.begin(), units.end(), [&](const DeviceUnit& unit) { return is_ir(unit, capability); });
  };
  std::vector<LinkInput> result;
  std::copy_if(inputs.inputs.begin(), inputs.inputs.end(), std::back_inserter(result), has_ir);
  return result;
}

}  // namespace cucore::detail
