// The generators: each emits a family of PTX instructions as LLVM IR at the emitter's position.
#pragma once

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

#define CUCPU_GENERATOR(name) void name(FunctionEmitter&, const ptx::Instruction&);
#include "cpu/analysis/instructions/generators.def"
#undef CUCPU_GENERATOR

}  // namespace cucore::cpu::compiler
