// What the copies of one ObjectCode share.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "cucore/object_code.hpp"
#include "src/code/code_file.hpp"
#include "src/code/library_state.hpp"

namespace cucore {

namespace detail {

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
