// The last step: object code into memory, by LLVM's JIT linker. One session for the whole process, one library in it
// per kernel; the session is never destroyed, since launches may still run while the process exits.
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cpu/codegen/built_ins.hpp"
#include "cpu/codegen/host_target.hpp"
#include "cpu/codegen/module_emitter.hpp"

namespace cucore::cpu::codegen {

namespace orc = llvm::orc;

namespace {

struct Session {
  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  std::atomic<std::uint64_t> libraries{0};

  explicit Session(std::unique_ptr<orc::ExecutorProcessControl> control) : session(std::move(control)), layer(session) {
    // A failed link is reported by the look-up that needed it; the session itself prints nothing.
    session.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }
};

llvm::Expected<Session*> session() {
  static llvm::Expected<Session*>* const shared = [] {
    auto control = orc::SelfExecutorProcessControl::Create();
    if (!control) return new llvm::Expected<Session*>(control.takeError());
    return new llvm::Expected<Session*>(new Session(std::move(*control)));
  }();
  if (*shared) return **shared;
  return llvm::createStringError("this process cannot run generated code");
}

orc::ExecutorSymbolDef at(void* address) {
  return {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Absolute};
}

class LinkedCode final : public Code {
 public:
  LinkedCode(Session& session, orc::JITDylib& library) : session_(session), library_(library) {}
  ~LinkedCode() override { llvm::consumeError(session_.session.removeJITDylib(library_)); }

  llvm::Error define(std::unique_ptr<llvm::MemoryBuffer> object, const ptx::Module& module, const Reach& reach,
                     const ModuleAddresses& addresses) {
    orc::SymbolMap symbols;
    for (const Symbol& symbol : callable_symbols()) {
      symbols[session_.session.intern(llvm::StringRef(symbol.name))] = at(symbol.address);
    }
    for (ptx::VariableId id : reach.variables) {
      if (module.variables[id].space == ptx::Space::Shared || id >= addresses.variables.size()) continue;
      if (addresses.variables[id] == nullptr) continue;
      symbols[session_.session.intern(symbol_of(module.variables[id]))] = at(addresses.variables[id]);
    }
    if (auto error = library_.define(orc::absoluteSymbols(std::move(symbols)))) return error;
    return session_.layer.add(library_, std::move(object));
  }

  /// Writes the addresses of functions that initialisers of the variables name. Every kernel of a module has its own
  /// copy of such a function, and any copy serves them all.
  llvm::Error initialise_function_addresses(const ptx::Module& module, const Reach& reach,
                                            const ModuleAddresses& addresses) {
    for (ptx::VariableId id : reach.variables) {
      if (id >= addresses.variables.size() || addresses.variables[id] == nullptr) continue;
      for (const ptx::Relocation& relocation : module.variables[id].relocations) {
        if (!relocation.is_function) continue;
        const Callee callee = resolve(module, relocation.function);
        if (!callee.function) continue;
        char* address = nullptr;
        if (auto error = find(symbol_of(module.functions[*callee.function]), address)) return error;
        const std::uint64_t value =
            (reinterpret_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(relocation.addend)) >>
            relocation.shift;
        std::memcpy(static_cast<char*>(addresses.variables[id]) + relocation.offset, &value,
                    std::min<std::size_t>(relocation.width, sizeof value));
      }
    }
    return llvm::Error::success();
  }

  template <typename Function>
  llvm::Error find(const std::string& symbol, Function& function) {
    auto found = session_.session.lookup({&library_}, session_.session.intern(symbol));
    if (!found) return found.takeError();
    function = found->getAddress().template toPtr<Function>();
    return llvm::Error::success();
  }

 private:
  Session& session_;
  orc::JITDylib& library_;
};

}  // namespace

CompileResult link(const KernelRecord& record, const ptx::Module& module, const Reach& reach,
                   const ModuleAddresses& addresses) {
  auto shared = session();
  if (!shared) return {.code = nullptr, .error = llvm::toString(shared.takeError()), .refusal = {}};
  auto& library = (*shared)->session.createBareJITDylib("kernel." + std::to_string((*shared)->libraries++));
  auto code = std::make_unique<LinkedCode>(**shared, library);
  code->info = record.info;
  auto error = code->define(llvm::MemoryBuffer::getMemBufferCopy(record.object), module, reach, addresses);
  if (!error) {
    error = record.info.needs_fibers ? code->find(run_thread_symbol, code->run_thread)
                                     : code->find(run_block_symbol, code->run_block);
  }
  if (!error) error = code->initialise_function_addresses(module, reach, addresses);
  if (error) return {.code = nullptr, .error = llvm::toString(std::move(error)), .refusal = {}};
  return {.code = std::move(code), .error = {}, .refusal = record.refusal};
}

}  // namespace cucore::cpu::codegen
