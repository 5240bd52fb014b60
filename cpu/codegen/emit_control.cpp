// Branches, calls, the ends of functions and threads, and instructions that only hint.
#include <algorithm>

#include "cpu/codegen/function_emitter.hpp"
#include "cpu/codegen/generators.hpp"

namespace cucore::cpu::codegen {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

void emit_bra(FunctionEmitter& f, const Instruction& i) { f.b.CreateBr(f.edge_to_label(i.operands[0].label)); }

void emit_brx(FunctionEmitter& f, const Instruction& i) {
  Value* index = f.source(i.operands[0], Type::U32);
  const std::vector<ptx::LabelId> labels = branch_targets(f.function, i);
  auto* beyond = f.new_block("beyond");
  auto* choice = f.b.CreateSwitch(index, beyond, static_cast<unsigned>(labels.size()));
  for (std::uint32_t n = 0; n < labels.size(); ++n) choice->addCase(f.b.getInt32(n), f.edge_to_label(labels[n]));
  f.b.SetInsertPoint(beyond);
  emit_trap(f, i);
}

void emit_ret(FunctionEmitter& f, const Instruction&) { f.leave(false); }

void emit_exit(FunctionEmitter& f, const Instruction&) { f.leave(true); }

void emit_trap(FunctionEmitter& f, const Instruction&) {
  f.call("cucpu_trap", f.b.getVoidTy(), {f.thread()});
  f.leave(true);
}

void emit_nothing(FunctionEmitter&, const Instruction&) {}

void emit_nanosleep(FunctionEmitter& f, const Instruction& i) {
  f.call("cucpu_nanosleep", f.b.getVoidTy(), {f.thread(), f.source(i.operands[0], Type::U32)});
}

// ---- calls ---------------------------------------------------------------------------------------------------------

namespace {

/// `call (results), function, (arguments)`, either list optional.
struct Call {
  std::vector<Operand> results;
  std::vector<Operand> arguments;
  ptx::FunctionId called = 0;

  explicit Call(const Instruction& i) {
    const auto function = std::find_if(i.operands.begin(), i.operands.end(),
                                       [](const Operand& o) { return o.kind == Operand::Kind::Function; });
    called = function->function;
    if (function != i.operands.begin()) results = i.operands.front().elements;
    if (function + 1 != i.operands.end()) arguments = (function + 1)->elements;
  }
};

/// The storage of an argument or result: that of a .param variable, or of a copy of a register or constant.
Value* storage(FunctionEmitter& f, const Operand& operand, const ptx::Variable& parameter, const Instruction& i) {
  if (operand.kind == Operand::Kind::Variable && operand.scope == Operand::Scope::Function) {
    if (f.variable(operand).size != parameter.size) f.module.fail("an argument of another size", i);
    return f.variable_pointer(operand);
  }
  return f.slot(f.type_of(parameter.type), "argument", 16);
}

Value* argument_value(FunctionEmitter& f, const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::Variable) return f.source(operand, type);
  return f.b.CreateLoad(f.type_of(type), f.variable_pointer(operand));
}

void call_function(FunctionEmitter& f, const Instruction& i, const Call& call, ptx::FunctionId id) {
  const ptx::Function& callee = f.module.module.functions[id];
  if (call.results.size() != callee.returns.size() || call.arguments.size() != callee.parameters.size()) {
    f.module.fail("other arguments than the function takes", i);
    return;
  }
  std::vector<Value*> arguments{f.thread()};
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    arguments.push_back(storage(f, call.results[r], callee.variables[callee.returns[r]], i));
  }
  for (std::size_t a = 0; a < call.arguments.size(); ++a) {
    const ptx::Variable& parameter = callee.variables[callee.parameters[a]];
    arguments.push_back(storage(f, call.arguments[a], parameter, i));
    if (call.arguments[a].kind != Operand::Kind::Variable) {
      f.b.CreateStore(f.source(call.arguments[a], parameter.type), arguments.back());
    }
  }
  Value* exited = f.b.CreateCall(f.module.function(id), arguments);
  if (f.module.reach.may_exit[id]) f.leave_if(exited);
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    if (call.results[r].kind == Operand::Kind::Variable) continue;
    const Type type = callee.variables[callee.returns[r]].type;
    f.define(call.results[r], f.b.CreateLoad(f.type_of(type), arguments[1 + r]), type);
  }
}

/// int vprintf(const char* format, const void* arguments)
void call_vprintf(FunctionEmitter& f, const Instruction& i, const Call& call) {
  if (call.arguments.size() != 2) {
    f.module.fail("other arguments than vprintf takes", i);
    return;
  }
  std::vector<Value*> arguments{f.thread()};
  for (const Operand& argument : call.arguments) {
    arguments.push_back(f.b.CreateIntToPtr(argument_value(f, argument, Type::U64), f.b.getPtrTy()));
  }
  Value* printed = f.call("cucpu_vprintf", f.b.getInt32Ty(), arguments);
  if (call.results.empty()) return;
  if (call.results[0].kind == Operand::Kind::Variable) {
    f.b.CreateStore(printed, f.variable_pointer(call.results[0]));
  } else {
    f.define(call.results[0], printed, Type::S32);
  }
}

/// void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t char_size)
void call_assertfail(FunctionEmitter& f, const Instruction& i, const Call& call) {
  if (call.arguments.size() != 5) {
    f.module.fail("other arguments than __assertfail takes", i);
    return;
  }
  auto text = [&](std::size_t a) {
    return f.b.CreateIntToPtr(argument_value(f, call.arguments[a], Type::U64), f.b.getPtrTy());
  };
  Value* line = argument_value(f, call.arguments[2], Type::U32);
  f.call("cucpu_assertfail", f.b.getVoidTy(),
         {f.thread(), text(0), text(1), line, text(3), argument_value(f, call.arguments[4], Type::U64)});
}

}  // namespace

void emit_call(FunctionEmitter& f, const Instruction& i) {
  const Call call(i);
  const Callee callee = resolve(f.module.module, call.called);
  if (callee.function) {
    call_function(f, i, call, *callee.function);
  } else if (callee.runtime == DeviceRuntime::Vprintf) {
    call_vprintf(f, i, call);
  } else {
    call_assertfail(f, i, call);
  }
}

}  // namespace cucore::cpu::codegen
