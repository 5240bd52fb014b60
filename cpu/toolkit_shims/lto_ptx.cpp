// PTX of LTO-IR: see lto_ptx.hpp.
#include "cpu/toolkit_shims/lto_ptx.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "cpu/linker/ptx_symbols.hpp"
#include "cpu/toolkit_shims/nvjitlink_abi.hpp"
#include "cpu/toolkit_shims/real_library.hpp"

namespace cucore::cpu::toolkit_shims {

namespace {

constexpr char keeper_name[] = "__cucore_keeps";

Failure cannot(const std::string& what) {
  return Failure(ErrorCode::NotSupported, "error   : No PTX of the LTO-IR for the CPU device: " + what + "\n");
}

/// LTO-IR of a kernel that stores the addresses of these functions: they stay, whatever their signatures.
Result<std::string> keeper_of(const std::set<std::string>& functions) {
  // Opened by its name: if there is a shim of NVRTC, it is loaded already and has found the real one.
  static void* const library = dlopen("libnvrtc.so.13", RTLD_LAZY | RTLD_LOCAL);
  const auto function = [](const char* name) { return library ? dlsym(library, name) : nullptr; };
  auto* const create =
      reinterpret_cast<int (*)(void**, const char*, const char*, int, const char* const*, const char* const*)>(
          function("nvrtcCreateProgram"));
  auto* const compile = reinterpret_cast<int (*)(void*, int, const char* const*)>(function("nvrtcCompileProgram"));
  auto* const get_size = reinterpret_cast<GetSize*>(function("nvrtcGetLTOIRSize"));
  auto* const get = reinterpret_cast<GetBytes*>(function("nvrtcGetLTOIR"));
  auto* const log_size = reinterpret_cast<GetSize*>(function("nvrtcGetProgramLogSize"));
  auto* const get_log = reinterpret_cast<GetBytes*>(function("nvrtcGetProgramLog"));
  auto* const destroy = reinterpret_cast<int (*)(void**)>(function("nvrtcDestroyProgram"));
  const std::string needed_for = "'" + *functions.begin() + "' is called by PTX, ";
  if (!create || !compile || !get_size || !get || !log_size || !get_log || !destroy)
    return cannot(needed_for + "which needs libnvrtc.so.13; it was not found");

  std::string source;
  std::string body;
  for (const std::string& name : functions) {
    source += "extern \"C\" __device__ void " + name + "();\n";
    body += " *out++ = (void*)" + name + ";";
  }
  source += "extern \"C\" __global__ void " + std::string(keeper_name) + "(void** out) {" + body + " }\n";
  void* program = nullptr;
  if (create(&program, source.c_str(), keeper_name, 0, nullptr, nullptr) != 0)
    return cannot(needed_for + "NVRTC failed");
  const std::array options{"-dlto", "-rdc=true"};
  std::string ir;
  std::string log;
  if (compile(program, static_cast<int>(options.size()), options.data()) == 0) bytes_of(program, get_size, get, &ir);
  if (ir.empty()) bytes_of(program, log_size, get_log, &log);
  destroy(&program);
  if (ir.empty()) return cannot(needed_for + "for which NVRTC made no LTO-IR\n" + log.substr(0, log.find('\0')));
  return ir;
}

/// The text without the kernel that kept `functions`, which others may call.
std::string without_keeper(const std::string& ptx, const std::set<std::string>& functions) {
  const std::set<std::string_view> exposed(functions.begin(), functions.end());
  return linker::PtxSymbols(ptx).changed({}, {keeper_name}, exposed);
}

}  // namespace

Result<std::string> ptx_of_lto_ir(const std::vector<std::string>& options, const std::vector<linker::LtoIr>& parts,
                                  const std::set<std::string>& kept) {
  auto* const create = real<Create>("nvJitLinkCreate");
  auto* const add = real<AddData>("nvJitLinkAddData");
  auto* const complete = real<OfHandle>("nvJitLinkComplete");
  auto* const get_size = real<GetSize>("nvJitLinkGetLinkedPtxSize");
  auto* const get = real<GetBytes>("nvJitLinkGetLinkedPtx");
  auto* const log_size = real<GetSize>("nvJitLinkGetErrorLogSize");
  auto* const get_log = real<GetBytes>("nvJitLinkGetErrorLog");
  auto* const destroy = real<int(void**)>("nvJitLinkDestroy");
  if (!create || !add || !complete || !get_size || !get || !log_size || !get_log || !destroy)
    return cannot("nvJitLink was not found, or is older than 12.3");
  std::string keeper;
  if (!kept.empty()) {
    Result<std::string> ir = keeper_of(kept);
    if (!ir) return ir;
    keeper = *std::move(ir);
  }
  std::vector<const char*> changed;
  for (const std::string& option : options)
    if (option != "-lto" && option != "-ptx") changed.push_back(option.c_str());
  changed.push_back("-lto");
  changed.push_back("-ptx");
  void* handle = nullptr;
  if (create(&handle, static_cast<std::uint32_t>(changed.size()), changed.data()) != 0)
    return cannot("nvJitLink takes none of its options with -ptx");
  bool done = keeper.empty() || add(handle, InputLtoIr, keeper.data(), keeper.size(), keeper_name) == 0;
  for (const linker::LtoIr& part : parts) {
    const int type = part.is_fat_binary ? InputFatBinary : InputLtoIr;
    done = done && add(handle, type, part.bytes.data(), part.bytes.size(), "LTO-IR") == 0;
  }
  std::string ptx;
  std::string log;
  if (done && complete(handle) == 0) bytes_of(handle, get_size, get, &ptx);
  ptx.resize(std::min(ptx.size(), ptx.find('\0')));
  if (ptx.empty()) bytes_of(handle, log_size, get_log, &log);
  destroy(&handle);
  if (ptx.empty()) return cannot("nvJitLink says: " + log.substr(0, log.find('\0')));
  return kept.empty() ? ptx : without_keeper(ptx, kept);
}

}  // namespace cucore::cpu::toolkit_shims
