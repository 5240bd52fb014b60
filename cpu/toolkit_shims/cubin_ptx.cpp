// Cubins with their PTX: see cubin_ptx.hpp. What is added stands behind the image: names, texts, a new section table.
#include "cpu/toolkit_shims/cubin_ptx.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "cpu/image/image.hpp"

namespace cucore::cpu::toolkit_shims {

namespace {

struct Table {
  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;
  std::string_view names;

  std::string_view name(const Elf64_Shdr& section) const {
    if (section.sh_name >= names.size()) return {};
    const std::string_view rest = names.substr(section.sh_name);
    return rest.substr(0, rest.find('\0'));
  }
};

bool is_inside(std::string_view image, std::uint64_t offset, std::uint64_t size) {
  return offset <= image.size() && size <= image.size() - offset;
}

bool read(std::string_view image, Table* table) {
  Elf64_Ehdr& header = table->header;
  if (image.size() < sizeof header) return false;
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
    return false;
  if (!is_inside(image, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr))) return false;
  table->sections.resize(header.e_shnum);
  std::memcpy(table->sections.data(), image.data() + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  const Elf64_Shdr& names = table->sections[header.e_shstrndx];
  if (!is_inside(image, names.sh_offset, names.sh_size)) return false;
  table->names = image.substr(names.sh_offset, names.sh_size);
  return true;
}

std::string with_table(std::string image, Elf64_Ehdr header, const std::vector<Elf64_Shdr>& sections) {
  image.resize((image.size() + 7) & ~std::size_t{7}, '\0');
  header.e_shoff = image.size();
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  image.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

}  // namespace

std::string with_ptx(std::string_view cubin, const std::vector<std::string>& ptx) {
  Table table;
  if (!read(cubin, &table) || !table.names.ends_with('\0') || table.sections.size() + ptx.size() >= SHN_LORESERVE)
    return std::string(cubin);
  std::string image(cubin);
  for (Elf64_Shdr& section : table.sections)  // what a linker took over from its inputs
    if (table.name(section) == image::ptx_section) section.sh_size = 0;
  Elf64_Shdr& names = table.sections[table.header.e_shstrndx];
  const auto name = static_cast<Elf64_Word>(table.names.size());
  names.sh_offset = image.size();
  image += table.names;
  image += image::ptx_section;
  image += '\0';
  names.sh_size = image.size() - names.sh_offset;
  for (const std::string& text : ptx) {
    Elf64_Shdr section{};
    section.sh_name = name;
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = image.size();
    section.sh_size = text.size();
    section.sh_addralign = 1;
    table.sections.push_back(section);
    image += text;
  }
  return with_table(std::move(image), table.header, table.sections);
}

std::vector<std::string> ptx_of(std::string_view cubin) {
  Table table;
  std::vector<std::string> found;
  if (!read(cubin, &table)) return found;
  for (const Elf64_Shdr& section : table.sections)
    if (table.name(section) == image::ptx_section && is_inside(cubin, section.sh_offset, section.sh_size))
      found.emplace_back(cubin.substr(section.sh_offset, section.sh_size));
  return found;
}

bool has_machine_code(std::string_view cubin) {
  Table table;
  if (!read(cubin, &table)) return true;  // not something that this code writes
  return std::any_of(table.sections.begin(), table.sections.end(),
                     [](const Elf64_Shdr& section) { return section.sh_type == SHT_SYMTAB; });
}

std::string without_ptx(std::string_view cubin) {
  Table table;
  if (!read(cubin, &table)) return std::string(cubin);
  const std::size_t before = table.sections.size();
  while (!table.sections.empty() && table.name(table.sections.back()) == image::ptx_section) table.sections.pop_back();
  if (table.sections.size() == before || table.header.e_shstrndx >= table.sections.size()) return std::string(cubin);
  return with_table(std::string(cubin), table.header, table.sections);
}

}  // namespace cucore::cpu::toolkit_shims
