// Texts about the kernels in an image: see kernel_dump.hpp.
#include "cpu/runtime/loading/kernel_dump.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "cpu/analysis/fidelity.hpp"
#include "cpu/image/image.hpp"
#include "cpu/loader/compiler.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/loading/forms/code_variants.hpp"
#include "cpu/runtime/loading/forms/form_report.hpp"
#include "cpu/runtime/loading/image_source.hpp"

namespace cucore::cpu::runtime {
namespace {

using analysis::Fidelity;

constexpr std::size_t most_lines = 8;

std::string list_of(const std::vector<std::uint32_t>& lines) {
  std::string text = lines.size() == 1 ? " line " : " lines ";
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(lines[i]);
  return lines.size() > most_lines ? text + ", ..." : text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string fidelity_report(const ptx::Module& module, ptx::FunctionId kernel) {
  constexpr std::array<std::pair<Fidelity, const char*>, 3> kinds{
      {{Fidelity::Unsupported, "unsupported"}, {Fidelity::Approximate, "approximate"}, {Fidelity::Exact, "exact"}}};
  const std::string name(module.functions[kernel].name);
  const std::vector<analysis::InstructionUse> uses = analysis::fidelity_of(module, kernel);
  std::string counts;
  std::string rows;
  for (const auto& [kind, word] : kinds) {
    std::size_t count = 0;
    for (const analysis::InstructionUse& use : uses) {
      if (use.fidelity != kind) continue;
      count += use.lines.size();
      rows += "  " + padded(word, 12) + padded(std::to_string(use.lines.size()), 6) + padded(use.instruction, 34);
      if (kind != Fidelity::Exact) rows += list_of(use.lines) + ": " + use.reason;
      if (use.function != name) rows += " (in " + use.function + ")";
      while (rows.back() == ' ') rows.pop_back();
      rows += '\n';
    }
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  }
  return name + ": " + counts + "\n" + rows;
}

/// A kernel that cannot be compiled does not keep the others out of the dump.
std::string text_or_sentence(Result<std::string> text) {
  return text ? *std::move(text) : std::move(text).failure().sentence();
}

std::string ptx_of(const ptx::Module& module, const ptx::Function& kernel) {
  std::string text = ".version " + std::to_string(module.version.major) + "." + std::to_string(module.version.minor) +
                     "\n.target " + std::string(module.target);
  for (const std::string_view option : module.target_options) text += ", " + std::string(option);
  return text + "\n\n.visible .entry " + std::string(kernel.text) + "\n";
}

}  // namespace

Result<std::string> dump(const void* image, std::size_t size, std::string_view kernel, std::string_view what,
                         const std::uint32_t (&block)[3]) {
  constexpr std::string_view known[] = {"ptx", "ir", "assembly", "fidelity", "forms"};
  if (std::find(std::begin(known), std::end(known), what) == std::end(known))
    return Failure(ErrorCode::InvalidValue, "there is no such dump: ptx, ir, assembly, fidelity and forms are");
  Result<ImageSource> source = ptx_of_image(image, size, static_cast<int>(image::any_architecture));
  if (!source) return std::move(source).failure();
  const ptx::ParseResult parsed = ptx::parse(source->ptx);
  if (!parsed.module) return Failure(ErrorCode::InvalidPtx, ptx::format(parsed.diagnostics));
  const ptx::Module& module = *parsed.module;
  if (kernel.empty() && what == "ptx") return std::string(module.text);
  std::string text;
  const FormOfCode form = form_for(block, std::numeric_limits<std::uint64_t>::max());
  const CompileOptions options = options_for(form, block);
  bool is_found = kernel.empty();
  for (ptx::FunctionId id = 0; id < module.functions.size(); ++id) {
    const ptx::Function& function = module.functions[id];
    if (!function.is_entry || !function.has_body || (!kernel.empty() && function.name != kernel)) continue;
    is_found = true;
    if (what == "ptx") text += ptx_of(module, function);
    if (what == "fidelity") text += fidelity_report(module, id);
    if (what == "forms") text += form_record(module, id, block);
    if (what == "ir") text += text_or_sentence(loader::dump_ir(module, id, options));
    if (what == "assembly") text += text_or_sentence(loader::dump_assembly(module, id, options));
  }
  if (!is_found) return Failure(ErrorCode::NotFound, "there is no kernel " + std::string(kernel) + " in the image");
  return text;
}

}  // namespace cucore::cpu::runtime
