// Memory and values of a program's variables, and the handles of modules: see module.hpp.
#include "cpu/runtime/loading/module.hpp"

#include <algorithm>
#include <cstring>
#include <shared_mutex>
#include <unordered_map>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/loader/link.hpp"
#include "cpu/runtime/loading/library.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {
namespace {

using ModuleTable = HandleTable<Module, HandleKind::Module>;
ModuleTable& module_table() {
  static auto* table = new ModuleTable;
  return *table;
}

/// Kernels by the addresses that device code has of them.
struct KernelAddresses {
  std::shared_mutex mutex;
  std::unordered_map<std::uint64_t, std::weak_ptr<Module>> modules;
};
KernelAddresses& kernel_addresses() {
  static auto* addresses = new KernelAddresses;
  return *addresses;
}

/// Device code cannot call a kernel: its address is only a name.
std::uint64_t address_of(const Function& function) { return reinterpret_cast<std::uintptr_t>(&function); }

}  // namespace

Module::Module(Context& context, std::shared_ptr<const Program> program, bool of_library)
    : context_(context), program_(std::move(program)), of_library_(of_library) {
  for (const KernelDescription& kernel : program_->kernels)
    functions_.push_back(std::make_unique<Function>(*this, kernel));
  addresses_.kernels = kernels_in(*program_->ptx);
}

std::vector<void*> Module::kernels_in(const ptx::Module& ptx) {
  std::vector<void*> kernels(ptx.functions.size(), nullptr);
  if (!program_->later) {
    for (const auto& function : functions_) kernels[function->description().id] = function.get();
    return kernels;
  }
  for (ptx::FunctionId id = 0; id < ptx.functions.size(); ++id)
    if (const ptx::Function& function = ptx.functions[id]; function.is_entry && function.has_body)
      kernels[id] = find_function(function.name);
  return kernels;
}

loader::ModuleAddresses Module::addresses_in(const KernelDescription& kernel) {
  loader::ModuleAddresses addresses{.variables = {}, .kernels = kernels_in(*kernel.ptx)};
  for (const ptx::VariableId variable : kernel.variables)
    addresses.variables.push_back(variable < addresses_.variables.size() ? addresses_.variables[variable] : nullptr);
  return addresses;
}

Module::~Module() {
  {
    const std::lock_guard lock(kernel_addresses().mutex);
    for (const auto& function : functions_) kernel_addresses().modules.erase(address_of(*function));
  }
  for (std::size_t i = 0; i < addresses_.variables.size(); ++i)
    if (void* const variable = addresses_.variables[i]; variable && variable != managed_->address(i))
      free_module_memory(reinterpret_cast<std::uintptr_t>(variable));
}

Result<std::shared_ptr<Module>> Module::load(Context& context, std::shared_ptr<const Program> program,
                                             std::shared_ptr<ManagedVariables> managed) {
  auto made = std::make_shared<Module>(context.home(), std::move(program), managed != nullptr);
  made->managed_ = std::move(managed);
  if (Result<void> allocated = made->allocate_variables(); !allocated) return std::move(allocated).failure();
  if (Result<void> initialised = made->initialise_variables(); !initialised) return std::move(initialised).failure();
  if (made->program_->later)
    for (void* const named : made->addresses_.kernels)  // as in Function::complete: device code may launch them
      if (named) (void)static_cast<Function*>(named)->complete();
  made->handle_ = reinterpret_cast<CUmodule>(module_table().insert(made));
  const std::lock_guard lock(kernel_addresses().mutex);
  for (const auto& function : made->functions_) kernel_addresses().modules.emplace(address_of(*function), made);
  return made;
}

Result<void> Module::allocate_variables() {
  if (!managed_) {
    Result<std::shared_ptr<ManagedVariables>> made = ManagedVariables::make(*program_);
    if (!made) return std::move(made).failure();
    managed_ = *std::move(made);
  }
  const std::vector<ptx::Variable>& variables = program_->ptx->variables;
  addresses_.variables.resize(variables.size(), nullptr);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    addresses_.variables[i] = managed_->address(i);
    if (!has_memory(variables[i]) || variables[i].managed) continue;
    const std::size_t bytes = std::max<std::size_t>(memory_size(variables[i]), 1);
    Result<std::uintptr_t> address = allocate_module_memory(context_, bytes, false);
    if (!address) return std::move(address).failure();
    addresses_.variables[i] = reinterpret_cast<void*>(*address);
  }
  return {};
}

Result<void> Module::initialise_variables() {
  const std::vector<ptx::Variable>& variables = program_->ptx->variables;
  const bool is_first = managed_->lack_addresses();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    auto* const memory = static_cast<std::byte*>(addresses_.variables[i]);
    const ptx::Variable& variable = variables[i];
    if (!memory || (variable.managed && !is_first)) continue;
    if (!variable.managed) write_initial_value(variable, memory);
    for (const ptx::Relocation& relocation : variable.relocations) {
      const void* named = nullptr;
      if (relocation.is_function) {
        const auto callee = analysis::resolve(*program_->ptx, relocation.function).function;
        named = callee ? addresses_.kernels[*callee] : nullptr;
        if (!named) continue;  // no kernel: see give_function_addresses
      } else {
        named = addresses_.variables[relocation.variable];
      }
      if (relocation.offset + relocation.width > variable.size) return ErrorCode::InvalidPtx;
      const auto base = reinterpret_cast<std::uintptr_t>(named);
      const std::uint64_t value = (base + static_cast<std::uint64_t>(relocation.addend)) >> relocation.shift;
      std::memcpy(memory + relocation.offset, &value, std::min<std::size_t>(relocation.width, sizeof value));
    }
  }
  return {};
}

Function* Module::find_function(std::string_view name) {
  const int index = program_->find_kernel(name);
  return index >= 0 ? functions_[static_cast<std::size_t>(index)].get() : nullptr;
}

Result<VariableMemory> Module::find_variable(std::string_view name) {
  const auto address_of = [&](std::size_t index) { return addresses_.variables[index]; };
  give_function_addresses(name);
  return runtime::find_variable(*program_, name, address_of);
}

std::uint64_t* Module::find_reference(std::string_view name, bool is_surface) const {
  const ptx::Type type = is_surface ? ptx::Type::Surfref : ptx::Type::Texref;
  const std::vector<ptx::Variable>& variables = program_->ptx->variables;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (variables[i].name == name && variables[i].type == type)
      return static_cast<std::uint64_t*>(addresses_.variables[i]);
  return nullptr;
}

void Module::keep(std::shared_ptr<const void> belonging) {
  const std::lock_guard lock(belongings_mutex_);
  belongings_.push_back(std::move(belonging));
}

void Module::give_function_addresses(std::string_view name) {
  const ptx::Module& ptx = *program_->ptx;
  for (std::size_t i = 0; i < ptx.variables.size(); ++i) {
    const ptx::Variable& variable = ptx.variables[i];
    if (variable.name != name || !addresses_.variables[i] || !analysis::names_functions(ptx, variable)) continue;
    for (const auto& function : functions_) {
      if (loader::has_function_addresses(ptx, variable, addresses_.variables[i])) break;
      if (!function->complete() || !function->reaches(i)) continue;
      std::shared_ptr<const Code> code;
      (void)function->code({1, 1, 1}, 0, &code);  // what fails is reported
    }
  }
}

void Module::unload() {
  for (const auto& function : functions_) function->end_handle();
  module_table().remove(handle_);
  const std::lock_guard lock(belongings_mutex_);
  belongings_.clear();
}

std::shared_ptr<Module> find_module(CUmodule handle) { return module_table().find(handle); }

std::shared_ptr<Function> find_kernel_at(std::uint64_t address) {
  std::shared_lock lock(kernel_addresses().mutex);
  const auto found = kernel_addresses().modules.find(address);
  if (found == kernel_addresses().modules.end()) return nullptr;
  auto module = found->second.lock();
  lock.unlock();
  if (!module) return nullptr;
  auto function = std::shared_ptr<Function>(std::move(module), reinterpret_cast<Function*>(address));
  return function->complete() ? function : nullptr;
}

void remove_modules_of(const Context& context) {
  forget_modules_of_libraries(context);
  for (const auto& module : module_table().all())
    if (&module->context() == &context) module->unload();
}

}  // namespace cucore::cpu::runtime
