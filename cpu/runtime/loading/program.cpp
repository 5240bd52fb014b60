// Loading images: see program.hpp.
#include "cpu/runtime/loading/program.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "cpu/abi/alignment.hpp"
#include "cpu/abi/demangle.hpp"
#include "cpu/analysis/fidelity.hpp"
#include "cpu/analysis/layout/layout.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/loading/image_source.hpp"
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

/// `is_newer`: the module is for a newer architecture than the device's, and so are its limits on threads. Host code
/// launches with what suits the capability that it sees, and such a limit is only a promise to the compiler.
KernelDescription describe(const ptx::Module& module, ptx::FunctionId id, std::uint32_t max_registers, bool is_newer) {
  const ptx::Function& function = module.functions[id];
  KernelDescription kernel;
  kernel.id = id;
  kernel.name = function.name;
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
  kernel.registers = std::min(needed, register_limit(directives, max_registers));
  kernel.spilled_bytes = 4 * (needed - kernel.registers);
  return kernel;
}

Result<std::shared_ptr<Program>> make(const ImageSource& source, int capability, std::uint32_t max_registers) {
  ptx::ParseResult parsed = ptx::parse(source.ptx);
  if (!parsed.module) {
    const bool too_new = std::any_of(parsed.diagnostics.begin(), parsed.diagnostics.end(), [](const auto& diagnostic) {
      return diagnostic.kind == ptx::Diagnostic::Kind::UnsupportedVersion;
    });
    const bool is_ptx = source.ptx.find(".version") != std::string::npos;
    return Failure(too_new  ? ErrorCode::UnsupportedPtxVersion
                   : is_ptx ? ErrorCode::InvalidPtx
                            : ErrorCode::InvalidImage,
                   ptx::format(parsed.diagnostics));
  }
  auto program = std::make_shared<Program>();
  program->ptx = std::move(parsed.module);
  if (program->ptx->address_size != 64)
    return Failure(ErrorCode::InvalidPtx, "ptx: error: 32-bit addresses (.address_size 32) are not supported");
  if (Result<void> fits = check_target(source, *program->ptx, capability); !fits) return std::move(fits).failure();
  bool specific = false;
  program->target = target_number(*program->ptx, &specific);
  // Most images have nothing that is not supported, and one look at each function shows it.
  const bool must_look = !analysis::find_unsupported(*program->ptx).empty() || is_strict();
  const std::uint32_t registers = smaller_limit(max_registers, source.max_registers);
  for (ptx::FunctionId id = 0; id < program->ptx->functions.size(); ++id) {
    const ptx::Function& function = program->ptx->functions[id];
    if (!function.is_entry || !function.has_body) continue;
    KernelDescription& kernel =
        program->kernels.emplace_back(describe(*program->ptx, id, registers, program->target > capability));
    if (const auto known = source.registers.find(kernel.name); known != source.registers.end()) {
      kernel.registers = known->second;  // the assembler's own count
      kernel.spilled_bytes = 0;
    }
    if (must_look) kernel.supported = check_instructions(*program->ptx, id);
  }
  return program;
}

std::string describe_kernels(const Program& program) {
  std::string log =
      "cucore CPU device: " + std::to_string(program.kernels.size()) + " kernels, each compiled at its first launch";
  for (const KernelDescription& kernel : program.kernels)
    if (!kernel.supported) log += "\n" + kernel.name + " cannot run:\n" + kernel.supported.failure().sentence();
  return log;
}

}  // namespace

int Program::find_kernel(std::string_view name) const {
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].name == name) return static_cast<int>(i);
  return -1;
}

Result<std::shared_ptr<const Program>> load_program(const void* image, std::size_t size, int capability,
                                                    const JitOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  Result<ImageSource> source = ptx_of_image(image, size, capability);
  Result<std::shared_ptr<Program>> made =
      source ? make(*source, capability, options.max_registers()) : std::move(source).failure();
  const std::chrono::duration<float, std::milli> took = std::chrono::steady_clock::now() - started;
  options.write_wall_time(took.count());
  if (!made) {
    options.write_error_log(made.failure().sentence());
    options.write_info_log("");
    report(made.failure().sentence());
    return std::move(made).failure();
  }
  options.write_error_log("");
  options.write_info_log(describe_kernels(**made));
  return *std::move(made);
}

Result<std::shared_ptr<const Program>> load_program_file(const char* path, int capability, const JitOptions& options) {
  std::ifstream file(path, std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return ErrorCode::FileNotFound;
  return load_program(image.data(), image.size(), capability, options);
}

Result<void> check_supported(const KernelDescription& kernel) {
  if (kernel.supported) return {};
  std::string sentence = "kernel " + kernel.name + ":\n" + kernel.supported.failure().sentence();
  report(sentence);
  return Failure(ErrorCode::NotSupported, std::move(sentence));
}

}  // namespace cucore::cpu::runtime
