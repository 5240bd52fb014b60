// What the object code of a kernel depends on, and the key that stands for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cpu/codegen/compiler.hpp"
#include "cpu/codegen/kernel_record.hpp"

namespace cucore::cpu::codegen {

struct KernelIdentity {
  std::string_view build;  ///< the linker's build id of the library that this code is in: code generator and ABI
  std::string_view llvm;   ///< version
  std::string_view triple, processor, features;  ///< of the host
  FormOfCode form = FormOfCode::Scalar;
  std::uint32_t block[3] = {0, 0, 0};  ///< zeros for the scalar form, which is for all
  ptx::FunctionId kernel = 0;          ///< in the module that the text gives
  std::string_view ptx;                ///< the whole module: callees and variables are in it, and lines in messages
};

KernelKey key_of(const KernelIdentity& identity);

/// Of a compile in this process. Nothing if the library was linked without a build id: code of another build could not
/// be told from its own.
std::optional<KernelIdentity> identity_of(const ptx::Module& module, ptx::FunctionId kernel,
                                          const CompileOptions& options);

}  // namespace cucore::cpu::codegen
