// mma, wmma, wgmma, ldmatrix, stmatrix and movmatrix: registers go to memory, and the matrix unit works on those of all
// lanes.
#include <initializer_list>
#include <string>
#include <vector>

#include "cpu/analysis/instructions/matrix_form.hpp"
#include "cpu/analysis/instructions/warpgroup_form.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"
#include "cpu/compiler/ir/convergent_calls.hpp"

namespace cucore::cpu::compiler {

using analysis::Element;
using analysis::FragmentForm;
using analysis::MatrixForm;
using analysis::read_fragment_form;
using analysis::read_matrix_form;
using analysis::read_warpgroup_form;
using analysis::WarpgroupForm;
using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;

namespace {

/// What fills a lane's registers of a fragment.
Type register_type(Element element) { return element == Element::F64 ? Type::B64 : Type::B32; }

/// Room in memory for the registers of an operand.
llvm::AllocaInst* room_for(FunctionEmitter& f, const std::vector<Operand>& registers, Type type) {
  return f.slot(llvm::ArrayType::get(f.bits_of(type), registers.size()), "fragment", 16);
}

Value* register_in(FunctionEmitter& f, llvm::AllocaInst* room, std::size_t n) {
  return f.b.CreateConstInBoundsGEP2_64(room->getAllocatedType(), room, 0, n);
}

/// The registers of a source operand, in memory.
llvm::AllocaInst* put_registers(FunctionEmitter& f, const Operand& operand, Type type) {
  const std::vector<Operand> registers = f.elements(operand);
  llvm::AllocaInst* room = room_for(f, registers, type);
  for (std::size_t n = 0; n < registers.size(); ++n)
    f.b.CreateStore(f.source(registers[n], type), register_in(f, room, n));
  return room;
}

/// Takes the registers of a result operand from memory.
void take_registers(FunctionEmitter& f, const std::vector<Operand>& registers, llvm::AllocaInst* room, Type type) {
  for (std::size_t n = 0; n < registers.size(); ++n)
    f.define(registers[n], f.b.CreateLoad(f.bits_of(type), register_in(f, room, n)), type);
}

/// The distance between rows or columns in memory: given, or what makes the matrix dense.
Value* stride_of(FunctionEmitter& f, const Instruction& i, const FragmentForm& form) {
  if (i.operands.size() > 2) return f.source(i.operands[2], Type::U32);
  return f.b.getInt32(form.is_column_major ? form.rows() : form.columns());
}

/// Registers of a fragment as arguments of what becomes vectors (of_fragments).
using Registers = llvm::SmallVector<Value*, 16>;

Registers sources(FunctionEmitter& f, const Operand& operand, Type type) {
  Registers values;
  for (const Operand& each : f.elements(operand)) values.push_back(f.source(each, type));
  return values;
}

/// In code that is to get a vector form the registers of all lanes become vectors, and the warp makes one call.
bool becomes_vectors(const FunctionEmitter& f) { return f.module.block_shape != nullptr; }

/// Calls cucpu_fragments_NAME with groups of registers, and defines what it gives. The name says the form, too, since
/// calls of different forms have different types.
void call_of_fragments(FunctionEmitter& f, const std::string& name, std::uint64_t form,
                       std::initializer_list<Registers> groups, const std::vector<Operand>& results, Type type) {
  Registers arguments{f.b.getInt64(form), nullptr};
  std::uint32_t counts = 0;
  std::string kind = "." + std::to_string(form);
  unsigned shift = 0;
  for (const Registers& group : groups) {
    counts |= static_cast<std::uint32_t>(group.size()) << shift;
    shift += 8;
    arguments.append(group);
  }
  arguments[1] = f.b.getInt32(counts);
  const llvm::SmallVector<llvm::Type*, 16> types(results.size(), f.bits_of(type));
  llvm::Type* made = results.empty() ? f.b.getVoidTy() : llvm::StructType::get(f.module.context, types);
  kind += "." + std::to_string(counts) + "." + std::to_string(results.size());
  Value* whole = f.call(std::string(of_fragments) + name + kind, made, arguments);
  for (unsigned n = 0; n < results.size(); ++n) f.define(results[n], f.b.CreateExtractValue(whole, n), type);
}

std::uint32_t matrices_of(const Instruction& i) { return i.has(M::X1) ? 1 : i.has(M::X2) ? 2 : 4; }

std::uint64_t rows_form(const Instruction& i) { return matrices_of(i) | (i.has(M::Trans) ? 1U << 8 : 0U); }

}  // namespace

/// mma and wmma.mma d, a, b, c and, if A is sparse, metadata and which lanes bring it
void emit_mma(FunctionEmitter& f, const Instruction& i) {
  const MatrixForm form = *read_matrix_form(i);
  if (becomes_vectors(f)) {
    Value* own_metadata = form.has(MatrixForm::is_sparse) ? f.source(i.operands[4], Type::B32) : f.b.getInt32(0);
    const Registers a = sources(f, i.operands[1], register_type(form.a()));
    const Registers b = sources(f, i.operands[2], register_type(form.b()));
    const Registers c = sources(f, i.operands[3], register_type(form.c()));
    const std::vector<Operand> results = f.elements(i.operands[0]);
    if (f.module.checks_numbers)
      call_of_fragments(f, "multiply_checked", form.bits(), {a, b, c, {own_metadata, f.b.getInt32(i.position.line)}},
                        results, register_type(form.d()));
    else
      call_of_fragments(f, "multiply", form.bits(), {a, b, c, {own_metadata}}, results, register_type(form.d()));
    return;
  }
  Value* a = put_registers(f, i.operands[1], register_type(form.a()));
  Value* b = put_registers(f, i.operands[2], register_type(form.b()));
  Value* c = put_registers(f, i.operands[3], register_type(form.c()));
  const std::vector<Operand> results = f.elements(i.operands[0]);
  const Type type = register_type(form.d());
  llvm::AllocaInst* d = room_for(f, results, type);
  Value* metadata = form.has(MatrixForm::is_sparse) ? f.source(i.operands[4], Type::B32) : f.b.getInt32(0);
  f.call("cucpu_matrix_multiply", f.b.getVoidTy(), {f.thread(), f.b.getInt64(form.bits()), a, b, c, d, metadata});
  take_registers(f, results, d, type);
}

/// wgmma.mma_async d, a, b and, if A is sparse, metadata and which lanes bring it, and whether d counts before
void emit_wgmma(FunctionEmitter& f, const Instruction& i) {
  const WarpgroupForm form = *read_warpgroup_form(i);
  const bool is_sparse = form.has(WarpgroupForm::is_sparse);
  const bool has_descriptor = form.has(WarpgroupForm::a_in_shared);
  const std::vector<Operand> results = f.elements(i.operands[0]);
  llvm::AllocaInst* d = put_registers(f, i.operands[0], Type::B32);
  Value* a = llvm::ConstantPointerNull::get(f.b.getPtrTy());
  if (!has_descriptor) a = put_registers(f, i.operands[1], Type::B32);
  Value* a_descriptor = has_descriptor ? f.source(i.operands[1], Type::B64) : f.b.getInt64(0);
  Value* b_descriptor = f.source(i.operands[2], Type::B64);
  Value* window = f.b.getInt32(0);
  if (f.own_shared() != f.shared_base()) {
    Value* const distance = f.b.CreateSub(f.b.CreatePtrToInt(f.own_shared(), f.b.getInt64Ty()),
                                          f.b.CreatePtrToInt(f.shared_base(), f.b.getInt64Ty()));
    window = f.b.CreateTrunc(distance, f.b.getInt32Ty());
  }
  Value* metadata = is_sparse ? f.source(i.operands[3], Type::B32) : f.b.getInt32(0);
  Value* accumulates = f.b.CreateZExt(f.predicate(i.operands[is_sparse ? 5 : 3]), f.b.getInt32Ty());
  f.call("cucpu_warpgroup_multiply", f.b.getVoidTy(),
         {f.thread(), f.b.getInt64(form.bits()), d, a, a_descriptor, b_descriptor, window, accumulates, metadata});
  take_registers(f, results, d, Type::B32);
}

/// wmma.load r, [p], stride
void emit_wmma_load(FunctionEmitter& f, const Instruction& i) {
  const FragmentForm form = *read_fragment_form(i);
  const std::vector<Operand> results = f.elements(i.operands[0]);
  const Type type = register_type(form.element);
  Value* from = f.pointer(i.operands[1], i.space());
  if (becomes_vectors(f)) {
    call_of_fragments(f, "load", form.bits(), {{from}, {stride_of(f, i, form)}}, results, type);
    return;
  }
  llvm::AllocaInst* room = room_for(f, results, type);
  f.call("cucpu_matrix_load", f.b.getVoidTy(),
         {f.thread(), f.b.getInt64(form.bits()), from, stride_of(f, i, form), room});
  take_registers(f, results, room, type);
}

/// wmma.store [p], r, stride
void emit_wmma_store(FunctionEmitter& f, const Instruction& i) {
  const FragmentForm form = *read_fragment_form(i);
  Value* to = f.pointer(i.operands[0], i.space());
  if (becomes_vectors(f)) {
    call_of_fragments(f, "store", form.bits(),
                      {{to}, {stride_of(f, i, form)}, sources(f, i.operands[1], register_type(form.element))}, {},
                      Type::B32);
    return;
  }
  Value* registers = put_registers(f, i.operands[1], register_type(form.element));
  f.call("cucpu_matrix_store", f.b.getVoidTy(),
         {f.thread(), f.b.getInt64(form.bits()), to, stride_of(f, i, form), registers});
}

/// ldmatrix r, [p]
void emit_ldmatrix(FunctionEmitter& f, const Instruction& i) {
  const std::vector<Operand> results = f.elements(i.operands[0]);
  Value* row = f.pointer(i.operands[1], i.space());
  if (becomes_vectors(f)) {
    call_of_fragments(f, "load_rows", rows_form(i), {{row}}, results, Type::B32);
    return;
  }
  llvm::AllocaInst* room = room_for(f, results, Type::B32);
  f.call("cucpu_matrix_load_rows", f.b.getVoidTy(),
         {f.thread(), f.b.getInt32(matrices_of(i)), f.b.getInt32(i.has(M::Trans) ? 1 : 0), row, room});
  take_registers(f, results, room, Type::B32);
}

/// stmatrix [p], r
void emit_stmatrix(FunctionEmitter& f, const Instruction& i) {
  Value* row = f.pointer(i.operands[0], i.space());
  if (becomes_vectors(f)) {
    call_of_fragments(f, "store_rows", rows_form(i), {{row}, sources(f, i.operands[1], Type::B32)}, {}, Type::B32);
    return;
  }
  Value* registers = put_registers(f, i.operands[1], Type::B32);
  f.call("cucpu_matrix_store_rows", f.b.getVoidTy(),
         {f.thread(), f.b.getInt32(matrices_of(i)), f.b.getInt32(i.has(M::Trans) ? 1 : 0), row, registers});
}

/// movmatrix.trans d, a
void emit_movmatrix(FunctionEmitter& f, const Instruction& i) {
  Value* value = f.source(i.operands[1], Type::B32);
  if (becomes_vectors(f)) {
    call_of_fragments(f, "transpose", 0, {{value}}, {i.operands[0]}, Type::B32);
    return;
  }
  f.define(i.operands[0], f.call("cucpu_matrix_transpose", f.b.getInt32Ty(), {f.thread(), value}), Type::B32);
}

}  // namespace cucore::cpu::compiler
