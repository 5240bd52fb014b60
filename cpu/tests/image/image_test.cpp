// Images in, PTX out. The files in images/ were made by nvcc 13.0: see images/README.md.
#include "cpu/image/image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cpu/image/cubin.hpp"
#include "cpu/tests/image/made_images.hpp"

namespace cucore::cpu::image {
namespace {

constexpr std::uint32_t sm_80 = 80;
constexpr std::uint32_t sm_90 = 90;

/// None: it did not fail.
std::optional<ErrorCode> code_of(const Result<ImageContents>& contents) {
  return contents ? std::nullopt : std::optional(contents.failure().code());
}

TEST(Image, ptx_text_ends_at_its_nul) {
  const Result<ImageContents> contents = read_image(std::string_view("\n// hi\n.version 9.0\n\0rest", 25), sm_80);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->format, ImageFormat::Ptx);
  EXPECT_EQ(contents->ptx, "\n// hi\n.version 9.0\n");
}

TEST(Image, what_is_no_image_says_so) {
  EXPECT_NE(read_image("", sm_80).failure().sentence().find("empty"), std::string::npos);
  EXPECT_NE(read_image(std::string_view("\x01\x02\x03\x04garbage", 11), sm_80).failure().sentence().find("neither PTX"),
            std::string::npos);
  EXPECT_NE(read_image("!<arch>\nfoo", sm_80).failure().sentence().find("archive"), std::string::npos);
  EXPECT_NE(read_image("\x7f\x4e\x43\xed....", sm_80).failure().sentence().find("LTO-IR"), std::string::npos);
  EXPECT_EQ(code_of(read_image("", sm_80)), ErrorCode::InvalidImage);
}

TEST(Image, a_cubin_gives_the_ptx_it_carries) {
  const Result<ImageContents> contents = read_image(read_file("with_ptx.cubin"), sm_80);
  ASSERT_TRUE(contents) << contents.failure().sentence();
  EXPECT_EQ(contents->format, ImageFormat::Cubin);
  EXPECT_NE(contents->ptx.find(".visible .entry scale("), std::string::npos);
  EXPECT_EQ(contents->ptx.find('\0'), std::string::npos);
}

TEST(Image, a_cubin_without_ptx_is_told_apart_from_a_damaged_one) {
  const Result<ImageContents> contents = read_image(read_file("machine_code_only.cubin"), sm_80);
  EXPECT_EQ(code_of(contents), ErrorCode::NoBinaryForGpu);
  EXPECT_NE(contents.failure().sentence().find("carries no PTX"), std::string::npos);
}

TEST(Image, every_module_in_every_ptx_section_of_a_cubin_is_read) {
  const Result<ImageContents> contents = read_image(
      make_cubin(
          {{".text.k", "code"}, {".cucore.ptx", "first"}, {".cucore.ptx", std::string("second\0third\0\0", 14)}}),
      sm_80);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->ptx, "first");
  EXPECT_EQ(contents->further_ptx, (std::vector<std::string>{"second", "third"}));
}

TEST(Image, an_elf_image_for_another_machine_is_refused) {
  std::string image = make_cubin({});
  put(image, 18, 62, 2);
  EXPECT_NE(read_image(image, sm_80).failure().sentence().find("machine 62"), std::string::npos);
  image = make_cubin({});
  image[4] = 1;
  EXPECT_NE(read_image(image, sm_80).failure().sentence().find("64-bit"), std::string::npos);
}

TEST(Image, fat_binaries_of_every_compression_give_ptx_for_the_device) {
  for (const char* name : {"plain.fatbin", "lz4.fatbin", "zstd.fatbin"}) {
    const Result<ImageContents> older = read_image(read_file(name), sm_80);
    ASSERT_TRUE(older) << name << ": " << older.failure().sentence();
    EXPECT_EQ(older->format, ImageFormat::FatBinary);
    EXPECT_NE(older->ptx.find(".target sm_80"), std::string::npos) << name;
    EXPECT_NE(older->ptx.find(".visible .entry scale("), std::string::npos) << name;
    const Result<ImageContents> newer = read_image(read_file(name), sm_90);
    EXPECT_NE(newer->ptx.find(".target sm_90"), std::string::npos) << name;
    EXPECT_NE(read_image(read_file(name), 89)->ptx.find(".target sm_80"), std::string::npos) << name;
  }
}

TEST(Image, a_fat_binary_with_ptx_for_newer_architectures_alone_gives_its_newest) {
  for (const char* name : {"plain.fatbin", "lz4.fatbin", "zstd.fatbin"}) {
    const Result<ImageContents> contents = read_image(read_file(name), 75);
    ASSERT_TRUE(contents) << name << ": " << contents.failure().sentence();
    EXPECT_NE(contents->ptx.find(".target sm_90"), std::string::npos) << name;
    EXPECT_TRUE(contents->is_for_this_device);
    EXPECT_FALSE(read_image(read_file(name), sm_80)->is_for_this_device) << "its target fits";
  }
  // As CuPy's: machine code for the device, and PTX for the newest only.
  const std::string machine_code = make_cubin({{".text.k", "code"}});
  const Result<ImageContents> cupy = read_image(
      make_fat_binary({{2, 90, machine_code}, {2, 120, machine_code}, {1, 120, ".version 9.0\n.target sm_120\n"}}),
      sm_90);
  ASSERT_TRUE(cupy) << cupy.failure().sentence();
  EXPECT_EQ(cupy->ptx, ".version 9.0\n.target sm_120\n");
}

TEST(Image, ptx_for_one_architecture_alone_is_taken_for_it_or_where_there_is_no_other) {
  const std::string plain_80 = ".version 8.0\n.target sm_80\n", only_90 = ".version 8.0\n.target sm_90a\n";
  const std::string plain_100 = ".version 8.6\n.target sm_100\n", family_120 = ".version 9.0\n.target sm_120f\n";
  const std::string image = make_fat_binary({{1, 80, plain_80}, {1, 90, only_90}});
  EXPECT_EQ(read_image(image, sm_90)->ptx, only_90);
  EXPECT_EQ(read_image(image, 100)->ptx, plain_80);
  EXPECT_EQ(read_image(image, any_architecture)->ptx, only_90);
  EXPECT_EQ(read_image(make_fat_binary({{1, 120, family_120}, {1, 100, plain_100}}), sm_90)->ptx, plain_100);
  EXPECT_EQ(read_image(make_fat_binary({{1, 120, family_120}}), sm_90)->ptx, family_120);
  EXPECT_EQ(read_image(make_fat_binary({{1, 90, only_90}}), 100)->ptx, only_90);
}

TEST(Image, a_cubin_says_that_it_is_for_this_device) {
  EXPECT_TRUE(read_image(write_cubin("text", 90), sm_90)->is_for_this_device);
  EXPECT_FALSE(read_image(write_cubin("text", 80), sm_90)->is_for_this_device);
  EXPECT_FALSE(read_image(make_cubin({{".cucore.ptx", "text"}}), sm_90)->is_for_this_device);
}

TEST(Image, a_cubin_says_what_it_takes_of_registers) {
  EXPECT_EQ(read_image(write_cubin("text", 90), sm_90)->max_registers, 0);
  EXPECT_EQ(read_image(write_cubin("text", 90, 40), sm_90)->max_registers, 40);
  const auto contents = read_image(read_file("with_ptx.cubin"), sm_80);
  EXPECT_EQ(contents->max_registers, 0);
  ASSERT_EQ(contents->registers.size(), 1);
  EXPECT_EQ(contents->registers.at("scale"), 8);
}

TEST(Image, a_fat_binary_of_machine_code_has_no_ptx) {
  const Result<ImageContents> contents = read_image(read_file("cubin_only.fatbin"), sm_80);
  EXPECT_EQ(code_of(contents), ErrorCode::NoBinaryForGpu);
  EXPECT_NE(contents.failure().sentence().find("it holds sm_80"), std::string::npos) << contents.failure().sentence();
}

TEST(Image, a_fat_binary_falls_back_to_a_cubin_that_carries_ptx) {
  const std::string image = make_fat_binary({{1, 90, "too new"},
                                             {2, 75, make_cubin({{".text.k", "code"}})},
                                             {2, 70, make_cubin({{".cucore.ptx", "carried"}})},
                                             {16, 80, "something else"}});
  const Result<ImageContents> contents = read_image(image, sm_80);
  ASSERT_TRUE(contents) << contents.failure().sentence();
  EXPECT_EQ(contents->ptx, "carried");
  EXPECT_EQ(contents->format, ImageFormat::FatBinary);
}

TEST(Image, a_promise_of_too_many_bytes_is_refused) {
  constexpr std::uint64_t lz4 = 0x2000;
  constexpr std::uint64_t zstd = 0x8000;
  const std::pair<EntryOf, const char*> cases[] = {
      {{1, 80, "abc", lz4, std::uint64_t{1} << 40}, "more than the limit"},
      {{1, 80, "abc", lz4, 100000}, "implausible"},
      {{1, 80, "\xff\xff\xff", lz4, 10}, "LZ4 data is malformed"},
      {{1, 80, "abc", zstd, std::uint64_t{1} << 40}, "more than the limit"},
      {{1, 80, "abcdefgh", zstd, 10}, "Zstandard data is malformed"},
      {{1, 80, "", zstd, 10}, "truncated"},
  };
  for (const auto& [entry, message] : cases) {
    const Result<ImageContents> contents = read_image(make_fat_binary({entry}), sm_80);
    EXPECT_EQ(code_of(contents), ErrorCode::InvalidImage);
    EXPECT_NE(contents.failure().sentence().find(message), std::string::npos) << contents.failure().sentence();
  }
}

TEST(Image, a_wrong_decompressed_size_is_refused) {
  for (const char* name : {"lz4.fatbin", "zstd.fatbin"}) {
    for (const int change : {-1, 1}) {
      std::string image = read_file(name);
      const std::size_t field = 16 + 56;
      image[field] = static_cast<char>(image[field] + change);
      EXPECT_EQ(code_of(read_image(image, sm_80)), ErrorCode::InvalidImage) << name;
    }
  }
}

TEST(Image, every_truncation_is_an_error_with_a_reason) {
  for (const char* name : {"plain.fatbin", "zstd.fatbin", "with_ptx.cubin"}) {
    const std::string image = read_file(name);
    // Fewer bytes than the magic could be anything, even text.
    for (std::size_t length = 4; length < image.size(); ++length) {
      const Result<ImageContents> contents = read_image(std::string_view(image).substr(0, length), sm_80);
      ASSERT_FALSE(contents) << name << " " << length;
      EXPECT_FALSE(contents.failure().sentence().empty()) << name << " " << length;
    }
  }
}

TEST(Image, damaged_bytes_have_a_verdict) {
  std::mt19937 random(5);
  for (const char* name : {"plain.fatbin", "lz4.fatbin", "zstd.fatbin", "with_ptx.cubin"}) {
    const std::string image = read_file(name);
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = image;
      // Most rounds change the headers, where damage matters.
      const std::size_t range = round % 4 == 0 ? image.size() : std::min<std::size_t>(image.size(), 128);
      for (int i = 0; i < 2; ++i) damaged[random() % range] = static_cast<char>(random());
      const Result<ImageContents> contents = read_image(damaged, sm_80);
      EXPECT_TRUE(contents || !contents.failure().sentence().empty());
    }
  }
}

TEST(Image, hostile_section_tables_are_refused) {
  const std::string good = make_cubin({{".cucore.ptx", "text"}});
  for (const std::size_t field : {std::size_t{40}, std::size_t{58}, std::size_t{60}, std::size_t{62}}) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xffff}, ~std::uint64_t{0}}) {
      std::string image = good;
      put(image, field, value, field == 40 ? 8 : 2);
      const Result<ImageContents> contents = read_image(image, sm_80);
      EXPECT_TRUE(contents || !contents.failure().sentence().empty());
    }
  }
}

TEST(Image, an_image_is_located_from_its_address_alone) {
  for (const char* name : {"plain.fatbin", "lz4.fatbin", "zstd.fatbin", "with_ptx.cubin", "machine_code_only.cubin"}) {
    const std::string image = read_file(name);
    const std::string_view located = locate_image(image.data());
    EXPECT_EQ(located.data(), image.data());
    // Program headers that lie at the end may be all that is left out; nothing beyond the image may be claimed.
    EXPECT_LE(located.size(), image.size()) << name;
    const Result<ImageContents> by_address = read_image(located, sm_80), by_size = read_image(image, sm_80);
    EXPECT_EQ(code_of(by_address), code_of(by_size)) << name;
    EXPECT_EQ(by_address ? by_address->ptx : "", by_size ? by_size->ptx : "") << name;
  }
  EXPECT_EQ(locate_image(".version 9.0\n"), ".version 9.0\n");
  EXPECT_EQ(locate_image("x"), "x");
  EXPECT_TRUE(locate_image("").empty());
  EXPECT_TRUE(locate_image(nullptr).empty());
}

TEST(Image, a_wrapper_is_followed_to_its_fat_binary) {
  const std::string image = read_file("zstd.fatbin");
  struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* unused;
  };
  const Wrapper wrapper = {0x466243b1, 1, image.data(), nullptr};
  EXPECT_EQ(locate_image(&wrapper).data(), image.data());
  const Wrapper empty = {0x466243b1, 1, nullptr, nullptr};
  EXPECT_TRUE(locate_image(&empty).empty());
  const std::string bytes(reinterpret_cast<const char*>(&wrapper), sizeof(wrapper));
  EXPECT_NE(read_image(bytes, sm_80).failure().sentence().find("wrapper"), std::string::npos);
}

TEST(Image, a_wrapper_names_the_fat_binaries_that_it_was_linked_from) {
  struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* parts;
  };
  const std::string linked = read_file("plain.fatbin"), part = read_file("zstd.fatbin");
  const char* const parts[] = {part.data(), nullptr};
  const Wrapper wrapper = {0x466243b1, 2, linked.data(), parts};
  EXPECT_EQ(locate_image(&wrapper).data(), linked.data());
  const auto found = locate_parts(&wrapper);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], part);
  const Wrapper without = {0x466243b1, 1, linked.data(), parts};
  EXPECT_TRUE(locate_parts(&without).empty());
  EXPECT_TRUE(locate_parts(linked.data()).empty());
  EXPECT_TRUE(locate_parts("x").empty());
  EXPECT_TRUE(locate_parts(nullptr).empty());
}

}  // namespace
}  // namespace cucore::cpu::image
