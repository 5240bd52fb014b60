// The build ids of both libraries and the processor's features: see host_identity.hpp.
#include "cpu/loader/cache/host_identity.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <glob.h>
#include <sys/auxv.h>

#include <fstream>
#include <set>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "cpu/abi/alignment.hpp"

namespace cucore::cpu::loader {
namespace {

constexpr char gnu_name[] = "GNU";
constexpr std::string_view gnu(gnu_name, sizeof gnu_name);  // the zero at the end is part of a note's name
constexpr std::size_t most_notes = 4096;                    ///< bytes

/// The build id among the notes of one segment; empty if there is none.
std::string build_id_in(std::string_view notes, std::size_t alignment) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t id_at = round_up(sizeof note + note.n_namesz, alignment);
    const std::size_t end = id_at + note.n_descsz;
    if (end > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, note.n_namesz) == gnu)
      return std::string(notes.substr(id_at, note.n_descsz));
    notes.remove_prefix(std::min(round_up(end, alignment), notes.size()));
  }
  return {};
}

struct Search {
  std::uintptr_t inside;  ///< an address in the object that is meant
  OwnLibrary found;
};

/// For dl_iterate_phdr: goes on until the object is found.
int look_into(dl_phdr_info* object, std::size_t, void* search_) {
  auto& search = *static_cast<Search*>(search_);
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  const bool is_meant = std::any_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && search.inside - (object->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
  });
  if (!is_meant) return 0;
  search.found.file = object->dlpi_name;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || !search.found.build_id.empty()) continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    search.found.build_id = build_id_in({notes, segment.p_memsz}, segment.p_align == 8 ? 8 : 4);
  }
  return 1;
}

template <typename T>
bool read_at(int file, std::uint64_t offset, T* to, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  return pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::string build_id_in_file(int file) {
  ElfW(Ehdr) header;
  if (!read_at(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || !read_at(file, header.e_phoff, segments.data(), segments.size()))
    return {};
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > most_notes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read_at(file, segment.p_offset, notes.data(), notes.size())) return {};
    if (std::string id = build_id_in(notes, segment.p_align == 8 ? 8 : 4); !id.empty()) return id;
  }
  return {};
}

#if defined(__x86_64__)
/// Which registers the system saves: without that the processor's wide vectors cannot be used.
std::uint64_t enabled_state() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

class IdentityWords {
 public:
  void add(const void* words, std::size_t bytes) { text_.append(static_cast<const char*>(words), bytes); }

  /// A leaf of what the processor tells of itself; `ebx` of some is of the core that is asked.
  void add_leaf(std::uint32_t leaf, std::uint32_t part, bool with_ebx = true) {
    std::uint32_t words[4] = {};
    __get_cpuid_count(leaf, part, &words[0], &words[1], &words[2], &words[3]);
    if (!with_ebx) words[1] = 0;
    add(words, sizeof words);
  }

  std::string text_;
};

/// Whether this processor has all of a level, as the psABI of x86-64 lists it.
bool has_level(std::string_view level) {
  __builtin_cpu_init();
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2") != 0;
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3") != 0;
  return level == "x86-64-v4" && __builtin_cpu_supports("x86-64-v4") != 0;
}

std::string read_identity() {
  IdentityWords words;
  words.add_leaf(0, 0);
  words.add_leaf(1, 0, false);
  for (const std::uint32_t part : {0U, 1U, 2U}) words.add_leaf(7, part);
  words.add_leaf(0xd, 1, false);
  words.add_leaf(0x14, 0);
  words.add_leaf(0x19, 0);
  words.add_leaf(0x24, 0);
  words.add_leaf(0x80000001, 0, false);
  words.add_leaf(0x80000008, 0);
  std::uint32_t leaf[4] = {};
  if (__get_cpuid(1, &leaf[0], &leaf[1], &leaf[2], &leaf[3]) != 0 && (leaf[2] & bit_OSXSAVE) != 0) {
    const std::uint64_t state = enabled_state();
    words.add(&state, sizeof state);
  }
  return words.text_;
}
#elif defined(__aarch64__)
/// What the system lets programs use, and which kinds of cores there are: LLVM chooses by both.
std::string read_identity() {
  std::string text = "aarch64";
  for (const unsigned long kind : {AT_HWCAP, AT_HWCAP2}) text += ' ' + std::to_string(getauxval(kind));
  std::set<std::string> kinds;
  glob_t cores{};
  if (glob("/sys/devices/system/cpu/cpu*/regs/identification/midr_el1", 0, nullptr, &cores) == 0) {
    for (const char* const file : std::span(cores.gl_pathv, cores.gl_pathc)) {
      std::string kind;
      std::getline(std::ifstream(file) >> std::ws, kind);
      kinds.insert(kind);
    }
  }
  globfree(&cores);
  for (const std::string& kind : kinds) text += ' ' + kind;
  return text;
}

bool has_level(std::string_view) { return false; }  // levels are x86-64's
#endif

const std::string& identity_of_processor() {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& identity = *new std::string(read_identity());
  return identity;
}

}  // namespace

std::string_view host_identity(std::string_view march) {
  return has_level(march) ? std::string_view("any of the level") : identity_of_processor();
}

const OwnLibrary& own_library() {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& library = *new OwnLibrary([] {
    Search search{.inside = reinterpret_cast<std::uintptr_t>(&look_into), .found = {}};
    dl_iterate_phdr(look_into, &search);
    if (search.found.file.empty()) search.found.file = "/proc/self/exe";  // it is linked into the program
    return std::move(search.found);
  }());
  return library;
}

std::string build_id_of_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string id = build_id_in_file(file);
  close(file);
  return id;
}

}  // namespace cucore::cpu::loader
