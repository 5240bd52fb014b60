// Links PTX modules: see ptx_link.hpp.
#include "cpu/runtime/loading/ptx_link.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cpu/image/cubin.hpp"
#include "cpu/linker/ptx_symbols.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/loading/device_runtime_ptx.hpp"
#include "cpu/runtime/loading/image_source.hpp"
#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

using linker::PtxSymbols;
using Declaration = PtxSymbols::Declaration;
using Linkage = PtxSymbols::Linkage;

using LinkTable = HandleTable<LinkState, HandleKind::LinkState>;
LinkTable& link_table() {
  static auto* table = new LinkTable;
  return *table;
}

/// Blanks the first directive `name` with its operand (a word, or a line) and returns the operand.
std::string take_directive(std::string& ptx, std::string_view name, bool whole_line) {
  const std::size_t at = ptx.find(name);
  if (at == std::string::npos) return {};
  std::size_t begin = at + name.size();
  while (begin < ptx.size() && (ptx[begin] == ' ' || ptx[begin] == '\t')) ++begin;
  std::size_t end = begin;
  while (end < ptx.size() && ptx[end] != '\n' && ptx[end] != '\r' &&
         (whole_line || !std::isspace(static_cast<unsigned char>(ptx[end]))))
    ++end;
  std::string operand = ptx.substr(begin, end - begin);
  std::fill(ptx.begin() + static_cast<std::ptrdiff_t>(at), ptx.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  return operand;
}

/// "8.5" → (8, 5); "sm_90a, debug" → (90, 0).
std::tuple<long, long> numbers(const std::string& text) {
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string::npos) return {0, 0};
  char* rest = nullptr;
  const long major = std::strtol(text.c_str() + first, &rest, 10);
  return {major, *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0};
}

}  // namespace

void PtxLinker::add(std::string ptx, std::string name) {
  if (!is_device_runtime(ptx)) inputs_.push_back({std::move(ptx), std::move(name)});
}

bool PtxLinker::calls_grid_barrier() const {
  const PtxSymbols defined(grid_barrier_ptx());
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& input) {
    if (!may_call_grid_barrier(input.ptx)) return false;
    const PtxSymbols symbols(input.ptx);
    return std::any_of(symbols.declarations().begin(), symbols.declarations().end(), [&](const Declaration& declared) {
      return !declared.defines &&
             std::any_of(defined.declarations().begin(), defined.declarations().end(),
                         [&](const Declaration& barrier) { return barrier.name == declared.name; });
    });
  });
}

Result<std::string> PtxLinker::complete() {
  if (inputs_.empty()) return ErrorCode::InvalidValue;
  if (calls_grid_barrier()) add(std::string(grid_barrier_ptx()), "barriers of grids");
  std::string log;
  std::vector<PtxSymbols> symbols;
  for (const Input& input : inputs_) symbols.emplace_back(input.ptx);

  // Who defines what: the first strong definition, else the first weak one, stays.
  std::map<std::string_view, std::size_t> definer;
  std::map<std::string_view, bool> is_strong;
  std::map<std::string_view, std::set<std::size_t>> users;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    for (const Declaration& declaration : symbols[i].declarations()) {
      users[declaration.name].insert(i);
      if (!declaration.defines || declaration.linkage == Linkage::Internal) continue;
      const bool strong = declaration.linkage == Linkage::Visible;
      const auto [known, fresh] = definer.emplace(declaration.name, i);
      if (!fresh && strong && is_strong[declaration.name]) {
        log += "error   : Multiple definition of '" + std::string(declaration.name) + "' in '" + inputs_[i].name +
               "', first defined in '" + inputs_[known->second].name + "'\n";
      }
      if (strong && !is_strong[declaration.name]) known->second = i;
      if (strong) is_strong[declaration.name] = true;
    }
  }
  if (!log.empty()) return Failure(ErrorCode::InvalidImage, std::move(log));
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    for (const Declaration& declaration : symbols[i].declarations()) {
      if (declaration.linkage != Linkage::Extern || definer.contains(declaration.name)) continue;
      if (linker::is_supplied(declaration.name)) continue;
      // As an H200's driver has it, a variable is missed even where no code uses it.
      if (declaration.is_function && !symbols[i].references().contains(declaration.name)) continue;
      if (!log.empty()) log += '\n';
      log += "error   : Undefined reference to '" + std::string(declaration.name) + "' in '" + inputs_[i].name + "'";
    }
  }
  if (!log.empty()) return Failure(ErrorCode::Unknown, std::move(log));

  if (inputs_.size() == 1) return inputs_.front().ptx;
  std::string version;
  std::string target;
  std::string bodies;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::map<std::string_view, std::string> renamed;
    std::set<std::string_view> dropped;
    for (const Declaration& declaration : symbols[i].declarations()) {
      if (declaration.linkage == Linkage::Internal) {
        if (users[declaration.name].size() > 1) {
          renamed[declaration.name] = std::string(declaration.name) + "$" + std::to_string(i + 1);
        }
      } else if (declaration.defines && definer[declaration.name] != i) {
        dropped.insert(declaration.name);
      }
    }
    std::string body = symbols[i].changed(renamed, dropped);
    const std::string its_version = take_directive(body, ".version", false);
    const std::string its_target = take_directive(body, ".target", true);
    take_directive(body, ".address_size", false);
    if (version.empty() || numbers(version) < numbers(its_version)) version = its_version;
    if (target.empty() || numbers(target) < numbers(its_target)) target = its_target;
    bodies += "// " + inputs_[i].name + "\n" + body + "\n";
  }
  std::string ptx = ".version " + version + "\n.target " + target + "\n.address_size 64\n" + bodies;
  const ptx::ParseResult parsed = ptx::parse(ptx);
  if (!parsed.module) return Failure(ErrorCode::InvalidPtx, ptx::format(parsed.diagnostics));
  return ptx;
}

namespace {

/// Puts what `failure` says into a caller's log, and reports it.
Failure logged(Failure failure, const JitOptions& options) {
  options.write_error_log(failure.sentence());
  report(failure.sentence());
  return failure;
}

}  // namespace

Result<void> LinkState::add(CUjitInputType type, const void* data, std::size_t size, const char* name,
                            const JitOptions& of_input) {
  if (!data || size == 0) return ErrorCode::InvalidValue;
  if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return ErrorCode::InvalidValue;
  const std::lock_guard lock(mutex_);
  if (!image_.empty()) return ErrorCode::InvalidValue;  // already completed
  if (Result<void> added = add_checked(type, data, size, name); !added)
    return logged(std::move(added).failure(), of_input.has_error_log() ? of_input : options_);
  if (of_input.has_error_log()) of_input.write_error_log("");
  if (const unsigned int limit = of_input.max_registers(); limit != 0)
    max_registers_ = max_registers_ == 0 ? limit : std::min(max_registers_, limit);
  return {};
}

Result<void> LinkState::add_checked(CUjitInputType type, const void* data, std::size_t size, const char* name) {
  if (type == CU_JIT_INPUT_NVVM) return Failure(ErrorCode::NotSupported, "the driver links no LTO-IR; nvJitLink does");
  std::string input = name && *name ? name : "<unnamed input>";
  const auto add_units = [&] {
    return inputs_.add({static_cast<const char*>(data), size}, input, static_cast<std::uint32_t>(capability_));
  };
  if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY) return add_units();
  Result<ImageSource> source = ptx_of_image(data, size, capability_);
  // Nothing may need a function that exists only as machine code.
  if (!source && source.failure().code() == ErrorCode::NoBinaryForGpu) return add_units();
  if (!source) return Failure(source.failure().code(), "input '" + input + "': " + source.failure().sentence());
  const ptx::ParseResult parsed = ptx::parse(source->ptx);
  if (!parsed.module) return Failure(ErrorCode::InvalidPtx, ptx::format(parsed.diagnostics));
  if (Result<void> fits = check_target(*source, *parsed.module, capability_); !fits) return fits;
  inputs_.add_ptx(std::move(source->ptx), std::move(input));
  return {};
}

Result<std::string> LinkState::link() const {
  const auto refuse_lto_ir = [](const std::vector<linker::LtoIr>&,
                                const std::set<std::string>&) -> Result<std::string> {
    return Failure(ErrorCode::NotSupported, "an input is LTO-IR alone, which the driver does not link; nvJitLink does");
  };
  Result<std::vector<linker::PtxModule>> modules = inputs_.modules(refuse_lto_ir);
  if (!modules) return std::move(modules).failure();
  if (Result<void> checked = inputs_.check_machine_code(*modules); !checked) return std::move(checked).failure();
  // Of nothing an image without code is linked, as an H100's driver has it.
  if (modules->empty()) return ".version 7.0\n.target sm_" + std::to_string(capability_) + "\n.address_size 64\n";
  PtxLinker linker;
  for (linker::PtxModule& module : *modules) linker.add(std::move(module.ptx), std::move(module.name));
  return linker.complete();
}

Result<std::string_view> LinkState::complete() {
  const std::lock_guard lock(mutex_);
  if (image_.empty()) {
    Result<std::string> ptx = link();
    if (!ptx) return logged(std::move(ptx).failure(), options_);
    const unsigned int limit = max_registers_ != 0 ? max_registers_ : options_.max_registers();
    image_ = image::write_cubin(*ptx, static_cast<std::uint32_t>(capability_), limit);
    options_.write_error_log("");
    options_.write_info_log("");
  }
  return std::string_view(image_);
}

CUlinkState create_link(const JitOptions& options, int capability) {
  return reinterpret_cast<CUlinkState>(link_table().insert(std::make_shared<LinkState>(options, capability)));
}

std::shared_ptr<LinkState> find_link(CUlinkState handle) { return link_table().find(handle); }

Result<void> destroy_link(CUlinkState handle) {
  if (!link_table().remove(handle)) return ErrorCode::InvalidHandle;
  return {};
}

}  // namespace cucore::cpu::runtime
