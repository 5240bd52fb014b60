// The memory of a program's variables. Each module has its own of all but the managed ones; those of a library are one
// for all contexts, and there before any context is, since the host holds their addresses.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "cpu/runtime/loading/program.hpp"

namespace cucore::cpu::runtime {

bool has_memory(const ptx::Variable& variable);

/// Zeros, and what the program says; addresses of other variables are not written.
void write_initial_value(const ptx::Variable& variable, void* memory);

class ManagedVariables {
 public:
  static CUresult make(const Program& program, std::shared_ptr<ManagedVariables>* made);
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

/// NOT_FOUND if no variable of that name has an address.
template <class AddressOf>
CUresult find_variable(const Program& program, std::string_view name, AddressOf&& address_of, CUdeviceptr* address,
                       std::size_t* size) {
  const std::vector<ptx::Variable>& variables = program.ptx->variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name || !address_of(i)) continue;
    if (address) *address = reinterpret_cast<CUdeviceptr>(address_of(i));
    if (size) *size = static_cast<std::size_t>(variables[i].size);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace cucore::cpu::runtime
