// PTX of LTO-IR, by nvJitLink itself in a second link with -lto -ptx.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/linker/link_inputs.hpp"

namespace cucore::cpu::toolkit_shims {

/// `options`: those of the link that `parts` were given to. nvJitLink keeps kernels and variables, and of functions
/// only what LTO-IR calls: for those in `kept` NVRTC compiles a kernel that takes their addresses, which does not
/// remain.
Result<std::string> ptx_of_lto_ir(const std::vector<std::string>& options, const std::vector<linker::LtoIr>& parts,
                                  const std::set<std::string>& kept);

}  // namespace cucore::cpu::toolkit_shims
