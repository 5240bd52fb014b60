// `cucore doctor`: everything cucore looks for on a machine, where it was found, and what to type where it was not.
// Exit status 1 if kernels cannot be compiled or nothing can run them.
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/programs.hpp"
#include "cucore/driver.hpp"
#include "cucore/toolkit.hpp"

namespace cucore::cli {
namespace {

struct Finding {
  std::string name;
  bool is_ok = false;
  std::string text;         ///< where it is, or why it is not
  std::string remedy = {};  ///< what to type
  bool is_needed = false;   ///< without it nothing works
};

Finding driver_finding() {
  try {
    const DriverInfo driver = driver_info();
    return {"driver", true,
            std::string(driver.kind == DriverKind::gpu ? "GPU" : "CPU device") + ", CUDA " +
                std::to_string(driver.version / 1000) + "." + std::to_string(driver.version % 1000 / 10) + ", " +
                driver.path + " (" + driver.chosen_by + ")"};
  } catch (const std::exception& error) {
    return {"driver", false, error.what(), "export CUCORE_DEVICE=cpu", true};
  }
}

Finding library_finding(const char* name, const ToolkitLibrary& library, const char* remedy, bool is_needed) {
  if (!library.available) return {name, false, library.why_not, remedy, is_needed};
  return {name, true,
          std::to_string(library.major) + "." + std::to_string(library.minor) + ", " + library.path.string() + " (" +
              library.found_by + ")"};
}

std::vector<Finding> findings() {
  std::vector<Finding> all{driver_finding()};
  const ToolkitInfo toolkit = toolkit_info();
  all.push_back(
      library_finding("NVRTC", toolkit.nvrtc, "pip install 'nvidia-cuda-nvrtc==13.*', or set CUDA_HOME", true));
  all.push_back(library_finding("nvJitLink", toolkit.nvjitlink,
                                "pip install 'nvidia-nvjitlink==13.*', or set CUDA_HOME (needed for PTX programs)",
                                false));
  for (const auto& path : toolkit.include_paths) all.push_back({"headers", true, path});
  if (toolkit.include_paths.empty()) {
    all.push_back({"headers", false, "kernels that include cuda_fp16.h and the like will not compile",
                   "pip install 'nvidia-cuda-runtime==13.*' 'nvidia-cuda-cccl==13.*' 'nvidia-cuda-crt==13.*', or set "
                   "CUDA_HOME"});
  }
  if (const auto nvcc = find_nvcc()) {
    all.push_back({"nvcc", true, *nvcc});
  } else {
    all.push_back({"nvcc", false, "'cucore run FILE.cu' needs it, nothing else does", nvcc_remedy});
  }
  return all;
}

int run_doctor(const CLI::App& command) {
  bool is_healthy = true;
  std::vector<std::string> json;
  for (const Finding& finding : findings()) {
    is_healthy &= finding.is_ok || !finding.is_needed;
    JsonObject object;
    object.text("name", finding.name).flag("ok", finding.is_ok).text("text", finding.text);
    if (!finding.is_ok) object.text("remedy", finding.remedy);
    json.push_back(object.str());
    if (wants_json(command)) continue;
    const std::string verdict = finding.is_ok ? coloured(stdout, "32", "ok     ")
                                              : coloured(stdout, finding.is_needed ? "31" : "33", "missing");
    std::printf("%-10s %s  %s\n", finding.name.c_str(), verdict.c_str(), finding.text.c_str());
    if (!finding.is_ok) std::printf("%-10s          %s\n", "", finding.remedy.c_str());
  }
  if (wants_json(command)) {
    JsonObject all;
    all.flag("healthy", is_healthy).raw("findings", json_array(json));
    std::printf("%s\n", all.str().c_str());
  }
  return is_healthy ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& tool, int& status) {
  add_json(add_command(tool, status, "doctor",
                       "Say what of driver, compilers and headers was found, and what to type about the rest",
                       run_doctor));
}

}  // namespace cucore::cli
