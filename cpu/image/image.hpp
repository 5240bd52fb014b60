// Images that programs hand to the driver (PTX text, cubins, fat binaries) in, PTX text out.
//
// Nothing in an image is trusted before it is checked against the image's size: a truncated or hostile one is an error
// with the reason. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::image {

/// The section of a cubin that holds its PTX, one or several modules, each NUL-terminated. Not allocated, so a GPU
/// never sees it.
inline constexpr std::string_view ptx_section = ".cucore.ptx";

enum class ImageFormat : std::uint8_t { Unknown, Ptx, Cubin, FatBinary };

struct ImageContents {
  ImageFormat format = ImageFormat::Unknown;
  bool is_for_this_device = false;       ///< whatever the PTX's target: the image says so, or has nothing that fits
  std::string ptx;                       ///< without its NUL
  std::vector<std::string> further_ptx;  ///< of a cubin with several PTX modules: the second and later ones
  std::uint32_t max_registers = 0;       ///< of a cubin: the limit that it was made with; 0: none that is known
  /// Of a cubin: the registers that its machine code takes, by kernel.
  std::map<std::string, std::uint32_t, std::less<>> registers;
};

/// Any device's, for read_image.
inline constexpr std::uint32_t any_architecture = 1000;

/// Reads an image of known size. `architecture` is the device's compute capability as in sm_80: a fat binary gives its
/// PTX for the highest architecture that fits, or else the PTX that such a cubin in it carries, or else its newest PTX:
/// what the device runs does not depend on the capability that it reports. Fails with NoBinaryForGpu if the image is
/// well-formed but has no PTX, with InvalidImage if it is none or damaged.
Result<ImageContents> read_image(std::string_view image, std::uint32_t architecture);

/// What read_image would look at, as it lies in the image: nothing is decompressed.
struct PartsRead {
  std::vector<std::string_view> parts;  ///< images with equal parts have equal contents
  std::uint64_t most_ptx = 0;           ///< bytes: what they say; not checked
};
PartsRead parts_read(std::string_view image, std::uint32_t architecture);

/// An image of those parts alone, which read_image reads as it does the whole.
std::string image_of_parts(std::string_view image, std::uint32_t architecture);

/// Where the image at `address` lies: the driver's load functions are given no size. PTX ends at its NUL, a cubin and a
/// fat binary where their headers say; a fat binary wrapper (the descriptor that compilers embed) is followed to its
/// fat binary. Trusts the headers, as any driver must; empty if there is no known image at `address`.
std::string_view locate_image(const void* address);

/// Of a wrapper whose fat binary was linked ahead of time (nvcc -rdc=true): the fat binaries that it was linked from,
/// in which PTX is, if anywhere. Else empty.
std::vector<std::string_view> locate_parts(const void* address);

}  // namespace cucore::cpu::image
