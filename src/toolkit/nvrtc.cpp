// One compile is one fresh nvrtcProgram: NVRTC answers a second compile of a program with the first one's images, and
// takes no name expressions after the first.
#include "src/toolkit/nvrtc.hpp"

#include <algorithm>

#include "cucore/error.hpp"
#include "src/toolkit/library.hpp"

namespace cucore::toolkit {
namespace {

class NativeProgram {
 public:
  NativeProgram(const NvrtcInput& input, const std::string& what) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, text] : input.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    check(nvrtc().nvrtcCreateProgram(&handle_, input.source.c_str(), input.name.c_str(), static_cast<int>(names.size()),
                                     texts.data(), names.data()),
          "nvrtcCreateProgram", what);
  }
  NativeProgram(const NativeProgram&) = delete;
  NativeProgram& operator=(const NativeProgram&) = delete;
  // Fails only for a handle that is no program.
  ~NativeProgram() { nvrtc().nvrtcDestroyProgram(&handle_); }

  NvrtcProgram get() const noexcept { return handle_; }

 private:
  NvrtcProgram handle_ = nullptr;
};

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

NvrtcResult compile(const NativeProgram& program, const NvrtcInput& input, const std::string& what) {
  for (const std::string& expression : input.name_expressions) {
    check(nvrtc().nvrtcAddNameExpression(program.get(), expression.c_str()), "nvrtcAddNameExpression",
          what + ", name expression '" + expression + "'");
  }
  std::vector<const char*> flags;
  for (const std::string& flag : input.flags) flags.push_back(flag.c_str());
  return nvrtc().nvrtcCompileProgram(program.get(), static_cast<int>(flags.size()), flags.data());
}

std::string hint_for(NvrtcResult result) {
  switch (result) {
    case NvrtcResult::compilation:
      return "correct the source where the log points";
    case NvrtcResult::invalid_option: {
      const ToolkitLibrary& found = nvrtc_library();
      return "this NVRTC is version " + std::to_string(found.major) + "." + std::to_string(found.minor) + " at " +
             found.path.string() + "; the log names the option it does not take";
    }
    case NvrtcResult::name_expression_not_valid:
      return "every name expression must name a __global__ function or a __device__ or __constant__ variable";
    case NvrtcResult::builtin_operation_failure:
      return "libnvrtc-builtins of the same version must lie beside " + nvrtc_library().path.string();
    default:
      return {};
  }
}

NvrtcOutput collect(const NativeProgram& program, const NvrtcInput& input, const std::string& what,
                    NvrtcResult result) {
  NvrtcOutput output;
  output.log = log_of(program.get());
  check(result, "nvrtcCompileProgram", what, output.log, hint_for(result));
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

PchStatus as_status(NvrtcResult result) {
  if (result == NvrtcResult::success) return PchStatus::created;
  return result == NvrtcResult::no_pch_create_attempted ? PchStatus::not_attempted : PchStatus::failed;
}

}  // namespace

NvrtcOutput compile_with_nvrtc(const NvrtcInput& input) {
  const std::string what = "compiling program '" + input.name + "' to " + std::string(input.target.name()) + " for " +
                           std::string(input.arch);
  const NativeProgram program(input, what);
  const NvrtcResult result = compile(program, input, what);
  if (!input.uses_pch || result != NvrtcResult::success) return collect(program, input, what, result);

  const NvrtcResult pch = nvrtc().nvrtcGetPCHCreateStatus(program.get());
  if (pch == NvrtcResult::missing_function) check(pch, "nvrtcGetPCHCreateStatus", what);
  if (pch != NvrtcResult::pch_create_heap_exhausted) {
    NvrtcOutput output = collect(program, input, what, result);
    output.pch = as_status(pch);
    return output;
  }
  // The header did not fit: give the process-wide heap the size NVRTC asks for and compile once more.
  std::size_t required = 0;
  check(nvrtc().nvrtcGetPCHHeapSizeRequired(program.get(), &required), "nvrtcGetPCHHeapSizeRequired", what);
  check(nvrtc().nvrtcSetPCHHeapSize(required), "nvrtcSetPCHHeapSize", what);
  const NativeProgram again(input, what);
  NvrtcOutput output = collect(again, input, what, compile(again, input, what));
  output.pch = as_status(nvrtc().nvrtcGetPCHCreateStatus(again.get()));
  return output;
}

}  // namespace cucore::toolkit
