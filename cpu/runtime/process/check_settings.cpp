// The checker's settings from the environment: see check_settings.hpp.
#include "cpu/runtime/process/check_settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime::checker {

namespace {

constexpr std::uint64_t default_limit = 100;

/// What CUCORE_CPU_CHECK may name.
constexpr std::pair<std::string_view, std::uint32_t> check_classes[] = {{"memory", check_class::memory_checks},
                                                                        {"race", check_class::race_checks},
                                                                        {"init", check_class::init_checks},
                                                                        {"sync", check_class::sync_checks},
                                                                        {"fp", check_class::number_checks},
                                                                        {"all", check_class::access_checks},
                                                                        {"0", 0},
                                                                        {"", 0}};

std::uint32_t classes_from_environment() {
  std::uint32_t found = 0;
  for (const std::string& word : words_of(Setting::check)) {
    const auto* const named = std::find_if(std::begin(check_classes), std::end(check_classes),
                                           [&](const auto& known) { return known.first == word; });
    if (named != std::end(check_classes))
      found |= named->second;
    else
      ignore(Setting::check, word, "none of memory, race, init, sync, fp, all");
  }
  return found;
}

std::optional<std::uint64_t> number(Setting which) {
  const std::string text = setting(which).value_or("");
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (*end == '\0') return value;
  ignore(which, text, "no number");
  return std::nullopt;
}

}  // namespace

std::uint32_t classes() {
  static const std::uint32_t value = classes_from_environment();
  return value;
}

std::optional<std::uint64_t> seed() {
  static const std::optional<std::uint64_t> value = number(Setting::check_seed);
  return value;
}

bool reports_lockstep() {
  static const bool value = number(Setting::check_lockstep).value_or(1) != 0;
  return value;
}

std::uint64_t limit() {
  static const std::uint64_t most = number(Setting::check_limit).value_or(default_limit);
  return most;
}

bool continues() {
  static const bool value = number(Setting::check_continue).value_or(0) != 0;
  return value;
}

int exit_status() {
  const std::uint64_t status = number(Setting::check_exit_status).value_or(0);
  if (status <= 255) return static_cast<int>(status);
  ignore(Setting::check_exit_status, std::to_string(status), "no status: it is at most 255, which is taken");
  return 255;
}

}  // namespace cucore::cpu::runtime::checker
