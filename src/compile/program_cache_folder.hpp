// The folder of a ProgramCache: files by key, their sizes, and which go first.
//
//   entries/ab/cdef…   one record per key (hex of SHA-256); a frame (src/formats/frame.hpp)
//   names/ab/cdef…     parts of the last key stored per program name, for telling why a compile missed
//   locks/abc          empty; locked while a key that begins so is being compiled. Never removed: a lock on a removed
//                      file excludes nobody.
//
// New folders and files get the read bits of the cache's own folder, which is made with mode 0700 if it is not there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/program_cache.hpp"
#include "src/files/file_snapshot.hpp"
#include "src/files/files.hpp"

namespace cucore::detail {

/// Where a ProgramCache is if nothing else is said: $CUCORE_CACHE_DIR, else $XDG_CACHE_HOME/cucore, else
/// ~/.cache/cucore. @throws ValueError none of them is set
std::filesystem::path default_cache_path();

class CacheFolder {
 public:
  CacheFolder(std::filesystem::path root, std::uint64_t max_bytes, bool shared)
      : root_(std::move(root)), max_bytes_(max_bytes), shared_(shared) {}

  const std::filesystem::path& root() const noexcept { return root_; }

  enum class Shelf { entries, names };
  /// `hex` has 64 digits. Reading does not follow symbolic links, takes nothing of a foreign owner unless the cache is
  /// shared, and marks the file as used now. `identity` is that of the file without its time of inode change, which
  /// marking changes.
  std::optional<std::string> read(Shelf shelf, const std::string& hex, FileIdentity* identity = nullptr) const;
  /// Marks the file as used now and returns its identity as read() does; nothing if read() would give nothing.
  std::optional<FileIdentity> touch(Shelf shelf, const std::string& hex) const;
  /// Why the folder is left alone, in words; empty if it is not.
  std::string why_unusable() const;
  /// False if it could not be written; otherwise `evicted` is raised by the number of entries that made room.
  bool write(Shelf shelf, const std::string& hex, std::string_view bytes, std::atomic<std::uint64_t>& evicted);
  bool remove(Shelf shelf, const std::string& hex) const;
  /// Waits, up to `limit`, for another that compiles `hex`.
  FileLock lock(const std::string& hex, std::chrono::milliseconds limit) const;

  struct Usage {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;  ///< of both shelves
  };
  Usage usage() const;
  /// The most recently used first.
  std::vector<ProgramCacheEntry> entries() const;
  void clear();

 private:
  std::filesystem::path file(Shelf shelf, const std::string& hex) const;
  bool make_folder(const std::filesystem::path& folder) const;
  bool may_trust(const struct stat& status) const noexcept;
  std::uint64_t shrink(std::atomic<std::uint64_t>& evicted);

  std::filesystem::path root_;
  std::uint64_t max_bytes_;
  bool shared_;
  std::mutex size_mutex_;
  std::optional<std::uint64_t> size_;  // of both shelves as far as this process knows; nothing: not looked yet
};

}  // namespace cucore::detail
