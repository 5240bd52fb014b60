// The frame of every file of the cache: a mark, the key, what the file is for, and a digest of all that.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cpu/loader/cache/kernel_record.hpp"

namespace cucore::cpu::loader {

/// `mark`: what kind of file it is; its last byte is the layout's version.
std::string framed(std::string_view mark, const KernelKey& key, std::string_view content);

/// The content. Nothing unless `bytes` is, bit for bit, what `framed` made of that mark, that key and a content.
std::optional<std::string_view> content_of(std::string_view mark, const KernelKey& key, std::string_view bytes);

}  // namespace cucore::cpu::loader
