// ProgramCache: records in frames, one compile per key in this process (a future) and on this host (a file lock).
#include "cucore/program_cache.hpp"

#include <unistd.h>

#include <atomic>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "src/code/object_code_payload.hpp"
#include "src/compile/program_cache_folder.hpp"
#include "src/formats/frame.hpp"
#include "src/formats/sha256.hpp"
#include "src/settings/settings.hpp"

namespace cucore {

std::filesystem::path detail::default_cache_path() {
  namespace fs = std::filesystem;
  if (const fs::path path = setting(Setting::cache_dir); !path.empty()) return path;
  if (const fs::path path = setting(Setting::xdg_cache_home); path.is_absolute()) return path / "cucore";
  if (const fs::path path = setting(Setting::home); !path.empty()) return path / ".cache" / "cucore";
  throw ValueError({.call = "ProgramCache",
                    .message = "no folder is given, and none of CUCORE_CACHE_DIR, XDG_CACHE_HOME and HOME is set",
                    .hint = "set path, or one of these variables"});
}

namespace {

namespace fs = std::filesystem;
using detail::CacheFolder;

// An equal value that shares nothing with `record`, as if from a compile of its own.
CompileRecord fresh(const CompileRecord& record) {
  return {.code = ObjectCode::from_bytes(record.code.code_type(), record.code.code(), record.code.name(),
                                         record.code.symbol_mapping()),
          .log = record.log};
}

constexpr int cancelled = 16;  // NVRTC_ERROR_CANCELLED

constexpr std::size_t most_remembered_bytes = std::size_t{64} << 20;

std::size_t bytes_of(const CompileRecord& record) { return record.code.code().size() + record.log.size() + 512; }

// Where the parts of the last key for a program of this name, target and kind are kept.
std::string name_key(const CompileKey& key) {
  detail::Sha256 hash;
  for (const auto& [label, digest] : key.parts) {
    if (label == "name of the program" || label == "target" || label == "kind of source") hash.update(digest);
  }
  return detail::to_hex(hash.finish());
}

// An entry is the same bytes in a file and in a store.
std::string entry_bytes(const CompileKey& key, const CompileRecord& record) {
  detail::FrameWriter entry(detail::FrameKind::cache_entry);
  entry.text(key.hex);
  detail::write_object_code(entry, record.code);
  entry.text(record.log);
  return entry.finish();
}

// Throws ValueError for what is not an entry of that key.
CompileRecord entry_record(const CompileKey& key, const std::string& bytes) {
  detail::FrameReader reader(bytes, detail::FrameKind::cache_entry);
  if (reader.text() != key.hex) detail::throw_bad_frame("the file is stored under the name of another entry");
  CompileRecord record{.code = detail::read_object_code(reader)};
  record.log = reader.text();
  reader.finish();
  return record;
}

bool is_entry(const CompileKey& key, const std::string& bytes) {
  try {
    (void)entry_record(key, bytes);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

bool is_key(const CompileKey& key) { return detail::is_hex_of_digest(key.hex); }

}  // namespace

struct ProgramCache::State {
  State(fs::path path, const ProgramCacheOptions& options)
      : folder(std::move(path), options.max_bytes, options.shared),
        lock_wait(options.lock_wait),
        store(options.store) {}

  CacheFolder folder;
  std::chrono::milliseconds lock_wait;
  std::shared_ptr<ProgramCacheStore> store;

  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> shared = 0;
  std::atomic<std::uint64_t> misses = 0;
  std::atomic<std::uint64_t> uncacheable = 0;
  std::atomic<std::uint64_t> bad_records = 0;
  std::atomic<std::uint64_t> stores = 0;
  std::atomic<std::uint64_t> store_failures = 0;
  std::atomic<std::uint64_t> evictions = 0;
  std::atomic<std::uint64_t> lock_timeouts = 0;
  std::atomic<std::uint64_t> store_hits = 0;

  std::optional<CompileRecord> read(const CompileKey& key, std::string* damage = nullptr);
  bool write(const CompileKey& key, const CompileRecord& record);
  bool write(const CompileKey& key, const std::string& entry);
  bool write_entry(const std::string& hex, const std::string& entry);
  std::optional<CompileRecord> obtain(const CompileKey& key);
  CompileRecord compile_for_all(const CompileKey& key, const KeyMaker& make_key,
                                const std::function<CompileRecord()>& compile, std::string& why);
  std::string why_missing(const CompileKey& key) const;

  // Compiles under way in this process. Those of a parent process do not count after fork().
  struct Flight {
    std::shared_future<CompileRecord> result;
    pid_t process;
  };
  std::mutex flights_mutex;
  std::map<std::string, Flight> flights;

  // The result of the compile of that key that goes on in this process; if there is none, `mine` is it from now on.
  std::optional<std::shared_future<CompileRecord>> join_or_lead(const std::string& hex,
                                                                const std::shared_future<CompileRecord>& mine) {
    const std::lock_guard lock(flights_mutex);
    const auto flight = flights.find(hex);
    if (flight != flights.end() && flight->second.process == ::getpid()) return flight->second.result;
    flights.insert_or_assign(hex, Flight{mine, ::getpid()});
    return std::nullopt;
  }

  // Records that were read, as long as their files stay as they were; the newest first.
  struct Remembered {
    std::string hex;
    detail::FileIdentity file;
    CompileRecord record;
  };
  std::mutex remembered_mutex;
  std::list<Remembered> remembered;
  std::unordered_map<std::string, std::list<Remembered>::iterator> remembered_by_hex;
  std::size_t remembered_bytes = 0;

  std::optional<CompileRecord> recall(const CompileKey& key);
  void remember(const CompileKey& key, const detail::FileIdentity& file, const CompileRecord& record);
  void forget(const std::string& hex);

  CompileRecord lead(CompileReport& report, const CompileKey& key, const KeyMaker& make_key,
                     const std::function<CompileRecord()>& compile);
};

std::optional<CompileRecord> ProgramCache::State::recall(const CompileKey& key) {
  const std::lock_guard lock(remembered_mutex);
  const auto known = remembered_by_hex.find(key.hex);
  if (known == remembered_by_hex.end()) return std::nullopt;
  if (folder.touch(CacheFolder::Shelf::entries, key.hex) == known->second->file) {
    remembered.splice(remembered.begin(), remembered, known->second);
    return fresh(known->second->record);
  }
  forget(key.hex);
  return std::nullopt;
}

// With remembered_mutex held.
void ProgramCache::State::forget(const std::string& hex) {
  const auto known = remembered_by_hex.find(hex);
  if (known == remembered_by_hex.end()) return;
  remembered_bytes -= bytes_of(known->second->record);
  remembered.erase(known->second);
  remembered_by_hex.erase(known);
}

void ProgramCache::State::remember(const CompileKey& key, const detail::FileIdentity& file,
                                   const CompileRecord& record) {
  const std::lock_guard lock(remembered_mutex);
  forget(key.hex);
  if (bytes_of(record) > most_remembered_bytes) return;
  remembered.push_front({.hex = key.hex, .file = file, .record = fresh(record)});
  remembered_by_hex[key.hex] = remembered.begin();
  remembered_bytes += bytes_of(record);
  while (remembered_bytes > most_remembered_bytes) forget(std::string(remembered.back().hex));
}

std::optional<CompileRecord> ProgramCache::State::read(const CompileKey& key, std::string* damage) {
  if (!is_key(key)) return std::nullopt;
  if (auto record = recall(key)) return record;
  detail::FileIdentity file;
  const std::optional<std::string> bytes = folder.read(CacheFolder::Shelf::entries, key.hex, &file);
  if (!bytes) return std::nullopt;
  try {
    CompileRecord record = entry_record(key, *bytes);
    remember(key, file, record);
    return record;
  } catch (const ValueError& fault) {
    ++bad_records;
    folder.remove(CacheFolder::Shelf::entries, key.hex);
    if (damage != nullptr) *damage = "the entry was removed: " + fault.message();
    return std::nullopt;
  }
}

bool ProgramCache::State::write(const CompileKey& key, const CompileRecord& record) {
  return is_key(key) && write(key, entry_bytes(key, record));
}

bool ProgramCache::State::write_entry(const std::string& hex, const std::string& entry) {
  const bool stored = folder.write(CacheFolder::Shelf::entries, hex, entry, evictions);
  ++(stored ? stores : store_failures);
  return stored;
}

bool ProgramCache::State::write(const CompileKey& key, const std::string& entry) {
  if (!write_entry(key.hex, entry)) return false;
  detail::FrameWriter parts(detail::FrameKind::cache_key_parts);
  parts.number(key.parts.size());
  for (const auto& [label, digest] : key.parts) {
    parts.text(label);
    parts.text(digest);
  }
  folder.write(CacheFolder::Shelf::names, name_key(key), parts.finish(), evictions);
  return true;
}

std::string ProgramCache::State::why_missing(const CompileKey& key) const {
  if (const std::string fault = folder.why_unusable(); !fault.empty()) return fault;
  const std::optional<std::string> bytes = folder.read(CacheFolder::Shelf::names, name_key(key));
  if (!bytes) return "no program of this name and target has been stored";
  std::map<std::string, std::string> then;
  try {
    detail::FrameReader reader(*bytes, detail::FrameKind::cache_key_parts);
    for (std::uint64_t left = reader.number(); left != 0; --left) {
      const std::string label(reader.text());
      then[label] = reader.text();
    }
  } catch (const ValueError&) {
    return "no program of this name and target is known to have been stored";
  }
  std::string differences;
  const auto note = [&](const std::string& what) { differences += (differences.empty() ? "" : ", ") + what; };
  for (const auto& [label, digest] : key.parts) {
    const auto before = then.find(label);
    if (before == then.end()) {
      note(label + " (new)");
    } else {
      if (before->second != digest) note(label);
      then.erase(before);
    }
  }
  for (const auto& [label, digest] : then) note(label + " (gone)");
  if (differences.empty()) return "the entry has been evicted or removed";
  return "other than when a program of this name was last stored: " + differences;
}

// What the store has for `key`, which the folder keeps from now on.
std::optional<CompileRecord> ProgramCache::State::obtain(const CompileKey& key) {
  const std::optional<std::string> entry = store->obtain(key.hex);
  if (!entry) return std::nullopt;
  try {
    CompileRecord record = entry_record(key, *entry);
    write(key, *entry);
    ++store_hits;
    return record;
  } catch (const ValueError&) {
    ++bad_records;
    return std::nullopt;
  }
}

// Compiles and stores, in the folder and for other hosts.
CompileRecord ProgramCache::State::compile_for_all(const CompileKey& key, const KeyMaker& make_key,
                                                   const std::function<CompileRecord()>& compile, std::string& why) {
  try {
    CompileRecord record = compile();
    if (make_key()->hex == key.hex) {
      const std::string entry = entry_bytes(key, record);
      write(key, entry);
      if (store) store->publish(key.hex, entry);
    } else {
      why += "; not stored, since a header changed during the compile";
      if (store) store->abandon(key.hex);
    }
    return record;
  } catch (...) {
    if (store) store->abandon(key.hex);
    throw;
  }
}

// Compiles, or finds, on behalf of all threads of this process that want this key now.
CompileRecord ProgramCache::State::lead(CompileReport& report, const CompileKey& key, const KeyMaker& make_key,
                                        const std::function<CompileRecord()>& compile) {
  std::string damage;
  const auto hit = [&](std::optional<CompileRecord>& found) {
    ++hits;
    report.cache = CacheResult::hit;
    return std::move(*found);
  };
  if (auto found = read(key, &damage)) return hit(found);
  const detail::FileLock lock = folder.lock(key.hex, lock_wait);
  if (auto found = read(key)) return hit(found);  // compiled by another process meanwhile
  if (lock.timed_out()) ++lock_timeouts;
  if (store) {
    if (auto found = obtain(key)) return hit(found);
  }
  ++misses;
  report.cache = CacheResult::miss;
  report.cache_why = damage.empty() ? why_missing(key) : damage;
  return compile_for_all(key, make_key, compile, report.cache_why);
}

CompileRecord ProgramCache::lookup_or_compile(CompileReport& report, const KeyMaker& make_key,
                                              const std::function<CompileRecord()>& compile) {
  const std::shared_ptr<State> state = state_;
  const std::shared_ptr<const CompileKey> held = make_key();
  const CompileKey& key = *held;
  if (key.hex.empty()) {
    ++state->uncacheable;
    report.cache = CacheResult::uncacheable;
    report.cache_why = key.uncacheable;
    return compile();
  }
  report.cache_key = key.hex;
  if (auto found = state->recall(key)) {
    ++state->hits;
    report.cache = CacheResult::hit;
    return std::move(*found);
  }

  std::promise<CompileRecord> promise;
  const std::shared_future<CompileRecord> result = promise.get_future().share();
  while (const auto other = state->join_or_lead(key.hex, result)) {
    try {
      CompileRecord record = fresh(other->get());  // throws what the compile threw
      ++state->shared;
      report.cache = CacheResult::shared;
      return record;
    } catch (const NvrtcError& error) {
      if (error.code() != cancelled) throw;  // cancelled, but this thread, which waited for it, still wants it
    }
  }
  const auto land = [&] {
    const std::lock_guard lock(state->flights_mutex);
    state->flights.erase(key.hex);
  };
  try {
    CompileRecord record = state->lead(report, key, make_key, compile);
    land();
    promise.set_value(fresh(record));
    return record;
  } catch (...) {
    land();
    promise.set_exception(std::current_exception());
    throw;
  }
}

ProgramCache::ProgramCache(const ProgramCacheOptions& options) {
  if (options.max_bytes == 0) {
    throw ValueError({.call = "ProgramCache",
                      .message = "max_bytes=0 leaves no room for any entry",
                      .hint = "give the size in bytes, or use no cache"});
  }
  const fs::path path = options.path.empty() ? detail::default_cache_path() : options.path;
  // Absolute, so that a later change of directory does not move the cache.
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  state_ = std::make_shared<State>(error ? path : absolute, options);
}

ProgramCache::~ProgramCache() = default;
ProgramCache::ProgramCache(ProgramCache&&) noexcept = default;
ProgramCache& ProgramCache::operator=(ProgramCache&&) noexcept = default;

const fs::path& ProgramCache::path() const noexcept { return state_->folder.root(); }

ProgramCacheStats ProgramCache::stats() const noexcept {
  return {.hits = state_->hits,
          .shared = state_->shared,
          .misses = state_->misses,
          .uncacheable = state_->uncacheable,
          .bad_records = state_->bad_records,
          .stores = state_->stores,
          .store_failures = state_->store_failures,
          .evictions = state_->evictions,
          .lock_timeouts = state_->lock_timeouts,
          .store_hits = state_->store_hits};
}

std::vector<ProgramCacheEntry> ProgramCache::entries() const { return state_->folder.entries(); }

std::vector<ProgramCacheEntry> ProgramCache::prune(const ProgramCachePrune& limits) {
  const auto now = std::chrono::system_clock::now();
  std::uint64_t kept = 0;
  std::vector<ProgramCacheEntry> removed;
  for (const ProgramCacheEntry& entry : entries()) {
    const bool is_old = limits.max_age && now - entry.stored > *limits.max_age;
    const bool is_unused = limits.max_unused && now - entry.used > *limits.max_unused;
    const bool is_too_much = limits.max_bytes && kept + entry.bytes > *limits.max_bytes;
    if (!is_old && !is_unused && !is_too_much) {
      kept += entry.bytes;
    } else if (limits.dry_run || erase({.hex = entry.key})) {
      removed.push_back(entry);
    }
  }
  return removed;
}

std::size_t ProgramCache::size() const { return state_->folder.usage().entries; }
std::uint64_t ProgramCache::size_bytes() const { return state_->folder.usage().bytes; }
void ProgramCache::clear() { state_->folder.clear(); }

std::optional<CompileRecord> ProgramCache::get(const CompileKey& key) {
  std::optional<CompileRecord> record = state_->read(key);
  ++(record ? state_->hits : state_->misses);
  return record;
}

bool ProgramCache::put(const CompileKey& key, const CompileRecord& record) { return state_->write(key, record); }

std::optional<std::string> ProgramCache::read_entry(const std::string& key) {
  const CompileKey sought{.hex = key};
  if (!is_key(sought)) return std::nullopt;
  std::optional<std::string> entry = state_->folder.read(CacheFolder::Shelf::entries, key);
  return entry && is_entry(sought, *entry) ? entry : std::nullopt;
}

bool ProgramCache::write_entry(const std::string& key, const std::string& entry) {
  const CompileKey given{.hex = key};
  return is_key(given) && is_entry(given, entry) && state_->write_entry(key, entry);
}

bool ProgramCache::erase(const CompileKey& key) {
  return is_key(key) && state_->folder.remove(CacheFolder::Shelf::entries, key.hex);
}

std::string ProgramCache::why_missing(const CompileKey& key) const {
  return key.hex.empty() ? key.uncacheable : state_->why_missing(key);
}

std::string ProgramCache::why(const Program& program, CodeType target,
                              const std::vector<std::string>& name_expressions) {
  const std::shared_ptr<const CompileKey> held = program.cache_key(target, name_expressions);
  const CompileKey& key = *held;
  if (key.hex.empty()) return "uncacheable: " + key.uncacheable;
  std::string damage;
  if (state_->read(key, &damage)) return "hit";
  return "miss: " + (damage.empty() ? state_->why_missing(key) : damage);
}

}  // namespace cucore
