// What a linker finds in fat binaries, host objects and libraries.
#include "cpu/image/device_units.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpu/image/cubin.hpp"
#include "cpu/image/cubin_symbols.hpp"
#include "cpu/tests/image/made_images.hpp"

namespace cucore::cpu::image {
namespace {

constexpr std::uint32_t reported = 80;
constexpr std::uint16_t ptx = 1, elf = 2, lto_ir = 8;

/// With one section, as nvcc -rdc=true makes them.
std::string make_object(const std::string& section, const std::string& content) {
  std::string object = make_cubin({{section, content}});
  put(object, 18, 62, 2);
  return object;
}

struct MemberOf {
  std::string name;
  std::string content;
};

std::string make_library(const std::vector<MemberOf>& members) {
  std::string library = "!<arch>\n";
  for (const MemberOf& member : members) {
    std::string header = member.name;
    header.resize(48, ' ');
    header += std::to_string(member.content.size());
    header.resize(58, ' ');
    library += header + "`\n" + member.content;
    if (library.size() % 2 != 0) library += '\n';
  }
  return library;
}

std::string aligned(std::string bytes) {
  bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
  return bytes;
}

TEST(DeviceUnits, a_fat_binary_is_one_unit_with_each_form_that_fits) {
  const auto units = read_device_units(
      make_fat_binary({{ptx, 80, "older"}, {lto_ir, 70, "ir"}, {lto_ir, 90, "newer ir"}, {elf, 80, make_cubin({})}}),
      reported);
  ASSERT_TRUE(units) << units.failure().sentence();
  ASSERT_EQ(units->size(), 1u);
  EXPECT_EQ(units->front().ptx, std::vector<std::string>{"older"});
  EXPECT_EQ(units->front().lto_ir, make_fat_binary({{lto_ir, 70, "ir"}}));
  EXPECT_EQ(units->front().machine_code, make_cubin({}));
}

TEST(DeviceUnits, a_host_object_has_a_unit_for_each_fat_binary_and_passes_over_whole_programs) {
  const std::string code =
      aligned(make_fat_binary({{ptx, 80, "first"}})) + std::string(16, '\0') + make_fat_binary({{ptx, 80, "second"}});
  const auto units = read_device_units(make_object("__nv_relfatbin", code), reported);
  ASSERT_TRUE(units) << units.failure().sentence();
  ASSERT_EQ(units->size(), 2u);
  EXPECT_EQ((*units)[1].ptx, std::vector<std::string>{"second"});
  EXPECT_TRUE(read_device_units(make_object(".nv_fatbin", code), reported)->empty());
}

TEST(DeviceUnits, the_units_of_a_library_name_their_members) {
  const std::string code = make_object("__nv_relfatbin", make_fat_binary({{ptx, 80, "text"}}));
  const auto units = read_device_units(make_library({{"/", "symbols"},
                                                     {"//", "a_name_that_is_too_long.o/\n"},
                                                     {"short.o/", code},
                                                     {"/0", code},
                                                     {"notes.txt/", "no object"}}),
                                       reported);
  ASSERT_TRUE(units) << units.failure().sentence();
  ASSERT_EQ(units->size(), 2u);
  EXPECT_EQ((*units)[0].member, "short.o");
  EXPECT_EQ((*units)[1].member, "a_name_that_is_too_long.o");
}

TEST(DeviceUnits, objects_and_libraries_give_ptx_for_the_device) {
  for (const auto& [name, member] : {std::pair("object.o", ""), std::pair("library.a", "scale.o")}) {
    const auto units = read_device_units(read_file(name), reported);
    ASSERT_TRUE(units && units->size() == 1) << name;
    EXPECT_EQ(units->front().member, member);
    EXPECT_NE(units->front().ptx.at(0).find(".target sm_80"), std::string::npos) << name;
  }
}

TEST(DeviceUnits, a_cubin_is_a_unit_with_or_without_ptx) {
  const auto with = read_device_units(make_cubin({{".cucore.ptx", std::string("one\0two\0", 8)}}), reported);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->front().ptx, (std::vector<std::string>{"one", "two"}));
  const auto without = read_device_units(read_file("machine_code_only.cubin"), reported);
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->front().ptx.empty());
  const auto symbols = defined_symbols(without->front().machine_code);
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_EQ(symbols.front().name, "scale");
  EXPECT_EQ(symbols.front().kind, CubinSymbol::Kind::Kernel);
}

TEST(DeviceUnits, damaged_and_truncated_bytes_have_a_verdict) {
  const std::string object = make_object("__nv_relfatbin", aligned(read_file("zstd.fatbin")));
  std::mt19937 random(7);
  for (const std::string& image : {object, make_library({{"a.o/", object}, {"b.o/", object}})}) {
    for (std::size_t length = 0; length < image.size(); length += 7) {
      const auto units = read_device_units(std::string_view(image).substr(0, length), reported);
      EXPECT_TRUE(length == 8 || !units) << length;  // eight bytes are an empty library
    }
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = image;
      for (int i = 0; i < 2; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
      const auto units = read_device_units(damaged, reported);
      EXPECT_TRUE(units || !units.failure().sentence().empty());
    }
  }
}

TEST(DeviceUnits, symbols_of_damaged_cubins_are_read_or_left_out) {
  const std::string cubin = read_file("machine_code_only.cubin");
  std::mt19937 random(8);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = cubin;
    const std::size_t range = round % 2 == 0 ? damaged.size() : 64;
    for (int i = 0; i < 2; ++i) damaged[random() % range] = static_cast<char>(random());
    EXPECT_LE(defined_symbols(damaged).size(), cubin.size());
  }
  EXPECT_TRUE(defined_symbols(cubin.substr(0, 40)).empty());
}

}  // namespace
}  // namespace cucore::cpu::image
