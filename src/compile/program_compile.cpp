// One compile with each back end: flags, the native calls, and a result that is never empty.
#include <algorithm>
#include <utility>

#include "cucore/error.hpp"
#include "cucore/linker.hpp"
#include "src/compile/option_faults.hpp"
#include "src/compile/program_cache_folder.hpp"
#include "src/compile/program_flags.hpp"
#include "src/compile/program_option_table.hpp"
#include "src/compile/program_state.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/ptx_syntax.hpp"
#include "src/toolkit/library.hpp"

namespace cucore {
namespace {

PchStatus pch_status_of(toolkit::NvrtcResult result) {
  if (result == toolkit::NvrtcResult::success) return PchStatus::created;
  return result == toolkit::NvrtcResult::no_pch_create_attempted ? PchStatus::not_attempted : PchStatus::failed;
}

bool is_virtual(const std::string& arch) { return arch.starts_with("compute_"); }

[[noreturn]] void refuse_compile(const std::string& message, const std::string& hint) {
  throw ValueError({.call = "Program::compile", .message = message, .hint = hint});
}

struct BackEnd {
  const char* name;
  bool ptx, cubin, ltoir;
  const char* targets;
};

BackEnd back_end(SourceType source) {
  switch (source.value()) {
    case SourceType::ptx:
      return {.name = "nvJitLink", .ptx = true, .cubin = true, .ltoir = false, .targets = "('ptx', 'cubin')"};
    case SourceType::nvvm:
      return {.name = "NVVM", .ptx = true, .cubin = false, .ltoir = true, .targets = "('ptx', 'ltoir')"};
    default:
      return {.name = "NVRTC", .ptx = true, .cubin = true, .ltoir = true, .targets = "('ptx', 'cubin', 'ltoir')"};
  }
}

// What target, architecture and LTO together cannot give. The compilers answer such requests with success and nothing.
void check_target(SourceType source, CodeType target, const ProgramOptions& o) {
  const BackEnd backend = back_end(source);
  const std::string word(target.name());
  const bool supported = (target == CodeType(CodeType::ptx) && backend.ptx) ||
                         (target == CodeType(CodeType::cubin) && backend.cubin) ||
                         (target == CodeType(CodeType::ltoir) && backend.ltoir);
  if (!supported) {
    refuse_compile("Unsupported target_type=\"" + word + "\" for " + backend.name,
                   std::string("use one of ") + backend.targets);
  }
  const bool lto = o.link_time_optimization.value_or(false);
  if (target == CodeType(CodeType::cubin) && is_virtual(*o.arch)) {
    refuse_compile("no cubin can be made for arch='" + *o.arch + "', which is a virtual architecture",
                   "use arch='sm_" + o.arch->substr(8) + "', or compile to ptx");
  }
  if (lto && source == SourceType(SourceType::ptx) && target == CodeType(CodeType::ptx)) {
    refuse_compile("link_time_optimization=true gives LTO-IR, not " + word, "compile to cubin");
  }
}

void check_target_of_several(SourceType source, CodeType target, const ProgramOptions& o) {
  if (target != CodeType(CodeType::cubin) && target != CodeType(CodeType::fatbin)) {
    refuse_compile("Unsupported target_type=\"" + std::string(target.name()) + "\" for several architectures",
                   "compile to cubin or fatbin, or set one architecture");
  }
  for (const std::string& arch : o.archs) {
    if (source == SourceType(SourceType::ptx) && is_virtual(arch)) {
      refuse_compile("PTX cannot be compiled for arch='" + arch + "', which is a virtual architecture",
                     "leave it out: the source itself is kept for other devices unless embed_ptx is false");
    }
    ProgramOptions one = o;
    one.arch = arch;
    check_target(source, is_virtual(arch) ? CodeType::ptx : CodeType::cubin, one);
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
  return detail::elf_add_section(image, detail::ptx_section, ptx);
}

}  // namespace

namespace detail {

ProgramOptions with_arch(const ProgramOptions& options) {
  ProgramOptions resolved = options;
  resolved.arch = resolve_arch(options);
  return resolved;
}

std::vector<std::string> flags_for(SourceType code_type, const ProgramOptions& options, CodeType target) {
  if (code_type == SourceType(SourceType::ptx)) return nvjitlink_flags(options);
  if (code_type == SourceType(SourceType::nvvm)) return nvvm_flags(options, target);
  std::vector<std::string> flags = nvrtc_flags(options, target);
  // With this flag NVRTC reports success, but makes only LTO-IR.
  if (target != CodeType(CodeType::ltoir)) std::erase(flags, "--dlink-time-opt");
  if (options.use_bundled_headers.value_or(false)) {
    const ToolkitLibrary& nvrtc = toolkit::nvrtc_library();
    const std::string folder = "nvrtc-headers-" + std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor);
    flags.push_back("--use-bundled-headers=" + (default_cache_path() / folder).string());
  }
  for (const std::filesystem::path& folder : toolkit_folders(options)) {
    flags.push_back("--include-path=" + folder.string());
  }
  return flags;
}

std::vector<std::filesystem::path> toolkit_folders(const ProgramOptions& options) {
  const bool wanted = options.toolkit_headers.value_or(true) && !options.use_bundled_headers.value_or(false);
  return wanted ? toolkit::include_paths() : std::vector<std::filesystem::path>();
}

}  // namespace detail

void Program::State::check_ptx() const {
  if (!toolkit::nvjitlink_library().available) return;
  ProgramOptions one = options;
  one.archs.clear();
  if (!options.archs.empty()) one.arch = options.archs.front();
  if (!one.arch) one.arch = detail::architecture_of_ptx(code);
  if (one.arch->empty()) one.arch = "sm_90";
  if (is_virtual(*one.arch)) one.arch = "sm_" + one.arch->substr(8);
  const bool can_be_for_arch =
      !detail::is_architecture(*one.arch) ||
      detail::can_use(CodeType::ptx, detail::architecture_of_ptx(code), detail::parse_architecture(*one.arch).number);
  if (detail::looks_like_ptx(code) && can_be_for_arch) return;
  try {
    std::unique_ptr<toolkit::NativeLink> unused;
    (void)toolkit::compile_ptx_with_nvjitlink(code, options.name, nvjitlink_flags(one), unused);
  } catch (const NvJitLinkError& error) {
    if (error.call() == "nvJitLinkAddData") throw;  // compile() reports all other errors
  }
}

bool Program::State::is_source(CodeType target) const {
  return type == SourceType(SourceType::ptx) && target == CodeType(CodeType::ptx) &&
         !options.link_time_optimization.value_or(false);
}

const ProgramOptions& Program::State::checked(const char* call, CodeType target,
                                              const std::vector<std::string>& name_expressions) {
  if (closed) {
    throw StateError(
        {.call = call, .message = "program '" + options.name + "' has been closed", .hint = "make a new Program"});
  }
  for (const std::string& expression : name_expressions) {
    if (expression.empty() || expression.find('\0') != std::string::npos) {
      refuse_compile("a name expression is empty or has a NUL character",
                     "name a kernel or variable, e.g. 'axpy<float>'");
    }
  }
  if (is_source(target)) return options;
  const bool holds_several = target == CodeType(CodeType::cubin) || target == CodeType(CodeType::fatbin);
  if (options.archs.size() == 1 && !holds_several) {
    if (!for_device) for_device = options;
    for_device->archs.clear();
    for_device->arch = options.archs.front();
    check_target(type, target, *for_device);
    return *for_device;
  }
  if (!options.archs.empty()) {
    check_target_of_several(type, target, options);
    return options;
  }
  if (!options.arch) {
    const std::string arch = resolve_arch(options);
    if (!for_device) for_device = options;
    for_device->arch = arch;
  }
  const ProgramOptions& resolved = options.arch ? options : *for_device;
  check_target(type, target, resolved);
  return resolved;
}

CompileRecord Program::State::compile_now(CodeType target, const ProgramOptions& resolved,
                                          const std::vector<std::string>& name_expressions,
                                          const toolkit::Cancellation& cancellation) {
  pch = std::nullopt;
  if (is_source(target)) return {.code = ObjectCode::from_ptx(code, resolved.name)};
  if (!resolved.archs.empty()) return compile_archs(resolved, name_expressions, cancellation);
  switch (type.value()) {
    case SourceType::ptx:
      return link_ptx(target, resolved);
    case SourceType::nvvm:
      return compile_nvvm(target, resolved);
    default:
      return compile_cxx(target, resolved, name_expressions, cancellation);
  }
}

CompileRecord Program::State::compile_cxx(CodeType target, const ProgramOptions& resolved,
                                          const std::vector<std::string>& name_expressions,
                                          const toolkit::Cancellation& cancellation) {
  const bool want_ptx = target == CodeType(CodeType::cubin) && resolved.embed_ptx.value_or(true);
  const std::vector<std::string> flags = detail::flags_for(type, resolved, target);
  toolkit::NvrtcOutput output = toolkit::compile_with_nvrtc(
      {.source = code,
       .name = resolved.name,
       .headers = resolved.headers,
       .flags = flags,
       .name_expressions = name_expressions,
       .target = target,
       .want_ptx = want_ptx,
       .uses_pch = resolved.pch.value_or(false) || resolved.create_pch.has_value() || resolved.use_pch.has_value(),
       .arch = *resolved.arch,
       .cancellation = &cancellation},
      nvrtc);
  pch = output.pch ? std::optional(pch_status_of(*output.pch)) : std::nullopt;
  refuse_empty(output.image, target, resolved, output.log);
  if (want_ptx && !output.ptx.empty()) output.image = with_ptx(output.image, std::move(output.ptx));
  SymbolMapping mapping;
  for (std::size_t i = 0; i < name_expressions.size(); ++i) {
    mapping.insert_or_assign(name_expressions[i], std::move(output.lowered_names[i]));
  }
  return {.code = ObjectCode::from_bytes(target, output.image, resolved.name, std::move(mapping)),
          .log = std::move(output.log)};
}

// One compile after another: each needs its own, since NVRTC makes code for one architecture at a time.
CompileRecord Program::State::compile_archs(const ProgramOptions& resolved,
                                            const std::vector<std::string>& name_expressions,
                                            const toolkit::Cancellation& cancellation) {
  const bool from_ptx = type == SourceType(SourceType::ptx);
  const auto is_wanted = [&](const std::string& arch) {
    return std::find(resolved.archs.begin(), resolved.archs.end(), arch) != resolved.archs.end();
  };
  std::vector<ObjectCode> codes;
  std::string logs;
  SymbolMapping mapping;
  for (const std::string& arch : resolved.archs) {
    ProgramOptions one = resolved;
    one.archs.clear();
    one.arch = arch;
    // PTX that is an image of its own need not be carried by a cubin as well.
    if (from_ptx || (!is_virtual(arch) && is_wanted("compute_" + arch.substr(3)))) one.embed_ptx = false;
    CompileRecord record =
        from_ptx ? link_ptx(CodeType::cubin, one)
                 : compile_cxx(is_virtual(arch) ? CodeType::ptx : CodeType::cubin, one, name_expressions, cancellation);
    logs += record.log;
    mapping.insert(record.code.symbol_mapping().begin(), record.code.symbol_mapping().end());
    codes.push_back(std::move(record.code));
  }
  std::vector<ArchitectureCode> parts;
  for (std::size_t i = 0; i < codes.size(); ++i) parts.push_back({.arch = resolved.archs[i], .code = codes[i]});
  const ObjectCode source = ObjectCode::from_ptx(code, resolved.name);
  if (from_ptx && resolved.embed_ptx.value_or(true)) parts.push_back({.arch = {}, .code = source});
  return {.code = ObjectCode::from_images(parts, resolved.name, std::move(mapping)), .log = std::move(logs)};
}

CompileRecord Program::State::compile_nvvm(CodeType target, const ProgramOptions& resolved) {
  const toolkit::NvvmInput input{.source = code,
                                 .name = resolved.name,
                                 .extra_sources = resolved.extra_sources,
                                 .flags = detail::flags_for(type, resolved, target),
                                 .use_libdevice = resolved.use_libdevice.value_or(false)};
  if (nvvm == nullptr || nvvm->compiled()) nvvm = std::make_unique<toolkit::NvvmNative>(input);
  toolkit::NvvmOutput output = nvvm->compile(input);
  refuse_empty(output.image, target, resolved, output.log);
  return {.code = ObjectCode::from_bytes(target, output.image, resolved.name), .log = std::move(output.log)};
}

CompileRecord Program::State::link_ptx(CodeType target, const ProgramOptions& resolved) {
  if (Linker::which_backend() == LinkerBackend::driver) return link_ptx_with_driver(resolved);
  toolkit::LinkedCubin linked =
      toolkit::compile_ptx_with_nvjitlink(code, resolved.name, nvjitlink_flags(resolved), link);
  refuse_empty(linked.image, target, resolved, linked.log);
  if (resolved.embed_ptx.value_or(true)) linked.image = with_ptx(linked.image, code);
  return {.code = ObjectCode::from_cubin(linked.image, resolved.name), .log = std::move(linked.log)};
}

CompileRecord Program::State::link_ptx_with_driver(const ProgramOptions& resolved) {
  LinkerOptions wanted = detail::linker_options(resolved);
  // PTX says itself how it rounds, so these only speak of optimising LTO-IR; what is dropped is told in the log.
  std::vector<std::string> ignored = ignored_options(wanted, LinkerBackend::driver);
  if (resolved.use_fast_math.value_or(false)) ignored.emplace_back("use_fast_math");
  std::string remarks;
  for (const std::string& name : ignored) {
    remarks += "warning : " + name + " has no effect on PTX that the driver links\n";
  }
  linker = std::make_unique<Linker>(std::vector{ObjectCode::from_ptx(code, resolved.name)}, std::move(wanted));
  ObjectCode linked = linker->link(CodeType::cubin);
  return {.code = std::move(linked), .log = remarks + linker->info_log()};
}

std::shared_ptr<const CompileKey> Program::State::key_of(CodeType target, const ProgramOptions& resolved,
                                                         const std::vector<std::string>& name_expressions) {
  if (known_keys == nullptr) known_keys = detail::KnownKeys::of(type, code, options);
  const std::string arch = resolved.arch.value_or("");
  if (auto known = known_keys->find(target, arch, name_expressions)) return known;
  detail::KeyAndFiles found = detail::read_compile_key(code, type, resolved, target, name_expressions);
  std::shared_ptr<const CompileKey> key = found.key;
  known_keys->remember(target, arch, name_expressions, std::move(found));
  return key;
}

void* Program::State::handle() {
  if (type == SourceType(SourceType::cxx)) {
    if (nvrtc == nullptr) {
      nvrtc = std::make_unique<toolkit::NvrtcNative>(toolkit::NvrtcInput{.source = code,
                                                                         .name = options.name,
                                                                         .headers = options.headers,
                                                                         .flags = {},
                                                                         .name_expressions = {},
                                                                         .target = CodeType::cubin,
                                                                         .arch = "any architecture"});
    }
    return nvrtc->get();
  }
  if (type == SourceType(SourceType::nvvm)) {
    if (nvvm == nullptr) {
      nvvm = std::make_unique<toolkit::NvvmNative>(toolkit::NvvmInput{
          .source = code, .name = options.name, .extra_sources = options.extra_sources, .flags = {}});
    }
    return nvvm->get();
  }
  if (link == nullptr && linker == nullptr) {
    (void)link_ptx(CodeType::cubin, checked("Program::handle", CodeType::cubin, {}));
  }
  return link != nullptr ? static_cast<void*>(link->handle) : linker->handle();
}

void Program::State::close() noexcept {
  closed = true;
  nvrtc.reset();
  link.reset();
  linker.reset();
  nvvm.reset();
}

}  // namespace cucore
