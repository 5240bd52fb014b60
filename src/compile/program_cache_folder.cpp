// Files of the cache. Everything here may meet other processes that do the same: a file can vanish or be replaced
// between any two steps, and every failure is an answer, never an exception.
#include "src/compile/program_cache_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <system_error>
#include <vector>

namespace cucore::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t stale_seconds = 3600;  // temporary files older than this belong to a process that died

const char* shelf_name(CacheFolder::Shelf shelf) { return shelf == CacheFolder::Shelf::entries ? "entries" : "names"; }

struct Found {
  fs::path path;
  struct stat status;
  bool entry;      // on the shelf of entries
  bool temporary;  // not yet renamed
};

// All files on both shelves.
std::vector<Found> list(const fs::path& root) {
  std::vector<Found> files;
  for (const auto shelf : {CacheFolder::Shelf::entries, CacheFolder::Shelf::names}) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(root / shelf_name(shelf), error), end; !error && it != end;
         it.increment(error)) {
      Found found{it->path(), {}, shelf == CacheFolder::Shelf::entries, it->path().has_extension()};
      if (::lstat(found.path.c_str(), &found.status) == 0 && S_ISREG(found.status.st_mode)) {
        files.push_back(std::move(found));
      }
    }
  }
  return files;
}

// Removes `found` unless it has been replaced since. True if it is removed.
bool remove_unchanged(const Found& found) {
  struct stat now{};
  if (::lstat(found.path.c_str(), &now) != 0) return true;
  const bool same = now.st_ino == found.status.st_ino && now.st_mtim.tv_sec == found.status.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == found.status.st_mtim.tv_nsec;
  return same && (::unlink(found.path.c_str()) == 0 || errno == ENOENT);
}

bool used_before(const Found& a, const Found& b) {
  const timespec& x = a.status.st_atim;
  const timespec& y = b.status.st_atim;
  return x.tv_sec != y.tv_sec ? x.tv_sec < y.tv_sec : x.tv_nsec < y.tv_nsec;
}

std::uint64_t size_of(const Found& found) { return static_cast<std::uint64_t>(found.status.st_size); }

}  // namespace

fs::path CacheFolder::file(Shelf shelf, const std::string& hex) const {
  return root_ / shelf_name(shelf) / hex.substr(0, 2) / hex.substr(2);
}

bool CacheFolder::make_folder(const fs::path& folder) const {
  struct stat root{};
  if (!create_private_folder(root_) || ::stat(root_.c_str(), &root) != 0) return false;
  for (fs::path step = root_; const fs::path& part : folder.lexically_relative(root_)) {
    step /= part;
    // chmod() because mkdir() takes the umask into account.
    if (::mkdir(step.c_str(), 0700) == 0) (void)::chmod(step.c_str(), root.st_mode & 07777);
  }
  std::error_code error;
  return fs::is_directory(folder, error);
}

bool CacheFolder::may_trust(const struct stat& status) const noexcept {
  return shared_ || status.st_uid == ::geteuid() || status.st_uid == 0;
}

std::string CacheFolder::why_unusable() const {
  struct stat root{};
  if (::stat(root_.c_str(), &root) != 0 || may_trust(root)) return {};
  return "the folder " + root_.string() + " belongs to another user (" + std::to_string(root.st_uid) +
         ") and is left alone; set shared to use it";
}

std::optional<FileIdentity> CacheFolder::touch(Shelf shelf, const std::string& hex) const {
  const fs::path path = file(shelf, hex);
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || !may_trust(status)) return std::nullopt;
  // The time of last use; the time of change stays, and mount options that keep access times back do not matter.
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  (void)::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
  FileIdentity identity = identity_of(status);
  identity.changed = 0;
  return identity;
}

std::optional<std::string> CacheFolder::read(Shelf shelf, const std::string& hex, FileIdentity* identity) const {
  if (!why_unusable().empty()) return std::nullopt;
  const std::optional<FileIdentity> before = touch(shelf, hex);
  if (!before) return std::nullopt;
  std::optional<std::string> bytes = read_file(file(shelf, hex), false);
  if (identity != nullptr) *identity = *before;
  return bytes;
}

bool CacheFolder::write(Shelf shelf, const std::string& hex, std::string_view bytes,
                        std::atomic<std::uint64_t>& evicted) {
  if (bytes.size() > max_bytes_ || !why_unusable().empty()) return false;
  const fs::path path = file(shelf, hex);
  if (!make_folder(path.parent_path())) return false;
  struct stat root{};
  const mode_t shared = ::stat(root_.c_str(), &root) == 0 ? root.st_mode & 0044 : 0;
  if (!replace_file(path, bytes, 0600 | shared)) return false;

  const std::lock_guard lock(size_mutex_);
  if (size_) *size_ += bytes.size();
  if (!size_ || *size_ > max_bytes_) size_ = shrink(evicted);
  return true;
}

// Looks at all files, removes those that are stale or too many, and returns the size that is left.
std::uint64_t CacheFolder::shrink(std::atomic<std::uint64_t>& evicted) {
  std::vector<Found> files = list(root_);
  std::uint64_t total = 0;
  for (const Found& found : files) total += size_of(found);
  const std::time_t now = std::time(nullptr);
  std::erase_if(files, [&](const Found& found) {
    if (!found.temporary) return false;
    if (now - found.status.st_mtim.tv_sec > stale_seconds && remove_unchanged(found)) total -= size_of(found);
    return true;
  });
  if (total <= max_bytes_) return total;
  std::sort(files.begin(), files.end(), used_before);
  // A little below the limit, so that a full cache does not look at all files at every store.
  const std::uint64_t goal = max_bytes_ - max_bytes_ / 10;
  for (const Found& found : files) {
    if (total <= goal) break;
    if (!remove_unchanged(found)) continue;
    total -= size_of(found);
    if (found.entry) ++evicted;
  }
  return total;
}

bool CacheFolder::remove(Shelf shelf, const std::string& hex) const { return ::unlink(file(shelf, hex).c_str()) == 0; }

FileLock CacheFolder::lock(const std::string& hex, std::chrono::milliseconds limit) const {
  const fs::path folder = root_ / "locks";
  if (!why_unusable().empty() || !make_folder(folder)) return {};
  return FileLock::acquire(folder / hex.substr(0, 3), limit);
}

CacheFolder::Usage CacheFolder::usage() const {
  Usage usage;
  for (const Found& found : list(root_)) {
    if (found.entry && !found.temporary) ++usage.entries;
    usage.bytes += size_of(found);
  }
  return usage;
}

std::vector<ProgramCacheEntry> CacheFolder::entries() const {
  std::vector<Found> files = list(root_);
  std::erase_if(files, [](const Found& found) { return !found.entry || found.temporary; });
  std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) { return used_before(b, a); });
  const auto point = [](const timespec& time) {
    const auto since = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(since));
  };
  std::vector<ProgramCacheEntry> entries;
  for (const Found& found : files) {
    entries.push_back({.key = found.path.parent_path().filename().string() + found.path.filename().string(),
                       .bytes = size_of(found),
                       .stored = point(found.status.st_mtim),
                       .used = point(found.status.st_atim)});
  }
  std::erase_if(entries, [](const ProgramCacheEntry& entry) { return entry.key.size() != 64; });
  return entries;
}

void CacheFolder::clear() {
  const std::lock_guard lock(size_mutex_);
  const std::time_t now = std::time(nullptr);
  for (const Found& found : list(root_)) {
    if (!found.temporary || now - found.status.st_mtim.tv_sec > stale_seconds) remove_unchanged(found);
  }
  size_.reset();
}

}  // namespace cucore::detail
