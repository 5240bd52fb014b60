// An nvcc for programs that compile device code by calling it (PyCUDA: `nvcc --cubin`) and load it on the CPU device:
// what it writes carries its PTX, and so do whole programs that makefiles build for GPUs alone. NVIDIA's nvcc does the
// work if there is one, else NVRTC, which compiles only device code.
#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/runtime/process/settings.hpp"
#include "cpu/toolkit_shims/command_line.hpp"
#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/device_code.hpp"
#include "cpu/toolkit_shims/real_tool.hpp"
#include "cpu/toolkit_shims/toolkit_places.hpp"

using namespace cucore::cpu::toolkit_shims;
using cucore::cpu::Result;
namespace fs = std::filesystem;
namespace runtime = cucore::cpu::runtime;

namespace {

using Takes = OptionRule::Takes;
constexpr std::array rules{
    OptionRule{"allow-unsupported-compiler", ""},
    OptionRule{"clean-targets", "clean"},
    OptionRule{"compile", "c"},
    OptionRule{"compiler-bindir", "ccbin", Takes::Value},
    OptionRule{"compiler-options", "Xcompiler", Takes::Values},
    OptionRule{"compress-mode", "", Takes::Value},
    OptionRule{"cubin", ""},
    OptionRule{"cudart", "", Takes::Value},
    OptionRule{"debug", "g"},
    OptionRule{"default-stream", "", Takes::Value},
    OptionRule{"define-macro", "D", Takes::Joined},
    OptionRule{"device-c", "dc"},
    OptionRule{"device-debug", "G"},
    OptionRule{"device-link", "dlink"},
    OptionRule{"device-w", "dw"},
    OptionRule{"diag-suppress", "", Takes::Value},
    OptionRule{"disable-warnings", "w"},
    OptionRule{"display-error-number", "err-no"},
    OptionRule{"dryrun", ""},
    OptionRule{"expt-relaxed-constexpr", ""},
    OptionRule{"extended-lambda", "expt-extended-lambda"},
    OptionRule{"extra-device-vectorization", ""},
    OptionRule{"fatbin", ""},
    OptionRule{"fmad", "", Takes::Value},
    OptionRule{"ftz", "", Takes::Value},
    OptionRule{"generate-code", "gencode", Takes::Value},
    OptionRule{"generate-dependencies", "M"},
    OptionRule{"generate-line-info", "lineinfo"},
    OptionRule{"gpu-architecture", "arch", Takes::Value},
    OptionRule{"gpu-code", "code", Takes::Values},
    OptionRule{"help", "h"},
    OptionRule{"include-path", "I", Takes::Joined},
    OptionRule{"keep", ""},
    OptionRule{"keep-dir", "", Takes::Value},
    OptionRule{"lib", ""},
    OptionRule{"library", "l", Takes::Joined},
    OptionRule{"library-path", "L", Takes::Joined},
    OptionRule{"link", ""},
    OptionRule{"linker-options", "Xlinker", Takes::Value},
    OptionRule{"machine", "m", Takes::Joined},
    OptionRule{"maxrregcount", "", Takes::Value},
    OptionRule{"nvlink-options", "Xnvlink", Takes::Value},
    OptionRule{"optimize", "O", Takes::Joined},
    OptionRule{"options-file", "optf", Takes::Value},
    OptionRule{"output-directory", "odir", Takes::Value},
    OptionRule{"output-file", "o", Takes::Value},
    OptionRule{"pre-include", "include", Takes::Value},
    OptionRule{"prec-div", "", Takes::Value},
    OptionRule{"prec-sqrt", "", Takes::Value},
    OptionRule{"preprocess", "E"},
    OptionRule{"ptx", ""},
    OptionRule{"ptxas-options", "Xptxas", Takes::Value},
    OptionRule{"relocatable-device-code", "rdc", Takes::Value},
    OptionRule{"resource-usage", "res-usage"},
    OptionRule{"restrict", ""},
    OptionRule{"run", ""},
    OptionRule{"save-temps", ""},
    OptionRule{"shared", ""},
    OptionRule{"source-in-ptx", "src-in-ptx"},
    OptionRule{"std", "", Takes::Value},
    OptionRule{"system-include", "isystem", Takes::Joined},
    OptionRule{"threads", "t", Takes::Value},
    OptionRule{"undefine-macro", "U", Takes::Joined},
    OptionRule{"use_fast_math", ""},
    OptionRule{"verbose", "v"},
    OptionRule{"version", "V"},
    OptionRule{"Werror", "", Takes::Value},
    OptionRule{"Wno-deprecated-gpu-targets", ""},
    OptionRule{"x", "", Takes::Value},
};

int fatal(const std::string& what) {
  std::cerr << "nvcc fatal   : " << what << '\n';
  return 1;
}

/// That of the CPU device, such as "sm_90".
std::string reported_architecture() {
  std::string capability = runtime::setting(runtime::Setting::compute_capability).value_or("9.0");
  std::erase(capability, '.');
  return "sm_" + capability;
}

/// "sm_90" of "-arch=sm_90", "-arch=compute_90 -code=sm_90" or "-gencode arch=compute_90,code=[sm_90,compute_90]".
std::string architecture_of(const CommandLine& line) {
  const auto real_one = [](std::string text) -> std::string {
    const std::size_t sm = text.find("sm_");
    const std::size_t at = sm != std::string::npos ? sm : text.find("compute_");
    if (at == std::string::npos) return {};
    text = text.substr(at, text.find_first_of(",]", at) - at);
    return text.starts_with("compute_") ? "sm_" + text.substr(8) : text;
  };
  std::string found;
  for (const std::string& code : line.values("generate-code")) found = std::max(found, real_one(code));
  if (found.empty())
    for (const std::string& code : line.values("gpu-code")) found = std::max(found, real_one(code));
  const std::string arch = line.value("gpu-architecture").value_or("");
  if (found.empty()) found = real_one(arch);
  if (found.empty() && (arch == "native" || arch.starts_with("all"))) return reported_architecture();
  return found.empty() && arch.empty() ? "sm_75" : found;
}

/// The values of an option in words that NVIDIA's nvcc is to read, which knows more options than are listed here.
std::vector<std::string> values_in(const std::vector<std::string>& words,
                                   std::initializer_list<std::string_view> names) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const std::string_view name : names) {
      if (words[i] == name && i + 1 < words.size()) values.push_back(words[i + 1]);
      if (words[i].starts_with(std::string(name) + "=")) values.push_back(words[i].substr(name.size() + 1));
    }
  return values;
}

/// Code for GPUs alone (`-arch=native`, `-gencode arch=compute_80,code=sm_80`) cannot run here: what NVIDIA's nvcc is
/// to be asked for besides, so that the program carries PTX of the newest of these, too. Empty if it does already.
std::vector<std::string> ptx_besides(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 17> others{
      "-cubin", "--cubin", "-ptx",  "--ptx", "-fatbin", "--fatbin",  "-E",     "--preprocess",   "-M",
      "-MM",    "-lib",    "--lib", "-dlto", "--dlto",  "--version", "--help", "--clean-targets"};
  for (const std::string& word : words)
    if (std::find(others.begin(), others.end(), word) != others.end()) return {};
  std::vector<std::string> made;  // of each: "sm_80", "[sm_80,compute_80]", "sm_80,sm_90"
  for (const std::string& each : values_in(words, {"-gencode", "--generate-code"})) {
    const std::size_t code = each.find("code=");
    if (code != std::string::npos) made.push_back(each.substr(code, each.find(",arch=", code) - code));
  }
  for (std::string& each : values_in(words, {"-code", "--gpu-code"})) made.push_back(std::move(each));
  const std::vector<std::string> arch = values_in(words, {"-arch", "--gpu-architecture"});
  if (made.empty() && !arch.empty() && arch.back() == "native") made.push_back(reported_architecture());
  std::string newest;  // all other short forms stand for PTX as well
  for (const std::string& each : made) {
    if (each.find("compute_") != std::string::npos || each.find("lto_") != std::string::npos) return {};
    for (std::size_t at = each.find("sm_"); at != std::string::npos; at = each.find("sm_", at + 1)) {
      const std::string number = each.substr(at + 3, each.find_first_of(",]", at) - at - 3);
      if (std::pair(number.size(), number) > std::pair(newest.size(), newest)) newest = number;
    }
  }
  if (newest.empty()) return {};
  return {"-gencode", "arch=compute_" + newest + ",code=compute_" + newest};
}

/// kernel.cu → kernel.cubin, in the present folder or where it was asked for.
std::string output_of(const CommandLine& line, const std::string& extension) {
  if (const auto named = line.value("output-file")) return *named;
  const fs::path name = fs::path(line.inputs.front()).stem().string() + extension;
  const auto folder = line.value("output-directory");
  return (folder ? fs::path(*folder) / name : name).string();
}

/// By NVIDIA's: the cubin, and its PTX in a second run.
int cubin_by_real(const fs::path& real, const CommandLine& line, const std::vector<std::string>& words) {
  if (const int status = run_program(real, words).status; status != 0) return status;
  const TemporaryFolder folder;
  const std::string text = (folder / "code.ptx").string(), output = output_of(line, ".cubin");
  std::vector<std::string> arguments{"--ptx", "-o", text};
  for (const CommandLine::Option& option : line.options)
    if (option.rule->name != "cubin" && option.rule->name != "output-file" && option.rule->name != "keep")
      arguments.insert(arguments.end(), option.words.begin(), option.words.end());
  arguments.insert(arguments.end(), line.inputs.begin(), line.inputs.end());
  if (const int status = run_program(real, arguments).status; status != 0) return status;
  std::string cubin, ptx;
  if (!read_file(output, &cubin) || !read_file(text, &ptx)) return fatal("'" + output + "' could not be read");
  return write_file(output, with_ptx(cubin, {ptx + '\0'})) ? 0 : fatal("'" + output + "' could not be written");
}

/// By the host's compiler, as NVIDIA's does it.
int preprocess(const CommandLine& line) {
  const fs::path compiler = find_in_path(line.value("compiler-bindir").value_or("c++"));
  if (compiler.empty()) return fatal("-E needs a C++ compiler (c++) in PATH");
  const std::string number = architecture_of(line).substr(3);
  std::vector<std::string> arguments{"-E", "-x", "c++", "-D__CUDACC__", "-D__NVCC__"};
  arguments.push_back("-D__CUDA_ARCH__=" + number.substr(0, number.find_first_not_of("0123456789")) + "0");
  for (const std::string& each : line.values("define-macro")) arguments.push_back("-D" + each);
  for (const std::string& each : line.values("undefine-macro")) arguments.push_back("-U" + each);
  for (const std::string& each : line.values("include-path")) arguments.push_back("-I" + each);
  for (const std::string& each : line.values("system-include")) arguments.insert(arguments.end(), {"-isystem", each});
  for (const std::string& each : line.values("pre-include")) arguments.insert(arguments.end(), {"-include", each});
  for (const std::string& each : line.values("compiler-options")) arguments.push_back(each);
  if (const auto standard = line.value("std")) arguments.push_back("-std=" + *standard);
  if (const fs::path headers = headers_beside(find_nvrtc()); !headers.empty()) {
    arguments.insert(arguments.end(), {"-isystem", headers.string()});
    arguments.insert(arguments.end(), {"-isystem", (headers / "cccl").string()});
  }
  if (const auto output = line.value("output-file")) arguments.insert(arguments.end(), {"-o", *output});
  arguments.insert(arguments.end(), line.inputs.begin(), line.inputs.end());
  return run_program(compiler, arguments).status;
}

/// The options of nvcc that NVRTC has, too. The others concern the host's compiler, the linker or nvcc itself.
std::vector<std::string> options_for_nvrtc(const CommandLine& line) {
  constexpr std::array handed_on{"define-macro",
                                 "undefine-macro",
                                 "include-path",
                                 "pre-include",
                                 "std",
                                 "device-debug",
                                 "fmad",
                                 "ftz",
                                 "prec-div",
                                 "prec-sqrt",
                                 "maxrregcount",
                                 "generate-line-info",
                                 "restrict",
                                 "use_fast_math",
                                 "ptxas-options",
                                 "diag-suppress",
                                 "disable-warnings",
                                 "relocatable-device-code",
                                 "extra-device-vectorization"};
  std::vector<std::string> options;
  for (const CommandLine::Option& option : line.options) {
    const std::string_view name = option.rule->name == "system-include" ? "include-path" : option.rule->name;
    if (std::find(handed_on.begin(), handed_on.end(), name) == handed_on.end()) continue;
    const bool takes = option.rule->takes != Takes::Nothing;
    options.push_back("--" + std::string(name) + (takes ? "=" + option.value : ""));
  }
  return options;
}

int compile(const CommandLine& line) {
  const fs::path library = find_nvrtc();
  if (library.empty())
    return fatal(
        "libnvrtc.so.13 was not found in CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, the Python packages "
        "(nvidia-cuda-nvrtc) or /usr/local/cuda");
  const std::string arch = architecture_of(line);
  if (arch.empty()) return fatal("Unsupported gpu architecture '" + line.value("gpu-architecture").value_or("") + "'");
  Source source{.name = line.inputs.front()};
  if (!read_file(source.name, &source.text)) return fatal("Could not open input file '" + source.name + "'");
  std::vector<std::string> options = options_for_nvrtc(line);
  options.push_back("--gpu-architecture=" + arch);
  options.push_back("--device-as-default-execution-space");  // else NVRTC refuses sources with functions for the host
  const std::string folder = fs::path(source.name).parent_path().string();
  options.push_back("--include-path=" + (folder.empty() ? "." : folder));
  if (const fs::path headers = headers_beside(library); !headers.empty()) {
    options.push_back("--include-path=" + headers.string());
    options.push_back("--include-path=" + (headers / "cccl").string());
  }
  const Result<DeviceCode> code = compile_device_code(library, source, options);
  if (!code) {
    std::cerr << code.failure().sentence();
    return 2;  // as nvcc's, for errors in the source
  }
  std::cerr << code->log;
  std::string output, content;
  if (line.has("ptx")) {
    output = output_of(line, ".ptx");
    content = code->ptx;
  } else if (line.has("fatbin")) {
    output = output_of(line, ".fatbin");
    content = fat_binary_of(*code, arch);
  } else {
    output = output_of(line, ".cubin");
    content = with_ptx(code->cubin, {code->ptx + '\0'});
  }
  return write_file(output, content) ? 0 : fatal("Could not write '" + output + "'");
}

int print_version() {
  const fs::path library = find_nvrtc();
  const auto [major, minor] = nvrtc_version(library);
  std::cout << "nvcc: cucore's, which compiles device code for the CPU device, by "
            << (library.empty() ? "libnvrtc.so.13, which was not found" : library.string())
            << "\nCuda compilation tools, release " << major << "." << minor << ", V" << major << "." << minor
            << ".0\n";
  return 0;
}

int run(const std::vector<std::string>& words) {
  const fs::path real = find_real_tool("nvcc");
  Result<CommandLine> line = read_command_line(words, rules, "options-file");
  if (!real.empty()) {
    const bool adds_ptx = line && line->has("cubin") && !line->has("dryrun") && line->inputs.size() == 1;
    if (adds_ptx) return cubin_by_real(real, *line, words);
    std::vector<std::string> all = words;
    for (std::string& word : ptx_besides(words)) all.push_back(std::move(word));
    return run_program(real, all).status;
  }
  if (!line) return fatal(line.failure().sentence());
  if (line->has("version")) return print_version();
  constexpr std::string_view made =
      "cucore's nvcc makes device code alone: --cubin, --ptx or --fatbin of one source, and -E; all else needs "
      "NVIDIA's "
      "nvcc in CUDA_HOME or PATH";
  if (line->has("help")) {
    std::cout << "\nUsage  : nvcc [options] <source file>\n\n" << made << ".\n";
    return 0;
  }
  if (line->inputs.empty()) return fatal("No input files specified; use option --help for more information");
  for (const char* const phase : {"dryrun", "device-c", "device-w", "device-link", "compile", "link", "lib", "run",
                                  "shared", "generate-dependencies"})
    if (line->has(phase)) return fatal("--" + std::string(phase) + ": " + std::string(made));
  if (line->has("preprocess")) return preprocess(*line);
  const bool has_phase = line->has("cubin") || line->has("ptx") || line->has("fatbin");
  if (!has_phase || line->inputs.size() != 1) return fatal(std::string(made));
  return compile(*line);
}

}  // namespace

int main(int count, char** arguments) { return run({arguments + 1, arguments + count}); }
