// What the copies of one ObjectCode share.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "cucore/object_code.hpp"
#include "src/code/library_state.hpp"

namespace cucore {

namespace detail {

/// What the system says of a file, to notice that it is another one by now.
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

/// Loads code: once, now. @throws as ObjectCode::load
std::shared_ptr<LibraryState> load_code(CodeType type, const std::string& description, std::string_view bytes);

/// "ObjectCode 'saxpy' (cubin)", with the path if there is one.
std::string describe(CodeType type, const std::string& name, const std::filesystem::path& path);

}  // namespace detail

struct ObjectCode::State {
  State(CodeType t, std::string b, std::filesystem::path p, std::string n, SymbolMapping m)
      : type(t), bytes(std::move(b)), path(std::move(p)), name(std::move(n)), mapping(std::move(m)) {
    if (!path.empty()) stamp = detail::stamp_of(path);
  }

  const CodeType type;
  const std::string bytes;           // in memory; PTX without its NUL
  const std::filesystem::path path;  // in a file; then `bytes` is empty
  detail::FileStamp stamp;           // of that file when this was made
  const std::string name;
  const SymbolMapping mapping;

  std::atomic<std::uint64_t> frame_checksum = 0;  // of this object serialized, once is_summed
  std::atomic<bool> is_summed = false;

  std::mutex load_mutex;                                // held while loading, by this object's users only
  std::shared_ptr<detail::LibraryState> library;        // written once, under load_mutex
  std::atomic<detail::LibraryState*> loaded = nullptr;  // set when `library` may be read without the lock
};

}  // namespace cucore
