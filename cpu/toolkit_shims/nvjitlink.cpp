// libnvJitLink.so.13 as a shim: forwards every call; a linked cubin comes out with the PTX of what was linked, a
// section for each module (the CPU device links them when it loads the cubin), LTO-IR being one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/image/cubin.hpp"
#include "cpu/image/device_units.hpp"
#include "cpu/image/fat_binary.hpp"
#include "cpu/linker/link_inputs.hpp"
#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/lto_ptx.hpp"
#include "cpu/toolkit_shims/nvjitlink_abi.hpp"
#include "cpu/toolkit_shims/real_library.hpp"
#include "cpu/toolkit_shims/register_limit.hpp"

using namespace cucore::cpu::toolkit_shims;
using cucore::cpu::Result;
using cucore::cpu::linker::LinkInputs, cucore::cpu::linker::LtoIr, cucore::cpu::linker::PtxModule;

namespace {

/// What a link was given, and what became of it.
struct Link {
  std::vector<std::string> options;
  std::uint32_t architecture = cucore::cpu::image::any_architecture;
  LinkInputs inputs;
  std::vector<std::string> ptx;  ///< of the linked cubin
  std::string error;             ///< of the shim, behind the library's own
  bool is_complete = false;

  /// The result is PTX itself.
  bool gives_ptx() const { return std::find(options.begin(), options.end(), "-ptx") != options.end(); }
};

struct Links {
  std::mutex mutex;
  std::map<void*, std::shared_ptr<Link>> by_handle;
};

Links& links() {
  static auto* all = new Links;
  return *all;
}

std::shared_ptr<Link> find(void* handle) {
  const std::lock_guard lock(links().mutex);
  const auto found = links().by_handle.find(handle);
  return found == links().by_handle.end() ? nullptr : found->second;
}

/// "-arch=sm_90a" → 90.
std::uint32_t architecture_of(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    if (!option.starts_with("-arch=")) continue;
    const std::size_t digits = option.find_first_of("0123456789");
    if (digits != std::string::npos) return static_cast<std::uint32_t>(std::atoi(option.c_str() + digits));
  }
  return cucore::cpu::image::any_architecture;
}

/// 0: none. As NVIDIA's, the last one counts.
std::uint32_t register_limit_of(const std::vector<std::string>& options) {
  constexpr std::string_view name = "-maxrregcount=";
  std::uint32_t limit = 0;
  for (const std::string& option : options)
    if (option.starts_with(name)) limit = static_cast<std::uint32_t>(std::atoi(option.c_str() + name.size()));
  return limit;
}

/// What an input is; of those that may be anything, by its bytes. nvJitLink takes a cubin for an object too.
int type_of(int type, const std::string& bytes) {
  constexpr std::string_view lto_ir_magic = "\xed\x43\x4e\x7f";
  if (type == InputCubin || type == InputPtx || type == InputLtoIr) return type;
  if (cucore::cpu::image::is_cubin(bytes)) return InputCubin;
  if (type != InputAny) return type;
  if (bytes.starts_with(lto_ir_magic)) return InputLtoIr;
  if (cucore::cpu::image::is_elf(bytes)) return InputObject;
  if (cucore::cpu::image::is_fat_binary(bytes)) return InputFatBinary;
  if (cucore::cpu::image::is_library(bytes)) return InputLibrary;
  return InputPtx;
}

/// Keeps what an input that the library took says in PTX and LTO-IR.
void note(Link& link, int type, const std::string& bytes, const char* name) {
  std::string input = name && *name ? name : "<unnamed input>";
  if (type == InputPtx) {
    link.inputs.add_ptx(bytes.substr(0, bytes.find('\0')), std::move(input));
  } else if (type == InputLtoIr) {
    link.inputs.add_lto_ir(bytes, std::move(input));
  } else if (Result<void> added = link.inputs.add(bytes, input, link.architecture); !added) {
    link.error += "error   : " + added.failure().sentence() + "\n";
  }
}

/// Hands an input on: a cubin as it was without PTX, and that PTX itself if there is nothing else in it.
int forward(void* handle, int type, const std::string& bytes, const char* name) {
  auto* const add = real<AddData>("nvJitLinkAddData");
  if (!add) return internal_error;
  if (type != InputCubin) return add(handle, type, bytes.data(), bytes.size(), name);
  if (has_machine_code(bytes)) {
    const std::string plain = without_ptx(bytes);
    return add(handle, type, plain.data(), plain.size(), name);
  }
  for (const std::string& ptx : ptx_of(bytes))
    if (const int result = add(handle, InputPtx, ptx.data(), ptx.size(), name); result != 0) return result;
  return 0;
}

int add_input(Link& link, void* handle, int type, const std::string& bytes, const char* name) {
  const int kind = type_of(type, bytes);
  const int result = forward(handle, kind == InputCubin ? kind : type, bytes, name);
  if (result == 0) note(link, kind, bytes, name);
  return result;
}

/// Finds the PTX for the linked cubin, or says why there is none.
void finish(Link& link) {
  const auto compile = [&](const std::vector<LtoIr>& parts, const std::set<std::string>& kept) {
    return ptx_of_lto_ir(link.options, parts, kept);
  };
  Result<std::vector<PtxModule>> modules = link.inputs.modules(compile);
  if (!modules) {
    link.error += modules.failure().sentence();
    return;
  }
  const std::uint32_t registers = register_limit_of(link.options);
  for (const PtxModule& module : *modules) link.ptx.push_back(with_register_limit(module.ptx, registers));
  if (Result<void> checked = link.inputs.check_machine_code(*modules); !checked)
    link.error += checked.failure().sentence();
}

int cubin_of(void* handle, std::string* out) {
  auto* const get_size = real<GetSize>("nvJitLinkGetLinkedCubinSize");
  auto* const get = real<GetBytes>("nvJitLinkGetLinkedCubin");
  if (!get_size || !get) return internal_error;
  std::string cubin;
  if (const int result = bytes_of(handle, get_size, get, &cubin); result != 0) return result;
  const std::shared_ptr<Link> link = find(handle);
  *out = link && !link->ptx.empty() ? with_ptx(cubin, link->ptx) : std::move(cubin);
  return 0;
}

/// The library's error log, and what the shim has to say.
int error_log_of(void* handle, std::string* out) {
  auto* const get_size = real<GetSize>("nvJitLinkGetErrorLogSize");
  auto* const get = real<GetBytes>("nvJitLinkGetErrorLog");
  if (!get_size || !get) return internal_error;
  std::string log;
  if (const int result = bytes_of(handle, get_size, get, &log); result != 0) return result;
  log.resize(std::min(log.size(), log.find('\0')));
  const std::shared_ptr<Link> link = find(handle);
  *out = link ? log + link->error : std::move(log);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvJitLinkCreate(void** handle, std::uint32_t count, const char* const* options) {
  auto* const create = real<Create>("nvJitLinkCreate");
  if (!create) return internal_error;
  const int result = create(handle, count, options);
  if (result != 0) return result;
  auto link = std::make_shared<Link>();
  for (std::uint32_t i = 0; i < count; ++i) link->options.emplace_back(options[i]);
  link->architecture = architecture_of(link->options);
  const std::lock_guard lock(links().mutex);
  links().by_handle[*handle] = std::move(link);
  return result;
}

int nvJitLinkDestroy(void** handle) {
  auto* const destroy = real<int(void**)>("nvJitLinkDestroy");
  if (!destroy) return internal_error;
  if (handle) {
    const std::lock_guard lock(links().mutex);
    links().by_handle.erase(*handle);
  }
  return destroy(handle);
}

int nvJitLinkAddData(void* handle, int type, const void* data, std::size_t size, const char* name) {
  const std::shared_ptr<Link> link = find(handle);
  if (link && data) return add_input(*link, handle, type, {static_cast<const char*>(data), size}, name);
  auto* const add = real<AddData>("nvJitLinkAddData");
  return add ? add(handle, type, data, size, name) : internal_error;
}

int nvJitLinkAddFile(void* handle, int type, const char* name) {
  auto* const add = real<int(void*, int, const char*)>("nvJitLinkAddFile");
  if (!add) return internal_error;
  std::ifstream file(name ? name : "", std::ios::binary);
  const std::shared_ptr<Link> link = find(handle);
  if (!link || !file.is_open()) return add(handle, type, name);  // says what is wrong
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const int kind = type_of(type, bytes);
  if (kind == InputCubin) return add_input(*link, handle, type, bytes, name);
  const int result = add(handle, type, name);
  if (result == 0) note(*link, kind, bytes, name);
  return result;
}

int nvJitLinkComplete(void* handle) {
  auto* const complete = real<OfHandle>("nvJitLinkComplete");
  if (!complete) return internal_error;
  const int result = complete(handle);
  const std::shared_ptr<Link> link = find(handle);
  if (result != 0 || !link) return result;
  if (!std::exchange(link->is_complete, true) && !link->gives_ptx()) finish(*link);
  return link->error.empty() ? result : internal_error;
}

int nvJitLinkGetLinkedCubinSize(void* handle, std::size_t* size) {
  if (!size) return real<GetSize>("nvJitLinkGetLinkedCubinSize")(handle, size);
  std::string cubin;
  const int result = cubin_of(handle, &cubin);
  if (result == 0) *size = cubin.size();
  return result;
}

int nvJitLinkGetLinkedCubin(void* handle, void* out) {
  if (!out) return real<GetBytes>("nvJitLinkGetLinkedCubin")(handle, out);
  std::string cubin;
  const int result = cubin_of(handle, &cubin);
  if (result == 0) cubin.copy(static_cast<char*>(out), cubin.size());
  return result;
}

int nvJitLinkGetErrorLogSize(void* handle, std::size_t* size) {
  if (!size) return real<GetSize>("nvJitLinkGetErrorLogSize")(handle, size);
  std::string log;
  const int result = error_log_of(handle, &log);
  if (result == 0) *size = log.empty() ? 0 : log.size() + 1;
  return result;
}

int nvJitLinkGetErrorLog(void* handle, char* out) {
  if (!out) return real<GetBytes>("nvJitLinkGetErrorLog")(handle, out);
  std::string log;
  const int result = error_log_of(handle, &log);
  if (result == 0) log.copy(out, log.size());
  if (result == 0 && !log.empty()) out[log.size()] = '\0';
  return result;
}

FORWARD(nvJitLinkVersion, (unsigned int* major, unsigned int* minor), (major, minor))
FORWARD(nvJitLinkGetLinkedPtxSize, (void* handle, std::size_t* size), (handle, size))
FORWARD(nvJitLinkGetLinkedPtx, (void* handle, char* out), (handle, out))
FORWARD(nvJitLinkGetLinkedLTOIRSize, (void* handle, std::size_t* size), (handle, size))
FORWARD(nvJitLinkGetLinkedLTOIR, (void* handle, void* out), (handle, out))
FORWARD(nvJitLinkGetInfoLogSize, (void* handle, std::size_t* size), (handle, size))
FORWARD(nvJitLinkGetInfoLog, (void* handle, char* out), (handle, out))

// The names that programs compiled against the library's header use: those of each minor version.
// NOLINTBEGIN(bugprone-reserved-identifier)
#define NAMED(name, version) extern decltype(name) __##name##_##version __attribute__((alias(#name)));
#define VERSIONED(name) \
  NAMED(name, 13_0)     \
  NAMED(name, 13_1)     \
  NAMED(name, 13_2)     \
  NAMED(name, 13_3)     \
  NAMED(name, 13_4)     \
  NAMED(name, 13_5)

VERSIONED(nvJitLinkCreate)
VERSIONED(nvJitLinkDestroy)
VERSIONED(nvJitLinkAddData)
VERSIONED(nvJitLinkAddFile)
VERSIONED(nvJitLinkComplete)
VERSIONED(nvJitLinkGetLinkedCubinSize)
VERSIONED(nvJitLinkGetLinkedCubin)
VERSIONED(nvJitLinkGetLinkedPtxSize)
VERSIONED(nvJitLinkGetLinkedPtx)
VERSIONED(nvJitLinkGetLinkedLTOIRSize)
VERSIONED(nvJitLinkGetLinkedLTOIR)
VERSIONED(nvJitLinkGetErrorLogSize)
VERSIONED(nvJitLinkGetErrorLog)
VERSIONED(nvJitLinkGetInfoLogSize)
VERSIONED(nvJitLinkGetInfoLog)
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
