// The file that an ObjectCode was made from: read when its bytes are needed, and only if it is still the same one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cucore/code_type.hpp"

namespace cucore::detail {

/// What the system says of a file, to notice when it has been replaced.
struct FileStamp {
  bool exists = false;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::filesystem::path& path) noexcept;

/// The bytes of code in a file, PTX without its NUL. Throws ValueError if it cannot be read, or has changed since
/// `made`.
std::string read_code_file(CodeType type, const std::filesystem::path& path, const FileStamp& made,
                           const std::string& description);

}  // namespace cucore::detail
