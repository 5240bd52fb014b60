// What environment variables say: settings.def is the list of them, with the moment at which each is read.
// The CPU device, which knows nothing of this folder, has the same for its own.
#pragma once

#include <string>

namespace cucore {

enum class Setting {
#define SETTING(name, ...) name,
#include "src/settings/settings.def"
};

/// The variable's value, "" if it is not set. Thread-safety: any thread, as long as none changes the environment.
std::string setting(Setting which);

/// The variable's name.
const char* variable_of(Setting which) noexcept;

}  // namespace cucore
