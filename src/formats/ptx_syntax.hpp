// A quick check of PTX syntax. ptxas decides in the end, but is slow.
#pragma once

#include <string_view>

namespace cucore::detail {

/// False for text with an obvious syntax error: a statement that begins with no known directive or
/// opcode, brackets that do not match, a missing ';', text that ends too early. Operands are not checked, so true
/// promises nothing; the answer may also be false for PTX that is newer than what is known here. Linear in the text.
bool looks_like_ptx(std::string_view text);

/// The operand of a directive at the start of a line, e.g. "9.0" of ".version 9.0"; empty if there is none.
std::string_view ptx_directive(std::string_view ptx, std::string_view directive);

}  // namespace cucore::detail
