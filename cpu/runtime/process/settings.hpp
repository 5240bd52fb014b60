// What environment variables say: settings.def is the list of them, with the moment at which each is read.
// The core, which knows nothing of this room, has the same for its own. No state but what is remembered; any thread, as
// long as none changes the environment.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::cpu::runtime {

enum class Setting {
#define SETTING(name, ...) name,
#include "cpu/runtime/process/settings.def"
};

/// The variable's value; nothing if it is not set.
std::optional<std::string> setting(Setting which);

/// Whether its value is `text`.
bool is_set_to(Setting which, const char* text);

/// The number in it if that lies in [low, high]; `otherwise` if it is not set, or, told by ignore(), is no such number.
int number_of(Setting which, int otherwise, int low, int high);

/// The index in `words` of what it says; of the first if it is not set, or, told by ignore(), is none of them.
std::size_t choice_of(Setting which, std::initializer_list<std::string_view> words);

/// The words between commas in it, empty ones too; none if it is not set or empty.
std::vector<std::string> words_of(Setting which);

/// Says on standard error, once for each variable, that (a part of) its value means nothing: "CUCORE_CPU_DEVICES: 'two'
/// is " and `fault`, which also says what holds instead.
void ignore(Setting which, std::string_view value, std::string_view fault);

/// The variable's name.
const char* variable_of(Setting which) noexcept;

}  // namespace cucore::cpu::runtime
