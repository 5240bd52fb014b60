// The environment variables of the core, each read at the moment that its line in settings.def names.
#include "src/settings/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cucore {
namespace {

// Gives a variable a value and its old one back.
class Changed {
 public:
  Changed(Setting which, const char* value) : which_(which), before_(setting(which)) {
    ::setenv(variable_of(which), value, 1);
  }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
  ~Changed() { before_.empty() ? ::unsetenv(variable_of(which_)) : ::setenv(variable_of(which_), before_.c_str(), 1); }

 private:
  Setting which_;
  std::string before_;
};

TEST(settings, a_variable_that_is_read_each_time_may_change) {
  const Changed first(Setting::cache_dir, "/one");
  EXPECT_EQ(setting(Setting::cache_dir), "/one");
  const Changed second(Setting::cache_dir, "");
  EXPECT_EQ(setting(Setting::cache_dir), "");
}

TEST(settings, a_variable_that_is_read_once_stays_what_it_was) {
  const std::string before = setting(Setting::trace);
  const Changed later(Setting::trace, "/another.json");
  EXPECT_EQ(setting(Setting::trace), before);
}

TEST(settings, variables_have_the_names_of_the_table) {
  EXPECT_STREQ(variable_of(Setting::device), "CUCORE_DEVICE");
  EXPECT_STREQ(variable_of(Setting::per_thread_default_stream), "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
}

}  // namespace
}  // namespace cucore
