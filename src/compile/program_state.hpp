// What a Program holds, and one compile with each back end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cucore/linker.hpp"
#include "cucore/program.hpp"
#include "src/compile/known_keys.hpp"
#include "src/toolkit/nvjitlink.hpp"
#include "src/toolkit/nvrtc.hpp"
#include "src/toolkit/nvvm.hpp"

namespace cucore {

struct Program::State {
  explicit State(SourceType t) : type(t) {}

  const SourceType type;
  std::string code;
  ProgramOptions options;
  // Compiles are numbered as they are asked for; those up to `cancelled` are to end.
  std::atomic<std::uint64_t> asked = 0;
  std::atomic<std::uint64_t> cancelled = 0;
  std::mutex mutex;  // one compile at a time; also guards what follows
  bool closed = false;
  std::string log;
  std::atomic<std::optional<PchStatus>> pch;  // set with the mutex, read without
  // The back end's objects of the last compile, or for the next; at most one is not null.
  std::unique_ptr<toolkit::NvrtcNative> nvrtc;
  std::unique_ptr<toolkit::NativeLink> link;
  std::unique_ptr<Linker> linker;
  std::unique_ptr<toolkit::NvvmNative> nvvm;

  /// Throws NvJitLinkError for PTX with syntax errors that a quick look shows.
  void check_ptx() const;
  /// The options with arch resolved. Throws for what cannot be compiled.
  /// Valid while the mutex is held.
  const ProgramOptions& checked(const char* call, CodeType target, const std::vector<std::string>& name_expressions);
  /// Whether PTX is wanted from PTX: then the source is the result, whatever the architecture.
  bool is_source(CodeType target) const;
  CompileRecord compile_now(CodeType target, const ProgramOptions& resolved,
                            const std::vector<std::string>& name_expressions,
                            const toolkit::Cancellation& cancellation);
  /// The key of that compile. Remembered: the headers' contents are read again only when a file has changed.
  std::shared_ptr<const CompileKey> key_of(CodeType target, const ProgramOptions& resolved,
                                           const std::vector<std::string>& name_expressions);
  void* handle();
  void close() noexcept;

 private:
  std::optional<ProgramOptions> for_device;       // options with arch of the device, where none is given
  std::shared_ptr<detail::KnownKeys> known_keys;  // once a key was asked for

  CompileRecord compile_cxx(CodeType target, const ProgramOptions& resolved,
                            const std::vector<std::string>& name_expressions,
                            const toolkit::Cancellation& cancellation);
  CompileRecord compile_archs(const ProgramOptions& resolved, const std::vector<std::string>& name_expressions,
                              const toolkit::Cancellation& cancellation);
  CompileRecord compile_nvvm(CodeType target, const ProgramOptions& resolved);
  CompileRecord link_ptx(CodeType target, const ProgramOptions& resolved);
  CompileRecord link_ptx_with_driver(const ProgramOptions& resolved);
};

}  // namespace cucore
