// ObjectCode: made from its parts without a look at them, loaded once at the first use that needs the driver.
#include "cucore/object_code.hpp"

#include <utility>

#include "cucore/error.hpp"
#include "cucore/kernel.hpp"
#include "src/detail/elf.hpp"
#include "src/detail/files.hpp"
#include "src/detail/object_code_state.hpp"
#include "src/detail/ptx_entry.hpp"

namespace cucore {
namespace {

constexpr int kInvalidImage = 200;
constexpr int kNoBinaryForGpu = 209;

// The driver trusts the offsets in an image, so an image is checked against its own size before the driver sees it.
void refuse_bad_image(std::string_view image, const std::string& description) {
  const char* fault = nullptr;
  if (image.empty()) {
    fault = "it is empty";
  } else if (image.starts_with("\x7f"
                               "ELF")) {
    fault = detail::elf_fault(image);
  } else if (detail::is_fatbin(image)) {
    fault = detail::fatbin_fault(image);
  } else if (image.find('\0') != std::string_view::npos) {
    fault = "it is neither a cubin nor a fat binary, and as PTX it has a NUL character inside";
  }
  if (fault == nullptr) return;
  throw DriverError({.call = "cuLibraryLoadData",
                     .code = kInvalidImage,
                     .code_name = "CUDA_ERROR_INVALID_IMAGE",
                     .message = "cannot load " + description + ": " + fault + " (the driver was not asked)",
                     .hint = "the bytes were cut off or altered since they were compiled; compile again"});
}

std::shared_ptr<detail::LibraryState> load_now(CodeType type, const std::string& name,
                                               const std::filesystem::path& path, std::string_view bytes) {
  detail::LoadRequest request;
  request.description = detail::describe(type, name, path);
  std::string from_file;
  if (!path.empty()) {
    from_file = detail::read_file_or_throw(path, request.description);
    bytes = from_file;
  }
  while (type == CodeType(CodeType::ptx) && bytes.ends_with('\0')) bytes.remove_suffix(1);
  refuse_bad_image(bytes, request.description);
  if (type == CodeType(CodeType::ptx)) {
    request.ptx = std::make_shared<const std::string>(bytes);
  } else if (const auto ptx = detail::embedded_ptx(bytes)) {
    request.ptx = std::make_shared<const std::string>(*ptx);
  }
  request.image = std::as_bytes(std::span(bytes));
  try {
    return detail::LibraryState::open(request);
  } catch (const DriverError& error) {
    // A cubin for another architecture: its PTX, which the driver compiles for this one.
    if (error.code() != kNoBinaryForGpu || request.ptx == nullptr) throw;
  }
  request.image = std::as_bytes(std::span(*request.ptx));
  request.hint = "compile for this device's architecture (Device::arch) or an older one";
  request.description += ", from the PTX it carries since its binary is for another architecture";
  return detail::LibraryState::open(request);
}

}  // namespace

namespace detail {

std::string describe(CodeType type, const std::string& name, const std::filesystem::path& path) {
  std::string text = "ObjectCode '" + name + "' (" + std::string(type.name());
  if (!path.empty()) text += ", file " + path.string();
  return text + ")";
}

}  // namespace detail

ObjectCode::ObjectCode(std::shared_ptr<State> state) : state_(std::move(state)) {}

ObjectCode ObjectCode::from_bytes(CodeType type, std::string_view bytes, std::string name, SymbolMapping mapping) {
  while (type == CodeType(CodeType::ptx) && bytes.ends_with('\0')) bytes.remove_suffix(1);
  return ObjectCode(
      std::make_shared<State>(type, std::string(bytes), std::filesystem::path(), std::move(name), std::move(mapping)));
}

ObjectCode ObjectCode::from_bytes(CodeType type, std::span<const std::byte> bytes, std::string name,
                                  SymbolMapping mapping) {
  return from_bytes(type, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), std::move(name),
                    std::move(mapping));
}

ObjectCode ObjectCode::from_file(CodeType type, std::filesystem::path path, std::string name, SymbolMapping mapping) {
  if (path.empty()) {
    throw ValueError({.call = "ObjectCode::from_file", .message = "the path is empty", .hint = "name a file"});
  }
  return ObjectCode(std::make_shared<State>(type, std::string(), std::move(path), std::move(name), std::move(mapping)));
}

ObjectCode ObjectCode::from_ptx(std::string_view bytes, std::string name, SymbolMapping mapping) {
  return from_bytes(CodeType::ptx, bytes, std::move(name), std::move(mapping));
}
ObjectCode ObjectCode::from_cubin(std::string_view bytes, std::string name, SymbolMapping mapping) {
  return from_bytes(CodeType::cubin, bytes, std::move(name), std::move(mapping));
}
ObjectCode ObjectCode::from_ltoir(std::string_view bytes, std::string name, SymbolMapping mapping) {
  return from_bytes(CodeType::ltoir, bytes, std::move(name), std::move(mapping));
}
ObjectCode ObjectCode::from_fatbin(std::string_view bytes, std::string name, SymbolMapping mapping) {
  return from_bytes(CodeType::fatbin, bytes, std::move(name), std::move(mapping));
}
ObjectCode ObjectCode::from_object(std::string_view bytes, std::string name, SymbolMapping mapping) {
  return from_bytes(CodeType::object, bytes, std::move(name), std::move(mapping));
}
ObjectCode ObjectCode::from_library(std::string_view bytes, std::string name, SymbolMapping mapping) {
  return from_bytes(CodeType::library, bytes, std::move(name), std::move(mapping));
}

CodeType ObjectCode::code_type() const noexcept { return state_->type; }
const std::string& ObjectCode::name() const noexcept { return state_->name; }
const SymbolMapping& ObjectCode::symbol_mapping() const noexcept { return state_->mapping; }
std::string_view ObjectCode::code() const noexcept { return state_->bytes; }
const std::filesystem::path& ObjectCode::path() const noexcept { return state_->path; }
bool ObjectCode::is_loaded() const noexcept { return state_->loaded.load(std::memory_order_acquire) != nullptr; }

void ObjectCode::load() const {
  State& state = *state_;
  if (is_loaded()) return;
  if (!state.type.is_loadable()) {
    throw StateError({.call = "ObjectCode::load",
                      .message = "Unsupported code type \"" + std::string(state.type.name()) +
                                 "\": " + detail::describe(state.type, state.name, state.path) + " cannot be loaded",
                      .hint = "the driver loads ptx, cubin and fatbin; link this to a cubin first"});
  }
  const std::lock_guard lock(state.load_mutex);
  if (state.library != nullptr) return;
  state.library = load_now(state.type, state.name, state.path, state.bytes);
  state.loaded.store(state.library.get(), std::memory_order_release);
}

LibraryHandle ObjectCode::handle() const {
  load();
  return state_->library->handle();
}

Kernel ObjectCode::get_kernel(std::string_view name) const {
  load();
  const auto mapped = state_->mapping.find(name);
  return state_->library->get_kernel(mapped != state_->mapping.end() ? mapped->second : std::string(name));
}

GlobalVariable ObjectCode::get_global(std::string_view name) const {
  load();
  const SymbolMapping& mapping = state_->mapping;
  auto mapped = mapping.find(name);
  if (mapped == mapping.end()) mapped = mapping.find("&" + std::string(name));
  const detail::GlobalVariable found =
      state_->library->get_global(mapped != mapping.end() ? mapped->second : std::string(name));
  return {.address = found.address, .size = found.size};
}

std::string ObjectCode::read() const {
  if (state_->path.empty()) return state_->bytes;
  std::string bytes =
      detail::read_file_or_throw(state_->path, detail::describe(state_->type, state_->name, state_->path));
  while (state_->type == CodeType(CodeType::ptx) && bytes.ends_with('\0')) bytes.pop_back();
  return bytes;
}

std::optional<std::string> ObjectCode::ptx() const {
  const std::string from_file = state_->path.empty() ? std::string() : read();
  const std::string_view bytes = state_->path.empty() ? std::string_view(state_->bytes) : from_file;
  if (state_->type == CodeType(CodeType::ptx)) return std::string(bytes);
  const std::optional<std::string_view> embedded = detail::embedded_ptx(bytes);
  return embedded ? std::optional<std::string>(*embedded) : std::nullopt;
}

std::vector<std::string> ObjectCode::kernel_names() const {
  std::vector<std::string> names;
  if (const std::optional<std::string> text = ptx()) {
    for (detail::PtxEntry& entry : detail::ptx_entries(*text)) names.push_back(std::move(entry.name));
  }
  return names;
}

Module& Module::load(const ObjectCode& code) {
  code.load();
  code_ = code;
  return *this;
}

const ObjectCode& Module::object_code() const {
  if (!code_) {
    throw StateError({.call = "Module", .message = "nothing is loaded", .hint = "call load(object_code) first"});
  }
  return *code_;
}

Kernel Module::get_kernel(std::string_view name) const { return object_code().get_kernel(name); }

}  // namespace cucore
