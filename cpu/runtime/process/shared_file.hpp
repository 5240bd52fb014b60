// Files in memory that other processes open: by process and descriptor, through /proc. The system frees one with its
// last user, however that ends. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace cucore::cpu::runtime {

/// Where a file is found while its process keeps it open, and which file it is: processes and descriptors come and go.
struct SharedFileName {
  std::uint64_t volume, inode;
  std::int32_t process, file;

  bool is_own() const;
};

std::optional<SharedFileName> name_of_file(int file);

/// A descriptor, closed at the end.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Bytes; 0 if it is not open.
  std::uint64_t size() const;

 private:
  const int number_;
};

/// The file of that name, open for both ways; -1 if it is gone.
int open_shared_file(const SharedFileName& name);

}  // namespace cucore::cpu::runtime
