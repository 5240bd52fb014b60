// Compiled kernels of the CPU device between its folder and a store. python/cucore/stores/_cpu_kernels.py is the same
// for Python's stores, and checks digests of files, too; here that is left to the device, which takes no damaged file.
#include "cucore/cpu_kernels.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <system_error>

#include "cucore/error.hpp"
#include "src/files/files.hpp"
#include "src/formats/sha256.hpp"
#include "src/settings/settings.hpp"
#include "src/store/deadline.hpp"
#include "src/store/sealed_entry.hpp"

namespace cucore {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kind = "cpu device";      // stands for the compiler in an entry
constexpr std::string_view stored_ending = ".cpu";   // of an entry's name
constexpr std::string_view file_ending = ".kernel";  // of a file's; before it stands the same key
constexpr std::string_view mark = "cucpu";           // a file: 8 bytes that begin so, the key, the rest
constexpr std::size_t key_at = 8, key_bytes = 32, digest_bytes = 32, most_file_bytes = std::size_t{64} << 20;

fs::path folder_of_environment(const char* call) {
  std::string named = setting(Setting::cpu_cache);
  if (!named.empty() && named != "0") return named;
  const fs::path caches = setting(Setting::xdg_cache_home), home = setting(Setting::home);
  if (named.empty() && caches.is_absolute()) return caches / "cucore" / "cpu-kernels";
  if (named.empty() && home.is_absolute()) return home / ".cache" / "cucore" / "cpu-kernels";
  throw ValueError({.call = call,
                    .message = "the CPU device keeps no kernels here",
                    .hint = "give a folder, or set CUCORE_CPU_CACHE to one"});
}

bool is_own(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// As the CPU device asks before it takes kernels from a folder.
void require_own(const char* call, const fs::path& folder) {
  struct stat status = {};
  if (::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && is_own(status)) return;
  throw ValueError({.call = call,
                    .message = folder.string() + " is no folder that is this user's alone to write",
                    .hint = "the CPU device takes no kernels from it either: chmod go-w, or give another folder"});
}

/// The key that a name says; nothing if it has not that ending.
std::optional<std::string> key_in(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return std::nullopt;
  name.remove_suffix(ending.size());
  return detail::is_hex_of_digest(name) ? std::optional(std::string(name)) : std::nullopt;
}

std::set<std::string> keys_in(const fs::path& folder) {
  std::set<std::string> keys;
  std::error_code ignored;
  for (fs::directory_iterator each(folder, ignored), end; each != end; each.increment(ignored)) {
    if (auto key = key_in(each->path().filename().string(), file_ending)) keys.insert(std::move(*key));
  }
  return keys;
}

/// Whether these bytes begin as the file of that key does.
bool is_file_of(const std::string& key, std::string_view bytes) {
  if (bytes.size() < key_at + key_bytes + digest_bytes || !bytes.starts_with(mark)) return false;
  detail::Sha256Digest its_key;
  static_assert(sizeof its_key == key_bytes);
  std::memcpy(its_key.data(), bytes.data() + key_at, key_bytes);
  return detail::to_hex(its_key) == key;
}

/// One transfer: its store, its bounds and its report.
class Transfer {
 public:
  Transfer(const char* call, const std::shared_ptr<Store>& store, const CpuKernelOptions& options)
      : options_(options),
        trust_(detail::resolve_trust(call, options.keys, options.allow_unsigned)),
        store_(store),
        ends_(Clock::now() + options.limit) {
    if (!store) throw ValueError({.call = call, .message = "there is no store", .hint = "give a FolderStore"});
    folder_ = options.folder.empty() ? folder_of_environment(call) : options.folder;
  }

  CpuKernelTransfer push(const char* call) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(folder_, ignored))) return report_;
    require_own(call, folder_);
    const std::set<std::string> here = keys_in(folder_);
    const auto there = keys_of_store();
    move(here, there.value_or(std::set<std::string>()), there.has_value(), [&](const std::string& key) {
      const fs::path path = folder_ / (key + std::string(file_ending));
      struct stat status = {};
      const bool is_good = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && is_own(status) &&
                           static_cast<std::uint64_t>(status.st_size) <= most_file_bytes;
      const std::optional<std::string> bytes = is_good ? detail::read_file(path, false) : std::nullopt;
      if (!bytes || !is_file_of(key, *bytes)) {
        report_.rejected.emplace_back(key, "it is no kernel of that key that is this user's alone to write");
        return true;
      }
      const std::string name = key + std::string(stored_ending);
      const std::string sealed = detail::seal(name, *bytes, kind, trust_);
      if (!ask([name, sealed](Store& into) {
            into.put(name, sealed);
            return true;
          })) {
        return false;
      }
      ++report_.copied;
      return true;
    });
    return report_;
  }

  CpuKernelTransfer pull(const char* call) {
    (void)detail::create_private_folder(folder_);
    require_own(call, folder_);
    const auto there = keys_of_store();
    std::uint64_t room = options_.max_bytes;
    move(there.value_or(std::set<std::string>()), keys_in(folder_), there.has_value(), [&](const std::string& key) {
      const std::string name = key + std::string(stored_ending);
      const auto sealed = ask([name](Store& from) { return from.get(name); });
      if (!sealed) return false;
      try {
        if (!*sealed) throw detail::RejectedEntry("it was removed");
        const std::string_view bytes = detail::unseal(name, **sealed, kind, trust_);
        if (!is_file_of(key, bytes)) throw detail::RejectedEntry("it is no kernel of that key");
        if (bytes.size() > room) {
          report_.stopped = std::to_string(options_.max_bytes) + " bytes were taken";
          return false;
        }
        if (!detail::replace_file(folder_ / (key + std::string(file_ending)), bytes, 0600)) {
          throw ValueError({.call = call,
                            .message = folder_.string() + " cannot be written",
                            .hint = "look at its permissions and at the space that is left"});
        }
        room -= bytes.size();
        ++report_.copied;
      } catch (const detail::RejectedEntry& why) {
        report_.rejected.emplace_back(key, why.what());
      }
      return true;
    });
    return report_;
  }

 private:
  /// What the store says; nothing: it threw or was too late, which the report then says.
  template <class Call>
  auto ask(const Call& made) -> std::optional<std::invoke_result_t<const Call&, Store&>> {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(ends_ - Clock::now());
    if (left.count() <= 0) {
      report_.stopped = "the time was used up";
      return std::nullopt;
    }
    try {
      auto answer = caller_.run(std::min(left, options_.call_limit), [kept = store_, made] { return made(*kept); });
      if (!answer) report_.stopped = "the store has not answered in time";
      return answer;
    } catch (const std::exception& error) {
      report_.stopped = error.what();
      return std::nullopt;
    }
  }

  std::optional<std::set<std::string>> keys_of_store() {
    const auto names = ask([](Store& from) { return from.list(); });
    if (!names) return std::nullopt;
    std::set<std::string> keys;
    for (const std::string& name : *names) {
      if (auto key = key_in(name, stored_ending)) keys.insert(std::move(*key));
    }
    return keys;
  }

  /// `copy` each of `from` that `to` lacks, until it says no.
  template <class Copy>
  void move(const std::set<std::string>& from, const std::set<std::string>& to, bool is_known, const Copy& copy) {
    report_.left = from.size();
    for (const std::string& key : from) {
      if (!is_known) return;
      if (to.contains(key)) {
        ++report_.already_there;
      } else if (!copy(key)) {
        return;
      }
      --report_.left;
    }
  }

  const CpuKernelOptions& options_;
  const detail::Trust trust_;
  const std::shared_ptr<Store> store_;
  const Clock::time_point ends_;
  fs::path folder_;
  detail::DeadlineCaller caller_;
  CpuKernelTransfer report_;
};

}  // namespace

CpuKernelTransfer push_cpu_kernels(const std::shared_ptr<Store>& store, const CpuKernelOptions& options) {
  return Transfer("push_cpu_kernels", store, options).push("push_cpu_kernels");
}

CpuKernelTransfer pull_cpu_kernels(const std::shared_ptr<Store>& store, const CpuKernelOptions& options) {
  return Transfer("pull_cpu_kernels", store, options).pull("pull_cpu_kernels");
}

}  // namespace cucore
