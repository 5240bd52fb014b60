// Memory of variables: see variables.hpp.
#include "cpu/runtime/loading/variables.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

bool has_memory(const ptx::Variable& variable) {
  const bool in_memory = variable.space == ptx::Space::Global || variable.space == ptx::Space::Const;
  return in_memory && variable.linkage != ptx::Linkage::Extern;
}

std::size_t memory_size(const ptx::Variable& variable) {
  return ptx::is_opaque(variable.type) ? sizeof(std::uint64_t) : static_cast<std::size_t>(variable.size);
}

void write_initial_value(const ptx::Variable& variable, void* memory) {
  std::memset(memory, 0, memory_size(variable));  // memory may have been used before
  if (!variable.initial.empty())
    std::memcpy(memory, variable.initial.data(), std::min<std::size_t>(variable.initial.size(), variable.size));
}

Result<std::shared_ptr<ManagedVariables>> ManagedVariables::make(const Program& program) {
  auto variables = std::make_shared<ManagedVariables>();
  for (const ptx::Variable& variable : program.ptx->variables) {
    std::uintptr_t address = 0;
    if (variable.managed && has_memory(variable)) {
      Context& context = devices().front()->primary_context();  // which need not be active
      const std::size_t bytes = std::max<std::size_t>(memory_size(variable), 1);
      Result<std::uintptr_t> allocated = allocate_module_memory(context, bytes, true);
      if (!allocated) return std::move(allocated).failure();
      address = *allocated;
      write_initial_value(variable, reinterpret_cast<void*>(address));
    }
    variables->addresses_.push_back(reinterpret_cast<void*>(address));
  }
  return variables;
}

ManagedVariables::~ManagedVariables() {
  for (void* const address : addresses_)
    if (address) free_module_memory(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace cucore::cpu::runtime
