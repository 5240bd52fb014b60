// Serialised object code: round trips, the format byte by byte, and everything that must not be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cucore/error.hpp"
#include "cucore/object_code.hpp"
#include "src/formats/checksum.hpp"
#include "src/formats/frame.hpp"
#include "src/formats/sha256.hpp"

namespace cucore {
namespace {

using testing::HasSubstr;

ObjectCode example() {
  return ObjectCode::from_cubin(std::string("\x7f"
                                            "ELF\0and more\0",
                                            13),
                                "na\xc3\xafve", {{"f<int>", "_Z1fIiEvv"}, {"&v", "v"}});
}

std::string message_for(std::string_view bytes) {
  try {
    ObjectCode::deserialize(bytes);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "accepted";
}

// Frames whatever `payload` holds, correctly.
std::string framed(const std::string& payload, std::uint32_t version = 1, const char* kind = "OBJC") {
  std::string bytes("CUCORE\x1a\n", 8);
  bytes += std::string{static_cast<char>(version), 0, 0, 0};
  bytes += kind;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(payload.size() >> (8 * i));
  bytes += payload;
  const std::uint64_t sum = detail::checksum(bytes);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(sum >> (8 * i));
  return bytes;
}

std::string text(std::string_view value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value.size() >> (8 * i));
  return bytes + std::string(value);
}

TEST(object_code_bytes, everything_comes_back) {
  for (const char* type : {"ptx", "cubin", "ltoir", "fatbin", "object", "library"}) {
    const ObjectCode code = ObjectCode::from_bytes(type, "bytes", "name", {{"a", "b"}});
    const ObjectCode copy = ObjectCode::deserialize(code.serialize());
    EXPECT_EQ(copy.code_type(), CodeType(type));
    EXPECT_EQ(copy.code(), "bytes");
    EXPECT_EQ(copy.name(), "name");
    EXPECT_EQ(copy.symbol_mapping(), code.symbol_mapping());
    EXPECT_FALSE(copy.is_loaded());
    EXPECT_FALSE(copy == code);
  }
  const ObjectCode copy = ObjectCode::deserialize(example().serialize());
  EXPECT_EQ(copy.code(), example().code());
  EXPECT_EQ(copy.name(), example().name());
  const ObjectCode empty = ObjectCode::deserialize(ObjectCode::from_ptx("").serialize());
  EXPECT_EQ(empty.code(), "");
}

TEST(object_code_bytes, the_format_is_fixed) {
  const std::string payload = text("cubin") + text("n") + std::string{1, 0, 0, 0, 0, 0, 0, 0} + text("f<int>") +
                              text("_Z1fIiEvv") + text("code");
  EXPECT_EQ(ObjectCode::from_cubin("code", "n", {{"f<int>", "_Z1fIiEvv"}}).serialize(), framed(payload));
}

TEST(object_code_bytes, a_file_is_read_when_it_is_serialised) {
  const auto path = std::filesystem::temp_directory_path() / ("cucore-" + std::to_string(::getpid()) + ".ptx");
  std::ofstream(path) << ".version 8.0\n";
  const ObjectCode code = ObjectCode::from_file("ptx", path, "name");
  const ObjectCode copy = ObjectCode::deserialize(code.serialize());
  EXPECT_EQ(copy.code(), ".version 8.0\n");
  EXPECT_TRUE(copy.path().empty());
  std::filesystem::remove(path);
  EXPECT_THROW((void)code.serialize(), ValueError);
}

TEST(object_code_bytes, every_truncation_is_called_that) {
  const std::string bytes = example().serialize();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(message_for(bytes.substr(0, size)), HasSubstr("truncated")) << size;
  }
}

TEST(object_code_bytes, every_flipped_bit_is_noticed) {
  const std::string bytes = example().serialize();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string altered = bytes;
    altered[bit / 8] = static_cast<char>(altered[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(message_for(altered), "accepted") << bit;
  }
}

TEST(object_code_bytes, bytes_at_the_end_are_noticed) {
  EXPECT_THAT(message_for(example().serialize() + "x"), HasSubstr("1 bytes follow the end"));
}

TEST(object_code_bytes, a_newer_version_is_called_that) {
  EXPECT_THAT(message_for(framed("anything", 2)), HasSubstr("version 2 of the format by a newer cucore"));
}

TEST(object_code_bytes, other_data_is_called_that) {
  EXPECT_THAT(message_for("\x80\x04pickle"), HasSubstr("do not begin with the signature"));
  EXPECT_THAT(message_for(framed("anything", 1, "CACH")), HasSubstr("another kind of object"));
}

TEST(object_code_bytes, well_framed_nonsense_is_refused) {
  const std::string none = std::string(8, '\0');
  const std::string two = std::string{2, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(message_for(framed("")), HasSubstr("malformed"));
  EXPECT_THAT(message_for(framed(text("exe") + text("") + none + text(""))), HasSubstr("not a code type"));
  EXPECT_THAT(message_for(framed(text("ptx") + text("") + none + text("") + "x")), HasSubstr("left over"));
  EXPECT_THAT(
      message_for(framed(text("ptx") + text("") + two + text("b") + text("") + text("a") + text("") + text(""))),
      HasSubstr("out of order"));
  EXPECT_THAT(message_for(framed(text("ptx") + std::string(8, '\xff'))), HasSubstr("longer than what is left"));
  // A count of names that would fill memory if it were trusted.
  EXPECT_THAT(message_for(framed(text("ptx") + text("") + std::string(8, '\xff'))), HasSubstr("malformed"));
}

TEST(object_code_bytes, random_payloads_in_good_frames_are_answered) {
  std::mt19937 random(11);
  const std::string good = example().serialize();
  const std::string payload = good.substr(24, good.size() - 24 - 8);
  for (int round = 0; round < 5000; ++round) {
    std::string altered = payload;
    altered[random() % altered.size()] = static_cast<char>(random());
    altered.resize(altered.size() - random() % 4);
    (void)message_for(framed(altered));
  }
}

TEST(object_code_bytes, are_the_same_every_time_and_from_many_threads) {
  const ObjectCode code = example();
  const std::string first = example().serialize();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) EXPECT_EQ(code.serialize(), first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ObjectCode::deserialize(code.serialize()).serialize(), first);
}

TEST(object_code_bytes, of_a_longer_checksum_are_refused) {
  std::string old = example().serialize();
  old.resize(old.size() - 8);
  const detail::Sha256Digest digest = detail::sha256(old);  // a checksum of another size, over the same bytes
  old.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  EXPECT_THROW(ObjectCode::deserialize(old), ValueError);
}

TEST(object_code_bytes, the_checksum_is_xxh64) {
  EXPECT_EQ(detail::checksum(""), 0xef46db3751d8e999U);
  EXPECT_EQ(detail::checksum("a"), 0xd24ec4f1a98c6e5bU);
  EXPECT_EQ(detail::checksum("abc"), 0x44bc2cf5ad770999U);
  EXPECT_EQ(detail::checksum("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1U);
}

TEST(object_code_bytes, sha256_gives_the_published_digests) {
  EXPECT_EQ(detail::to_hex(detail::sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(detail::to_hex(detail::sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(detail::to_hex(detail::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  detail::Sha256 million;
  for (int i = 0; i < 10000; ++i) million.update(std::string(100, 'a'));
  EXPECT_EQ(detail::to_hex(million.finish()), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(object_code_bytes, the_digits_of_a_digest_are_64_and_lower_case) {
  const std::string digits = detail::to_hex(detail::sha256("abc"));
  EXPECT_TRUE(detail::is_hex_of_digest(digits));
  EXPECT_FALSE(detail::is_hex_of_digest(digits + "0"));
  EXPECT_FALSE(detail::is_hex_of_digest(digits.substr(1)));
  EXPECT_FALSE(detail::is_hex_of_digest("B" + digits.substr(1)));
  EXPECT_FALSE(detail::is_hex_of_digest("g" + digits.substr(1)));
  EXPECT_FALSE(detail::is_hex_of_digest(""));
  EXPECT_EQ("00ff0a", detail::to_hex(std::vector<std::uint8_t>{0, 255, 10}));
}

}  // namespace
}  // namespace cucore
