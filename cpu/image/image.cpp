// Tells the formats apart and finds the extent of an image that is given without its size.
#include "cpu/image/image.hpp"

#include <cstring>

#include "cpu/image/byte_reader.hpp"
#include "cpu/image/cubin.hpp"
#include "cpu/image/device_units.hpp"
#include "cpu/image/fat_binary.hpp"

namespace cucore::cpu::image {

namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t version_with_parts = 2;

/// What compilers put into a program for each of its fat binaries.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const char* data;
  const char* const* parts;  ///< with version_with_parts; ends with a null
};
constexpr std::string_view lto_ir_magic = "\x7f\x4e\x43\xed";

/// Text has no control characters but blanks; only the start is looked at.
bool looks_like_text(std::string_view image) {
  const std::string_view start = image.substr(0, 256);
  if (start.empty() || start.front() == '\0') return false;
  for (const char c : start) {
    if (c == '\0') return true;
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\v';
    if (!blank && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) return false;
  }
  return true;
}

Failure invalid(std::string what) { return Failure(ErrorCode::InvalidImage, std::move(what)); }

}  // namespace

Result<ImageContents> read_image(std::string_view image, std::uint32_t architecture) {
  if (image.empty()) return invalid("the image is empty");
  if (is_elf(image)) return read_cubin(image, architecture);
  if (is_fat_binary(image)) return read_fat_binary(image, architecture);
  if (is_library(image)) return invalid("the image is a library archive, which needs a linker first");
  if (image.starts_with(lto_ir_magic)) return invalid("the image is LTO-IR, which needs a linker first");
  if (ByteReader(image).u32(0) == wrapper_magic) {
    return invalid("the image is a fat binary wrapper, which holds a pointer and cannot be read as bytes");
  }
  if (!looks_like_text(image)) return invalid("the image is neither PTX, nor a cubin, nor a fat binary");
  ImageContents contents;
  contents.format = ImageFormat::Ptx;
  contents.ptx = image.substr(0, image.find('\0'));
  return contents;
}

PartsRead parts_read(std::string_view image, std::uint32_t architecture) {
  if (is_fat_binary(image)) return parts_read_of_fat_binary(image, architecture);
  return {.parts = {image}, .most_ptx = image.size()};
}

std::string image_of_parts(std::string_view image, std::uint32_t architecture) {
  const PartsRead read = parts_read(image, architecture);
  return is_fat_binary(image) ? fat_binary_of(image, read.parts) : std::string(image);
}

std::string_view locate_image(const void* address) {
  if (address == nullptr) return {};
  const auto* bytes = static_cast<const char*>(address);
  // Read no further than the magic before it is known what follows: PTX may be a few bytes long.
  if (std::memchr(bytes, '\0', sizeof(wrapper_magic)) == nullptr) {
    const std::string_view start(bytes, sizeof(wrapper_magic));
    if (is_elf(start)) return {bytes, elf_extent(bytes)};
    if (is_fat_binary(start)) return {bytes, fat_binary_extent(bytes)};
    if (ByteReader(start).u32(0) == wrapper_magic) {
      Wrapper wrapper;
      std::memcpy(&wrapper, bytes, sizeof(wrapper));
      const char* const inner = wrapper.data;
      if (inner == nullptr || !is_fat_binary({inner, sizeof(wrapper_magic)})) return {};
      return {inner, fat_binary_extent(inner)};
    }
    if (start == lto_ir_magic) return {};
  }
  return {bytes, std::strlen(bytes)};
}

std::vector<std::string_view> locate_parts(const void* address) {
  std::vector<std::string_view> parts;
  const auto* bytes = static_cast<const char*>(address);
  if (bytes == nullptr || std::memchr(bytes, '\0', sizeof(wrapper_magic)) != nullptr) return parts;
  if (ByteReader(std::string_view(bytes, sizeof(wrapper_magic))).u32(0) != wrapper_magic) return parts;
  Wrapper wrapper;
  std::memcpy(&wrapper, bytes, sizeof(wrapper));
  if (wrapper.version != version_with_parts || wrapper.parts == nullptr) return parts;
  for (const char* const* part = wrapper.parts; *part != nullptr; ++part)
    if (is_fat_binary({*part, sizeof(wrapper_magic)})) parts.emplace_back(*part, fat_binary_extent(*part));
  return parts;
}

}  // namespace cucore::cpu::image
