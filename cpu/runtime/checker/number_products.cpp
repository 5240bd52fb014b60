// Products of matrices, element by element: see numbers.hpp.
#include <cmath>

#include "cpu/runtime/checker/numbers.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {
namespace {

using analysis::fraction_bits;
using analysis::NumberFormat;

NumberFormat format_of(const MatrixNumbers& numbers) {
  return numbers.bits_of_d == 64 ? NumberFormat::F64 : numbers.bits_of_d == 32 ? NumberFormat::F32 : NumberFormat::F16;
}

double smallest_normal(NumberFormat format) {
  return std::ldexp(1, format == NumberFormat::F64 ? -1022 : format == NumberFormat::F32 ? -126 : -14);
}

/// Of the products and the addend that make an element of d.
struct Terms {
  bool has_nan = false;
  bool has_infinity = false;
  bool has_subnormal = false;
  double largest = 0;
  std::string first_special;  ///< "a[2][3] * b[3][1] = inf * 0"
};

std::string place_in(const char* matrix, std::uint32_t row, std::uint32_t column) {
  return std::string(matrix) + "[" + std::to_string(row) + "][" + std::to_string(column) + "]";
}

Terms terms_of(const MatrixNumbers& numbers, std::uint32_t m, std::uint32_t n) {
  Terms terms;
  const NumberFormat format = format_of(numbers);
  const auto look_at = [&](double value) {
    terms.has_nan = terms.has_nan || std::isnan(value);
    terms.has_infinity = terms.has_infinity || std::isinf(value);
  };
  for (std::uint32_t k = 0; k < numbers.k; ++k) {
    const std::uint32_t row = numbers.rows_of_b == nullptr ? k : numbers.rows_of_b[m * numbers.k + k];
    const double a = numbers.a[m * numbers.k + k];
    const double b = numbers.b[row * numbers.n + n];
    look_at(a);
    look_at(b);
    const double product = a * b;
    terms.largest = std::fmax(terms.largest, std::fabs(product));
    if (!std::isfinite(product) && terms.first_special.empty())
      terms.first_special = place_in("a", m, k) + " * " + place_in("b", row, n) + " = " +
                            number_in_words(Number{.value = a, .format = format}) + " * " +
                            number_in_words(Number{.value = b, .format = format});
  }
  const double c = numbers.c[m * numbers.n + n];
  look_at(c);
  terms.has_subnormal = c != 0 && std::fabs(c) < smallest_normal(format);
  if (std::isfinite(c)) terms.largest = std::fmax(terms.largest, std::fabs(c));
  return terms;
}

NumberEvent judge_element(const MatrixNumbers& numbers, const Terms& terms, double d, double c) {
  const NumberFormat format = format_of(numbers);
  if (std::isnan(d)) return terms.has_nan ? NumberEvent::Handed : NumberEvent::Nan;
  if (std::isinf(d)) return terms.has_infinity || terms.has_nan ? NumberEvent::Handed : NumberEvent::Overflow;
  if (d != 0 && std::fabs(d) < smallest_normal(format))
    return terms.has_subnormal ? NumberEvent::Nothing : NumberEvent::Underflow;
  // Sums of integers are exact.
  if (d != std::trunc(d) || c != std::trunc(c))
    return is_cancelled(c, d, fraction_bits(format)) ? NumberEvent::Cancellation : NumberEvent::Nothing;
  return NumberEvent::Nothing;
}

}  // namespace

void LaunchNumbers::tell_product(const ThreadState& first, std::uint32_t line, const MatrixNumbers& numbers) {
  const NumberPlace* const known = places_.at(line);
  if (known == nullptr) return;
  const std::lock_guard lock(mutex_);
  Computed computed;
  computed.test.result = format_of(numbers);
  computed.test.operation = analysis::NumberOperation::MultiplyAdd;
  for (std::uint32_t m = 0; m < numbers.m; ++m) {
    for (std::uint32_t n = 0; n < numbers.n; ++n) {
      const double d = numbers.d[m * numbers.n + n];
      const double c = numbers.c[m * numbers.n + n];
      const bool is_small = d != 0 && std::fabs(d) < smallest_normal(computed.test.result);
      if (std::isfinite(d) && !is_small && !is_cancelled(c, d, fraction_bits(computed.test.result))) continue;
      const Terms terms = terms_of(numbers, m, n);
      const NumberEvent event = judge_element(numbers, terms, d, c);
      if (event == NumberEvent::Nothing || event == NumberEvent::Handed) continue;
      computed.result = Number{.value = d, .is_subnormal = is_small, .format = computed.test.result};
      const Number addend{.value = c, .format = computed.test.result};
      std::vector<std::string> details{place_in("d", m, n) + " = " + number_in_words(computed.result) + ", with " +
                                       place_in("c", m, n) + " = " + number_in_words(addend)};
      if (!terms.first_special.empty())
        details.push_back("the first product that is not finite: " + terms.first_special);
      details.emplace_back("the thread is the first of those that the product is made by");
      const OriginPointer origin =
          report(first, line, *known, event, headline(event, computed), std::move(details), nullptr);
      if (!computed.result.is_special()) continue;
      ThreadState thread = first;
      for (std::uint32_t lane = 0; lane < 32 && first.linear + lane < grid_.threads_per_block; ++lane) {
        set_thread_id(thread, grid_, first.linear + lane);
        remember(thread, std::uint64_t{known->instruction->position.column} << 32 | line, computed.result.is_nan(),
                 origin);
      }
    }
  }
}

}  // namespace cucore::cpu::runtime
