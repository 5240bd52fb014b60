// The only place of the CPU device that reads the environment.
#include "cpu/runtime/process/settings.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <sstream>

namespace cucore::cpu::runtime {

namespace {

enum class Moment { once, once_if_trusted, each_time };

struct Line {
  const char* variable;
  Moment moment;
};

constexpr Line lines[] = {
#define SETTING(name, variable, moment, ...) {#variable, Moment::moment},
#include "cpu/runtime/process/settings.def"
};

std::optional<std::string> read(const Line& line) {
  const char* const value =
      line.moment == Moment::once_if_trusted ? secure_getenv(line.variable) : std::getenv(line.variable);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

struct Remembered {
  std::atomic<bool> is_read{false};
  std::optional<std::string> value;
};

struct Memory {
  std::mutex mutex;
  Remembered values[std::size(lines)];
};

}  // namespace

std::optional<std::string> setting(Setting which) {
  const auto index = static_cast<std::size_t>(which);
  if (lines[index].moment == Moment::each_time) return read(lines[index]);
  static auto& memory = *new Memory;  // never destroyed: read also while a process ends
  Remembered& one = memory.values[index];
  if (!one.is_read.load(std::memory_order_acquire)) {
    const std::lock_guard lock(memory.mutex);
    if (!one.is_read.load(std::memory_order_relaxed)) one.value = read(lines[index]);
    one.is_read.store(true, std::memory_order_release);
  }
  return one.value;
}

bool is_set_to(Setting which, const char* text) { return setting(which) == text; }

int number_of(Setting which, int otherwise, int low, int high) {
  const std::string text = setting(which).value_or("");
  if (text.empty()) return otherwise;
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= low && value <= high) return value;
  ignore(which, text,
         "no number from " + std::to_string(low) + " to " + std::to_string(high) + "; it is as if it were " +
             std::to_string(otherwise));
  return otherwise;
}

std::size_t choice_of(Setting which, std::initializer_list<std::string_view> words) {
  const std::string text = setting(which).value_or("");
  if (text.empty()) return 0;
  const auto* const found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string known;
  for (const std::string_view word : words) known += (known.empty() ? "none of " : ", ") + std::string(word);
  ignore(which, text, known + "; it is as if it were " + std::string(*words.begin()));
  return 0;
}

std::vector<std::string> words_of(Setting which) {
  std::vector<std::string> words;
  std::istringstream text(setting(which).value_or(""));
  for (std::string word; std::getline(text, word, ',');) words.push_back(word);
  return words;
}

void ignore(Setting which, std::string_view value, std::string_view fault) {
  static std::atomic_flag told[std::size(lines)];
  if (told[static_cast<std::size_t>(which)].test_and_set()) return;
  std::fprintf(stderr, "cucore CPU device: %s: '%.*s' is %.*s\n", variable_of(which), static_cast<int>(value.size()),
               value.data(), static_cast<int>(fault.size()), fault.data());
}

const char* variable_of(Setting which) noexcept { return lines[static_cast<std::size_t>(which)].variable; }

}  // namespace cucore::cpu::runtime
