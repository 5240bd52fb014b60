// One compile of PTX to a cubin with nvJitLink.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cucore::toolkit {

struct LinkedCubin {
  std::string image;
  std::string log;  ///< info log
};

/// Compiles `ptx` (no terminating NUL) with these nvJitLink flags. `name` is what the linker's messages call it.
/// Throws NvJitLinkError with the linker's error log, UnavailableError.
LinkedCubin compile_ptx_with_nvjitlink(std::string_view ptx, const std::string& name,
                                       const std::vector<std::string>& flags);

}  // namespace cucore::toolkit
