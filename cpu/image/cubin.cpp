#include "cpu/image/cubin.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "cpu/image/byte_reader.hpp"

namespace cucore::cpu::image {

namespace {

constexpr std::string_view elf_magic = "\x7f\x45\x4c\x46";
constexpr std::uint16_t machine_cuda = 190;

// Where the fields of an ELF64 file header and section header lie.
constexpr std::uint64_t header_size = 64;
constexpr std::uint64_t class_offset = 4;
constexpr std::uint64_t data_offset = 5;
constexpr std::uint64_t machine_offset = 18;
constexpr std::uint64_t program_table_offset = 32;
constexpr std::uint64_t section_table_offset = 40;
constexpr std::uint64_t program_entry_size_offset = 54;
constexpr std::uint64_t program_count_offset = 56;
constexpr std::uint64_t section_entry_size_offset = 58;
constexpr std::uint64_t section_count_offset = 60;
constexpr std::uint64_t section_names_offset = 62;

constexpr std::uint64_t section_header_size = 64;
constexpr std::uint32_t section_without_bytes = 8;  // SHT_NOBITS
constexpr std::uint16_t extended_index = 0xffff;    // SHN_XINDEX

struct Section {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
};

struct SectionTable {
  std::uint64_t offset = 0;
  std::uint64_t entry_size = 0;
  std::uint64_t count = 0;
  std::uint64_t names = 0;
};

std::optional<Section> read_section(const ByteReader& reader, const SectionTable& table, std::uint64_t index) {
  if (index > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const std::uint64_t start =
      table.offset + index * table.entry_size;  // entry_size is 16 bits: no overflow but of offset
  if (start < table.offset || !reader.slice(start, section_header_size)) return std::nullopt;
  return Section{*reader.u32(start), *reader.u32(start + 4), *reader.u64(start + 24), *reader.u64(start + 32),
                 *reader.u32(start + 40)};
}

/// None if there is no whole section table.
std::optional<SectionTable> read_section_table(const ByteReader& reader) {
  SectionTable table;
  table.offset = *reader.u64(section_table_offset);
  table.entry_size = *reader.u16(section_entry_size_offset);
  table.count = *reader.u16(section_count_offset);
  table.names = *reader.u16(section_names_offset);
  if (table.entry_size < section_header_size) return std::nullopt;
  const auto first = read_section(reader, table, 0);
  if (!first) return std::nullopt;
  // Section 0 holds the numbers that do not fit the file header.
  if (table.count == 0) table.count = first->size;
  if (table.names == extended_index) table.names = first->link;
  if (table.count > std::numeric_limits<std::uint32_t>::max() ||
      !reader.slice(table.offset, table.count * table.entry_size)) {
    return std::nullopt;
  }
  return table;
}

ImageContents invalid(std::string error) {
  ImageContents contents;
  contents.format = ImageFormat::Cubin;
  contents.error = std::move(error);
  return contents;
}

}  // namespace

bool is_elf(std::string_view image) { return image.starts_with(elf_magic); }

ImageContents read_cubin(std::string_view image) {
  const ByteReader reader(image);
  if (image.size() < header_size) return invalid("the cubin is truncated: its header does not fit");
  if (image[class_offset] != 2 || image[data_offset] != 1) {
    return invalid("the ELF image is not a 64-bit little-endian one");
  }
  if (*reader.u16(machine_offset) != machine_cuda) {
    return invalid("the ELF image is for machine " + std::to_string(*reader.u16(machine_offset)) +
                   ", not for CUDA (190): it is no cubin");
  }
  const auto table = read_section_table(reader);
  if (!table) return invalid("the cubin is truncated or damaged: its section table does not fit");
  const auto name_section = read_section(reader, *table, table->names);
  const auto names = name_section ? reader.slice(name_section->offset, name_section->size) : std::nullopt;
  if (!names) return invalid("the cubin is truncated or damaged: its section names do not fit");

  ImageContents contents;
  contents.format = ImageFormat::Cubin;
  bool found = false;
  for (std::uint64_t index = 1; index < table->count; ++index) {
    const auto section = read_section(reader, *table, index);
    if (!section || section->name >= names->size()) continue;
    const std::string_view rest = names->substr(section->name);
    if (rest.substr(0, rest.find('\0')) != ptx_section) continue;
    const auto content =
        section->type == section_without_bytes ? std::nullopt : reader.slice(section->offset, section->size);
    if (!content) return invalid("the cubin is truncated or damaged: its PTX section does not fit");
    std::string ptx(content->substr(0, content->find('\0')));
    if (found) {
      contents.further_ptx.push_back(std::move(ptx));
    } else {
      contents.ptx = std::move(ptx);
      found = true;
    }
  }
  contents.status = found ? ImageStatus::Ok : ImageStatus::NoPtx;
  if (!found) {
    contents.error =
        "the cubin carries no PTX, and the CPU device cannot run machine code; compile it with cucore (which embeds "
        "the "
        "PTX), or load PTX or a fat binary with PTX instead";
  }
  return contents;
}

std::size_t elf_extent(const char* bytes) {
  // As large as it has to be: the headers bound every read below, and what they say is believed here.
  const ByteReader reader(std::string_view(bytes, std::numeric_limits<std::ptrdiff_t>::max()));
  if (bytes[class_offset] != 2) return header_size;
  const std::uint64_t programs =
      std::uint64_t{*reader.u16(program_entry_size_offset)} * *reader.u16(program_count_offset);
  std::uint64_t extent = std::max(header_size, *reader.u64(program_table_offset) + programs);
  const auto table = *reader.u64(section_table_offset) == 0 ? std::nullopt : read_section_table(reader);
  if (table) {
    extent = std::max(extent, table->offset + table->count * table->entry_size);
    for (std::uint64_t index = 1; index < table->count; ++index) {
      const auto section = read_section(reader, *table, index);
      if (section && section->type != section_without_bytes) extent = std::max(extent, section->offset + section->size);
    }
  }
  return static_cast<std::size_t>(extent);
}

}  // namespace cucore::cpu::image
