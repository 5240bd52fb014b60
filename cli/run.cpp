// `cucore run FILE.cu|FILE.py|COMMAND [ARGUMENT...]`: compiles the source if there is one, and becomes the program,
// with the CPU device as its CUDA driver unless there is a GPU for it.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/programs.hpp"
#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/program_cache.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

using Environment = std::map<std::string, std::string>;

/// `value` before the folders that `variable` lists.
std::string before(const std::string& value, const char* variable) {
  const std::string old = environment_value(variable);
  return old.empty() ? value : value + ":" + old;
}

/// Compiled on a GPU, programs hold only machine code, so those for the CPU device have folders of their own.
void add_cache_folders(Environment& environment, const fs::path& folder) {
  for (const auto& [variable, name] :
       {std::pair{"TRITON_CACHE_DIR", "triton"}, {"TORCHINDUCTOR_CACHE_DIR", "inductor"}})
    if (environment_value(variable).empty()) environment[variable] = folder / "cpu-device" / name;
}

/// Programs that look for NVIDIA's toolkit find one whose nvcc and ptxas are the stand-ins, first in PATH and where the
/// variables named it before; variables that are not set stay so, since libraries are looked for there before others.
void show_toolkit(Environment& environment, const fs::path& driver) {
  const auto toolkit = find_toolkit();
  if (!toolkit) return;
  try {
    const fs::path view = toolkit_view(*toolkit, driver, ProgramCache().path() / "cpu-device" / "toolkits");
    environment["PATH"] = (view / "bin").string() + ":" + environment["PATH"];
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      if (!environment_value(variable).empty()) environment[variable] = view;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cucore run: programs that look for the CUDA toolkit may not find one: %s\n", error.what());
  }
}

/// The variables that docs/clients.md says to set.
Environment cpu_device_environment(const CLI::App& command) {
  const fs::path library = cpu_driver_path();
  const fs::path folder = library.parent_path();
  Environment environment{
      {"CUCORE_DEVICE", "cpu"},
      {"CUCORE_CPU_DRIVER", library},
      {"LD_LIBRARY_PATH", before(folder, "LD_LIBRARY_PATH")},
  };
  if (fs::exists(folder / "bin")) {
    environment["PATH"] = before(folder / "bin", "PATH");
    show_toolkit(environment, folder);
    environment["TRITON_PTXAS_PATH"] = environment["TRITON_PTXAS_BLACKWELL_PATH"] = folder / "bin" / "ptxas";
  }
  const auto checks = value_of<std::string>(command, "--check");
  if (checks.find("memory") == std::string::npos && checks.find("all") == std::string::npos) {
    environment["CUCORE_CPU_REPORT"] = "stderr";  // the checker of memory has told it already
  }
  add_cache_folders(environment, ProgramCache().path());
  for (const auto& [option, variable] : {std::pair{"--check", "CUCORE_CPU_CHECK"},
                                         {"--error-exitcode", "CUCORE_CPU_CHECK_EXIT_STATUS"},
                                         {"--devices", "CUCORE_CPU_DEVICES"},
                                         {"--capability", "CUCORE_CPU_COMPUTE_CAPABILITY"}}) {
    if (command.count(option) > 0) environment[variable] = value_of<std::string>(command, option);
  }
  return environment;
}

/// Only a source that is compiled here can run on either; anything else gets the CPU device.
bool uses_cpu_device(const CLI::App& command, bool is_source) {
  if (command.count("--gpu") > 0) return false;
  for (const char* option : {"--cpu", "--check", "--devices", "--capability"}) {
    if (command.count(option) > 0) return true;
  }
  return !is_source || driver_info().kind == DriverKind::cpu;
}

/// "90" for the capability 9.0 of the device that the program will find.
std::string architecture(const CLI::App& command, bool on_cpu_device) {
  std::string capability = value_of<std::string>(command, "--capability");
  if (on_cpu_device && capability.empty()) {
    const std::string set = environment_value("CUCORE_CPU_COMPUTE_CAPABILITY");
    capability = set.empty() ? "9.0" : set;
  }
  if (!on_cpu_device) {
    const ComputeCapability device = Device(0).compute_capability();
    return std::to_string(device.major) + std::to_string(device.minor);
  }
  std::erase(capability, '.');
  return capability;
}

/// nvcc calls g++, unless it is told of another compiler.
bool has_host_compiler(const std::vector<std::string>& options) {
  for (const char* variable : {"NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (!environment_value(variable).empty()) return true;
  const auto names_one = [](const std::string& option) {
    return option.starts_with("-ccbin") || option.starts_with("--compiler-bindir");
  };
  return std::any_of(options.begin(), options.end(), names_one) || find_program("g++").has_value();
}

std::optional<fs::path> compile(const CLI::App& command, const fs::path& source, bool on_cpu_device) {
  const auto nvcc = find_nvcc();
  if (!nvcc) {
    std::fprintf(stderr, "cucore run: %s needs NVIDIA's nvcc, and none was found. To install it:\n  %s\n",
                 source.c_str(), nvcc_remedy);
    return std::nullopt;
  }
  const std::string arch = architecture(command, on_cpu_device);
  // Line information for reports, and PTX, of which the CPU device makes its code. A GPU gets its own code besides.
  std::vector<std::string> options{"-lineinfo", "-gencode",
                                   "arch=compute_" + arch + ",code=" +
                                       (on_cpu_device ? "compute_" + arch : "[sm_" + arch + ",compute_" + arch + "]")};
  for (const std::string& option : value_of<std::vector<std::string>>(command, "--nvcc")) options.push_back(option);
  if (!has_host_compiler(options)) {
    std::fprintf(stderr,
                 "cucore run: %s needs a C++ compiler, which nvcc calls, and there is no g++. To install it (Debian, "
                 "Ubuntu):\n  apt-get install g++\n",
                 source.c_str());
    return std::nullopt;
  }
  return compiled_program(*nvcc, source, options, ProgramCache().path() / "programs");
}

/// The Python beside this tool, so that a script finds the cucore that it belongs to; else the one in PATH.
std::string python() {
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "python3";
  return access(beside.c_str(), X_OK) == 0 ? beside.string() : "python3";
}

[[nodiscard]] int become(const std::vector<std::string>& words, const Environment& environment) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "cucore run: %s cannot be started: %s\n", words[0].c_str(), std::strerror(errno));
  return 127;
}

int run_run(const CLI::App& command) {
  std::vector<std::string> words = command.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().starts_with('-')) {
    throw CLI::ExtrasError(command.get_name(), {words.front()});
  }
  if (words.empty()) {
    std::fputs("cucore run: name a .cu file, a script or a program\n'cucore run --help' tells more\n", stderr);
    return 2;
  }
  const fs::path first = words.front();
  const bool is_source = first.extension() == ".cu";
  const bool on_cpu_device = uses_cpu_device(command, is_source);
  if (is_source) {
    const auto program = compile(command, first, on_cpu_device);
    if (!program) return 1;
    words.front() = *program;
  } else if (first.extension() == ".py" && access(first.c_str(), X_OK) != 0) {
    words.insert(words.begin(), python());
  }
  Environment environment = on_cpu_device ? cpu_device_environment(command) : Environment{{"CUCORE_DEVICE", "gpu"}};
  if (command.count("--trace") > 0) {
    environment["CUCORE_TRACE"] = fs::absolute(value_of<std::string>(command, "--trace"));
    // Ranges that the program names by NVTX come with it; who has set this has another tool in mind.
    if (on_cpu_device && environment_value("NVTX_INJECTION64_PATH").empty())
      environment["NVTX_INJECTION64_PATH"] = cpu_driver_path();
  }
  return become(words, environment);
}

/// "memory,race", or what is wrong with it.
std::string check_names(const std::string& list) {
  std::string rest = list + ",";
  while (!rest.empty()) {
    const std::string name = rest.substr(0, rest.find(','));
    if (name != "memory" && name != "race" && name != "init" && name != "sync" && name != "fp" && name != "all") {
      return "'" + name + "' is none of memory, race, init, sync, fp, all";
    }
    rest.erase(0, name.size() + 1);
  }
  return {};
}

}  // namespace

void add_run(CLI::App& tool, int& status) {
  CLI::App& command = add_command(
      tool, status, "run", "Run a .cu file, a script or a program, on the CPU device where there is no GPU", run_run);
  command.footer(
      "cucore run [OPTIONS] FILE.cu|FILE.py|COMMAND [ARGUMENT...]\n\n"
      "A .cu file is compiled by nvcc, with line information, and what came of it is kept; it runs on the GPU if "
      "there\n"
      "is one. Scripts and programs run on the CPU device unless --gpu is given. Options come before the name.");
  command.prefix_command();
  CLI::Option* const gpu = add_flag(command, "--gpu", "run on the GPU, or not at all");
  const CLI::Validator checks(check_names, "", "checks");
  const CLI::Validator capability(
      [](const std::string& text) {
        const bool is_good = text.find_first_not_of("0123456789.") == std::string::npos &&
                             text.find('.') == text.rfind('.') && text.find('.') != 0 &&
                             text.find('.') + 2 == text.size();
        return is_good ? std::string() : "'" + text + "' is no compute capability such as 9.0";
      },
      "", "capability");
  add_flag(command, "--cpu", "run on the CPU device even where there is a GPU")->excludes(gpu);
  CLI::Option* const check =
      add_value(
          command, "--check",
          "look for errors of kernels: memory, race, init, sync, fp, several with commas, or all, which leaves out fp")
          ->type_name("CHECKS")
          ->check(checks)
          ->excludes(gpu);
  add_value(command, "--error-exitcode", "the exit status if --check finds errors; otherwise the program's own")
      ->type_name("N")
      ->check(CLI::Range(1, 255))
      ->needs(check);
  add_value(command, "--devices", "how many devices the CPU device presents")
      ->type_name("N")
      ->check(CLI::Range(0, 64))
      ->excludes(gpu);
  add_value(command, "--capability", "the compute capability that the CPU device reports, such as 8.0")
      ->type_name("X.Y")
      ->check(capability)
      ->excludes(gpu);
  add_value(command, "--trace",
            "write a timeline: on the CPU device of any program, on a GPU of what it asks of cucore")
      ->type_name("FILE");
  add_value(command, "--nvcc", "one more option for nvcc; may be repeated")
      ->type_name("OPTION")
      ->expected(1)
      ->take_all();
}

}  // namespace cucore::cli
