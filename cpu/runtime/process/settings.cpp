// The only place of the CPU device that reads the environment.
#include "cpu/runtime/process/settings.hpp"

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <mutex>

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
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  return *end == '\0' && value >= low && value <= high ? static_cast<int>(value) : otherwise;
}

const char* variable_of(Setting which) noexcept { return lines[static_cast<std::size_t>(which)].variable; }

}  // namespace cucore::cpu::runtime
