// Reads a cubin's symbol table, and what it says of the symbols: see cubin_symbols.hpp.
#include "cpu/image/cubin_symbols.hpp"

#include "cpu/image/byte_reader.hpp"
#include "cpu/image/cubin.hpp"
#include "cpu/image/elf_sections.hpp"

namespace cucore::cpu::image {

namespace {

constexpr std::uint64_t symbol_size = 24;

}  // namespace

std::vector<CubinSymbol> defined_symbols(std::string_view cubin) {
  constexpr std::uint32_t symbol_table = 2;  // SHT_SYMTAB
  constexpr unsigned global = 1, weak = 2;   // STB_GLOBAL, STB_WEAK
  constexpr unsigned function = 2;           // STT_FUNC
  constexpr unsigned is_kernel = 0x10;       // CUDA's, in st_other
  std::vector<CubinSymbol> symbols;
  if (!is_elf(cubin) || cubin.size() < ElfSections::header_size) return symbols;
  const auto sections = ElfSections::read(cubin);
  if (!sections) return symbols;
  for (std::uint64_t index = 1; index < sections->count(); ++index) {
    const auto table = sections->section(index);
    if (!table || table->type != symbol_table) continue;
    const auto names_section = sections->section(table->link);
    const auto names = names_section ? sections->content(*names_section) : std::nullopt;
    const auto bytes = sections->content(*table);
    if (!names || !bytes) continue;
    for (std::string_view rest = *bytes; rest.size() >= symbol_size; rest.remove_prefix(symbol_size)) {
      const ByteReader entry(rest);
      const auto at = *entry.u32(0);
      const auto info = static_cast<unsigned char>(rest[4]);
      const auto other = static_cast<unsigned char>(rest[5]);
      const bool is_defined = *entry.u16(6) != 0;
      if (!is_defined || (info >> 4 != global && info >> 4 != weak) || at >= names->size()) continue;
      const std::string_view name = names->substr(at);
      CubinSymbol symbol{.name = std::string(name.substr(0, name.find('\0')))};
      if ((info & 0xf) != function) symbol.kind = CubinSymbol::Kind::Variable;
      if ((info & 0xf) == function && (other & is_kernel) != 0) symbol.kind = CubinSymbol::Kind::Kernel;
      if (!symbol.name.empty()) symbols.push_back(std::move(symbol));
    }
  }
  return symbols;
}

namespace {

/// The name of symbol `index` of the table in section `table`; empty if there is none.
std::string_view symbol_name(const ElfSections& sections, std::uint64_t table, std::uint64_t index) {
  const auto symbols = sections.section(table);
  const auto names_section = symbols ? sections.section(symbols->link) : std::nullopt;
  const auto names = names_section ? sections.content(*names_section) : std::nullopt;
  const auto bytes = symbols ? sections.content(*symbols) : std::nullopt;
  if (!names || !bytes || index >= bytes->size() / symbol_size) return {};
  const auto at = *ByteReader(*bytes).u32(index * symbol_size);
  if (at >= names->size()) return {};
  const std::string_view name = names->substr(at);
  return name.substr(0, name.find('\0'));
}

}  // namespace

std::map<std::string, std::uint32_t, std::less<>> registers_of_kernels(std::string_view cubin) {
  // The section is a list of attributes: a byte for the form of the value, one for what it is of, and two for the
  // value, or for the bytes of it that follow.
  constexpr std::string_view attributes = ".nv.info";
  constexpr unsigned char has_bytes = 4;
  constexpr unsigned char register_count = 0x2f;  // its value: the index of a symbol, and the number
  std::map<std::string, std::uint32_t, std::less<>> registers;
  if (!is_elf(cubin) || cubin.size() < ElfSections::header_size) return registers;
  auto sections = ElfSections::read(cubin);
  if (!sections || !sections->read_names()) return registers;
  for (std::uint64_t index = 1; index < sections->count(); ++index) {
    const auto section = sections->section(index);
    if (!section || section->name != attributes) continue;
    std::string_view rest = sections->content(*section).value_or(std::string_view());
    while (rest.size() >= 4) {
      const auto form = static_cast<unsigned char>(rest[0]);
      const auto what = static_cast<unsigned char>(rest[1]);
      const std::size_t size = form == has_bytes ? *ByteReader(rest).u16(2) : 0;
      rest.remove_prefix(4);
      if (size > rest.size()) break;
      if (form == has_bytes && what == register_count && size == 8) {
        const std::string_view name = symbol_name(*sections, section->link, *ByteReader(rest).u32(0));
        if (!name.empty()) registers.emplace(name, *ByteReader(rest).u32(4));
      }
      rest.remove_prefix(size);
    }
  }
  return registers;
}

}  // namespace cucore::cpu::image
