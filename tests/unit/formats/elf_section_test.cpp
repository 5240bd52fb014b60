// A section added to, read from and stripped from real cubins and broken ones.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/fatbin.hpp"

namespace cucore::detail {
namespace {

const std::string& cubin() {
  static const std::string bytes(
      Program("extern \"C\" __global__ void f(int* x) { *x = 1; }", "c++", {.arch = "sm_90", .embed_ptx = false})
          .compile("cubin")
          .code());
  return bytes;
}

TEST(elf_section, what_was_added_is_read_back) {
  const std::string image = elf_add_section(cubin(), ".cucore.ptx", std::string("text\0", 5));
  EXPECT_EQ(elf_section(image, ".cucore.ptx"), std::string_view("text\0", 5));
  EXPECT_EQ(embedded_ptx(image), "text");
  EXPECT_EQ(elf_fault(image), nullptr);
}

TEST(elf_section, the_image_keeps_its_own_sections) {
  const std::string image = elf_add_section(cubin(), ".cucore.ptx", "text");
  const auto before = elf_section(cubin(), ".text.f");
  ASSERT_TRUE(before);
  EXPECT_EQ(elf_section(image, ".text.f"), before);
  EXPECT_EQ(elf_section(image, ".text.f")->data() - image.data(), before->data() - cubin().data());
}

TEST(elf_section, an_image_has_no_section_before_and_after) {
  EXPECT_FALSE(elf_section(cubin(), ".cucore.ptx"));
  const std::string image = elf_add_section(cubin(), ".cucore.ptx", std::string(10000, 'x'));
  const std::string stripped = elf_strip_section(image, ".cucore.ptx");
  EXPECT_FALSE(elf_section(stripped, ".cucore.ptx"));
  EXPECT_EQ(elf_section(stripped, ".text.f"), elf_section(cubin(), ".text.f"));
  EXPECT_EQ(elf_fault(stripped), nullptr);
  EXPECT_LT(stripped.size(), image.size() - 9000);
  EXPECT_EQ(elf_strip_section(stripped, ".cucore.ptx"), stripped);
  EXPECT_EQ(elf_strip_section("no image", ".cucore.ptx"), "no image");
}

TEST(elf_section, a_section_is_added_once) {
  const std::string image = elf_add_section(cubin(), ".cucore.ptx", "text");
  EXPECT_THROW(elf_add_section(image, ".cucore.ptx", "text"), ValueError);
}

// Else the section that is added would give its name to that one.
TEST(elf_section, an_image_with_a_section_name_out_of_bounds_is_refused) {
  std::string image = cubin();
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  const std::size_t names = header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr);
  Elf64_Shdr section;
  std::memcpy(&section, image.data() + names, sizeof section);
  const auto beyond = static_cast<Elf64_Word>(section.sh_size);
  std::memcpy(image.data() + header.e_shoff + sizeof(Elf64_Shdr), &beyond, sizeof beyond);
  EXPECT_THROW(elf_add_section(image, ".cucore.ptx", "text"), ValueError);
  EXPECT_STREQ(elf_fault(image), "a section's name out of bounds");
  EXPECT_EQ(elf_strip_section(image, ".cucore.ptx"), image);
}

TEST(elf_section, what_is_no_image_is_refused) {
  EXPECT_THROW(elf_add_section("", ".x", ""), ValueError);
  EXPECT_THROW(elf_add_section(std::string(100, 'x'), ".x", ""), ValueError);
  EXPECT_THROW(elf_add_section(cubin().substr(0, 64), ".x", ""), ValueError);
  EXPECT_FALSE(
      elf_section("\x7f"
                  "ELF",
                  ".x"));
}

TEST(elf_section, section_names_without_an_end_are_refused) {
  // Found by the fuzzer: an empty table of names, where every section would have got the new name.
  std::string image(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  image.resize(192, '\0');
  image[40] = 64;  // e_shoff
  image[58] = 64;  // e_shentsize
  image[60] = 2;   // e_shnum
  image[62] = 1;   // e_shstrndx
  image[132] = 3;  // the type of section 1: names, of size 0
  EXPECT_EQ(elf_fault(image), nullptr);
  EXPECT_THROW(elf_add_section(image, ".x", ""), ValueError);
}

TEST(elf_section, ptx_without_its_end_is_no_ptx) {
  EXPECT_FALSE(embedded_ptx(elf_add_section(cubin(), ptx_section, "unterminated")));
  EXPECT_FALSE(embedded_ptx(elf_add_section(cubin(), ptx_section, "")));
  EXPECT_FALSE(embedded_ptx(elf_add_section(cubin(), ptx_section, std::string("\0", 1))));
}

TEST(elf_section, every_truncation_is_answered) {
  const std::string image = elf_add_section(cubin(), ptx_section, std::string("text\0", 5));
  for (std::size_t size = 0; size < image.size(); ++size) {
    const std::string cut = image.substr(0, size);  // of its own, so that a sanitizer sees a read past its end
    EXPECT_FALSE(embedded_ptx(cut));
    EXPECT_NE(elf_fault(cut), nullptr);
    EXPECT_EQ(elf_strip_section(cut, ptx_section), cut);
  }
}

TEST(elf_section, altered_images_never_lead_outside) {
  const std::string image = elf_add_section(cubin(), ptx_section, std::string("text\0", 5));
  std::mt19937 random(7);
  const auto anywhere = [&](std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(random);
  };
  for (int round = 0; round < 20000; ++round) {
    std::string altered = image;
    for (int i = 0; i < 4; ++i) {
      // Half of the changes in the header and the tables, where the offsets are.
      const std::size_t size = altered.size();
      const std::size_t at = i % 2 == 0 ? anywhere(size) : i == 1 ? anywhere(64) : size - 1 - anywhere(1000);
      altered[at] = static_cast<char>(anywhere(256));
    }
    if (const auto ptx = embedded_ptx(altered)) {
      EXPECT_GE(ptx->data(), altered.data());
      EXPECT_LE(ptx->data() + ptx->size(), altered.data() + altered.size());
    }
    (void)elf_fault(altered);
    (void)elf_strip_section(altered, ptx_section);
    try {
      (void)elf_add_section(altered, ".other", "content");
    } catch (const ValueError&) {
    }
  }
}

TEST(elf_section, a_fat_binary_must_be_as_long_as_it_says) {
  std::string fatbin(
      "\x50\xed\x55\xba\x01\x00\x10\x00\x04\x00\x00\x00\x00\x00\x00\x00"
      "code",
      20);
  ASSERT_TRUE(is_fatbin(fatbin));
  EXPECT_EQ(fatbin_fault(fatbin), nullptr);
  for (std::size_t size = 0; size < fatbin.size(); ++size) EXPECT_NE(fatbin_fault(fatbin.substr(0, size)), nullptr);
  EXPECT_FALSE(is_fatbin(cubin()));
}

}  // namespace
}  // namespace cucore::detail
