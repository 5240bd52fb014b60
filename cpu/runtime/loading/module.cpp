// Modules and their functions: see module.hpp.
#include "cpu/runtime/loading/module.hpp"

#include <algorithm>
#include <cstring>
#include <shared_mutex>
#include <unordered_map>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/loader/link.hpp"
#include "cpu/runtime/loading/forms/form_report.hpp"
#include "cpu/runtime/loading/forms/kernel_source.hpp"
#include "cpu/runtime/loading/library.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"

namespace cucore::cpu::runtime {
namespace {

// Attributes of functions that came after CUDA 13.0.
constexpr int device_node_update_supported = 16;  // CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED
constexpr int shared_memory_mode = 17;            // CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE

using ModuleTable = HandleTable<Module, HandleKind::Module>;
ModuleTable& module_table() {
  static auto* table = new ModuleTable;
  return *table;
}

using FunctionTable = HandleTable<Function, HandleKind::Function>;
FunctionTable& function_table() {
  static auto* table = new FunctionTable;
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

/// For the trace.
void describe(const loader::CompiledKernel& compiled, trace::Arguments& arguments) {
  arguments.add("form", compiled.code->info.form == FormOfCode::Scalar ? "scalar" : "vector")
      .raw("from_cache", compiled.was_cached ? "true" : "false");
}

}  // namespace

Function::Function(Module& module, const KernelDescription& description) : module_(module), description_(description) {
  if (!module.program().later) (void)complete();  // which cannot fail
}

Result<void> Function::complete() {
  if (is_complete()) return {};
  const Program& program = module_.program();
  const auto index = static_cast<std::size_t>(&description_ - program.kernels.data());
  if (Result<void> described = program.complete(index); !described) return described;
  {
    const std::lock_guard lock(mutex_);
    if (is_complete()) return {};
    const std::size_t taken = std::min<std::size_t>(shared_per_block, description_.info.declared_shared);
    max_dynamic_shared_.store(shared_per_block - taken);
    for (int axis = 0; axis < 3; ++axis) required_cluster_[axis].store(description_.required_cluster[axis]);
    if (program.later) addresses_ = module_.addresses_in(description_);
    is_complete_.store(true, std::memory_order_release);
  }
  if (!program.later) return {};
  // Device code may launch those that it names, and its stacks are too small to read them there.
  for (const ptx::FunctionId id : analysis::find_reach(*description_.ptx, description_.id).kernels)
    if (void* const named = addresses_.kernels[id]) (void)static_cast<Function*>(named)->complete();
  return {};
}

bool Function::reaches(std::size_t variable) const {
  const std::vector<ptx::VariableId> reached = analysis::find_reach(*description_.ptx, description_.id).variables;
  return std::any_of(reached.begin(), reached.end(), [&](ptx::VariableId id) {
    return (module_.program().later ? description_.variables[id] : id) == variable;
  });
}

CUfunction Function::handle() {
  const std::lock_guard lock(mutex_);
  if (!handle_) {
    // The table's entry keeps the whole module alive.
    handle_ = reinterpret_cast<CUfunction>(
        function_table().insert(std::shared_ptr<Function>(module_.shared_from_this(), this)));
  }
  return handle_;
}

std::string Function::name_of_compile() const { return trace::is_open() ? "compile " + description_.display_name : ""; }

const loader::ModuleAddresses& Function::addresses() const {
  return module_.program().later ? addresses_ : module_.addresses();
}

CUresult Function::code(const unsigned int (&block)[3], std::uint64_t threads, std::shared_ptr<const Code>* code,
                        std::shared_ptr<LaterForm>* later) {
  const std::lock_guard lock(mutex_);
  threads_ += threads;
  const FormOfCode form = code_.stays_scalar() ? FormOfCode::Scalar : form_for(block, threads_);
  *code = code_.find(form, block);
  if (*code) return CUDA_SUCCESS;
  if (is_shutting_down()) return CUDA_ERROR_DEINITIALIZED;
  if (const Result<void> supported = check_supported(description_); !supported) return driver_result(supported);
  if (later != nullptr && may_change_later(form)) {
    std::shared_ptr<LaterForm> vectors = code_.find_later(block);
    if (vectors && vectors->is_made()) {
      *code = take(vectors);
      return CUDA_SUCCESS;
    }
    const CompileOptions options = options_for(form, block);
    if (!vectors && options.checks == 0) {
      if (find(options, code)) return CUDA_SUCCESS;
      vectors = begin_later(options, threads);
    }
    if (vectors) {
      *later = std::move(vectors);
      *code = code_.find(FormOfCode::Scalar, block);
      return *code ? CUDA_SUCCESS : compile(options_for(FormOfCode::Scalar, block), true, code);
    }
  }
  return compile(options_for(form, block), false, code);
}

bool Function::find(const CompileOptions& options, std::shared_ptr<const Code>* code) {
  trace::Slice slice("compile", name_of_compile());
  auto found = find_compiled(*description_.ptx, description_.id, addresses(), options);
  if (!found) {
    slice.drop();
    return false;
  }
  describe(*found, slice.arguments);
  *code = keep(options, *std::move(found));
  return true;
}

CUresult Function::compile(const CompileOptions& options, bool is_until_later, std::shared_ptr<const Code>* code) {
  trace::Slice slice("compile", name_of_compile());
  Result<loader::CompiledKernel> compiled = compile_or_load(*description_.ptx, description_.id, addresses(), options);
  if (!compiled) {
    report("kernel " + description_.name + ": " + compiled.failure().sentence());
    return driver_result(compiled.failure());
  }
  describe(*compiled, slice.arguments);
  *code = keep(options, *std::move(compiled), is_until_later);
  return CUDA_SUCCESS;
}

std::shared_ptr<const Code> Function::keep(const CompileOptions& options, loader::CompiledKernel compiled,
                                           bool is_until_later) {
  std::shared_ptr<const Code> code = std::move(compiled.code);
  code_.add(options, code);
  report_form(*description_.ptx, description_.name, options, *code, compiled.refusal, is_until_later);
  return code;
}

/// For who has waited for it, or has run in the scalar form meanwhile, which has to do if there is no other.
std::shared_ptr<const Code> Function::take(const std::shared_ptr<LaterForm>& made) {
  code_.remove_later(made);
  std::string why;
  if (const Result<KernelRecord>& object = made->made()) {
    Result<loader::CompiledKernel> linked =
        loader::link_object(*object, *description_.ptx, description_.id, addresses(), made->options());
    if (linked) return keep(made->options(), *std::move(linked));
    why = linked.failure().sentence();
  } else {
    why = object.failure().sentence();
  }
  report("kernel " + description_.name + " keeps the scalar form: " + why);
  code_.stay_scalar();
  return code_.find(FormOfCode::Scalar, made->options().block);
}

/// Null if the launch is to wait for vectors.
std::shared_ptr<LaterForm> Function::begin_later(const CompileOptions& options, std::uint64_t threads) {
  const std::uint64_t per_block = std::uint64_t{options.block[0]} * options.block[1] * options.block[2];
  KernelOfProgram kernel{.ptx = description_.ptx, .id = description_.id, .display_name = description_.display_name};
  const auto worth =
      time_before_vectors(kernel, {.block = options.block, .threads = threads, .blocks = threads / per_block});
  if (!worth) return nullptr;
  auto later = std::make_shared<LaterForm>(std::move(kernel), options, *worth);
  code_.add_later(later);
  return later;
}

PreparedLaunch Function::prepared_launch() {
  const std::lock_guard lock(mutex_);
  return prepared_;
}

Result<int> Function::attribute(CUfunction_attribute attribute) {
  if (Result<void> known = complete(); !known) return std::move(known).failure();
  const KernelInfo& info = description_.info;
  if (attribute == device_node_update_supported || attribute == shared_memory_mode)
    return 0;  // no; CU_SHARED_MEMORY_MODE_DEFAULT
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(description_.max_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(info.declared_shared);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
      std::uint64_t bytes = 0;
      for (const ptx::Variable& variable : module_.program().ptx->variables)
        if (variable.space == ptx::Space::Const) bytes += variable.size;
      return static_cast<int>(bytes);
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(info.local_bytes + description_.spilled_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(description_.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return module_.program().target;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return module_.context().device().capability();
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(max_dynamic_shared());
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return carveout_.load();
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return description_.is_for_clusters ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return static_cast<int>(required_cluster_[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH].load());
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return may_be_large_cluster_.load() ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return cluster_policy_.load();
    default:
      return ErrorCode::InvalidValue;
  }
}

Result<void> Function::set_attribute(CUfunction_attribute attribute, int value) {
  if (Result<void> known = complete(); !known) return known;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || static_cast<std::size_t>(value) + description_.info.declared_shared > shared_per_block_opt_in)
        return ErrorCode::InvalidValue;
      max_dynamic_shared_.store(static_cast<std::size_t>(value));
      return {};
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return ErrorCode::InvalidValue;
      carveout_.store(value);
      return {};
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      if (value != 0 && value != 1) return ErrorCode::InvalidValue;
      may_be_large_cluster_.store(value != 0);
      return {};
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
        return ErrorCode::InvalidValue;
      cluster_policy_.store(value);  // a hint
      return {};
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (value < 0 || description_.required_cluster[0] != 0) return ErrorCode::InvalidValue;
      required_cluster_[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH].store(static_cast<std::uint32_t>(value));
      return {};
    default:
      return ErrorCode::InvalidValue;
  }
}

ClusterLimits Function::cluster_limits() const {
  ClusterLimits limits{};
  for (int axis = 0; axis < 3; ++axis) limits.required[axis] = required_cluster_[axis].load();
  limits.largest = may_be_large_cluster_.load() ? max_blocks_per_cluster : max_blocks_per_portable_cluster;
  if (description_.largest_cluster != 0) limits.largest = std::min(limits.largest, description_.largest_cluster);
  limits.must_be_given = description_.is_for_clusters;
  return limits;
}

int Function::max_active_blocks(std::uint32_t threads, std::size_t dynamic_shared) const {
  if (threads == 0 || threads > max_threads_per_block) return 0;  // launch bounds do not count
  const std::size_t shared = description_.info.declared_shared + dynamic_shared;
  if (dynamic_shared > max_dynamic_shared()) return 0;
  const std::uint32_t rounded = (threads + warp_size - 1) / warp_size * warp_size;
  const std::size_t by_threads = max_threads_per_multiprocessor / rounded;
  const std::size_t by_shared = shared_per_multiprocessor / (shared + shared_reserved_per_block);
  return static_cast<int>(std::min({by_threads, by_shared, std::size_t{max_blocks_per_multiprocessor}}));
}

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
    const std::size_t bytes = std::max<std::size_t>(variables[i].size, 1);
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
  for (const auto& function : functions_) function_table().remove(function->handle());
  module_table().remove(handle_);
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

std::shared_ptr<Function> find_function(CUfunction handle) { return function_table().find(handle); }

CUresult find_function(Context& context, CUfunction handle, std::shared_ptr<Function>* function) {
  const CUresult found = find_named_function(context, handle, function);
  return found != CUDA_SUCCESS || (*function)->is_complete() ? found : driver_result((*function)->complete());
}

CUresult find_named_function(Context& context, CUfunction handle, std::shared_ptr<Function>* function) {
  if (auto found = function_table().find(handle)) {
    *function = std::move(found);
    return CUDA_SUCCESS;
  }
  const auto kernel = find_kernel(reinterpret_cast<CUkernel>(handle));
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  return driver_result(kernel->function_in(context),
                       [&](std::shared_ptr<Function> found) { *function = std::move(found); });
}

void remove_modules_of(const Context& context) {
  forget_modules_of_libraries(context);
  for (const auto& module : module_table().all())
    if (&module->context() == &context) module->unload();
}

}  // namespace cucore::cpu::runtime
