// POSIX files.
#include "src/files/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "cucore/error.hpp"

namespace cucore::detail {
namespace {

namespace fs = std::filesystem;

// Reads to the end; errno tells why not.
std::optional<std::string> read_all(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return std::nullopt;
  }
  std::string bytes;
  if (S_ISREG(status.st_mode)) bytes.reserve(static_cast<std::size_t>(status.st_size));
  char block[65536];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got == 0) return bytes;
    if (got > 0) {
      bytes.append(block, static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

std::optional<std::string> open_and_read(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> bytes;
  try {
    bytes = read_all(descriptor);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return bytes;
}

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> read_file(const fs::path& path, bool follow_links) noexcept {
  try {
    return open_and_read(path, follow_links ? 0 : O_NOFOLLOW);
  } catch (...) {  // out of memory: as good as unreadable
    return std::nullopt;
  }
}

std::string read_file_or_throw(const fs::path& path, const std::string& what) {
  std::optional<std::string> bytes = open_and_read(path, 0);
  if (bytes) return std::move(*bytes);
  const std::string reason = std::generic_category().message(errno);
  throw InvalidValueError({.call = "open",
                           .code = 301,
                           .code_name = "CUDA_ERROR_FILE_NOT_FOUND",
                           .message = "cannot read " + path.string() + " for " + what + ": " + reason,
                           .hint = "the file must be readable when the code is first used"});
}

bool create_private_folder(const fs::path& folder) noexcept {
  if (::mkdir(folder.c_str(), 0700) == 0) return true;
  if (errno == ENOENT && folder.has_parent_path() && folder.parent_path() != folder) {
    if (!create_private_folder(folder.parent_path())) return false;
    if (::mkdir(folder.c_str(), 0700) == 0) return true;
  }
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool replace_file(const fs::path& path, std::string_view bytes, unsigned mode) noexcept {
  try {
    std::string temporary = path.string() + ".XXXXXX";
    const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
    if (descriptor < 0) return false;
    const bool written = ::fchmod(descriptor, static_cast<mode_t>(mode)) == 0 && write_all(descriptor, bytes) &&
                         ::fsync(descriptor) == 0;
    const bool closed = ::close(descriptor) == 0;
    if (written && closed && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
    ::unlink(temporary.c_str());
    return false;
  } catch (...) {  // out of memory
    return false;
  }
}

unsigned default_file_mode() noexcept {
  // umask() can only be read by setting it, for all threads; /proc shows it as text as well.
  constexpr unsigned usual = 0644;
  try {
    const std::optional<std::string> status = read_file("/proc/self/status");
    const std::size_t at = status ? status->find("\nUmask:") : std::string::npos;
    if (at == std::string::npos) return usual;
    return 0666U & ~static_cast<unsigned>(std::strtoul(status->c_str() + at + 7, nullptr, 8));
  } catch (...) {  // out of memory
    return usual;
  }
}

FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), timed_out_(other.timed_out_) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(timed_out_, other.timed_out_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock FileLock::acquire(const fs::path& path, std::chrono::milliseconds limit) noexcept {
  FileLock lock;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  auto pause = std::chrono::milliseconds(1);
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);  // made by another user
  if (descriptor < 0) return lock;
  // flock() cannot wait with a time limit, so ask again at growing intervals; a compile takes tens of milliseconds or
  // more.
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const bool busy = errno == EWOULDBLOCK || errno == EINTR;
    if (!busy || std::chrono::steady_clock::now() >= deadline) {
      ::close(descriptor);
      lock.timed_out_ = busy;
      return lock;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
  lock.descriptor_ = descriptor;
  return lock;
}

}  // namespace cucore::detail
