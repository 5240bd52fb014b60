// Kernels of a large image, each described when it is first asked for. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/loading/kernel_description.hpp"
#include "cpu/runtime/loading/later_image.hpp"

namespace cucore::cpu::runtime {

class LaterKernels {
 public:
  /// `kernels`: those of the image, which have their names and stay where they are; `module`: the image's variables;
  /// `capability`: the device's.
  LaterKernels(std::unique_ptr<LaterImage> image, int capability, std::uint32_t max_registers,
               const ptx::Module& module, std::vector<KernelDescription>& kernels);

  /// Describes a kernel if nobody has done it yet. Fails as often as it is called if its PTX is not valid.
  Result<void> complete(std::size_t kernel);

  void forget_image() { image_->forget(); }

 private:
  Result<void> describe_now(KernelDescription& kernel);
  Result<std::unique_ptr<ptx::Module>> read(const std::string& kernel);

  const std::unique_ptr<LaterImage> image_;
  const int capability_;
  const std::uint32_t max_registers_;
  const ptx::Module& module_;
  std::unordered_map<std::string_view, ptx::VariableId> variables_;  ///< of the image, by name
  std::vector<KernelDescription>& kernels_;
  const std::unique_ptr<std::once_flag[]> asked_;  ///< by kernel
};

}  // namespace cucore::cpu::runtime
