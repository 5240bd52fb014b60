// The choice of the linker, and the link of PTX modules alone.
#include "cucore/error.hpp"
#include "src/driver/abi.hpp"
#include "src/link/link_session.hpp"
#include "src/toolkit/library.hpp"

namespace cucore::detail {

bool links_with_nvjitlink() {
  const ToolkitLibrary& found = toolkit::nvjitlink_library();
  if (found.is_broken) {
    throw UnavailableError({.call = "nvJitLinkVersion",
                            .message = "nvJitLink cannot be loaded: " + found.why_not,
                            .hint = "install it again, or remove it or the variable that names it, so that the driver "
                                    "links instead"});
  }
  return found.available;
}

std::string link_ptx_modules(const std::vector<std::string_view>& modules, const std::string& arch) {
  const std::string description = "linking the PTX of a linked cubin for " + arch;
  const JitOption target{driver::CU_JIT_TARGET, static_cast<std::uintptr_t>(driver_target(arch))};
  const std::unique_ptr<LinkSession> session = links_with_nvjitlink()
                                                   ? nvjitlink_session(description, {"-arch=" + arch}, CodeType::cubin)
                                                   : driver_session(description, {target});
  for (std::size_t i = 0; i < modules.size(); ++i) {
    session->add({.type = CodeType::ptx, .name = "module " + std::to_string(i + 1), .bytes = std::string(modules[i])});
  }
  session->complete();
  return session->image();
}

}  // namespace cucore::detail
