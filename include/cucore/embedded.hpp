// EmbeddedCode: kernels that are part of the program, as source or compiled ahead. The headers that cucore_embed makes
// (cmake/CucoreEmbed.cmake) are built on it; programs include those headers.
//
// Source is compiled by NVRTC for the current device at the first launch, through the user's cache of programs
// (ProgramCache): once on a machine for each architecture. Code compiled ahead needs no compiler where it runs.
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cucore/device.hpp"
#include "cucore/launch.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"
#include "cucore/program_cache.hpp"

namespace cucore {

class EmbeddedCode {
 public:
  /// CUDA C++, compiled when it is needed. `options.arch` is that of the device then.
  EmbeddedCode(std::string_view source, ProgramOptions options) : bytes_(source), options_(std::move(options)) {}
  /// Code compiled ahead: a cubin or a fat binary.
  EmbeddedCode(CodeType type, std::string_view bytes, std::string name)
      : ready_(std::make_unique<ObjectCode>(ObjectCode::from_bytes(type, bytes, std::move(name)))) {}

  /// The code for a device. @throws NvrtcError the source does not compile  @throws UnavailableError there is no NVRTC
  ObjectCode code(const Device& device) {
    if (ready_) return *ready_;
    const std::lock_guard lock(mutex_);
    const std::string arch = "sm_" + device.arch();
    auto found = compiled_.find(arch);
    if (found == compiled_.end()) {
      ProgramOptions options = options_;
      options.arch = arch;
      ProgramCache cache;
      found =
          compiled_.emplace(arch, Program(bytes_, "c++", std::move(options)).compile("cubin", {}, {.cache = &cache}))
              .first;
    }
    return found->second;
  }

 private:
  std::string_view bytes_;
  ProgramOptions options_;
  std::unique_ptr<ObjectCode> ready_;
  std::mutex mutex_;
  std::map<std::string, ObjectCode> compiled_;  // by architecture
};

/// One kernel of embedded code, with the types of its parameters. On each device it is looked up and checked at its
/// first launch.
template <class... Args>
class EmbeddedKernel {
 public:
  EmbeddedKernel(EmbeddedCode& code, const char* name) : code_(code), name_(name) {}

  /// @throws TypeError the parameters of the kernel are not Args; further as EmbeddedCode::code, ObjectCode::get_kernel
  /// and launch()
  void launch(const Stream& stream, const LaunchConfig& config, const detail::Passed<Args>&... args) {
    of(stream.device()).launch(stream, config, args...);
  }

 private:
  const TypedKernel<Args...>& of(const Device& device) {
    const std::lock_guard lock(mutex_);
    auto found = kernels_.find(device.ordinal());
    if (found == kernels_.end())
      found = kernels_.emplace(device.ordinal(), TypedKernel<Args...>(code_.code(device).get_kernel(name_))).first;
    return found->second;
  }

  EmbeddedCode& code_;
  const char* name_;
  std::mutex mutex_;
  std::map<int, TypedKernel<Args...>> kernels_;  // by device; what is in a map stays where it is
};

}  // namespace cucore
