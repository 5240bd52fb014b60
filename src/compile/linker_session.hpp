// One link with one of the backends: a native linker object that is given inputs, completes once, and is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cucore/linker.hpp"

namespace cucore::detail {

/// An input as a backend gets it: its bytes, without what cucore put in, and a name that messages can use.
struct LinkInput {
  CodeType type = CodeType::cubin;
  std::string name = {};
  std::string bytes = {};
};

/// Not thread-safe. Every member throws NvJitLinkError or DriverError with the linker's log.
class LinkSession {
 public:
  virtual ~LinkSession() = default;
  virtual void add(const LinkInput& input) = 0;
  virtual void complete() = 0;
  virtual std::string image() = 0;  ///< after complete()
  virtual std::string info_log() const = 0;
  virtual std::string error_log() const = 0;
  virtual void* handle() const noexcept = 0;
};

/// `description` is "linking 'name'", for errors; `target` what image() gives.
std::unique_ptr<LinkSession> nvjitlink_session(const std::string& description, const std::vector<std::string>& flags,
                                               CodeType target);
/// `options` as far as the driver knows them.
std::unique_ptr<LinkSession> driver_session(const std::string& description, const LinkerOptions& options);

/// "sm_90a" as the driver's CU_JIT_TARGET.
int driver_target(std::string_view arch) noexcept;

/// Names of options that are set and that the driver's linker cannot follow.
std::vector<std::string> refused_by_driver(const LinkerOptions& options);

/// CU_JIT_... and value for each option that is set and that the driver knows, in the order of LinkerOptions.
std::vector<std::pair<int, std::uintptr_t>> driver_options(const LinkerOptions& options);

/// A cubin for `arch` of PTX modules that need each other, by whichever backend there is.
std::string link_ptx_modules(const std::vector<std::string_view>& modules, const std::string& arch);

}  // namespace cucore::detail
