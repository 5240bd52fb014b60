// Linker: checks, the link by one of two back ends, and the result as an ObjectCode that carries its PTX.
#include "cucore/linker.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/program_cache.hpp"
#include "src/compile/key_parts.hpp"
#include "src/compile/linker_inputs.hpp"
#include "src/compile/linker_options.hpp"
#include "src/compile/option_faults.hpp"
#include "src/error/refuse.hpp"
#include "src/formats/code_symbols.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/elf.hpp"
#include "src/link/link_session.hpp"
#include "src/toolkit/library.hpp"

namespace cucore {
namespace {

void refuse_what_the_driver_lacks(const LinkerOptions& o, const detail::LinkInputs& inputs) {
  std::string names;
  for (const std::string& name : detail::refused_by_driver(o)) names += (names.empty() ? "" : ", ") + name;
  const std::string hint = "use nvJitLink 12.3 or newer: " + Linker::why_not_nvjitlink();
  if (!names.empty()) detail::refuse("Linker", names + " option is not supported by the driver API", hint);
  for (const detail::LinkInput& input : inputs.inputs) {
    if (input.type == CodeType(CodeType::ltoir)) {
      detail::refuse("Linker",
                     "Unknown code_type \"ltoir\" of input '" + input.name + "': the driver's linker does not know it",
                     hint);
    }
  }
}

void refuse_for_nvjitlink(const LinkerOptions& o, const detail::LinkInputs& inputs) {
  if (o.optimization_level && *o.optimization_level != 0 && *o.optimization_level != 3) {
    detail::refuse("Linker",
                   "optimization_level=" + std::to_string(*o.optimization_level) + ": nvJitLink takes 0 and 3",
                   "use 0 or 3");
  }
  const bool may_have_ir = inputs.any(CodeType::ltoir) || inputs.any(CodeType::fatbin) ||
                           inputs.any(CodeType::object) || inputs.any(CodeType::library);
  if (o.link_time_optimization.value_or(false) && !may_have_ir) {
    detail::refuse("Linker", "link_time_optimization=true, but no input is LTO-IR",
                   "compile the inputs to ltoir, or leave it unset");
  }
  if (inputs.any(CodeType::ltoir) && !o.link_time_optimization.value_or(true)) {
    detail::refuse("Linker", "link_time_optimization=false, but there is LTO-IR among the inputs", "leave it unset");
  }
}

}  // namespace

struct Linker::State {
  LinkerOptions options;
  LinkerBackend backend = LinkerBackend::nvjitlink;
  mutable std::mutex mutex;  // guards what follows
  bool closed = false;
  detail::LinkInputs inputs;
  std::map<CodeType::Value, ObjectCode> results;
  std::unique_ptr<detail::LinkSession> session;  // for handle()
  std::string info_log;
  std::string error_log;

  std::string description() const { return "linking '" + options.name + "'"; }

  // The options with the architecture known.
  LinkerOptions resolved() const {
    LinkerOptions result = options;
    // The driver's linker takes the current device by itself.
    if (!result.arch && backend == LinkerBackend::nvjitlink) result.arch = resolve_arch({});
    return result;
  }

  // The architecture of the link. The driver's linker, when it is not told, links for the current device.
  static std::string arch_of(const LinkerOptions& resolved) {
    return resolved.arch ? *resolved.arch : resolve_arch({});
  }

  std::unique_ptr<detail::LinkSession> open(const LinkerOptions& resolved, CodeType target) const {
    if (backend == LinkerBackend::driver && driver_info().kind == DriverKind::cpu) return open_on_cpu(resolved);
    return open(resolved, target, inputs.inputs);
  }

  // The CPU device links nothing but PTX, and finds it only in cubins and fat binaries.
  std::unique_ptr<detail::LinkSession> open_on_cpu(const LinkerOptions& resolved) const {
    if (!inputs.any(CodeType::object) && !inputs.any(CodeType::library)) {
      return open(resolved, CodeType::cubin, inputs.inputs);
    }
    std::string lacking;
    const std::vector<detail::LinkInput> modules = detail::ptx_of_inputs(inputs, arch_of(resolved), lacking);
    if (!lacking.empty())
      detail::refuse("Linker", "no PTX in " + lacking, "compile it with PTX, which the CPU device needs");
    return open(resolved, CodeType::cubin, modules);
  }

  std::unique_ptr<detail::LinkSession> open(const LinkerOptions& resolved, CodeType target,
                                            const std::vector<detail::LinkInput>& what) const {
    std::unique_ptr<detail::LinkSession> opened;
    bool strip = true;
    if (backend == LinkerBackend::nvjitlink) {
      LinkerOptions wanted = resolved;
      // Where LTO-IR is wanted, -ptx saves making machine code, in which nothing may stay undefined.
      wanted.ptx = target != CodeType(CodeType::cubin);
      if (!detail::ir_of_inputs(inputs, arch_of(resolved)).empty()) wanted.link_time_optimization = true;
      if (target != CodeType(CodeType::cubin)) wanted.incremental.reset();
      opened = detail::nvjitlink_session(description(), nvjitlink_flags(wanted), target);
    } else {
      opened = detail::driver_session(description(), detail::driver_options(resolved));
      strip = driver_info().kind != DriverKind::cpu;  // the CPU device links nothing but that PTX
    }
    for (const detail::LinkInput& input : what) {
      if (strip && input.type == CodeType(CodeType::cubin)) {
        detail::LinkInput plain = input;
        plain.bytes = detail::elf_strip_section(input.bytes, detail::ptx_section);
        opened->add(plain);
      } else {
        opened->add(input);
      }
    }
    return opened;
  }

  // What does not even look like PTX or LTO-IR is given to nvJitLink at once: it says what is wrong with it. Everything
  // else waits for the link, which a cache may save.
  void refuse_what_is_no_code() const {
    if (backend != LinkerBackend::nvjitlink) return;
    std::vector<detail::LinkInput> strangers;
    std::copy_if(inputs.inputs.begin(), inputs.inputs.end(), std::back_inserter(strangers), detail::looks_like_no_code);
    if (strangers.empty()) return;
    LinkerOptions any = options;
    if (!any.arch) any.arch = "sm_90";
    (void)open(any, CodeType::cubin, strangers);
  }

  std::string complete(detail::LinkSession& completed) {
    try {
      completed.complete();
    } catch (const Error& error) {
      error_log = error.log();
      throw;
    }
    info_log = completed.info_log();
    error_log = completed.error_log();
    return completed.image();
  }

  // The PTX modules of all inputs; none, with the reason, if they would not be complete.
  std::vector<std::string> ptx_modules(const LinkerOptions& resolved, std::string& why_not) {
    std::string lacking;
    const std::string arch = arch_of(resolved);
    std::vector<std::string> modules;
    for (detail::LinkInput& module : detail::ptx_of_inputs(inputs, arch, lacking)) {
      modules.push_back(std::move(module.bytes));
    }
    if (!lacking.empty()) {
      why_not = "no PTX in " + lacking;
      return {};
    }
    try {
      if (auto inputs_of_ir = detail::ir_of_inputs(inputs, arch); !inputs_of_ir.empty()) {
        LinkerOptions wanted = resolved;
        const std::vector<std::string> called = detail::functions_missing_in(modules);
        if (!called.empty()) {
          inputs_of_ir.insert(inputs_of_ir.begin(), detail::keeper_of(called, arch));
          if (!wanted.kernels_used.empty()) wanted.kernels_used.emplace_back(detail::keeper_name);
        }
        const auto ir = open(wanted, CodeType::ptx, inputs_of_ir);
        ir->complete();
        modules.push_back(called.empty() ? ir->image() : detail::without_keeper(ir->image(), called));
        detail::refuse_definitions_of_ir(inputs, arch, modules.back());
      }
    } catch (const NvJitLinkError& error) {
      why_not = error.message() + ": " + error.log();
      return {};
    } catch (const NvrtcError& error) {  // of what only the PTX calls
      why_not = error.message() + ": " + error.log();
      return {};
    } catch (const UnavailableError& error) {
      why_not = error.message();
      return {};
    }
    const std::vector<std::string_view> views(modules.begin(), modules.end());
    if (const auto missing = detail::undefined_in(views); !missing.empty() && !resolved.incremental.value_or(false)) {
      why_not = "symbol '" + missing.front() + "' is in the PTX of no input";
      return {};
    }
    return modules;
  }

  // A kernel of the cubin that none of the modules has (it came from a library), if any.
  static std::string kernel_without_ptx(std::string_view cubin, const std::vector<std::string>& modules) {
    std::set<std::string> known;
    for (const std::string& module : modules) {
      for (detail::CodeSymbol& symbol : detail::ptx_symbols(module)) known.insert(std::move(symbol.name));
    }
    for (const detail::CodeSymbol& symbol : detail::cubin_symbols(cubin)) {
      const bool is_defined = symbol.kind != detail::CodeSymbol::undefined;
      if (symbol.is_kernel && is_defined && !known.contains(symbol.name)) return symbol.name;
    }
    return {};
  }

  ObjectCode link_cubin(const LinkerOptions& resolved) {
    std::string image = complete(*open(resolved, CodeType::cubin));
    if (image.empty()) {
      throw NvJitLinkError({.call = "nvJitLinkComplete",
                            .message = description() + ": the linker reported success but gave nothing",
                            .log = error_log,
                            .hint = "check that the inputs are for the architecture of the link"});
    }
    if (inputs.inputs.size() == 1 && inputs.all(CodeType::cubin) &&
        detail::is_linked_cubin(inputs.inputs.front().bytes)) {
      image = inputs.inputs.front().bytes;  // there is nothing to link: nvJitLink leaves it out
      if (!resolved.embed_ptx.value_or(true)) image = detail::elf_strip_section(image, detail::ptx_section);
    }
    const bool keeps_all = resolved.kernels_used.empty() && resolved.variables_used.empty() &&
                           !resolved.optimize_unused_variables.value_or(false);
    if (backend == LinkerBackend::nvjitlink && keeps_all) {
      detail::refuse_lost_kernels(inputs, arch_of(resolved), image, description());
    }
    const bool has_ptx = !detail::embedded_ptx_modules(image).empty();  // the CPU device's linker puts it in
    if (resolved.embed_ptx.value_or(true) && !has_ptx && detail::elf_fault(image) == nullptr) {
      std::string why_not;
      std::vector<std::string> modules = ptx_modules(resolved, why_not);
      if (const std::string kernel = kernel_without_ptx(image, modules); !modules.empty() && !kernel.empty()) {
        why_not = "kernel '" + kernel + "' is in the PTX of no input";
        modules.clear();
      }
      if (!modules.empty()) image = detail::with_ptx_modules(image, {modules.begin(), modules.end()});
      if (!why_not.empty()) {
        info_log += (info_log.empty() || info_log.ends_with('\n') ? "" : "\n") +
                    ("cucore: the result carries no PTX: " + why_not + "\n");
      }
    }
    return ObjectCode::from_cubin(image, options.name, inputs.mapping);
  }

  ObjectCode link_ptx(const LinkerOptions& resolved) {
    if (inputs.inputs.size() == 1 && inputs.all(CodeType::ptx)) {
      return ObjectCode::from_ptx(inputs.inputs.front().bytes, options.name, inputs.mapping);  // as it is
    }
    if (backend == LinkerBackend::driver)
      detail::refuse("Linker", "ptx option is not supported by the driver API", "link to cubin");
    if (!inputs.all(CodeType::ltoir)) {
      detail::refuse("Linker", "PTX can only be made from LTO-IR, and not all inputs are LTO-IR",
                     "compile the inputs to ltoir, or link to cubin");
    }
    return ObjectCode::from_ptx(complete(*open(resolved, CodeType::ptx)), options.name, inputs.mapping);
  }

  ObjectCode link_ltoir(const LinkerOptions& resolved) {
    if (backend == LinkerBackend::driver || !inputs.all(CodeType::ltoir)) {
      detail::refuse("Linker", "LTO-IR can only be made from LTO-IR, by nvJitLink",
                     "compile the inputs to ltoir, or link to cubin");
    }
    toolkit::nvjitlink();
    const ToolkitLibrary& found = toolkit::nvjitlink_library();
    // 13.2 and 13.3 have the function, which answers NVJITLINK_ERROR_INTERNAL.
    if (std::pair(found.major, found.minor) < std::pair(13, 4)) {
      throw UnavailableError({.call = "nvJitLinkGetLinkedLTOIR",
                              .message = "nvJitLink " + std::to_string(found.major) + "." +
                                         std::to_string(found.minor) + " cannot give LTO-IR",
                              .hint = "use version 13.4 or newer, or link to cubin"});
    }
    return ObjectCode::from_ltoir(complete(*open(resolved, CodeType::ltoir)), options.name, inputs.mapping);
  }

  ObjectCode link_now(CodeType target, const LinkerOptions& resolved) {
    if (target == CodeType(CodeType::ptx)) return link_ptx(resolved);
    if (target == CodeType(CodeType::ltoir)) return link_ltoir(resolved);
    if (resolved.arch && resolved.arch->starts_with("compute_")) {
      detail::refuse("Linker",
                     "no cubin can be made for arch='" + *resolved.arch + "', which is a virtual architecture",
                     "use arch='sm_" + resolved.arch->substr(8) + "'");
    }
    return link_cubin(resolved);
  }

  CompileKey key(CodeType target, const LinkerOptions& resolved) const {
    detail::KeyParts parts;
    parts.add("schema", {"link 2"});
    parts.add("target", {std::string(target.name())});
    parts.add("name of the program", {resolved.name});
    parts.add("options", nvjitlink_flags(resolved));
    parts.add("embed_ptx", {resolved.embed_ptx.value_or(true) ? "true" : "false"});
    for (const detail::LinkInput& input : inputs.inputs) {
      parts.add("input " + input.name, {std::string(input.type.name()), input.bytes});
    }
    for (const auto& [spelling, symbol] : inputs.mapping) parts.add("name " + spelling, {symbol});
    if (backend == LinkerBackend::driver) {
      const DriverInfo driver = driver_info();
      parts.add("driver", {driver.path, std::to_string(driver.version), resolve_arch({.arch = resolved.arch})});
    } else {
      parts.add_library("nvJitLink", toolkit::nvjitlink_library());
    }
    return parts.finish(resolved.time.value_or(false) ? "the log has times in it: time" : "");
  }
};

Linker::Linker(const std::vector<ObjectCode>& inputs, LinkerOptions options) : state_(std::make_unique<State>()) {
  if (inputs.empty()) detail::refuse("Linker", "At least one ObjectCode is needed", "give the code to link");
  validate(options);
  if (options.name.empty()) options.name = LinkerOptions().name;
  State& state = *state_;
  state.backend = which_backend();
  state.inputs = detail::read_inputs(inputs);
  if (state.backend == LinkerBackend::driver) {
    refuse_what_the_driver_lacks(options, state.inputs);
  } else {
    refuse_for_nvjitlink(options, state.inputs);
  }
  detail::refuse_double_definitions(state.inputs, options.arch.value_or(""));
  state.options = std::move(options);
  state.refuse_what_is_no_code();
  const std::optional<std::string>& arch = state.options.arch;
  if (!arch) return;
  if (detail::is_architecture(*arch)) {
    detail::refuse_other_architectures(state.inputs, *arch);
  } else if (state.backend == LinkerBackend::nvjitlink) {
    (void)detail::nvjitlink_session(state.description(), {"-arch=" + *arch}, CodeType::cubin);  // it says what is wrong
  }
}

Linker::~Linker() = default;
Linker::Linker(Linker&&) noexcept = default;
Linker& Linker::operator=(Linker&&) noexcept = default;

ObjectCode Linker::link(CodeType target, CompileSettings settings) const {
  CompileReport unread;
  CompileReport& report = settings.report != nullptr ? *settings.report : unread;
  report = {};
  if (state_ == nullptr) throw StateError({.call = "Linker::link", .message = "this Linker has been moved from"});
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.closed) {
    throw StateError({.call = "Linker::link",
                      .message = "linker '" + state.options.name + "' has been closed",
                      .hint = "make a new Linker"});
  }
  if (target != CodeType(CodeType::cubin) && target != CodeType(CodeType::ptx) && target != CodeType(CodeType::ltoir)) {
    detail::refuse("Linker", "Unsupported target type \"" + std::string(target.name()) + "\"",
                   "link to cubin, ptx or ltoir");
  }
  if (const auto known = state.results.find(target.value()); known != state.results.end()) {
    report.log = state.info_log;
    return known->second;
  }
  const LinkerOptions resolved = state.resolved();
  if (resolved.arch && !state.options.arch) {  // known only now
    detail::refuse_other_architectures(state.inputs, *resolved.arch);
    detail::refuse_double_definitions(state.inputs, *resolved.arch);
  }
  const auto compile = [&] {
    ObjectCode code = state.link_now(target, resolved);
    return CompileRecord{.code = std::move(code), .log = state.info_log};
  };
  CompileRecord record =
      settings.cache != nullptr
          ? settings.cache->lookup_or_compile(
                report, [&] { return std::make_shared<const CompileKey>(state.key(target, resolved)); }, compile)
          : compile();
  report.log = state.info_log = std::move(record.log);
  return state.results.emplace(target.value(), std::move(record.code)).first->second;
}

std::string Linker::info_log() const {
  const std::lock_guard lock(state_->mutex);
  return state_->info_log;
}

std::string Linker::error_log() const {
  const std::lock_guard lock(state_->mutex);
  return state_->error_log;
}

std::vector<KernelStatistics> Linker::kernel_statistics() const { return parse_kernel_statistics(info_log()); }

LinkerBackend Linker::which_backend() {
  return detail::links_with_nvjitlink() ? LinkerBackend::nvjitlink : LinkerBackend::driver;
}

std::string Linker::why_not_nvjitlink() { return toolkit::nvjitlink_library().why_not; }

const LinkerOptions& Linker::options() const noexcept { return state_->options; }

void* Linker::handle() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->closed) return nullptr;
  if (state_->session == nullptr) {
    const LinkerOptions resolved = state_->resolved();
    state_->session = state_->open(resolved, resolved.ptx.value_or(false) ? CodeType::ptx : CodeType::cubin);
  }
  return state_->session->handle();
}

void Linker::close() noexcept {
  if (state_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->session.reset();
  state_->inputs = {};
  state_->results.clear();
}

Linker::operator bool() const noexcept {
  if (state_ == nullptr) return false;
  const std::lock_guard lock(state_->mutex);
  return !state_->closed;
}

}  // namespace cucore
