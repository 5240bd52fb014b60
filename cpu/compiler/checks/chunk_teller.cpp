// Functions that tell the run-time of exceptional numbers in chunks of lanes: see number_marks.hpp.
#include <llvm/IR/Attributes.h>

#include <string>

#include "cpu/compiler/checks/number_marks.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::NumberTest;
using llvm::Value;

enum Argument : unsigned { Block, Place, First, Values, Masks };

/// One for each kind of question.
std::string name_of(const NumberTest& test, llvm::ArrayRef<llvm::Type*> types, unsigned chunks) {
  std::string name = "cucpu.tell." + std::to_string(test.bits()) + "." + std::to_string(chunks);
  for (const llvm::Type* const type : types)
    name += (type->getScalarType()->isFloatingPointTy() ? ".f" : ".i") + std::to_string(type->getScalarSizeInBits());
  return name;
}

/// for (k = 0; k < chunks; ++k) if (lanes = asked(k) & masks[k]) tell(k, lanes);
void emit_body(llvm::Function& function, const NumberTest& test, llvm::ArrayRef<llvm::Type*> types,
               const NumberReport& report, unsigned chunks) {
  llvm::LLVMContext& context = function.getContext();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, &function); };
  auto* const entry = block("");
  auto* const chunk = block("chunk");
  auto* const tells = block("exceptional");
  auto* const next = block("told");
  auto* const done = block("done");
  llvm::IRBuilder<> b(entry);
  b.CreateBr(chunk);
  b.SetInsertPoint(chunk);
  llvm::PHINode* const k = b.CreatePHI(b.getInt64Ty(), 2);
  k->addIncoming(b.getInt64(0), entry);
  Value* const values = b.CreateInBoundsGEP(b.getInt8Ty(), function.getArg(Values),
                                            b.CreateMul(k, b.getInt64(bytes_of_chunk(report.lane_count))));
  llvm::SmallVector<Value*, 4> loaded;
  for (unsigned n = 0; n < types.size(); ++n) {
    Value* const at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), values, std::uint64_t{8} * n * report.lane_count);
    loaded.push_back(b.CreateAlignedLoad(types[n], at, llvm::Align(8)));
  }
  Value* const found = b.CreateBitCast(is_exceptional(b, test, loaded), b.getIntNTy(report.lane_count));
  Value* const asked = b.CreateLoad(b.getInt32Ty(), b.CreateInBoundsGEP(b.getInt32Ty(), function.getArg(Masks), k));
  Value* const lanes = b.CreateAnd(b.CreateZExt(found, b.getInt32Ty()), asked);
  b.CreateCondBr(b.CreateIsNotNull(lanes), tells, next);
  b.SetInsertPoint(tells);
  Value* const before = b.CreateMul(b.CreateTrunc(k, b.getInt32Ty()), b.getInt32(report.lane_count));
  call_number_service(b, {.block = function.getArg(Block),
                          .place = function.getArg(Place),
                          .first = b.CreateAdd(function.getArg(First), before),
                          .lanes = lanes,
                          .values = values,
                          .lane_count = report.lane_count,
                          .sizes = report.sizes});
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value* const following = b.CreateAdd(k, b.getInt64(1));
  k->addIncoming(following, next);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt64(chunks)), chunk, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

}  // namespace

void call_chunk_teller(llvm::IRBuilder<>& b, const NumberMark& mark, llvm::ArrayRef<llvm::Type*> types,
                       const NumberReport& first_chunk, Value* masks, unsigned chunks) {
  llvm::Function& caller = *b.GetInsertBlock()->getParent();
  llvm::Module& module = *caller.getParent();
  const std::string name = name_of(mark.test, types, chunks);
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    llvm::Type* const pointer = b.getPtrTy();
    auto* const type =
        llvm::FunctionType::get(b.getVoidTy(), {pointer, b.getInt64Ty(), b.getInt32Ty(), pointer, pointer}, false);
    function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::Cold);
    for (const char* const each : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"})
      if (caller.hasFnAttribute(each)) function->addFnAttr(caller.getFnAttribute(each));
    emit_body(*function, mark.test, types, first_chunk, chunks);
  }
  b.CreateCall(function, {first_chunk.block, first_chunk.place, first_chunk.first, first_chunk.values, masks})
      ->setDoesNotThrow();
}

}  // namespace cucore::cpu::compiler
