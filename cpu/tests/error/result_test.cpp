// Results: values, failures, and what success costs.
#include "cpu/error/result.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace {
std::size_t allocations = 0;
}  // namespace

// Counted, so that tests can say what needs none.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cucore::cpu {
namespace {

const std::string long_sentence = "a sentence that is too long to fit into a string without an allocation";

Result<void> check(int number) {
  if (number < 0) return ErrorCode::InvalidValue;
  if (number > 9) return Failure(ErrorCode::NotSupported, long_sentence);
  return {};
}

Result<std::unique_ptr<std::string>> text_of(int number) {
  if (Result<void> checked = check(number); !checked) return std::move(checked).failure();
  return std::make_unique<std::string>(std::to_string(number));
}

Result<std::size_t> length_of(int number) {
  Result<std::unique_ptr<std::string>> text = text_of(number);
  if (!text) return std::move(text).failure();
  return (*text)->size();
}

TEST(Result, has_a_value_where_nothing_failed) {
  const Result<std::size_t> length = length_of(7);
  ASSERT_TRUE(length);
  EXPECT_EQ(*length, 1u);
}

TEST(Result, passes_code_and_sentence_on_through_results_of_other_types) {
  const Result<std::size_t> negative = length_of(-1);
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.failure().code(), ErrorCode::InvalidValue);
  EXPECT_EQ(negative.failure().sentence(), "");
  const Result<std::size_t> large = length_of(10);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.failure().code(), ErrorCode::NotSupported);
  EXPECT_EQ(large.failure().sentence(), long_sentence);
}

TEST(Result, gives_its_value_away) {
  Result<std::unique_ptr<std::string>> text = text_of(3);
  ASSERT_TRUE(text);
  const std::unique_ptr<std::string> taken = *std::move(text);
  EXPECT_EQ(*taken, "3");
}

TEST(Result, of_a_code_like_or_convertible_type_tells_a_value_from_a_failure) {
  const Result<int> number = 1;
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, 1);
  const Result<int> failed = ErrorCode::InvalidValue;
  EXPECT_FALSE(failed);
  const Result<std::shared_ptr<const int>> shared = std::make_shared<int>(2);
  ASSERT_TRUE(shared);
  EXPECT_EQ(**shared, 2);
}

TEST(Result, without_a_value_is_one_word_and_allocates_nothing_for_success_or_a_bare_code) {
  EXPECT_EQ(sizeof(Result<void>), sizeof(void*));
  const std::size_t before = allocations;
  const bool is_good = static_cast<bool>(check(1));
  const ErrorCode code = check(-1).failure().code();
  const std::size_t after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_TRUE(is_good);
  EXPECT_EQ(code, ErrorCode::InvalidValue);
}

TEST(Failure, with_an_empty_sentence_is_a_bare_code) {
  const std::size_t before = allocations;
  const Failure failure(ErrorCode::NotReady, "");
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(failure.code(), ErrorCode::NotReady);
}

TEST(Failure, keeps_what_it_says_when_it_is_moved_and_assigned) {
  Failure first(ErrorCode::InvalidPtx, long_sentence);
  Failure second(ErrorCode::NotFound);
  second = std::move(first);
  EXPECT_EQ(second.code(), ErrorCode::InvalidPtx);
  const Failure third = std::move(second);
  EXPECT_EQ(third.sentence(), long_sentence);
  EXPECT_EQ(third.code(), ErrorCode::InvalidPtx);
}

}  // namespace
}  // namespace cucore::cpu
