// ProgramCache: compiled code kept in a folder, shared by any number of threads and processes.
//
//   ProgramCache cache({.path = "/var/cache/app"});
//   ObjectCode code = program.compile("cubin", names, {.cache = &cache});
//
// It never lies: the key covers every input - source, flags, exact architecture, name expressions, the compiler's
// version and build, and the contents of every header the source could include (what is behind #if counts too). Source
// that names a header through a macro, or that uses __DATE__ or __TIME__, cannot be keyed; it is compiled each time and
// the report says so.
// It never breaks a compile: a file that is damaged is a miss and is removed; a full disk, a missing permission or a
// lock that is held for too long only cost the compile that the cache would have saved.
//
// One file per entry: magic, version, checksum, then code, lowered names and log. Written to a temporary file, synced
// and renamed, so that a crash leaves an old entry or none. One compile per key in a process and, by a lock the
// operating system releases when its holder dies, on a host.
//
// Who can write to the folder can put code into it, so it is created with mode 0700 and its files with 0600. A folder
// that is there already keeps its mode, and its files can be read by whoever can read the folder: that is how a cache
// is shared on purpose, with the option `shared`. Entries that are symbolic links are not read.
//
// What was read is kept in memory (up to 64 MiB) and used again as long as the file is unchanged.
//
// Hosts share entries through a store (shared_store.hpp) or carry them in an archive (cache_archive.hpp).
//
// Thread-safety: all members may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/export.hpp"
#include "cucore/object_code.hpp"

namespace cucore {

class Linker;
class Program;
struct ProgramOptions;
struct CompileReport;

/// What the cache answered to one compile.
enum class CacheResult {
  not_used,     ///< no cache was given
  hit,          ///< taken from the folder
  shared,       ///< another thread of this process was compiling the same thing; its result was taken
  miss,         ///< compiled, and stored if that was possible
  uncacheable,  ///< compiled; the inputs cannot all be known
};

/// Where entries are kept beyond the folder, for other hosts. Asked for what the folder does not have, and by one
/// thread of a host at a time for one key; what a member throws, the compile throws. An entry is bytes to a store:
/// whether they are whole and of their key is checked by the cache, whether they are to be trusted is for the store to
/// know. Any thread may call.
class ProgramCacheStore {
 public:
  virtual ~ProgramCacheStore() = default;
  /// The entry, perhaps once another host has compiled it. Nothing: it is to be compiled here, and publish() or
  /// abandon() follows.
  virtual std::optional<std::string> obtain(const std::string& key) = 0;
  virtual void publish(const std::string& key, const std::string& entry) = 0;
  /// The compile failed.
  virtual void abandon(const std::string& key) = 0;
};

struct ProgramCacheOptions {
  /// Empty: $CUCORE_CACHE_DIR, else $XDG_CACHE_HOME/cucore, else ~/.cache/cucore.
  std::filesystem::path path = {};
  /// Least recently used entries go when the sum of the files passes this.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  /// Use a folder that belongs to another user, and entries written by others. Whoever can write there can put code
  /// into this process. Without it such a folder is not used and such entries are misses; those of root are accepted.
  bool shared = false;
  /// How long to wait for another process that compiles the same thing before compiling it here as well.
  std::chrono::milliseconds lock_wait = std::chrono::seconds(60);
  /// Asked after the folder, which keeps what it gives.
  std::shared_ptr<ProgramCacheStore> store = {};
};

/// Counts since the ProgramCache was made.
struct ProgramCacheStats {
  std::uint64_t hits = 0;
  std::uint64_t shared = 0;
  std::uint64_t misses = 0;
  std::uint64_t uncacheable = 0;
  std::uint64_t bad_records = 0;  ///< damaged or foreign files met; each is also a miss
  std::uint64_t stores = 0;
  std::uint64_t store_failures = 0;  ///< results that could not be written (disk full, no permission)
  std::uint64_t evictions = 0;
  std::uint64_t lock_timeouts = 0;  ///< waits that ended without the lock
  std::uint64_t store_hits = 0;     ///< of the hits, those that the store beyond the folder gave
};

/// The inputs of one compile as a key. `parts` are what it is made of, for telling why a compile missed.
struct CompileKey {
  std::string hex = {};          ///< 64 hex digits; empty if the compile is not cacheable
  std::string uncacheable = {};  ///< why, naming file and line; empty if cacheable
  std::vector<std::pair<std::string, std::string>> parts = {};  ///< (what, digest), e.g. ("header a.h", "5f…")
};

/// An entry of the folder, as listed.
struct ProgramCacheEntry {
  std::string key = {};
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point stored = {};
  std::chrono::system_clock::time_point used = {};  ///< last
};

/// What is to go. An entry goes if any of the limits says so.
struct ProgramCachePrune {
  std::optional<std::uint64_t> max_bytes = {};          ///< what is to be left at most: the least recently used go
  std::optional<std::chrono::seconds> max_age = {};     ///< since it was stored
  std::optional<std::chrono::seconds> max_unused = {};  ///< since it was last used
  bool dry_run = false;                                 ///< removes nothing
};

/// One entry.
struct CompileRecord {
  ObjectCode code;
  std::string log = {};
};

class CUCORE_API ProgramCache {
 public:
  /// Creates nothing on disk before the first store. Throws ValueError: max_bytes 0, no folder can be determined.
  explicit ProgramCache(const ProgramCacheOptions& options = {});
  ~ProgramCache();
  ProgramCache(ProgramCache&&) noexcept;
  ProgramCache& operator=(ProgramCache&&) noexcept;

  const std::filesystem::path& path() const noexcept;
  ProgramCacheStats stats() const noexcept;
  /// Entries on disk, and the sum of their sizes in bytes.
  std::size_t size() const;
  std::uint64_t size_bytes() const;
  /// Removes all entries. Failures to remove a file are ignored.
  void clear();
  /// What the folder has, the most recently used first.
  std::vector<ProgramCacheEntry> entries() const;
  /// Removes what `limits` say, and returns it.
  std::vector<ProgramCacheEntry> prune(const ProgramCachePrune& limits);

  /// The entry for `key`, or nothing; marks it as used just now. Never throws for what is on disk.
  std::optional<CompileRecord> get(const CompileKey& key);
  /// Stores an entry. False if that failed, with the counter raised.
  bool put(const CompileKey& key, const CompileRecord& record);
  /// An entry as the bytes that stores and archives carry; nothing if there is none, or it is damaged.
  std::optional<std::string> read_entry(const std::string& key);
  /// Stores such bytes. False if they are no entry of that key, or cannot be written.
  bool write_entry(const std::string& key, const std::string& entry);
  /// Removes an entry; false if there was none.
  bool erase(const CompileKey& key);
  /// Says in words why there is no entry for `key`: what differs from the last program stored under this name.
  std::string why_missing(const CompileKey& key) const;
  /// What a compile of `program` through this cache would find: "hit", "miss: " with why_missing(), or "uncacheable: "
  /// with the reason. Compiles nothing and counts nothing. Throws as Program::cache_key().
  std::string why(const Program& program, CodeType target, const std::vector<std::string>& name_expressions = {});

 private:
  friend class Program;
  friend class Linker;
  struct State;
  using KeyMaker = std::function<std::shared_ptr<const CompileKey>()>;
  CompileRecord lookup_or_compile(CompileReport& report, const KeyMaker& make_key,
                                  const std::function<CompileRecord()>& compile);

  std::shared_ptr<State> state_;
};

/// The key of a compile with these arguments. Opens NVRTC (for its version) and reads the headers that the source can
/// reach. Throws as Program and resolve_arch() do.
CUCORE_API CompileKey make_compile_key(std::string_view code, SourceType code_type, const ProgramOptions& options,
                                       CodeType target, const std::vector<std::string>& name_expressions = {});

}  // namespace cucore
