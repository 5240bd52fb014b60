// Program: checks, flags, the compile itself, and the result as an ObjectCode that is never empty.
#include "cucore/program.hpp"

#include <mutex>
#include <utility>

#include "cucore/error.hpp"
#include "src/detail/elf.hpp"
#include "src/program_flags.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/nvjitlink.hpp"
#include "src/toolkit/nvrtc.hpp"

namespace cucore {
namespace {

constexpr const char* kDefaultName = "default_program";

bool is_virtual(const std::string& arch) { return arch.starts_with("compute_"); }

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw ValueError({.call = "Program::compile", .message = message, .hint = hint});
}

// What target, architecture and LTO together cannot give. The compilers answer such requests with success and nothing.
void check_target(SourceType source, CodeType target, const ProgramOptions& o) {
  const bool cxx = source == SourceType(SourceType::cxx);
  const std::string word(target.name());
  const bool supported = target == CodeType(CodeType::ptx) || target == CodeType(CodeType::cubin) ||
                         (cxx && target == CodeType(CodeType::ltoir));
  if (!supported) {
    refuse("Unsupported target_type=\"" + word + "\" for " + (cxx ? "NVRTC" : "nvJitLink"),
           cxx ? "use ptx, cubin or ltoir" : "use cubin, or ptx for the source as it is");
  }
  const bool lto = o.link_time_optimization.value_or(false);
  if (target == CodeType(CodeType::cubin) && is_virtual(*o.arch)) {
    refuse("no cubin can be made for arch='" + *o.arch + "', which is a virtual architecture",
           "use arch='sm_" + o.arch->substr(8) + "', or compile to ptx");
  }
  if (lto && (cxx ? target != CodeType(CodeType::ltoir) : target == CodeType(CodeType::ptx))) {
    refuse("link_time_optimization=true gives LTO-IR, not " + word,
           cxx ? "compile to ltoir, or leave link_time_optimization unset" : "compile to cubin");
  }
  if (o.fdevice_syntax_only.value_or(false)) {
    refuse("fdevice_syntax_only=true generates no code, so there is nothing to return",
           "leave it unset; an NvrtcError tells of syntax errors as well");
  }
}

void refuse_empty(const std::string& image, CodeType target, const ProgramOptions& o, const std::string& log) {
  if (!image.empty()) return;
  throw NvrtcError({.call = "Program::compile",
                    .message = "the compiler reported success but gave no " + std::string(target.name()) +
                               " for program '" + o.name + "', arch='" + *o.arch + "'",
                    .log = log,
                    .hint = "an option in ptxas_options or a combination of options suppresses the output"});
}

std::string with_ptx(const std::string& image, std::string ptx) {
  ptx += '\0';
  return detail::elf_add_section(image, detail::kPtxSection, ptx);
}

}  // namespace

namespace detail {

ProgramOptions with_arch(const ProgramOptions& options) {
  ProgramOptions resolved = options;
  resolved.arch = resolve_arch(options);
  return resolved;
}

std::vector<std::string> flags_for(SourceType code_type, const ProgramOptions& options, CodeType target) {
  if (code_type != SourceType(SourceType::cxx)) return nvjitlink_flags(options);
  std::vector<std::string> flags = nvrtc_flags(options, target);
  if (options.toolkit_headers.value_or(true)) {
    for (const std::filesystem::path& folder : toolkit::include_paths()) {
      flags.push_back("--include-path=" + folder.string());
    }
  }
  return flags;
}

}  // namespace detail

struct Program::State {
  explicit State(SourceType t) : type(t) {}

  const SourceType type;
  std::string code;
  ProgramOptions options;
  mutable std::mutex mutex;  // one compile at a time; also guards what follows
  bool closed = false;
  std::string log;
  std::optional<PchStatus> pch;

  // PTX wanted from PTX: it is there already, whatever the architecture.
  bool is_source(CodeType target) const {
    return type == SourceType(SourceType::ptx) && target == CodeType(CodeType::ptx) &&
           !options.link_time_optimization.value_or(false);
  }
  ProgramOptions checked(const char* call, CodeType target, const std::vector<std::string>& name_expressions) const;
  CompileRecord compile_cxx(CodeType target, const ProgramOptions& resolved,
                            const std::vector<std::string>& name_expressions);
  CompileRecord link_ptx(CodeType target, const ProgramOptions& resolved) const;
  CompileRecord compile_now(CodeType target, const ProgramOptions& resolved,
                            const std::vector<std::string>& name_expressions) {
    if (is_source(target)) return {.code = ObjectCode::from_ptx(code, resolved.name)};
    return type == SourceType(SourceType::cxx) ? compile_cxx(target, resolved, name_expressions)
                                               : link_ptx(target, resolved);
  }
};

CompileRecord Program::State::compile_cxx(CodeType target, const ProgramOptions& resolved,
                                          const std::vector<std::string>& name_expressions) {
  const bool want_ptx = target == CodeType(CodeType::cubin) && resolved.embed_ptx.value_or(true);
  const std::vector<std::string> flags = detail::flags_for(type, resolved, target);
  toolkit::NvrtcOutput output =
      toolkit::compile_with_nvrtc({.source = code,
                                   .name = resolved.name,
                                   .headers = resolved.headers,
                                   .flags = flags,
                                   .name_expressions = name_expressions,
                                   .target = target,
                                   .want_ptx = want_ptx,
                                   .uses_pch = resolved.pch.value_or(false) || resolved.create_pch.has_value(),
                                   .arch = *resolved.arch});
  pch = output.pch;
  refuse_empty(output.image, target, resolved, output.log);
  if (want_ptx && !output.ptx.empty()) output.image = with_ptx(output.image, std::move(output.ptx));
  SymbolMapping mapping;
  for (std::size_t i = 0; i < name_expressions.size(); ++i) {
    mapping.insert_or_assign(name_expressions[i], std::move(output.lowered_names[i]));
  }
  return {.code = ObjectCode::from_bytes(target, output.image, resolved.name, std::move(mapping)),
          .log = std::move(output.log)};
}

CompileRecord Program::State::link_ptx(CodeType target, const ProgramOptions& resolved) const {
  toolkit::LinkedCubin linked = toolkit::compile_ptx_with_nvjitlink(code, resolved.name, nvjitlink_flags(resolved));
  refuse_empty(linked.image, target, resolved, linked.log);
  if (resolved.embed_ptx.value_or(true)) linked.image = with_ptx(linked.image, code);
  return {.code = ObjectCode::from_cubin(linked.image, resolved.name), .log = std::move(linked.log)};
}

Program::Program(std::string_view code, SourceType code_type, ProgramOptions options) : state_(new State(code_type)) {
  if (code.ends_with('\0')) code.remove_suffix(1);
  if (const std::size_t nul = code.find('\0'); nul != std::string_view::npos) {
    throw ValueError({.call = "Program",
                      .message = "the source has a NUL character at offset " + std::to_string(nul),
                      .hint = "the compiler would stop reading there; remove it"});
  }
  if (options.name.empty()) options.name = kDefaultName;
  validate(options);
  if (code_type == SourceType(SourceType::nvvm)) {
    throw UnavailableError({.call = "Program",
                            .message = "NVVM IR cannot be compiled: this version of cucore has no libNVVM back end",
                            .hint = "use c++ or ptx source"});
  }
  if (!options.extra_sources.empty()) {
    throw ValueError(
        {.call = "Program",
         .message = "extra_sources is not supported by the backend of " + std::string(code_type.name()) + " source",
         .hint = "extra_sources are modules of NVVM IR"});
  }
  if (code_type == SourceType(SourceType::ptx)) nvjitlink_flags(options);  // refuses what PTX cannot have
  state_->code = code;
  state_->options = std::move(options);
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

// What a compile needs to know before it starts; throws for what cannot be compiled.
ProgramOptions Program::State::checked(const char* call, CodeType target,
                                       const std::vector<std::string>& name_expressions) const {
  if (closed) {
    throw StateError(
        {.call = call, .message = "program '" + options.name + "' has been closed", .hint = "make a new Program"});
  }
  for (const std::string& expression : name_expressions) {
    if (expression.empty() || expression.find('\0') != std::string::npos) {
      refuse("a name expression is empty or has a NUL character", "name a kernel or variable, e.g. 'axpy<float>'");
    }
  }
  if (is_source(target)) return options;
  ProgramOptions resolved = detail::with_arch(options);
  check_target(type, target, resolved);
  return resolved;
}

ObjectCode Program::compile(CodeType target, const std::vector<std::string>& name_expressions,
                            CompileSettings settings) const {
  CompileReport unread;
  CompileReport& report = settings.report != nullptr ? *settings.report : unread;
  report = {};
  State& state = here("Program::compile");
  const std::lock_guard lock(state.mutex);
  const ProgramOptions resolved = state.checked("Program::compile", target, name_expressions);
  state.pch.reset();
  const auto compile = [&] { return state.compile_now(target, resolved, name_expressions); };
  const auto key = [&] { return make_compile_key(state.code, state.type, resolved, target, name_expressions); };
  CompileRecord record = settings.cache != nullptr && !state.is_source(target)
                             ? settings.cache->lookup_or_compile(report, key, compile)
                             : compile();
  report.log = record.log;
  state.log = std::move(record.log);
  return std::move(record.code);
}

CompileKey Program::cache_key(CodeType target, const std::vector<std::string>& name_expressions) const {
  const State& state = here("Program::cache_key");
  const std::lock_guard lock(state.mutex);
  const ProgramOptions resolved = state.checked("Program::cache_key", target, name_expressions);
  return make_compile_key(state.code, state.type, resolved, target, name_expressions);
}

Program::State& Program::here(const char* call) const {
  if (state_ == nullptr) throw StateError({.call = call, .message = "this Program has been moved from"});
  return *state_;
}

std::string_view Program::backend() const noexcept {
  return state_->type == SourceType(SourceType::cxx) ? "NVRTC" : "nvJitLink";
}
SourceType Program::code_type() const noexcept { return state_->type; }
const std::string& Program::code() const noexcept { return state_->code; }
const ProgramOptions& Program::options() const noexcept { return state_->options; }

std::string Program::log() const {
  const std::lock_guard lock(state_->mutex);
  return state_->log;
}

std::optional<PchStatus> Program::pch_status() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pch;
}

void Program::close() noexcept {
  if (state_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
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

}  // namespace cucore
