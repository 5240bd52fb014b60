// Files of compiled kernels, which appear whole or not at all: see kernel_cache.hpp.
#include "cpu/loader/cache/kernel_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace cucore::cpu::loader {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{64} << 20;
constexpr std::string_view ending = ".kernel";
constexpr std::string_view unfinished_prefix = "unfinished-";
constexpr std::time_t unfinished_for = 3600;  ///< seconds after which its writer is assumed dead

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// Whose files are taken from a folder.
enum class Owner : std::uint8_t { User, UserOrRoot };

/// Whether only those (and root) can have written what has that status.
bool is_of(Owner owner, const struct stat& status) {
  const bool is_right = status.st_uid == geteuid() || (owner == Owner::UserOrRoot && status.st_uid == 0);
  return is_right && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Opened for each use: a number that is kept could become another file's when the program closes what it knows not.
Descriptor open_folder(const std::string& path, Owner owner) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!folder || fstat(folder.get(), &status) != 0 || !is_of(owner, status)) return Descriptor(-1);
  return folder;
}

Descriptor make_folder(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    mkdir(path.substr(0, at).c_str(), S_IRWXU);
  mkdir(path.c_str(), S_IRWXU);
  return open_folder(path, Owner::User);
}

bool read_all(int file, std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = read(file, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Past a limit on the size of files a write does not fail but ends the process.
bool may_write(std::size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/// A name that no other process chooses, on another machine neither. Empty if the system has no random bytes yet.
std::string unfinished_name() {
  std::uint64_t random[2];
  if (getrandom(random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) return {};
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(random[0]),
                static_cast<unsigned long long>(random[1]));
  return std::string(unfinished_prefix) + digits;
}

bool is_file_name(std::string_view name) {
  return name.size() == 2 * sizeof(KernelKey::digest) + ending.size() && name.ends_with(ending) &&
         name.find_first_not_of("0123456789abcdef") == name.size() - ending.size();
}

std::string absolute(const std::string& folder) {
  std::error_code ignored;
  std::string path = std::filesystem::absolute(folder, ignored).lexically_normal().string();
  // With a slash at its end, the name of a link would mean what the link leads to.
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::optional<std::string> read_in(const std::string& path, Owner owner, const KernelKey& key) {
  const Descriptor folder = open_folder(path, owner);
  if (!folder) return std::nullopt;
  // Not to wait for the other end, should it be a pipe.
  const Descriptor file(
      openat(folder.get(), KernelCache::file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !is_of(owner, status) || std::cmp_greater(status.st_size, largest_file))
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (!read_all(file.get(), bytes)) return std::nullopt;
  if (owner == Owner::User) futimens(file.get(), nullptr);  // when it was used last
  return bytes;
}

}  // namespace

KernelCache::KernelCache(const std::string& folder, std::uint64_t most_bytes, const std::string& shipped)
    : folder_(absolute(folder)), shipped_(absolute(shipped)), most_bytes_(most_bytes) {}

std::string KernelCache::file_name(const KernelKey& key) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name;
  for (const std::uint8_t byte : key.digest) {
    name += digits[byte / 16];
    name += digits[byte % 16];
  }
  return name.append(ending);
}

std::optional<KernelRecord> KernelCache::find(const KernelKey& key) const {
  std::optional<std::string> bytes = read_in(folder_, Owner::User, key);
  if (std::optional<KernelRecord> own = bytes ? decode(key, *bytes) : std::nullopt) return own;
  bytes = read_in(shipped_, Owner::UserOrRoot, key);
  return bytes ? decode(key, *bytes) : std::nullopt;
}

void KernelCache::store(const KernelKey& key, const KernelRecord& record) const { write(key, encode(key, record)); }

std::optional<std::string> KernelCache::read(const KernelKey& key) const {
  std::optional<std::string> own = read_in(folder_, Owner::User, key);
  return own ? own : read_in(shipped_, Owner::UserOrRoot, key);
}

void KernelCache::write(const KernelKey& key, std::string_view bytes) const {
  if (bytes.size() > std::min(largest_file, most_bytes_) || !may_write(bytes.size())) return;
  const std::string unfinished = unfinished_name();
  if (unfinished.empty()) return;
  const Descriptor folder = make_folder(folder_);
  if (!folder) return;
  Descriptor file(openat(folder.get(), unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         S_IRUSR | S_IWUSR));
  if (!file) return;
  const bool is_whole = write_all(file.get(), bytes) && file.close();
  if (!is_whole || renameat(folder.get(), unfinished.c_str(), folder.get(), file_name(key).c_str()) != 0) {
    unlinkat(folder.get(), unfinished.c_str(), 0);
    return;
  }
  // Reading the folder takes longer than writing one file: now and then is enough. Digests are as good as dice.
  if (key.digest[0] % 16 == 0 || bytes.size() > most_bytes_ / 64) evict(folder.get());
}

void KernelCache::evict(int folder) const {
  struct Entry {
    std::string name;
    std::uint64_t size;
    timespec used;
  };
  const auto close_folder = [](DIR* listing) { closedir(listing); };
  Descriptor again(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return;
  const std::unique_ptr<DIR, decltype(close_folder)> listing(fdopendir(again.get()), close_folder);
  if (!listing) return;
  again.release();  // closed with the listing

  const std::time_t now = std::time(nullptr);
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  while (const dirent* const item = readdir(listing.get())) {
    const std::string_view name = item->d_name;
    const bool is_unfinished = name.starts_with(unfinished_prefix);
    struct stat status{};
    if (!is_unfinished && !is_file_name(name)) continue;  // not a file of this cache
    if (fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    if (is_unfinished) {
      if (now - status.st_mtime > unfinished_for) unlinkat(folder, item->d_name, 0);
      continue;
    }
    entries.push_back(
        {.name = std::string(name), .size = static_cast<std::uint64_t>(status.st_size), .used = status.st_mtim});
    total += entries.back().size;
  }
  if (total <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= most_bytes_ - most_bytes_ / 4) break;  // room for some time
    if (unlinkat(folder, entry.name.c_str(), 0) == 0) total -= entry.size;
  }
}

}  // namespace cucore::cpu::loader
