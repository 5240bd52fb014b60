// Which kinds fit which parameters: one table, read by the packer and by the checks of typed launches.
#include "src/code/parameter_check.hpp"

#include <algorithm>
#include <limits>

#include "cucore/error.hpp"
#include "src/code/kernel_state.hpp"
#include "src/formats/demangle.hpp"

namespace cucore::detail {
namespace {

constexpr std::uint16_t bit(ParameterKind kind) {
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(kind));
}

constexpr std::uint16_t floats = bit(ParameterKind::floating) | bit(ParameterKind::bfloat16);
constexpr std::uint16_t all = 0xffff;

std::uint16_t fitting_kinds(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::floating:
    case ParameterKind::bfloat16: {
      // Types like half are structs to C++, and 16 bits are what a program without such a type has for them.
      const std::uint16_t raw = parameter.size == 2 ? bit(ParameterKind::unsigned_integer) : std::uint16_t{0};
      return static_cast<std::uint16_t>(bit(parameter.kind) | bit(ParameterKind::aggregate) |
                                        bit(ParameterKind::unknown) | raw);
    }
    case ParameterKind::boolean:
    case ParameterKind::signed_integer:
    case ParameterKind::unsigned_integer:
    case ParameterKind::integer:
    case ParameterKind::pointer:
      return static_cast<std::uint16_t>(all & ~floats);
    case ParameterKind::unknown:
    case ParameterKind::aggregate:
      return all;
  }
  return all;
}

}  // namespace

WholeNumbers whole_numbers(const ParameterSlot& slot) noexcept {
  const unsigned width = slot.size * 8;
  if (width == 0 || width > 64) return {};
  const std::uint64_t unsigned_most = std::numeric_limits<std::uint64_t>::max() >> (64 - width);
  const auto signed_least = -static_cast<std::int64_t>(unsigned_most >> 1) - 1;
  switch (slot.kind) {
    case ParameterKind::boolean:
      return {.least = 0, .most = 1};
    case ParameterKind::signed_integer:
      return {.least = signed_least, .most = unsigned_most >> 1};
    case ParameterKind::unsigned_integer:
    case ParameterKind::pointer:
      return {.least = 0, .most = unsigned_most};
    case ParameterKind::aggregate:
      if (slot.size != 8) return {};
      [[fallthrough]];
    case ParameterKind::integer:
    case ParameterKind::unknown:
      return {.least = signed_least, .most = unsigned_most};
    case ParameterKind::floating:
    case ParameterKind::bfloat16:
      return {};
  }
  return {};
}

ParameterSlot slot_of(const Parameter& parameter) noexcept {
  ParameterSlot slot;
  slot.offset = static_cast<std::uint32_t>(parameter.offset);
  slot.size = static_cast<std::uint32_t>(parameter.size);
  slot.kind = parameter.kind;
  slot.fitting_kinds = fitting_kinds(parameter);
  if (const WholeNumbers fitting = whole_numbers(slot); fitting.least <= 0) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t span = std::min(fitting.most, most) - static_cast<std::uint64_t>(fitting.least);
    slot.least = fitting.least;
    slot.numbers = span == std::numeric_limits<std::uint64_t>::max() ? span : span + 1;
  }
  return slot;
}

const char* kind_name(ParameterKind kind) noexcept {
  switch (kind) {
    case ParameterKind::unknown:
      return "a value";
    case ParameterKind::boolean:
      return "a bool";
    case ParameterKind::signed_integer:
      return "a signed integer";
    case ParameterKind::unsigned_integer:
      return "an unsigned integer";
    case ParameterKind::integer:
      return "an integer";
    case ParameterKind::floating:
      return "a floating-point number";
    case ParameterKind::bfloat16:
      return "a bfloat16";
    case ParameterKind::pointer:
      return "a pointer";
    case ParameterKind::aggregate:
      return "a struct";
  }
  return "a value";
}

std::string describe_parameter(const Parameter& parameter) {
  std::string text = kind_name(parameter.kind);
  text += " of " + std::to_string(parameter.size) + (parameter.size == 1 ? " byte" : " bytes");
  if (!parameter.type_name.empty()) text += " (" + parameter.type_name + ")";
  return text;
}

std::string describe_argument(const KernelState& kernel, std::size_t position, const Parameter& parameter) {
  return "argument " + std::to_string(position + 1) + (parameter.name.empty() ? "" : " ('" + parameter.name + "')") +
         " of " + describe(kernel);
}

void refuse_count(const KernelState& kernel, std::size_t expected, std::size_t given) {
  const std::string message = describe(kernel) + " takes " + std::to_string(expected) +
                              (expected == 1 ? " argument, " : " arguments, ") + std::to_string(given) +
                              (given == 1 ? " was given" : " were given");
  if (given < expected) {
    throw InvalidArgumentError({.call = "launch",
                                .code = 1,
                                .code_name = "CUDA_ERROR_INVALID_VALUE",
                                .message = message,
                                .hint = "pass one argument for every parameter of the kernel"});
  }
  throw TypeError(
      {.call = "launch", .message = message, .hint = "leave out the arguments the kernel has no parameter for"});
}

void refuse_argument(const KernelState& kernel, std::size_t position, const Parameter& parameter, std::size_t size,
                     ParameterKind kind) {
  const char* hint = "pass a value of exactly the parameter's type";
  if (parameter.kind == ParameterKind::floating && parameter.size == 4 && kind == ParameterKind::floating) {
    hint = "the parameter is a float and the argument a double: write 2.0f, or convert to float";
  } else if (kind == ParameterKind::aggregate || parameter.kind == ParameterKind::aggregate) {
    hint = "the struct must have the same layout on the host and in the kernel";
  }
  throw TypeError({.call = "launch",
                   .message = describe_argument(kernel, position, parameter) + " does not fit: the parameter is " +
                              describe_parameter(parameter) + ", the argument " + kind_name(kind) + " of " +
                              std::to_string(size) + (size == 1 ? " byte" : " bytes"),
                   .hint = hint});
}

}  // namespace cucore::detail
