// What checked code calls (codegen/checks.hpp).
#pragma once

#include "cpu/codegen/checks.hpp"

namespace cucore::cpu::runtime {

/// Null if nothing is checked.
const CheckTable* check_table();

}  // namespace cucore::cpu::runtime
