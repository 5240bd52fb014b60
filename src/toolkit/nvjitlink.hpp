// One compile of PTX to a cubin with nvJitLink.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/toolkit/abi.hpp"

namespace cucore::toolkit {

/// A link of nvJitLink.
struct NativeLink {
  NativeLink() = default;
  NativeLink(const NativeLink&) = delete;
  NativeLink& operator=(const NativeLink&) = delete;
  ~NativeLink();

  std::string error_log() const;
  std::string info_log() const;

  NvJitLinkHandle handle = nullptr;
};

/// nvJitLinkCreate with these flags. An architecture of one digit ("sm_1"), at which nvJitLink ends the process, is
/// `unrecognized_arch`.
NvJitLinkResult create_link(NvJitLinkHandle* handle, const std::vector<std::string>& flags);

/// Advice on a result code, if the code alone allows any; else empty.
std::string hint_for(NvJitLinkResult result);

struct LinkedCubin {
  std::string image;
  std::string log;  ///< info log
};

/// Compiles `ptx` (no terminating NUL) with these nvJitLink flags. `name` is what the linker's messages call it;
/// `native` holds the link afterwards. Throws NvJitLinkError with the linker's error log, UnavailableError.
LinkedCubin compile_ptx_with_nvjitlink(std::string_view ptx, const std::string& name,
                                       const std::vector<std::string>& flags, std::unique_ptr<NativeLink>& native);

}  // namespace cucore::toolkit
