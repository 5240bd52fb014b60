// Cubins: ELF images for the CUDA machine, which may carry their PTX in a section of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cpu/image/image.hpp"

namespace cucore::cpu::image {

bool is_elf(std::string_view image);
/// An ELF image for the CUDA machine, which a host object is not.
bool is_cubin(std::string_view image);

/// `architecture`: the device's, or any_architecture.
Result<ImageContents> read_cubin(std::string_view image, std::uint32_t architecture);

/// A cubin without machine code, for the architecture `architecture` (80 for sm_80), that carries this PTX, and the
/// limit on registers that it was made with (0: none).
std::string write_cubin(std::string_view ptx, std::uint32_t architecture, std::uint32_t max_registers = 0);

/// Bytes of the ELF image at `bytes`, as its headers say.
std::size_t elf_extent(const char* bytes);

}  // namespace cucore::cpu::image
