// A named section in an ELF64 image: add, read, strip. And the check that an image is whole, before it is given to code
// that trusts it.
//
// The images may come from anywhere: nothing in them is trusted before it is checked against their size.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cucore::detail {

/// `image` with one more section that is not loaded. The bytes of `image` stay where they are, except for the header's
/// fields; the new bytes follow them. Throws ValueError if `image` is not a well-formed little-endian ELF64 image with
/// section names, or has a section of that name.
std::string elf_add_section(std::string_view image, std::string_view name, std::string_view content);

/// The content of the first section called `name`, a view into `image`; nothing if there is none or `image` is no
/// well-formed ELF64 image.
std::optional<std::string_view> elf_section(std::string_view image, std::string_view name) noexcept;

/// `image` without the section that elf_add_section put last; `image` itself if there is none.
std::string elf_strip_section(std::string_view image, std::string_view name);

bool is_elf(std::string_view image) noexcept;

/// Why `image` is not a well-formed ELF64 image with all tables and sections inside it; nullptr if it is one.
const char* elf_fault(std::string_view image) noexcept;

}  // namespace cucore::detail
