// What can be read of the kernels in an image: their PTX, what became of it, and how far it agrees with a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// `what`: `ptx`, `ir` (LLVM's, optimised), `assembly`, `fidelity`, or `forms`, a form_record each. `kernel` empty: all
/// of them. `block`: the shape that the vector form is made for, unless CUCORE_CPU_FORM asks for the scalar one.
/// NotFound for a kernel that is not there, InvalidValue for another `what`, and the failures of images and PTX.
/// Nothing is loaded or run.
Result<std::string> dump(const void* image, std::size_t size, std::string_view kernel, std::string_view what,
                         const std::uint32_t (&block)[3]);

}  // namespace cucore::cpu::runtime
