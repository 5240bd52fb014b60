// The format, little-endian throughout:
//   file header   u32 magic, u16 version, u16 bytes of this header, u64 bytes of all entries together
//   entry header  +0 u16 kind   +4 u32 bytes of this header   +8 u64 bytes of the payload that follows it
//                 +16 u32 bytes of the payload that are compressed data   +28 u32 architecture (80 for sm_80)
//                 +40 u64 flags   +56 u64 bytes of the payload when decompressed
#include "cpu/image/fat_binary.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "cpu/image/byte_reader.hpp"
#include "cpu/image/cubin.hpp"
#include "cpu/image/decompress.hpp"

namespace cucore::cpu::image {

namespace {

constexpr std::uint32_t magic = 0xba55ed50;
constexpr std::uint64_t file_header_size = 16;
constexpr std::uint64_t entry_header_size = 64;
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint16_t kind_elf = 2;
constexpr std::uint16_t kind_lto_ir = 8;
constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_zstd = 0x8000;

struct Entry {
  std::uint16_t kind = 0;
  std::uint32_t architecture = 0;
  std::uint32_t compressed_size = 0;
  std::uint64_t flags = 0;
  std::uint64_t decompressed_size = 0;
  std::string_view payload;
  std::string_view whole;  ///< with its header
};

Failure invalid_fat_binary(std::string what) { return Failure(ErrorCode::InvalidImage, std::move(what)); }

/// None if an entry does not fit.
std::optional<std::vector<Entry>> read_entries(const ByteReader& reader, std::uint64_t start, std::uint64_t end) {
  std::vector<Entry> entries;
  for (std::uint64_t offset = start; end - offset >= entry_header_size;) {
    Entry entry;
    entry.kind = *reader.u16(offset);
    const std::uint64_t header = *reader.u32(offset + 4);
    const std::uint64_t size = *reader.u64(offset + 8);
    entry.compressed_size = *reader.u32(offset + 16);
    entry.architecture = *reader.u32(offset + 28);
    entry.flags = *reader.u64(offset + 40);
    entry.decompressed_size = *reader.u64(offset + 56);
    if (header < entry_header_size || header > end - offset || size > end - offset - header) return std::nullopt;
    entry.payload = *reader.slice(offset + header, size);
    entry.whole = *reader.slice(offset, header + size);
    entries.push_back(entry);
    offset += header + size;
  }
  return entries;
}

Result<std::string> read_payload(const Entry& entry) {
  const bool lz4 = (entry.flags & flag_lz4) != 0;
  if (!lz4 && (entry.flags & flag_zstd) == 0) return std::string(entry.payload);
  if (entry.compressed_size > entry.payload.size()) return invalid_fat_binary("its compressed data does not fit");
  const std::string_view compressed = entry.payload.substr(0, entry.compressed_size);
  return lz4 ? decompress_lz4(compressed, entry.decompressed_size)
             : decompress_zstd(compressed, entry.decompressed_size);
}

std::string name_of(const Entry& entry) {
  return (entry.kind == kind_ptx ? "compute_" : "sm_") + std::to_string(entry.architecture);
}

/// Entries of one kind that the device can use, the highest architecture first.
std::vector<Entry> candidates(const std::vector<Entry>& entries, std::uint16_t kind, std::uint32_t architecture) {
  std::vector<Entry> usable;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(usable),
               [&](const Entry& entry) { return entry.kind == kind && entry.architecture <= architecture; });
  // Of several for one architecture the first in the file stays first.
  std::sort(usable.begin(), usable.end(), [](const Entry& a, const Entry& b) {
    return a.architecture != b.architecture ? a.architecture > b.architecture : a.payload.data() < b.payload.data();
  });
  return usable;
}

/// `.target sm_90a` and `sm_100f`, with a letter: PTX that other architectures cannot use.
bool is_specific(std::string_view ptx) {
  const std::size_t target = ptx.find(".target");
  const std::size_t name = target == std::string_view::npos ? target : ptx.find("sm_", target);
  if (name == std::string_view::npos) return false;
  const std::size_t end = ptx.find_first_not_of("0123456789", name + 3);
  return end != std::string_view::npos && ptx[end] >= 'a' && ptx[end] <= 'z';
}

std::string describe(const std::vector<Entry>& entries, std::uint32_t architecture) {
  std::string list;
  constexpr std::size_t most_listed = 16;
  for (std::size_t i = 0; i < entries.size() && i < most_listed; ++i)
    list += (i == 0 ? "" : ", ") + name_of(entries[i]);
  if (entries.size() > most_listed) list += " ...";
  return "the fat binary has no PTX, and the CPU device cannot run machine code; it holds " +
         (list.empty() ? "nothing" : list) + "; add PTX with -gencode arch=compute_" + std::to_string(architecture) +
         ",code=compute_" + std::to_string(architecture);
}

/// The first of `ptx` that is accepted, as text; none if there is none. Fails if one before it cannot be read.
template <class Accepts>
Result<std::optional<std::string>> first_of(const std::vector<Entry>& ptx, Accepts&& accepts) {
  for (const Entry& entry : ptx) {
    Result<std::string> payload = read_payload(entry);
    if (!payload) {
      return invalid_fat_binary("the fat binary's PTX for " + name_of(entry) +
                                " is damaged: " + payload.failure().sentence());
    }
    payload->resize(std::min(payload->size(), payload->find('\0')));
    if (accepts(entry, std::string_view(*payload))) return std::optional(*std::move(payload));
  }
  return std::optional<std::string>();
}

ImageContents contents_of(std::string ptx, bool fits) {
  ImageContents contents;
  contents.format = ImageFormat::FatBinary;
  contents.is_for_this_device = !fits;
  contents.ptx = std::move(ptx);
  return contents;
}

Result<std::vector<Entry>> entries_of(std::string_view image) {
  const ByteReader reader(image);
  if (image.size() < file_header_size)
    return invalid_fat_binary("the fat binary is truncated: its header does not fit");
  const std::uint64_t header = *reader.u16(6);
  const std::uint64_t size = *reader.u64(8);
  if (header < file_header_size || !reader.slice(header, size)) {
    return invalid_fat_binary("the fat binary is truncated: its header promises " + std::to_string(size) + " bytes");
  }
  auto entries = read_entries(reader, header, header + size);
  if (!entries) return invalid_fat_binary("the fat binary is damaged: an entry does not fit");
  return *std::move(entries);
}

}  // namespace

bool is_fat_binary(std::string_view image) { return ByteReader(image).u32(0) == magic; }

Result<ImageContents> read_fat_binary(std::string_view image, std::uint32_t architecture) {
  const Result<std::vector<Entry>> entries = entries_of(image);
  if (!entries) return Failure(entries.failure().code(), entries.failure().sentence());
  const std::vector<Entry> ptx = candidates(*entries, kind_ptx, architecture);
  Result<std::optional<std::string>> fitting = first_of(ptx, [&](const Entry& entry, std::string_view text) {
    return architecture == any_architecture || entry.architecture == architecture || !is_specific(text);
  });
  if (!fitting) return std::move(fitting).failure();
  if (*fitting) return contents_of(**std::move(fitting), true);
  for (const Entry& entry : candidates(*entries, kind_elf, architecture)) {
    const Result<std::string> payload = read_payload(entry);
    if (!payload) {
      return invalid_fat_binary("the fat binary's cubin for " + name_of(entry) +
                                " is damaged: " + payload.failure().sentence());
    }
    if (!is_elf(*payload))
      return invalid_fat_binary("the fat binary's cubin for " + name_of(entry) + " is not an ELF image");
    Result<ImageContents> contents = read_cubin(*payload, architecture);
    if (contents) contents->format = ImageFormat::FatBinary;
    if (contents || contents.failure().code() != ErrorCode::NoBinaryForGpu) return contents;
  }
  // PTX for a single architecture may use what others lack.
  const std::vector<Entry> other = candidates(*entries, kind_ptx, any_architecture);
  auto newest = first_of(other, [](const Entry&, std::string_view text) { return !is_specific(text); });
  if (newest && !*newest) newest = first_of(other, [](const Entry&, std::string_view) { return true; });
  if (!newest) return std::move(newest).failure();
  if (*newest) return contents_of(**std::move(newest), false);
  return Failure(ErrorCode::NoBinaryForGpu, describe(*entries, architecture));
}

PartsRead parts_read_of_fat_binary(std::string_view image, std::uint32_t architecture) {
  const Result<std::vector<Entry>> entries = entries_of(image);
  if (!entries) return {.parts = {image}, .most_ptx = image.size()};
  const auto bytes_of = [](const Entry& entry) {
    return std::max<std::uint64_t>(entry.decompressed_size, entry.payload.size());
  };
  const std::vector<Entry> fitting = candidates(*entries, kind_ptx, architecture);
  if (!fitting.empty() && fitting.front().architecture == architecture)
    return {.parts = {fitting.front().whole}, .most_ptx = bytes_of(fitting.front())};
  PartsRead read;
  std::uint64_t most_in_cubins = 0;
  for (const Entry& entry : *entries) {
    const bool is_cubin = entry.kind == kind_elf && entry.architecture <= architecture;
    if (!is_cubin && entry.kind != kind_ptx) continue;
    read.parts.push_back(entry.whole);
    std::uint64_t& most = is_cubin ? most_in_cubins : read.most_ptx;
    most = std::max(most, bytes_of(entry));
  }
  if (read.most_ptx == 0) read.most_ptx = most_in_cubins;
  return read;
}

std::string fat_binary_of(std::string_view image, const std::vector<std::string_view>& entries) {
  std::uint64_t size = 0;
  for (const std::string_view entry : entries) size += entry.size();
  std::string made(image.substr(0, file_header_size));
  const auto header_bytes = static_cast<std::uint16_t>(file_header_size);
  std::memcpy(made.data() + 6, &header_bytes, sizeof header_bytes);
  std::memcpy(made.data() + 8, &size, sizeof size);
  for (const std::string_view entry : entries) made += entry;
  return made;
}

std::string lto_ir_of(std::string_view image, std::uint32_t architecture) {
  const Result<std::vector<Entry>> entries = entries_of(image);
  const std::vector<Entry> fitting = entries ? candidates(*entries, kind_lto_ir, architecture) : std::vector<Entry>();
  return fitting.empty() ? std::string() : fat_binary_of(image, {fitting.front().whole});
}

std::string machine_code_of(std::string_view image, std::uint32_t architecture) {
  const Result<std::vector<Entry>> entries = entries_of(image);
  if (!entries) return {};
  std::vector<Entry> code = candidates(*entries, kind_elf, architecture);
  if (code.empty()) code = candidates(*entries, kind_elf, any_architecture);
  Result<std::string> payload = code.empty() ? Result<std::string>(std::string()) : read_payload(code.front());
  return payload ? *std::move(payload) : std::string();
}

std::size_t fat_binary_extent(const char* bytes) {
  const ByteReader reader(std::string_view(bytes, file_header_size));
  return static_cast<std::size_t>(*reader.u16(6) + *reader.u64(8));
}

}  // namespace cucore::cpu::image
