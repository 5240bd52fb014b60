// Where NVRTC and its headers are, for programs that run without the driver.
#pragma once

#include <filesystem>

namespace cucore::cpu::toolkit_shims {

/// libnvrtc.so.13: of a toolkit that is named, of LD_LIBRARY_PATH, of the Python packages beside this program or of the
/// Python that called it, of /usr/local/cuda. Empty if there is none.
std::filesystem::path find_nvrtc();

/// The toolkit's folder of headers that belongs to a library; empty if there is none.
std::filesystem::path headers_beside(const std::filesystem::path& library);

}  // namespace cucore::cpu::toolkit_shims
