// A kernel of a program: what the driver's entries tell of it, and where its code is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/loading/image_source.hpp"

namespace cucore::cpu::runtime {

struct Parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Of a kernel whose PTX is read later (LaterKernels) there is only the name at first.
struct KernelDescription {
  std::string name;
  std::shared_ptr<const ptx::Module> ptx = {};  ///< the program's, or an excerpt with all that the kernel needs
  ptx::FunctionId id = 0;                       ///< in `ptx`
  std::vector<ptx::VariableId> variables = {};  ///< of an excerpt: which of the program's its variables are
  std::string display_name = {};                ///< demangled, for reports
  KernelInfo info = {};
  std::vector<Parameter> parameters = {};
  std::size_t parameter_bytes = 0;
  std::uint32_t max_threads = 0;           ///< of the device and of .maxntid or .reqntid
  std::uint32_t required[3] = {};          ///< .reqntid; 0: any
  std::uint32_t required_cluster[3] = {};  ///< .reqnctapercluster; 0: any
  std::uint32_t largest_cluster = 0;       ///< .maxclusterrank; 0: not said
  bool is_for_clusters = false;            ///< .explicitcluster
  std::uint32_t registers = 0;             ///< as attributes report them: what it needs within its limits
  std::uint32_t spilled_bytes = 0;         ///< of a thread: what a limit on registers leaves for local memory
  Result<void> readable = {};              ///< why the rest is not there
  Result<void> supported = {};  ///< NotSupported, with a line for each instruction that keeps it from running
};

/// Fills all but the name, from the kernel of that name in `ptx`. `source`: what the image says of registers;
/// `capability`: the device's;
/// `max_registers`: what the load call does (0: nothing). `must_look`: it may reach what is not supported.
void describe(KernelDescription& kernel, std::shared_ptr<const ptx::Module> ptx, ptx::FunctionId id,
              const ImageSource& source, int capability, std::uint32_t max_registers, bool must_look);

/// Whether kernels of the module may not be supported.
bool must_look_at_instructions(const ptx::Module& ptx);

/// For whoever fetches or launches it: NotSupported, which is reported, if the kernel is not supported.
Result<void> check_supported(const KernelDescription& kernel);

}  // namespace cucore::cpu::runtime
