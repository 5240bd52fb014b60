// ObjectCode: made from its parts without reading them, loaded once at the first use that needs the driver.
#include "cucore/object_code.hpp"

#include <algorithm>
#include <utility>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/error.hpp"
#include "cucore/kernel.hpp"
#include "src/code/object_code_load.hpp"
#include "src/code/object_code_state.hpp"
#include "src/code/ptx_entry.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/formats/loadable_code.hpp"

namespace cucore {
namespace detail {

std::string describe(CodeType type, const std::string& name, const std::filesystem::path& path) {
  std::string text = "ObjectCode '" + name + "' (" + std::string(type.name());
  if (!path.empty()) text += ", file " + path.string();
  return text + ")";
}

}  // namespace detail

ObjectCode::ObjectCode(std::shared_ptr<State> state) : state_(std::move(state)) {}

ObjectCode ObjectCode::from_bytes(CodeType type, std::string_view bytes, std::string name, SymbolMapping mapping) {
  return ObjectCode(std::make_shared<State>(type, std::string(detail::without_end(type, bytes)),
                                            std::filesystem::path(), std::move(name), std::move(mapping)));
}

ObjectCode ObjectCode::from_bytes(CodeType type, std::span<const std::byte> bytes, std::string name,
                                  SymbolMapping mapping) {
  return from_bytes(type, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), std::move(name),
                    std::move(mapping));
}

ObjectCode ObjectCode::from_file(CodeType type, std::filesystem::path path, std::string name, SymbolMapping mapping) {
  if (path.empty()) {
    throw InvalidValueError({.call = "ObjectCode::from_file",
                             .code = 1,
                             .code_name = "CUDA_ERROR_INVALID_VALUE",
                             .message = "the path is empty",
                             .hint = "name a file"});
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
  const std::string description = detail::describe(state.type, state.name, state.path);
  const std::string from_file =
      state.path.empty() ? std::string() : detail::read_code_file(state.type, state.path, state.stamp, description);
  state.library = detail::load_code(state.type, description, state.path.empty() ? state.bytes : from_file);
  state.loaded.store(state.library.get(), std::memory_order_release);
}

LibraryHandle ObjectCode::handle() const {
  load();
  return state_->library->handle();
}

ModuleHandle ObjectCode::get_module() const {
  load();
  ModuleHandle module = nullptr;
  driver::check(
      driver::table().cuLibraryGetModule(&module, state_->library->handle()), "cuLibraryGetModule",
      [&] { return state_->library->description(); }, "make a Device current first: a module is a context's");
  return module;
}

Kernel ObjectCode::get_kernel(std::string_view name) const {
  load();
  const auto mapped = state_->mapping.find(name);
  return state_->library->get_kernel(mapped != state_->mapping.end() ? mapped->second : name);
}

Kernel detail::known_kernel(const ObjectCode& code, std::string_view name) {
  const ObjectCode::State& state = *code.state_;
  const LibraryState* const library = state.loaded.load(std::memory_order_acquire);
  if (library == nullptr) return {};
  const auto mapped = state.mapping.find(name);
  return library->known_kernel(mapped != state.mapping.end() ? mapped->second : name);
}

GlobalVariable ObjectCode::get_global(std::string_view name) const {
  load();
  const SymbolMapping& mapping = state_->mapping;
  auto mapped = mapping.find(name);
  if (mapped == mapping.end()) mapped = mapping.find("&" + std::string(name));
  return state_->library->get_global(mapped != mapping.end() ? mapped->second : std::string(name));
}

std::string ObjectCode::read() const {
  if (state_->path.empty()) return state_->bytes;
  return detail::read_code_file(state_->type, state_->path, state_->stamp,
                                detail::describe(state_->type, state_->name, state_->path));
}

std::vector<std::string> ObjectCode::kernel_names() const {
  std::vector<std::string> names;
  if (const std::optional<std::string> text = ptx()) {
    for (detail::PtxEntry& entry : detail::ptx_entries(*text)) names.push_back(std::move(entry.name));
    return names;
  }
  const std::string bytes = read();
  const std::vector<detail::FatbinImage> images = detail::read_loadable_code(code_type(), bytes).images;
  const auto cubin = std::find_if(images.begin(), images.end(), [](const detail::FatbinImage& image) {
    return image.type == CodeType(CodeType::cubin) && !image.is_compressed;
  });
  if (cubin == images.end()) return names;
  for (detail::CodeSymbol& symbol : detail::cubin_symbols(cubin->bytes)) {
    if (symbol.is_kernel && symbol.kind != detail::CodeSymbol::undefined) names.push_back(std::move(symbol.name));
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
