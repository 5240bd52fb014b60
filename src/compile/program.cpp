// Program: checks and keeps what it is given, compiles one after another, perhaps through a cache, and keeps what the
// compiler reported.
#include "cucore/program.hpp"

#include <utility>

#include "cucore/error.hpp"
#include "src/compile/program_state.hpp"

namespace cucore {
namespace {

constexpr const char* default_name = "default_program";

}  // namespace

Program::Program(std::string_view code, SourceType code_type, ProgramOptions options) : state_(new State(code_type)) {
  const bool text = code_type != SourceType(SourceType::nvvm);
  if (text && code.ends_with('\0')) code.remove_suffix(1);
  if (const std::size_t nul = code.find('\0'); text && nul != std::string_view::npos) {
    throw ValueError({.call = "Program",
                      .message = "the source has a NUL character at offset " + std::to_string(nul),
                      .hint = "the compiler would stop reading there; remove it"});
  }
  if (options.name.empty()) options.name = default_name;
  validate(options, code_type);
  state_->code = code;
  state_->options = std::move(options);
  if (code_type == SourceType(SourceType::ptx)) state_->check_ptx();
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

ObjectCode Program::compile(CodeType target, const std::vector<std::string>& name_expressions,
                            CompileSettings settings) const {
  CompileReport unread;
  CompileReport& report = settings.report != nullptr ? *settings.report : unread;
  report = {};
  State& state = here("Program::compile");
  const toolkit::Cancellation cancellation(state.cancelled, ++state.asked);
  const std::lock_guard lock(state.mutex);
  const auto keep = [&](const std::string& log) {
    report.log = state.log = log;
    report.diagnostics = parse_diagnostics(log);
  };
  try {
    const ProgramOptions& resolved = state.checked("Program::compile", target, name_expressions);
    const auto compile = [&] { return state.compile_now(target, resolved, name_expressions, cancellation); };
    const auto key = [&] { return state.key_of(target, resolved, name_expressions); };
    CompileRecord record = settings.cache != nullptr && !state.is_source(target)
                               ? settings.cache->lookup_or_compile(report, key, compile)
                               : compile();
    keep(record.log);
    return std::move(record.code);
  } catch (const Error& error) {
    keep(error.log());
    throw;
  }
}

std::shared_ptr<const CompileKey> Program::cache_key(CodeType target,
                                                     const std::vector<std::string>& name_expressions) const {
  State& state = here("Program::cache_key");
  const std::lock_guard lock(state.mutex);
  const ProgramOptions& resolved = state.checked("Program::cache_key", target, name_expressions);
  if (state.is_source(target))
    return std::make_shared<const CompileKey>(
        CompileKey{.uncacheable = "PTX from PTX is the source itself: nothing is compiled"});
  return state.key_of(target, resolved, name_expressions);
}

Program::State& Program::here(const char* call) const {
  if (state_ == nullptr) throw StateError({.call = call, .message = "this Program has been moved from"});
  return *state_;
}

std::string_view Program::backend() const {
  switch (state_->type.value()) {
    case SourceType::ptx:
      return Linker::which_backend() == LinkerBackend::driver ? "driver" : "nvJitLink";
    case SourceType::nvvm:
      return "NVVM";
    default:
      return "NVRTC";
  }
}
SourceType Program::code_type() const noexcept { return state_->type; }
const std::string& Program::code() const noexcept { return state_->code; }
const ProgramOptions& Program::options() const noexcept { return state_->options; }

std::string Program::log() const {
  const std::lock_guard lock(state_->mutex);
  return state_->log;
}

std::vector<Diagnostic> Program::diagnostics() const { return parse_diagnostics(log()); }

std::vector<KernelStatistics> Program::kernel_statistics() const { return parse_kernel_statistics(log()); }

void* Program::handle() const {
  State& state = here("Program::handle");
  const std::lock_guard lock(state.mutex);
  if (state.closed) {
    throw StateError({.call = "Program::handle",
                      .message = "program '" + state.options.name + "' has been closed",
                      .hint = "make a new Program"});
  }
  return state.handle();
}

std::optional<PchStatus> Program::pch_status() const { return state_->pch; }

void Program::cancel() noexcept {
  if (state_ != nullptr) state_->cancelled = state_->asked.load();
}

void Program::close() noexcept {
  if (state_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  state_->close();
}

Program::operator bool() const noexcept {
  if (state_ == nullptr) return false;
  const std::lock_guard lock(state_->mutex);
  return !state_->closed;
}

ObjectCode compile_ptx(std::string_view code, ProgramOptions options,
                       const std::vector<std::string>& name_expressions) {
  return Program(code, SourceType::cxx, std::move(options)).compile(CodeType::ptx, name_expressions);
}

ObjectCode compile_cubin(std::string_view code, ProgramOptions options,
                         const std::vector<std::string>& name_expressions) {
  return Program(code, SourceType::cxx, std::move(options)).compile(CodeType::cubin, name_expressions);
}

ObjectCode compile_ltoir(std::string_view code, ProgramOptions options,
                         const std::vector<std::string>& name_expressions) {
  return Program(code, SourceType::cxx, std::move(options)).compile(CodeType::ltoir, name_expressions);
}

}  // namespace cucore
