// `cucore cache ls|stats|verify|prune|clear`: the folder in which a ProgramCache, and `cucore run`, keep what they have
// compiled.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cucore/program_cache.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string key;  ///< as ProgramCache knows it
  std::uintmax_t bytes = 0;
  fs::file_time_type used = {};
};

/// Compiled code, the most recently used first. ProgramCache lays entries out as entries/ab/cdef...
std::vector<Entry> entries(const fs::path& folder) {
  std::vector<Entry> found;
  std::error_code ignored;
  for (fs::recursive_directory_iterator each(folder / "entries", ignored), end; each != end; each.increment(ignored)) {
    Entry entry{.key = each->path().parent_path().filename().string() + each->path().filename().string()};
    if (!each->is_regular_file(ignored) || entry.key.size() != 64) continue;
    entry.bytes = each->file_size(ignored);
    entry.used = each->last_write_time(ignored);
    found.push_back(std::move(entry));
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
  return found;
}

/// Programs of `cucore run`, with the files beside them.
std::vector<fs::directory_entry> programs(const fs::path& folder) {
  std::vector<fs::directory_entry> found;
  std::error_code ignored;
  for (fs::directory_iterator each(folder / "programs", ignored), end; each != end; each.increment(ignored)) {
    if (each->is_regular_file(ignored)) found.push_back(*each);
  }
  return found;
}

ProgramCache open_cache(const CLI::App& command) {
  return ProgramCache({.path = value_of<std::string>(*command.get_parent(), "--path")});
}

int run_ls(const CLI::App& command) {
  const ProgramCache cache = open_cache(command);
  std::vector<std::string> json;
  for (const Entry& entry : entries(cache.path())) {
    if (wants_json(command)) {
      json.push_back(JsonObject().text("key", entry.key).number("bytes", entry.bytes).str());
    } else {
      std::printf("%s %10ju bytes\n", entry.key.c_str(), entry.bytes);
    }
  }
  if (wants_json(command)) std::printf("%s\n", json_array(json).c_str());
  return 0;
}

int run_stats(const CLI::App& command) {
  const ProgramCache cache = open_cache(command);
  std::uintmax_t program_bytes = 0;
  std::size_t program_count = 0;
  for (const fs::directory_entry& each : programs(cache.path())) {
    std::error_code ignored;
    program_bytes += each.file_size(ignored);
    program_count += each.path().has_extension() ? 0 : 1;
  }
  if (wants_json(command)) {
    JsonObject json;
    json.text("path", cache.path().string()).number("entries", cache.size()).number("bytes", cache.size_bytes());
    json.number("programs", program_count).number("program_bytes", program_bytes);
    std::printf("%s\n", json.str().c_str());
  } else {
    std::printf("%s\ncompiled code: %zu entries, %ju bytes\nprograms: %zu, %ju bytes\n", cache.path().c_str(),
                cache.size(), static_cast<std::uintmax_t>(cache.size_bytes()), program_count, program_bytes);
  }
  return 0;
}

int run_verify(const CLI::App& command) {
  ProgramCache cache = open_cache(command);
  std::size_t count = 0;
  std::vector<std::string> bad;
  {
    const std::vector<Entry> all = entries(cache.path());
    Progress progress("cucore cache verify", all.size());
    for (const Entry& entry : all) {
      ++count;
      if (!cache.get({.hex = entry.key})) bad.push_back(entry.key);
      progress.advance();
    }
  }
  if (wants_json(command)) {
    std::vector<std::string> keys;
    for (const std::string& key : bad) keys.push_back(json_text(key));
    JsonObject json;
    json.number("entries", count).raw("damaged", json_array(keys));
    std::printf("%s\n", json.str().c_str());
  } else {
    for (const std::string& key : bad) std::printf("%s was damaged or is not to be trusted\n", key.c_str());
    std::printf("%zu entries, %zu damaged\n", count, bad.size());
  }
  return bad.empty() ? 0 : 1;
}

int run_prune(const CLI::App& command) {
  ProgramCache cache = open_cache(command);
  const auto limit = value_of<std::uintmax_t>(command, "--max-bytes");
  std::uintmax_t kept = 0;
  std::size_t removed = 0;
  for (const Entry& entry : entries(cache.path())) {
    kept += entry.bytes;
    if (kept <= limit) continue;
    kept -= entry.bytes;
    removed += cache.erase({.hex = entry.key}) ? 1 : 0;
  }
  std::printf("removed %zu entries; %ju bytes are left\n", removed, static_cast<std::uintmax_t>(cache.size_bytes()));
  return 0;
}

int run_clear(const CLI::App& command) {
  ProgramCache cache = open_cache(command);
  cache.clear();
  bool has_failed = cache.size() > 0;
  for (const fs::directory_entry& each : programs(cache.path())) {
    std::error_code error;
    fs::remove(each.path(), error);
    has_failed |= static_cast<bool>(error);
  }
  if (has_failed) std::fprintf(stderr, "cucore cache clear: not all of %s can be removed\n", cache.path().c_str());
  return has_failed ? 1 : 0;
}

}  // namespace

void add_cache(CLI::App& tool, int& status) {
  CLI::App& cache = *tool.add_subcommand("cache", "Look at, check and clear the cache of compiled code");
  add_value(cache, "--path", "its folder; otherwise the one that programs use")->type_name("FOLDER");
  add_json(add_command(cache, status, "ls", "List the entries, the one used last first", run_ls));
  add_json(add_command(cache, status, "stats", "Say where it is and how much is in it", run_stats));
  add_json(add_command(cache, status, "verify", "Read every entry; those that are damaged are removed", run_verify));
  CLI::App& prune = add_command(cache, status, "prune", "Remove what was used least recently", run_prune);
  add_value(prune, "--max-bytes", "how much is to be left at most")->type_name("BYTES")->required();
  add_command(cache, status, "clear", "Remove all of it, and the programs of 'cucore run'", run_clear);
}

}  // namespace cucore::cli
