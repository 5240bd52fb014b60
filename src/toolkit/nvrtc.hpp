// One compile with NVRTC, from source to images and lowered names.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cucore/code_type.hpp"
#include "src/toolkit/abi.hpp"

namespace cucore::toolkit {

/// Tells whether a compile is to end: once `cancelled` has reached its own number. Thread-safe.
class Cancellation {
 public:
  Cancellation(const std::atomic<std::uint64_t>& cancelled, std::uint64_t number)
      : cancelled_(cancelled), number_(number) {}
  bool is_wanted() const noexcept { return cancelled_ >= number_; }

 private:
  const std::atomic<std::uint64_t>& cancelled_;
  const std::uint64_t number_;
};

struct NvrtcInput {
  const std::string& source;
  const std::string& name;
  const std::vector<std::pair<std::string, std::string>>& headers;
  const std::vector<std::string>& flags;
  const std::vector<std::string>& name_expressions;
  CodeType target;        ///< ptx, cubin or ltoir
  bool want_ptx = false;  ///< fetch the PTX beside a cubin
  bool uses_pch = false;  ///< a precompiled header is made or looked for: ask for its status
  std::string_view arch;  ///< for messages
  const Cancellation* cancellation = nullptr;
};

struct NvrtcOutput {
  std::string image;                       ///< the target, without terminating NUL; may be empty if NVRTC gave nothing
  std::string ptx;                         ///< with want_ptx
  std::vector<std::string> lowered_names;  ///< one per name expression
  std::string log;
  std::optional<NvrtcResult> pch;  ///< what became of the precompiled header, if one was made or looked for
};

/// A program of NVRTC with its source. Throws NvrtcError, UnavailableError.
class NvrtcNative {
 public:
  explicit NvrtcNative(const NvrtcInput& input);
  NvrtcNative(const NvrtcNative&) = delete;
  NvrtcNative& operator=(const NvrtcNative&) = delete;
  ~NvrtcNative();

  NvrtcProgram get() const noexcept { return handle_; }
  bool compiled() const noexcept { return compiled_; }
  void set_compiled() noexcept { compiled_ = true; }

 private:
  NvrtcProgram handle_ = nullptr;
  bool compiled_ = false;
};

/// Compiles with `native` if that is unused, else with a new program; the one used is left in `native`. Throws
/// NvrtcError with the log, UnavailableError.
NvrtcOutput compile_with_nvrtc(const NvrtcInput& input, std::unique_ptr<NvrtcNative>& native);

}  // namespace cucore::toolkit
