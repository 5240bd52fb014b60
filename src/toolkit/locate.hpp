// Where the toolkit's libraries are looked for: a list of places in order of preference, and what belongs beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/settings/settings.hpp"

namespace cucore::toolkit {

/// One place to look. A folder holds both libraries under their usual names; a file is one library by itself; neither
/// means the dynamic loader's own search.
struct Place {
  std::string rule;  ///< how the place came to be in the list, for messages: "CUDA_HOME", "search path", ...
  std::filesystem::path folder = {};
  std::filesystem::path file = {};
};

/// The places for the library that `library` (Setting::nvrtc, nvjitlink or nvvm) can name, as the rules in
/// cucore/toolkit.hpp say.
std::vector<Place> places(Setting library, const std::vector<std::filesystem::path>& search_paths);

/// The toolkit's header folders that belong to a library in `library_folder`, in the order to search them.
std::vector<std::filesystem::path> headers_beside(const std::filesystem::path& library_folder);

/// Those beside the library; where it has none (the headers are a package of their own), those of the first of `places`
/// and of the usual folders of toolkits that are for the same major version, the same minor version preferred.
std::vector<std::filesystem::path> find_headers(const std::filesystem::path& library_folder,
                                                const std::vector<Place>& places, int major, int minor);

/// The folders in which libnvvm may lie when the other libraries lie, or would lie, in `folder`.
std::vector<std::filesystem::path> nvvm_folders(const std::filesystem::path& folder);

/// The file of libdevice that belongs to this libnvvm; empty if there is none.
std::filesystem::path libdevice_of(const std::filesystem::path& nvvm_library);

/// Tells this build of a library from another of the same version: its GNU build id, else its size and modification
/// time.
std::string build_identity(const std::filesystem::path& library);

}  // namespace cucore::toolkit
