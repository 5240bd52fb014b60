// Steps five to seven of a compile: LLVM IR → optimised IR → object code → code in memory.
#pragma once

#include <memory>
#include <string>

#include "cpu/codegen/compiler.hpp"
#include "cpu/codegen/kernel_record.hpp"
#include "cpu/codegen/layout.hpp"
#include "cpu/codegen/reach.hpp"

namespace llvm {
class Module;
class TargetMachine;
class MemoryBuffer;
}  // namespace llvm

namespace cucore::cpu::codegen {

/// What code is generated for: the processor this runs on, in LLVM's words.
struct HostProcessor {
  std::string triple, name, features;
};
const HostProcessor& host_processor();

/// Code generation for the processor this runs on. One per compile: not shared between threads.
class HostTarget {
 public:
  HostTarget();
  ~HostTarget();

  bool has_feature(const char* name) const;
  void prepare(llvm::Module& ir) const;                                  ///< sets triple and data layout
  void optimise(llvm::Module& ir) const;                                 ///< optimise.cpp
  std::unique_ptr<llvm::MemoryBuffer> assemble(llvm::Module& ir) const;  ///< object code
  std::string assembly(llvm::Module& ir) const;

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
};

/// Loads object code and resolves what it calls and the variables it uses. The result keeps the memory.
CompileResult link(const KernelRecord& record, const ptx::Module& module, const Reach& reach,
                   const ModuleAddresses& addresses);

}  // namespace cucore::cpu::codegen
