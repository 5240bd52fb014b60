// Libraries: see library.hpp.
#include "cpu/runtime/loading/library.hpp"

#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
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

CUkernel Kernel::handle() {
  const std::lock_guard lock(mutex_);
  if (!handle_) {
    handle_ =
        reinterpret_cast<CUkernel>(kernel_table().insert(std::shared_ptr<Kernel>(library_.shared_from_this(), this)));
  }
  return handle_;
}

CUresult Kernel::function_in(Context& context, std::shared_ptr<Function>* function) {
  std::shared_ptr<Module> module;
  if (const CUresult result = library_.module_in(context, &module); result != CUDA_SUCCESS) return result;
  *function = std::shared_ptr<Function>(module, module->functions()[index_].get());
  return CUDA_SUCCESS;
}

CUresult Kernel::attribute(CUfunction_attribute attribute, CUdevice device, int* value) {
  Device* const found = find_device(device);
  if (!found) return CUDA_ERROR_INVALID_DEVICE;
  // Any module of the device knows; without one, a module that is never published does.
  for (const auto& module : library_.modules())
    if (module->context().device().ordinal() == device) return module->functions()[index_]->attribute(attribute, value);
  auto unpublished = std::make_shared<Module>(found->primary_context(), library_.program_, true);
  Function& function = *unpublished->functions()[index_];
  {
    const std::lock_guard lock(library_.mutex_);
    for (const auto& setting : library_.settings_)
      if (setting.kernel == index_ && setting.device == device)
        function.set_attribute(setting.attribute, setting.value);
  }
  return function.attribute(attribute, value);
}

CUresult Kernel::set_attribute(CUfunction_attribute attribute, int value, CUdevice device) {
  Device* const found = find_device(device);
  if (!found) return CUDA_ERROR_INVALID_DEVICE;
  auto unpublished = std::make_shared<Module>(found->primary_context(), library_.program_, true);
  if (const CUresult result = unpublished->functions()[index_]->set_attribute(attribute, value); result != CUDA_SUCCESS)
    return result;
  const std::lock_guard lock(library_.mutex_);
  library_.settings_.push_back({index_, device, attribute, value});
  for (const auto& [context, module] : library_.modules_)
    if (context->device().ordinal() == device) module->functions()[index_]->set_attribute(attribute, value);
  return CUDA_SUCCESS;
}

CUlibrary Library::enter(const std::shared_ptr<Library>& library) {
  library->handle_ = reinterpret_cast<CUlibrary>(library_table().insert(library));
  return library->handle_;
}

CUlibrary Library::create(std::shared_ptr<const Program> program) {
  return enter(std::make_shared<Library>(std::move(program), CUDA_SUCCESS));
}

CUlibrary Library::create_bad(CUresult failure) {
  return enter(std::make_shared<Library>(std::make_shared<const Program>(), failure));
}

Library::Library(std::shared_ptr<const Program> program, CUresult failure)
    : program_(std::move(program)), failure_(failure) {
  for (std::size_t i = 0; i < program_->kernels.size(); ++i) kernels_.push_back(std::make_unique<Kernel>(*this, i));
}

CUresult Library::module_in(Context& context, std::shared_ptr<Module>* module) {
  const std::lock_guard lock(mutex_);
  if (const CUresult result = make_managed(); result != CUDA_SUCCESS) return result;
  std::shared_ptr<Module>& known = modules_[&context.home()];
  if (!known) {
    if (const CUresult result = Module::load(context, program_, managed_, &known); result != CUDA_SUCCESS) {
      modules_.erase(&context.home());
      return result;
    }
    for (const Setting& setting : settings_)
      if (setting.device == context.device().ordinal())
        known->functions()[setting.kernel]->set_attribute(setting.attribute, setting.value);
  }
  *module = known;
  return CUDA_SUCCESS;
}

CUresult Library::make_managed() { return managed_ ? CUDA_SUCCESS : ManagedVariables::make(*program_, &managed_); }

CUresult Library::find_managed_variable(std::string_view name, CUdeviceptr* address, std::size_t* size) {
  const std::lock_guard lock(mutex_);
  if (const CUresult result = make_managed(); result != CUDA_SUCCESS) return result;
  const auto address_of = [&](std::size_t index) { return managed_->address(index); };
  return find_variable(*program_, name, address_of, address, size);
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
  const std::lock_guard lock(mutex_);
  modules_.clear();
}

std::shared_ptr<Library> find_library(CUlibrary handle) { return library_table().find(handle); }

std::shared_ptr<Kernel> find_kernel(CUkernel handle) { return kernel_table().find(handle); }

void forget_modules_of_libraries(const Context& context) {
  for (const auto& library : library_table().all()) library->forget(context);
}

}  // namespace cucore::cpu::runtime
