// KernelStatistics: what ptxas and the linker report about a kernel when they are verbose.
//
//   Program program(source, "c++", {.arch = "sm_90", .ptxas_options = {"-v"}});
//   (void)program.compile("cubin");
//   for (const KernelStatistics& k : program.kernel_statistics()) std::cerr << k.kernel << ": " << k.registers << "\n";
//
// C++ and PTX source need ptxas_options "-v"; a Linker the same, or verbose. What was not reported is 0. A compile or
// link that NVRTC's or nvJitLink's own cache answers (seen with a GPU's driver) reports nothing; no_cache has it done
// again. Thread-safety: a value. parse_kernel_statistics() is pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/export.hpp"

namespace cucore {

struct KernelStatistics {
  std::string kernel = {};  ///< symbol, mangled as in the code
  std::string arch = {};    ///< "sm_90"; empty if only the linker tells of the kernel
  int registers = 0;        ///< per thread
  int barriers = 0;
  std::uint64_t stack_bytes = 0;        ///< per thread: the kernel's own frame
  std::uint64_t spill_store_bytes = 0;  ///< per thread: what did not fit into registers, written
  std::uint64_t spill_load_bytes = 0;   ///< and read
  std::uint64_t shared_bytes = 0;    ///< static shared memory per block; the linker's number includes what it reserves
  std::uint64_t constant_bytes = 0;  ///< constant memory, all banks: parameters and the kernel's own constants
  std::uint64_t local_bytes = 0;     ///< local memory per thread, where that is told apart from the stack

  friend bool operator==(const KernelStatistics&, const KernelStatistics&) = default;
};

/// The kernels in a log of NVRTC, nvJitLink or the driver, in its order, each architecture's by itself. Device
/// functions that are not kernels are left out. Anything may be given.
CUCORE_API std::vector<KernelStatistics> parse_kernel_statistics(std::string_view log);

}  // namespace cucore
