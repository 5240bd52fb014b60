// ELF64 sections. Layout of an image with an added section:
//   [the image as it was, with a new e_shoff and e_shnum] [longer section names] [content] [new section headers]
// The old names and headers stay as unused bytes, so that no offset inside the image changes.
#include "src/formats/elf.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "cucore/error.hpp"

namespace cucore::detail {
namespace {

// Whether [offset, offset + size) lies inside `image`.
bool inside(std::string_view image, std::uint64_t offset, std::uint64_t size) noexcept {
  return offset <= image.size() && size <= image.size() - offset;
}

struct Sections {
  Elf64_Ehdr header;
  std::size_t count = 0;
  std::string_view names;

  Elf64_Shdr at(std::string_view image, std::size_t index) const noexcept {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + index * sizeof section, sizeof section);
    return section;
  }
  std::string_view name(const Elf64_Shdr& section) const noexcept {
    if (section.sh_name >= names.size()) return {};
    const std::string_view rest = names.substr(section.sh_name);
    return rest.substr(0, rest.find('\0'));
  }
};

// Why an image cannot be used, or nullptr with `out` filled.
const char* read_sections(std::string_view image, Sections& out) noexcept {
  if (image.size() < sizeof(Elf64_Ehdr)) return "too short for an ELF header";
  std::memcpy(&out.header, image.data(), sizeof out.header);
  const Elf64_Ehdr& h = out.header;
  if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return "no ELF magic";
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB) return "not little-endian ELF64";
  if (h.e_shnum == 0 || h.e_shnum >= SHN_LORESERVE || h.e_shentsize != sizeof(Elf64_Shdr)) return "no section table";
  if (!inside(image, h.e_shoff, std::uint64_t{h.e_shnum} * sizeof(Elf64_Shdr))) return "section table out of bounds";
  out.count = h.e_shnum;
  if (h.e_shstrndx >= out.count) return "no section names";
  const Elf64_Shdr names = out.at(image, h.e_shstrndx);
  if (names.sh_type != SHT_STRTAB || !inside(image, names.sh_offset, names.sh_size))
    return "section names out of bounds";
  out.names = image.substr(names.sh_offset, names.sh_size);
  for (std::size_t i = 0; i < out.count; ++i) {
    // Longer section names, as elf_add_section() writes them, would give such a section a name.
    if (out.at(image, i).sh_name >= out.names.size() && !out.names.empty()) return "a section's name out of bounds";
  }
  return nullptr;
}

std::optional<std::size_t> find(std::string_view image, const Sections& sections, std::string_view name) noexcept {
  for (std::size_t i = 0; i < sections.count; ++i) {
    if (sections.name(sections.at(image, i)) == name) return i;
  }
  return std::nullopt;
}

void append(std::string& out, const void* data, std::size_t size) { out.append(static_cast<const char*>(data), size); }

void align(std::string& out) { out.resize((out.size() + 7) & ~std::size_t{7}, '\0'); }

// Appends the section table and points the header at it.
void append_table(std::string& out, Elf64_Ehdr header, const std::vector<Elf64_Shdr>& table) {
  align(out);
  header.e_shoff = out.size();
  header.e_shnum = static_cast<Elf64_Half>(table.size());
  append(out, table.data(), table.size() * sizeof(Elf64_Shdr));
  std::memcpy(out.data(), &header, sizeof header);
}

}  // namespace

std::string elf_add_section(std::string_view image, std::string_view name, std::string_view content) {
  Sections sections;
  const char* fault = read_sections(image, sections);
  // Else the new name would become part of another section's.
  if (fault == nullptr && !sections.names.ends_with('\0')) fault = "its section names have no end";
  if (fault == nullptr && find(image, sections, name)) fault = "has a section of this name already";
  if (fault == nullptr && sections.count + 1 >= SHN_LORESERVE) fault = "too many sections";
  if (fault != nullptr) {
    throw ValueError(
        {.call = "elf_add_section", .message = "cannot add section " + std::string(name) + " to an image: " + fault});
  }
  std::vector<Elf64_Shdr> table;
  for (std::size_t i = 0; i < sections.count; ++i) table.push_back(sections.at(image, i));

  std::string out(image);
  Elf64_Shdr& names = table[sections.header.e_shstrndx];
  names.sh_offset = out.size();
  names.sh_size = sections.names.size() + name.size() + 1;
  out += sections.names;
  out += name;
  out += '\0';

  Elf64_Shdr section{};
  section.sh_name = static_cast<Elf64_Word>(sections.names.size());
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = out.size();
  section.sh_size = content.size();
  section.sh_addralign = 1;
  table.push_back(section);
  out += content;

  append_table(out, sections.header, table);
  return out;
}

std::optional<std::string_view> elf_section(std::string_view image, std::string_view name) noexcept {
  Sections sections;
  if (read_sections(image, sections) != nullptr) return std::nullopt;
  const std::optional<std::size_t> index = find(image, sections, name);
  if (!index) return std::nullopt;
  const Elf64_Shdr section = sections.at(image, *index);
  if (section.sh_type == SHT_NOBITS || !inside(image, section.sh_offset, section.sh_size)) return std::nullopt;
  return image.substr(section.sh_offset, section.sh_size);
}

std::string elf_strip_section(std::string_view image, std::string_view name) {
  Sections sections;
  if (read_sections(image, sections) != nullptr) return std::string(image);
  const std::optional<std::size_t> index = find(image, sections, name);
  // A section in the middle was not put there by elf_add_section; other sections refer to later ones by number.
  if (!index || *index != sections.count - 1 || *index == sections.header.e_shstrndx) return std::string(image);
  const Elf64_Shdr section = sections.at(image, *index);
  if (!inside(image, section.sh_offset, section.sh_size)) return std::string(image);

  std::vector<Elf64_Shdr> table;
  for (std::size_t i = 0; i + 1 < sections.count; ++i) table.push_back(sections.at(image, i));
  // Cut the content off if nothing but the table follows it, else leave the bytes unused.
  const std::uint64_t content_end = (section.sh_offset + section.sh_size + 7) & ~std::uint64_t{7};
  std::string out(image);
  if (content_end == sections.header.e_shoff && section.sh_offset >= sizeof(Elf64_Ehdr)) {
    out.resize(section.sh_offset);
  }
  append_table(out, sections.header, table);
  return out;
}

bool is_elf(std::string_view image) noexcept { return image.starts_with(ELFMAG); }

const char* elf_fault(std::string_view image) noexcept {
  Sections sections;
  if (const char* fault = read_sections(image, sections)) return fault;
  for (std::size_t i = 1; i < sections.count; ++i) {
    const Elf64_Shdr section = sections.at(image, i);
    if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS &&
        !inside(image, section.sh_offset, section.sh_size)) {
      return "a section lies outside the image";
    }
  }
  const Elf64_Ehdr& h = sections.header;
  if (h.e_phnum == 0) return nullptr;
  if (h.e_phentsize != sizeof(Elf64_Phdr) || !inside(image, h.e_phoff, std::uint64_t{h.e_phnum} * sizeof(Elf64_Phdr))) {
    return "the segment table lies outside the image";
  }
  for (std::size_t i = 0; i < h.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + h.e_phoff + i * sizeof segment, sizeof segment);
    if (!inside(image, segment.p_offset, segment.p_filesz)) return "a segment lies outside the image";
  }
  return nullptr;
}

}  // namespace cucore::detail
