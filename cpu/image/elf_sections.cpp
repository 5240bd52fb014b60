// Reads the section table of an ELF image: see elf_sections.hpp.
#include "cpu/image/elf_sections.hpp"

#include <limits>

namespace cucore::cpu::image {

namespace {

constexpr std::uint32_t section_without_bytes = 8;  // SHT_NOBITS
constexpr std::uint16_t extended_index = 0xffff;    // SHN_XINDEX

}  // namespace

std::optional<ElfSections> ElfSections::read(std::string_view image) {
  ElfSections sections(image);
  const ByteReader& reader = sections.reader_;
  sections.table_ = *reader.u64(table_field);
  sections.entry_size_ = *reader.u16(entry_size_field);
  sections.count_ = *reader.u16(count_field);
  sections.names_index_ = *reader.u16(names_field);
  if (sections.entry_size_ < header_size) return std::nullopt;
  const auto first = sections.section(0);
  if (!first) return std::nullopt;
  // Section 0 holds the numbers that do not fit the file header.
  if (sections.count_ == 0) sections.count_ = first->size;
  if (sections.names_index_ == extended_index) sections.names_index_ = first->link;
  if (sections.count_ > std::numeric_limits<std::uint32_t>::max() ||
      !reader.slice(sections.table_, sections.count_ * sections.entry_size_)) {
    return std::nullopt;
  }
  return sections;
}

bool ElfSections::read_names() {
  const auto names = section(names_index_);
  const auto bytes = names ? reader_.slice(names->offset, names->size) : std::nullopt;
  if (!bytes) return false;
  names_ = *bytes;
  return true;
}

std::optional<ElfSections::Section> ElfSections::section(std::uint64_t index) const {
  if (index > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const std::uint64_t start = table_ + index * entry_size_;  // entry_size_ is 16 bits: no overflow but of table_
  if (start < table_ || !reader_.slice(start, header_size)) return std::nullopt;
  Section section;
  section.name_offset = *reader_.u32(start);
  section.type = *reader_.u32(start + 4);
  section.offset = *reader_.u64(start + 24);
  section.size = *reader_.u64(start + 32);
  section.link = *reader_.u32(start + 40);
  section.info = *reader_.u32(start + 44);
  if (section.name_offset < names_.size()) {
    section.name = names_.substr(section.name_offset);
    section.name = section.name.substr(0, section.name.find('\0'));
  }
  return section;
}

std::optional<std::string_view> ElfSections::content(const Section& section) const {
  if (section.type == section_without_bytes) return std::nullopt;
  return reader_.slice(section.offset, section.size);
}

}  // namespace cucore::cpu::image
