// FolderStore: entries and leases as files that are renamed or linked into place. python/cucore/stores/_folder.py lays
// out the same.
//
// A lease is a file that link() puts in place, with its holder's token, how long it lasts, and a number that each
// renewal raises. Clocks of hosts are not compared: a lease has ended when the file has stayed as it is for as long as
// it lasts by the clock of the one who looks.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <sstream>
#include <system_error>
#include <unordered_map>

#include "cucore/error.hpp"
#include "cucore/shared_store.hpp"
#include "src/files/files.hpp"

namespace cucore {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw StateError({.call = "FolderStore",
                    .message = what + " " + path.string() + ": " + std::generic_category().message(error),
                    .hint = "look at its permissions and at the space that is left"});
}

/// A lease as its file says it.
struct Lease {
  std::string token;
  double seconds = 0;
  std::uint64_t number = 0;
};

std::optional<Lease> read_lease(const std::string& said) {
  Lease lease;
  std::istringstream fields(said);
  if (!(fields >> lease.token >> lease.seconds >> lease.number)) return std::nullopt;
  return lease;
}

std::string lease_text(const std::string& token, std::chrono::milliseconds lasts, std::uint64_t number) {
  std::ostringstream text;
  text << token << ' ' << std::chrono::duration<double>(lasts).count() << ' ' << number;
  return text.str();
}

}  // namespace

bool Store::lease(const std::string&, const std::string&, std::chrono::milliseconds) { return true; }
void Store::release(const std::string&, const std::string&) {}

struct FolderStore::State {
  fs::path root;
  std::mutex mutex;
  struct Seen {
    std::string said;
    Clock::time_point since;
  };
  std::unordered_map<std::string, Seen> seen;  ///< leases of others

  fs::path file(const char* shelf, const std::string& name) const { return root / shelf / name.substr(0, 2) / name; }

  /// A path that no other process or thread uses.
  fs::path unused() const {
    static std::atomic<std::uint64_t> count = 0;
    char host[256] = {};
    (void)::gethostname(host, sizeof host - 1);
    const fs::path folder = root / "tmp";
    if (!detail::create_private_folder(folder)) fail("cannot make", folder, errno);
    return folder / (std::string(host) + "-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  }

  /// What is being written lies apart: whatever is among the entries is one.
  void replace(const char* shelf, const std::string& name, std::string_view bytes) const {
    const fs::path path = file(shelf, name), temporary = unused();
    if (!detail::create_private_folder(path.parent_path())) fail("cannot make", path.parent_path(), errno);
    if (!detail::replace_file(temporary, bytes, 0600)) fail("cannot write", temporary, errno);
    if (::rename(temporary.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    ::unlink(temporary.c_str());
    fail("cannot write", path, error);
  }

  /// Puts a new file in place; false if there is one.
  bool link(const char* shelf, const std::string& name, std::string_view bytes) const {
    const fs::path path = file(shelf, name), temporary = unused();
    if (!detail::create_private_folder(path.parent_path())) fail("cannot make", path.parent_path(), errno);
    if (!detail::replace_file(temporary, bytes, 0600)) fail("cannot write", temporary, errno);
    const int error = ::link(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
    ::unlink(temporary.c_str());
    if (error != 0 && error != EEXIST) fail("cannot write", path, error);
    return error == 0;
  }

  /// Whether the lease of another has stayed as it is for as long as it lasts.
  bool has_ended(const std::string& name, const std::string& said, std::chrono::milliseconds otherwise) {
    const std::optional<Lease> lease = read_lease(said);
    const double seconds = lease ? lease->seconds : std::chrono::duration<double>(otherwise).count();
    const Clock::time_point now = Clock::now();
    const std::lock_guard lock(mutex);
    const auto known = seen.find(name);
    if (known == seen.end() || known->second.said != said) {
      seen.insert_or_assign(name, Seen{said, now});
      return false;
    }
    return std::chrono::duration<double>(now - known->second.since).count() >= seconds;
  }
};

FolderStore::FolderStore(const fs::path& path) : state_(std::make_unique<State>()) {
  std::error_code error;
  state_->root = fs::absolute(path, error);
  if (error) state_->root = path;
}
FolderStore::~FolderStore() = default;

const fs::path& FolderStore::path() const noexcept { return state_->root; }

std::optional<std::string> FolderStore::get(const std::string& name) {
  return detail::read_file(state_->file("entries", name));
}

void FolderStore::put(const std::string& name, std::string_view bytes) { state_->replace("entries", name, bytes); }

void FolderStore::remove(const std::string& name) {
  const fs::path path = state_->file("entries", name);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) fail("cannot remove", path, errno);
}

std::vector<std::string> FolderStore::list() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator each(state_->root / "entries", error), end; each != end;
       each.increment(error)) {
    if (each->is_regular_file(error)) names.push_back(each->path().filename().string());
  }
  return names;
}

bool FolderStore::exists(const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(state_->file("entries", name), error);
}

bool FolderStore::lease(const std::string& name, const std::string& token, std::chrono::milliseconds lasts) {
  const fs::path path = state_->file("leases", name);
  if (const std::optional<std::string> said = detail::read_file(path)) {
    if (const std::optional<Lease> lease = read_lease(*said); lease && lease->token == token) {
      state_->replace("leases", name, lease_text(token, lasts, lease->number + 1));
      return true;
    }
    if (!state_->has_ended(name, *said, lasts)) return false;
    // Its holder is gone. Of those who see that, one moves the file away.
    const fs::path grave = state_->unused();
    if (::rename(path.c_str(), grave.c_str()) == 0) ::unlink(grave.c_str());
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->seen.erase(name);
  }
  return state_->link("leases", name, lease_text(token, lasts, 0));
}

void FolderStore::release(const std::string& name, const std::string& token) {
  const fs::path path = state_->file("leases", name);
  const std::optional<std::string> said = detail::read_file(path);
  const std::optional<Lease> lease = said ? read_lease(*said) : std::nullopt;
  if (lease && lease->token == token) ::unlink(path.c_str());
}

}  // namespace cucore
