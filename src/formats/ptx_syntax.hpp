// A glance at PTX: whether its form is that of PTX. ptxas has the last word on it, and is slow.
#pragma once

#include <string_view>

namespace cucore::detail {

/// False for text with an error of syntax that is plain to see: a statement that begins with no known directive or
/// opcode, brackets that do not match, a missing ';', text that ends too early. Operands are not looked into, so true
/// promises nothing; false may also be said of PTX that is newer than what is known here. Linear in the text.
bool looks_like_ptx(std::string_view text);

/// The operand of a directive at the start of a line, e.g. "9.0" of ".version 9.0"; empty if there is none.
std::string_view ptx_directive(std::string_view ptx, std::string_view directive);

}  // namespace cucore::detail
