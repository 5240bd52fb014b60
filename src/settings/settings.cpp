// The only place of the core that reads the environment.
#include "src/settings/settings.hpp"

#include <cstdlib>
#include <iterator>
#include <mutex>

namespace cucore {
namespace {

enum class Moment { once, each_time };

struct Line {
  const char* variable;
  Moment moment;
};

constexpr Line lines[] = {
#define SETTING(name, variable, moment, ...) {#variable, Moment::moment},
#include "src/settings/settings.def"
};

std::string read(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

struct Remembered {
  std::once_flag flag;
  std::string value;
};

}  // namespace

std::string setting(Setting which) {
  const auto index = static_cast<std::size_t>(which);
  if (lines[index].moment == Moment::each_time) return read(lines[index].variable);
  static auto* const remembered = new Remembered[std::size(lines)];  // never destroyed: read also while a process ends
  Remembered& one = remembered[index];
  std::call_once(one.flag, [&] { one.value = read(lines[index].variable); });
  return one.value;
}

const char* variable_of(Setting which) noexcept { return lines[static_cast<std::size_t>(which)].variable; }

}  // namespace cucore
