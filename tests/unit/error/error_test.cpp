// Errors: the sentence, the parts, result codes in words, and the release failure handler.
#include "cucore/error.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "cucore/result.hpp"
#include "src/driver/table.hpp"
#include "src/handles/release_report.hpp"

namespace cucore {
namespace {

TEST(error, sentence_has_name_message_hint_and_log) {
  const DriverError error({.call = "cuLibraryLoadData",
                           .code = 218,
                           .code_name = "CUDA_ERROR_INVALID_PTX",
                           .message = "the PTX did not compile",
                           .log = std::string("ptxas error\n\0", 13),
                           .hint = "fix line 3"});
  EXPECT_STREQ(error.what(),
               "CUDA_ERROR_INVALID_PTX: the PTX did not compile\nhint: fix line 3\nJIT log:\nptxas error");
  EXPECT_EQ(error.log(), "ptxas error");
  EXPECT_EQ(error.code(), 218);
}

TEST(error, log_is_introduced_by_where_it_comes_from) {
  EXPECT_NE(std::string(NvrtcError({.call = "nvrtcCompileProgram", .log = "x"}).what()).find("compilation log:\nx"),
            std::string::npos);
  EXPECT_NE(std::string(NvJitLinkError({.call = "nvJitLinkComplete", .log = "x"}).what()).find("linker log:\nx"),
            std::string::npos);
}

TEST(error, copies_share_their_parts) {
  const ValueError error({.message = "m"});
  const ValueError copy = error;
  EXPECT_EQ(&copy.message(), &error.message());
}

TEST(error, kinds_are_told_apart_by_type_and_share_a_base) {
  EXPECT_THROW(throw StateError({.message = "m"}), Error);
  EXPECT_THROW(throw UnavailableError({.message = "m"}), std::runtime_error);
}

TEST(result, known_codes_have_name_and_explanation_without_a_driver) {
  EXPECT_EQ(driver::result_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_FALSE(driver::result_explanation(700).empty());
}

TEST(result, unknown_code_keeps_its_number) {
  EXPECT_NE(driver::result_name(98765).find("UNEXPECTED ERROR CODE 98765"), std::string::npos);
}

TEST(result, error_names_call_object_code_and_what_to_do) {
  const DriverError error = driver::error_for(2, "cuMemAlloc", "Device 0");
  EXPECT_EQ(error.call(), "cuMemAlloc");
  EXPECT_EQ(error.code(), 2);
  EXPECT_EQ(error.code_name(), "CUDA_ERROR_OUT_OF_MEMORY");
  const std::string text = error.what();
  EXPECT_EQ(text.find("CUDA_ERROR_OUT_OF_MEMORY: "), 0u);
  EXPECT_NE(text.find("cuMemAlloc on Device 0, code 2"), std::string::npos);
  EXPECT_FALSE(error.hint().empty());
}

struct Seen {
  int count = 0;
  std::string text;
};

TEST(release_failure_handler, gets_call_handle_and_error_and_can_be_taken_off) {
  Seen seen;
  const auto before = set_release_failure_handler(
      [](const Error& error, void* user) noexcept {
        auto& all = *static_cast<Seen*>(user);
        ++all.count;
        all.text = error.what();
      },
      &seen);
  const unsigned long failures = release_failures();
  detail::report_release_failure(709, "cuStreamDestroy", reinterpret_cast<void*>(0x1234));
  EXPECT_EQ(seen.count, 1);
  EXPECT_NE(seen.text.find("cuStreamDestroy"), std::string::npos);
  EXPECT_NE(seen.text.find("0x1234"), std::string::npos);
  EXPECT_NE(seen.text.find("CUDA_ERROR_CONTEXT_IS_DESTROYED"), std::string::npos);
  EXPECT_NE(set_release_failure_handler(before), nullptr);
  detail::report_release_failure(709, "cuStreamDestroy", nullptr);
  EXPECT_EQ(seen.count, 1);
  EXPECT_EQ(release_failures(), failures + 2);
}

TEST(result, holds_what_a_call_gave_or_the_error_it_threw) {
  auto number = attempt([] { return 5; });
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, 5);
  EXPECT_EQ(number.value(), 5);
  auto failed = attempt([]() -> int { throw ValueError({.call = "x", .message = "not like this"}); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "not like this");
  EXPECT_THROW(failed.value(), ValueError);
  const auto nothing = attempt([] {});
  EXPECT_TRUE(nothing);
  nothing.value();
  const auto foreign = attempt([] { throw std::runtime_error("not ours"); });
  EXPECT_FALSE(foreign);
  EXPECT_EQ(foreign.error().message(), "not ours");
  EXPECT_THROW(foreign.value(), std::runtime_error);
  const auto exhausted = attempt([] { throw std::bad_alloc(); });
  EXPECT_NE(std::string(exhausted.error().what()).find("no memory"), std::string::npos);
  EXPECT_FALSE(attempt([] { throw 5; }));
}

TEST(result, moves_a_value_out) {
  auto held = attempt([] { return std::make_unique<int>(3); });
  const std::unique_ptr<int> taken = std::move(held).value();
  EXPECT_EQ(*taken, 3);
}

TEST(error, an_error_that_makes_the_context_unusable_is_sticky) {
  EXPECT_TRUE(DriverError({.code = 700}).is_sticky());
  EXPECT_FALSE(DriverError({.code = 2}).is_sticky());
  EXPECT_THROW(driver::fail(2, "cuMemAlloc", "x"), OutOfMemoryError);
  EXPECT_THROW(driver::fail(600, "cuEventQuery", "x"), NotReadyError);
  EXPECT_THROW(driver::fail(201, "cuCtxSynchronize", "x"), InvalidContextError);
  EXPECT_THROW(driver::fail(709, "cuCtxSynchronize", "x"), InvalidContextError);
  EXPECT_THROW(driver::fail(719, "cuCtxSynchronize", "x"), StickyError);
  try {
    driver::fail(719, "cuCtxSynchronize", "x");
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code_name(), "CUDA_ERROR_LAUNCH_FAILED");
    EXPECT_FALSE(error.hint().empty());
  }
}

}  // namespace
}  // namespace cucore
