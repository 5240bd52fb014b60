// Architectures: their names, where PTX says its own, and which device can use which.
#pragma once

#include <string>
#include <string_view>

#include "cucore/code_type.hpp"

namespace cucore::detail {

/// "sm_90a" taken apart: 90 and 'a'. 0 for what has no number.
struct Architecture {
  int number = 0;
  char suffix = '\0';  ///< 'a', 'f' or none
};
Architecture parse_architecture(std::string_view arch) noexcept;

/// "compute_90a" from the .target line; empty if there is none.
std::string architecture_of_ptx(std::string_view ptx);

/// Whether a device of compute capability `capability` (90 for 9.0) can use an image for `arch`: a cubin within its
/// major version, PTX of its version or an older one; 'a' on exactly its version, 'f' within the major version.
bool can_use(CodeType type, std::string_view arch, int capability) noexcept;

}  // namespace cucore::detail
