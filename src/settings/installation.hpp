// Where this code is installed, and the Python environments around it, in which pip puts NVIDIA's libraries and the CPU
// device. No Python is needed to look there.
#pragma once

#include <filesystem>
#include <vector>

namespace cucore {

/// The folder of the shared library or program that this code is linked into; empty if the system does not say.
std::filesystem::path module_folder();

/// Folders of packages (.../site-packages), in the order in which to look: that which holds this module, those of the
/// prefix in whose bin/ it lies, and those of $VIRTUAL_ENV. Only what exists.
std::vector<std::filesystem::path> python_package_folders();

}  // namespace cucore
