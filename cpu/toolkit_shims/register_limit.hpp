// The option -maxrregcount of nvJitLink, as the PTX beside machine code has to say it (a cubin of PTX alone keeps it by
// itself: cpu/image).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cucore::cpu::toolkit_shims {

/// `ptx` with `.maxnreg limit` on each kernel that says nothing of its own about registers and launch bounds; as it is
/// if the limit is 0.
std::string with_register_limit(std::string_view ptx, std::uint32_t limit);

}  // namespace cucore::cpu::toolkit_shims
