// What environment variables say: settings.def is the list of them, with the moment at which each is read.
// The core, which knows nothing of this room, has the same for its own. No state but what is remembered; any thread, as
// long as none changes the environment.
#pragma once

#include <optional>
#include <string>

namespace cucore::cpu::runtime {

enum class Setting {
#define SETTING(name, ...) name,
#include "cpu/runtime/process/settings.def"
};

/// The variable's value; nothing if it is not set.
std::optional<std::string> setting(Setting which);

/// Whether its value is `text`.
bool is_set_to(Setting which, const char* text);

/// The number in it if that lies in [low, high], else `otherwise`.
int number_of(Setting which, int otherwise, int low, int high);

/// The variable's name.
const char* variable_of(Setting which) noexcept;

}  // namespace cucore::cpu::runtime
