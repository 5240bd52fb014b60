// Object code is loaded here and not by LLVM's linker, so that LLVM need not be there for what the cache has.
#include "cpu/loader/loaded_object.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace cucore::cpu::codegen {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  ///< of one object in memory: offsets fit 32 bits
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// What pages hold decides how they are protected.
enum Kind : std::size_t { kCode, kConstants, kData, kKinds };

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// What to say of bytes that no assembler wrote.
struct Malformed {
  std::string why;
};

}  // namespace

class LoadedObject::Loader {
 public:
  Loader(std::string_view object, const Resolve& resolve, LoadedObject& loaded)
      : object_(object), resolve_(resolve), loaded_(loaded) {}

  void run() {
    read_sections();
    read_symbols();
    for (const Elf64_Shdr& section : sections_) for_each_relocation(section, [&](const auto& at) { reserve(at); });
    place();
    copy();
    for (const Elf64_Shdr& section : sections_) for_each_relocation(section, [&](const auto& at) { relocate(at); });
    fill_slots();
    protect();
    publish();
    keep_lines();
  }

 private:
  struct Symbol {
    Elf64_Sym entry;
    std::string_view name;
    std::uint64_t slot = kNowhere;  ///< of its address in the table, from the table's start
    std::uint64_t stub = kNowhere;  ///< a jump to the address in the table
  };
  struct Relocation {
    Elf64_Rela entry;
    std::size_t section;
    std::size_t symbol;
  };

  template <typename T>
  T read(std::uint64_t at) const {
    if (at > object_.size() || object_.size() - at < sizeof(T)) throw Malformed{"it is cut off"};
    T value;
    std::memcpy(&value, object_.data() + at, sizeof value);
    return value;
  }

  std::string_view bytes_of(const Elf64_Shdr& section) const {
    if (section.sh_offset > object_.size() || section.sh_size > object_.size() - section.sh_offset)
      throw Malformed{"a section is cut off"};
    return object_.substr(section.sh_offset, section.sh_size);
  }

  const Elf64_Shdr& section(std::uint64_t index) const {
    if (index >= sections_.size()) throw Malformed{"there is no section " + std::to_string(index)};
    return sections_[index];
  }

  void read_sections() {
    const auto header = read<Elf64_Ehdr>(0);
    constexpr unsigned char mark[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
    if (std::memcmp(header.e_ident, mark, sizeof mark) != 0 || header.e_type != ET_REL ||
        header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr))
      throw Malformed{"it is no x86-64 object"};
    for (std::uint64_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
  }

  void read_symbols() {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_SYMTAB) continue;
      const std::string_view entries = bytes_of(table);
      const std::string_view names = bytes_of(section(table.sh_link));
      for (std::size_t at = 0; entries.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
        Symbol symbol;
        std::memcpy(&symbol.entry, entries.data() + at, sizeof symbol.entry);
        const std::string_view rest = names.substr(std::min<std::size_t>(symbol.entry.st_name, names.size()));
        symbol.name = rest.substr(0, rest.find('\0'));
        symbols_.push_back(symbol);
      }
      return;
    }
  }

  /// Of what is loaded; others, of debug information, do not matter.
  template <typename Visit>
  void for_each_relocation(const Elf64_Shdr& table, const Visit& visit) {
    if (table.sh_type == SHT_REL) throw Malformed{"its relocations are of another kind"};
    if (table.sh_type == SHT_RELA && (section(table.sh_info).sh_flags & SHF_ALLOC) != 0) for_each_entry(table, visit);
  }

  template <typename Visit>
  void for_each_entry(const Elf64_Shdr& table, const Visit& visit) {
    const std::string_view entries = bytes_of(table);
    for (std::size_t at = 0; entries.size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      Relocation relocation{.entry = {}, .section = table.sh_info, .symbol = 0};
      std::memcpy(&relocation.entry, entries.data() + at, sizeof relocation.entry);
      relocation.symbol = ELF64_R_SYM(relocation.entry.r_info);
      if (relocation.symbol >= symbols_.size()) throw Malformed{"a relocation has no symbol"};
      visit(relocation);
    }
  }

  static bool uses_table(std::uint64_t type) {
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
  }

  /// Room for what the relocation needs beside the sections: functions elsewhere may be too far for a call.
  void reserve(const Relocation& relocation) {
    Symbol& symbol = symbols_[relocation.symbol];
    const auto type = ELF64_R_TYPE(relocation.entry.r_info);
    const bool calls = type == R_X86_64_PLT32 && symbol.entry.st_shndx == SHN_UNDEF;
    if (calls && symbol.stub == kNowhere) {
      symbol.stub = stub_bytes_;
      stub_bytes_ += kStub;
    }
    if ((calls || uses_table(type)) && symbol.slot == kNowhere) {
      symbol.slot = table_bytes_;
      table_bytes_ += sizeof(void*);
    }
  }

  void place() {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    place_.assign(sections_.size(), kNowhere);
    std::uint64_t end = 0;
    for (std::size_t kind = kCode; kind < kKinds; ++kind) {
      begin_[kind] = end = round_up(end, page);
      for (std::size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& each = sections_[i];
        if ((each.sh_flags & SHF_ALLOC) == 0 || kind_of(each) != kind) continue;
        const std::uint64_t alignment = std::max<std::uint64_t>(each.sh_addralign, 1);
        if ((each.sh_flags & SHF_TLS) != 0 || alignment > page || (alignment & (alignment - 1)) != 0)
          throw Malformed{"a section cannot be placed"};
        end = round_up(end, alignment);
        place_[i] = end;
        if (each.sh_size > kMostBytes - std::min(kMostBytes, end)) throw Malformed{"it is too large"};
        end += each.sh_size;
      }
      if (kind == kCode) stubs_ = reserve_at(end, stub_bytes_);
      if (kind == kConstants) table_ = reserve_at(end, table_bytes_);
      if (kind == kCode) loaded_.code_bytes_ = end;
    }
    if (end > kMostBytes) throw Malformed{"it is too large"};
    loaded_.bytes_ = std::max(round_up(end, page), page);
    void* const memory = mmap(nullptr, loaded_.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Malformed{"there is no memory for it"};
    loaded_.memory_ = memory;
  }

  static std::uint64_t reserve_at(std::uint64_t& end, std::uint64_t bytes) {
    const std::uint64_t at = round_up(end, sizeof(void*));
    if (bytes != 0) end = at + bytes;
    return at;
  }

  static Kind kind_of(const Elf64_Shdr& section) {
    if ((section.sh_flags & SHF_EXECINSTR) != 0) return kCode;
    return (section.sh_flags & SHF_WRITE) != 0 ? kData : kConstants;
  }

  char* at(std::uint64_t offset) const { return static_cast<char*>(loaded_.memory_) + offset; }
  static std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

  void copy() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (place_[i] == kNowhere || sections_[i].sh_type == SHT_NOBITS) continue;
      const std::string_view bytes = bytes_of(sections_[i]);
      std::memcpy(at(place_[i]), bytes.data(), bytes.size());
    }
  }

  std::uint64_t address_of(const Symbol& symbol) const {
    const Elf64_Sym& entry = symbol.entry;
    if (entry.st_shndx == SHN_ABS) return entry.st_value;
    if (entry.st_shndx == SHN_UNDEF) {
      if (void* const found = symbol.name.empty() ? nullptr : resolve_(symbol.name)) return address(found);
      throw Malformed{"there is no symbol " + std::string(symbol.name)};
    }
    const Elf64_Shdr& in = section(entry.st_shndx);
    if (place_[entry.st_shndx] == kNowhere || entry.st_value > in.sh_size)
      throw Malformed{"symbol " + std::string(symbol.name) + " is nowhere"};
    return address(at(place_[entry.st_shndx] + entry.st_value));
  }

  template <typename Word>
  static Word narrow(std::uint64_t value) {
    const auto narrowed = static_cast<Word>(value);
    if (static_cast<std::uint64_t>(static_cast<std::int64_t>(narrowed)) != value)
      throw Malformed{"code is too far away"};
    return narrowed;
  }

  template <typename Word>
  void write(const Relocation& relocation, Word word) const {
    const std::uint64_t size = sections_[relocation.section].sh_size;
    const std::uint64_t offset = relocation.entry.r_offset;
    if (offset > size || size - offset < sizeof word || sections_[relocation.section].sh_type == SHT_NOBITS)
      throw Malformed{"a relocation is outside its section"};
    std::memcpy(at(place_[relocation.section] + offset), &word, sizeof word);
  }

  void relocate(const Relocation& relocation) const {
    const Symbol& symbol = symbols_[relocation.symbol];
    const auto addend = static_cast<std::uint64_t>(relocation.entry.r_addend);
    const std::uint64_t here = address(loaded_.memory_) + place_[relocation.section] + relocation.entry.r_offset;
    switch (const auto type = ELF64_R_TYPE(relocation.entry.r_info)) {
      case R_X86_64_NONE:
        return;
      case R_X86_64_64:
        return write(relocation, address_of(symbol) + addend);
      case R_X86_64_PC64:
        return write(relocation, address_of(symbol) + addend - here);
      case R_X86_64_PC32:
        return write(relocation, narrow<std::int32_t>(address_of(symbol) + addend - here));
      case R_X86_64_PLT32: {
        const std::uint64_t to = symbol.stub != kNowhere ? address(at(stubs_ + symbol.stub)) : address_of(symbol);
        return write(relocation, narrow<std::int32_t>(to + addend - here));
      }
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return write(relocation, narrow<std::int32_t>(address(at(table_ + symbol.slot)) + addend - here));
      default:
        throw Malformed{"relocation " + std::to_string(type) + " is not known here"};
    }
  }

  void fill_slots() const {
    for (const Symbol& symbol : symbols_) {
      if (symbol.slot == kNowhere) continue;
      const std::uint64_t value = address_of(symbol);
      std::memcpy(at(table_ + symbol.slot), &value, sizeof value);
      if (symbol.stub == kNowhere) continue;
      // jmp *offset(%rip)
      const std::uint64_t stub = stubs_ + symbol.stub;
      const std::array<unsigned char, 2> jump{0xff, 0x25};
      const auto offset = static_cast<std::int32_t>(table_ + symbol.slot - (stub + 6));
      std::memcpy(at(stub), jump.data(), jump.size());
      std::memcpy(at(stub + jump.size()), &offset, sizeof offset);
    }
  }

  void protect() const {
    const bool done = mprotect(at(begin_[kCode]), begin_[kConstants] - begin_[kCode], PROT_READ | PROT_EXEC) == 0 &&
                      mprotect(at(begin_[kConstants]), begin_[kData] - begin_[kConstants], PROT_READ) == 0;
    if (!done) throw Malformed{"this process may not run code that it has made"};
  }

  void publish() {
    for (const std::uint64_t place : place_) loaded_.sections_.push_back(place != kNowhere ? at(place) : nullptr);
    for (const Symbol& symbol : symbols_) {
      if (ELF64_ST_TYPE(symbol.entry.st_info) == STT_FUNC && symbol.entry.st_shndx != SHN_UNDEF) {
        const auto* const begin = reinterpret_cast<const void*>(address_of(symbol));
        loaded_.functions_.push_back({std::string(symbol.name), begin, symbol.entry.st_size});
      }
      const bool is_global = ELF64_ST_BIND(symbol.entry.st_info) != STB_LOCAL;
      if (!is_global || symbol.entry.st_shndx == SHN_UNDEF || symbol.entry.st_shndx >= SHN_LORESERVE) continue;
      loaded_.symbols_.emplace(symbol.name, reinterpret_cast<void*>(address_of(symbol)));
    }
  }

  /// The line table is not part of what runs. Its addresses are those of code, all else in it stays.
  void keep_lines() {
    const auto header = read<Elf64_Ehdr>(0);
    const std::string_view names = bytes_of(section(header.e_shstrndx));
    const auto name_of = [&](const Elf64_Shdr& each) {
      const std::string_view rest = names.substr(std::min<std::size_t>(each.sh_name, names.size()));
      return rest.substr(0, rest.find('\0'));
    };
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (name_of(sections_[i]) != ".debug_line") continue;
      std::string table(bytes_of(sections_[i]));
      for (const Elf64_Shdr& relocations : sections_) {
        if (relocations.sh_type != SHT_RELA || relocations.sh_info != i) continue;
        for_each_entry(relocations, [&](const Relocation& relocation) {
          if (ELF64_R_TYPE(relocation.entry.r_info) != R_X86_64_64) return;
          const std::uint64_t value =
              address_of(symbols_[relocation.symbol]) + static_cast<std::uint64_t>(relocation.entry.r_addend);
          const std::uint64_t offset = relocation.entry.r_offset;
          if (offset > table.size() || table.size() - offset < sizeof value)
            throw Malformed{"a relocation is outside its section"};
          std::memcpy(table.data() + offset, &value, sizeof value);
        });
      }
      loaded_.lines_ = LineTable(std::move(table));
      return;
    }
  }

  static constexpr std::uint64_t kStub = 8;

  std::string_view object_;
  const Resolve& resolve_;
  LoadedObject& loaded_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> place_;  ///< by section, in the memory
  std::array<std::uint64_t, kKinds> begin_{};
  std::uint64_t stub_bytes_ = 0, table_bytes_ = 0;
  std::uint64_t stubs_ = 0, table_ = 0;  ///< where they start in the memory
};

std::unique_ptr<LoadedObject> LoadedObject::load(std::string_view object, const Resolve& resolve, std::string& error) {
  std::unique_ptr<LoadedObject> loaded(new LoadedObject);
  try {
    Loader(object, resolve, *loaded).run();
  } catch (const Malformed& malformed) {
    error = "object code cannot be loaded: " + malformed.why;
    return nullptr;
  }
  return loaded;
}

std::string LoadedObject::with_addresses(std::string_view object) const {
  std::string copy(object);
  Elf64_Ehdr header;
  std::memcpy(&header, copy.data(), sizeof header);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i] == nullptr) continue;
    const auto address = reinterpret_cast<std::uint64_t>(sections_[i]);
    std::memcpy(copy.data() + header.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_addr), &address,
                sizeof address);
  }
  return copy;
}

LoadedObject::~LoadedObject() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

void* LoadedObject::find(const std::string& symbol) const {
  const auto found = symbols_.find(symbol);
  return found != symbols_.end() ? found->second : nullptr;
}

}  // namespace cucore::cpu::codegen
