// Products of matrices in shared memory by four warps (wgmma): see warpgroup_unit.hpp.
#include "cpu/device_library/warpgroup_unit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/analysis/instructions/warpgroup_form.hpp"
#include "cpu/device_library/element_values.hpp"
#include "cpu/device_library/fragment_product.hpp"
#include "cpu/device_library/self_checks.hpp"
#include "cpu/device_library/warpgroup_sums.hpp"

namespace cucore::cpu::device_library::warpgroup_unit {
namespace {

using analysis::bits_of;
using analysis::Element;
using analysis::elements_of;
using analysis::is_integer;
using analysis::MatrixForm;
using analysis::MatrixRole;
using analysis::Place;
using analysis::place_of;
using analysis::row_of_sparse;
using analysis::SharedMatrix;
using analysis::WarpgroupForm;

constexpr std::uint32_t lanes_of_warp = 32;
constexpr std::uint32_t threads_of_group = 128;
constexpr std::uint32_t rows_of_warp = 16;

/// The operands of one thread.
struct WarpgroupMultiplication {
  WarpgroupForm form;
  void* d;
  const void* a;
  std::uint64_t a_descriptor, b_descriptor;
  const std::byte* shared;
  std::uint32_t window;
  bool accumulates;
  std::uint32_t metadata;
  bool may_happen;
  const ThreadState* thread;  ///< where numbers are checked
};

/// A matrix of `size` rows of A or columns of B, which lie in memory with their elements along k behind one another, or
/// across it.
SharedMatrix in_shared(const WarpgroupMultiplication& of, std::uint64_t descriptor, Element element, std::uint32_t size,
                       std::uint32_t k, bool across) {
  return {descriptor, of.window, across, bits_of(element), across ? k : size, across ? size : k};
}

SharedMatrix a_in_shared(const WarpgroupMultiplication& of) {
  const WarpgroupForm& form = of.form;
  return in_shared(of, of.a_descriptor, form.a(), WarpgroupForm::m, form.stored_k(),
                   form.has(WarpgroupForm::a_columns));
}

SharedMatrix b_in_shared(const WarpgroupMultiplication& of) {
  const WarpgroupForm& form = of.form;
  return in_shared(of, of.b_descriptor, form.b(), form.n, form.k, form.has(WarpgroupForm::b_rows));
}

// ---- elements ------------------------------------------------------------------------------------------------------

/// Calls visit(across, along, value) for every element of a matrix in shared memory.
template <typename Number, typename Visit>
void for_each_in_shared(const SharedMatrix& matrix, const std::byte* shared, Element element, const Visit& visit) {
  const std::uint32_t in_chunk = 128 / bits_of(element);
  double numbers[16];
  for (std::uint32_t chunk = 0; chunk < matrix.chunks(); ++chunk) {
    const std::uint32_t across = chunk / matrix.chunks_along();
    const std::uint32_t along = chunk % matrix.chunks_along();
    const std::byte* const bytes = shared + matrix.offset_of(across, along);
    const bool is_of_bytes = bits_of(element) >= 8;
    if (is_of_bytes) numbers_in_chunk(element, bytes, numbers);
    for (std::uint32_t n = 0; n < in_chunk; ++n) {
      visit(across, along * in_chunk + n,
            is_of_bytes ? static_cast<Number>(numbers[n]) : value_at<Number>(element, bytes, n));
    }
  }
}

/// A, row after row, as it is stored.
template <typename Number>
std::vector<Number> read_a(const WarpgroupMultiplication* const* threads) {
  const WarpgroupMultiplication& any = *threads[0];
  const WarpgroupForm& form = any.form;
  const std::uint32_t columns = form.stored_k();
  std::vector<Number> a(std::size_t{WarpgroupForm::m} * columns);
  if (form.has(WarpgroupForm::a_in_shared)) {
    const bool by_columns = form.has(WarpgroupForm::a_columns);
    for_each_in_shared<Number>(a_in_shared(any), any.shared, form.a(),
                               [&](std::uint32_t across, std::uint32_t along, Number value) {
                                 a[by_columns ? along * columns + across : across * columns + along] = value;
                               });
  } else {
    const MatrixForm of_warp = form.of_warp();
    const std::uint32_t count = elements_of(of_warp, MatrixRole::A);
    for (std::uint32_t thread = 0; thread < threads_of_group; ++thread) {
      for (std::uint32_t index = 0; index < count; ++index) {
        const Place at = place_of(of_warp, MatrixRole::A, form.a(), thread % lanes_of_warp, index);
        const std::uint32_t row = thread / lanes_of_warp * rows_of_warp + at.row;
        a[row * columns + at.column] = value_at<Number>(form.a(), threads[thread]->a, index);
      }
    }
  }
  if (form.has(WarpgroupForm::negates_a))
    for (Number& value : a) value = -value;
  return a;
}

/// B, row after row.
template <typename Number>
std::vector<Number> read_b(const WarpgroupMultiplication& any) {
  const WarpgroupForm& form = any.form;
  std::vector<Number> b(std::size_t{form.k} * form.n);
  const bool by_rows = form.has(WarpgroupForm::b_rows);
  for_each_in_shared<Number>(b_in_shared(any), any.shared, form.b(),
                             [&](std::uint32_t across, std::uint32_t along, Number value) {
                               b[by_rows ? across * form.n + along : along * form.n + across] = value;
                             });
  if (form.has(WarpgroupForm::negates_b))
    for (Number& value : b) value = -value;
  return b;
}

/// Which row of B each stored element of A is multiplied with, row after row of A.
std::vector<std::uint32_t> rows_of_b(const WarpgroupMultiplication* const* threads) {
  const WarpgroupForm& form = threads[0]->form;
  const MatrixForm of_warp = form.of_warp();
  std::vector<std::uint32_t> rows;
  rows.reserve(std::size_t{WarpgroupForm::m} * form.stored_k());
  for (std::uint32_t m = 0; m < WarpgroupForm::m; ++m) {
    std::uint32_t metadata[lanes_of_warp];
    for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane)
      metadata[lane] = threads[m / rows_of_warp * lanes_of_warp + lane]->metadata;
    for (std::uint32_t k = 0; k < form.stored_k(); ++k)
      rows.push_back(form.has(WarpgroupForm::is_sparse) ? row_of_sparse(of_warp, m % rows_of_warp, k, metadata) : k);
  }
  return rows;
}

/// Calls visit(thread's registers, index there, row, column) for every accumulator: place_of() for all of them.
template <typename Visit>
void for_each_accumulator(const WarpgroupMultiplication* const* threads, const Visit& visit) {
  const std::uint32_t columns = threads[0]->form.n;
  for (std::uint32_t thread = 0; thread < threads_of_group; ++thread) {
    const std::uint32_t lane = thread % lanes_of_warp;
    const std::uint32_t row = thread / lanes_of_warp * rows_of_warp + lane / 4, column = lane % 4 * 2;
    for (std::uint32_t index = 0; index < columns / 2; ++index)
      visit(threads[thread]->d, index, row + 8 * (index / 2 % 2), column + 8 * (index / 4) + index % 2);
  }
}

// ---- integers ------------------------------------------------------------------------------------------------------

std::uint64_t integer_result(const WarpgroupForm& form, std::int64_t sum) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (form.has(WarpgroupForm::saturates)) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::uint32_t>(sum);
}

void add_row(const WarpgroupForm& form, const std::int32_t* a, const std::vector<std::int32_t>& b,
             const std::uint32_t* rows, std::int64_t* sums) {
  for (std::uint32_t k = 0; k < form.stored_k(); ++k) {
    const std::int64_t left = a[k];
    const std::int32_t* const right = b.data() + std::size_t{rows[k]} * form.n;
    for (std::uint32_t n = 0; n < form.n; ++n) sums[n] += left * right[n];
  }
}

// ---- floats --------------------------------------------------------------------------------------------------------

/// A factor with the exponents by which its elements are aligned.
struct FloatFactor {
  std::vector<double> values;
  std::vector<std::int32_t> exponents;
  bool is_finite = true;

  FloatFactor(Element element, std::vector<double> from) : values(std::move(from)), exponents(values.size()) {
    is_finite = exponents_of(element, values.data(), values.size(), exponents.data());
  }
};

/// Adds a row of products to its sums; what has no finite sum is infinite or no number as IEEE says.
void add_row(const RowOfProduct& row, bool is_finite, double* sums) {
  constexpr std::uint32_t group = 8;
  if (is_finite) return add_aligned(row, 0, row.columns, sums);
  for (std::uint32_t first = 0; first < row.columns; first += group) {
    double plain[group], aligned[group];
    for (std::uint32_t n = 0; n < group; ++n) {
      aligned[n] = plain[n] = sums[first + n];
      for (std::uint32_t k = 0; k < row.depth; ++k)
        plain[n] += row.a[k] * row.b[std::size_t{row.rows_of_b[k]} * row.columns + first + n];
    }
    add_aligned(row, first, group, aligned);  // of the columns that are finite
    for (std::uint32_t n = 0; n < group; ++n) sums[first + n] = std::isfinite(plain[n]) ? aligned[n] : plain[n];
  }
}

// ---- the product ---------------------------------------------------------------------------------------------------

/// Tells the checker of numbers what a product was made of and what it is.
void tell_of_product(const WarpgroupMultiplication* const* threads, const FloatFactor& a, const FloatFactor& b,
                     const std::vector<std::uint32_t>& rows, const std::vector<double>& before) {
  const WarpgroupForm& form = threads[0]->form;
  const ThreadState& first = *threads[0]->thread;
  std::vector<double> sums(before.size());
  for_each_accumulator(threads, [&](const void* d, std::uint32_t index, std::uint32_t m, std::uint32_t n) {
    sums[m * form.n + n] = value_at<double>(form.d, d, index);
  });
  first.block->launch->checks->products(first.block, first.linear, first.place & ~aligned_place,
                                        {.m = WarpgroupForm::m,
                                         .n = form.n,
                                         .k = form.stored_k(),
                                         .a = a.values.data(),
                                         .b = b.values.data(),
                                         .c = before.data(),
                                         .d = sums.data(),
                                         .rows_of_b = rows.data(),
                                         .bits_of_d = bits_of(form.d)});
}

void add_products(const WarpgroupMultiplication* const* threads, const FloatFactor& a, const FloatFactor& b,
                  const std::vector<std::uint32_t>& rows, bool is_finite, std::vector<double>& sums);

void multiply_floats(const WarpgroupMultiplication* const* threads) {
  const WarpgroupForm& form = threads[0]->form;
  const FloatFactor a(form.a(), read_a<double>(threads));
  const FloatFactor b(form.b(), read_b<double>(*threads[0]));
  const std::vector<std::uint32_t> rows = rows_of_b(threads);
  std::vector<double> sums(std::size_t{WarpgroupForm::m} * form.n);
  bool is_finite = a.is_finite && b.is_finite;
  if (threads[0]->accumulates) {
    for_each_accumulator(threads, [&](const void* d, std::uint32_t index, std::uint32_t m, std::uint32_t n) {
      sums[m * form.n + n] = form.d == Element::F32 ? static_cast<double>(static_cast<const float*>(d)[index])
                                                    : value_at<double>(form.d, d, index);
    });
    std::vector<std::int32_t> exponents(sums.size());
    is_finite = exponents_of(form.d, sums.data(), sums.size(), exponents.data()) && is_finite;
  }
  const bool is_checked = threads[0]->thread != nullptr;
  const std::vector<double> before = is_checked ? sums : std::vector<double>();
  add_products(threads, a, b, rows, is_finite, sums);
  if (is_checked) tell_of_product(threads, a, b, rows, before);
}

void add_products(const WarpgroupMultiplication* const* threads, const FloatFactor& a, const FloatFactor& b,
                  const std::vector<std::uint32_t>& rows, bool is_finite, std::vector<double>& sums) {
  const WarpgroupForm& form = threads[0]->form;
  for (std::size_t m = 0; m < WarpgroupForm::m; ++m) {
    const std::size_t at = m * form.stored_k();
    const RowOfProduct row{.a = a.values.data() + at,
                           .a_exponents = a.exponents.data() + at,
                           .depth = form.stored_k(),
                           .b = b.values.data(),
                           .b_exponents = b.exponents.data(),
                           .rows_of_b = rows.data() + at,
                           .columns = form.n,
                           .d = form.d,
                           .kept = kept_bits(form.a())};
    add_row(row, is_finite, sums.data() + m * form.n);
  }
  if (form.d == Element::F32) {
    std::vector<std::uint32_t> patterns(sums.size());
    cut_off(sums.data(), sums.size(), bits_of(form.a()) == 8 ? kept_bits(form.a()) : 0, patterns.data());
    for_each_accumulator(threads, [&](void* d, std::uint32_t index, std::uint32_t m, std::uint32_t n) {
      static_cast<std::uint32_t*>(d)[index] = patterns[m * form.n + n];
    });
    return;
  }
  for_each_accumulator(threads, [&](void* d, std::uint32_t index, std::uint32_t m, std::uint32_t n) {
    put_pattern(d, bits_of(form.d), index, from_real(form.d, sums[m * form.n + n]));
  });
}

void multiply_integers(const WarpgroupMultiplication* const* threads) {
  const WarpgroupForm& form = threads[0]->form;
  const std::vector<std::int32_t> a = read_a<std::int32_t>(threads);
  const std::vector<std::int32_t> b = read_b<std::int32_t>(*threads[0]);
  const std::vector<std::uint32_t> rows = rows_of_b(threads);
  std::vector<std::int64_t> sums(std::size_t{WarpgroupForm::m} * form.n);
  if (threads[0]->accumulates) {
    for_each_accumulator(threads, [&](void* d, std::uint32_t index, std::uint32_t m, std::uint32_t n) {
      sums[m * form.n + n] = value_at<std::int32_t>(form.d, d, index);
    });
  }
  for (std::size_t m = 0; m < WarpgroupForm::m; ++m)
    add_row(form, a.data() + m * form.stored_k(), b, rows.data() + m * form.stored_k(), sums.data() + m * form.n);
  for_each_accumulator(threads, [&](void* d, std::uint32_t index, std::uint32_t m, std::uint32_t n) {
    put_pattern(d, bits_of(form.d), index, integer_result(form, sums[m * form.n + n]));
  });
}

void multiply_group(void* const* brought) {
  const WarpgroupMultiplication* threads[threads_of_group];
  for (std::uint32_t thread = 0; thread < threads_of_group; ++thread) {
    threads[thread] = static_cast<const WarpgroupMultiplication*>(brought[thread]);
    if (!threads[thread]->may_happen) return;  // the checker has reported it; the accumulators stay as they are
  }
  if (is_integer(threads[0]->form.a())) {
    multiply_integers(threads);
  } else {
    multiply_floats(threads);
  }
}

/// Each thread asks the checker for its share of what the warpgroup reads.
bool may_read(ThreadState* thread, const WarpgroupMultiplication& mine) {
  SelfChecks checks(thread, check_access::reads_memory | check_access::async_proxy, CheckedSpace::Shared, 16);
  if (!checks.are_wanted()) return true;
  const auto add_share = [&](const SharedMatrix& matrix) {
    for (std::uint32_t n = thread->linear % threads_of_group; n < matrix.chunks(); n += threads_of_group)
      checks.add(mine.shared + matrix.offset_of(n / matrix.chunks_along(), n % matrix.chunks_along()), 16);
  };
  if (mine.form.has(WarpgroupForm::a_in_shared)) add_share(a_in_shared(mine));
  add_share(b_in_shared(mine));
  return checks.may_happen();
}

}  // namespace

void multiply(ThreadState* thread, std::uint64_t form, void* d, const void* a, std::uint64_t a_descriptor,
              std::uint64_t b_descriptor, std::uint32_t window, std::uint32_t accumulates, std::uint32_t metadata) {
  WarpgroupMultiplication mine{.form = std::bit_cast<WarpgroupForm>(form),
                               .d = d,
                               .a = a,
                               .a_descriptor = a_descriptor,
                               .b_descriptor = b_descriptor,
                               .shared = thread->block->shared,
                               .window = window,
                               .accumulates = accumulates != 0,
                               .metadata = metadata,
                               .may_happen = true,
                               .thread = nullptr};
  const CheckTable* const checks = thread->block->launch->checks;
  if (checks != nullptr && checks->products != nullptr) mine.thread = thread;
  mine.may_happen = may_read(thread, mine);
  cucpu_warpgroup_together(thread, multiply_group, &mine, form);
}

}  // namespace cucore::cpu::device_library::warpgroup_unit
