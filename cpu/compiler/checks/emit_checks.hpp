// Checked code: what is emitted around each instruction that accesses memory or waits for other threads, if
// CompileOptions asks for checks. In the code that the vector form is made from, these are marks of accesses
// (marks.hpp). checks.hpp is the contract with the checker.
#pragma once

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// Emits `instruction` by `generate`, with its checks. An access that is refused does not happen: what it would have
/// read is zero.
void emit_checked(FunctionEmitter& f, const ptx::Instruction& instruction, Generate generate);

/// The lifetime of a local variable begins, or ends, at the emitter's current position.
void emit_enter(FunctionEmitter& f, llvm::Value* variable, const ptx::Variable& declared);
void emit_leave(FunctionEmitter& f, llvm::Value* variable, const ptx::Variable& declared);

/// malloc and free of checked code.
llvm::Value* emit_checked_malloc(FunctionEmitter& f, llvm::Value* bytes, std::uint32_t line);
void emit_checked_free(FunctionEmitter& f, llvm::Value* block, std::uint32_t line);

}  // namespace cucore::cpu::compiler
