// The environment variables of the CPU device, each read at the moment that its line in settings.def names.
#include "cpu/runtime/process/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace cucore::cpu::runtime;

/// Gives a variable a value and its old one back.
class Changed {
 public:
  Changed(Setting which, const char* value) : which_(which), before_(setting(which)) {
    setenv(variable_of(which), value, 1);
  }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
  ~Changed() { before_ ? setenv(variable_of(which_), before_->c_str(), 1) : unsetenv(variable_of(which_)); }

 private:
  Setting which_;
  std::optional<std::string> before_;
};

TEST(settings, a_variable_that_is_read_each_time_may_change) {
  const Changed first(Setting::march, "a-processor");
  EXPECT_TRUE(is_set_to(Setting::march, "a-processor"));
  const Changed second(Setting::march, "native");
  EXPECT_EQ(setting(Setting::march), "native");
}

TEST(settings, a_variable_that_is_read_once_stays_what_it_was) {
  for (const Setting once : {Setting::form, Setting::cache}) {
    const std::optional<std::string> before = setting(once);
    const Changed later(once, "another");
    EXPECT_EQ(setting(once), before) << variable_of(once);
  }
}

TEST(settings, a_number_that_is_none_or_out_of_its_range_is_as_not_set) {
  const std::pair<const char*, int> cases[] = {{"2", 2}, {"64", 64}, {"65", 1}, {"-1", 1}, {"2x", 1}, {"", 1}};
  for (const auto& [text, number] : cases) {
    const Changed devices(Setting::devices, text);
    EXPECT_EQ(number_of(Setting::devices, 1, 0, 64), number) << text;
  }
}

/// What `read` prints on standard error.
template <class Read>
std::string told_by(const Read& read) {
  testing::internal::CaptureStderr();
  read();
  return testing::internal::GetCapturedStderr();
}

TEST(settings, what_means_nothing_is_told_once) {
  const Changed connections(Setting::max_connections, "many");
  const auto read = [] { EXPECT_EQ(number_of(Setting::max_connections, 8, 1, 32), 8); };
  EXPECT_EQ(
      told_by(read),
      "cucore CPU device: CUDA_DEVICE_MAX_CONNECTIONS: 'many' is no number from 1 to 32; it is as if it were 8\n");
  EXPECT_EQ(told_by(read), "");
}

TEST(settings, a_word_is_one_of_those_that_are_known) {
  const auto read = [] { return choice_of(Setting::march, {"auto", "scalar", "vector"}); };
  const std::pair<const char*, std::size_t> cases[] = {{"", 0}, {"auto", 0}, {"vector", 2}, {"scalar", 1}};
  for (const auto& [text, choice] : cases) {
    const Changed word(Setting::march, text);
    EXPECT_EQ(told_by([&] { EXPECT_EQ(read(), choice) << text; }), "");
  }
  const Changed word(Setting::march, "vectr");
  EXPECT_EQ(told_by([&] { EXPECT_EQ(read(), 0U); }),
            "cucore CPU device: CUCORE_CPU_MARCH: 'vectr' is none of auto, scalar, vector; it is as if it were auto\n");
}

TEST(settings, words_stand_between_commas) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"", {}}, {"stderr", {"stderr"}}, {"stderr,,forms", {"stderr", "", "forms"}}};
  for (const auto& [text, words] : cases) {
    const Changed report(Setting::report, text);
    EXPECT_EQ(words_of(Setting::report), words) << text;
  }
}

TEST(settings, a_variable_without_a_value_is_set) {
  const Changed none(Setting::visible_devices, "");
  EXPECT_EQ(setting(Setting::visible_devices), "");
}

}  // namespace
