// Archives of a ProgramCache: compiled code in one signed file, for a layer of a container image or a release.
//
//   export_cache(cache, "kernels.tar", {.keys = KeyRing::from_file("keys")});     // where code is compiled
//   import_cache(cache, "kernels.tar", {.keys = KeyRing::from_file("keys")});     // where it is used
//
// An archive is a tar file (POSIX ustar) of sealed entries, laid out as a FolderStore lays them out: unpacked it is
// such a store, and a store packed by tar is such an archive. Equal entries make equal archives.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cucore/export.hpp"
#include "cucore/program_cache.hpp"
#include "cucore/shared_store.hpp"

namespace cucore {

struct ArchiveOptions {
  std::optional<KeyRing> keys = {};  ///< as in SharedStoreOptions
  bool allow_unsigned = false;
  std::vector<std::string> only = {};  ///< keys of the entries wanted; empty: all
};

/// Writes an archive and returns how many entries it has. The file is there whole or not at all. Entries of `only` that
/// the cache lacks are an error. Throws ValueError: those, no keys, a file that cannot be written.
CUCORE_API std::size_t export_cache(ProgramCache& cache, const std::filesystem::path& archive,
                                    const ArchiveOptions& options = {});

struct ArchiveImport {
  std::size_t imported = 0;
  std::size_t already_there = 0;
  /// Keys of entries that were not taken, and why: not signed with a known key, damaged, of another format; or
  /// the folder cannot be written.
  std::vector<std::pair<std::string, std::string>> rejected = {};
};

/// Puts the entries of an archive into the cache's folder. They are of the compiler that wrote them, whichever is here:
/// its build is a part of their keys. Throws ValueError: no keys, a file that is no archive or that is cut, from which
/// nothing is taken then.
CUCORE_API ArchiveImport import_cache(ProgramCache& cache, const std::filesystem::path& archive,
                                      const ArchiveOptions& options = {});

}  // namespace cucore
