// Fat binaries: one file with PTX and cubins for several architectures, possibly compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/image/image.hpp"

namespace cucore::cpu::image {

bool is_fat_binary(std::string_view image);

Result<ImageContents> read_fat_binary(std::string_view image, std::uint32_t architecture);

/// Its entries that read_fat_binary would look at.
PartsRead parts_read_of_fat_binary(std::string_view image, std::uint32_t architecture);

/// A fat binary of those entries of `image`.
std::string fat_binary_of(std::string_view image, const std::vector<std::string_view>& entries);

/// Its LTO-IR for the highest architecture that fits, as a fat binary of that alone: the bytes are for NVIDIA's linker
/// only. Empty if there is none.
std::string lto_ir_of(std::string_view image, std::uint32_t architecture);

/// A cubin in it: that for the highest architecture that fits, or else any. Empty if there is none.
std::string machine_code_of(std::string_view image, std::uint32_t architecture);

/// Bytes of the fat binary at `bytes`, as its header says.
std::size_t fat_binary_extent(const char* bytes);

}  // namespace cucore::cpu::image
