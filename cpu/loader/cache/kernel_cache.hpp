// Compiled kernels in a folder, a file each, that processes share: what one has compiled, the next one finds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cpu/loader/cache/kernel_record.hpp"

namespace cucore::cpu::loader {

/// Nothing here fails: a file that is not whole, or not what its name says, is not found, and what cannot be written is
/// not kept. Code is only taken from a folder that belongs to this process's user, that no other user may write to and
/// that is not a symbolic link, and from files of that user. Files appear whole, by a rename. When they are together
/// more than the bound, those not used for the longest time go. Thread-safe.
///
/// Beside it there may be a shipped folder, as a container image brings it: what the first one lacks is looked for
/// there, nothing is written to it, and it and its files may also be root's.
class KernelCache {
 public:
  static constexpr std::uint64_t most_of_bytes = std::uint64_t{256} << 20;

  /// Touches nothing yet. The folder is made, for its user alone, when the first kernel goes into it.
  /// Either folder may be empty: none.
  explicit KernelCache(const std::string& folder, std::uint64_t most_bytes = most_of_bytes,
                       const std::string& shipped = {});

  std::optional<KernelRecord> find(const KernelKey& key) const;
  void store(const KernelKey& key, const KernelRecord& record) const;

  /// The same for what is no kernel: the bytes of a file as they are (cache_file.hpp).
  std::optional<std::string> read(const KernelKey& key) const;
  void write(const KernelKey& key, std::string_view bytes) const;

  /// The file that holds that key.
  static std::string file_name(const KernelKey& key);

 private:
  void evict(int folder) const;

  std::string folder_;
  std::string shipped_;
  std::uint64_t most_bytes_;
};

}  // namespace cucore::cpu::loader
