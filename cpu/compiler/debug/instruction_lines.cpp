// The line table from host instructions to PTX instructions: see instruction_lines.hpp.
#include "cpu/compiler/debug/instruction_lines.hpp"

#include <llvm/BinaryFormat/Dwarf.h>

namespace cucore::cpu::compiler {

InstructionLines::InstructionLines(llvm::Module& ir) : builder_(ir) {
  ir.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  ir.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);  // which line_table.cpp reads
  file_ = builder_.createFile("ptx", "");
  unit_ = builder_.createCompileUnit(llvm::dwarf::DW_LANG_C, file_, "", /*isOptimized=*/true, /*Flags=*/"", /*RV=*/0,
                                     /*SplitName=*/"", llvm::DICompileUnit::DebugDirectivesOnly);
}

llvm::DISubprogram* InstructionLines::describe(llvm::Function& body) {
  auto* const type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({nullptr}));
  auto* const described =
      builder_.createFunction(unit_, body.getName(), "", file_, 0, type, 0, llvm::DINode::FlagZero,
                              llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  builder_.finalizeSubprogram(described);
  body.setSubprogram(described);
  return described;
}

llvm::DebugLoc InstructionLines::place_of(llvm::DISubprogram* function, std::uint32_t number) {
  return llvm::DILocation::get(function->getContext(), number, 0, function);
}

llvm::DebugLoc InstructionLines::describe_like(const llvm::Function& other, llvm::Function& body) {
  auto* const copy = llvm::MDNode::replaceWithDistinct(other.getSubprogram()->clone());
  body.setSubprogram(llvm::cast<llvm::DISubprogram>(copy));
  return place_of(body.getSubprogram(), 0);
}

}  // namespace cucore::cpu::compiler
