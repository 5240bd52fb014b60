// Names that are absent are watched through the folders they would be in: thousands of names, a few folders.
#include "src/files/file_snapshot.hpp"

#include <ctime>
#include <filesystem>

namespace cucore::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t settle_seconds = 2;

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool is_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace

FileIdentity identity_of(const struct stat& status) noexcept {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified = nanoseconds(status.st_mtim),
          .changed = nanoseconds(status.st_ctim)};
}

bool is_settled(const struct stat& status) noexcept {
  const std::time_t now = std::time(nullptr);
  return now - status.st_mtim.tv_sec > settle_seconds && now - status.st_ctim.tv_sec > settle_seconds;
}

void FileSnapshot::add_file(const std::string& path, const struct stat& status) {
  settled_ = settled_ && detail::is_settled(status);
  files_.emplace_back(path, identity_of(status));
}

void FileSnapshot::add_absent(const std::string& path) {
  const std::string& ancestor = existing_folder(fs::path(path).parent_path().string());
  auto [folder, is_new] = folders_.try_emplace(ancestor);
  if (is_new) {
    struct stat status{};
    if (::stat(ancestor.c_str(), &status) == 0 && detail::is_settled(status)) {
      folder->second.identity = identity_of(status);
    }
  }
  folder->second.absent.push_back(path);
}

const std::string& FileSnapshot::existing_folder(const std::string& folder) {
  auto [known, is_new] = existing_.try_emplace(folder);
  if (!is_new) return known->second;
  struct stat status{};
  std::string found = folder.empty() ? "." : folder;
  if (::stat(found.c_str(), &status) != 0) {
    const std::string parent = fs::path(folder).parent_path().string();
    found = parent == folder ? "/" : existing_folder(parent);
  }
  return existing_[folder] = found;
}

bool FileSnapshot::unchanged() const {
  struct stat status{};
  for (const auto& [path, identity] : files_) {
    if (::stat(path.c_str(), &status) != 0 || identity_of(status) != identity) return false;
  }
  const std::lock_guard lock(mutex_);
  for (auto& [path, folder] : folders_) {
    const bool there = ::stat(path.c_str(), &status) == 0;
    if (there && folder.identity == identity_of(status)) continue;
    for (const std::string& name : folder.absent) {
      if (is_file(name)) return false;
    }
    // Something else has changed there: remember this state of the folder from now on.
    folder.identity = there && detail::is_settled(status) ? std::optional(identity_of(status)) : std::nullopt;
  }
  return true;
}

}  // namespace cucore::detail
