// Code for several architectures in one object: what is in it, and which image is for which device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cucore/error.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/fatbin.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace {

using cucore::CodeImage;
using cucore::CodeType;
using cucore::ObjectCode;
using cucore::detail::can_use;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ObjectCode compiled(const std::string& arch, bool embed_ptx = true) {
  return cucore::Program("extern \"C\" __global__ void k(int* p) { *p = __CUDA_ARCH__; }", "c++",
                         {.name = "several", .arch = arch, .embed_ptx = embed_ptx})
      .compile(arch.starts_with("sm_") ? "cubin" : "ptx");
}

std::string refusal(const std::vector<cucore::ArchitectureCode>& parts) {
  try {
    ObjectCode::from_images(parts);
  } catch (const cucore::ValueError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(several_images, the_object_tells_what_is_in_it) {
  const ObjectCode a = compiled("sm_80");
  const ObjectCode b = compiled("sm_90a", false);
  const ObjectCode c = compiled("compute_100");
  const ObjectCode all = ObjectCode::from_images({{.code = a}, {.arch = "sm_90a", .code = b}, {.code = c}});
  EXPECT_THAT(all.images(), ElementsAre(CodeImage{CodeType::cubin, "sm_80"}, CodeImage{CodeType::ptx, "compute_80"},
                                        CodeImage{CodeType::cubin, "sm_90a"}, CodeImage{CodeType::ptx, "compute_100"}));
  EXPECT_EQ(all.code_type().name(), "fatbin");
  EXPECT_EQ(all.name(), "several");
  EXPECT_EQ(all.ptx(), c.ptx());
  EXPECT_FALSE(all.is_loaded());
  EXPECT_EQ(all.loaded_image(), std::nullopt);
}

TEST(several_images, parts_that_cannot_be_are_refused) {
  const ObjectCode a = compiled("sm_80");
  const ObjectCode ir = ObjectCode::from_ltoir("ir");
  const ObjectCode damaged = ObjectCode::from_cubin(
      "\x7f"
      "ELF");
  EXPECT_THAT(refusal({}), HasSubstr("no parts"));
  EXPECT_THAT(refusal({{.code = a}, {.code = a}}), HasSubstr("two images of type cubin for sm_80"));
  EXPECT_THAT(refusal({{.code = ir}}), HasSubstr("neither a cubin nor PTX"));
  EXPECT_THAT(refusal({{.code = damaged}}), HasSubstr("not a cubin"));
  EXPECT_THAT(refusal({{.arch = "sm_90", .code = a}}), HasSubstr("was compiled for sm_80"));
}

TEST(several_images, a_truncated_fat_binary_is_not_read) {
  const ObjectCode a = compiled("sm_80");
  const std::string bytes(ObjectCode::from_images({{.code = a}}).code());
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_EQ(cucore::detail::read_fatbin(std::string_view(bytes).substr(0, size)), std::nullopt) << size;
  }
}

TEST(several_images, a_saved_object_comes_back_whole) {
  const cucore::test::TemporaryFolder folder;
  const ObjectCode a = compiled("sm_80");
  const ObjectCode all = ObjectCode::from_images({{.code = a}}, "name", {{"k<int>", "k"}});
  all.save(folder.path() / "code");
  const ObjectCode again = ObjectCode::from_saved(folder.path() / "code");
  EXPECT_EQ(again.code(), all.code());
  EXPECT_EQ(again.name(), "name");
  EXPECT_EQ(again.symbol_mapping(), all.symbol_mapping());
  EXPECT_THROW(all.save(folder.path() / "no" / "folder"), cucore::ValueError);
  EXPECT_THROW(ObjectCode::from_saved(folder.path() / "nothing"), cucore::ValueError);
}

TEST(several_images, an_image_is_for_the_devices_that_its_architecture_allows) {
  EXPECT_TRUE(can_use(CodeType::cubin, "sm_80", 86));
  EXPECT_FALSE(can_use(CodeType::cubin, "sm_86", 80));
  EXPECT_FALSE(can_use(CodeType::cubin, "sm_80", 90));
  EXPECT_TRUE(can_use(CodeType::ptx, "compute_80", 120));
  EXPECT_FALSE(can_use(CodeType::ptx, "compute_90", 80));
  EXPECT_TRUE(can_use(CodeType::ptx, "compute_90a", 90));
  EXPECT_FALSE(can_use(CodeType::ptx, "compute_90a", 100));
  EXPECT_TRUE(can_use(CodeType::cubin, "sm_100f", 103));
  EXPECT_FALSE(can_use(CodeType::ptx, "compute_100f", 120));
}

}  // namespace
