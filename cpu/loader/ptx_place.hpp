// A place in a kernel's text, in words for users.
#pragma once

#include <cstdint>
#include <string>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::loader {

/// "saxpy.cu:12 (PTX line 40: ld.global.f32)", as far as that is known of the line.
std::string place_in_words(const ptx::Module& module, std::uint32_t line);

/// The text of the source line that this line of the PTX came from; empty if it is not known, or its file not there.
std::string source_text(const ptx::Module& module, std::uint32_t line);

}  // namespace cucore::cpu::loader
