// Records of large images: what is written is read, what is damaged or another's is not.
#include "cpu/loader/cache/image_record.hpp"

#include <gtest/gtest.h>

namespace cucore::cpu::loader {
namespace {

KernelKey key_number(std::uint8_t number) {
  KernelKey key{};
  key.digest.fill(number);
  return key;
}

ptx::Excerpt an_excerpt() {
  return {.text = ".version 8.0\n.target sm_80\n", .pieces = {{0, {3, 1}}, {13, {70000, 9}}}};
}

ImageRecord a_record() {
  return {.is_cubin = true,
          .is_for_this_device = false,
          .max_registers = 40,
          .registers = {{"a", 12}, {"b", 255}},
          .kernels = {"a", "", std::string(5000, 'k')},
          .variables = an_excerpt()};
}

bool is_same(const ptx::Excerpt& a, const ptx::Excerpt& b) {
  return a.text == b.text && std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
                                        [](const auto& x, const auto& y) {
                                          return x.offset == y.offset && x.position.line == y.position.line &&
                                                 x.position.column == y.position.column;
                                        });
}

TEST(ImageRecord, what_is_written_is_read) {
  const KernelKey key = key_number(1);
  const std::optional<ImageRecord> read = decode_image(key, encode(key, a_record()));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_cubin);
  EXPECT_FALSE(read->is_for_this_device);
  EXPECT_EQ(read->max_registers, 40U);
  EXPECT_EQ(read->registers, a_record().registers);
  EXPECT_EQ(read->kernels, a_record().kernels);
  EXPECT_TRUE(is_same(read->variables, an_excerpt()));
  const std::optional<ptx::Excerpt> excerpt = decode_excerpt(key, encode(key, an_excerpt()));
  ASSERT_TRUE(excerpt);
  EXPECT_TRUE(is_same(*excerpt, an_excerpt()));
}

TEST(ImageRecord, what_is_damaged_or_for_something_else_is_not_read) {
  const KernelKey key = key_number(1);
  const std::string bytes = encode(key, a_record());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 16)
    EXPECT_FALSE(decode_image(key, std::string_view(bytes).substr(0, size))) << size;
  for (std::size_t at = 0; at < bytes.size(); at += 1 + at / 16) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(decode_image(key, damaged)) << at;
  }
  EXPECT_FALSE(decode_image(key, bytes + '\0'));
  EXPECT_FALSE(decode_image(key_number(2), bytes));
  EXPECT_FALSE(decode_excerpt(key, bytes));
  EXPECT_FALSE(decode_image(key, encode(key, an_excerpt())));
  EXPECT_FALSE(decode(key, bytes)) << "it is no kernel";
}

TEST(ImageRecord, keys_tell_apart_whatever_a_record_depends_on) {
  const auto key = [](const std::vector<std::string_view>& parts, int capability) {
    return key_of_image(parts, capability).value();
  };
  EXPECT_EQ(key({"ab", "c"}, 90), key({"ab", "c"}, 90));
  EXPECT_NE(key({"ab", "c"}, 90).digest, key({"a", "bc"}, 90).digest);
  EXPECT_NE(key({"ab", "c"}, 90).digest, key({"abc"}, 90).digest);
  EXPECT_NE(key({"ab", "c"}, 90).digest, key({"ab", "c"}, 80).digest);
  const KernelKey image = key({"ab"}, 90);
  EXPECT_NE(key_of_excerpt(image, "a").digest, key_of_excerpt(image, "b").digest);
  EXPECT_NE(key_of_excerpt(image, "a").digest, key_of_excerpt(key({"c"}, 90), "a").digest);
}

}  // namespace
}  // namespace cucore::cpu::loader
