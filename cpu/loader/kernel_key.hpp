// What the object code of a kernel depends on, and the key that stands for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cpu/abi/compiler.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/loader/cache/kernel_record.hpp"

namespace cucore::cpu::loader {

struct KernelIdentity {
  std::string_view driver, compiler;  ///< build ids of the two libraries that make code and its ABI
  std::string_view host;              ///< host_identity.hpp
  FormOfCode form = FormOfCode::Scalar;
  std::uint32_t block[3] = {0, 0, 0};  ///< zeros for the scalar form of blocks whose warps are in one row
  std::uint32_t checks = 0;            ///< of check_class
  bool by_thread = false;
  std::string march = {};  ///< of CompileOptions: how much of the host is used
  std::string ptx;         ///< what the kernel is made of: kernel_text, for checked code with its lines
};

KernelKey key_of(const KernelIdentity& identity);

/// Of a compile in this process. Nothing if a library has no build id, or the compiler's is not there: code of another
/// build could not be told from its own.
std::optional<KernelIdentity> identity_of(const ptx::Module& module, const analysis::Reach& reach,
                                          const CompileOptions& options);

/// A kernel in words that stay the same when something else in its module changes: the functions that it reaches,
/// without blanks, comments and line numbers and with names that mean nothing outside them numbered, and the variables.
std::string kernel_text(const ptx::Module& module, const analysis::Reach& reach);

}  // namespace cucore::cpu::loader
