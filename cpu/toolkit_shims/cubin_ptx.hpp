// Cubins with their PTX in sections of their own: adding, reading and taking off. Bytes that are no such ELF image are
// returned unchanged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cucore::cpu::toolkit_shims {

/// `cubin` with one more section for each of `ptx`, in place of what it has.
std::string with_ptx(std::string_view cubin, const std::vector<std::string>& ptx);

/// What the sections hold; empty if there are none.
std::vector<std::string> ptx_of(std::string_view cubin);

/// Whether there is more in it than PTX: the CPU device's linker and a ptxas without NVIDIA's write no machine code.
bool has_machine_code(std::string_view cubin);

/// `cubin` as it was before with_ptx: NVIDIA's linker drops what it does not know, but reads it first.
std::string without_ptx(std::string_view cubin);

}  // namespace cucore::cpu::toolkit_shims
