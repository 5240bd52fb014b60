// `cucore cache ls|stats|verify|prune|clear|export|import`: the folder in which a ProgramCache, and `cucore run`, keep
// what they have compiled.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/cache_kernels.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/signing.hpp"
#include "cucore/cache_archive.hpp"
#include "cucore/error.hpp"
#include "cucore/program_cache.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

/// Programs of `cucore run`, with the files beside them.
std::vector<fs::directory_entry> programs(const fs::path& folder) {
  std::vector<fs::directory_entry> found;
  std::error_code ignored;
  for (fs::directory_iterator each(folder / "programs", ignored), end; each != end; each.increment(ignored)) {
    if (each->is_regular_file(ignored)) found.push_back(*each);
  }
  return found;
}

unsigned long long unix_seconds(std::chrono::system_clock::time_point point) {
  return static_cast<unsigned long long>(
      std::chrono::duration_cast<std::chrono::seconds>(point.time_since_epoch()).count());
}

struct Unit {
  char letter;
  std::chrono::seconds lasts;
};
constexpr Unit units[] = {{'w', std::chrono::days(7)},
                          {'d', std::chrono::days(1)},
                          {'h', std::chrono::hours(1)},
                          {'m', std::chrono::minutes(1)},
                          {'s', std::chrono::seconds(1)}};

/// What an option such as "--unused-for 30d" says; nothing if it was not given.
std::optional<std::chrono::seconds> duration_of(const CLI::App& command, const char* option) {
  if (command.count(option) == 0) return std::nullopt;
  const auto text = value_of<std::string>(command, option);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  for (const Unit& unit : units) {
    if (error == std::errc() && end + 1 == text.data() + text.size() && *end == unit.letter) return number * unit.lasts;
  }
  throw CLI::ValidationError(option, "'" + text + "' is no duration: a number and s, m, h, d or w, as in 30d");
}

ProgramCache open_cache(const CLI::App& command) {
  return ProgramCache({.path = value_of<std::string>(*command.get_parent(), "--path")});
}

int run_ls(const CLI::App& command) {
  const ProgramCache cache = open_cache(command);
  std::vector<std::string> json;
  for (const ProgramCacheEntry& entry : cache.entries()) {
    if (wants_json(command)) {
      JsonObject object;
      object.text("key", entry.key).number("bytes", entry.bytes);
      object.number("stored", unix_seconds(entry.stored)).number("used", unix_seconds(entry.used));
      json.push_back(object.str());
    } else {
      std::printf("%s %10ju bytes\n", entry.key.c_str(), static_cast<std::uintmax_t>(entry.bytes));
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
  } else if (command.count("--prometheus") > 0) {
    const auto gauge = [](const char* name, const char* meaning, std::uintmax_t value) {
      std::printf("# HELP cucore_cache_%s %s\n# TYPE cucore_cache_%s gauge\ncucore_cache_%s %ju\n", name, meaning, name,
                  name, value);
    };
    gauge("entries", "Compiled code in the folder.", cache.size());
    gauge("bytes", "Bytes that it takes.", cache.size_bytes());
    gauge("programs", "Programs of 'cucore run' in the folder.", program_count);
    gauge("program_bytes", "Bytes that they take.", program_bytes);
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
    const std::vector<ProgramCacheEntry> all = cache.entries();
    Progress progress("cucore cache verify", all.size());
    for (const ProgramCacheEntry& entry : all) {
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
  ProgramCachePrune limits{.max_age = duration_of(command, "--older-than"),
                           .max_unused = duration_of(command, "--unused-for"),
                           .dry_run = command.count("--dry-run") > 0};
  if (command.count("--max-bytes") > 0) limits.max_bytes = value_of<std::uintmax_t>(command, "--max-bytes");
  if (!limits.max_bytes && !limits.max_age && !limits.max_unused) {
    throw CLI::ValidationError("prune", "say what is to go: --max-bytes, --older-than or --unused-for");
  }
  const std::vector<ProgramCacheEntry> removed = cache.prune(limits);
  std::uintmax_t bytes = 0;
  for (const ProgramCacheEntry& entry : removed) {
    bytes += entry.bytes;
    if (limits.dry_run) std::printf("%s %10ju bytes\n", entry.key.c_str(), static_cast<std::uintmax_t>(entry.bytes));
  }
  const auto left = static_cast<std::uintmax_t>(cache.size_bytes());
  if (limits.dry_run) {
    std::printf("%zu entries, %ju bytes would go; %ju bytes are there\n", removed.size(), bytes, left);
  } else {
    std::printf("removed %zu entries, %ju bytes; %ju bytes are left\n", removed.size(), bytes, left);
  }
  return 0;
}

ArchiveOptions archive_options(const CLI::App& command) {
  auto options = signing_of<ArchiveOptions>(command);
  options.only = value_of<std::vector<std::string>>(command, "--only");
  return options;
}

int run_export(const CLI::App& command) {
  ProgramCache cache = open_cache(command);
  const auto archive = value_of<std::string>(command, "archive");
  const std::size_t count = export_cache(cache, archive, archive_options(command));
  std::printf("%zu entries in %s\n", count, archive.c_str());
  return 0;
}

int run_import(const CLI::App& command) {
  ProgramCache cache = open_cache(command);
  const ArchiveImport report = import_cache(cache, value_of<std::string>(command, "archive"), archive_options(command));
  if (wants_json(command)) {
    JsonObject json;
    json.number("imported", report.imported).number("already_there", report.already_there);
    std::printf("%s\n", json.raw("rejected", json_of(report.rejected)).str().c_str());
  } else {
    print(report.rejected);
    std::printf("%zu entries taken, %zu there already, %zu rejected\n", report.imported, report.already_there,
                report.rejected.size());
  }
  return report.rejected.empty() ? 0 : 1;
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
  CLI::App& stats = add_command(cache, status, "stats", "Say where it is and how much is in it", run_stats);
  add_json(stats);
  add_flag(stats, "--prometheus", "print it in the text format of Prometheus");
  add_json(add_command(cache, status, "verify", "Read every entry; those that are damaged are removed", run_verify));
  CLI::App& prune = add_command(cache, status, "prune", "Remove what is old, not used, or too much", run_prune);
  add_value(prune, "--max-bytes", "how much is to be left at most; what was used least recently goes")
      ->type_name("BYTES");
  add_value(prune, "--older-than", "remove what was stored longer ago, e.g. 90d")->type_name("DURATION");
  add_value(prune, "--unused-for", "remove what was last used longer ago, e.g. 2w")->type_name("DURATION");
  add_flag(prune, "--dry-run", "say what would go, and remove nothing");
  add_command(cache, status, "clear", "Remove all of it, and the programs of 'cucore run'", run_clear);
  CLI::App& exported = add_command(cache, status, "export", "Write its entries into one signed archive", run_export);
  CLI::App& imported = add_command(cache, status, "import", "Take in the entries of an archive", run_import);
  add_json(imported);
  for (CLI::App* const each : {&exported, &imported}) {
    add_value(*each, "archive", "the file, in the format of tar")->type_name("FILE")->required();
    add_signing(*each, "the archive");
    add_value(*each, "--only", "keys of the entries wanted; otherwise all")->type_name("KEY")->expected(1, 1 << 20);
  }
  add_cache_kernels(cache, status);
}

}  // namespace cucore::cli
