// Reads the sections of a cubin (ELF) without trusting any offset in it: see cubin.hpp.
#include "cpu/image/cubin.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "cpu/image/byte_reader.hpp"
#include "cpu/image/cubin_symbols.hpp"
#include "cpu/image/elf_sections.hpp"

namespace cucore::cpu::image {

namespace {

constexpr std::string_view elf_magic = "\x7f\x45\x4c\x46";
constexpr std::uint16_t machine_cuda = 190;

// Where the fields of an ELF64 file header lie.
constexpr std::uint64_t class_offset = 4;
constexpr std::uint64_t data_offset = 5;
constexpr std::uint64_t machine_offset = 18;
constexpr std::uint64_t program_table_offset = 32;
constexpr std::uint64_t flags_offset = 48;
constexpr std::uint64_t program_entry_size_offset = 54;
constexpr std::uint64_t program_count_offset = 56;

constexpr std::string_view ident = "\x7f\x45\x4c\x46\x02\x01\x01\x41\x08";  // CUDA's ABI, version 8

constexpr std::uint64_t header_size = ElfSections::header_size;

/// The architecture of the machine code; 0 if the ABI is an older one, whose flags mean something else.
std::uint32_t architecture_of(std::string_view image, const ByteReader& reader) {
  return image.starts_with(ident) ? *reader.u32(flags_offset) >> 8 & 0xffff : 0;
}

Failure invalid_cubin(std::string what) { return Failure(ErrorCode::InvalidImage, std::move(what)); }

}  // namespace

bool is_elf(std::string_view image) { return image.starts_with(elf_magic); }

bool is_cubin(std::string_view image) { return is_elf(image) && ByteReader(image).u16(machine_offset) == machine_cuda; }

Result<ImageContents> read_cubin(std::string_view image, std::uint32_t architecture) {
  const ByteReader reader(image);
  if (image.size() < header_size) return invalid_cubin("the cubin is truncated: its header does not fit");
  if (image[class_offset] != 2 || image[data_offset] != 1) {
    return invalid_cubin("the ELF image is not a 64-bit little-endian one");
  }
  if (*reader.u16(machine_offset) != machine_cuda) {
    return invalid_cubin("the ELF image is for machine " + std::to_string(*reader.u16(machine_offset)) +
                         ", not for CUDA (190): it is not a cubin");
  }
  auto sections = ElfSections::read(image);
  if (!sections) return invalid_cubin("the cubin is truncated or damaged: its section table does not fit");
  if (!sections->read_names()) return invalid_cubin("the cubin is truncated or damaged: its section names do not fit");

  ImageContents contents;
  contents.format = ImageFormat::Cubin;
  bool found = false;
  for (std::uint64_t index = 1; index < sections->count(); ++index) {
    const auto section = sections->section(index);
    if (!section || section->name != ptx_section) continue;
    const auto content = sections->content(*section);
    if (!content) return invalid_cubin("the cubin is truncated or damaged: its PTX section does not fit");
    contents.max_registers = section->info;
    // One module, or several of a linked cubin, each with its NUL.
    for (std::string_view texts = *content; !texts.empty();) {
      const std::string_view module = texts.substr(0, texts.find('\0'));
      texts.remove_prefix(std::min(texts.size(), module.size() + 1));
      if (module.empty()) continue;
      if (found) {
        contents.further_ptx.emplace_back(module);
      } else {
        contents.ptx = module;
        found = true;
      }
    }
  }
  if (!found) {
    return Failure(ErrorCode::NoBinaryForGpu,
                   "the cubin carries no PTX, and the CPU device cannot run machine code; compile it with cucore "
                   "(which embeds the PTX), or load PTX or a fat binary with PTX instead");
  }
  contents.is_for_this_device = architecture_of(image, reader) == architecture;
  contents.registers = registers_of_kernels(image);
  return contents;
}

std::string write_cubin(std::string_view ptx, std::uint32_t architecture, std::uint32_t max_registers) {
  const auto put = [](std::string& bytes, std::uint64_t offset, auto value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  };
  const std::string names = '\0' + std::string(ptx_section) + '\0' + ".shstrtab" + '\0';
  std::string image(header_size, '\0');
  const std::uint64_t ptx_at = image.size();
  image.append(ptx) += '\0';
  const std::uint64_t names_at = image.size();
  image += names;
  image.resize((image.size() + 7) / 8 * 8, '\0');
  const std::uint64_t table_at = image.size();
  std::string table(3 * header_size, '\0');
  const auto section = [&](std::uint64_t index, std::uint32_t name, std::uint32_t type, std::uint64_t at,
                           std::uint64_t size) {
    const std::uint64_t header = index * header_size;
    put(table, header, name);
    put(table, header + 4, type);
    put(table, header + 24, at);
    put(table, header + 32, size);
    put(table, header + 48, std::uint64_t{1});  // alignment
  };
  section(1, 1, 1, ptx_at, ptx.size() + 1);                                                   // SHT_PROGBITS
  section(2, static_cast<std::uint32_t>(ptx_section.size()) + 2, 3, names_at, names.size());  // SHT_STRTAB
  put(table, header_size + 44, max_registers);  // sh_info, which means nothing else in such a section
  image += table;

  image.replace(0, ident.size(), ident);
  put(image, 16, std::uint16_t{2});  // ET_EXEC
  put(image, machine_offset, machine_cuda);
  put(image, 20, std::uint32_t{1});
  put(image, ElfSections::table_field, table_at);
  put(image, flags_offset, architecture << 8);
  put(image, 52, static_cast<std::uint16_t>(header_size));
  put(image, ElfSections::entry_size_field, static_cast<std::uint16_t>(header_size));
  put(image, ElfSections::count_field, std::uint16_t{3});
  put(image, ElfSections::names_field, std::uint16_t{2});
  return image;
}

std::size_t elf_extent(const char* bytes) {
  // As large as its headers say, which are trusted here and bound every read below.
  const std::string_view image(bytes, std::numeric_limits<std::ptrdiff_t>::max());
  const ByteReader reader(image);
  if (bytes[class_offset] != 2) return header_size;
  const std::uint64_t programs =
      std::uint64_t{*reader.u16(program_entry_size_offset)} * *reader.u16(program_count_offset);
  std::uint64_t extent = std::max(header_size, *reader.u64(program_table_offset) + programs);
  const auto sections = *reader.u64(ElfSections::table_field) == 0 ? std::nullopt : ElfSections::read(image);
  if (sections) {
    extent = std::max(extent, sections->table_end());
    for (std::uint64_t index = 1; index < sections->count(); ++index) {
      const auto section = sections->section(index);
      if (section && sections->content(*section)) extent = std::max(extent, section->offset + section->size);
    }
  }
  return static_cast<std::size_t>(extent);
}

}  // namespace cucore::cpu::image
