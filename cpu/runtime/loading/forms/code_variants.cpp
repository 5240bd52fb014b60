// The code of one kernel: see code_variants.hpp.
#include "cpu/runtime/loading/forms/code_variants.hpp"

#include <algorithm>
#include <utility>

#include "cpu/analysis/reach_and_waits.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/cost_model.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {
namespace {

/// What the environment asks of all code, read once.
struct Asked {
  FormOfCode form;
  bool at_once;
  bool debug;
  bool perf_map;
};

const Asked& asked() {
  static const Asked answer = [] {
    constexpr FormOfCode forms[] = {FormOfCode::Auto, FormOfCode::Auto, FormOfCode::Scalar, FormOfCode::Vector,
                                    FormOfCode::Masked};
    const std::size_t named = choice_of(Setting::form, {"auto", "auto-at-once", "scalar", "vector", "masked"});
    return Asked{.form = forms[named],
                 .at_once = named == 1,
                 .debug = is_set_to(Setting::debug, "1"),
                 .perf_map = is_set_to(Setting::perf_map, "1")};
  }();
  return answer;
}

/// The processor whose instructions are enough.
std::string march_from_environment() {
  const std::string march = setting(Setting::march).value_or("");
  return march == "native" ? "" : march;
}

}  // namespace

FormOfCode form_for(const std::uint32_t (&block)[3], std::uint64_t threads) {
  const Asked& all = asked();
  if (all.debug || checker::seed()) return FormOfCode::Scalar;  // what can have no vectors
  const bool is_worth_vectors =
      threads >= cost_model::few_threads && block[0] * block[1] * block[2] >= cost_model::small_block;
  return all.form == FormOfCode::Auto && !is_worth_vectors ? FormOfCode::Scalar : all.form;
}

bool may_change_later(FormOfCode form) {
  return form == FormOfCode::Auto && !asked().at_once && checker::classes() == 0;
}

CompileOptions options_for(FormOfCode form, const std::uint32_t (&block)[3]) {
  CompileOptions options{.form = form,
                         .debug = asked().debug,
                         .perf_map = asked().perf_map,
                         .checks = checker::classes(),
                         .by_thread = checker::seed().has_value()};
  // One code of the scalar form serves all longer blocks of one row.
  if (form != FormOfCode::Scalar || analysis::shape_of_warps(block).is_known()) std::copy_n(block, 3, options.block);
  options.march = march_from_environment();
  return options;
}

std::shared_ptr<const Code> CodeVariants::find(FormOfCode form, const std::uint32_t (&block)[3]) {
  if (stays_scalar_ || form == FormOfCode::Scalar) {
    const analysis::BlockShape shape = analysis::shape_of_warps(block);
    const auto of_shape =
        std::find_if(scalar_.rbegin(), scalar_.rend(), [&](const auto& it) { return it.first == shape; });
    return of_shape != scalar_.rend() ? of_shape->second : nullptr;
  }
  const auto found = std::find_if(variants_.begin(), variants_.end(), [&](const Variant& variant) {
    return std::equal(std::begin(block), std::end(block), std::begin(variant.block));
  });
  if (found == variants_.end()) return nullptr;
  std::rotate(found, found + 1, variants_.end());
  return variants_.back().code;
}

void CodeVariants::add(const CompileOptions& options, std::shared_ptr<const Code> code) {
  if (code->info.form == FormOfCode::Scalar) {
    scalar_.emplace_back(analysis::shape_of_warps(options.block), std::move(code));
    stays_scalar_ |= options.form != FormOfCode::Scalar;
    return;
  }
  if (variants_.size() >= cost_model::most_variants) {
    const auto old = std::find_if(variants_.begin(), variants_.end(),
                                  [](const Variant& variant) { return !variant.code->names_functions_of_it; });
    if (old != variants_.end()) variants_.erase(old);
  }
  Variant& added = variants_.emplace_back();
  std::copy_n(options.block, 3, added.block);
  added.code = std::move(code);
}

std::shared_ptr<const Code> CodeVariants::share_scalar(const ptx::Module& module, ptx::FunctionId kernel,
                                                       const std::uint32_t (&block)[3]) {
  const analysis::BlockShape shape = analysis::shape_of_warps(block);
  const auto of_other = std::find_if(scalar_.begin(), scalar_.end(), [&](const auto& it) {
    return analysis::waits_alike(module, kernel, it.first, shape);
  });
  if (of_other == scalar_.end()) return nullptr;
  std::shared_ptr<const Code> code = of_other->second;
  scalar_.emplace_back(shape, code);
  return code;
}

std::shared_ptr<LaterForm> CodeVariants::find_later(const std::uint32_t (&block)[3]) const {
  const auto found = std::find_if(later_.begin(), later_.end(), [&](const std::shared_ptr<LaterForm>& form) {
    return std::equal(std::begin(block), std::end(block), std::begin(form->options().block));
  });
  return found != later_.end() ? *found : nullptr;
}

void CodeVariants::add_later(std::shared_ptr<LaterForm> form) {
  if (later_.size() >= cost_model::most_variants) later_.erase(later_.begin());
  later_.push_back(std::move(form));
}

}  // namespace cucore::cpu::runtime
