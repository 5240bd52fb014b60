// Modules: a program made usable in one context. Its variables have memory here, and its kernels are functions
// (function.hpp). Thread-safe.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/loader/compiler.hpp"
#include "cpu/runtime/loading/function.hpp"
#include "cpu/runtime/loading/program.hpp"
#include "cpu/runtime/loading/variables.hpp"

namespace cucore::cpu::runtime {

class Context;

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// Gives the program's variables memory and values. `managed`: those of the library whose module this is, which is
  /// unloaded with it only; null for a module of its own.
  static Result<std::shared_ptr<Module>> load(Context& context, std::shared_ptr<const Program> program,
                                              std::shared_ptr<ManagedVariables> managed);
  Module(Context& context, std::shared_ptr<const Program> program, bool of_library);
  ~Module();

  Context& context() const { return context_; }
  const Program& program() const { return *program_; }
  CUmodule handle() const { return handle_; }
  bool is_of_library() const { return of_library_; }
  const loader::ModuleAddresses& addresses() const { return addresses_; }
  /// The same for the excerpt of one of its kernels.
  loader::ModuleAddresses addresses_in(const KernelDescription& kernel);
  std::vector<std::unique_ptr<Function>>& functions() { return functions_; }
  Function* find_function(std::string_view name);
  /// NotFound if there is no such variable. From then on the host can see what is in it.
  Result<VariableMemory> find_variable(std::string_view name);

  /// The variable that holds the handle of a texture or surface reference; null if there is none.
  std::uint64_t* find_reference(std::string_view name, bool is_surface) const;
  /// Until the module is unloaded.
  void keep(std::shared_ptr<const void> belonging);

  /// Ends the handles of the module and its functions; code and memory last until no launch uses them.
  void unload();

 private:
  std::vector<void*> kernels_in(const ptx::Module& ptx);  ///< their addresses, as in ModuleAddresses
  Result<void> allocate_variables();
  Result<void> initialise_variables();
  /// Functions have addresses once they are compiled: compiles a kernel that has those which the initialiser of a
  /// variable names. Without such a kernel they cannot be called.
  void give_function_addresses(std::string_view name);

  Context& context_;
  const std::shared_ptr<const Program> program_;
  const bool of_library_;
  CUmodule handle_ = nullptr;
  std::shared_ptr<ManagedVariables> managed_;
  loader::ModuleAddresses addresses_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::mutex belongings_mutex_;
  std::vector<std::shared_ptr<const void>> belongings_;
};

std::shared_ptr<Module> find_module(CUmodule handle);
/// The kernel whose address device code has (ModuleAddresses::kernels), complete; null if there is none.
std::shared_ptr<Function> find_kernel_at(std::uint64_t address);
void remove_modules_of(const Context& context);

}  // namespace cucore::cpu::runtime
