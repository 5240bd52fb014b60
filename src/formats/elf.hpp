// A named section in an ELF64 image: add, read, strip. A cubin carries its PTX in one (`.cucore.ptx`). And the check
// that an image is whole before it is given to code that believes it.
//
// The images may come from anywhere: nothing in them is believed before it is checked against their size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

/// e_machine of a cubin (EM_CUDA).
inline constexpr std::uint16_t kMachineCuda = 190;

/// Name of the section that holds a cubin's PTX: one or several modules, each NUL-terminated.
inline constexpr std::string_view kPtxSection = ".cucore.ptx";

/// `image` with one more section that is not loaded. The bytes of `image` stay where they are, but for the header's
/// fields; what is new follows them. Throws ValueError if `image` is not a well-formed little-endian ELF64 image with
/// section names, or has a section of that name.
std::string elf_add_section(std::string_view image, std::string_view name, std::string_view content);

/// The content of the first section called `name`, a view into `image`; nothing if there is none or `image` is no
/// well-formed ELF64 image.
std::optional<std::string_view> elf_section(std::string_view image, std::string_view name) noexcept;

/// `image` without the section that elf_add_section put last; `image` itself if there is none.
std::string elf_strip_section(std::string_view image, std::string_view name);

/// Why `image` is no well-formed ELF64 image whose tables and sections lie inside it; nullptr if it is one.
const char* elf_fault(std::string_view image) noexcept;

/// The PTX modules an image carries, without their NULs; a linked cubin carries one for each input.
std::vector<std::string_view> embedded_ptx_modules(std::string_view image);
/// `image` with these modules in its PTX section. Throws as elf_add_section().
std::string with_ptx_modules(std::string_view image, const std::vector<std::string_view>& modules);
/// Their texts, one after the other: what names and parameters can be read from, not what can be compiled.
std::string joined_ptx(const std::vector<std::string_view>& modules);

/// The first PTX module an image carries, without its NUL; nothing if it carries none.
std::optional<std::string_view> embedded_ptx(std::string_view image) noexcept;

}  // namespace cucore::detail
