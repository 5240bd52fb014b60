// Branches, calls, the ends of functions and threads, and instructions that only hint.
#include <algorithm>

#include "cpu/abi/checks.hpp"
#include "cpu/compiler/checks/emit_checks.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using analysis::branch_targets;
using analysis::Callee;
using analysis::DeviceRuntime;
using analysis::resolve;
using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
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

/// `call (results), callee, (arguments), prototype`: both lists are optional, a prototype stands with a register.
struct Call {
  std::vector<Operand> results;
  std::vector<Operand> arguments;
  Operand callee;
  std::vector<const ptx::Variable*> declared_results;
  std::vector<const ptx::Variable*> declared_parameters;

  Call(const FunctionEmitter& f, const Instruction& i) {
    auto operand = i.operands.begin();
    if (operand->kind == Operand::Kind::List) results = (operand++)->elements;
    callee = *operand++;
    if (operand != i.operands.end() && operand->kind == Operand::Kind::List) arguments = (operand++)->elements;
    if (callee.kind == Operand::Kind::Function) {
      declare(f.module.module.functions[callee.function]);
    } else if (operand->kind == Operand::Kind::Prototype) {
      const ptx::Prototype& prototype = f.function.prototypes[operand->integer];
      for (const ptx::Variable& result : prototype.returns) declared_results.push_back(&result);
      for (const ptx::Variable& parameter : prototype.parameters) declared_parameters.push_back(&parameter);
    } else if (const auto& targets = f.function.target_lists[operand->integer].functions; !targets.empty()) {
      declare(f.module.module.functions[targets.front()]);
    }
  }

 private:
  void declare(const ptx::Function& function) {
    for (ptx::VariableId id : function.returns) declared_results.push_back(&function.variables[id]);
    for (ptx::VariableId id : function.parameters) declared_parameters.push_back(&function.variables[id]);
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

/// Passes arguments and results in memory; `target` is a function or a pointer to one.
void call_function(FunctionEmitter& f, const Instruction& i, const Call& call, Value* target, bool may_exit) {
  if (call.results.size() != call.declared_results.size() || call.arguments.size() != call.declared_parameters.size()) {
    f.module.fail("other arguments than the function takes", i);
    return;
  }
  std::vector<Value*> arguments{f.thread()};
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    arguments.push_back(storage(f, call.results[r], *call.declared_results[r], i));
  }
  for (std::size_t a = 0; a < call.arguments.size(); ++a) {
    const ptx::Variable& parameter = *call.declared_parameters[a];
    arguments.push_back(storage(f, call.arguments[a], parameter, i));
    if (call.arguments[a].kind != Operand::Kind::Variable) {
      f.b.CreateStore(f.source(call.arguments[a], parameter.type), arguments.back());
    }
  }
  const std::vector<llvm::Type*> pointers(arguments.size(), f.b.getPtrTy());
  Value* exited = f.b.CreateCall(llvm::FunctionType::get(f.b.getInt1Ty(), pointers, false), target, arguments);
  if (may_exit) f.leave_if(exited);
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    if (call.results[r].kind == Operand::Kind::Variable) continue;
    const Type type = call.declared_results[r]->type;
    f.define(call.results[r], f.b.CreateLoad(f.type_of(type), arguments[1 + r]), type);
  }
}

void define_result(FunctionEmitter& f, const Call& call, Value* value, Type type) {
  if (call.results.empty()) return;
  if (call.results[0].kind == Operand::Kind::Variable) {
    f.b.CreateStore(value, f.variable_pointer(call.results[0]));
  } else {
    f.define(call.results[0], value, type);
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
  define_result(f, call, f.call("cucpu_vprintf", f.b.getInt32Ty(), arguments), Type::S32);
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
  f.leave_if(f.b.getTrue());  // in a plain loop the others go on to their own assertions
}

/// void* malloc(size_t bytes) and void free(void* block)
void call_heap(FunctionEmitter& f, const Instruction& i, const Call& call, DeviceRuntime which) {
  if (call.arguments.size() != 1) {
    f.module.fail("other arguments than malloc and free take", i);
    return;
  }
  Value* argument = argument_value(f, call.arguments[0], Type::U64);
  const bool is_checked = (f.module.checks & check_class::memory_checks) != 0;
  if (which == DeviceRuntime::Malloc) {
    define_result(f, call,
                  is_checked ? emit_checked_malloc(f, argument, i.position.line)
                             : f.call("cucpu_malloc", f.b.getInt64Ty(), {argument}),
                  Type::U64);
  } else if (is_checked) {
    emit_checked_free(f, argument, i.position.line);
  } else {
    f.call("cucpu_free", f.b.getVoidTy(), {f.thread(), argument});
  }
}

/// void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value): the handle is the value's address.
void call_graph_set_conditional(FunctionEmitter& f, const Instruction& i, const Call& call) {
  if (call.arguments.size() != 2) {
    f.module.fail("other arguments than cudaGraphSetConditional takes", i);
    return;
  }
  Value* address = f.b.CreateIntToPtr(argument_value(f, call.arguments[0], Type::U64), f.b.getPtrTy());
  f.b.CreateStore(argument_value(f, call.arguments[1], Type::U32), address, true);
}

/// The device runtime takes its operands as calls here pass them: in memory.
void call_device_runtime(FunctionEmitter& f, const Instruction& i, const Call& call, DeviceCall which) {
  std::vector<Value*> operands;
  if (call.results.empty()) {
    operands.push_back(f.slot(f.type_of(call.declared_results[0]->type), "unused"));
  } else {
    operands.push_back(storage(f, call.results[0], *call.declared_results[0], i));
  }
  for (std::size_t a = 0; a < call.arguments.size(); ++a) {
    const ptx::Variable& parameter = *call.declared_parameters[a];
    operands.push_back(storage(f, call.arguments[a], parameter, i));
    if (call.arguments[a].kind != Operand::Kind::Variable)
      f.b.CreateStore(f.source(call.arguments[a], parameter.type), operands.back());
  }
  Value* list = f.slot(llvm::ArrayType::get(f.b.getPtrTy(), operands.size()), "operands");
  for (std::size_t n = 0; n < operands.size(); ++n)
    f.b.CreateStore(operands[n], f.b.CreateConstInBoundsGEP1_64(f.b.getPtrTy(), list, n));
  f.call("cucpu_device_call", f.b.getVoidTy(), {f.thread(), f.b.getInt32(static_cast<std::uint32_t>(which)), list});
  if (call.results.empty() || call.results[0].kind == Operand::Kind::Variable) return;
  const Type type = call.declared_results[0]->type;
  f.define(call.results[0], f.b.CreateLoad(f.type_of(type), operands[0]), type);
}

}  // namespace

void emit_call(FunctionEmitter& f, const Instruction& i) {
  const Call call(f, i);
  if (call.callee.kind != Operand::Kind::Function) {
    Value* target = f.b.CreateIntToPtr(f.source(call.callee, Type::U64), f.b.getPtrTy());
    call_function(f, i, call, target, true);
    return;
  }
  const Callee callee = resolve(f.module.module, call.callee.function);
  if (callee.function) {
    call_function(f, i, call, f.module.function(*callee.function), f.module.reach.may_exit[*callee.function]);
    return;
  }
  switch (*callee.runtime) {
    case DeviceRuntime::Vprintf:
      return call_vprintf(f, i, call);
    case DeviceRuntime::Assertfail:
      return call_assertfail(f, i, call);
    case DeviceRuntime::Malloc:
    case DeviceRuntime::Free:
      return call_heap(f, i, call, *callee.runtime);
    case DeviceRuntime::GraphSetConditional:
      return call_graph_set_conditional(f, i, call);
    case DeviceRuntime::Call:
      return call_device_runtime(f, i, call, callee.call);
  }
}

}  // namespace cucore::cpu::compiler
