// Compiles CUDA C++ device code with NVRTC, for the nvcc beside the driver.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::toolkit_shims {

struct Source {
  std::string name = {};
  std::string text = {};
};

struct DeviceCode {
  std::string cubin;
  std::string ptx;
  std::string log;  ///< warnings
};

/// By the NVRTC at `library`, to which `options` go. Fails with its log.
Result<DeviceCode> compile_device_code(const std::filesystem::path& library, const Source& source,
                                       const std::vector<std::string>& options);

/// A fat binary with both forms for `arch` ("sm_90a").
std::string fat_binary_of(const DeviceCode& code, const std::string& arch);

/// (13, 0) if it cannot be asked.
std::pair<int, int> nvrtc_version(const std::filesystem::path& library);

}  // namespace cucore::cpu::toolkit_shims
