// Source lines, functions and variables as LLVM has them for debuggers: see debug_information.hpp.
#include "cpu/compiler/debug/debug_information.hpp"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::compiler {

namespace dwarf = llvm::dwarf;

namespace {

/// `saxpy<float>` of `void saxpy<float>(float*)`: what a user would break on.
std::string short_name_of(std::string_view symbol) {
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(std::string(symbol).c_str())) return std::string(symbol);
  char* const name = demangler.getFunctionName(nullptr, nullptr);
  std::string found = name != nullptr ? name : std::string(symbol);
  std::free(name);  // NOLINT: the demangler gives what malloc made
  return found;
}

/// The place that a function begins at: the first `.loc` of its body.
ptx::SourceLine first_line_of(const ptx::Function& function) {
  for (const ptx::Instruction& instruction : function.body)
    if (instruction.source.file != 0) return instruction.source;
  return {};
}

}  // namespace

DebugInformation::DebugInformation(const ptx::Module& module, llvm::Module& ir) : module_(module), builder_(ir) {
  ir.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  ir.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  std::uint32_t first = 0;
  while (first < module.files.size() && module.files[first].empty()) ++first;
  unit_ = builder_.createCompileUnit(dwarf::DW_LANG_C_plus_plus_14, file(first), "cucore CPU device",
                                     /*isOptimized=*/false, /*Flags=*/"", /*RV=*/0);
  uint3_ = three_numbers("uint3");
  dim3_ = three_numbers("dim3");
}

llvm::DIFile* DebugInformation::file(std::uint32_t index) {
  if (index >= module_.files.size() || module_.files[index].empty()) return builder_.createFile("unknown.ptx", "");
  if (files_.size() <= index) files_.resize(std::size_t{index} + 1);
  if (files_[index] == nullptr) {
    const std::filesystem::path path = module_.files[index];
    files_[index] = builder_.createFile(path.filename().string(), path.parent_path().string());
  }
  return files_[index];
}

llvm::DISubprogram* DebugInformation::describe(const ptx::Function& function, llvm::Function& body) {
  const ptx::SourceLine begins = first_line_of(function);
  const std::string name = short_name_of(function.name);
  auto* const type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({nullptr}));
  auto* const described = builder_.createFunction(
      unit_, name, name == function.name ? llvm::StringRef() : llvm::StringRef(function.name), file(begins.file),
      begins.line, type, begins.line, llvm::DINode::FlagPrototyped, llvm::DISubprogram::SPFlagDefinition);
  body.setSubprogram(described);
  body.addFnAttr("frame-pointer", "all");
  return described;
}

llvm::DebugLoc DebugInformation::place_of(llvm::DISubprogram* function, const ptx::Instruction* instruction) {
  const bool has_line = instruction != nullptr && instruction->source.file != 0;
  if (!has_line) return llvm::DILocation::get(function->getContext(), function->getLine(), 0, function);
  const ptx::SourceLine& source = instruction->source;
  llvm::DIScope* scope = function;
  if (llvm::DIFile* const from = file(source.file); from != function->getFile())
    scope = builder_.createLexicalBlockFile(function, from);
  return llvm::DILocation::get(function->getContext(), source.line, source.column, scope);
}

void DebugInformation::declare_built_ins(llvm::DISubprogram* function, llvm::AllocaInst* state) {
  const auto add = [&](const char* name, llvm::DIType* type, Path path) {
    auto* const variable =
        builder_.createAutoVariable(function, name, function->getFile(), function->getLine(), type, true);
    declare(function, state, variable, path);
  };
  add("threadIdx", uint3_, {offsetof(ThreadState, thread_id)});
  add("blockIdx", uint3_, {offsetof(ThreadState, block), offsetof(BlockState, block_id)});
  add("blockDim", dim3_, {offsetof(ThreadState, block), offsetof(BlockState, launch), offsetof(LaunchState, block)});
  add("gridDim", dim3_, {offsetof(ThreadState, block), offsetof(BlockState, launch), offsetof(LaunchState, grid)});
}

void DebugInformation::declare_kernel_parameter(llvm::DISubprogram* function, llvm::AllocaInst* state,
                                                const ptx::Variable& parameter, unsigned number, std::uint64_t offset) {
  auto* const variable =
      builder_.createParameterVariable(function, llvm::StringRef(parameter.name), number, function->getFile(),
                                       function->getLine(), type_of(parameter), true);
  declare(function, state, variable,
          {offsetof(ThreadState, block), offsetof(BlockState, launch), offsetof(LaunchState, params), offset});
}

void DebugInformation::declare_parameter(llvm::DISubprogram* function, llvm::AllocaInst* where,
                                         const ptx::Variable& parameter, unsigned number) {
  auto* const variable =
      builder_.createParameterVariable(function, llvm::StringRef(parameter.name), number, function->getFile(),
                                       function->getLine(), type_of(parameter), true);
  declare(function, where, variable, {0});
}

void DebugInformation::declare_register(llvm::DISubprogram* function, llvm::AllocaInst* where, std::string_view name) {
  while (!name.empty() && name.front() == '%') name.remove_prefix(1);
  if (name.empty()) return;
  auto* const variable = builder_.createAutoVariable(function, llvm::StringRef(name), function->getFile(),
                                                     function->getLine(), type_of(*where->getAllocatedType()), true);
  declare(function, where, variable, {});
}

/// The variable lies where the path leads: from `where` through pointers, each at an offset from where the one before
/// it points.
void DebugInformation::declare(llvm::DISubprogram* function, llvm::AllocaInst* where, llvm::DILocalVariable* variable,
                               Path path) {
  llvm::SmallVector<std::uint64_t> operations;
  for (const std::uint64_t offset : path) {
    operations.push_back(dwarf::DW_OP_deref);
    if (offset != 0) operations.append({dwarf::DW_OP_plus_uconst, offset});
  }
  builder_.insertDeclare(where, variable, builder_.createExpression(operations), place_of(function, nullptr).get(),
                         where->getParent());
}

llvm::DIType* DebugInformation::number(const char* name, std::uint64_t bits, unsigned encoding) {
  return builder_.createBasicType(name, bits, encoding);
}

llvm::DIType* DebugInformation::three_numbers(const char* name) {
  llvm::DIType* const unsigned_int = number("unsigned int", 32, dwarf::DW_ATE_unsigned);
  llvm::SmallVector<llvm::Metadata*> members;
  for (const char* const axis : {"x", "y", "z"}) {
    const std::uint64_t offset = 32 * members.size();
    members.push_back(builder_.createMemberType(unit_, axis, unit_->getFile(), 0, 32, 32, offset,
                                                llvm::DINode::FlagZero, unsigned_int));
  }
  return builder_.createStructType(unit_, name, unit_->getFile(), 0, 96, 32, llvm::DINode::FlagZero, nullptr,
                                   builder_.getOrCreateArray(members));
}

/// A parameter has no more of a type in PTX than its size and kind.
llvm::DIType* DebugInformation::type_of(const ptx::Variable& variable) {
  const std::uint64_t bits = 8 * ptx::size_in_bytes(variable.type);
  llvm::DIType* element = nullptr;
  if (variable.is_pointer) {
    element = builder_.createPointerType(nullptr, 64);
  } else if (ptx::is_float(variable.type) && bits >= 32) {
    element = number(bits == 32 ? "float" : "double", bits, dwarf::DW_ATE_float);
  } else if (ptx::is_signed(variable.type)) {
    element = number(std::string(ptx::spelling(variable.type)).c_str(), bits, dwarf::DW_ATE_signed);
  } else {
    element = number(std::string(ptx::spelling(variable.type)).c_str(), std::max<std::uint64_t>(bits, 8),
                     dwarf::DW_ATE_unsigned);
  }
  const std::uint64_t bytes = element->getSizeInBits() / 8;
  if (!variable.is_array && variable.vector_width == 1) return element;
  llvm::Metadata* const range = builder_.getOrCreateSubrange(0, static_cast<std::int64_t>(variable.size / bytes));
  return builder_.createArrayType(8 * variable.size, 8 * variable.alignment, element,
                                  builder_.getOrCreateArray({range}));
}

llvm::DIType* DebugInformation::type_of(const llvm::Type& type) {
  if (type.isFloatTy()) return number("float", 32, dwarf::DW_ATE_float);
  if (type.isDoubleTy()) return number("double", 64, dwarf::DW_ATE_float);
  const unsigned bits = type.getScalarSizeInBits();
  if (bits == 1) return number("bool", 8, dwarf::DW_ATE_boolean);
  return number((".b" + std::to_string(bits)).c_str(), bits, dwarf::DW_ATE_unsigned);
}

}  // namespace cucore::cpu::compiler
