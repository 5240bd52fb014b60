// Loading code into the driver, and finding kernels and variables in it.
#include "src/detail/library_state.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "cucore/error.hpp"
#include "src/detail/context_state.hpp"
#include "src/detail/demangle.hpp"
#include "src/detail/kernel_state.hpp"
#include "src/detail/ptx_entry.hpp"

namespace cucore::detail {
namespace {

// Edit distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string not_found_hint(const std::string& wanted, const std::vector<std::string>& names) {
  if (names.empty()) return "check the spelling; C++ functions have mangled names unless declared extern \"C\"";
  const std::string* nearest = nullptr;
  std::size_t best = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const std::string& name : names) {
    // A C++ function asked for by its plain name is the likeliest mistake of all.
    std::string plain = demangled(name);
    if (plain.starts_with("void ")) plain.erase(0, 5);
    plain.erase(std::min(plain.find_first_of("<("), plain.size()));
    const std::size_t d = std::min(distance(wanted, name), distance(wanted, plain));
    if (d < best) {
      best = d;
      nearest = &name;
    }
  }
  constexpr std::size_t most = 16;
  std::string hint;
  if (nearest != nullptr) hint = "did you mean '" + *nearest + "'? ";
  hint += "kernels in it: ";
  for (std::size_t i = 0; i < names.size() && i < most; ++i) hint += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) hint += " and " + std::to_string(names.size() - most) + " more";
  return hint;
}

bool is_text(std::span<const std::byte> image) {
  // ELF and fat binaries begin with bytes that no PTX begins with.
  constexpr std::array<unsigned char, 4> elf{0x7f, 'E', 'L', 'F'};
  constexpr std::array<unsigned char, 4> fatbin{0x50, 0xed, 0x55, 0xba};
  if (image.size() < 4) return true;
  const auto starts_with = [&](const std::array<unsigned char, 4>& magic) {
    return std::equal(magic.begin(), magic.end(), image.begin(),
                      [](unsigned char a, std::byte b) { return a == static_cast<unsigned char>(b); });
  };
  return !starts_with(elf) && !starts_with(fatbin);
}

}  // namespace

// What the driver may write to while the library is loaded: it compiles again when a device of another architecture
// first uses the library, and nothing says that it will not log then.
struct LibraryState::Jit {
  std::array<char, 8192> info_log{};
  std::array<char, 8192> error_log{};
  std::vector<int> options;
  std::vector<void*> values;

  explicit Jit(const std::vector<JitOption>& more) {
    const auto add = [this](int option, void* value) {
      options.push_back(option);
      values.push_back(value);
    };
    add(driver::CU_JIT_INFO_LOG_BUFFER, info_log.data());
    add(driver::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, reinterpret_cast<void*>(info_log.size()));
    add(driver::CU_JIT_ERROR_LOG_BUFFER, error_log.data());
    add(driver::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, reinterpret_cast<void*>(error_log.size()));
    for (const JitOption& option : more) add(option.option, option.value);
  }

  static std::string text(const std::array<char, 8192>& log) {
    return {log.begin(), std::find(log.begin(), log.end(), '\0')};
  }
};

LibraryState::LibraryState(const LoadRequest& request)
    : description_(request.description),
      ptx_(request.ptx),
      used_(request.used),
      jit_(std::make_unique<Jit>(request.jit_options)) {}

LibraryState::~LibraryState() = default;

std::shared_ptr<LibraryState> LibraryState::open(const LoadRequest& request) {
  const driver::Table& table = driver::table();
  const std::shared_ptr<LibraryState> state(new LibraryState(request));
  Jit& jit = *state->jit_;
  const auto count = static_cast<unsigned>(jit.options.size());
  LibraryHandle handle = nullptr;
  driver::CUresult code = driver::CUDA_SUCCESS;
  const char* call = "cuLibraryLoadData";
  if (!request.file.empty()) {
    call = "cuLibraryLoadFromFile";
    code = table.cuLibraryLoadFromFile(&handle, request.file.c_str(), jit.options.data(), jit.values.data(), count,
                                       nullptr, nullptr, 0);
  } else {
    // PTX is taken as a C string; the driver reads the other formats to the size they state themselves.
    std::string text;
    const void* image = request.image.data();
    if (is_text(request.image)) {
      text.assign(reinterpret_cast<const char*>(request.image.data()), request.image.size());
      image = text.c_str();
    }
    code = table.cuLibraryLoadData(&handle, image, jit.options.data(), jit.values.data(), count, nullptr, nullptr, 0);
  }
  if (code == driver::CUDA_SUCCESS) {
    state->handle_ = OwningHandle<LibraryTraits>(handle);
    // GPU drivers (seen with 580) compile here, fill the log, answer success whatever came of it, and tell at the first
    // look-up: so look something up that no image has.
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

Kernel LibraryState::get_kernel(const std::string& symbol) {
  auto kernel = std::make_shared<KernelState>();
  const driver::CUresult code = driver::table().cuLibraryGetKernel(&kernel->handle, handle_.get(), symbol.c_str());
  if (code == driver::CUDA_ERROR_NOT_FOUND) {
    driver::fail(code, "cuLibraryGetKernel", "kernel '" + symbol + "' in " + description_,
                 not_found_hint(symbol, kernel_names()));
  }
  driver::check(code, "cuLibraryGetKernel", [&] { return "kernel '" + symbol + "' in " + description_; });
  kernel->library = shared_from_this();
  kernel->name = symbol;
  return Kernel(std::move(kernel));
}

GlobalVariable LibraryState::get_global(const std::string& symbol) {
  GlobalVariable variable;
  driver::check(driver::table().cuLibraryGetGlobal(&variable.address, &variable.size, handle_.get(), symbol.c_str()),
                "cuLibraryGetGlobal", [&] { return "variable '" + symbol + "' in " + description_; });
  return variable;
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
