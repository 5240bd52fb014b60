// Writing and reading fat binaries, and choosing from them. The format, little-endian throughout:
//   file header   +0 u32 magic   +4 u16 version   +6 u16 bytes of this header   +8 u64 bytes of all entries together
//   entry header  +0 u16 kind   +2 u16 version   +4 u32 bytes of this header   +8 u64 bytes of the payload after it
//                 +16 u32 bytes of the payload that are compressed data   +20 u32 where the compiler's options are told
//                 +24 u32 version of the payload's format   +28 u32 architecture (80 for sm_80)
//                 +40 u64 flags   +56 u64 bytes of the payload when decompressed
#include "src/formats/fatbin.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "src/formats/architecture.hpp"
#include "src/formats/ptx_syntax.hpp"

namespace cucore::detail {
namespace {

constexpr std::uint32_t fatbin_magic = 0xba55ed50;
constexpr std::size_t file_header = 16;
constexpr std::size_t entry_header = 64;
constexpr std::size_t ptx_entry_header = 80;
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint16_t kind_elf = 2;
constexpr std::uint16_t kind_ltoir = 8;
// Bits of an entry's flags.
constexpr std::uint64_t addresses_of_64_bits = 0x1;
constexpr std::uint64_t made_on_linux = 0x10;
constexpr std::uint64_t lz4 = 0x2000;
constexpr std::uint64_t zstd = 0x8000;
constexpr std::uint64_t suffix_a = 0x100000;
constexpr std::uint64_t suffix_f = 0x200000;

template <class Number>
void put(std::string& out, std::size_t offset, Number value) {
  std::memcpy(out.data() + offset, &value, sizeof value);
}

template <class Number>
Number get(std::string_view bytes, std::size_t offset) noexcept {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// "9.0" as minor in the lower and major in the upper half.
std::uint32_t version_of_ptx(std::string_view ptx) {
  const std::string_view version = ptx_directive(ptx, ".version");
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  const char* end = version.data() + version.size();
  const auto [rest, error] = std::from_chars(version.data(), end, major);
  if (error == std::errc() && rest != end) std::from_chars(rest + 1, end, minor);
  return major << 16 | (minor & 0xffff);
}

}  // namespace

bool is_fatbin(std::string_view image) noexcept {
  return image.size() >= sizeof fatbin_magic && get<std::uint32_t>(image, 0) == fatbin_magic;
}

const char* fatbin_fault(std::string_view image) noexcept {
  if (image.size() < file_header) return "too short for the header of a fat binary";
  const auto header = get<std::uint16_t>(image, 6);
  const auto size = get<std::uint64_t>(image, 8);
  if (header < file_header || header > image.size() || size > image.size() - header) return "the fat binary is cut off";
  return nullptr;
}

std::string write_fatbin(const std::vector<FatbinImage>& images) {
  std::string out(file_header, '\0');
  for (const FatbinImage& image : images) {
    const bool ptx = image.type == CodeType(CodeType::ptx);
    const Architecture arch = parse_architecture(image.arch);
    const std::size_t size = (image.bytes.size() + (ptx ? 1 : 0) + 7) / 8 * 8;
    std::uint64_t flags = addresses_of_64_bits | made_on_linux;
    if (arch.suffix == 'a') flags |= suffix_a;
    if (arch.suffix == 'f') flags |= suffix_f;
    std::string header(ptx ? ptx_entry_header : entry_header, '\0');
    put<std::uint16_t>(header, 0, ptx ? kind_ptx : kind_elf);
    put<std::uint16_t>(header, 2, 0x0101);
    put(header, 4, static_cast<std::uint32_t>(header.size()));
    if (ptx) {  // where the compiler's options are described and where they lie: none
      put<std::uint32_t>(header, 20, 64);
      put<std::uint64_t>(header, 64, 72);
    }
    put<std::uint64_t>(header, 8, size);
    put<std::uint32_t>(header, 24, ptx ? version_of_ptx(image.bytes) : 0x00010008);
    put<std::uint32_t>(header, 28, static_cast<std::uint32_t>(arch.number));
    put<std::uint64_t>(header, 40, flags);
    out += header;
    out += image.bytes;
    out.resize(out.size() + size - image.bytes.size(), '\0');
  }
  put<std::uint32_t>(out, 0, fatbin_magic);
  put<std::uint16_t>(out, 4, 1);
  put<std::uint16_t>(out, 6, file_header);
  put<std::uint64_t>(out, 8, out.size() - file_header);
  return out;
}

std::optional<std::vector<FatbinImage>> read_fatbin(std::string_view bytes, bool with_ltoir) {
  if (!is_fatbin(bytes) || fatbin_fault(bytes) != nullptr) return std::nullopt;
  const std::size_t begin = get<std::uint16_t>(bytes, 6);
  std::string_view rest = bytes.substr(begin, get<std::uint64_t>(bytes, 8));
  std::vector<FatbinImage> images;
  while (rest.size() >= entry_header) {
    const auto kind = get<std::uint16_t>(rest, 0);
    const std::uint64_t header = get<std::uint32_t>(rest, 4);
    const auto size = get<std::uint64_t>(rest, 8);
    if (header < entry_header || header > rest.size() || size > rest.size() - header) return std::nullopt;
    const auto number = get<std::uint32_t>(rest, 28);
    const auto flags = get<std::uint64_t>(rest, 40);
    if (kind == kind_ptx || kind == kind_elf || (with_ltoir && kind == kind_ltoir)) {
      FatbinImage image{.type = kind == kind_ptx   ? CodeType::ptx
                                : kind == kind_elf ? CodeType::cubin
                                                   : CodeType::ltoir,
                        .arch = (kind == kind_elf ? "sm_" : "compute_") + std::to_string(number),
                        .bytes = rest.substr(header, size),
                        .is_compressed = (flags & (lz4 | zstd)) != 0,
                        .is_zstd = (flags & zstd) != 0,
                        .full_size = get<std::uint64_t>(rest, 56)};
      if (image.is_compressed) {
        const auto compressed = get<std::uint32_t>(rest, 16);
        if (compressed > size) return std::nullopt;
        image.bytes = image.bytes.substr(0, compressed);
      }
      if ((flags & suffix_a) != 0) image.arch += 'a';
      if ((flags & suffix_f) != 0) image.arch += 'f';
      if (kind == kind_ptx && !image.is_compressed) image.bytes = image.bytes.substr(0, image.bytes.find('\0'));
      images.push_back(std::move(image));
    }
    rest.remove_prefix(header + size);
  }
  return images;
}

std::vector<std::size_t> usable_images(const std::vector<FatbinImage>& images, int capability) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (can_use(images[i].type, images[i].arch, capability)) usable.push_back(i);
  }
  const auto rank = [&](std::size_t i) {
    const Architecture arch = parse_architecture(images[i].arch);
    const int exact = arch.suffix == 'a' ? 2 : arch.suffix == 'f' ? 1 : 0;
    return std::tuple(images[i].type == CodeType(CodeType::ptx) ? 0 : 1, arch.number, exact);
  };
  std::sort(usable.begin(), usable.end(),
            [&](std::size_t a, std::size_t b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
  return usable;
}

}  // namespace cucore::detail
