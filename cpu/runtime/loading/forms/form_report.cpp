// Forms of kernels in words: see form_report.hpp.
#include "cpu/runtime/loading/forms/form_report.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "cpu/abi/demangle.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/loader/compiler.hpp"
#include "cpu/loader/ptx_place.hpp"
#include "cpu/runtime/loading/forms/code_variants.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {

namespace {

/// What keeps a kernel from the vector form, and the PTX line if it is one instruction.
struct Reason {
  std::string words;
  std::uint32_t line = 0;
};

/// A refusal's parts: its text may name a line, before more text.
Reason reason_of(const std::string& refusal) {
  const std::size_t place = refusal.find(analysis::place_of_refusal);
  if (place == std::string::npos) return {refusal};
  const char* const number = refusal.data() + place + analysis::place_of_refusal.size();
  Reason reason{refusal.substr(0, place)};
  reason.words += std::from_chars(number, refusal.data() + refusal.size(), reason.line).ptr;
  return reason;
}

std::string with_source_line(const ptx::Module& module, const Reason& reason) {
  return reason.words + (reason.line == 0 ? "" : " at " + loader::place_in_words(module, reason.line));
}

std::string form_in_words(const ptx::Module& module, const CompileOptions& asked, const Code& code,
                          const std::string& refusal, bool is_until_later) {
  const std::uint32_t* const block = asked.block;
  const std::string shape =
      std::to_string(block[0]) + "x" + std::to_string(block[1]) + "x" + std::to_string(block[2]) + " threads";
  const bool is_masked = asked.form == FormOfCode::Masked;
  if (code.info.form != FormOfCode::Scalar)
    return (is_masked ? "masked form, for blocks of " : "vector form, for blocks of ") + shape;
  if (!refusal.empty()) return "scalar form, because of " + with_source_line(module, reason_of(refusal));
  if (asked.debug || asked.by_thread || is_set_to(Setting::form, "scalar"))
    return "scalar form, as the environment asks";
  if (is_until_later) return "scalar form, until it has run for long enough to compile its vector form";
  return "scalar form, as long as it has run few threads or in small blocks";
}

}  // namespace

void report_form(const ptx::Module& module, const std::string& kernel, const CompileOptions& asked, const Code& code,
                 const std::string& refusal, bool is_until_later) {
  if (!is_reported("forms")) return;
  std::fprintf(stderr, "cucore CPU device: kernel %s: %s\n", demangled(kernel).c_str(),
               form_in_words(module, asked, code, refusal, is_until_later).c_str());
}

std::string form_record(const ptx::Module& module, ptx::FunctionId kernel, const std::uint32_t (&block)[3]) {
  const CompileOptions asked = options_for(form_for(block, std::numeric_limits<std::uint64_t>::max()), block);
  const Result<loader::FormOfKernel> found = loader::form_of(module, kernel, asked);
  std::string form = "none";
  Reason reason;
  if (!found) {
    reason.words = found.failure().sentence();
  } else if (found->form != FormOfCode::Scalar) {
    form = asked.form == FormOfCode::Masked ? "masked" : "vector";
  } else {
    form = "scalar";
    reason = reason_of(found->refusal);
    if (reason.words.empty())
      reason.words = asked.debug || asked.by_thread || is_set_to(Setting::form, "scalar") ? "what the environment asks"
                                                                                          : "small blocks";
  }
  const std::string symbol(module.functions[kernel].name);
  const std::string place = reason.line == 0 ? "" : loader::place_in_words(module, reason.line);
  std::string record;
  for (std::string field : {symbol, demangled(symbol), form, reason.words, std::to_string(reason.line), place}) {
    std::replace_if(field.begin(), field.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    record += (record.empty() ? "" : "\t") + field;
  }
  return record + "\n";
}

}  // namespace cucore::cpu::runtime
