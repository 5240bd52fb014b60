#include "cpu/codegen/kernel_key.hpp"

#include <elf.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/BLAKE3.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "cpu/codegen/host_target.hpp"

namespace cucore::cpu::codegen {

namespace {

constexpr char kGnuName[] = "GNU";
constexpr std::string_view kGnu(kGnuName, sizeof kGnuName);  // the zero at the end is part of a note's name

/// The build id among the notes of one segment; empty if there is none.
std::string build_id_in(std::string_view notes, std::size_t alignment) {
  const auto round_up = [&](std::size_t size) { return (size + alignment - 1) / alignment * alignment; };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t id_at = round_up(sizeof note + note.n_namesz);
    const std::size_t end = id_at + note.n_descsz;
    if (end > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, note.n_namesz) == kGnu)
      return std::string(notes.substr(id_at, note.n_descsz));
    notes.remove_prefix(std::min(round_up(end), notes.size()));
  }
  return {};
}

struct Search {
  std::uintptr_t inside;  ///< an address in the object that is meant
  std::string build_id;
};

/// For dl_iterate_phdr: goes on until the object is found.
int look_into(dl_phdr_info* object, std::size_t, void* search_) {
  auto& search = *static_cast<Search*>(search_);
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  const bool is_meant = std::any_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && search.inside - (object->dlpi_addr + segment.p_vaddr) < segment.p_memsz;
  });
  if (!is_meant) return 0;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || !search.build_id.empty()) continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    search.build_id = build_id_in({notes, segment.p_memsz}, segment.p_align == 8 ? 8 : 4);
  }
  return 1;
}

const std::string& own_build_id() {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& id = *new std::string([] {
    Search search{.inside = reinterpret_cast<std::uintptr_t>(&look_into), .build_id = {}};
    dl_iterate_phdr(look_into, &search);
    return std::move(search.build_id);
  }());
  return id;
}

/// Parts with their lengths, so that what moves from one to the next is another key.
class Parts {
 public:
  void add(std::string_view part) {
    add(std::uint64_t{part.size()});
    hasher_.update(llvm::StringRef(part));
  }
  void add(std::uint64_t number) {
    hasher_.update(llvm::StringRef(reinterpret_cast<const char*>(&number), sizeof number));
  }
  KernelKey key() { return {.digest = hasher_.final<32>()}; }

 private:
  llvm::BLAKE3 hasher_;
};

}  // namespace

KernelKey key_of(const KernelIdentity& identity) {
  Parts parts;
  for (const std::string_view part :
       {identity.build, identity.llvm, identity.triple, identity.processor, identity.features})
    parts.add(part);
  parts.add(static_cast<std::uint64_t>(identity.form));
  for (const std::uint32_t extent : identity.block) parts.add(extent);
  parts.add(identity.kernel);
  parts.add(identity.ptx);
  return parts.key();
}

std::optional<KernelIdentity> identity_of(const ptx::Module& module, ptx::FunctionId kernel,
                                          const CompileOptions& options) {
  if (own_build_id().empty()) return std::nullopt;
  const HostProcessor& host = host_processor();
  KernelIdentity identity{.build = own_build_id(),
                          .llvm = LLVM_VERSION_STRING,
                          .triple = host.triple,
                          .processor = host.name,
                          .features = host.features,
                          .form = options.form,
                          .kernel = kernel,
                          .ptx = module.text};
  if (options.form != FormOfCode::Scalar) std::copy_n(options.block, 3, identity.block);
  return identity;
}

}  // namespace cucore::cpu::codegen
