// One compile is one fresh nvrtcProgram: NVRTC answers a second compile of a program with the first one's images, and
// takes no name expressions after the first.
#include "src/toolkit/nvrtc.hpp"

#include <algorithm>

#include "cucore/error.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/running_call.hpp"

namespace cucore::toolkit {
namespace {

std::string what_of(const NvrtcInput& input) {
  return "compiling program '" + input.name + "' to " + std::string(input.target.name()) + " for " +
         std::string(input.arch);
}

std::string without_nul(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string log_of(NvrtcProgram program) {
  std::size_t size = 0;
  if (nvrtc().nvrtcGetProgramLogSize(program, &size) != NvrtcResult::success || size == 0) return {};
  std::string log(size, '\0');
  if (nvrtc().nvrtcGetProgramLog(program, log.data()) != NvrtcResult::success) return {};
  return without_nul(std::move(log));
}

using GetSize = NvrtcResult (*)(NvrtcProgram, std::size_t*);
using GetBytes = NvrtcResult (*)(NvrtcProgram, char*);

std::string fetch(NvrtcProgram program, GetSize get_size, GetBytes get_bytes, const char* call,
                  const std::string& what) {
  std::size_t size = 0;
  check(get_size(program, &size), call, what);
  std::string bytes(size, '\0');
  if (size != 0) check(get_bytes(program, bytes.data()), call, what);
  return bytes;
}

std::string fetch_ptx(NvrtcProgram program, const std::string& what) {
  return without_nul(fetch(program, nvrtc().nvrtcGetPTXSize, nvrtc().nvrtcGetPTX, "nvrtcGetPTX", what));
}

std::string fetch_image(NvrtcProgram program, CodeType target, const std::string& what) {
  if (target == CodeType(CodeType::ptx)) return fetch_ptx(program, what);
  if (target == CodeType(CodeType::cubin)) {
    return fetch(program, nvrtc().nvrtcGetCUBINSize, nvrtc().nvrtcGetCUBIN, "nvrtcGetCUBIN", what);
  }
  return fetch(program, nvrtc().nvrtcGetLTOIRSize, nvrtc().nvrtcGetLTOIR, "nvrtcGetLTOIR", what);
}

// NVRTC calls it from time to time, on any thread; 1 ends the compile.
int is_cancelled(void* cancellation, void* reserved) {
  return static_cast<const Cancellation*>(cancellation)->is_wanted() ? 1 : cancels(nullptr, reserved);
}

NvrtcResult compile(NvrtcNative& program, const NvrtcInput& input, const std::string& what) {
  program.set_compiled();
  for (const std::string& expression : input.name_expressions) {
    check(nvrtc().nvrtcAddNameExpression(program.get(), expression.c_str()), "nvrtcAddNameExpression",
          what + ", name expression '" + expression + "'");
  }
  std::vector<const char*> flags;
  for (const std::string& flag : input.flags) flags.push_back(flag.c_str());
  if (input.cancellation != nullptr) {
    if (input.cancellation->is_wanted()) return NvrtcResult::cancelled;
    // Before 12.8 there is no such function, and the compile goes on to its end.
    nvrtc().nvrtcSetFlowCallback(program.get(), is_cancelled, const_cast<Cancellation*>(input.cancellation));
  }
  return nvrtc().nvrtcCompileProgram(program.get(), static_cast<int>(flags.size()), flags.data());
}

// The architectures this NVRTC compiles for, e.g. "sm_75, sm_80"; empty if it does not tell.
std::string supported_archs() {
  int count = 0;
  if (nvrtc().nvrtcGetNumSupportedArchs(&count) != NvrtcResult::success || count <= 0) return {};
  std::vector<int> archs(static_cast<std::size_t>(count));
  if (nvrtc().nvrtcGetSupportedArchs(archs.data()) != NvrtcResult::success) return {};
  std::string text;
  for (int arch : archs) text += (text.empty() ? "sm_" : ", sm_") + std::to_string(arch);
  return text;
}

std::string hint_for(NvrtcResult result, std::string_view log = {}) {
  switch (result) {
    case NvrtcResult::compilation:
      if (log.find("not open source file") == std::string_view::npos) {
        return "correct the source where the log points";
      }
      return include_paths().empty() ? "no headers of the toolkit were found beside NVRTC; install the packages "
                                       "nvidia-cuda-runtime and nvidia-cuda-cccl, or set include_path"
                                     : "set include_path to the folder of the header, or give its text in headers";
    case NvrtcResult::invalid_option: {
      const ToolkitLibrary& found = nvrtc_library();
      if (log.find("gpu-architecture") != std::string_view::npos) {
        if (const std::string archs = supported_archs(); !archs.empty()) {
          return "NVRTC " + std::to_string(found.major) + "." + std::to_string(found.minor) + " compiles for " + archs;
        }
      }
      return "this NVRTC is version " + std::to_string(found.major) + "." + std::to_string(found.minor) + " at " +
             found.path.string() + "; the log names the option it does not take";
    }
    case NvrtcResult::name_expression_not_valid:
      return "every name expression must name a __global__ function or a __device__ or __constant__ variable";
    case NvrtcResult::cancelled:
      return "Program::cancel() was called";
    case NvrtcResult::builtin_operation_failure:
      return "libnvrtc-builtins of the same version must lie beside " + nvrtc_library().path.string();
    default:
      return {};
  }
}

NvrtcOutput collect(NvrtcNative& program, const NvrtcInput& input, const std::string& what, NvrtcResult result) {
  NvrtcOutput output;
  output.log = log_of(program.get());
  if (result == NvrtcResult::cancelled) require_no_exit("nvrtcCompileProgram");
  if (result != NvrtcResult::success)
    check(result, "nvrtcCompileProgram", what, output.log, hint_for(result, output.log));
  output.image = fetch_image(program.get(), input.target, what);
  if (input.want_ptx) output.ptx = fetch_ptx(program.get(), what);
  for (const std::string& expression : input.name_expressions) {
    const char* lowered = nullptr;
    check(nvrtc().nvrtcGetLoweredName(program.get(), expression.c_str(), &lowered), "nvrtcGetLoweredName",
          what + ", name expression '" + expression + "'", output.log,
          hint_for(NvrtcResult::name_expression_not_valid));
    output.lowered_names.emplace_back(lowered);
  }
  return output;
}

}  // namespace

NvrtcNative::NvrtcNative(const NvrtcInput& input) {
  const RunningCall running("nvrtcCreateProgram");
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (const auto& [name, text] : input.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  check(nvrtc().nvrtcCreateProgram(&handle_, input.source.c_str(), input.name.c_str(), static_cast<int>(names.size()),
                                   texts.data(), names.data()),
        "nvrtcCreateProgram", what_of(input));
  nvrtc().nvrtcSetFlowCallback(handle_, &cancels, nullptr);  // without it, exit waits for the end
}

// Fails only for a handle that is not a program's.
NvrtcNative::~NvrtcNative() {
  if (const RunningCall running; running) nvrtc().nvrtcDestroyProgram(&handle_);
}

NvrtcOutput compile_with_nvrtc(const NvrtcInput& input, std::unique_ptr<NvrtcNative>& native) {
  const RunningCall running("nvrtcCompileProgram");
  const std::string what = what_of(input);
  if (native == nullptr || native->compiled()) native = std::make_unique<NvrtcNative>(input);
  const NvrtcResult result = compile(*native, input, what);
  if (!input.uses_pch || result != NvrtcResult::success) return collect(*native, input, what, result);

  const NvrtcResult pch = nvrtc().nvrtcGetPCHCreateStatus(native->get());
  if (pch == NvrtcResult::missing_function) check(pch, "nvrtcGetPCHCreateStatus", what);
  if (pch != NvrtcResult::pch_create_heap_exhausted) {
    NvrtcOutput output = collect(*native, input, what, result);
    output.pch = pch;
    return output;
  }
  // The header did not fit: give the process-wide heap the size NVRTC asks for and compile once more.
  std::size_t required = 0;
  check(nvrtc().nvrtcGetPCHHeapSizeRequired(native->get(), &required), "nvrtcGetPCHHeapSizeRequired", what);
  check(nvrtc().nvrtcSetPCHHeapSize(required), "nvrtcSetPCHHeapSize", what);
  native = std::make_unique<NvrtcNative>(input);
  NvrtcOutput output = collect(*native, input, what, compile(*native, input, what));
  output.pch = nvrtc().nvrtcGetPCHCreateStatus(native->get());
  return output;
}

}  // namespace cucore::toolkit
