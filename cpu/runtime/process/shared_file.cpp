// Files of other processes: see shared_file.hpp.
#include "cpu/runtime/process/shared_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace cucore::cpu::runtime {

bool SharedFileName::is_own() const { return process == getpid(); }

std::optional<SharedFileName> name_of_file(int file) {
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) return std::nullopt;
  return SharedFileName{status.st_dev, status.st_ino, getpid(), file};
}

File::~File() {
  if (number_ >= 0) close(number_);
}

std::uint64_t File::size() const {
  struct stat status{};
  return number_ >= 0 && fstat(number_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

int open_shared_file(const SharedFileName& name) {
  if (name.process <= 0 || name.file < 0) return -1;
  const std::string path = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  const auto is_it = [&name](const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_dev == name.volume && status.st_ino == name.inode;
  };
  // Checked before it is opened, since opening some kinds of files may block or have effects; and after, since it may
  // have changed.
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !is_it(status)) return -1;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return -1;
  if (fstat(file, &status) == 0 && is_it(status)) return file;
  close(file);
  return -1;
}

}  // namespace cucore::cpu::runtime
