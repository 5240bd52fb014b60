// CUCORE_CPU_REPORT=forms: see form_report.hpp.
#include "cpu/runtime/loading/form_report.hpp"

#include <cxxabi.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cpu/analysis/vector_limits.hpp"
#include "cpu/loader/ptx_place.hpp"
#include "cpu/runtime/loading/code_variants.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {

namespace {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> words(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return words != nullptr ? words.get() : symbol;
}

/// The reason, with the source's line in the place of the PTX line that it may end with.
std::string with_source_line(const ptx::Module& module, const std::string& refusal) {
  const std::size_t place = refusal.find(analysis::place_of_refusal);
  if (place == std::string::npos) return refusal;
  const char* const number = refusal.data() + place + analysis::place_of_refusal.size();
  std::uint32_t line = 0;
  const char* const end = std::from_chars(number, refusal.data() + refusal.size(), line).ptr;
  return refusal.substr(0, place) + " at " + loader::place_in_words(module, line) + end;
}

std::string form_in_words(const ptx::Module& module, const CompileOptions& asked, const Code& code,
                          const std::string& refusal) {
  const std::uint32_t* const block = asked.block;
  const std::string shape =
      std::to_string(block[0]) + "x" + std::to_string(block[1]) + "x" + std::to_string(block[2]) + " threads";
  const bool is_masked = asked.form == FormOfCode::Masked;
  if (code.info.form != FormOfCode::Scalar)
    return (is_masked ? "masked form, for blocks of " : "vector form, for blocks of ") + shape;
  if (!refusal.empty()) return "scalar form, because of " + with_source_line(module, refusal);
  if (asked.debug || asked.by_thread || is_set_to(Setting::form, "scalar"))
    return "scalar form, as the environment asks";
  return "scalar form, as long as it has run few threads or in small blocks";
}

}  // namespace

void report_form(const ptx::Module& module, const std::string& kernel, const CompileOptions& asked, const Code& code,
                 const std::string& refusal) {
  if (!is_reported("forms")) return;
  std::fprintf(stderr, "cucore CPU device: kernel %s: %s\n", demangled(kernel).c_str(),
               form_in_words(module, asked, code, refusal).c_str());
}

}  // namespace cucore::cpu::runtime
