// ArgumentPack: values whose types are known at run time, converted to the kernel's parameters.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cucore/error.hpp"
#include "cucore/launch.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/parameter_check.hpp"

namespace cucore {
namespace {

constexpr std::size_t block_alignment = 64;  // the strictest of all parameters: that of a tensor map
constexpr std::size_t append_alignment = 16;

// Nearest value with `fraction` bits of fraction and the exponent range of `bias`, ties to even: half is (10, 15),
// bfloat16 is (7, 127). Straight from double, so that nothing is rounded twice.
std::uint16_t narrow(double value, int fraction, int bias) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>((2 * bias + 1) << fraction);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (fraction - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // of the leading bit; below the normal range it stays
  const double scaled = std::nearbyint(std::ldexp(magnitude, fraction - exponent));
  if (exponent > bias || (exponent == bias && scaled >= std::ldexp(1.0, fraction + 1))) return sign | infinity;
  // Rounding up to the next power of two, or into the normal range, carries into the exponent by itself.
  const auto bits = static_cast<std::uint32_t>(scaled) + (static_cast<std::uint32_t>(exponent + bias - 1) << fraction);
  return static_cast<std::uint16_t>(sign | bits);
}

// A float of `size` bytes at `slot`. False: there is none of that size.
bool write_float(void* slot, std::size_t size, ParameterKind kind, double value) {
  if (size == 8) {
    std::memcpy(slot, &value, 8);
  } else if (size == 4) {
    const auto single = static_cast<float>(value);
    std::memcpy(slot, &single, 4);
  } else if (size == 2) {
    const std::uint16_t bits = kind == ParameterKind::bfloat16 ? narrow(value, 7, 127) : narrow(value, 10, 15);
    std::memcpy(slot, &bits, 2);
  } else {
    return false;
  }
  return true;
}

}  // namespace

// What does not fit inline. Blocks never move, since there are pointers to the values.
struct ArgumentPack::Owned {
  struct Free {
    void operator()(std::byte* block) const noexcept { ::operator delete[](block, std::align_val_t{block_alignment}); }
  };
  using Block = std::unique_ptr<std::byte[], Free>;

  std::vector<void*> values;
  std::vector<Block> blocks;
  std::size_t used = 0;  // of the inline block, by append()

  std::byte* allocate(std::size_t size) {
    blocks.emplace_back(new (std::align_val_t{block_alignment}) std::byte[size]);
    return blocks.back().get();
  }
};

ArgumentPack::ArgumentPack(const Kernel& kernel)
    : kernel_(&kernel), signature_(detail::open_kernel(kernel.state(), "launch").parameters()) {
  if (signature_ == nullptr) return;
  slots_ = signature_->slots();
  expected_ = signature_->size();
  if (signature_->bytes() <= inline_bytes && expected_ <= inline_arguments) [[likely]] {
    return;
  }
  owned_ = new Owned;
  block_ = owned_->allocate(block_bytes(*signature_));
  owned_->values.resize(expected_);
  values_ = owned_->values.data();
}

ArgumentPack::ArgumentPack(const Kernel& kernel, std::span<std::byte> block, std::span<void*> values)
    : kernel_(&kernel), signature_(detail::open_kernel(kernel.state(), "launch").parameters()) {
  if (signature_ == nullptr || block.size() < block_bytes(*signature_) || values.size() < signature_->size()) {
    throw TypeError({.call = "launch", .message = "no room for the arguments of " + describe(*kernel.state())});
  }
  slots_ = signature_->slots();
  expected_ = signature_->size();
  block_ = block.data();
  values_ = values.data();
}

void ArgumentPack::free_owned() noexcept { delete owned_; }

const Parameter* ArgumentPack::next() const noexcept { return count_ < expected_ ? &(*signature_)[count_] : nullptr; }

const Parameter& ArgumentPack::required() {
  if (count_ >= expected_) detail::refuse_count(*kernel_->state(), expected_, count_ + 1);
  return (*signature_)[count_];
}

void ArgumentPack::refuse_count() const { detail::refuse_count(*kernel_->state(), expected_, count_); }

void* ArgumentPack::append(std::size_t size) {
  if (owned_ == nullptr) owned_ = new Owned;
  const std::size_t begin = (owned_->used + append_alignment - 1) / append_alignment * append_alignment;
  std::byte* slot = nullptr;
  if (begin + size <= inline_bytes) {
    slot = inline_block_.data() + begin;
    owned_->used = begin + size;
  } else {
    slot = owned_->allocate(size);
  }
  owned_->values.push_back(slot);
  values_ = owned_->values.data();
  ++count_;
  return slot;
}

void ArgumentPack::convert_integer(std::int64_t value) {
  place_integer(value < 0, value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
}

void ArgumentPack::add_unsigned(std::uint64_t value) { place_integer(false, value); }

void ArgumentPack::place_integer(bool negative, std::uint64_t magnitude) {
  const std::uint64_t bits = negative ? 0 - magnitude : magnitude;
  if (signature_ == nullptr) {
    std::memcpy(append(8), &bits, 8);
    return;
  }
  const Parameter& parameter = required();
  const detail::ParameterSlot& slot = slots_[count_];
  const auto refuse_number = [&](const char* why) {
    throw ValueError({.call = "launch",
                      .message = detail::describe_argument(*kernel_->state(), count_, parameter) + " is " +
                                 (negative ? "-" : "") + std::to_string(magnitude) + ", which " + why +
                                 ": the parameter is " + detail::describe_parameter(parameter)});
  };
  const bool floating = parameter.kind == ParameterKind::floating || parameter.kind == ParameterKind::bfloat16;
  if (floating && (slot.size == 8 || slot.size == 4 || slot.size == 2)) {
    // Converts as C++ does, but only where nothing is lost.
    const int digits = slot.size == 8 ? 53 : slot.size == 4 ? 24 : slot.kind == ParameterKind::bfloat16 ? 8 : 11;
    if (magnitude > std::uint64_t{1} << digits) refuse_number("cannot be represented exactly");
    const auto value = static_cast<double>(magnitude);
    write_float(place(slot), slot.size, slot.kind, negative ? -value : value);
    return;
  }
  const detail::WholeNumbers fitting = detail::whole_numbers(slot);
  if (floating || fitting.least > 0) {  // a struct, or of no width that a number has
    detail::refuse_argument(*kernel_->state(), count_, parameter, 8, ParameterKind::integer);
  }
  const bool fits = negative ? fitting.least < 0 && magnitude <= 0 - static_cast<std::uint64_t>(fitting.least)
                             : magnitude <= fitting.most;
  if (!fits) refuse_number(slot.kind == ParameterKind::boolean ? "is neither 0 nor 1" : "does not fit");
  std::memcpy(place(slot), &bits, slot.size);  // little-endian: the low bytes come first
}

void ArgumentPack::add_bool(bool value) {
  const std::uint64_t bits = value ? 1 : 0;
  if (signature_ == nullptr) {
    std::memcpy(append(1), &bits, 1);
    return;
  }
  const Parameter& parameter = required();
  const detail::ParameterSlot& slot = slots_[count_];
  switch (slot.kind) {
    case ParameterKind::signed_integer:
    case ParameterKind::unsigned_integer:
    case ParameterKind::integer:
      break;
    default:
      if (slot.size != 1 || slot.kind == ParameterKind::floating) {
        detail::refuse_argument(*kernel_->state(), count_, parameter, 1, ParameterKind::boolean);
      }
  }
  std::memcpy(place(slot), &bits, std::min<std::size_t>(slot.size, sizeof bits));
}

void ArgumentPack::convert_float(double value) {
  if (signature_ == nullptr) {
    std::memcpy(append(8), &value, 8);
    return;
  }
  const Parameter& parameter = required();
  const detail::ParameterSlot& slot = slots_[count_];
  const bool floating = slot.kind == ParameterKind::floating || slot.kind == ParameterKind::bfloat16;
  // A slot of 4 bytes whose type is not known may be a float or an integer: do not guess.
  const bool as_double =
      (slot.kind == ParameterKind::unknown || slot.kind == ParameterKind::aggregate) && slot.size == 8;
  const bool has_format = slot.size == 8 || slot.size == 4 || slot.size == 2;
  if ((!floating && !as_double) || !has_format) {
    detail::refuse_argument(*kernel_->state(), count_, parameter, 8, ParameterKind::floating);
  }
  write_float(place(slot), slot.size, slot.kind, value);
}

void ArgumentPack::add_complex(double real, double imaginary) {
  std::byte* at = nullptr;
  std::size_t size = 16;
  if (signature_ == nullptr) {
    at = static_cast<std::byte*>(append(size));
  } else {
    const Parameter& parameter = required();
    const detail::ParameterSlot& slot = slots_[count_];
    size = slot.size;
    const bool pair = slot.kind == ParameterKind::aggregate || slot.kind == ParameterKind::unknown;
    if (!pair || (size != 8 && size != 16)) {
      detail::refuse_argument(*kernel_->state(), count_, parameter, 16, ParameterKind::aggregate);
    }
    at = place(slot);
  }
  write_float(at, size / 2, ParameterKind::floating, real);
  write_float(at + size / 2, size / 2, ParameterKind::floating, imaginary);
}

void ArgumentPack::refuse_or_append(const void* bytes, std::size_t size, ParameterKind kind) {
  if (signature_ == nullptr) {
    std::memcpy(append(size), bytes, size);
    return;
  }
  detail::refuse_argument(*kernel_->state(), count_, required(), size, kind);
}

void ArgumentPack::launch(const Stream& stream, const LaunchConfig& config) const {
  launch_unchecked(stream, config, *kernel_, values());
}

void ArgumentPack::launch(const Stream& stream, const ResolvedConfig& config) const {
  launch_unchecked(stream, config, *kernel_, values());
}

}  // namespace cucore
