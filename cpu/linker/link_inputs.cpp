// Chooses the parts of a link's inputs that are linked: see link_inputs.hpp.
#include "cpu/linker/link_inputs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cpu/image/cubin_symbols.hpp"
#include "cpu/linker/ptx_symbols.hpp"

namespace cucore::cpu::linker {

namespace {

using image::CubinSymbol;
using Names = std::set<std::string>;

/// What modules define for each other and need of each other.
struct Symbols {
  Names defined, needed, needed_functions;

  void add(std::string_view ptx) {
    const PtxSymbols symbols(ptx);
    for (const PtxSymbols::Declaration& declaration : symbols.declarations()) {
      const std::string name(declaration.name);
      if (declaration.defines && declaration.linkage != PtxSymbols::Linkage::Internal) defined.insert(name);
      if (!declaration.defines && declaration.linkage == PtxSymbols::Linkage::Extern && !is_supplied(name) &&
          symbols.references().contains(declaration.name)) {
        needed.insert(name);
        if (declaration.is_function) needed_functions.insert(name);
      }
    }
  }

  void add(const Symbols& other) {
    defined.insert(other.defined.begin(), other.defined.end());
    needed.insert(other.needed.begin(), other.needed.end());
    needed_functions.insert(other.needed_functions.begin(), other.needed_functions.end());
  }

  bool lacks(const std::string& name) const { return needed.contains(name) && !defined.contains(name); }
  Names lacking_functions() const { return difference(needed_functions, defined); }

  static Names difference(const Names& all, const Names& without) {
    Names rest;
    std::set_difference(all.begin(), all.end(), without.begin(), without.end(), std::inserter(rest, rest.end()));
    return rest;
  }
};

std::string_view kind_of(const CubinSymbol& symbol) {
  switch (symbol.kind) {
    case CubinSymbol::Kind::Kernel:
      return "kernel";
    case CubinSymbol::Kind::Function:
      return "function";
    case CubinSymbol::Kind::Variable:
      return "variable";
  }
  return "symbol";
}

/// libcudadevrt.a
bool is_device_runtime_library(std::string_view bytes) {
  return image::is_library(bytes) && bytes.find("cuda_device_runtime.o/") != std::string_view::npos;
}

}  // namespace

void LinkInputs::add_ptx(std::string ptx, std::string name, bool is_for_this_device) {
  Unit unit{.name = std::move(name)};
  unit.code.ptx.push_back(std::move(ptx));
  unit.code.is_for_this_device = is_for_this_device;
  units_.push_back(std::move(unit));
}

void LinkInputs::add_lto_ir(std::string bytes, std::string name) {
  Unit unit{.name = std::move(name)};
  unit.code.lto_ir = bytes;
  units_.push_back(std::move(unit));
  lto_ir_.push_back({.bytes = std::move(bytes)});
}

Result<void> LinkInputs::add(std::string_view bytes, const std::string& name, std::uint32_t architecture) {
  if (is_device_runtime_library(bytes)) return {};  // the CPU device has its functions itself
  Result<std::vector<image::DeviceUnit>> units = image::read_device_units(bytes, architecture);
  if (!units) return Failure(units.failure().code(), "input '" + name + "': " + units.failure().sentence());
  for (image::DeviceUnit& code : *units) {
    if (code.ptx.empty() && !code.lto_ir.empty()) lto_ir_.push_back({.bytes = code.lto_ir, .is_fat_binary = true});
    std::string whose = code.member.empty() ? name : name + "(" + code.member + ")";
    units_.push_back({.name = std::move(whose), .is_in_library = image::is_library(bytes), .code = std::move(code)});
  }
  return {};
}

Result<std::vector<PtxModule>> LinkInputs::modules(const CompileLtoIr& compile) const {
  std::vector<PtxModule> modules;
  std::vector<bool> is_taken(units_.size());
  std::vector<Symbols> of_units(units_.size());
  for (std::size_t i = 0; i < units_.size(); ++i)
    for (const std::string& ptx : units_[i].code.ptx) of_units[i].add(ptx);
  Symbols symbols;  // of what is taken
  const auto take = [&](std::size_t i) {
    is_taken[i] = true;
    symbols.add(of_units[i]);
    for (const std::string& ptx : units_[i].code.ptx)
      modules.push_back({ptx, units_[i].name, units_[i].code.is_for_this_device});
  };
  // What that and PTX made of LTO-IR need.
  const auto take_from_libraries = [&](const Symbols& of_lto_ir) {
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (std::size_t i = 0; i < units_.size(); ++i) {
        if (is_taken[i] || !units_[i].is_in_library) continue;
        Symbols all = symbols;
        all.add(of_lto_ir);
        const Names& its = of_units[i].defined;
        if (std::none_of(its.begin(), its.end(), [&](const auto& name) { return all.lacks(name); })) continue;
        take(i);
        is_new = true;
      }
    }
  };

  for (std::size_t i = 0; i < units_.size(); ++i)
    if (!units_[i].is_in_library) take(i);
  take_from_libraries({});
  if (lto_ir_.empty()) return modules;

  Names kept = symbols.lacking_functions(), absent;
  for (;;) {
    Result<std::string> ptx = compile(lto_ir_, kept);
    if (!ptx) return std::move(ptx).failure();
    Symbols of_lto_ir;
    of_lto_ir.add(*ptx);
    // Do not ask for functions that LTO-IR does not define either: they would be declared there.
    const Names more_absent = Symbols::difference(kept, of_lto_ir.defined);
    kept = Symbols::difference(kept, more_absent);
    absent.insert(more_absent.begin(), more_absent.end());
    if (!more_absent.empty()) continue;
    take_from_libraries(of_lto_ir);
    Symbols all = symbols;
    all.add(of_lto_ir);
    const Names further = Symbols::difference(Symbols::difference(all.lacking_functions(), absent), of_lto_ir.needed);
    if (further.empty()) {
      modules.push_back({*std::move(ptx), "LTO-IR", false});
      return modules;
    }
    kept.insert(further.begin(), further.end());
  }
}

Result<void> LinkInputs::check_machine_code(const std::vector<PtxModule>& modules) const {
  Symbols symbols;
  for (const PtxModule& module : modules) symbols.add(module.ptx);
  std::string refusal;
  for (const Unit& unit : units_) {
    if (!unit.code.ptx.empty() || !unit.code.lto_ir.empty()) continue;
    std::string names;
    for (const CubinSymbol& symbol : image::defined_symbols(unit.code.machine_code)) {
      const bool is_for_programs =
          !unit.is_in_library && symbol.kind != CubinSymbol::Kind::Function && !symbols.defined.contains(symbol.name);
      if (!is_for_programs && !symbols.lacks(symbol.name)) continue;
      names += (names.empty() ? "" : ", ") + std::string(kind_of(symbol)) + " '" + symbol.name + "'";
    }
    if (names.empty()) continue;
    refusal += "error   : Input '" + unit.name + "' is machine code alone, which the CPU device cannot run: " + names +
               "; compile it to PTX too (nvcc -gencode arch=compute_80,code=[sm_80,compute_80]) or to LTO-IR\n";
  }
  if (!refusal.empty()) return Failure(ErrorCode::NoBinaryForGpu, std::move(refusal));
  return {};
}

}  // namespace cucore::cpu::linker
