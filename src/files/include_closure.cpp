// The closure is found by walking names: each name is looked for in the folder of the text that names it, the program's
// folder and the whole search path, and every file found counts. So the order in which the compiler searches does not
// matter, and a header that appears or goes anywhere on the path changes the result.
#include "src/files/include_closure.hpp"

#include <sys/stat.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>

#include "src/files/files.hpp"
#include "src/files/include_scan.hpp"
#include "src/formats/sha256.hpp"

namespace cucore::detail {
namespace {

namespace fs = std::filesystem;

struct ScannedFile {
  FileIdentity identity = {};
  std::string digest;
  IncludeScan scan;
};

// Files read by this process. Never destroyed, like everything that a late compile may need.
class ScannedFiles {
 public:
  // Nothing if the file cannot be read.
  std::shared_ptr<const ScannedFile> get(const std::string& path, const struct stat& status) {
    const FileIdentity identity = identity_of(status);
    {
      const std::lock_guard lock(mutex_);
      const auto known = files_.find(path);
      if (known != files_.end() && known->second->identity == identity) return known->second;
    }
    const std::optional<std::string> text = read_file(path);
    if (!text) return nullptr;
    auto file = std::make_shared<ScannedFile>();
    file->identity = identity;
    file->digest = to_hex(sha256(*text));
    file->scan = scan_includes(*text);
    if (is_settled(status)) {
      const std::lock_guard lock(mutex_);
      files_[path] = file;
    }
    return file;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ScannedFile>> files_;
};

ScannedFiles& scanned_files() {
  static auto* files = new ScannedFiles;
  return *files;
}

// Stands for the contents of a whole folder: names, sizes and modification times of all its files.
std::string folder_digest(const fs::path& folder, FileSnapshot& snapshot) {
  std::map<std::string, std::string> entries;
  std::error_code error;
  const auto note = [&](const fs::path& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return;
    snapshot.add_file(path.string(), status);  // of a folder: its names
    if (!S_ISREG(status.st_mode)) return;
    entries[path.lexically_relative(folder).string()] = std::to_string(status.st_size) + ":" +
                                                        std::to_string(status.st_mtim.tv_sec) + ":" +
                                                        std::to_string(status.st_mtim.tv_nsec);
  };
  note(folder);
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    note(it->path());
  }
  Sha256 hash;
  for (const auto& [name, state] : entries) hash.update(name + "\n" + state + "\n");
  return to_hex(hash.finish());
}

struct Pending {
  std::string path;  // as the compiler would spell it; in the key, so that a cache can move with its tree
  std::string real;
};

class Walk {
 public:
  explicit Walk(const IncludeClosureInput& input) : input_(input) {}

  IncludeClosure run(const IncludeScan& of_source) {
    const fs::path program_folder = fs::path(input_.program_name).parent_path();
    text(of_source, program_folder, "the source", false);
    for (const auto& [name, contents] : input_.headers) {
      text(scan_includes(contents), program_folder, "header '" + name + "'", false);
    }
    for (const std::string& name : input_.pre_include) look_for(name, program_folder);
    while (!pending_.empty()) {
      const Pending header = std::move(pending_.back());
      pending_.pop_back();
      file(header);
    }
    result_.files.assign(found_.begin(), found_.end());
    result_.snapshot = std::move(snapshot_);
    return std::move(result_);
  }

 private:
  void text(const IncludeScan& scan, const fs::path& folder, const std::string& what, bool in_toolkit) {
    if (!scan.unknowable.empty()) {
      if (in_toolkit && scan.computed_include) {
        whole_toolkit();
      } else {
        fail(what + ", " + scan.unknowable);
      }
    }
    for (const std::string& name : scan.names) look_for(name, folder);
  }

  // Queues every file that `name`, in a text in `folder`, could mean.
  void look_for(const std::string& name, const fs::path& folder) {
    if (!looked_for_.insert(folder.string() + "\n" + name).second) return;
    if (fs::path(name).is_absolute()) return candidate(name);
    candidate(folder / name);
    candidate(fs::path(input_.program_name).parent_path() / name);
    for (const std::string& path : input_.include_path) candidate(fs::path(path) / name);
    for (const fs::path& path : input_.toolkit_path) candidate(path / name);
  }

  void candidate(const fs::path& path) {
    struct stat status{};
    if (!tried_.insert(path.string()).second) return;
    if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return snapshot_->add_absent(path.string());
    // "x/../x/a.h" is "x/a.h"; only the file system knows, since x may be a link. The last part stays: a header that is
    // a link finds its quoted names in the folder of the link.
    const std::string real = (real_folder(path.parent_path()) / path.filename()).string();
    if (seen_.insert(real).second) {
      pending_.push_back({path.string(), real});
    } else {
      snapshot_->add_file(path.string(), status);
    }
  }

  const fs::path& real_folder(const fs::path& folder) {
    auto [known, is_new] = real_folders_.try_emplace(folder.string());
    if (is_new) {
      std::error_code error;
      known->second = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
      if (error) known->second = folder;
    }
    return known->second;
  }

  void file(const Pending& header) {
    struct stat status{};
    if (::stat(header.path.c_str(), &status) != 0) return fail(header.path + " cannot be read");
    snapshot_->add_file(header.path, status);
    const std::shared_ptr<const ScannedFile> scanned = scanned_files().get(header.path, status);
    if (scanned == nullptr) return fail(header.path + " cannot be read");
    found_[header.path] = scanned->digest;
    text(scanned->scan, fs::path(header.path).parent_path(), header.path, in_toolkit(header.real));
  }

  bool in_toolkit(const std::string& real) {
    for (const fs::path& folder : input_.toolkit_path) {
      if (real.starts_with(real_folder(folder).string() + "/")) return true;
    }
    return false;
  }

  void whole_toolkit() {
    for (const fs::path& folder : input_.toolkit_path) {
      std::string& digest = found_[folder.string()];
      if (digest.empty()) digest = folder_digest(folder, *snapshot_);
    }
  }

  void fail(const std::string& why) {
    if (result_.unknowable.empty()) result_.unknowable = why;
  }

  const IncludeClosureInput& input_;
  IncludeClosure result_;
  std::shared_ptr<FileSnapshot> snapshot_ = std::make_shared<FileSnapshot>();
  std::map<std::string, std::string> found_;
  std::set<std::string> looked_for_;
  std::set<std::string> tried_;  // paths as written
  std::set<std::string> seen_;   // real paths of headers
  std::map<std::string, fs::path> real_folders_;
  std::vector<Pending> pending_;
};

// Closures this process has found, by what they were found from: programs that include the same share one.
class FoundClosures {
 public:
  std::optional<IncludeClosure> get(const std::string& key) {
    std::optional<IncludeClosure> found;
    {
      const std::lock_guard lock(mutex_);
      const auto known = closures_.find(key);
      if (known == closures_.end()) return std::nullopt;
      found = known->second;
    }
    return found->snapshot->unchanged() ? found : std::nullopt;
  }

  void put(const std::string& key, const IncludeClosure& closure) {
    constexpr std::size_t most_closures = 256;
    if (!closure.snapshot->is_settled()) return;
    const std::lock_guard lock(mutex_);
    if (closures_.size() >= most_closures) closures_.clear();
    closures_[key] = closure;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, IncludeClosure> closures_;
};

// All inputs of the walk except the files. Relative paths depend on the current directory, so that is part of it.
std::string key_of(const IncludeClosureInput& input, const IncludeScan& scan) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  };
  std::error_code error;
  add(fs::current_path(error).string());
  add(fs::path(input.program_name).parent_path().string());
  add(scan.unknowable);
  for (const std::string& name : scan.names) add("name " + name);
  for (const auto& [name, contents] : input.headers) {
    add("header " + name);
    add(contents);
  }
  for (const std::string& name : input.pre_include) add("before " + name);
  for (const std::string& path : input.include_path) add("path " + path);
  for (const fs::path& path : input.toolkit_path) add("toolkit " + path.string());
  return to_hex(hash.finish());
}

}  // namespace

IncludeClosure include_closure(const IncludeClosureInput& input) {
  static auto* found_closures = new FoundClosures;
  const IncludeScan scan = scan_includes(input.source);
  const std::string key = key_of(input, scan);
  if (auto found = found_closures->get(key)) return *std::move(found);
  IncludeClosure closure = Walk(input).run(scan);
  found_closures->put(key, closure);
  return closure;
}

}  // namespace cucore::detail
