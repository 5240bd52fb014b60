// The processor that code is made for, and LLVM's machine for it: see host_target.hpp.
#include "cpu/compiler/host_target.hpp"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/AtomicExpandUtils.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <optional>
#include <utility>

#include "cpu/compiler/host_processor.hpp"

namespace cucore::cpu::compiler {
namespace {

const llvm::Target& host() {
  static const llvm::Target& target = []() -> const llvm::Target& {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto& options = llvm::cl::getRegisteredOptions();
    for (const char* const slow : {
             "disable-x86-domain-reassignment",  // of masks: its time grows with the square of their number
             "disable-post-ra",                  // orders instructions once more, for a processor that does so itself
         }) {
      if (auto found = options.find(slow); found != options.end())
        static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
    }
    const auto set = [&](const char* name, const char* value) {
      if (auto found = options.find(name); found != options.end()) found->second->addOccurrence(0, name, value);
    };
    // Code that comes from no PTX instruction is marked so, instead of counting as part of the code before it.
    set("use-unknown-locations", "Enable");
    // Prepares blocks for selection once more only where that has changed them, instead of all while any changes: saves
    // a third of the compile of a large kernel.
    set("cgpp-huge-func", "1");
    // Does not follow variables through optimised code, which has none: saves a tenth of a compile's time.
    set("experimental-debug-variable-locations", "false");
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(llvm::sys::getProcessTriple(), error);
    if (found == nullptr) llvm::report_fatal_error(llvm::StringRef(error));
    return *found;
  }();
  return target;
}

/// Counters that wrap around, `atom.inc` and `.dec`: LLVM 19 has no code for them where Arm's processors have atomic
/// instructions, and ends the process.
void expand_counters(llvm::Module& ir) {
  using Operation = llvm::AtomicRMWInst;
  llvm::SmallVector<Operation*, 8> counters;
  for (llvm::Function& function : ir) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* update = llvm::dyn_cast<Operation>(&instruction);
      if (update == nullptr) continue;
      if (update->getOperation() == Operation::UIncWrap || update->getOperation() == Operation::UDecWrap)
        counters.push_back(update);
    }
  }
  for (Operation* counter : counters) {
    llvm::expandAtomicRMWToCmpXchg(counter, [](llvm::IRBuilderBase& b, llvm::Value* address, llvm::Value* old,
                                               llvm::Value* next, llvm::Align alignment, llvm::AtomicOrdering ordering,
                                               llvm::SyncScope::ID scope, llvm::Value*& is_done, llvm::Value*& found) {
      const auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering);
      llvm::Value* pair = b.CreateAtomicCmpXchg(address, old, next, alignment, ordering, failure, scope);
      is_done = b.CreateExtractValue(pair, 1);
      found = b.CreateExtractValue(pair, 0);
    });
  }
}

Result<std::string> emit(llvm::TargetMachine& machine, llvm::Module& ir, llvm::CodeGenFileType kind) {
  if (machine.getTargetTriple().isAArch64()) expand_counters(ir);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return Failure(ErrorCode::NotSupported, "this host cannot emit code");
  passes.run(ir);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

Result<HostTarget> HostTarget::create(bool debug, std::string_view march) {
  const std::optional<HostProcessor> processor = host_processor(march);
  if (!processor) return Failure(ErrorCode::InvalidValue, not_a_processor(march));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const auto effort = debug ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(
      host().createTargetMachine(processor->triple, processor->name, processor->features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, effort, /*JIT=*/true));
  machine->setGlobalISel(false);  // of which Arm's has more gaps
  return HostTarget(std::move(machine));
}

HostTarget::HostTarget(std::unique_ptr<llvm::TargetMachine> machine) : machine_(std::move(machine)) {}
HostTarget::HostTarget(HostTarget&&) noexcept = default;
HostTarget::~HostTarget() = default;

bool HostTarget::has_feature(const char* name) const {
  return machine_->getTargetFeatureString().contains("+" + std::string(name));
}

HostFeatures HostTarget::features() const {
  llvm::LLVMContext context;
  llvm::Module scratch("description", context);
  prepare(scratch);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* any = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "any", scratch);
  any->addFnAttr("prefer-vector-width", "512");  // all that there is, even if other programs had better take less
  const llvm::TargetTransformInfo description = machine_->getTargetTransformInfo(*any);
  using Kind = llvm::TargetTransformInfo::RegisterKind;
  const bool is_arm = machine_->getTargetTriple().isAArch64();
  return {.f16c = has_feature("f16c"),
          .avx2 = has_feature("avx2"),
          .avx512f = has_feature("avx512f"),
          .fpclass = has_feature("avx512dq") && has_feature("avx512vl"),
          .neon = is_arm,
          .vector_bits = static_cast<unsigned>(description.getRegisterBitWidth(Kind::RGK_FixedWidthVector)),
          .vector_registers = description.getNumberOfRegisters(description.getRegisterClassForType(/*Vector=*/true))};
}

void HostTarget::spare_effort() const {
  machine_->setOptLevel(llvm::CodeGenOptLevel::None);
  machine_->setFastISel(true);  // as a machine that begins without effort has it
}

void HostTarget::prepare(llvm::Module& ir) const {
  ir.setTargetTriple(machine_->getTargetTriple().str());
  ir.setDataLayout(machine_->createDataLayout());
  ir.setPICLevel(llvm::PICLevel::BigPIC);
}

Result<std::string> HostTarget::assemble(llvm::Module& ir) const {
  return emit(*machine_, ir, llvm::CodeGenFileType::ObjectFile);
}

Result<std::string> HostTarget::assembly(llvm::Module& ir) const {
  return emit(*machine_, ir, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace cucore::cpu::compiler
