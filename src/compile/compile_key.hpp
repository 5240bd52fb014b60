// A compile key with what it was read from, so that it can be used again until that changes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/program_cache.hpp"
#include "cucore/program_options.hpp"
#include "src/files/file_snapshot.hpp"

namespace cucore::detail {

struct KeyAndFiles {
  std::shared_ptr<const CompileKey> key;
  std::shared_ptr<const FileSnapshot> files;
  std::optional<std::filesystem::path> folder;  ///< the current directory, if it is in the key

  /// Whether making the key again would give the same.
  bool still_holds() const;
};

/// As make_compile_key(), for options with arch resolved.
KeyAndFiles read_compile_key(std::string_view code, SourceType code_type, const ProgramOptions& resolved,
                             CodeType target, const std::vector<std::string>& name_expressions);

}  // namespace cucore::detail
