// One compile with libNVVM. Invalid IR is found by nvvmVerifyProgram; nvvmCompileProgram may accept it and give wrong
// code.
#include "src/toolkit/nvvm.hpp"

#include <optional>

#include "cucore/error.hpp"
#include "src/files/files.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/running_call.hpp"

namespace cucore::toolkit {
namespace {

std::string log_of_program(NvvmProgram program) {
  std::size_t size = 0;
  if (nvvm().nvvmGetProgramLogSize(program, &size) != NvvmResult::success || size == 0) return {};
  std::string log(size, '\0');
  if (nvvm().nvvmGetProgramLog(program, log.data()) != NvvmResult::success) return {};
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

std::string hint_for(NvvmResult result) {
  switch (result) {
    case NvvmResult::invalid_ir:
    case NvvmResult::compilation:
      return "correct the IR where the log points; pointers are written i32* for architectures before sm_100 and ptr "
             "from "
             "there on";
    case NvvmResult::ir_version_mismatch: {
      int version[4] = {};
      nvvm().nvvmIRVersion(&version[0], &version[1], &version[2], &version[3]);
      return "this libNVVM takes NVVM IR of version " + std::to_string(version[0]) + "." + std::to_string(version[1]);
    }
    case NvvmResult::invalid_option:
      return "this libNVVM is at " + nvvm_library().path.string() + "; the log names the option it does not take";
    default:
      return {};
  }
}

std::string with_name(const char* what, const std::string& name) { return what + (" '" + name + "'"); }

}  // namespace

NvvmNative::NvvmNative(const NvvmInput& input) {
  const RunningCall running("nvvmCreateProgram");
  const NvvmTable& table = nvvm();
  check(table.nvvmCreateProgram(&handle_), "nvvmCreateProgram", with_name("making NVVM program", input.name));
  try {
    const auto add = [&](const std::string& name, const std::string& module) {
      check(table.nvvmAddModuleToProgram(handle_, module.data(), module.size(), name.c_str()), "nvvmAddModuleToProgram",
            with_name("adding module", name), log_of_program(handle_), "a module is text or bitcode of NVVM IR");
    };
    add(input.name, input.source);
    for (const auto& [name, module] : input.extra_sources) add(name, module);
  } catch (...) {
    table.nvvmDestroyProgram(&handle_);
    throw;
  }
}

// Fails only for a handle that is not a program's.
NvvmNative::~NvvmNative() {
  if (const RunningCall running; running) nvvm().nvvmDestroyProgram(&handle_);
}

NvvmOutput NvvmNative::compile(const NvvmInput& input) {
  const RunningCall running("nvvmCompileProgram");
  const NvvmTable& table = nvvm();
  const std::string what = with_name("compiling NVVM program", input.name);
  std::vector<const char*> flags;
  for (const std::string& flag : input.flags) flags.push_back(flag.c_str());
  const int count = static_cast<int>(flags.size());
  const auto require = [&](NvvmResult result, const char* call) {
    if (result != NvvmResult::success) check(result, call, what, log_of_program(handle_), hint_for(result));
  };
  compiled_ = true;
  require(table.nvvmVerifyProgram(handle_, count, flags.data()), "nvvmVerifyProgram");
  if (input.use_libdevice) {
    const std::optional<std::string> library = libdevice().empty() ? std::nullopt : detail::read_file(libdevice());
    if (!library) {
      throw UnavailableError({.call = "nvvmLazyAddModuleToProgram",
                              .message = "use_libdevice: no libdevice.10.bc belongs to " + nvvm_library().path.string(),
                              .hint = "install the package nvidia-nvvm, or set CUDA_HOME"});
    }
    require(table.nvvmLazyAddModuleToProgram(handle_, library->data(), library->size(), "libdevice.10.bc"),
            "nvvmLazyAddModuleToProgram");
  }
  require(table.nvvmCompileProgram(handle_, count, flags.data()), "nvvmCompileProgram");
  std::size_t size = 0;
  require(table.nvvmGetCompiledResultSize(handle_, &size), "nvvmGetCompiledResultSize");
  NvvmOutput output{.image = std::string(size, '\0'), .log = {}};
  require(table.nvvmGetCompiledResult(handle_, output.image.data()), "nvvmGetCompiledResult");
  const bool is_text = output.image.starts_with("//") || output.image.starts_with(".version");
  while (is_text && output.image.ends_with('\0')) output.image.pop_back();
  output.log = log_of_program(handle_);
  return output;
}

}  // namespace cucore::toolkit
