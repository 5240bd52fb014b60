// Options as a compile really uses them: the architecture resolved, the toolkit's own folders added.
#pragma once

#include <string>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/program_options.hpp"

namespace cucore::detail {

/// `options` with arch set. Throws as resolve_arch().
ProgramOptions with_arch(const ProgramOptions& options);

/// The complete flags for NVRTC or nvJitLink. Opens the toolkit for its include folders.
std::vector<std::string> flags_for(SourceType code_type, const ProgramOptions& options, CodeType target);

}  // namespace cucore::detail
