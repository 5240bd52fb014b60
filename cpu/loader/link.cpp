// Loads object code, beside what it calls and the variables it uses: see link.hpp.
#include "cpu/loader/link.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cpu/abi/symbols.hpp"
#include "cpu/device_library/built_ins.hpp"
#include "cpu/loader/faulting_access.hpp"
#include "cpu/loader/jit_debugger.hpp"
#include "cpu/loader/loaded_object.hpp"
#include "cpu/loader/perf_map.hpp"

namespace cucore::cpu::loader {
namespace {

using analysis::named_function;
using analysis::names_functions;
using analysis::Reach;

class LinkedCode final : public Code {
 public:
  LinkedCode(std::unique_ptr<LoadedObject> object, const Reach& reach)
      : object_(std::move(object)), functions_(reach.functions) {}

  PtxPlace place_of(std::uintptr_t address, const ptx::Module& module) const override {
    if (debugged_) return {};  // its lines are those of CUDA C++
    const LineTable::Lines found = object_->lines().lines_at(address);
    PtxPlace place;
    if (const Numbered at = instruction(found.here, module); at.function != nullptr)
      return place_of_access(*at.function, at.index);
    if (const Numbered next = instruction(found.next, module); next.function != nullptr)
      place.next_line = next.function->body[next.index].position.line;
    return place;
  }

  void note_range() {
    begin = reinterpret_cast<std::uintptr_t>(object_->code().data());
    end = begin + object_->code().size();
  }

  /// Per thread or per block, as the kernel needs it.
  Result<void> find_entry_point() {
    run_thread = reinterpret_cast<RunThread>(object_->find(run_thread_symbol));
    if (run_thread == nullptr && !info.needs_fibers)
      run_block = reinterpret_cast<RunBlock>(object_->find(run_block_symbol));
    if (run_thread == nullptr && run_block == nullptr) return not_loadable("it has no entry point");
    return {};
  }

  /// Tells debuggers and perf about the code, where the options ask for it.
  void announce(const KernelRecord& record, std::string_view kernel, const CompileOptions& options) {
    if (options.debug) debugged_.emplace(object_->with_addresses(record.object));
    if (options.perf_map) add_to_perf_map(*object_, kernel);
  }

  /// Every kernel of a module has its own copy of a function that initialisers name, and any copy serves them all: the
  /// first one linked. What is written then is the program's, which may have changed it since.
  Result<void> initialise_function_addresses(const ptx::Module& module, const Reach& reach,
                                             const ModuleAddresses& addresses) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    for (const ptx::VariableId id : reach.variables) {
      if (id >= addresses.variables.size() || addresses.variables[id] == nullptr) continue;
      const ptx::Variable& variable = module.variables[id];
      auto* const memory = static_cast<char*>(addresses.variables[id]);
      if (!names_functions(module, variable) || has_function_addresses(module, variable, memory)) continue;
      if (Result<void> written = write_function_addresses(module, variable, memory); !written) return written;
      names_functions_of_it = true;
    }
    return {};
  }

 private:
  struct Numbered {
    const ptx::Function* function = nullptr;  ///< null: there is none
    std::size_t index = 0;
  };

  /// As the compiler counts: from 1, through all functions (instruction_lines.hpp).
  Numbered instruction(std::size_t number, const ptx::Module& module) const {
    for (const ptx::FunctionId id : functions_) {
      const ptx::Function& function = module.functions[id];
      if (number == 0) return {};
      if (number <= function.body.size()) return {.function = &function, .index = number - 1};
      number -= function.body.size();
    }
    return {};
  }

  Result<void> write_function_addresses(const ptx::Module& module, const ptx::Variable& variable, char* memory) const {
    for (const ptx::Relocation& relocation : variable.relocations) {
      const auto function = named_function(module, relocation);
      if (!function) continue;
      const std::string symbol = symbol_of(module.functions[*function]);
      const void* const address = object_->find(symbol);
      if (address == nullptr) return not_loadable("there is no symbol " + symbol);
      const std::uint64_t value =
          (reinterpret_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(relocation.addend)) >>
          relocation.shift;
      std::memcpy(memory + relocation.offset, &value, std::min<std::size_t>(relocation.width, sizeof value));
    }
    return {};
  }

  std::unique_ptr<LoadedObject> object_;
  std::vector<ptx::FunctionId> functions_;    ///< in the order in which their instructions are counted
  std::optional<KnownToDebuggers> debugged_;  ///< destroyed before the code
};

void* find_callable(std::string_view name) {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& addresses = *new std::unordered_map<std::string_view, void*>([] {
    std::unordered_map<std::string_view, void*> by_name;
    for (const auto& symbol : device_library::callable_symbols()) by_name.emplace(symbol.name, symbol.address);
    return by_name;
  }());
  const auto found = addresses.find(name);
  return found != addresses.end() ? found->second : nullptr;
}

/// By symbol, those of the module's variables that the kernel reaches and that have an address of their own, and the
/// kernels that it names.
std::unordered_map<std::string, void*> addresses_by_symbol(const ptx::Module& module, const Reach& reach,
                                                           const ModuleAddresses& addresses) {
  std::unordered_map<std::string, void*> by_symbol;
  for (const ptx::VariableId id : reach.variables) {
    if (module.variables[id].space == ptx::Space::Shared || id >= addresses.variables.size()) continue;
    if (addresses.variables[id] != nullptr) by_symbol.emplace(symbol_of(module.variables[id]), addresses.variables[id]);
  }
  for (const ptx::FunctionId id : reach.kernels)
    if (id < addresses.kernels.size()) by_symbol.emplace(kernel_symbol_of(module.functions[id]), addresses.kernels[id]);
  return by_symbol;
}

}  // namespace

bool has_function_addresses(const ptx::Module& module, const ptx::Variable& variable, const void* memory) {
  return std::any_of(variable.relocations.begin(), variable.relocations.end(), [&](const ptx::Relocation& relocation) {
    if (!named_function(module, relocation)) return false;
    const char* const slot = static_cast<const char*>(memory) + relocation.offset;
    return std::any_of(slot, slot + relocation.width, [](char byte) { return byte != 0; });
  });
}

Result<CompiledKernel> link(const KernelRecord& record, const ptx::Module& module, const Reach& reach,
                            const ModuleAddresses& addresses, const CompileOptions& options) {
  const auto known = addresses_by_symbol(module, reach, addresses);
  const auto resolve_symbol = [&](std::string_view symbol) {
    const auto found = known.find(std::string(symbol));
    return found != known.end() ? found->second : find_callable(symbol);
  };
  Result<std::unique_ptr<LoadedObject>> object = LoadedObject::load(record.object, resolve_symbol);
  if (!object) return std::move(object).failure();
  auto code = std::make_unique<LinkedCode>(*std::move(object), reach);
  code->info = record.info;
  code->note_range();
  if (Result<void> found = code->find_entry_point(); !found) return std::move(found).failure();
  if (Result<void> written = code->initialise_function_addresses(module, reach, addresses); !written)
    return std::move(written).failure();
  code->announce(record, module.functions[reach.functions.front()].name, options);
  return CompiledKernel{.code = std::move(code), .refusal = record.refusal};
}

}  // namespace cucore::cpu::loader
