// From an image as the driver API passes it to the PTX in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::runtime {

struct ImageSource {
  std::string ptx;
  bool is_cubin = false;
  bool is_text = false;             ///< the image is PTX itself
  bool is_for_this_device = false;  ///< whatever its target: image::ImageContents
  std::uint32_t max_registers = 0;  ///< the limit that it was made with, and what the machine code beside it takes of
  std::map<std::string, std::uint32_t, std::less<>> registers = {};  ///< registers, by kernel: likewise
};

/// `size` 0: the image says itself where it ends. A failure says what was found and what to do.
Result<ImageSource> ptx_of_image(const void* image, std::size_t size, int capability);

/// Whether a device of `capability` takes the parsed PTX of `source`: else NoBinaryForGpu for a cubin, whose PTX stands
/// for its machine code, and InvalidPtx for PTX, which would have to be compiled.
Result<void> check_target(const ImageSource& source, const ptx::Module& module, int capability);

/// `.target sm_90a` → 90; 0 if it is not of that form. `specific`: has a letter, so fits one architecture only.
int target_number(const ptx::Module& module, bool* specific);

}  // namespace cucore::cpu::runtime
