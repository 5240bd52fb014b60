// What checked code calls (cpu/abi/checks.hpp).
#pragma once

#include "cpu/abi/checks.hpp"

namespace cucore::cpu::runtime {

/// Null if nothing is checked.
const CheckTable* check_table();

}  // namespace cucore::cpu::runtime
