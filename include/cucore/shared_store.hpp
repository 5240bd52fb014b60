// SharedStore: where hosts share compiled code, behind ProgramCache(.store = ...). docs/cache-format.md has the format.
//
//   auto store = std::make_shared<SharedStore>(std::make_shared<FolderStore>("/nfs/kernels"),
//                                              SharedStoreOptions{.keys = KeyRing::from_file("/etc/app/keys")});
//   ProgramCache cache({.store = store});
//
// A compile asks memory, then the folder of this host, then the store. A store is trusted with nothing: every entry is
// signed, and one without a valid signature is a miss. One host compiles a key, the others wait for it. A store that is
// slow or dead costs a compile `compile_limit` once, and is left alone for a while after that.
//
// Thread-safety: all members may be called from any thread; after fork() the child may go on using them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cucore/export.hpp"
#include "cucore/program_cache.hpp"

namespace cucore {

/// Secret keys by id. The first one signs; an entry signed by any of them is taken, so that a new key is put first, and
/// the old one removed when nobody signs with it any more.
class CUCORE_API KeyRing {
 public:
  /// Throws ValueError: no key, an id that is empty, longer than 64 bytes or not printable, a key under 16 bytes.
  explicit KeyRing(std::vector<std::pair<std::string, std::string>> keys);
  /// The keys of a file with one `ID HEX` a line; `#` begins a comment. Throws ValueError that names file and line.
  static KeyRing from_file(const std::filesystem::path& path);

  const std::string& signer() const noexcept { return keys_.front().first; }
  /// Null if there is no key of that id.
  const std::string* find(std::string_view id) const noexcept;

 private:
  std::vector<std::pair<std::string, std::string>> keys_;
};

/// Bytes by name; names are of letters, digits, dots and hyphens. Any member may throw, be slow, or know of another
/// host's change late: its user copes. Any thread may call, several at once.
class CUCORE_API Store {
 public:
  virtual ~Store() = default;
  virtual std::optional<std::string> get(const std::string& name) = 0;
  /// Stores whole, or not at all.
  virtual void put(const std::string& name, std::string_view bytes) = 0;
  /// Removes what is there, if anything is.
  virtual void remove(const std::string& name) = 0;
  virtual std::vector<std::string> list() = 0;
  virtual bool exists(const std::string& name) { return get(name).has_value(); }
  /// Takes the lease of that name, or renews it: whether `token` holds it now. It ends `lasts` after it was last
  /// renewed. A store that has no leases says yes to all: each host compiles for itself then.
  virtual bool lease(const std::string& name, const std::string& token, std::chrono::milliseconds lasts);
  /// Ends the lease if `token` holds it.
  virtual void release(const std::string& name, const std::string& token);
};

/// A folder on a file system that hosts share, NFS too: files are renamed into place; nothing is locked. It is made
/// with mode 0700 if it is not there.
class CUCORE_API FolderStore final : public Store {
 public:
  explicit FolderStore(const std::filesystem::path& path);
  ~FolderStore() override;
  const std::filesystem::path& path() const noexcept;

  std::optional<std::string> get(const std::string& name) override;
  void put(const std::string& name, std::string_view bytes) override;
  void remove(const std::string& name) override;
  std::vector<std::string> list() override;
  bool exists(const std::string& name) override;
  bool lease(const std::string& name, const std::string& token, std::chrono::milliseconds lasts) override;
  void release(const std::string& name, const std::string& token) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct SharedStoreOptions {
  /// What entries are signed with. Nothing: those of the file that $CUCORE_CACHE_KEYS names; `unsigned` there is
  /// allow_unsigned.
  std::optional<KeyRing> keys = {};
  /// Take and write entries without a signature, for a store to which only those can write who may run code here.
  bool allow_unsigned = false;
  std::chrono::milliseconds call_limit = std::chrono::milliseconds(250);  ///< of one call
  std::chrono::milliseconds compile_limit = std::chrono::seconds(1);      ///< of all calls of one compile together
  /// How long after the death of a host that compiles another begins.
  std::chrono::milliseconds lease = std::chrono::seconds(5);
  /// How long to wait for another host's compile at all.
  std::chrono::milliseconds wait = std::chrono::seconds(60);
};

/// Counts since the SharedStore was made.
struct SharedStoreStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;  ///< compiles that it could not save, for whatever reason
  std::uint64_t waits = 0;   ///< for another host's compile
  std::uint64_t wait_timeouts = 0;
  std::uint64_t rejected = 0;  ///< entries without a valid signature; each is no hit
  std::uint64_t published = 0;
  std::uint64_t fenced = 0;  ///< results not stored since the lease had gone to another, who stored one
  std::uint64_t errors = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t skipped = 0;  ///< calls not made since the store had just failed or had cost enough
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::chrono::microseconds time = {};  ///< spent in calls
};

class CUCORE_API SharedStore final : public ProgramCacheStore {
 public:
  /// Throws ValueError: no keys and not allow_unsigned, a file of keys that cannot be read.
  explicit SharedStore(std::shared_ptr<Store> store, SharedStoreOptions options = {});
  ~SharedStore() override;

  SharedStoreStats stats() const;
  std::optional<std::string> obtain(const std::string& key) override;
  void publish(const std::string& key, const std::string& entry) override;
  void abandon(const std::string& key) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cucore
