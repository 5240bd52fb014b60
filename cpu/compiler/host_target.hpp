// Steps five and six of a compile: LLVM IR → optimised IR → object code.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cpu/compiler/ir/host_features.hpp"
#include "cpu/error/result.hpp"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace cucore::cpu::compiler {

class CompileTime;

/// Code generation for the processor this runs on. One per compile: not shared between threads.
class HostTarget {
 public:
  /// `debug`: quick to make and easy to step through, instead of quick to run. `march`: that of CompileOptions;
  /// InvalidValue if there is no such processor.
  static Result<HostTarget> create(bool debug, std::string_view march);
  HostTarget(HostTarget&&) noexcept;
  ~HostTarget();

  bool has_feature(const char* name) const;
  HostFeatures features() const;
  void prepare(llvm::Module& ir) const;  ///< sets triple and data layout
  /// optimise.cpp; `checked`: it may have marks of checks. When the time is up, optional passes are left out,
  /// and the answer is false.
  bool optimise(llvm::Module& ir, bool checked, const CompileTime& time) const;
  void spare_effort() const;                             ///< code from here on is quick to make instead of quick to run
  Result<std::string> assemble(llvm::Module& ir) const;  ///< object code
  Result<std::string> assembly(llvm::Module& ir) const;

 private:
  explicit HostTarget(std::unique_ptr<llvm::TargetMachine> machine);

  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace cucore::cpu::compiler
