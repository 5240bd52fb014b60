// Signed entries: what is taken, what is not, and that the bytes are those of docs/cache-format.md.
#include "src/store/sealed_entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cucore/error.hpp"
#include "src/formats/sha256.hpp"
#include "src/store/json_header.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore::detail {
namespace {

using testing::HasSubstr;

const std::string key_a(16, 'a'), key_b(20, 'b');
const Trust signs_a{.keys = KeyRing({{"first", key_a}})};
const Trust unsigned_ones{.keys = {}, .allow_unsigned = true};

std::string refusal(const std::string& sealed, const Trust& trust = signs_a, const char* key = "k",
                    std::optional<std::string_view> toolkit = "t") {
  try {
    (void)unseal(key, sealed, toolkit, trust);
    return "taken";
  } catch (const RejectedEntry& why) {
    return why.what();
  }
}

TEST(sealed_entry, hmac_is_that_of_rfc_4231) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(sealed_entry, an_entry_gives_its_payload_to_those_who_know_the_key) {
  const std::string payload("code\0more", 9);
  const std::string sealed = seal("k", payload, "t", signs_a);
  EXPECT_EQ(unseal("k", sealed, "t", signs_a), payload);
  const Trust rotated{.keys = KeyRing({{"second", key_b}, {"first", key_a}})};
  EXPECT_EQ(unseal("k", sealed, std::nullopt, rotated), payload);
  EXPECT_EQ(unseal("k", seal("k", "", "t", unsigned_ones), "t", unsigned_ones), "");
}

TEST(sealed_entry, what_is_of_others_is_not_taken) {
  const std::string sealed = seal("k", "code", "t", signs_a);
  EXPECT_THAT(refusal(sealed, {.keys = KeyRing({{"second", key_b}})}), HasSubstr("not known here"));
  EXPECT_THAT(refusal(sealed, {.keys = KeyRing({{"first", key_b}})}), HasSubstr("digest does not match"));
  EXPECT_THAT(refusal(sealed, unsigned_ones), HasSubstr("not known here"));
  EXPECT_THAT(refusal(seal("k", "code", "t", unsigned_ones)), HasSubstr("not signed"));
  EXPECT_THAT(refusal(sealed, signs_a, "other"), HasSubstr("another key"));
  EXPECT_THAT(refusal(sealed, signs_a, "k", "u"), HasSubstr("another compiler (t)"));
}

TEST(sealed_entry, no_damage_goes_unseen) {
  const std::string sealed = seal("k", "code", "t", signs_a);
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    EXPECT_NE(refusal(sealed.substr(0, at)), "taken") << at;
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = sealed;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
      EXPECT_NE(refusal(flipped), "taken") << at;
    }
  }
  EXPECT_NE(refusal(sealed + "x"), "taken");
}

TEST(sealed_entry, entries_that_python_writes_are_taken) {
  // json.dumps(..., sort_keys=True) of a header whose key's id is not ASCII.
  const std::string header =
      R"({"key": "k", "signed_by": "cl\u00e9 \ud83d\ude00", "size": 4, "toolkit": "t", "version": 1})";
  std::string sealed = "cucore sealed entry\n";
  sealed += static_cast<char>(header.size());
  sealed += std::string("\0\0\0", 3) + header + "code";
  const Sha256Digest digest = hmac_sha256(key_a, sealed);
  sealed.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  EXPECT_EQ(unseal("k", sealed, "t", {.keys = KeyRing({{"cl\xc3\xa9 \xf0\x9f\x98\x80", key_a}})}), "code");
}

TEST(sealed_entry, headers_are_one_object_of_scalars) {
  for (const char* text : {"", "{", "{}x", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":-1}",
                           "{\"a\":1,}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\q\"}", "{\"a\":\"x}", "{\"a\":true}",
                           "{\"a\":99999999999999999999}", "{\"a\":\"\x01\"}"}) {
    EXPECT_FALSE(read_json_header(text)) << text;
  }
  const auto header = read_json_header(" { \"a\" : \"\\\"\\\\\\n\\u0041\" , \"b\" : 7, \"c\":null } ");
  ASSERT_TRUE(header);
  EXPECT_EQ(std::get<std::string>(header->at("a")), "\"\\\nA");
  EXPECT_EQ(std::get<std::uint64_t>(header->at("b")), 7U);
  EXPECT_EQ(read_json_header(write_json_header(*header)), header);
}

TEST(sealed_entry, keys_come_from_a_file) {
  const test::TemporaryFolder folder;
  const KeyRing ring = KeyRing::from_file(folder.write(
      "keys", "# ours\nnew 000102030405060708090a0b0c0d0e0F\n\nold " + std::string(40, 'a') + " # gone soon"));
  EXPECT_EQ(ring.signer(), "new");
  ASSERT_NE(ring.find("new"), nullptr);
  EXPECT_EQ((*ring.find("new"))[15], '\x0f');
  EXPECT_EQ(ring.find("old")->size(), 20U);
  EXPECT_EQ(ring.find("none"), nullptr);
  for (const char* bad : {"", "a", "a 00", "a 0g0102030405060708090a0b0c0d0e0f", "a 0 1"}) {
    const auto path = folder.write("bad", bad);
    EXPECT_THROW((void)KeyRing::from_file(path), ValueError) << bad;
  }
  EXPECT_THROW((void)KeyRing::from_file(folder.path() / "missing"), ValueError);
}

}  // namespace
}  // namespace cucore::detail
