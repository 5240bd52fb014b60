// ArgumentPack: values whose types are known at run time, converted to the kernel's parameters.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cucore/error.hpp"
#include "cucore/launch.hpp"
#include "src/detail/kernel_state.hpp"
#include "src/detail/parameter_check.hpp"

namespace cucore {
namespace {

constexpr std::size_t slot_alignment = 16;  // enough for every scalar; aggregates are copied from by the driver

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

// What does not fit inline. Blocks never move, since values are pointed to.
struct ArgumentPack::Overflow {
  std::vector<void*> values;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
};

ArgumentPack::ArgumentPack(const Kernel& kernel)
    : kernel_(kernel), signature_(detail::open_kernel(kernel.state(), "launch").parameters()) {}

ArgumentPack::~ArgumentPack() { delete overflow_; }

// The parameter the next argument is for; null if nothing is known about the kernel.
const Parameter* ArgumentPack::next() const {
  if (signature_ == nullptr) return nullptr;
  if (count_ >= signature_->size()) detail::refuse_count(*kernel_.state(), signature_->size(), count_ + 1);
  return &(*signature_)[count_];
}

void* ArgumentPack::place(std::size_t size) {
  void* slot = nullptr;
  const std::size_t begin = (used_ + slot_alignment - 1) / slot_alignment * slot_alignment;
  if (begin + size <= inline_bytes) {
    slot = inline_block_.data() + begin;
    used_ = begin + size;
  } else {
    if (overflow_ == nullptr) overflow_ = new Overflow;
    overflow_->blocks.push_back(std::make_unique<std::byte[]>(size));
    slot = overflow_->blocks.back().get();
  }
  if (count_ < inline_arguments) {
    inline_values_[count_] = slot;
  } else {
    if (overflow_ == nullptr) overflow_ = new Overflow;
    if (overflow_->values.empty()) overflow_->values.assign(inline_values_.begin(), inline_values_.end());
    overflow_->values.push_back(slot);
  }
  ++count_;
  return slot;
}

void ArgumentPack::place_integer(bool negative, std::uint64_t magnitude) {
  const Parameter* parameter = next();
  const std::uint64_t bits = negative ? 0 - magnitude : magnitude;
  if (parameter == nullptr) {
    std::memcpy(place(8), &bits, 8);
    return;
  }
  const auto number = [&] { return (negative ? "-" : "") + std::to_string(magnitude); };
  const auto refuse_number = [&](const char* why) {
    throw ValueError({.call = "launch",
                      .message = "argument " + std::to_string(count_ + 1) + " of " + describe(*kernel_.state()) +
                                 " is " + number() + ", which " + why + ": the parameter is a " +
                                 detail::describe_parameter(*parameter)});
  };
  const std::size_t size = parameter->size;
  const bool known_size = size == 1 || size == 2 || size == 4 || size == 8;
  if (!known_size || parameter->kind == ParameterKind::aggregate || parameter->kind == ParameterKind::bfloat16) {
    detail::refuse_argument(*kernel_.state(), count_, *parameter, 8, ParameterKind::integer);
  }
  if (parameter->kind == ParameterKind::floating) {
    // As C++ converts, but only where nothing is lost.
    const std::uint64_t exact = std::uint64_t{1} << (size == 8 ? 53 : size == 4 ? 24 : 11);
    if (magnitude > exact) refuse_number("cannot be represented exactly");
    const auto value = static_cast<double>(magnitude);
    write_float(place(size), size, parameter->kind, negative ? -value : value);
    return;
  }
  if (parameter->kind == ParameterKind::boolean) {
    if (negative || magnitude > 1) refuse_number("is neither 0 nor 1");
  } else {
    const unsigned width = static_cast<unsigned>(size) * 8;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - width);
    const bool is_signed = parameter->kind == ParameterKind::signed_integer;
    const bool is_unsigned =
        parameter->kind == ParameterKind::unsigned_integer || parameter->kind == ParameterKind::pointer;
    if (negative ? is_unsigned || magnitude > (most >> 1) + 1 : magnitude > (is_signed ? most >> 1 : most)) {
      refuse_number("does not fit");
    }
  }
  std::memcpy(place(size), &bits, size);  // little-endian: the low bytes come first
}

void ArgumentPack::add_integer(std::int64_t value) {
  place_integer(value < 0, value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
}

void ArgumentPack::add_unsigned(std::uint64_t value) { place_integer(false, value); }

void ArgumentPack::add_bool(bool value) {
  const Parameter* parameter = next();
  const std::size_t size = parameter == nullptr ? 1 : parameter->size;
  if (parameter != nullptr && size != 1) {
    switch (parameter->kind) {
      case ParameterKind::signed_integer:
      case ParameterKind::unsigned_integer:
      case ParameterKind::integer:
        break;
      default:
        detail::refuse_argument(*kernel_.state(), count_, *parameter, 1, ParameterKind::boolean);
    }
  }
  const std::uint64_t bits = value ? 1 : 0;
  std::memcpy(place(size), &bits, size);
}

void ArgumentPack::add_float(double value) {
  const Parameter* parameter = next();
  if (parameter == nullptr) {
    std::memcpy(place(8), &value, 8);
    return;
  }
  const bool floating = parameter->kind == ParameterKind::floating || parameter->kind == ParameterKind::bfloat16;
  // A slot of 4 bytes whose type is not known may be a float or an integer: not ours to guess.
  const bool as_double = parameter->kind == ParameterKind::unknown && parameter->size == 8;
  if (!floating && !as_double) {
    detail::refuse_argument(*kernel_.state(), count_, *parameter, 8, ParameterKind::floating);
  }
  write_float(place(parameter->size), parameter->size, parameter->kind, value);
}

void ArgumentPack::add_complex(double real, double imaginary) {
  const Parameter* parameter = next();
  const std::size_t size = parameter == nullptr ? 16 : parameter->size;
  const bool pair =
      parameter == nullptr || parameter->kind == ParameterKind::aggregate || parameter->kind == ParameterKind::unknown;
  if (!pair || (size != 8 && size != 16)) {
    detail::refuse_argument(*kernel_.state(), count_, *parameter, 16, ParameterKind::aggregate);
  }
  auto* const slot = static_cast<std::byte*>(place(size));
  write_float(slot, size / 2, ParameterKind::floating, real);
  write_float(slot + size / 2, size / 2, ParameterKind::floating, imaginary);
}

void ArgumentPack::add_pointer(DevicePointer address) { add_value(&address, sizeof address, ParameterKind::pointer); }

void ArgumentPack::add_value(const void* bytes, std::size_t size, ParameterKind kind) {
  const Parameter* parameter = next();
  if (parameter != nullptr && !detail::fits(*parameter, size, kind)) {
    detail::refuse_argument(*kernel_.state(), count_, *parameter, size, kind);
  }
  std::memcpy(place(size), bytes, size);
}

void* const* ArgumentPack::values() const {
  if (signature_ != nullptr && count_ != signature_->size()) {
    detail::refuse_count(*kernel_.state(), signature_->size(), count_);
  }
  return count_ > inline_arguments ? overflow_->values.data() : inline_values_.data();
}

void ArgumentPack::launch(const Stream& stream, const LaunchConfig& config) const {
  launch_unchecked(stream, config, kernel_, values());
}

}  // namespace cucore
