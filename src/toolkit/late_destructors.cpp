// The list of kept destructors, and where a loaded library keeps its reference to __cxa_atexit.
#include "src/toolkit/late_destructors.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

namespace cucore::toolkit {
namespace {

using Register = int (*)(void (*)(void*), void*, void*);

struct Late {
  void (*destructor)(void*);
  void* object;
  void* library;
  Late* next;
};

// A lock-free list, newest first, so that a thread may fork at any time.
std::atomic<Late*> newest{nullptr};

int keep(void (*destructor)(void*), void* object, void* library) {
  auto* const late = new (std::nothrow) Late{destructor, object, library, newest.load()};
  if (late == nullptr) return abi::__cxa_atexit(destructor, object, library);
  while (!newest.compare_exchange_weak(late->next, late)) {
  }
  return 0;
}

// The words of memory that were pointed at keep(): one for each of the three libraries.
std::array<std::atomic<Register*>, 8> changed{};

constexpr bool is_reference(std::uint64_t relocation) {
#if defined(__x86_64__)
  return relocation == R_X86_64_JUMP_SLOT || relocation == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return relocation == R_AARCH64_JUMP_SLOT || relocation == R_AARCH64_GLOB_DAT;
#else
  return relocation != relocation;
#endif
}

// A word that the loader made read-only after filling it in must be made writable for the change.
struct Words {
  std::uintptr_t base;
  std::uintptr_t first = 0;  // of those that are read-only
  std::uintptr_t end = 0;
};

int find_read_only(dl_phdr_info* info, std::size_t, void* data) {
  Words& words = *static_cast<Words*>(data);
  if (info->dlpi_addr != words.base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_GNU_RELRO) continue;
    words.first = words.base + part.p_vaddr;
    words.end = words.first + part.p_memsz;
  }
  return 1;
}

bool change(Register* word, Register value, const Words& words) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  const bool read_only = address >= words.first && address < words.end;
  const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page = reinterpret_cast<void*>(address & ~(page_size - 1));
  if (read_only && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref(*word).store(value);
  if (read_only) mprotect(page, page_size, PROT_READ);
  return true;
}

struct Dynamic {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  std::array<const ElfW(Rela)*, 2> relocations{};  // of calls, of other references
  std::array<std::size_t, 2> bytes{};
};

Dynamic dynamic_of(const link_map& library) {
  Dynamic dynamic;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // The loader of glibc has made these addresses absolute; others leave them as they are in the file.
    const std::uintptr_t value = entry->d_un.d_ptr;
    const std::uintptr_t address = value < library.l_addr ? library.l_addr + value : value;
    switch (entry->d_tag) {
      case DT_STRTAB:
        dynamic.strings = reinterpret_cast<const char*>(address);
        break;
      case DT_SYMTAB:
        dynamic.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_JMPREL:
        dynamic.relocations[0] = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        dynamic.bytes[0] = entry->d_un.d_val;
        break;
      case DT_RELA:
        dynamic.relocations[1] = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        dynamic.bytes[1] = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return dynamic;
}

void keep_through(Register* word, const Words& words) noexcept {
  for (std::atomic<Register*>& place : changed) {
    Register* none = nullptr;
    if (!place.compare_exchange_strong(none, word)) continue;
    if (!change(word, &keep, words)) place.store(nullptr);
    return;
  }
}

}  // namespace

void keep_late_destructors(void* library) noexcept {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return;
  Words words{.base = map->l_addr};
  dl_iterate_phdr(&find_read_only, &words);
  const Dynamic dynamic = dynamic_of(*map);
  if (dynamic.strings == nullptr || dynamic.symbols == nullptr) return;
  for (std::size_t table = 0; table < dynamic.relocations.size(); ++table) {
    const ElfW(Rela)* const relocations = dynamic.relocations[table];
    for (std::size_t i = 0; relocations != nullptr && i < dynamic.bytes[table] / sizeof *relocations; ++i) {
      const ElfW(Rela)& relocation = relocations[i];
      if (!is_reference(ELF64_R_TYPE(relocation.r_info))) continue;
      const ElfW(Sym)& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(dynamic.strings + symbol.st_name, "__cxa_atexit") == 0) {
        keep_through(reinterpret_cast<Register*>(map->l_addr + relocation.r_offset), words);
      }
    }
  }
}

void release_late_destructors() noexcept {
  for (std::atomic<Register*>& place : changed) {
    Register* const word = place.exchange(nullptr);
    // Another cucore in this process may have changed it since, for itself.
    if (word == nullptr || std::atomic_ref(*word).load() != &keep) continue;
    Dl_info where{};
    dladdr(word, &where);
    Words words{.base = reinterpret_cast<std::uintptr_t>(where.dli_fbase)};
    dl_iterate_phdr(&find_read_only, &words);
    change(word, &abi::__cxa_atexit, words);
  }
  Late* oldest = nullptr;
  for (Late* late = newest.exchange(nullptr); late != nullptr;) {
    Late* const older = late->next;
    late->next = oldest;
    oldest = late;
    late = older;
  }
  while (oldest != nullptr) {
    Late* const late = oldest;
    oldest = late->next;
    abi::__cxa_atexit(late->destructor, late->object, late->library);
    delete late;
  }
}

}  // namespace cucore::toolkit
