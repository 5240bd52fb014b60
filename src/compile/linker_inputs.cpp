// Reading and checking the inputs of a link.
#include "src/compile/linker_inputs.hpp"
#include "src/formats/architecture.hpp"

#include <algorithm>
#include <map>

#include "cucore/error.hpp"
#include "src/error/refuse.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/device_units.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/fatbin.hpp"
#include "src/formats/ptx_syntax.hpp"

namespace cucore::detail {
namespace {

// Linkers trust the sizes and offsets in their inputs, so those are checked first.
void refuse_damaged(const LinkInput& input) {
  if (input.type == CodeType(CodeType::cubin)) {
    if (const char* fault = elf_fault(input.bytes))
      refuse("Linker", quoted(input) + " is not a cubin: " + fault, "compile it again");
    return;
  }
  const DeviceUnits found = device_units(input.type, input.bytes);
  if (!found.fault.empty()) {
    refuse("Linker", quoted(input) + " is no " + std::string(input.type.name()) + ": " + found.fault,
           "compile it again");
  }
  if (input.type == CodeType(CodeType::object) && found.units.empty() && found.has_whole_programs) {
    refuse("Linker", quoted(input) + " has device code that is not relocatable, which linkers pass over",
           "compile it with nvcc -rdc=true");
  }
}

}  // namespace

std::string quoted(const LinkInput& input) {
  return "input '" + input.name + "' (" + std::string(input.type.name()) + ")";
}

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
    if (input.bytes.empty()) refuse("Linker", quoted(input) + " is empty", "compile it again");
    if (input.type == CodeType(CodeType::ptx) && input.bytes.find('\0') != std::string::npos) {
      refuse("Linker", quoted(input) + " has a NUL character inside", "PTX is text");
    }
    refuse_damaged(input);
    for (const auto& [spelling, symbol] : code.symbol_mapping()) result.mapping.emplace(spelling, symbol);
    result.inputs.push_back(std::move(input));
  }
  return result;
}

bool looks_like_no_code(const LinkInput& input) {
  constexpr std::string_view ir_magic = "\xed\x43\x4e\x7f";
  if (input.type == CodeType(CodeType::ptx)) return !looks_like_ptx(input.bytes);
  return input.type == CodeType(CodeType::ltoir) && !input.bytes.starts_with(ir_magic);
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
    } else if (input.type != CodeType(CodeType::library)) {  // of which members are there for every architecture
      for (const DeviceUnit& unit : device_units(input.type, input.bytes).units) {
        usable = usable && (unit.images.empty() || unit.best(wanted) != nullptr);
        for (const FatbinImage& image : unit.images) its += (its.empty() ? "" : ", ") + image.arch;
      }
    }
    if (!usable) {
      refuse("Linker", quoted(input) + " is for " + its + " and cannot be linked for " + std::string(arch),
             "compile it for " + std::string(arch) + ", or link for its architecture");
    }
  }
}

}  // namespace cucore::detail
