// One link by nvJitLink or by the driver: a native linker object that is given inputs, completes once, and is
// destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cucore/code_type.hpp"

namespace cucore::detail {

/// An input as a linker gets it: its bytes, without what cucore put in, and a name that messages can use.
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

/// Whether nvJitLink links in this process, or the driver; opens nvJitLink. @throws UnavailableError if nvJitLink is
/// there but cannot be loaded: the driver does not stand in for it then
bool links_with_nvjitlink();

/// `description` is "linking 'name'", for errors; `target` is the type that image() returns.
std::unique_ptr<LinkSession> nvjitlink_session(const std::string& description, const std::vector<std::string>& flags,
                                               CodeType target);

/// CU_JIT_... and its value.
using JitOption = std::pair<int, std::uintptr_t>;
std::unique_ptr<LinkSession> driver_session(const std::string& description, const std::vector<JitOption>& options);

/// "sm_90a" as the driver's CU_JIT_TARGET.
int driver_target(std::string_view arch) noexcept;

/// A cubin for `arch` of PTX modules that need each other, by whichever linker there is.
std::string link_ptx_modules(const std::vector<std::string_view>& modules, const std::string& arch);

}  // namespace cucore::detail
