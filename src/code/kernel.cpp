// Kernel: handle, name, parameter table, attributes.
#include "cucore/kernel.hpp"

#include <algorithm>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/parameter_check.hpp"
#include "src/code/parameter_names.hpp"
#include "src/code/ptx_entry.hpp"
#include "src/device/context_state.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/error/refuse.hpp"
#include "src/formats/demangle.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore {
namespace detail {
namespace {

// Offsets and sizes from the driver, without types. Empty: it does not know them.
std::optional<std::vector<Parameter>> ask_driver(const KernelState& kernel) {
  const driver::Table& table = driver::table();
  std::vector<Parameter> parameters;
  for (std::size_t i = 0;; ++i) {
    Parameter parameter;
    const driver::CUresult code = table.cuKernelGetParamInfo(kernel.handle, i, &parameter.offset, &parameter.size);
    if (code == driver::CUDA_ERROR_INVALID_VALUE) return parameters;  // past the last
    if (code == driver::CUDA_ERROR_INVALID_CONTEXT && i == 0) {
      ContextScope scope(primary_context(0)->handle);
      auto answer = ask_driver(kernel);
      scope.restore();
      return answer;
    }
    if (code != driver::CUDA_SUCCESS) return std::nullopt;
    parameters.push_back(parameter);
  }
}

}  // namespace

std::string describe(const KernelState& kernel) {
  return kernel.name.empty() ? "Kernel " + hexadecimal(kernel.handle) : "Kernel '" + demangled(kernel.name) + "'";
}

const KernelState& open_kernel(const std::shared_ptr<const KernelState>& state, const char* call) {
  if (state == nullptr) {
    throw StateError(
        {.call = call, .message = "the Kernel refers to nothing", .hint = "get one with ObjectCode::get_kernel"});
  }
  return *state;
}

void KernelState::learn() const {
  const std::scoped_lock lock(learning);
  if (learned) return;
  std::optional<std::vector<Parameter>> table;
  if (library != nullptr && library->ptx() != nullptr) {
    if (auto entry = ptx_entry(*library->ptx(), name)) {
      table = std::move(entry->parameters);
      required_block = entry->required_block;
    }
  }
  if (!table) table = ask_driver(*this);
  if (table) {
    refine_by_name(*table, name);
    signature = std::make_shared<const Signature>(std::move(*table));
    slots = signature->slots();
    bytes = static_cast<std::uint32_t>(signature->bytes());
    count = static_cast<std::uint32_t>(signature->size());
  }
  learned.store(true, std::memory_order_release);
}

void allow_dynamic_shared(const KernelState& kernel, int device, std::size_t bytes) {
  const auto slot = static_cast<std::size_t>(device);
  const bool remembered = slot < KernelState::remembered_devices;
  if (remembered && kernel.dynamic_shared_allowed[slot].load(std::memory_order_relaxed) >= bytes) return;
  // One at a time in the process: two kernels' states may stand for one function, and after a thread has raised a
  // limit, it must not be lowered before that thread launches.
  static std::mutex* const raising = new std::mutex;
  const std::scoped_lock lock(*raising);
  const KernelAttributes attributes(std::shared_ptr<const KernelState>(&kernel, [](const KernelState*) {}), device);
  std::size_t allowed = static_cast<std::size_t>(attributes.max_dynamic_shared_size_bytes());
  if (allowed < bytes) {
    const auto at_most = static_cast<std::size_t>(
        Device(device).attribute(driver::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    const auto fixed = static_cast<std::size_t>(attributes.shared_size_bytes());
    if (bytes + fixed > at_most) {
      refuse_as_driver("launch",
                       "shmem_size is " + std::to_string(bytes) + " bytes, but " + describe(kernel) +
                           " can have at most " + std::to_string(at_most < fixed ? 0 : at_most - fixed) + " on " +
                           describe_device(device) + " (" + std::to_string(at_most) +
                           " bytes of shared memory per block, of which the kernel itself takes " +
                           std::to_string(fixed) + ")",
                       "use a smaller shmem_size");
    }
    attributes.set_max_dynamic_shared_size_bytes(static_cast<int>(bytes));
    allowed = bytes;
  }
  if (remembered) kernel.dynamic_shared_allowed[slot].store(allowed, std::memory_order_relaxed);
}

}  // namespace detail

using detail::KernelState;
using detail::open_kernel;

Signature::Signature(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {
  slots_.reserve(parameters_.size());
  for (const Parameter& parameter : parameters_) {
    slots_.push_back(detail::slot_of(parameter));
    bytes_ = std::max(bytes_, parameter.offset + parameter.size);
  }
}

std::string Signature::text() const {
  std::string list = "(";
  for (const Parameter& parameter : parameters_) {
    if (list.size() > 1) list += ", ";
    if (parameter.type_name.empty()) {
      list += std::to_string(parameter.size) + (parameter.size == 1 ? " byte" : " bytes");
    } else {
      list += parameter.type_name;
    }
    if (!parameter.name.empty()) list += " " + parameter.name;
  }
  return list + ")";
}

Kernel Kernel::from_handle(KernelHandle handle, std::shared_ptr<const void> owner) {
  if (handle == nullptr) throw ValueError({.call = "Kernel::from_handle", .message = "a null handle is not a kernel"});
  Kernel known = detail::LibraryState::kernel_of_handle(handle);  // a kernel of cucore's keeps its library
  if (known && owner == nullptr) return known;
  auto state = std::make_shared<KernelState>();
  state->handle = handle;
  state->owner = known ? std::make_shared<std::pair<Kernel, std::shared_ptr<const void>>>(known, std::move(owner))
                       : std::move(owner);
  const char* name = nullptr;
  if (driver::table().cuKernelGetName(&name, handle) == driver::CUDA_SUCCESS && name != nullptr) state->name = name;
  return Kernel(std::move(state));
}

const detail::KernelPlan* detail::plan_of(const Kernel& kernel) noexcept { return kernel.state().get(); }

KernelHandle Kernel::handle() const noexcept { return state_ == nullptr ? nullptr : state_->handle; }

const std::string& Kernel::name() const { return open_kernel(state_, "Kernel::name").name; }

std::string Kernel::display_name() const { return detail::demangled(name()); }

std::shared_ptr<const Signature> Kernel::signature() const {
  const KernelState& state = open_kernel(state_, "Kernel::signature");
  state.parameters();
  return state.signature;
}

KernelAttributes Kernel::attributes(const Device& device) const {
  open_kernel(state_, "Kernel::attributes");
  return KernelAttributes(state_, device.ordinal());
}

KernelOccupancy Kernel::occupancy(const Device& device) const {
  open_kernel(state_, "Kernel::occupancy");
  return KernelOccupancy(state_, device.ordinal());
}

int KernelAttributes::get(int attribute) const {
  int value = 0;
  driver::check(
      driver::table().cuKernelGetAttribute(&value, attribute, kernel_->handle, detail::device_handle(device_)),
      "cuKernelGetAttribute", [&] {
        return "attribute " + std::to_string(attribute) + " of " + describe(*kernel_) + " on " +
               detail::describe_device(device_);
      });
  return value;
}

void KernelAttributes::set(int attribute, int value) const {
  driver::check(driver::table().cuKernelSetAttribute(attribute, value, kernel_->handle, detail::device_handle(device_)),
                "cuKernelSetAttribute", [&] {
                  return "attribute " + std::to_string(attribute) + " = " + std::to_string(value) + " of " +
                         describe(*kernel_) + " on " + detail::describe_device(device_);
                });
  // The limit may have been lowered: launches have to check it again.
  const auto slot = static_cast<std::size_t>(device_);
  if (attribute == driver::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && slot < KernelState::remembered_devices) {
    kernel_->dynamic_shared_allowed[slot].store(0, std::memory_order_relaxed);
  }
}

}  // namespace cucore
