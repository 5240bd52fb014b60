// Libraries: a program that every context may use. A context's module of it is made at first need. Thread-safe.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/loading/program.hpp"
#include "cpu/runtime/loading/variables.hpp"

namespace cucore::cpu::runtime {

class Library;

class Kernel {
 public:
  Kernel(Library& library, std::size_t index) : library_(library), index_(index) {}

  Library& library() const { return library_; }
  /// All but the name is there once it is complete.
  const KernelDescription& description() const;
  Result<void> complete() const;
  CUkernel handle();  ///< made at first use
  Result<std::shared_ptr<Function>> function_in(Context& context);

  Result<int> attribute(CUfunction_attribute attribute, CUdevice device);
  /// For every context of the device, present and future.
  Result<void> set_attribute(CUfunction_attribute attribute, int value, CUdevice device);

 private:
  Library& library_;
  const std::size_t index_;
  std::mutex mutex_;
  CUkernel handle_ = nullptr;
};

class Library : public std::enable_shared_from_this<Library> {
 public:
  static CUlibrary create(std::shared_ptr<const Program> program);
  /// Of an image that could not be read: it has nothing but the failure.
  static CUlibrary create_bad(Failure failure);
  Library(std::shared_ptr<const Program> program, Result<void> is_good);

  CUlibrary handle() const { return handle_; }
  /// The failure, if its image could not be read.
  const Result<void>& is_good() const { return is_good_; }
  const Program& program() const { return *program_; }
  std::vector<std::unique_ptr<Kernel>>& kernels() { return kernels_; }
  Result<std::shared_ptr<Module>> module_in(Context& context);
  /// NotFound if there is no such variable. No context is needed.
  Result<VariableMemory> find_managed_variable(std::string_view name);
  std::vector<std::shared_ptr<Module>> modules() const;
  void forget(const Context& context);
  void unload();

 private:
  friend class Kernel;
  struct Setting {
    std::size_t kernel;
    CUdevice device;
    CUfunction_attribute attribute;
    int value;
  };

  static CUlibrary enter(const std::shared_ptr<Library>& library);
  Result<void> make_managed();  ///< at the first need, with the mutex held

  const std::shared_ptr<const Program> program_;
  const Result<void> is_good_;
  CUlibrary handle_ = nullptr;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  mutable std::mutex mutex_;
  std::shared_ptr<ManagedVariables> managed_;
  std::map<const Context*, std::shared_ptr<Module>> modules_;
  std::vector<Setting> settings_;  ///< attributes set so far, for modules made later
};

std::shared_ptr<Library> find_library(CUlibrary handle);
std::shared_ptr<Kernel> find_kernel(CUkernel handle);
void forget_modules_of_libraries(const Context& context);

}  // namespace cucore::cpu::runtime
