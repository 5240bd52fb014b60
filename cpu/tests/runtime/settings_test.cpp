// The environment variables of the CPU device, each read at the moment that its line in settings.def names.
#include "cpu/runtime/process/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

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

TEST(settings, a_variable_without_a_value_is_set) {
  const Changed none(Setting::visible_devices, "");
  EXPECT_EQ(setting(Setting::visible_devices), "");
}

}  // namespace
