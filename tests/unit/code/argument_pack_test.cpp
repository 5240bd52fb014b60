// ArgumentPack: conversions and refusals, by a table of parameters made here; no driver.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cucore/cucore.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/ptx_entry.hpp"

namespace cucore {
namespace {

Kernel kernel_with(std::vector<Parameter> parameters) {
  auto state = std::make_shared<detail::KernelState>();
  state->name = "k";
  detail::lay_out(parameters);
  state->signature = std::make_shared<const Signature>(std::move(parameters));
  state->learned = true;
  return Kernel(std::move(state));
}

Kernel kernel_of_unknown_parameters() {
  auto state = std::make_shared<detail::KernelState>();
  state->learned = true;
  return Kernel(std::move(state));
}

Parameter parameter(std::size_t size, ParameterKind kind) {
  return {.offset = 0, .size = size, .alignment = size, .kind = kind, .type_name = {}};
}

// The bytes an argument becomes for a parameter, or the sentence it is refused with.
template <class Add>
std::string passed(std::size_t size, ParameterKind kind, Add add) {
  const Kernel kernel = kernel_with({parameter(size, kind)});
  ArgumentPack pack(kernel);
  try {
    add(pack);
    return {static_cast<const char*>(pack.values()[0]), size};
  } catch (const TypeError& error) {
    return std::string("TypeError ") + error.what();
  } catch (const ValueError& error) {
    return std::string("ValueError ") + error.what();
  }
}

template <class T>
std::string bytes(T value) {
  std::string text(sizeof value, '\0');
  std::memcpy(text.data(), &value, sizeof value);
  return text;
}

std::string integer(std::size_t size, ParameterKind kind, std::int64_t value) {
  return passed(size, kind, [&](ArgumentPack& pack) { pack.add_integer(value); });
}
std::string floating(std::size_t size, ParameterKind kind, double value) {
  return passed(size, kind, [&](ArgumentPack& pack) { pack.add_float(value); });
}

constexpr auto unknown = ParameterKind::unknown;
constexpr auto boolean = ParameterKind::boolean;
constexpr auto signed_integer = ParameterKind::signed_integer;
constexpr auto unsigned_integer = ParameterKind::unsigned_integer;
constexpr auto bfloat16 = ParameterKind::bfloat16;
constexpr auto pointer = ParameterKind::pointer;
constexpr auto aggregate = ParameterKind::aggregate;

TEST(argument_pack, integers_take_the_parameters_width_and_are_checked_against_its_range) {
  EXPECT_EQ(integer(1, signed_integer, -128), bytes<std::int8_t>(-128));
  EXPECT_EQ(integer(1, signed_integer, 128).substr(0, 10), "ValueError");
  EXPECT_EQ(integer(1, unsigned_integer, 255), bytes<std::uint8_t>(255));
  EXPECT_EQ(integer(1, unsigned_integer, -1).substr(0, 10), "ValueError");
  EXPECT_EQ(integer(1, unsigned_integer, 256).substr(0, 10), "ValueError");
  EXPECT_EQ(integer(2, signed_integer, -32768), bytes<std::int16_t>(-32768));
  EXPECT_EQ(integer(4, signed_integer, INT32_MIN), bytes<std::int32_t>(INT32_MIN));
  EXPECT_EQ(integer(4, signed_integer, std::int64_t{INT32_MAX} + 1).substr(0, 10), "ValueError");
  EXPECT_EQ(integer(4, ParameterKind::integer, UINT32_MAX), bytes<std::uint32_t>(UINT32_MAX));
  EXPECT_EQ(integer(4, ParameterKind::integer, INT32_MIN), bytes<std::int32_t>(INT32_MIN));
  EXPECT_EQ(integer(4, ParameterKind::integer, std::int64_t{INT32_MIN} - 1).substr(0, 10), "ValueError");
  EXPECT_EQ(integer(8, signed_integer, INT64_MIN), bytes<std::int64_t>(INT64_MIN));
  EXPECT_EQ(integer(8, unknown, -1), bytes<std::int64_t>(-1));
  EXPECT_EQ(integer(4, unknown, 7), bytes<std::int32_t>(7));
}

TEST(argument_pack, integers_of_every_width_take_their_range_to_the_ends_and_nothing_beyond) {
  constexpr std::int64_t lowest = INT64_MIN;
  constexpr std::int64_t highest = INT64_MAX;
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    for (const ParameterKind kind : {signed_integer, unsigned_integer, ParameterKind::integer, unknown}) {
      const std::int64_t half = size == 8 ? highest : (std::int64_t{1} << (size * 8 - 1)) - 1;
      const std::int64_t least = kind == unsigned_integer ? 0 : -half - 1;
      const std::int64_t most = size == 8 || kind == signed_integer ? half : 2 * half + 1;
      for (const std::int64_t value : {lowest, lowest + 1, least, least + 1, std::int64_t{-1}, std::int64_t{0},
                                       std::int64_t{1}, most - 1, most, highest - 1, highest}) {
        const std::string as_stored = bytes(value).substr(0, size);
        EXPECT_EQ(integer(size, kind, value) == as_stored, value >= least && value <= most)
            << value << " in " << size << " bytes of kind " << static_cast<int>(kind);
      }
      EXPECT_TRUE(least == lowest || integer(size, kind, least - 1).starts_with("ValueError"));
      EXPECT_TRUE(most == highest || integer(size, kind, most + 1).starts_with("ValueError"));
    }
  }
  EXPECT_TRUE(integer(8, ParameterKind::floating, lowest).starts_with("ValueError"));  // converted, not stored
  EXPECT_TRUE(integer(8, ParameterKind::floating, highest).starts_with("ValueError"));
}

TEST(argument_pack, refusal_of_a_number_names_it_and_the_parameter) {
  const std::string text = integer(1, unsigned_integer, 300);
  EXPECT_NE(text.find("argument 1 of Kernel 'k' is 300, which does not fit"), std::string::npos) << text;
  EXPECT_NE(text.find("unsigned integer of 1 byte"), std::string::npos) << text;
}

TEST(argument_pack, addresses_use_the_whole_unsigned_range) {
  EXPECT_EQ(passed(8, pointer, [](ArgumentPack& p) { p.add_unsigned(UINT64_MAX); }), bytes(UINT64_MAX));
  EXPECT_EQ(integer(8, pointer, -1).substr(0, 10), "ValueError");
  EXPECT_EQ(passed(8, pointer, [](ArgumentPack& p) { p.add_pointer(0); }), bytes(std::uint64_t{0}));
  EXPECT_EQ(passed(4, ParameterKind::integer, [](ArgumentPack& p) { p.add_pointer(0); }).substr(0, 9), "TypeError");
}

TEST(argument_pack, floats_take_the_parameters_format) {
  EXPECT_EQ(floating(4, ParameterKind::floating, 0.1), bytes(0.1f));
  EXPECT_EQ(floating(8, ParameterKind::floating, 0.1), bytes(0.1));
  EXPECT_EQ(floating(8, unknown, 0.1), bytes(0.1));
  EXPECT_EQ(floating(4, unknown, 0.1).substr(0, 9), "TypeError") << "may be an integer";
  EXPECT_EQ(floating(4, signed_integer, 1.0).substr(0, 9), "TypeError");
  EXPECT_EQ(floating(8, pointer, 1.0).substr(0, 9), "TypeError");
}

TEST(argument_pack, rounds_to_half_once_and_to_even) {
  const auto half = [](double value) {
    const std::string text = floating(2, ParameterKind::floating, value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, text.data(), 2);
    return bits;
  };
  EXPECT_EQ(half(1.0), 0x3c00);
  EXPECT_EQ(half(-2.0), 0xc000);
  EXPECT_EQ(half(65504.0), 0x7bff);
  EXPECT_EQ(half(65519.999), 0x7bff);
  EXPECT_EQ(half(65520.0), 0x7c00) << "rounds to infinity";
  EXPECT_EQ(half(1e300), 0x7c00);
  EXPECT_EQ(half(-INFINITY), 0xfc00);
  EXPECT_EQ(half(std::nan("")) & 0x7e00, 0x7e00);
  EXPECT_EQ(half(0.0), 0x0000);
  EXPECT_EQ(half(-0.0), 0x8000);
  EXPECT_EQ(half(0x1p-24), 0x0001) << "the smallest";
  EXPECT_EQ(half(0x1p-25), 0x0000) << "a tie, to even";
  EXPECT_EQ(half(0x1.000001p-25), 0x0001);
  EXPECT_EQ(half(0x1p-14 - 0x1p-26), 0x0400) << "rounds up to the smallest normal number";
  EXPECT_EQ(half(1.0 + 0x1p-11), 0x3c00) << "a tie, to even";
  EXPECT_EQ(half(1.0 + 0x1p-11 + 0x1p-40), 0x3c01) << "through float it would be a tie";
  EXPECT_EQ(half(1.0 + 3 * 0x1p-11), 0x3c02);
}

TEST(argument_pack, rounds_to_bfloat16_to_even) {
  const auto narrow = [](double value) {
    const std::string text = floating(2, bfloat16, value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, text.data(), 2);
    return bits;
  };
  EXPECT_EQ(narrow(1.0), 0x3f80);
  EXPECT_EQ(narrow(1.0 + 0x1p-8), 0x3f80);
  EXPECT_EQ(narrow(1.0 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(narrow(3.4e38), 0x7f80);
  EXPECT_EQ(narrow(0x1p-133), 0x0001);
}

TEST(argument_pack, integers_go_to_float_parameters_only_exactly) {
  EXPECT_EQ(integer(4, ParameterKind::floating, -3), bytes(-3.0f));
  EXPECT_EQ(integer(4, ParameterKind::floating, 1 << 24), bytes(16777216.0f));
  EXPECT_EQ(integer(4, ParameterKind::floating, (1 << 24) + 1).substr(0, 10), "ValueError");
  EXPECT_EQ(integer(8, ParameterKind::floating, std::int64_t{1} << 53), bytes(0x1p53));
}

TEST(argument_pack, bools_are_one_byte_or_an_integer_of_the_parameters_width) {
  const auto boolean_to = [](std::size_t size, ParameterKind kind) {
    return passed(size, kind, [](ArgumentPack& p) { p.add_bool(true); });
  };
  EXPECT_EQ(boolean_to(1, boolean), bytes<std::uint8_t>(1));
  EXPECT_EQ(boolean_to(1, unknown), bytes<std::uint8_t>(1));
  EXPECT_EQ(boolean_to(4, signed_integer), bytes<std::uint32_t>(1));
  EXPECT_EQ(boolean_to(4, ParameterKind::floating).substr(0, 9), "TypeError");
  EXPECT_EQ(boolean_to(8, pointer).substr(0, 9), "TypeError");
  EXPECT_EQ(integer(1, boolean, 1), bytes<std::uint8_t>(1));
  EXPECT_EQ(integer(1, boolean, 2).substr(0, 10), "ValueError");
}

TEST(argument_pack, complex_numbers_are_pairs_by_size) {
  const auto complex_to = [](std::size_t size, ParameterKind kind) {
    return passed(size, kind, [](ArgumentPack& p) { p.add_complex(1, -2); });
  };
  EXPECT_EQ(complex_to(16, aggregate), bytes(1.0) + bytes(-2.0));
  EXPECT_EQ(complex_to(8, aggregate), bytes(1.0f) + bytes(-2.0f));
  EXPECT_EQ(complex_to(8, ParameterKind::floating).substr(0, 9), "TypeError");
  EXPECT_EQ(complex_to(12, aggregate).substr(0, 9), "TypeError");
}

TEST(argument_pack, typed_values_must_have_the_parameters_size) {
  const std::uint32_t value = 5;
  const auto typed = [&](std::size_t size, ParameterKind kind) {
    return passed(size, kind, [&](ArgumentPack& p) { p.add_value(&value, 4, unsigned_integer); });
  };
  EXPECT_EQ(typed(4, signed_integer), bytes(value));
  EXPECT_EQ(typed(8, signed_integer).substr(0, 9), "TypeError");
  EXPECT_EQ(typed(4, ParameterKind::floating).substr(0, 9), "TypeError");
}

TEST(argument_pack, without_a_table_passes_the_widths_of_the_peer) {
  const Kernel kernel = kernel_of_unknown_parameters();
  ArgumentPack pack(kernel);
  pack.add_integer(-1);
  pack.add_float(1.5);
  pack.add_bool(true);
  pack.add_complex(1, 2);
  void* const* values = pack.values();
  EXPECT_EQ(std::memcmp(values[0], bytes(std::int64_t{-1}).data(), 8), 0);
  EXPECT_EQ(std::memcmp(values[1], bytes(1.5).data(), 8), 0);
  EXPECT_EQ(*static_cast<const char*>(values[2]), 1);
  EXPECT_EQ(std::memcmp(values[3], (bytes(1.0) + bytes(2.0)).data(), 16), 0);
}

TEST(argument_pack, structs_of_the_peers_width_take_plain_numbers_as_the_peer_passes_them) {
  EXPECT_EQ(integer(8, aggregate, -7), bytes<std::int64_t>(-7));
  EXPECT_EQ(passed(8, aggregate, [](ArgumentPack& p) { p.add_unsigned(UINT64_MAX); }), bytes(UINT64_MAX));
  EXPECT_EQ(floating(8, aggregate, 0.1), bytes(0.1));
  EXPECT_EQ(integer(4, aggregate, 1).substr(0, 9), "TypeError");
  EXPECT_EQ(integer(16, aggregate, 1).substr(0, 9), "TypeError");
  EXPECT_EQ(floating(4, aggregate, 0.1).substr(0, 9), "TypeError");
}

TEST(argument_pack, half_types_take_their_bits) {
  const std::uint16_t bits = 0x3e00;
  const auto raw = [&](ParameterKind parameter, ParameterKind argument) {
    return passed(2, parameter, [&](ArgumentPack& p) { p.add_value(&bits, 2, argument); });
  };
  EXPECT_EQ(raw(ParameterKind::floating, unsigned_integer), bytes(bits));
  EXPECT_EQ(raw(bfloat16, unsigned_integer), bytes(bits));
  EXPECT_EQ(raw(bfloat16, aggregate), bytes(bits));
  EXPECT_EQ(raw(bfloat16, ParameterKind::floating).substr(0, 9), "TypeError");
  EXPECT_EQ(raw(ParameterKind::floating, signed_integer).substr(0, 9), "TypeError");
}

TEST(argument_pack, lies_at_the_parameters_offsets_and_no_value_disturbs_another) {
  const Kernel kernel =
      kernel_with({parameter(1, signed_integer), parameter(2, unsigned_integer), parameter(4, ParameterKind::floating),
                   parameter(1, boolean), parameter(8, pointer), parameter(1, unsigned_integer)});
  ArgumentPack pack(kernel);
  pack.add_integer(-1);
  pack.add_integer(0xfffe);
  pack.add_float(1.5);
  pack.add_integer(1);
  pack.add_integer(-1 & 0x7fffffff);
  pack.add_integer(255);
  void* const* values = pack.values();
  const auto at = [&](int i) { return static_cast<const char*>(values[i]) - static_cast<const char*>(values[0]); };
  EXPECT_EQ(at(1), 2);
  EXPECT_EQ(at(2), 4);
  EXPECT_EQ(at(4), 16);
  EXPECT_EQ(std::memcmp(values[0], bytes<std::int8_t>(-1).data(), 1), 0);
  EXPECT_EQ(std::memcmp(values[1], bytes<std::uint16_t>(0xfffe).data(), 2), 0);
  EXPECT_EQ(std::memcmp(values[2], bytes(1.5f).data(), 4), 0);
  EXPECT_EQ(std::memcmp(values[3], bytes<std::uint8_t>(1).data(), 1), 0);
  EXPECT_EQ(std::memcmp(values[4], bytes<std::uint64_t>(0x7fffffff).data(), 8), 0);
  EXPECT_EQ(std::memcmp(values[5], bytes<std::uint8_t>(255).data(), 1), 0);
}

TEST(argument_pack, packs_into_memory_of_the_callers) {
  const Kernel kernel = kernel_with({parameter(4, signed_integer), parameter(8, pointer)});
  alignas(64) std::array<std::byte, 32> block;
  std::array<void*, 2> values{};
  ArgumentPack pack(kernel, block, values);
  pack.add_integer(5);
  pack.add_pointer(6);
  EXPECT_EQ(pack.values(), values.data());
  EXPECT_EQ(values[1], block.data() + 8);
  EXPECT_THROW(ArgumentPack(kernel, std::span(block).first(8), values), TypeError);
  EXPECT_THROW(ArgumentPack(kernel, block, std::span(values).first(1)), TypeError);
}

TEST(argument_pack, a_refused_argument_is_not_added) {
  const Kernel kernel = kernel_with({parameter(1, unsigned_integer)});
  ArgumentPack pack(kernel);
  EXPECT_THROW(pack.add_integer(256), ValueError);
  EXPECT_THROW(pack.add_float(1), TypeError);
  EXPECT_THROW(pack.add_complex(1, 2), TypeError);
  EXPECT_EQ(pack.size(), 0u);
  pack.add_integer(7);
  EXPECT_EQ(*static_cast<const unsigned char*>(pack.values()[0]), 7);
}

TEST(argument_pack, grows_beyond_its_inline_space_without_moving_values) {
  std::vector<Parameter> parameters(200, parameter(8, ParameterKind::integer));
  parameters.push_back(parameter(4000, aggregate));
  const Kernel kernel = kernel_with(parameters);
  ArgumentPack pack(kernel);
  for (int i = 0; i < 200; ++i) pack.add_integer(i);
  const std::vector<std::byte> large(4000, std::byte{7});
  pack.add_value(large.data(), large.size(), aggregate);
  void* const* values = pack.values();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(std::memcmp(values[i], bytes(std::int64_t{i}).data(), 8), 0);
  EXPECT_EQ(std::memcmp(values[200], large.data(), large.size()), 0);
}

TEST(argument_pack, counts) {
  const Kernel kernel = kernel_with({parameter(4, signed_integer)});
  ArgumentPack pack(kernel);
  EXPECT_THROW(pack.values(), TypeError);
  pack.add_integer(1);
  EXPECT_EQ(pack.size(), 1u);
  EXPECT_THROW(pack.add_integer(2), TypeError);
  const Kernel none;
  EXPECT_THROW(ArgumentPack{none}, StateError);
}

}  // namespace
}  // namespace cucore
