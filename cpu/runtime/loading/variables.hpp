// The memory of a program's variables. Each module has its own of all but the managed ones; those of a library are one
// for all contexts, and there before any context is, since the host holds their addresses.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/loading/program.hpp"

namespace cucore::cpu::runtime {

bool has_memory(const ptx::Variable& variable);
/// Bytes; of a texture or surface reference those of the handle that it stands for.
std::size_t memory_size(const ptx::Variable& variable);

/// Zeros, and what the program says; addresses of other variables are not written.
void write_initial_value(const ptx::Variable& variable, void* memory);

class ManagedVariables {
 public:
  static Result<std::shared_ptr<ManagedVariables>> make(const Program& program);
  ManagedVariables() = default;
  ~ManagedVariables();
  ManagedVariables(const ManagedVariables&) = delete;
  ManagedVariables& operator=(const ManagedVariables&) = delete;

  /// By the variable's index in the program; null for those that are not managed.
  void* address(std::size_t index) const { return addresses_[index]; }
  /// True once: the first module writes the addresses of other variables into them.
  bool lack_addresses() { return lack_addresses_.exchange(false); }

 private:
  std::vector<void*> addresses_;
  std::atomic<bool> lack_addresses_{true};
};

struct VariableMemory {
  CUdeviceptr address = 0;
  std::size_t size = 0;
};

/// NotFound if no variable of that name has an address.
template <class AddressOf>
Result<VariableMemory> find_variable(const Program& program, std::string_view name, AddressOf&& address_of) {
  const std::vector<ptx::Variable>& variables = program.ptx->variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name || ptx::is_opaque(variables[i].type) || !address_of(i)) continue;
    return VariableMemory{reinterpret_cast<CUdeviceptr>(address_of(i)), static_cast<std::size_t>(variables[i].size)};
  }
  return ErrorCode::NotFound;
}

}  // namespace cucore::cpu::runtime
