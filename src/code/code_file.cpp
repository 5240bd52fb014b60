// Reading the file of an ObjectCode: see code_file.hpp.
#include "src/code/code_file.hpp"

#include <sys/stat.h>

#include "cucore/error.hpp"
#include "src/files/files.hpp"
#include "src/formats/loadable_code.hpp"

namespace cucore::detail {

FileStamp stamp_of(const std::filesystem::path& path) noexcept {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {.exists = true,
          .size = static_cast<std::uint64_t>(status.st_size),
          .inode = status.st_ino,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

std::string read_code_file(CodeType type, const std::filesystem::path& path, const FileStamp& made,
                           const std::string& description) {
  const FileStamp now = stamp_of(path);
  if (made.exists && now.exists && now != made) {
    throw ValueError({.call = "open",
                      .message = "the file of " + description + " has changed since the ObjectCode was made (" +
                                 std::to_string(made.size) + " bytes then, " + std::to_string(now.size) + " now)",
                      .hint = "make a new ObjectCode from the file as it is now, or make it from the bytes"});
  }
  std::string bytes = read_file_or_throw(path, description);
  bytes.resize(without_end(type, bytes).size());
  return bytes;
}

}  // namespace cucore::detail
