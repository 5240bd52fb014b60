// A loaded image before it belongs to a context: its variables parsed, checked against the device, its kernels
// described or, in large images, known by name. Shared by the modules made from it. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/loading/jit_options.hpp"
#include "cpu/runtime/loading/kernel_description.hpp"
#include "cpu/runtime/loading/later_kernels.hpp"

namespace cucore::cpu::runtime {

struct Program {
  std::shared_ptr<const ptx::Module> ptx;  ///< with `later`: of functions only those that initialisers name
  std::vector<KernelDescription> kernels;
  int target = 0;                       ///< 10 * major + minor of `.target`
  std::unique_ptr<LaterKernels> later;  ///< of a large image, whose kernels are described once they are asked for

  /// Index into `kernels`, or -1.
  int find_kernel(std::string_view name) const;
  /// Before anything but the name of a kernel is used. Fails, which is reported, if its PTX is not valid.
  Result<void> complete(std::size_t kernel) const;
};

/// Images with this much PTX are read when their kernels are asked for; the errors in smaller ones come at the load.
inline constexpr std::size_t large_ptx = std::size_t{256} << 10;

/// Loads an image (PTX text, cubin or fat binary with PTX; `size` 0 if unknown) for a device of `capability`.
/// Failures, which say what and where and are logged and reported: InvalidPtx, UnsupportedPtxVersion, NoBinaryForGpu
/// and InvalidImage. Kernels that reach an instruction without a generator or, with CUCORE_CPU_STRICT=1, one that is
/// not exact are not supported, which the information log tells of; the others of the image are not concerned. Of
/// images with `large` bytes of PTX and more, what is wrong with a kernel is said when the kernel is completed; such an
/// image may be read until Program::later->forget_image() if it stays.
Result<std::shared_ptr<const Program>> load_program(const void* image, std::size_t size, int capability,
                                                    const JitOptions& options, ImageStays stays = ImageStays::No,
                                                    std::size_t large = large_ptx);

/// The same for a file: FileNotFound if it cannot be read.
Result<std::shared_ptr<const Program>> load_program_file(const char* path, int capability, const JitOptions& options);

}  // namespace cucore::cpu::runtime
