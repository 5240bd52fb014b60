// libnvJitLink.so.13 as a shim: forwards every call; a linked cubin comes out with the PTX of what was linked, a
// section for each PTX input (the CPU device links them when it loads the cubin) and one for all LTO-IR inputs.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/device_runtime.hpp"
#include "cpu/toolkit_shims/real_library.hpp"

using cucore::cpu::toolkit_shims::device_runtime_for;
using cucore::cpu::toolkit_shims::ptx_of;
using cucore::cpu::toolkit_shims::real;
using cucore::cpu::toolkit_shims::with_ptx;
using cucore::cpu::toolkit_shims::without_ptx;

namespace {

constexpr int kInternalError = 6;  // NVJITLINK_ERROR_INTERNAL
constexpr int kInputCubin = 1;     // NVJITLINK_INPUT_CUBIN
constexpr int kInputPtx = 2;       // NVJITLINK_INPUT_PTX
constexpr int kInputLtoIr = 3;     // NVJITLINK_INPUT_LTOIR
constexpr int kInputLibrary = 6;   // NVJITLINK_INPUT_LIBRARY
constexpr int kInputAny = 10;      // NVJITLINK_INPUT_ANY
constexpr std::uint32_t kLtoIrMagic = 0x7f4e43ed;

using Create = int(void**, std::uint32_t, const char* const*);
using AddData = int(void*, int, const void*, std::size_t, const char*);
using OfHandle = int(void*);
using GetSize = int(void*, std::size_t*);
using GetBytes = int(void*, void*);

/// What a link was given, as far as its PTX needs it.
struct Link {
  std::vector<std::string> options;
  std::vector<std::string> ptx;
  std::vector<std::string> lto;
  bool has_library = false;
  bool is_complete = false;
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

/// Keeps what an input says in PTX or LTO-IR. Returns the type it turned out to be.
int note(Link& link, int type, const std::string& bytes) {
  if (type == kInputAny) {
    std::uint32_t magic = 0;
    bytes.copy(reinterpret_cast<char*>(&magic), sizeof magic);
    if (bytes.starts_with("\x7f\x45\x4c\x46"))
      type = kInputCubin;
    else if (magic == kLtoIrMagic)
      type = kInputLtoIr;
    else if (bytes.find(".version") != std::string::npos)
      type = kInputPtx;
  }
  if (type == kInputAny && bytes.starts_with("!<arch>\n")) type = kInputLibrary;
  if (type == kInputLibrary)
    link.has_library = true;
  else if (type == kInputPtx)
    link.ptx.push_back(bytes.substr(0, bytes.find('\0')));
  else if (type == kInputLtoIr)
    link.lto.push_back(bytes);
  else if (type == kInputCubin)
    for (std::string& text : ptx_of(bytes)) link.ptx.push_back(std::move(text));
  return type;
}

/// PTX of the LTO-IR inputs: a second link of them alone.
std::string ptx_of_lto(const Link& link) {
  auto* const create = real<Create>("nvJitLinkCreate");
  auto* const add = real<AddData>("nvJitLinkAddData");
  auto* const complete = real<OfHandle>("nvJitLinkComplete");
  auto* const get_size = real<GetSize>("nvJitLinkGetLinkedPtxSize");
  auto* const get = real<GetBytes>("nvJitLinkGetLinkedPtx");
  auto* const destroy = real<int(void**)>("nvJitLinkDestroy");
  if (!create || !add || !complete || !get_size || !get || !destroy) return {};
  std::vector<const char*> options;
  for (const std::string& option : link.options)
    if (option != "-lto" && option != "-ptx") options.push_back(option.c_str());
  options.push_back("-lto");
  options.push_back("-ptx");
  void* handle = nullptr;
  std::string ptx;
  if (create(&handle, static_cast<std::uint32_t>(options.size()), options.data()) != 0) return {};
  bool done = true;
  for (const std::string& ir : link.lto) done = done && add(handle, kInputLtoIr, ir.data(), ir.size(), "lto") == 0;
  std::size_t size = 0;
  if (done && complete(handle) == 0 && get_size(handle, &size) == 0 && size > 0) {
    ptx.resize(size);
    if (get(handle, ptx.data()) != 0) ptx.clear();
    ptx.resize(ptx.find('\0') == std::string::npos ? ptx.size() : ptx.find('\0'));
  }
  destroy(&handle);
  return ptx;
}

int cubin_of(void* handle, std::string* out) {
  auto* const get_size = real<GetSize>("nvJitLinkGetLinkedCubinSize");
  auto* const get = real<GetBytes>("nvJitLinkGetLinkedCubin");
  if (!get_size || !get) return kInternalError;
  std::size_t size = 0;
  if (const int result = get_size(handle, &size); result != 0) return result;
  std::string cubin(size, '\0');
  if (const int result = get(handle, cubin.data()); result != 0) return result;
  const std::shared_ptr<Link> link = find(handle);
  *out = link && !link->ptx.empty() ? with_ptx(cubin, link->ptx) : std::move(cubin);
  return 0;
}

}  // namespace

#define FORWARD(name, parameters, arguments)                   \
  int name parameters {                                        \
    static auto* const function = real<int parameters>(#name); \
    return function ? function arguments : kInternalError;     \
  }

#pragma GCC visibility push(default)
extern "C" {

int nvJitLinkCreate(void** handle, std::uint32_t count, const char* const* options) {
  auto* const create = real<Create>("nvJitLinkCreate");
  if (!create) return kInternalError;
  const int result = create(handle, count, options);
  if (result != 0) return result;
  auto link = std::make_shared<Link>();
  for (std::uint32_t i = 0; i < count; ++i) link->options.emplace_back(options[i]);
  const std::lock_guard lock(links().mutex);
  links().by_handle[*handle] = std::move(link);
  return result;
}

int nvJitLinkDestroy(void** handle) {
  auto* const destroy = real<int(void**)>("nvJitLinkDestroy");
  if (!destroy) return kInternalError;
  if (handle) {
    const std::lock_guard lock(links().mutex);
    links().by_handle.erase(*handle);
  }
  return destroy(handle);
}

int nvJitLinkAddData(void* handle, int type, const void* data, std::size_t size, const char* name) {
  auto* const add = real<AddData>("nvJitLinkAddData");
  if (!add) return kInternalError;
  const std::shared_ptr<Link> link = find(handle);
  if (!link || !data) return add(handle, type, data, size, name);
  const std::string bytes(static_cast<const char*>(data), size);
  if (note(*link, type, bytes) != kInputCubin) return add(handle, type, data, size, name);
  const std::string plain = without_ptx(bytes);
  return add(handle, type, plain.data(), plain.size(), name);
}

int nvJitLinkAddFile(void* handle, int type, const char* name) {
  auto* const add = real<int(void*, int, const char*)>("nvJitLinkAddFile");
  if (!add) return kInternalError;
  std::ifstream file(name ? name : "", std::ios::binary);
  const std::shared_ptr<Link> link = find(handle);
  if (!link || !file.is_open()) return add(handle, type, name);  // says what is wrong
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const int kind = note(*link, type, bytes);
  if (kind != kInputCubin) return add(handle, type, name);
  const std::string plain = without_ptx(bytes);
  return real<AddData>("nvJitLinkAddData")(handle, type, plain.data(), plain.size(), name);
}

int nvJitLinkComplete(void* handle) {
  auto* const complete = real<OfHandle>("nvJitLinkComplete");
  if (!complete) return kInternalError;
  const int result = complete(handle);
  const std::shared_ptr<Link> link = find(handle);
  if (result != 0 || !link || link->is_complete) return result;
  link->is_complete = true;
  if (!link->lto.empty())
    if (std::string ptx = ptx_of_lto(*link); !ptx.empty()) link->ptx.push_back(std::move(ptx));
  if (link->has_library)
    if (std::string ptx = device_runtime_for(link->ptx); !ptx.empty()) link->ptx.push_back(std::move(ptx));
  return result;
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

FORWARD(nvJitLinkVersion, (unsigned int* major, unsigned int* minor), (major, minor))
FORWARD(nvJitLinkGetLinkedPtxSize, (void* handle, std::size_t* size), (handle, size))
FORWARD(nvJitLinkGetLinkedPtx, (void* handle, char* out), (handle, out))
FORWARD(nvJitLinkGetLinkedLTOIRSize, (void* handle, std::size_t* size), (handle, size))
FORWARD(nvJitLinkGetLinkedLTOIR, (void* handle, void* out), (handle, out))
FORWARD(nvJitLinkGetErrorLogSize, (void* handle, std::size_t* size), (handle, size))
FORWARD(nvJitLinkGetErrorLog, (void* handle, char* out), (handle, out))
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
