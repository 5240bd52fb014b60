// Files as the cache and ObjectCode need them: read whole, replace atomically, lock until the process dies.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cucore::detail {

/// The whole file; nothing if it cannot be read. With `follow_links` false a symbolic link is not read.
std::optional<std::string> read_file(const std::filesystem::path& path, bool follow_links = true) noexcept;

/// As above, but a ValueError with the system's reason; `what` names what needs the file.
std::string read_file_or_throw(const std::filesystem::path& path, const std::string& what);

/// Creates `folder` and missing parents, those with mode 0700. False if it is not there afterwards.
bool create_private_folder(const std::filesystem::path& folder) noexcept;

/// Writes a new file of mode `mode` beside `path`, syncs it and renames it over `path`. After a crash the old file or
/// the new one is there, whole. False on any failure, with nothing left behind.
bool replace_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode) noexcept;

/// The mode that a new file gets by default: 0666 less what the umask takes away.
unsigned default_file_mode() noexcept;

/// An advisory lock on a file that the operating system releases when the holder's process ends, however it ends.
class FileLock {
 public:
  FileLock() noexcept = default;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  /// Waits up to `limit`. Not held on return: another holder kept it that long, or the file system has no locks.
  static FileLock acquire(const std::filesystem::path& path, std::chrono::milliseconds limit) noexcept;
  bool held() const noexcept { return descriptor_ >= 0; }
  /// Not held, because another holder had it until the limit.
  bool timed_out() const noexcept { return timed_out_; }

 private:
  int descriptor_ = -1;
  bool timed_out_ = false;
};

}  // namespace cucore::detail
