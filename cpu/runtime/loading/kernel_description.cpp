// Kernels described: see kernel_description.hpp.
#include "cpu/runtime/loading/kernel_description.hpp"

#include <algorithm>
#include <utility>

#include "cpu/abi/alignment.hpp"
#include "cpu/abi/demangle.hpp"
#include "cpu/analysis/fidelity.hpp"
#include "cpu/analysis/layout/layout.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {
namespace {

/// One line for each of the first instructions, and how many more there are.
std::string list(const std::vector<analysis::Unsupported>& instructions, std::string_view what_is_wrong) {
  constexpr std::size_t most_of_them = 20;
  std::string log;
  for (std::size_t i = 0; i < std::min(instructions.size(), most_of_them); ++i) {
    const analysis::Unsupported& each = instructions[i];
    log += "ptx:" + std::to_string(each.line) + ": error: " + each.instruction + " is not " +
           std::string(what_is_wrong) + " (" + each.reason + "), in " + each.function + "\n";
  }
  if (instructions.size() > most_of_them)
    log += "... and " + std::to_string(instructions.size() - most_of_them) + " more\n";
  return log;
}

/// CUCORE_CPU_STRICT=1, read once.
bool is_strict() {
  static const bool strict = is_set_to(Setting::strict, "1");
  return strict;
}

/// Whether a kernel runs here, looking at all that it reaches.
Result<void> check_instructions(const ptx::Module& module, ptx::FunctionId kernel) {
  if (const auto missing = analysis::find_unsupported(module, kernel); !missing.empty())
    return Failure(ErrorCode::NotSupported, list(missing, "supported by the CPU device"));
  if (!is_strict()) return {};
  if (const auto approximate = analysis::find_approximate(module, kernel); !approximate.empty())
    return Failure(ErrorCode::NotSupported, list(approximate, "exact on the CPU device, as CUCORE_CPU_STRICT asks"));
  return {};
}

std::uint32_t product(const std::optional<std::uint32_t> (&shape)[3]) {
  return shape[0].value_or(1) * shape[1].value_or(1) * shape[2].value_or(1);
}

/// The most registers that a kernel's threads may have: its directives', the load call's (0: none), the device's.
std::uint32_t register_limit(const ptx::PerformanceDirectives& directives, std::uint32_t of_call) {
  constexpr std::uint32_t most = 255;
  constexpr std::uint32_t least = 16;  // with fewer no kernel can call a function
  std::uint32_t limit = most;
  if (directives.maxnreg) limit = std::min(limit, *directives.maxnreg);
  if (of_call != 0) limit = std::min(limit, of_call);
  const std::uint32_t threads = directives.reqntid[0]   ? product(directives.reqntid)
                                : directives.maxntid[0] ? product(directives.maxntid)
                                                        : 0;
  const std::uint64_t resident = std::uint64_t{threads} * directives.minnctapersm.value_or(1);
  if (resident != 0) limit = std::min(limit, static_cast<std::uint32_t>(registers_per_block / resident));
  return std::max(limit, least);
}

/// The smaller of two limits, of which 0 is none.
std::uint32_t smaller_limit(std::uint32_t a, std::uint32_t b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

}  // namespace

void describe(KernelDescription& kernel, std::shared_ptr<const ptx::Module> ptx, ptx::FunctionId id,
              const ImageSource& source, int capability, std::uint32_t max_registers, bool must_look) {
  const ptx::Module& module = *ptx;
  const ptx::Function& function = module.functions[id];
  kernel.ptx = std::move(ptx);
  kernel.id = id;
  kernel.display_name = demangled(kernel.name);
  kernel.info = analysis::describe(module, id);
  for (const ptx::VariableId variable : function.parameters) {
    const ptx::Variable& parameter = function.variables[variable];
    const std::size_t offset = round_up(kernel.parameter_bytes, parameter.alignment);
    kernel.parameters.push_back({offset, static_cast<std::size_t>(parameter.size)});
    kernel.parameter_bytes = offset + static_cast<std::size_t>(parameter.size);
  }
  kernel.max_threads = max_threads_per_block;
  const ptx::PerformanceDirectives& directives = function.directives;
  // Host code launches with what suits the capability that it sees: such a limit of code for a newer architecture is
  // only a promise to the compiler.
  bool is_specific = false;
  const bool is_newer = target_number(module, &is_specific) > capability;
  if (directives.maxntid[0] && !is_newer)
    kernel.max_threads = std::min(kernel.max_threads, product(directives.maxntid));
  if (directives.reqntid[0]) {
    kernel.max_threads = std::min(kernel.max_threads, product(directives.reqntid));
    for (int axis = 0; axis < 3; ++axis) kernel.required[axis] = directives.reqntid[axis].value_or(1);
  }
  if (directives.reqnctapercluster[0])
    for (int axis = 0; axis < 3; ++axis) kernel.required_cluster[axis] = directives.reqnctapercluster[axis].value_or(1);
  kernel.largest_cluster = directives.maxclusterrank.value_or(0);
  kernel.is_for_clusters = directives.explicitcluster;
  const std::uint32_t needed = kernel.info.registers;
  kernel.registers = std::min(needed, register_limit(directives, smaller_limit(max_registers, source.max_registers)));
  kernel.spilled_bytes = 4 * (needed - kernel.registers);
  if (const auto known = source.registers.find(kernel.name); known != source.registers.end()) {
    kernel.registers = known->second;  // the assembler's own count
    kernel.spilled_bytes = 0;
  }
  if (must_look) kernel.supported = check_instructions(module, id);
}

bool must_look_at_instructions(const ptx::Module& ptx) {
  // Most images have nothing that is not supported, and one look at each function shows it.
  return !analysis::find_unsupported(ptx).empty() || is_strict();
}

Result<void> check_supported(const KernelDescription& kernel) {
  if (kernel.supported) return {};
  std::string sentence = "kernel " + kernel.name + ":\n" + kernel.supported.failure().sentence();
  report(sentence);
  return Failure(ErrorCode::NotSupported, std::move(sentence));
}

}  // namespace cucore::cpu::runtime
