// One compile with libNVVM, from modules of NVVM IR to PTX or LTO-IR.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/toolkit/abi.hpp"

namespace cucore::toolkit {

struct NvvmInput {
  const std::string& source;  ///< text or bitcode
  const std::string& name;
  const std::vector<std::pair<std::string, std::string>>& extra_sources;  ///< (name, text or bitcode)
  const std::vector<std::string>& flags;
  bool use_libdevice = false;
};

struct NvvmOutput {
  std::string image;  ///< without terminating NUL
  std::string log;
};

/// A program of libNVVM with its modules. Throws NvvmError, UnavailableError.
class NvvmNative {
 public:
  explicit NvvmNative(const NvvmInput& input);
  NvvmNative(const NvvmNative&) = delete;
  NvvmNative& operator=(const NvvmNative&) = delete;
  ~NvvmNative();

  NvvmProgram get() const noexcept { return handle_; }
  /// Verifies, adds libdevice if it is wanted, compiles. Once only. Throws NvvmError with the log, UnavailableError if
  /// there is no libdevice.
  NvvmOutput compile(const NvvmInput& input);
  bool compiled() const noexcept { return compiled_; }

 private:
  NvvmProgram handle_ = nullptr;
  bool compiled_ = false;
};

}  // namespace cucore::toolkit
