// ProgramOptions to flags, one pure function per back end. Each reads the back end's column of the table
// (program_options.def) from top to bottom: the order of the flags is the order of the lines.
#include "cucore/program_options.hpp"

#include "cucore/error.hpp"
#include "src/compile/program_flags.hpp"
#include "src/compile/program_option_table.hpp"

namespace cucore {
namespace {

using detail::PlacedTexts;
using detail::ProgramOptionLine;

void refuse_unsupported(const ProgramOptions& options, SourceType source) {
  if (const std::string fault = detail::unsupported_in_words(options, source); !fault.empty()) {
    throw UnsupportedOptionError({.call = "ProgramOptions",
                                  .message = fault,
                                  .hint = "leave them unset for " + std::string(source.name()) + " source"});
  }
}

}  // namespace

std::vector<std::string> nvrtc_flags(const ProgramOptions& o, std::optional<CodeType> target) {
  constexpr std::string_view optimization = "link_time_optimization";
  const bool optimize = target == CodeType(CodeType::ltoir) && !o.link_time_optimization.value_or(false);
  PlacedTexts flags;
  for (const ProgramOptionLine& option : detail::program_option_lines()) {
    option.line.add_flags(flags, option.nvrtc, o);
    if (optimize && option.line.name == optimization) flags.add(option.nvrtc, option.nvrtc.flag);
  }
  return flags.take();
}

std::vector<std::string> nvjitlink_flags(const ProgramOptions& o) {
  LinkerOptions linker = detail::linker_options(o);
  if (o.use_fast_math.value_or(false)) {  // expanded, where the single options are not set
    linker.ftz = linker.ftz.value_or(true);
    linker.prec_div = linker.prec_div.value_or(false);
    linker.prec_sqrt = linker.prec_sqrt.value_or(false);
    linker.fma = linker.fma.value_or(true);
  }
  return nvjitlink_flags(linker);
}

std::vector<std::string> nvvm_flags(const ProgramOptions& o, std::optional<CodeType> target) {
  refuse_unsupported(o, SourceType::nvvm);
  PlacedTexts placed;
  for (const ProgramOptionLine& option : detail::program_option_lines()) {
    option.line.add_flags(placed, option.nvvm, o);
  }
  std::vector<std::string> flags = placed.take();
  if (target == CodeType(CodeType::ltoir)) flags.emplace_back("-gen-lto");
  return flags;
}

std::vector<std::string> unsupported_options(const ProgramOptions& o, SourceType source) {
  const auto column = source == SourceType(SourceType::cxx)   ? &ProgramOptionLine::nvrtc
                      : source == SourceType(SourceType::ptx) ? &ProgramOptionLine::linker
                                                              : &ProgramOptionLine::nvvm;
  PlacedTexts names;
  for (const ProgramOptionLine& option : detail::program_option_lines()) {
    option.line.add_refusal(names, option.*column, o);
  }
  return names.take();
}

}  // namespace cucore
