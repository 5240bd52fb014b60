// Fat binaries: several images, each a cubin or PTX for one architecture, in one file. The format is the one that the
// driver, nvJitLink and cuobjdump read; what is written here is not compressed.
//
//   file header   u32 magic, u16 version, u16 bytes of this header, u64 bytes of all entries together
//   entry header  +0 u16 kind (1 PTX, 2 ELF)  +2 u16 version  +4 u32 bytes of this header
//                 +8 u64 bytes of the payload, padded to 8  +16 u32 how many of them are compressed data
//                 +20 u32 where in this header options are told of
//                 +24 u16 minor, +26 u16 major version of the payload's format  +28 u32 architecture  +40 u64 flags
//                 +56 u64 bytes of the payload when decompressed
//
// Nothing in a fat binary is trusted before it is checked against its size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/code_type.hpp"

namespace cucore::detail {

/// Whether `image` begins as a fat binary does, and why it is not a whole one; nullptr if it is.
bool is_fatbin(std::string_view image) noexcept;
const char* fatbin_fault(std::string_view image) noexcept;

struct FatbinImage {
  CodeType type = CodeType::cubin;  ///< cubin or ptx; ltoir where it was asked for
  std::string arch = {};            ///< "sm_90a" for a cubin, "compute_90a" for PTX and LTO-IR
  std::string_view bytes = {};      ///< a view into the fat binary; PTX without its NUL
  bool is_compressed = false;       ///< then only decompressed() can use `bytes`
  bool is_zstd = false;             ///< compressed by Zstandard, else by LZ4
  std::uint64_t full_size = 0;      ///< of a compressed image: its size when decompressed
};

/// The bytes of an image, PTX without its NUL.
struct ImageBytes {
  std::string bytes = {};
  std::string fault = {};  ///< why the bytes cannot be had; empty if they are there
};
/// Decompresses if needed, with the machine's liblz4 or libzstd, opened at first need. At most 256 MiB.
ImageBytes decompressed(const FatbinImage& image);

/// A fat binary of these images, in this order. Their arch must be of the form above.
std::string write_fatbin(const std::vector<FatbinImage>& images);

/// The images of a fat binary: cubins and PTX, LTO-IR if that is wanted; other kinds are left out. Nothing if `bytes`
/// are not a complete fat binary.
std::optional<std::vector<FatbinImage>> read_fatbin(std::string_view bytes, bool with_ltoir = false);

/// Indices of the images such a device can use, compressed ones too, the best first: cubins before PTX, newer
/// architectures and those with a suffix before others.
std::vector<std::size_t> usable_images(const std::vector<FatbinImage>& images, int capability);

}  // namespace cucore::detail
