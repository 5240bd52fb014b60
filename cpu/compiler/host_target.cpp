// The processor that code is made for, and LLVM's machine for it: see host_target.hpp.
#include "cpu/compiler/host_target.hpp"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <optional>
#include <utility>

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
    // Does not follow variables through optimised code, which has none: saves a tenth of a compile's time.
    set("experimental-debug-variable-locations", "false");
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(llvm::sys::getProcessTriple(), error);
    if (found == nullptr) llvm::report_fatal_error(llvm::StringRef(error));
    return *found;
  }();
  return target;
}

Result<std::string> emit(llvm::TargetMachine& machine, llvm::Module& ir, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return Failure(ErrorCode::NotSupported, "this host cannot emit code");
  passes.run(ir);
  return std::string(bytes.begin(), bytes.end());
}

/// What code is generated for: the processor this runs on, in LLVM's words.
struct HostProcessor {
  std::string triple, name;
  llvm::StringMap<bool> features;
};

const HostProcessor& host_processor() {
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& processor = *new HostProcessor{.triple = llvm::sys::getProcessTriple(),
                                                    .name = llvm::sys::getHostCPUName().str(),
                                                    .features = llvm::sys::getHostCPUFeatures()};
  return processor;
}

/// What this processor and one called `march` both have, the latter left out if the name is empty. Nothing if there is
/// no such processor.
std::optional<std::string> common_features(std::string_view march) {
  if (!march.empty() && llvm::X86::parseArchX86(march, /*Only64Bit=*/true) == llvm::X86::CK_None) return std::nullopt;
  llvm::SmallVector<llvm::StringRef> named{"64bit"};  // which LLVM does not list, since it is implied
  if (!march.empty()) llvm::X86::getFeaturesForCPU(march, named);
  llvm::StringMap<bool> allowed;
  for (const llvm::StringRef name : named) {
    allowed[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, allowed);
  }
  llvm::SubtargetFeatures common;
  for (const auto& [name, present] : host_processor().features)
    common.AddFeature(name, present && (march.empty() || allowed.contains(name)));
  return common.getString();
}

}  // namespace

Result<HostTarget> HostTarget::create(bool debug, std::string_view march) {
  const HostProcessor& processor = host_processor();
  const std::optional<std::string> features = common_features(march);
  if (!features) {
    return Failure(ErrorCode::InvalidValue,
                   "CUCORE_CPU_MARCH is \"" + std::string(march) +
                       "\", which names no 64-bit x86 processor; x86-64-v3, for one, stands for those with AVX2");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const auto effort = debug ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
  return HostTarget(std::unique_ptr<llvm::TargetMachine>(
      host().createTargetMachine(processor.triple, processor.name, *features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, effort, /*JIT=*/true)));
}

HostTarget::HostTarget(std::unique_ptr<llvm::TargetMachine> machine) : machine_(std::move(machine)) {}
HostTarget::HostTarget(HostTarget&&) noexcept = default;
HostTarget::~HostTarget() = default;

bool HostTarget::has_feature(const char* name) const {
  return machine_->getTargetFeatureString().contains("+" + std::string(name));
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
