// Cubins: ELF images for one architecture, each of which may carry the PTX it was made from in a section
// (`.cucore.ptx`).
//
// The images may come from anywhere: nothing in them is trusted before it is checked against their size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

/// e_machine of a cubin (EM_CUDA).
inline constexpr std::uint16_t machine_cuda = 190;

/// Name of the section that holds a cubin's PTX: one or several modules, each NUL-terminated.
inline constexpr std::string_view ptx_section = ".cucore.ptx";

/// What a cubin says of itself; all empty for bytes that are not a cubin.
struct Cubin {
  std::string arch = {};                       ///< as architecture_of_cubin()
  std::vector<std::string_view> modules = {};  ///< as embedded_ptx_modules()
};
Cubin read_cubin(std::string_view image);

/// The architecture from the ELF header, e.g. "sm_90"; empty if `image` is not a cubin. A suffix is not in the header,
/// so it is that of the PTX the cubin carries, if it carries any.
std::string architecture_of_cubin(std::string_view image);

/// Whether it is linked already (ET_EXEC), so that linkers leave it out: it was not compiled as relocatable.
bool is_linked_cubin(std::string_view image) noexcept;

/// The PTX modules an image carries, without their NULs; a linked cubin carries one for each input.
std::vector<std::string_view> embedded_ptx_modules(std::string_view image);
/// The first of them; nothing if the section does not begin with one.
std::optional<std::string_view> embedded_ptx(std::string_view image) noexcept;
/// `image` with these modules in its PTX section. Throws as elf_add_section().
std::string with_ptx_modules(std::string_view image, const std::vector<std::string_view>& modules);
/// Their texts, one after the other: good for reading names and parameters, not for compiling.
std::string joined_ptx(const std::vector<std::string_view>& modules);

}  // namespace cucore::detail
