// Object code is loaded here and not by LLVM's linker, so that LLVM need not be there for what the cache has.
#include "cpu/loader/loaded_object.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/abi/alignment.hpp"
#include "cpu/loader/machine.hpp"

namespace cucore::cpu::loader {
namespace {

constexpr std::uint64_t most_of_bytes = std::uint64_t{1} << 30;  ///< of one object in memory: offsets fit 32 bits
constexpr std::uint64_t nowhere = ~std::uint64_t{0};

/// What pages hold decides how they are protected.
enum Kind : std::size_t { CodeKind, ConstantsKind, DataKind, KindCount };

}  // namespace

Failure not_loadable(const std::string& what) {
  return Failure(ErrorCode::InvalidImage, "object code cannot be loaded: " + what);
}

class LoadedObject::Loader {
 public:
  Loader(std::string_view object, const Resolve& resolve, LoadedObject& loaded)
      : object_(object), resolve_(resolve), loaded_(loaded) {}

  Result<void> run() {
    for (const auto step :
         {&Loader::read_sections, &Loader::read_symbols, &Loader::reserve, &Loader::place, &Loader::copy,
          &Loader::relocate, &Loader::fill_slots, &Loader::protect, &Loader::publish, &Loader::keep_lines}) {
      if (Result<void> done = (this->*step)(); !done) return done;
    }
    return {};
  }

 private:
  struct Symbol {
    Elf64_Sym entry;
    std::string_view name;
    std::uint64_t slot = nowhere;  ///< of its address in the table, from the table's start
    std::uint64_t stub = nowhere;  ///< a jump to the address in the table
  };
  struct Relocation {
    Elf64_Rela entry;
    std::size_t section;
    std::size_t symbol;
  };

  template <typename T>
  Result<T> read(std::uint64_t at) const {
    if (at > object_.size() || object_.size() - at < sizeof(T)) return not_loadable("it is cut off");
    T value;
    std::memcpy(&value, object_.data() + at, sizeof value);
    return value;
  }

  Result<std::string_view> bytes_of(const Elf64_Shdr& section) const {
    if (section.sh_offset > object_.size() || section.sh_size > object_.size() - section.sh_offset)
      return not_loadable("a section is cut off");
    return object_.substr(section.sh_offset, section.sh_size);
  }

  Result<const Elf64_Shdr*> section(std::uint64_t index) const {
    if (index >= sections_.size()) return not_loadable("there is no section " + std::to_string(index));
    return &sections_[index];
  }

  Result<std::string_view> bytes_of_section(std::uint64_t index) const {
    Result<const Elf64_Shdr*> found = section(index);
    if (!found) return std::move(found).failure();
    return bytes_of(**found);
  }

  Result<void> read_sections() {
    Result<Elf64_Ehdr> header = read<Elf64_Ehdr>(0);
    if (!header) return std::move(header).failure();
    constexpr unsigned char mark[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
    if (std::memcmp(header->e_ident, mark, sizeof mark) != 0 || header->e_type != ET_REL ||
        header->e_machine != machine_.elf_number || header->e_shentsize != sizeof(Elf64_Shdr))
      return not_loadable("it is not an object for " + std::string(machine_.name));
    names_ = header->e_shstrndx;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
      Result<Elf64_Shdr> next = read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!next) return std::move(next).failure();
      sections_.push_back(*next);
    }
    return {};
  }

  Result<void> read_symbols() {
    const auto table = std::find_if(sections_.begin(), sections_.end(),
                                    [](const Elf64_Shdr& each) { return each.sh_type == SHT_SYMTAB; });
    if (table == sections_.end()) return {};
    Result<std::string_view> entries = bytes_of(*table);
    if (!entries) return std::move(entries).failure();
    Result<std::string_view> names = bytes_of_section(table->sh_link);
    if (!names) return std::move(names).failure();
    for (std::size_t at = 0; entries->size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      Symbol symbol;
      std::memcpy(&symbol.entry, entries->data() + at, sizeof symbol.entry);
      symbol.name = name_at(*names, symbol.entry.st_name);
      symbols_.push_back(symbol);
    }
    return {};
  }

  static std::string_view name_at(std::string_view names, std::size_t at) {
    const std::string_view rest = names.substr(std::min(at, names.size()));
    return rest.substr(0, rest.find('\0'));
  }

  /// Of what is loaded; others, of debug information, do not matter. `visit` may fail.
  template <typename Visit>
  Result<void> for_each_relocation(const Visit& visit) const {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type == SHT_REL) return not_loadable("its relocations are of another kind");
      if (table.sh_type != SHT_RELA) continue;
      Result<const Elf64_Shdr*> target = section(table.sh_info);
      if (!target) return std::move(target).failure();
      if (((*target)->sh_flags & SHF_ALLOC) == 0) continue;
      if (Result<void> visited = for_each_entry(table, visit); !visited) return visited;
    }
    return {};
  }

  template <typename Visit>
  Result<void> for_each_entry(const Elf64_Shdr& table, const Visit& visit) const {
    Result<std::string_view> entries = bytes_of(table);
    if (!entries) return std::move(entries).failure();
    for (std::size_t at = 0; entries->size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      Relocation relocation{.entry = {}, .section = table.sh_info, .symbol = 0};
      std::memcpy(&relocation.entry, entries->data() + at, sizeof relocation.entry);
      relocation.symbol = ELF64_R_SYM(relocation.entry.r_info);
      if (relocation.symbol >= symbols_.size()) return not_loadable("a relocation has no symbol");
      if (Result<void> visited = visit(relocation); !visited) return visited;
    }
    return {};
  }

  /// Room for what relocations need beside the sections: functions elsewhere may be too far for a call.
  Result<void> reserve() {
    return for_each_relocation([&](const Relocation& relocation) -> Result<void> {
      Symbol& symbol = symbols_[relocation.symbol];
      const LeadsTo leads_to = machine_.kind(ELF64_R_TYPE(relocation.entry.r_info)).leads_to;
      const bool calls = leads_to == LeadsTo::Call && symbol.entry.st_shndx == SHN_UNDEF;
      if (calls && symbol.stub == nowhere) {
        symbol.stub = stub_bytes_;
        stub_bytes_ += machine_.stub_bytes;
      }
      if ((calls || leads_to == LeadsTo::Slot) && symbol.slot == nowhere) {
        symbol.slot = table_bytes_;
        table_bytes_ += sizeof(void*);
      }
      return {};
    });
  }

  Result<void> place() {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    place_.assign(sections_.size(), nowhere);
    std::uint64_t end = 0;
    for (std::size_t kind = CodeKind; kind < KindCount; ++kind) {
      begin_[kind] = end = round_up(end, page);
      for (std::size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& each = sections_[i];
        if ((each.sh_flags & SHF_ALLOC) == 0 || kind_of(each) != kind) continue;
        const std::uint64_t alignment = std::max<std::uint64_t>(each.sh_addralign, 1);
        if ((each.sh_flags & SHF_TLS) != 0 || alignment > page || (alignment & (alignment - 1)) != 0)
          return not_loadable("a section cannot be placed");
        end = round_up(end, alignment);
        place_[i] = end;
        if (each.sh_size > most_of_bytes - std::min(most_of_bytes, end)) return not_loadable("it is too large");
        end += each.sh_size;
      }
      if (kind == CodeKind) stubs_ = reserve_at(end, stub_bytes_);
      if (kind == ConstantsKind) table_ = reserve_at(end, table_bytes_);
      if (kind == CodeKind) loaded_.code_bytes_ = end;
    }
    if (end > most_of_bytes) return not_loadable("it is too large");
    loaded_.bytes_ = std::max(round_up(end, page), page);
    void* const memory = mmap(nullptr, loaded_.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return not_loadable("there is no memory for it");
    loaded_.memory_ = memory;
    return {};
  }

  static std::uint64_t reserve_at(std::uint64_t& end, std::uint64_t bytes) {
    const std::uint64_t at = round_up(end, sizeof(void*));
    if (bytes != 0) end = at + bytes;
    return at;
  }

  static Kind kind_of(const Elf64_Shdr& section) {
    if ((section.sh_flags & SHF_EXECINSTR) != 0) return CodeKind;
    return (section.sh_flags & SHF_WRITE) != 0 ? DataKind : ConstantsKind;
  }

  char* at(std::uint64_t offset) const { return static_cast<char*>(loaded_.memory_) + offset; }
  static std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

  Result<void> copy() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (place_[i] == nowhere || sections_[i].sh_type == SHT_NOBITS) continue;
      Result<std::string_view> bytes = bytes_of(sections_[i]);
      if (!bytes) return std::move(bytes).failure();
      std::memcpy(at(place_[i]), bytes->data(), bytes->size());
    }
    return {};
  }

  Result<std::uint64_t> address_of(const Symbol& symbol) const {
    const Elf64_Sym& entry = symbol.entry;
    if (entry.st_shndx == SHN_ABS) return entry.st_value;
    if (entry.st_shndx == SHN_UNDEF) {
      if (void* const found = symbol.name.empty() ? nullptr : resolve_(symbol.name)) return address(found);
      return not_loadable("there is no symbol " + std::string(symbol.name));
    }
    Result<const Elf64_Shdr*> in = section(entry.st_shndx);
    if (!in) return std::move(in).failure();
    if (place_[entry.st_shndx] == nowhere || entry.st_value > (*in)->sh_size)
      return not_loadable("symbol " + std::string(symbol.name) + " is nowhere");
    return address(at(place_[entry.st_shndx] + entry.st_value));
  }

  /// What a relocation leads to: the symbol, or what stands for it near the code.
  Result<std::uint64_t> target_of(const Symbol& symbol, LeadsTo leads_to) const {
    if (leads_to == LeadsTo::Slot) return address(at(table_ + symbol.slot));
    if (leads_to == LeadsTo::Call && symbol.stub != nowhere) return address(at(stubs_ + symbol.stub));
    return address_of(symbol);
  }

  Result<void> relocate() {
    return for_each_relocation([&](const Relocation& relocation) -> Result<void> {
      const std::uint64_t type = ELF64_R_TYPE(relocation.entry.r_info);
      const RelocationKind kind = machine_.kind(type);
      if (kind.leads_to == LeadsTo::Nothing) return {};
      if (kind.leads_to == LeadsTo::Unknown)
        return not_loadable("relocation " + std::to_string(type) + " is not known here");
      Result<std::uint64_t> target = target_of(symbols_[relocation.symbol], kind.leads_to);
      if (!target) return std::move(target).failure();
      const Elf64_Shdr& changed = sections_[relocation.section];
      const std::uint64_t offset = relocation.entry.r_offset;
      if (offset > changed.sh_size || changed.sh_size - offset < kind.bytes || changed.sh_type == SHT_NOBITS)
        return not_loadable("a relocation is outside its section");
      char* const here = at(place_[relocation.section] + offset);
      const std::uint64_t value = *target + static_cast<std::uint64_t>(relocation.entry.r_addend);
      if (!machine_.apply(type, here, value, address(here))) return not_loadable("code is too far away");
      return {};
    });
  }

  Result<void> fill_slots() {
    for (const Symbol& symbol : symbols_) {
      if (symbol.slot == nowhere) continue;
      Result<std::uint64_t> value = address_of(symbol);
      if (!value) return std::move(value).failure();
      std::memcpy(at(table_ + symbol.slot), &*value, sizeof *value);
      if (symbol.stub == nowhere) continue;
      char* const stub = at(stubs_ + symbol.stub);
      machine_.write_stub(stub, address(stub), address(at(table_ + symbol.slot)));
    }
    return {};
  }

  /// All pages of a kind. None is no error, which not every system says of a call for no bytes.
  bool protect_kind(Kind kind, Kind next, int protection) const {
    const std::uint64_t bytes = begin_[next] - begin_[kind];
    return bytes == 0 || mprotect(at(begin_[kind]), bytes, protection) == 0;
  }

  Result<void> protect() {
    if (!protect_kind(CodeKind, ConstantsKind, PROT_READ | PROT_EXEC) ||
        !protect_kind(ConstantsKind, DataKind, PROT_READ)) {
      return not_loadable(errno == ENOMEM ? "this process may have no more mappings (vm.max_map_count)"
                                          : "this process may not run code that it has made");
    }
    __builtin___clear_cache(at(begin_[CodeKind]), at(begin_[ConstantsKind]));  // of what was there before
    return {};
  }

  Result<void> publish() {
    for (const std::uint64_t place : place_) loaded_.sections_.push_back(place != nowhere ? at(place) : nullptr);
    for (const Symbol& symbol : symbols_) {
      const bool is_defined = symbol.entry.st_shndx != SHN_UNDEF;
      const bool is_function = ELF64_ST_TYPE(symbol.entry.st_info) == STT_FUNC && is_defined;
      const bool is_for_others =
          ELF64_ST_BIND(symbol.entry.st_info) != STB_LOCAL && is_defined && symbol.entry.st_shndx < SHN_LORESERVE;
      if (!is_function && !is_for_others) continue;
      Result<std::uint64_t> found = address_of(symbol);
      if (!found) return std::move(found).failure();
      void* const begin = reinterpret_cast<void*>(*found);
      if (is_function) loaded_.functions_.push_back({std::string(symbol.name), begin, symbol.entry.st_size});
      if (is_for_others) loaded_.symbols_.emplace(symbol.name, begin);
    }
    return {};
  }

  /// The line table is not part of what runs. Its addresses are those of code, all else in it stays.
  Result<void> keep_lines() {
    Result<std::string_view> names = bytes_of_section(names_);
    if (!names) return std::move(names).failure();
    const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Elf64_Shdr& each) {
      return name_at(*names, each.sh_name) == ".debug_line";
    });
    if (found == sections_.end()) return {};
    Result<std::string_view> bytes = bytes_of(*found);
    if (!bytes) return std::move(bytes).failure();
    std::string table(*bytes);
    const auto index = static_cast<std::size_t>(found - sections_.begin());
    for (const Elf64_Shdr& relocations : sections_) {
      if (relocations.sh_type != SHT_RELA || relocations.sh_info != index) continue;
      Result<void> relocated =
          for_each_entry(relocations, [&](const Relocation& each) { return relocate_line(each, table); });
      if (!relocated) return relocated;
    }
    loaded_.lines_ = LineTable(std::move(table));
    return {};
  }

  Result<void> relocate_line(const Relocation& relocation, std::string& table) const {
    if (ELF64_R_TYPE(relocation.entry.r_info) != machine_.address) return {};
    Result<std::uint64_t> line = address_of(symbols_[relocation.symbol]);
    if (!line) return std::move(line).failure();
    const std::uint64_t value = *line + static_cast<std::uint64_t>(relocation.entry.r_addend);
    const std::uint64_t offset = relocation.entry.r_offset;
    if (offset > table.size() || table.size() - offset < sizeof value)
      return not_loadable("a relocation is outside its section");
    std::memcpy(table.data() + offset, &value, sizeof value);
    return {};
  }

  const Machine& machine_ = this_machine();
  std::string_view object_;
  const Resolve& resolve_;
  LoadedObject& loaded_;
  std::vector<Elf64_Shdr> sections_;
  std::uint64_t names_ = 0;  ///< the section with the names of sections
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> place_;  ///< by section, in the memory
  std::array<std::uint64_t, KindCount> begin_{};
  std::uint64_t stub_bytes_ = 0, table_bytes_ = 0;
  std::uint64_t stubs_ = 0, table_ = 0;  ///< where they start in the memory
};

Result<std::unique_ptr<LoadedObject>> LoadedObject::load(std::string_view object, const Resolve& resolve) {
  std::unique_ptr<LoadedObject> loaded(new LoadedObject);
  if (Result<void> done = Loader(object, resolve, *loaded).run(); !done) return std::move(done).failure();
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

}  // namespace cucore::cpu::loader
