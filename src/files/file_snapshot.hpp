// What the file system said of files when they were read: enough to see later, with one stat() per file, that reading
// them again would give the same.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cucore::detail {

/// Tells one state of a file from another. Includes the inode's change time, since programs can set the modification
/// time.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds
  std::int64_t changed = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const struct stat& status) noexcept;

/// Whether a later change must show in the identity: false for what has changed just now (or, by a clock that jumped,
/// will have), since the file system's clock ticks slowly.
bool is_settled(const struct stat& status) noexcept;

/// Files that were read and names under which there was none. Thread-safety: unchanged() may be called from any thread.
class FileSnapshot {
 public:
  void add_file(const std::string& path, const struct stat& status);
  /// There is no file (or a folder) at `path`.
  void add_absent(const std::string& path);
  /// False if a file had changed so recently that another change may not show: then the snapshot is of no use.
  bool is_settled() const noexcept { return settled_; }
  /// Whether all files are unchanged and no absent name exists now. Costs a stat() for each file and for each
  /// folder of absent names.
  bool unchanged() const;

 private:
  // Absent names below one existing folder; while the folder's identity is unchanged, none can have appeared.
  struct Folder {
    std::optional<FileIdentity> identity;  // nothing: not settled, look at every name
    std::vector<std::string> absent;
  };
  const std::string& existing_folder(const std::string& folder);

  bool settled_ = true;
  std::vector<std::pair<std::string, FileIdentity>> files_;
  std::map<std::string, std::string> existing_;  // folder to its nearest existing ancestor
  mutable std::mutex mutex_;                     // guards the identities below
  mutable std::map<std::string, Folder> folders_;
};

}  // namespace cucore::detail
