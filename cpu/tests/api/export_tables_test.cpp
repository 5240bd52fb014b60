// The tables that the run-time library asks for. That the library itself takes them is tested in tests/clients.
#include <cstring>
#include <string_view>

#include "cpu/api/cucore_cpu.h"
#include "cpu/api/export_tables/md2.hpp"
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/api/fat_binaries.hpp"

namespace {

using cucore::cpu::api::HmacMd2;
using cucore::cpu::api::Md2;

std::string hexadecimal(const Md2::Digest& digest) {
  std::string text;
  for (const unsigned byte : digest) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text;
}

std::string md2(std::string_view message) {
  Md2 digest;
  digest.add(message.data(), message.size());
  return hexadecimal(digest.digest());
}

TEST(Md2, gives_the_digests_of_its_rfc) {
  EXPECT_EQ("8350e5a3e24c153df2275c9f80692773", md2(""));
  EXPECT_EQ("da853b0d3f88d99b30283a69e6ded6bb", md2("abc"));
  EXPECT_EQ("4e8ddff3650292ab5a4108c3aa47940b", md2("abcdefghijklmnopqrstuvwxyz"));
  EXPECT_EQ("d5976f79d83d3a0dc9806c3c66f3efd8",
            md2("12345678901234567890123456789012345678901234567890123456789012345678901234567890"));
}

TEST(Md2, with_a_key_is_the_digest_of_a_digest) {
  HmacMd2 digest(Md2::Digest{});
  digest.add("abc", 3);
  const std::string inner_pad(16, '\x36'), outer_pad(16, '\x5c');
  Md2 inner;
  inner.add((inner_pad + "abc").data(), 19);
  const Md2::Digest bytes = inner.digest();
  EXPECT_EQ(md2(outer_pad + std::string(bytes.begin(), bytes.end())), hexadecimal(digest.digest()));
}

struct Ended {
  CUcontext context;
  void* key;
  void* value;
};
std::vector<Ended> ended;

class ExportTables : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ended.clear();
  }

  template <std::size_t size_bytes>
  const void* const* table(const unsigned char (&bytes)[size_bytes]) {
    static_assert(size_bytes == sizeof(CUuuid));
    CUuuid uuid;
    std::memcpy(uuid.bytes, bytes, size_bytes);
    const void* found = nullptr;
    EXPECT_OK(cuGetExportTable(&found, &uuid));
    return static_cast<const void* const*>(found);
  }

  template <class... Arguments>
  static CUresult call(const void* function, Arguments... arguments) {
    return reinterpret_cast<CUresult (*)(Arguments...)>(const_cast<void*>(function))(arguments...);
  }
};

constexpr unsigned char runtime_interface[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                               0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
constexpr unsigned char context_storage[] = {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11,
                                             0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93};

TEST_F(ExportTables, an_unknown_table_is_an_invalid_value) {
  const CUuuid unknown{};
  const void* found = &unknown;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetExportTable(&found, &unknown));
  EXPECT_EQ(nullptr, found);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetExportTable(nullptr, &unknown));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetExportTable(&found, nullptr));
}

TEST_F(ExportTables, a_slot_that_is_not_written_refuses_and_says_so) {
  const void* const* const found = table(runtime_interface);
  std::uintptr_t bytes = 0;
  std::memcpy(&bytes, found, sizeof bytes);
  ASSERT_EQ(13 * sizeof(void*), bytes);
  for (std::size_t slot = 1; slot < bytes / sizeof(void*); ++slot) ASSERT_NE(nullptr, found[slot]);
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, call(found[8]));
  char words[200] = "";
  cucore_cpu_last_report(words, sizeof words);
  EXPECT_STREQ("cuGetExportTable: slot 8 of the run-time interface table is not implemented", words);
}

TEST_F(ExportTables, the_primary_context_is_known_before_it_is_retained) {
  CUcontext primary = nullptr, retained = nullptr;
  EXPECT_OK(call(table(runtime_interface)[2], &primary, device));
  ASSERT_OK(cuDevicePrimaryCtxRetain(&retained, device));
  EXPECT_EQ(retained, primary);
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, call(table(runtime_interface)[2], &primary, 99));
}

// As run-time libraries of CUDA 11 do that are linked into a program (CatBoost's wheel).
TEST_F(ExportTables, older_libraries_load_and_forget_modules_by_the_runtime_interface) {
  const void* const* const found = table(runtime_interface);
  const std::string image = newer_fat_binary(kernels_ptx(), 80);
  const struct {
    std::uint32_t magic, version;
    const void* data;
    const void* parts;
  } wrapper = {0x466243b1, 1, image.data(), nullptr};
  CUmodule loaded = nullptr;
  void* const unknown = nullptr;
  ASSERT_OK(call(found[6], &loaded, static_cast<const void*>(&wrapper), unknown, unknown, std::size_t{0}));
  CUfunction set_to = nullptr;
  ASSERT_OK(cuModuleGetFunction(&set_to, loaded, "set_to"));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(set_to, 1, 1, nullptr, out, 5));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(5, *out);
  EXPECT_OK(call(found[7], static_cast<const void*>(&wrapper)));
  const void* const nothing = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, call(found[6], &loaded, nothing, unknown, unknown, std::size_t{0}));
}

TEST_F(ExportTables, what_is_kept_with_a_context_ends_with_it) {
  const void* const* const storage = table(context_storage);
  const auto end = +[](CUcontext of, void* key, void* value) { ended.push_back({of, key, value}); };
  int first = 0, second = 0, third = 0;
  void* found = nullptr;
  const CUcontext current = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, call(storage[2], &found, current, static_cast<void*>(&first)));
  EXPECT_OK(call(storage[0], context, static_cast<void*>(&first), static_cast<void*>(&third), end));
  EXPECT_OK(call(storage[0], current, static_cast<void*>(&second), static_cast<void*>(&third), end));
  EXPECT_OK(call(storage[2], &found, current, static_cast<void*>(&first)));
  EXPECT_EQ(&third, found);
  EXPECT_OK(call(storage[1], context, static_cast<void*>(&second)));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, call(storage[1], context, static_cast<void*>(&second)));
  EXPECT_OK(cuCtxDestroy(context));
  ASSERT_EQ(1u, ended.size());
  EXPECT_EQ(context, ended[0].context);
  EXPECT_EQ(&first, ended[0].key);
  EXPECT_EQ(&third, ended[0].value);
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, call(storage[2], &found, context, static_cast<void*>(&first)));
  context = nullptr;
}

}  // namespace
