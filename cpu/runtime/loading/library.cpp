// Libraries: see library.hpp.
#include "cpu/runtime/loading/library.hpp"

#include <utility>

#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {

namespace {

using LibraryTable = HandleTable<Library, HandleKind::Library>;
LibraryTable& library_table() {
  static auto* table = new LibraryTable;
  return *table;
}

using KernelTable = HandleTable<Kernel, HandleKind::Kernel>;
KernelTable& kernel_table() {
  static auto* table = new KernelTable;
  return *table;
}

}  // namespace

const KernelDescription& Kernel::description() const { return library_.program().kernels[index_]; }

Result<void> Kernel::complete() const { return library_.program().complete(index_); }

CUkernel Kernel::handle() {
  const std::lock_guard lock(mutex_);
  if (!handle_) {
    handle_ =
        reinterpret_cast<CUkernel>(kernel_table().insert(std::shared_ptr<Kernel>(library_.shared_from_this(), this)));
  }
  return handle_;
}

Result<std::shared_ptr<Function>> Kernel::function_in(Context& context) {
  Result<std::shared_ptr<Module>> module = library_.module_in(context);
  if (!module) return std::move(module).failure();
  return std::shared_ptr<Function>(*module, (*module)->functions()[index_].get());
}

Result<int> Kernel::attribute(CUfunction_attribute attribute, CUdevice device) {
  Device* const found = find_device(device);
  if (!found) return ErrorCode::InvalidDevice;
  // Any module of the device can answer; without one, a temporary module does.
  for (const auto& module : library_.modules())
    if (module->context().device().ordinal() == device) return module->functions()[index_]->attribute(attribute);
  auto unpublished = std::make_shared<Module>(found->primary_context(), library_.program_, true);
  Function& function = *unpublished->functions()[index_];
  {
    const std::lock_guard lock(library_.mutex_);
    for (const auto& setting : library_.settings_)
      if (setting.kernel == index_ && setting.device == device)
        (void)function.set_attribute(setting.attribute, setting.value);  // as it was set before
  }
  return function.attribute(attribute);
}

Result<void> Kernel::set_attribute(CUfunction_attribute attribute, int value, CUdevice device) {
  Device* const found = find_device(device);
  if (!found) return ErrorCode::InvalidDevice;
  auto unpublished = std::make_shared<Module>(found->primary_context(), library_.program_, true);
  if (Result<void> set = unpublished->functions()[index_]->set_attribute(attribute, value); !set) return set;
  const std::lock_guard lock(library_.mutex_);
  library_.settings_.push_back({index_, device, attribute, value});
  for (const auto& [context, module] : library_.modules_)
    if (context->device().ordinal() == device) (void)module->functions()[index_]->set_attribute(attribute, value);
  return {};
}

CUlibrary Library::enter(const std::shared_ptr<Library>& library) {
  library->handle_ = reinterpret_cast<CUlibrary>(library_table().insert(library));
  return library->handle_;
}

CUlibrary Library::create(std::shared_ptr<const Program> program) {
  return enter(std::make_shared<Library>(std::move(program), Result<void>()));
}

CUlibrary Library::create_bad(Failure failure) {
  return enter(std::make_shared<Library>(std::make_shared<const Program>(), std::move(failure)));
}

Library::Library(std::shared_ptr<const Program> program, Result<void> is_good)
    : program_(std::move(program)), is_good_(std::move(is_good)) {
  for (std::size_t i = 0; i < program_->kernels.size(); ++i) kernels_.push_back(std::make_unique<Kernel>(*this, i));
}

Result<std::shared_ptr<Module>> Library::module_in(Context& context) {
  const std::lock_guard lock(mutex_);
  if (!managed_)
    if (Result<void> made = make_managed(); !made) return std::move(made).failure();
  std::shared_ptr<Module>& known = modules_[&context.home()];
  if (!known) {
    Result<std::shared_ptr<Module>> loaded = Module::load(context, program_, managed_);
    if (!loaded) {
      modules_.erase(&context.home());
      return loaded;
    }
    known = *std::move(loaded);
    for (const Setting& setting : settings_)
      if (setting.device == context.device().ordinal())
        (void)known->functions()[setting.kernel]->set_attribute(setting.attribute, setting.value);
  }
  return known;
}

Result<void> Library::make_managed() {
  Result<std::shared_ptr<ManagedVariables>> made = ManagedVariables::make(*program_);
  if (!made) return std::move(made).failure();
  managed_ = *std::move(made);
  return {};
}

Result<VariableMemory> Library::find_managed_variable(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (!managed_)
    if (Result<void> made = make_managed(); !made) return std::move(made).failure();
  const auto address_of = [&](std::size_t index) { return managed_->address(index); };
  return find_variable(*program_, name, address_of);
}

std::vector<std::shared_ptr<Module>> Library::modules() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Module>> all;
  for (const auto& [context, module] : modules_) all.push_back(module);
  return all;
}

void Library::forget(const Context& context) {
  const std::lock_guard lock(mutex_);
  modules_.erase(&context);
}

void Library::unload() {
  library_table().remove(handle_);
  for (const auto& kernel : kernels_) kernel_table().remove(kernel->handle());
  for (const auto& module : modules()) module->unload();
  if (program_->later) program_->later->forget_image();
  const std::lock_guard lock(mutex_);
  modules_.clear();
}

std::shared_ptr<Library> find_library(CUlibrary handle) { return library_table().find(handle); }

std::shared_ptr<Kernel> find_kernel(CUkernel handle) { return kernel_table().find(handle); }

void forget_modules_of_libraries(const Context& context) {
  for (const auto& library : library_table().all()) library->forget(context);
}

}  // namespace cucore::cpu::runtime
