// A ptxas for programs that compile PTX to cubins themselves (Triton, torch.compile) and load them on the CPU device:
// what it writes carries its PTX. The machine code is by NVIDIA's ptxas if there is one, else there is none.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/image/cubin.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/toolkit_shims/command_line.hpp"
#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/real_tool.hpp"

using namespace cucore::cpu::toolkit_shims;
using cucore::cpu::Result;
namespace ptx = cucore::cpu::ptx;

namespace {

constexpr int failed = 255;  // as NVIDIA's

using Takes = OptionRule::Takes;
constexpr std::array rules{
    OptionRule{"Ofast-compile", "Ofc", Takes::Value},
    OptionRule{"allow-expensive-optimizations", "", Takes::Value},
    OptionRule{"compile-as-tools-patch", "astoolspatch"},
    OptionRule{"compile-only", "c"},
    OptionRule{"compiler-annotations", "annotate"},
    OptionRule{"def-load-cache", "dlcm", Takes::Value},
    OptionRule{"def-store-cache", "dscm", Takes::Value},
    OptionRule{"device-debug", "g"},
    OptionRule{"device-function-maxrregcount", "func-maxrregcount", Takes::Value},
    OptionRule{"device-stack-protector", "", Takes::Value},
    OptionRule{"disable-optimizer-constants", "disable-optimizer-consts"},
    OptionRule{"disable-warnings", "w"},
    OptionRule{"dont-merge-basicblocks", "no-bb-merge"},
    OptionRule{"entry", "e", Takes::Values},
    OptionRule{"extensible-whole-program", "ewp"},
    OptionRule{"fdevice-time-trace", "", Takes::Value},
    OptionRule{"fmad", "", Takes::Value},
    OptionRule{"force-load-cache", "flcm", Takes::Value},
    OptionRule{"force-store-cache", "fscm", Takes::Value},
    OptionRule{"g-tensor-memory-access-check", "g-tmem-access-check"},
    OptionRule{"generate-line-info", "lineinfo"},
    OptionRule{"gpu-name", "arch", Takes::Value},
    OptionRule{"help", "h"},
    OptionRule{"input-as-string", "ias", Takes::Value},
    OptionRule{"jump-table-density", "", Takes::Value},
    OptionRule{"legacy-bar-warp-wide-behavior", ""},
    OptionRule{"machine", "m", Takes::Joined},
    OptionRule{"make-errors-visible-at-exit", ""},
    OptionRule{"maxntid", "", Takes::Values},
    OptionRule{"maxrregcount", "", Takes::Value},
    OptionRule{"minnctapersm", "", Takes::Value},
    OptionRule{"opt-level", "O", Takes::Joined},
    OptionRule{"optimize-float-atomics", "opt-fp-atomics"},
    OptionRule{"options-file", "optf", Takes::Value},
    OptionRule{"output-file", "o", Takes::Value},
    OptionRule{"override-directive-values", ""},
    OptionRule{"position-independent-code", "pic", Takes::Value},
    OptionRule{"preserve-relocs", ""},
    OptionRule{"regAllocOptLevel", "", Takes::Value},
    OptionRule{"register-usage-level", "regUsageLevel", Takes::Value},
    OptionRule{"return-at-end", "ret-end"},
    OptionRule{"sp-bounds-check", ""},
    OptionRule{"split-compile", "", Takes::Value},
    OptionRule{"suppress-async-bulk-multicast-advisory-warning", ""},
    OptionRule{"suppress-debug-info", ""},
    OptionRule{"suppress-double-demote-warning", ""},
    OptionRule{"suppress-stack-size-warning", ""},
    OptionRule{"verbose", "v"},
    OptionRule{"version", "V"},
    OptionRule{"warn-on-double-precision-use", "warn-double-usage"},
    OptionRule{"warn-on-local-memory-usage", "warn-lmem-usage"},
    OptionRule{"warn-on-spills", ""},
    OptionRule{"warning-as-error", "Werror"},
};

int fatal(const std::string& what) {
  std::cerr << "ptxas fatal   : " << what << '\n';
  return failed;
}

// PTX ISA 9.0, whose vocabulary the CPU device has, is CUDA 13.0's. Clients look for the release.
constexpr std::string_view version =
    "ptxas: cucore's, which keeps PTX for the CPU device and makes no machine code\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n";

struct Architecture {
  unsigned number = 0;
  bool is_virtual = false;  ///< compute_80: nothing is written
};

/// "sm_90a" → 90. None if it is not of that form.
std::optional<Architecture> architecture_of(std::string_view name) {
  Architecture architecture;
  const std::string_view prefix = name.substr(0, name.find('_') + 1);
  architecture.is_virtual = prefix == "compute_" || prefix == "lto_";
  if (!architecture.is_virtual && prefix != "sm_") return std::nullopt;
  std::string_view digits = name.substr(prefix.size());
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) digits.remove_suffix(1);
  if (digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  architecture.number = static_cast<unsigned>(std::atoi(std::string(digits).c_str()));
  return architecture;
}

struct Source {
  std::string text;
  std::string name;  ///< for messages
};

int read_source(const CommandLine& line, Source* source) {
  if (const auto text = line.value("input-as-string")) {
    *source = {*text, "<string>"};
    return 0;
  }
  if (line.inputs.size() != 1)
    return fatal(line.inputs.empty() ? "No input file was given" : "More than one input file was given");
  source->name = line.inputs.front();
  if (source->name == "-") {
    source->text.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  } else if (!read_file(source->name, &source->text)) {
    return fatal("Input file '" + source->name + "' could not be opened");
  }
  return 0;
}

/// Reports here what the CPU device would report when it loads the PTX.
int check(const Source& source, const Architecture& architecture, bool is_verbose) {
  const ptx::ParseResult parsed = ptx::parse(source.text);
  for (const ptx::Diagnostic& diagnostic : parsed.diagnostics)
    std::cerr << "ptxas " << source.name << ", line " << diagnostic.position.line
              << "; error   : " << diagnostic.message << '\n';
  if (!parsed.module) return fatal("Ptx assembly aborted due to errors");
  const std::optional<Architecture> target = architecture_of(parsed.module->target);
  if (target && target->number > architecture.number)
    return fatal("SM version specified by .target is higher than default SM version assumed");
  if (is_verbose)
    std::cerr << "ptxas info    : PTX for the CPU device, no machine code: registers and spills are not known\n";
  return 0;
}

/// Too old for the program's options, PTX or architecture: then there is no machine code.
bool is_too_old(const std::string& errors) {
  constexpr std::array said{"Unknown option", "Unsupported .version", "is not defined for option 'gpu-name'"};
  return std::any_of(said.begin(), said.end(),
                     [&](const char* part) { return errors.find(part) != std::string::npos; });
}

/// Machine code by NVIDIA's ptxas. Empty if that is too old; then `status` is 0.
std::string machine_code(const std::filesystem::path& real, const CommandLine& line, const Source& source,
                         int* status) {
  const TemporaryFolder folder;
  const std::string input = (folder / "source.ptx").string(), output = (folder / "code.cubin").string();
  std::vector<std::string> arguments;
  for (const CommandLine::Option& option : line.options)
    if (option.rule->name != "output-file" && option.rule->name != "input-as-string")
      arguments.insert(arguments.end(), option.words.begin(), option.words.end());
  arguments.insert(arguments.end(), {"-o", output, input});
  if (!write_file(input, source.text)) {
    *status = fatal("Temporary file '" + input + "' could not be written");
    return {};
  }
  Finished finished = run_program(real, arguments, true);
  for (std::size_t at; (at = finished.errors.find(input)) != std::string::npos;)
    finished.errors.replace(at, input.size(), source.name);
  std::string code;
  *status = finished.status;
  if (finished.status != 0 && is_too_old(finished.errors)) {
    std::cerr << "ptxas warning : " << real.string()
              << " is too old, so the cubin has no machine code; the CPU device needs none. Its output:\n";
    *status = 0;
  }
  std::cerr << finished.errors;
  if (finished.status == 0) read_file(output, &code);
  return code;
}

int run(const std::vector<std::string>& words) {
  Result<CommandLine> line = read_command_line(words, rules, "options-file");
  const std::filesystem::path real = find_real_tool("ptxas");
  if (!line) return fatal(line.failure().sentence());
  if (words.empty() || line->has("help") || line->has("version")) {
    if (!real.empty()) return run_program(real, words).status;
    if (line->has("version")) {
      std::cout << version;
      return 0;
    }
    std::cout << "\nUsage  : ptxas [options] <ptx file>\n\nOptions\n=======\n\n";
    for (const OptionRule& rule : rules)
      std::cout << "--" << rule.name << " (-" << (rule.short_name.empty() ? rule.name : rule.short_name) << ")"
                << (rule.takes == Takes::Nothing ? "" : " <value>") << '\n';
    return 0;
  }
  Source source;
  if (const int status = read_source(*line, &source); status != 0) return status;
  const std::string gpu = line->value("gpu-name").value_or("sm_75");
  const std::optional<Architecture> architecture = architecture_of(gpu);
  if (!architecture) return fatal("Value '" + gpu + "' is not defined for option 'gpu-name'");

  std::string code;
  if (!real.empty()) {
    int status = 0;
    code = machine_code(real, *line, source, &status);
    if (status != 0) return status;
  }
  if (code.empty())
    if (const int status = check(source, *architecture, line->has("verbose")); status != 0) return status;
  if (architecture->is_virtual) return 0;
  source.text.resize(std::min(source.text.size(), source.text.find('\0')));
  const std::string limit = line->value("maxrregcount").value_or("");
  std::uint32_t max_registers = 0;
  std::from_chars(limit.data(), limit.data() + limit.size(), max_registers);
  const std::string cubin = code.empty()
                                ? cucore::cpu::image::write_cubin(source.text, architecture->number, max_registers)
                            : !ptx_of(code).empty() ? code  // by a script that went on to a program like this one
                                                    : with_ptx(code, {source.text + '\0'});
  const std::string output = line->value("output-file").value_or("elf.o");
  return write_file(output, cubin) ? 0 : fatal("Output file '" + output + "' could not be written");
}

}  // namespace

int main(int count, char** arguments) { return run({arguments + 1, arguments + count}); }
