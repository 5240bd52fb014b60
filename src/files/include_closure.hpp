// Every header that a compile could read, with a digest of its contents: the part of a cache key that comes from files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/files/file_snapshot.hpp"

namespace cucore::detail {

struct IncludeClosureInput {
  std::string_view source;
  std::string_view program_name;                                    ///< its directory part is searched for quoted names
  const std::vector<std::pair<std::string, std::string>>& headers;  ///< in memory, by name
  const std::vector<std::string>& pre_include;
  const std::vector<std::string>& include_path;
  std::vector<std::filesystem::path> toolkit_path;  ///< searched last; what lies there may compute its includes
};

struct IncludeClosure {
  /// (path as it was found, digest), in ascending order. All files that a name could mean are in it, not just the
  /// first.
  std::vector<std::pair<std::string, std::string>> files = {};
  /// Why the closure cannot be known, naming file and line; empty if it is known.
  std::string unknowable = {};
  /// What was read and what was not there.
  std::shared_ptr<const FileSnapshot> snapshot = {};
};

/// Reads the files. What was found is remembered per process: while all files have the identity they had (see
/// file_snapshot.hpp) it costs a stat() for each.
IncludeClosure include_closure(const IncludeClosureInput& input);

}  // namespace cucore::detail
