// The code of one kernel: see code_variants.hpp.
#include "cpu/runtime/loading/code_variants.hpp"

#include <algorithm>
#include <utility>

#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Shapes of block that one kernel has code for at a time.
constexpr std::size_t kMostVariants = 8;

/// A kernel that has run fewer threads than this is done before the vector form would be compiled.
constexpr std::uint64_t kFewThreads = 2048;
/// Blocks of fewer threads leave most lanes of a vector idle.
constexpr std::uint32_t kSmallBlock = 8;

codegen::FormOfCode form_from_environment() {
  const std::string form = setting(Setting::form).value_or("");
  if (form == "vector") return codegen::FormOfCode::Vector;
  if (form == "masked") return codegen::FormOfCode::Masked;
  if (form == "scalar") return codegen::FormOfCode::Scalar;
  return codegen::FormOfCode::Auto;
}

bool is_for(const codegen::CompileOptions& options, const std::uint32_t (&block)[3]) {
  return std::equal(std::begin(block), std::end(block), std::begin(options.block));
}

}  // namespace

std::string march_from_environment() {
  const std::string march = setting(Setting::march).value_or("");
  return march == "native" ? "" : march;
}

codegen::CompileOptions options_for(const std::uint32_t (&block)[3], std::uint64_t threads) {
  static const codegen::FormOfCode form = form_from_environment();
  static const bool debug = is_set_to(Setting::debug, "1");
  static const bool perf_map = is_set_to(Setting::perf_map, "1");
  const bool is_scalar = debug || checker::seed();  // what can have no vectors
  codegen::CompileOptions options{.form = is_scalar ? codegen::FormOfCode::Scalar : form,
                                  .debug = debug,
                                  .perf_map = perf_map,
                                  .checks = checker::classes(),
                                  .by_thread = checker::seed().has_value()};
  const bool is_worth_vectors = threads >= kFewThreads && block[0] * block[1] * block[2] >= kSmallBlock;
  if (options.form == codegen::FormOfCode::Auto && !is_worth_vectors) options.form = codegen::FormOfCode::Scalar;
  if (options.form != codegen::FormOfCode::Scalar) std::copy_n(block, 3, options.block);
  return options;
}

std::shared_ptr<const codegen::Code> CodeVariants::find(const codegen::CompileOptions& options) {
  if (stays_scalar_ || options.form == codegen::FormOfCode::Scalar) return scalar_.empty() ? nullptr : scalar_.back();
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [&](const Variant& variant) { return is_for(options, variant.block); });
  if (found == variants_.end()) return nullptr;
  std::rotate(found, found + 1, variants_.end());
  return variants_.back().code;
}

void CodeVariants::add(const codegen::CompileOptions& options, std::shared_ptr<const codegen::Code> code) {
  if (code->info.form == codegen::FormOfCode::Scalar) {
    scalar_.push_back(std::move(code));
    stays_scalar_ = options.form != codegen::FormOfCode::Scalar;
    return;
  }
  if (variants_.size() == kMostVariants) variants_.erase(variants_.begin());
  Variant& added = variants_.emplace_back();
  std::copy_n(options.block, 3, added.block);
  added.code = std::move(code);
}

}  // namespace cucore::cpu::runtime
