// Products of matrix fragments held by a warp's threads: see matrix_unit.hpp.
#include "cpu/device_library/matrix_unit.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/analysis/instructions/matrix_form.hpp"
#include "cpu/device_library/element_values.hpp"
#include "cpu/device_library/fragment_product.hpp"
#include "cpu/device_library/fragment_transfer.hpp"
#include "cpu/device_library/product_numbers.hpp"
#include "cpu/device_library/self_checks.hpp"
#include "cpu/device_library/warp_product.hpp"

namespace cucore::cpu::device_library::matrix_unit {
namespace {

using analysis::bits_of;
using analysis::Element;
using analysis::elements_of;
using analysis::FragmentForm;
using analysis::is_integer;
using analysis::MatrixForm;
using analysis::MatrixRole;
using analysis::Place;
using analysis::place_of;

// ---- one product ---------------------------------------------------------------------------------------------------

double step(const MatrixForm& form, double a, double b, double sum) {
  return form.d() == Element::F64 ? std::fma(a, b, sum) : sum + a * b;
}

std::int64_t step(const MatrixForm& form, std::int32_t a, std::int32_t b, std::int64_t sum) {
  const bool differ = form.a() == Element::B1 && !form.has(MatrixForm::ands);
  return sum + (differ ? std::int64_t{a ^ b} : std::int64_t{a} * b);
}

/// Adds the products to the sums; each sum takes its own in order of k. row_of(m, k): the row of B that belongs to
/// stored element k of row m.
template <typename Number, typename Sum, typename RowOf>
void accumulate(const MatrixForm& form, const Number* a, const Number* b, Sum* sums, const RowOf& row_of) {
  const std::uint32_t stored = form.stored_k();
  for (unsigned m = 0; m < form.m; ++m) {
    for (unsigned k = 0; k < stored; ++k) {
      const Number left = a[m * stored + k];
      const Number* const right = b + row_of(m, k) * form.n;
      Sum* const row = sums + m * form.n;
      for (unsigned n = 0; n < form.n; ++n) row[n] = step(form, left, right[n], row[n]);
    }
  }
}

std::uint64_t result_pattern(const MatrixForm& form, double sum) { return from_real(form.d(), sum); }

std::uint64_t result_pattern(const MatrixForm& form, std::int64_t sum) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (form.has(MatrixForm::saturates)) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::uint32_t>(sum);
}

/// Sets the form's rounding mode for the life of the object.
class RoundingOfForm {
 public:
  explicit RoundingOfForm(const MatrixForm& form) : is_directed_(form.rounding() != 0) {
    if (!is_directed_) return;
    before_ = std::fegetround();
    std::fesetround(form.rounding() == MatrixForm::rounds_to_zero ? FE_TOWARDZERO
                    : form.rounding() == MatrixForm::rounds_down  ? FE_DOWNWARD
                                                                  : FE_UPWARD);
  }
  ~RoundingOfForm() {
    if (is_directed_) std::fesetround(before_);
  }
  RoundingOfForm(const RoundingOfForm&) = delete;
  RoundingOfForm& operator=(const RoundingOfForm&) = delete;

 private:
  bool is_directed_;
  int before_ = FE_TONEAREST;
};

/// The product of the matrices that the chosen lanes hold. Lanes that have ended hold zeros.
template <typename Number, typename Chosen>
void multiply_held(void* const* lanes, const MatrixForm& form, const Chosen& chosen) {
  using Sum = std::conditional_t<std::is_same_v<Number, double>, double, std::int64_t>;
  const auto held = [&](std::uint32_t lane) { return static_cast<const WarpMultiplication*>(lanes[lane]); };
  const auto is_here = [&](std::uint32_t lane) { return chosen(lane) && lanes[lane] != nullptr; };
  std::vector<Number> a(std::size_t{form.m} * form.stored_k());
  std::vector<Number> b(std::size_t{form.k} * form.n);
  // C and D may have their elements in different lanes: all of C is read before any of D is written.
  std::vector<Sum> sums(std::size_t{form.m} * form.n);
  using Index = std::uint32_t;
  for_each_element(form, MatrixRole::A, form.a(), is_here, [&](Index lane, Index index, Index place) {
    a[place] = value_at<Number>(form.a(), held(lane)->a, index);
  });
  for_each_element(form, MatrixRole::B, form.b(), is_here, [&](Index lane, Index index, Index place) {
    b[place] = value_at<Number>(form.b(), held(lane)->b, index);
  });
  for_each_element(form, MatrixRole::Accumulator, form.c(), is_here, [&](Index lane, Index index, Index place) {
    sums[place] = value_at<Number>(form.c(), held(lane)->c, index);
  });
  const RoundingOfForm rounding(form);
  if (form.has(MatrixForm::is_sparse)) {
    const std::vector<Index> rows = rows_of_sparse(lanes, form);
    accumulate(form, a.data(), b.data(), sums.data(), [&](Index m, Index k) { return rows[m * form.stored_k() + k]; });
  } else {
    accumulate(form, a.data(), b.data(), sums.data(), [](Index, Index k) { return k; });
  }
  for_each_element(form, MatrixRole::Accumulator, form.d(), is_here, [&](Index lane, Index index, Index place) {
    put_pattern(held(lane)->d, bits_of(form.d()), index, result_pattern(form, sums[place]));
  });
}

template <typename Number>
void multiply_all(void* const* lanes, const MatrixForm& form) {
  if (!form.has(MatrixForm::by_quads)) {
    multiply_held<Number>(lanes, form, [](std::uint32_t) { return true; });
    return;
  }
  for (std::uint32_t quad = 0; quad < 4; ++quad)
    multiply_held<Number>(lanes, form, [quad](std::uint32_t lane) { return lane % 16 / 4 == quad; });
}

void* any_of(void* const* lanes) {
  return *std::find_if(lanes, lanes + warp_lanes, [](const void* lane) { return lane != nullptr; });
}

void multiply_warp(void* const* lanes) {
  const MatrixForm form = static_cast<const WarpMultiplication*>(any_of(lanes))->form;
  if (is_integer(form.a())) {
    multiply_all<std::int32_t>(lanes, form);
  } else {
    multiply_all<double>(lanes, form);
  }
  const ThreadState* const thread = static_cast<const WarpMultiplication*>(any_of(lanes))->thread;
  if (thread == nullptr) return;
  tell_of_products(lanes, form, thread->block, thread->linear / warp_lanes * warp_lanes,
                   thread->place & ~aligned_place);
}

// ---- matrices in memory --------------------------------------------------------------------------------------------

struct Transfer {
  FragmentForm form;
  void* memory;
  std::uint32_t stride;
  void* registers;
  bool loads;
};

/// Calls visit(index in the lane's registers, number of the element in memory).
template <typename Visit>
void for_each_transferred(const Transfer& own, std::uint32_t lane, const Visit& visit) {
  const FragmentForm& form = own.form;
  MatrixForm whole;
  whole.m = form.m;
  whole.n = form.n;
  whole.k = form.k;
  const std::uint32_t distinct = elements_of(whole, form.role);
  const std::uint32_t held = form.element == Element::F64 ? distinct : form.registers * 32U / bits_of(form.element);
  for (std::uint32_t index = 0; index < (own.loads ? held : distinct); ++index) {
    const Place at = place_of(whole, form.role, form.element, lane, index % distinct);
    const std::uint64_t major = form.is_column_major ? at.column : at.row;
    const std::uint64_t minor = form.is_column_major ? at.row : at.column;
    visit(index, major * own.stride + minor);
  }
}

void transfer_warp(void* const* lanes) {
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    if (lanes[lane] == nullptr) continue;
    const auto& own = *static_cast<const Transfer*>(lanes[lane]);
    const unsigned bits = bits_of(own.form.element);
    for_each_transferred(own, lane, [&](std::uint32_t index, std::uint64_t element) {
      if (own.loads) {
        put_pattern(own.registers, bits, index, pattern_at(own.memory, bits, element));
      } else {
        put_pattern(own.memory, bits, element, pattern_at(own.registers, bits, index));
      }
    });
  }
}

/// Together with the other lanes of the warp, even where this lane's part is refused: then that is zero, or is not
/// stored.
void transfer(ThreadState* thread, Transfer& mine) {
  SelfChecks checks(thread, mine.loads ? check_access::reads_memory : check_access::writes_memory,
                    CheckedSpace::Generic, 1);
  if (checks.are_wanted()) {
    const unsigned bits = bits_of(mine.form.element);
    for_each_transferred(mine, thread->linear % warp_lanes, [&](std::uint32_t, std::uint64_t element) {
      checks.add(static_cast<const std::byte*>(mine.memory) + element * bits / 8, (bits + 7) / 8);
    });
    if (!checks.may_happen()) {
      if (mine.loads)
        std::memset(mine.registers, 0, mine.form.registers * (mine.form.element == Element::F64 ? 8U : 4U));
      cucpu_warp_together(thread, transfer_warp, nullptr, mine.form.bits(), ~0U);
      return;
    }
  }
  cucpu_warp_together(thread, transfer_warp, &mine, mine.form.bits(), ~0U);
}

// ---- 8x8 matrices of 16 bits ---------------------------------------------------------------------------------------

struct Rows {
  std::uint32_t matrices, transposes;
  void* row;
  std::uint32_t* registers;
  bool loads;
};

/// Lane 8 * m + r names row r of matrix m. Register m of lane l holds two neighbours in row l / 4 of matrix m, or in
/// column l / 4 of it.
void transfer_rows(void* const* lanes) {
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    if (lanes[lane] == nullptr) continue;
    const auto& own = *static_cast<const Rows*>(lanes[lane]);
    for (std::uint32_t index = 0; index < 2 * own.matrices; ++index) {
      std::uint32_t row = lane / 4;
      std::uint32_t column = 2 * (lane % 4) + index % 2;
      if (own.transposes != 0) std::swap(row, column);
      const void* const other = lanes[8 * (index / 2) + row];
      if (other == nullptr) continue;
      void* const memory = static_cast<const Rows*>(other)->row;
      if (own.loads) {
        put_pattern(own.registers, 16, index, pattern_at(memory, 16, column));
      } else {
        put_pattern(memory, 16, column, pattern_at(own.registers, 16, index));
      }
    }
  }
}

struct Moved {
  std::uint32_t value, result;
};

void transpose_warp(void* const* lanes) {
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    if (lanes[lane] == nullptr) continue;
    auto& own = *static_cast<Moved*>(lanes[lane]);
    for (std::uint32_t index = 0; index < 2; ++index) {
      const std::uint32_t row = 2 * (lane % 4) + index;
      const std::uint32_t column = lane / 4;
      const void* const other = lanes[4 * row + column / 2];
      if (other == nullptr) continue;
      put_pattern(&own.result, 16, index, pattern_at(&static_cast<const Moved*>(other)->value, 16, column % 2));
    }
  }
}

}  // namespace

void multiply(ThreadState* thread, std::uint64_t form, const void* a, const void* b, const void* c, void* d,
              std::uint32_t metadata) {
  WarpMultiplication mine{std::bit_cast<MatrixForm>(form), a, b, c, d, metadata};
  const CheckTable* const checks = thread->block->launch->checks;
  if (checks != nullptr && checks->products != nullptr) mine.thread = thread;
  cucpu_warp_together(thread, multiply_warp, &mine, form, ~0U);
}

void load(ThreadState* thread, std::uint64_t form, const void* from, std::uint32_t stride, void* registers) {
  Transfer mine{std::bit_cast<FragmentForm>(form), const_cast<void*>(from), stride, registers, true};
  transfer(thread, mine);
}

void store(ThreadState* thread, std::uint64_t form, void* to, std::uint32_t stride, const void* registers) {
  Transfer mine{std::bit_cast<FragmentForm>(form), to, stride, const_cast<void*>(registers), false};
  transfer(thread, mine);
}

void load_rows(ThreadState* thread, std::uint32_t matrices, std::uint32_t transposes, const void* row,
               std::uint32_t* registers) {
  Rows mine{matrices, transposes, const_cast<void*>(row), registers, true};
  cucpu_warp_together(thread, transfer_rows, &mine, std::uint64_t{transposes} << 8 | matrices, ~0U);
}

void store_rows(ThreadState* thread, std::uint32_t matrices, std::uint32_t transposes, void* row,
                const std::uint32_t* registers) {
  Rows mine{matrices, transposes, row, const_cast<std::uint32_t*>(registers), false};
  cucpu_warp_together(thread, transfer_rows, &mine, std::uint64_t{transposes} << 8 | matrices | 1U << 16, ~0U);
}

std::uint32_t transpose(ThreadState* thread, std::uint32_t value) {
  Moved mine{value, 0};
  cucpu_warp_together(thread, transpose_warp, &mine, 0, ~0U);
  return mine.result;
}

// ---- a warp at once -------------------------------------------------------------------------------------------------

namespace {

/// The registers of each lane next to each other.
struct Fragments {
  alignas(64) std::byte bytes[warp_lanes * most_fragment_registers * 8];
  std::size_t count, size;

  Fragments(std::size_t registers, std::size_t bytes_of_register) : count(registers), size(bytes_of_register) {}
  void* of(std::uint32_t lane) { return bytes + lane * count * size; }

  void take(const void* from) {
    for_each([&](std::byte* own, std::size_t at) { std::memcpy(own, static_cast<const std::byte*>(from) + at, size); });
  }
  void give(void* to) {
    for_each([&](const std::byte* own, std::size_t at) { std::memcpy(static_cast<std::byte*>(to) + at, own, size); });
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      for (std::size_t n = 0; n < count; ++n) visit(bytes + (lane * count + n) * size, (n * warp_lanes + lane) * size);
  }
};

std::size_t register_bytes(Element element) { return element == Element::F64 ? 8 : 4; }

/// Those that the elements of a matrix fill: registers beyond them hold copies.
Fragments fragments_of(const MatrixForm& form, MatrixRole role, Element element) {
  return {element == Element::F64 ? elements_of(form, role) : elements_of(form, role) * bits_of(element) / 32,
          register_bytes(element)};
}

/// Whether all lanes are here and name the same matrix, as the PTX ISA asks of them.
template <typename Pointer>
bool is_one_matrix(std::uint32_t here, Pointer const* memory, const std::uint32_t* strides) {
  return here == ~0U && std::all_of(memory, memory + warp_lanes, [&](Pointer at) { return at == memory[0]; }) &&
         std::all_of(strides, strides + warp_lanes, [&](std::uint32_t stride) { return stride == strides[0]; });
}

/// Calls operation(lanes) with what each lane that is here brings.
template <typename Operation, typename Bring>
void together(std::uint32_t here, const Operation& operation, const Bring& bring) {
  using Mine = decltype(bring(0U));
  Mine brought[warp_lanes];
  void* lanes[warp_lanes];
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    brought[lane] = bring(lane);
    lanes[lane] = (here >> lane & 1) != 0 ? &brought[lane] : nullptr;
  }
  if (here != 0) operation(lanes);
}

/// What a warp multiplies, and where the product goes.
struct Product {
  Product(const MatrixForm& of, const void* left, const void* right, const void* sums)
      : form(of),
        a(fragments_of(form, MatrixRole::A, form.a())),
        b(fragments_of(form, MatrixRole::B, form.b())),
        c(fragments_of(form, MatrixRole::Accumulator, form.c())),
        d(fragments_of(form, MatrixRole::Accumulator, form.d())) {
    a.take(left);
    b.take(right);
    c.take(sums);
  }

  WarpMultiplication of(std::uint32_t lane, const std::uint32_t* metadata) {
    return WarpMultiplication{form, a.of(lane), b.of(lane), c.of(lane), d.of(lane), metadata[lane]};
  }

  MatrixForm form;
  Fragments a, b, c, d;
};

}  // namespace

void multiply_fragments(std::uint64_t bits, std::uint32_t here, const void* a, const void* b, const void* c,
                        const std::uint32_t* metadata, void* d) {
  const auto form = std::bit_cast<MatrixForm>(bits);
  if (here == ~0U && has_fragment_product(form)) {
    using Word = std::uint32_t;
    multiply_in_vectors(form, static_cast<const Word*>(a), static_cast<const Word*>(b), static_cast<const Word*>(c),
                        static_cast<Word*>(d));
    return;
  }
  Product product(form, a, b, c);
  together(here, multiply_warp, [&](std::uint32_t lane) { return product.of(lane, metadata); });
  product.d.give(d);
}

void multiply_checked_fragments(std::uint64_t bits, std::uint32_t here, const void* a, const void* b, const void* c,
                                const std::uint32_t* metadata, void* d, const BlockState* block, std::uint32_t first) {
  multiply_fragments(bits, here, a, b, c, metadata, d);
  const auto form = std::bit_cast<MatrixForm>(bits);
  const std::size_t sums = fragments_of(form, MatrixRole::Accumulator, form.d()).count * warp_lanes;
  if (is_integer(form.a()) || !may_be_notable(form, c, d, sums)) return;
  Product product(form, a, b, c);
  product.d.take(d);
  const std::uint32_t line = metadata[warp_lanes];
  const auto tell = [&](void* const* lanes) { tell_of_products(lanes, form, block, first, line); };
  together(here, tell, [&](std::uint32_t lane) { return product.of(lane, metadata); });
}

void load_fragments(std::uint64_t bits, std::uint32_t here, const void* const* from, const std::uint32_t* strides,
                    void* registers) {
  const auto form = std::bit_cast<FragmentForm>(bits);
  if (is_one_matrix(here, from, strides) && load_in_pieces(form, from[0], strides[0], registers)) return;
  Fragments own(form.registers, register_bytes(form.element));
  together(here, transfer_warp, [&](std::uint32_t lane) {
    return Transfer{form, const_cast<void*>(from[lane]), strides[lane], own.of(lane), true};
  });
  own.give(registers);
}

void store_fragments(std::uint64_t bits, std::uint32_t here, void* const* to, const std::uint32_t* strides,
                     const void* registers) {
  const auto form = std::bit_cast<FragmentForm>(bits);
  if (is_one_matrix(here, to, strides) && store_in_pieces(form, to[0], strides[0], registers)) return;
  Fragments own(form.registers, register_bytes(form.element));
  own.take(registers);
  together(here, transfer_warp,
           [&](std::uint32_t lane) { return Transfer{form, to[lane], strides[lane], own.of(lane), false}; });
}

void load_fragment_rows(std::uint64_t form, std::uint32_t here, const void* const* rows, std::uint32_t* registers) {
  const auto matrices = static_cast<std::uint32_t>(form & 255);
  if (here == ~0U) return load_rows_of_warp(matrices, form >> 8 != 0, rows, registers);
  Fragments own(matrices, 4);
  together(here, transfer_rows, [&](std::uint32_t lane) {
    return Rows{matrices, static_cast<std::uint32_t>(form >> 8), const_cast<void*>(rows[lane]),
                static_cast<std::uint32_t*>(own.of(lane)), true};
  });
  own.give(registers);
}

void store_fragment_rows(std::uint64_t form, std::uint32_t here, void* const* rows, const std::uint32_t* registers) {
  const auto matrices = static_cast<std::uint32_t>(form & 255);
  if (here == ~0U) return store_rows_of_warp(matrices, form >> 8 != 0, rows, registers);
  Fragments own(matrices, 4);
  own.take(registers);
  together(here, transfer_rows, [&](std::uint32_t lane) {
    return Rows{matrices, static_cast<std::uint32_t>(form >> 8), rows[lane], static_cast<std::uint32_t*>(own.of(lane)),
                false};
  });
}

void transpose_fragments(std::uint64_t, std::uint32_t here, const std::uint32_t* values, std::uint32_t* results) {
  Moved brought[warp_lanes];
  void* lanes[warp_lanes];
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    brought[lane] = Moved{values[lane], 0};
    lanes[lane] = (here >> lane & 1) != 0 ? &brought[lane] : nullptr;
  }
  transpose_warp(lanes);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) results[lane] = brought[lane].result;
}

}  // namespace cucore::cpu::device_library::matrix_unit
