// A loaded image before it belongs to a context: parsed, checked against the device, its kernels described. Immutable
// and shared by the modules made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/loading/jit_options.hpp"

namespace cucore::cpu::runtime {

struct Parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
};

struct KernelDescription {
  ptx::FunctionId id = 0;
  std::string name;
  std::string display_name;  ///< demangled, for reports
  KernelInfo info;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::uint32_t max_threads = 0;           ///< of the device and of .maxntid or .reqntid
  std::uint32_t required[3] = {};          ///< .reqntid; 0: any
  std::uint32_t required_cluster[3] = {};  ///< .reqnctapercluster; 0: any
  std::uint32_t largest_cluster = 0;       ///< .maxclusterrank; 0: not said
  bool is_for_clusters = false;            ///< .explicitcluster
  std::uint32_t registers = 0;             ///< as attributes report them: what it needs within its limits
  std::uint32_t spilled_bytes = 0;         ///< of a thread: what a limit on registers leaves for local memory
  Result<void> supported;  ///< NotSupported, with a line for each instruction that keeps it from running
};

struct Program {
  std::unique_ptr<ptx::Module> ptx;
  std::vector<KernelDescription> kernels;
  int target = 0;  ///< 10 * major + minor of `.target`

  /// Index into `kernels`, or -1.
  int find_kernel(std::string_view name) const;
};

/// Loads an image (PTX text, cubin or fat binary with PTX; `size` 0 if unknown) for a device of `capability`.
/// Failures, which say what and where and are logged and reported: InvalidPtx, UnsupportedPtxVersion, NoBinaryForGpu
/// and InvalidImage. Kernels that reach an instruction without a generator or, with CUCORE_CPU_STRICT=1, one that is
/// not exact are not supported, which the information log tells of; the others of the image are not concerned.
Result<std::shared_ptr<const Program>> load_program(const void* image, std::size_t size, int capability,
                                                    const JitOptions& options);

/// The same for a file: FileNotFound if it cannot be read.
Result<std::shared_ptr<const Program>> load_program_file(const char* path, int capability, const JitOptions& options);

/// For whoever fetches or launches it: NotSupported, which is reported, if the kernel is not supported.
Result<void> check_supported(const KernelDescription& kernel);

}  // namespace cucore::cpu::runtime
