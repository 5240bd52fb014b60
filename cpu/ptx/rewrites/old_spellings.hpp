// Makes the defaults of old PTX explicit: the modifiers that instructions had by default before PTX ISA 1.4, and the
// flushing of subnormal numbers that .target sm_1x implies. Afterwards spellings mean the same in modules of every
// version.
#pragma once

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

void complete_old_spellings(Module& module);

}  // namespace cucore::cpu::ptx
