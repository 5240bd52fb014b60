// Where the toolkit's libraries are looked for: a list of places in order of preference, and what belongs beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cucore::toolkit {

/// One place to look. A folder holds both libraries under their usual names; a file is one library by itself; neither
/// means the dynamic loader's own search.
struct Place {
  std::string rule;  ///< how the place came to be in the list, for messages: "CUDA_HOME", "search path", ...
  std::filesystem::path folder = {};
  std::filesystem::path file = {};
};

/// The places for NVRTC (`override_variable` "CUCORE_NVRTC") or nvJitLink ("CUCORE_NVJITLINK"), as the rules in
/// cucore/toolkit.hpp say.
std::vector<Place> places(const char* override_variable, const std::vector<std::filesystem::path>& search_paths);

/// The toolkit's header folders that belong to a library in `library_folder`, in the order to search them.
std::vector<std::filesystem::path> headers_beside(const std::filesystem::path& library_folder);

/// What tells this build of a library from another of the same version: its GNU build id, else size and time of change.
std::string build_identity(const std::filesystem::path& library);

}  // namespace cucore::toolkit
