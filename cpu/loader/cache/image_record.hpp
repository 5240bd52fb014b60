// What a large image's kernels and variables are, as it stands in the cache: whoever loads the image again needs
// neither decompress nor read its PTX. And an excerpt of that PTX for each kernel that was used.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/loader/cache/kernel_record.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::loader {

struct ImageRecord {
  bool is_cubin = false;
  bool is_for_this_device = false;
  std::uint32_t max_registers = 0;
  std::map<std::string, std::uint32_t, std::less<>> registers = {};  ///< by kernel
  std::vector<std::string> kernels = {};
  ptx::Excerpt variables = {};
};

/// Of an image's record for devices of `capability`: the parts of the image decide (image::parts_read), and this
/// driver's build. Nothing if the driver has no build id.
std::optional<KernelKey> key_of_image(const std::vector<std::string_view>& parts, int capability);
/// Of the excerpt for a kernel of the image.
KernelKey key_of_excerpt(const KernelKey& image, std::string_view kernel);

/// The bytes of a file. Decoding gives nothing unless they are, bit for bit, what encoding made for that key.
std::string encode(const KernelKey& key, const ImageRecord& record);
std::string encode(const KernelKey& key, const ptx::Excerpt& excerpt);
std::optional<ImageRecord> decode_image(const KernelKey& key, std::string_view bytes);
std::optional<ptx::Excerpt> decode_excerpt(const KernelKey& key, std::string_view bytes);

}  // namespace cucore::cpu::loader
