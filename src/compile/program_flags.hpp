// Options as a compile really uses them: the architecture resolved, the toolkit's own folders added.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/program_options.hpp"

namespace cucore::detail {

/// `options` with arch set. Throws as resolve_arch().
ProgramOptions with_arch(const ProgramOptions& options);

/// Times are wanted in the log, which only a linker can do.
inline bool has_times_in_log(const ProgramOptions& options) {
  return options.time == std::variant<bool, std::string>(true);
}

/// unsupported_options(), and the options that the NVRTC in use is too old for, in clauses for an error; empty if there
/// are none.
std::string unsupported_in_words(const ProgramOptions& options, SourceType source);

/// The toolkit's include folders, if they are wanted.
std::vector<std::filesystem::path> toolkit_folders(const ProgramOptions& options);

/// The complete flags for the back end of `code_type`. Opens the toolkit for its include folders.
std::vector<std::string> flags_for(SourceType code_type, const ProgramOptions& options, CodeType target);

}  // namespace cucore::detail
