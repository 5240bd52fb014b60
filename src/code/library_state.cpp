// Loading code into the driver, and finding kernels and variables in it.
#include "src/code/library_state.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "cucore/error.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/ptx_entry.hpp"
#include "src/code/symbol_lookup.hpp"
#include "src/device/context_state.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/formats/demangle.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/fatbin.hpp"
#include "src/toolkit/running_call.hpp"

namespace cucore::detail {
namespace {

// The driver reads names to their first NUL: one that has more after it is another name than any symbol.
bool is_symbol(const std::string& name) { return name.find('\0') == std::string::npos; }

// A name as it can stand in a message.
std::string quoted(const std::string& name) {
  std::string text = "'";
  for (const char c : name) c == '\0' ? text += "\\0" : text += c;
  return text + "'";
}

std::string several_hint(const std::vector<std::string>& symbols) {
  std::string hint = "several kernels have this name; give the symbol of one:";
  for (const std::string& symbol : symbols) hint += " " + symbol + " is " + demangled(symbol) + ";";
  hint.pop_back();
  return hint;
}

// PTX: what does not begin like any other format.
bool is_text(std::string_view image) { return !is_elf(image) && !is_fatbin(image); }

}  // namespace

// What the driver may write to while the library is loaded: it compiles again when a device of another architecture
// first uses the library, and may log then, too.
struct LibraryState::Jit {
  std::array<char, 8192> info_log{};
  std::array<char, 8192> error_log{};
  std::vector<int> options;
  std::vector<void*> values;

  Jit() {
    const auto add = [this](int option, void* value) {
      options.push_back(option);
      values.push_back(value);
    };
    add(driver::CU_JIT_INFO_LOG_BUFFER, info_log.data());
    add(driver::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, reinterpret_cast<void*>(info_log.size()));
    add(driver::CU_JIT_ERROR_LOG_BUFFER, error_log.data());
    add(driver::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, reinterpret_cast<void*>(error_log.size()));
  }

  static std::string text(const std::array<char, 8192>& log) {
    return {log.begin(), std::find(log.begin(), log.end(), '\0')};
  }
};

LibraryState::LibraryState(const LoadRequest& request)
    : description_(request.description), ptx_(request.ptx), used_(request.used), jit_(std::make_unique<Jit>()) {}

namespace {

// The kernels that libraries have given out: from a kernel's driver handle alone its library is found here.
struct GivenKernel {
  std::weak_ptr<const LibraryState> library;
  const KernelState* kernel;
};
struct GivenKernels {
  std::mutex mutex;
  std::map<KernelHandle, GivenKernel> by_handle;
};
GivenKernels& given_kernels() {
  static auto* const all = new GivenKernels;  // never destroyed: libraries may outlive all static objects
  return *all;
}

}  // namespace

LibraryState::~LibraryState() {
  GivenKernels& given = given_kernels();
  const std::scoped_lock lock(given.mutex);
  for (const auto& [name, kernel] : kernels_) {
    const auto found = given.by_handle.find(kernel->handle);
    if (found != given.by_handle.end() && found->second.kernel == kernel.get()) given.by_handle.erase(found);
  }
}

Kernel LibraryState::kernel_of_handle(KernelHandle handle) {
  GivenKernels& given = given_kernels();
  std::shared_ptr<const LibraryState> library;  // if this is the last reference, it is dropped without the lock
  const std::scoped_lock lock(given.mutex);
  const auto found = given.by_handle.find(handle);
  if (found == given.by_handle.end()) return {};
  library = found->second.library.lock();
  if (library == nullptr) return {};
  return Kernel(std::shared_ptr<const KernelState>(library, found->second.kernel));
}

std::shared_ptr<LibraryState> LibraryState::open(const LoadRequest& request) {
  const driver::Table& table = driver::table();
  const char* const call = "cuLibraryLoadData";
  const bool is_ptx = is_text(request.image);
  const toolkit::RunningLoad running(call, is_ptx);
  const std::shared_ptr<LibraryState> state(new LibraryState(request));
  Jit& jit = *state->jit_;
  const auto count = static_cast<unsigned>(jit.options.size());
  LibraryHandle handle = nullptr;
  // PTX is taken as a C string; the driver reads the other formats to the size they state themselves.
  const std::string text(is_ptx ? request.image : std::string_view());
  const void* const image = is_ptx ? text.c_str() : request.image.data();
  driver::CUresult code =
      table.cuLibraryLoadData(&handle, image, jit.options.data(), jit.values.data(), count, nullptr, nullptr, 0);
  if (code == driver::CUDA_SUCCESS) {
    state->handle_ = OwningHandle<LibraryTraits>(handle);
    // GPU drivers (seen with 580) compile here, fill the log, return success even if that failed, and report the
    // failure at the first look-up: so look up something that no image has.
    driver::CUkernel none = nullptr;
    code = table.cuLibraryGetKernel(&none, handle, "?");
    if (code == driver::CUDA_ERROR_NOT_FOUND) code = driver::CUDA_SUCCESS;
  }
  state->info_log_ = Jit::text(jit.info_log);
  if (code != driver::CUDA_SUCCESS) {
    std::string log = Jit::text(jit.error_log);
    driver::fail(code, call, request.description, request.hint, log.empty() ? state->info_log_ : std::move(log));
  }
  return state;
}

Kernel LibraryState::known_kernel(std::string_view name) const {
  const std::scoped_lock lock(kernels_mutex_);
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) return {};
  return Kernel(std::shared_ptr<const KernelState>(shared_from_this(), found->second.get()));
}

Kernel LibraryState::get_kernel(std::string_view asked_for) {
  if (Kernel known = known_kernel(asked_for)) return known;
  const std::string name(asked_for);
  auto kernel = std::make_shared<KernelState>();
  const auto find = [&](const std::string& symbol) {
    kernel->name = symbol;
    if (!is_symbol(symbol)) return driver::CUDA_ERROR_NOT_FOUND;
    return driver::table().cuLibraryGetKernel(&kernel->handle, handle_.get(), symbol.c_str());
  };
  driver::CUresult code = find(name);
  if (code == driver::CUDA_ERROR_NOT_FOUND) {
    const std::vector<std::string> symbols = kernel_names();
    const std::vector<std::string> meant = symbols_spelled(name, symbols);
    if (meant.size() == 1) code = find(meant.front());
    if (code == driver::CUDA_ERROR_NOT_FOUND) {
      driver::fail(code, "cuLibraryGetKernel", "kernel " + quoted(name) + " in " + description_,
                   meant.size() > 1 ? several_hint(meant) : not_found_hint(name, symbols, "kernels"));
    }
  }
  if (code != driver::CUDA_SUCCESS) {
    // The log of the load may say why: the CPU device names there what keeps a kernel from running.
    driver::fail(code, "cuLibraryGetKernel", "kernel " + quoted(name) + " in " + description_, {}, info_log_);
  }
  // Not an owning reference: the kernel holds one.
  kernel->library = std::shared_ptr<LibraryState>(std::shared_ptr<void>(), this);
  {
    const std::scoped_lock lock(kernels_mutex_);
    kernel = kernels_.try_emplace(name, std::move(kernel)).first->second;
  }
  {
    GivenKernels& given = given_kernels();
    const std::scoped_lock lock(given.mutex);
    given.by_handle.insert_or_assign(kernel->handle, GivenKernel{weak_from_this(), kernel.get()});
  }
  return Kernel(std::shared_ptr<const KernelState>(shared_from_this(), kernel.get()));
}

GlobalVariable LibraryState::get_global(const std::string& name) {
  GlobalVariable variable;
  const auto find = [&](const std::string& symbol) {
    if (!is_symbol(symbol)) return driver::CUDA_ERROR_NOT_FOUND;
    return driver::table().cuLibraryGetGlobal(&variable.address, &variable.size, handle_.get(), symbol.c_str());
  };
  driver::CUresult code = find(name);
  if (code == driver::CUDA_ERROR_NOT_FOUND) {
    const std::vector<std::string> symbols = variable_names();
    std::vector<std::string> meant = symbols_spelled(name, symbols);
    if (meant.empty()) meant.push_back(symbol_of_variable(name));
    if (meant.size() == 1 && !meant.front().empty()) code = find(meant.front());
    if (code == driver::CUDA_ERROR_NOT_FOUND) {
      driver::fail(code, "cuLibraryGetGlobal", "variable " + quoted(name) + " in " + description_,
                   symbols.empty() ? std::string() : not_found_hint(name, symbols, "variables"));
    }
  }
  driver::check(code, "cuLibraryGetGlobal", [&] { return "variable " + quoted(name) + " in " + description_; });
  return variable;
}

std::vector<std::string> LibraryState::variable_names() const {
  std::vector<std::string> names;
  if (ptx_ == nullptr) return names;
  for (CodeSymbol& symbol : ptx_symbols(*ptx_)) {
    if (symbol.is_variable && symbol.kind != CodeSymbol::undefined) names.push_back(std::move(symbol.name));
  }
  return names;
}

std::vector<std::string> LibraryState::kernel_names() const {
  std::vector<std::string> names;
  if (ptx_ != nullptr) {
    for (PtxEntry& entry : ptx_entries(*ptx_)) names.push_back(std::move(entry.name));
    return names;
  }
  const driver::Table& table = driver::table();
  unsigned count = 0;
  if (table.cuLibraryGetKernelCount(&count, handle_.get()) != driver::CUDA_SUCCESS || count == 0) return names;
  std::vector<driver::CUkernel> kernels(count);
  if (table.cuLibraryEnumerateKernels(kernels.data(), count, handle_.get()) != driver::CUDA_SUCCESS) return names;
  for (const driver::CUkernel kernel : kernels) {
    const char* name = nullptr;
    if (table.cuKernelGetName(&name, kernel) == driver::CUDA_SUCCESS && name != nullptr) names.emplace_back(name);
  }
  return names;
}

}  // namespace cucore::detail
