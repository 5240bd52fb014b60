// What bodies of functions are made of: instructions by their generators, with checks around them in checked code.
#pragma once

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

extern const BodySteps body_steps;

}  // namespace cucore::cpu::compiler
