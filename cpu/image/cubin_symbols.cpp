// Reads a cubin's symbol table: see cubin_symbols.hpp.
#include "cpu/image/cubin_symbols.hpp"

#include "cpu/image/byte_reader.hpp"
#include "cpu/image/cubin.hpp"
#include "cpu/image/elf_sections.hpp"

namespace cucore::cpu::image {

std::vector<CubinSymbol> defined_symbols(std::string_view cubin) {
  constexpr std::uint32_t symbol_table = 2;  // SHT_SYMTAB
  constexpr std::uint64_t symbol_size = 24;
  constexpr unsigned global = 1, weak = 2;  // STB_GLOBAL, STB_WEAK
  constexpr unsigned function = 2;          // STT_FUNC
  constexpr unsigned is_kernel = 0x10;      // CUDA's, in st_other
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

}  // namespace cucore::cpu::image
