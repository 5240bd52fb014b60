// The command lines of NVIDIA's compiler drivers: `--name=value`, `--name value`, `-short=value`, `-short value`,
// values joined to a short name (-O3, -Ifolder), and files with further arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::toolkit_shims {

struct OptionRule {
  enum class Takes : std::uint8_t {
    Nothing,
    Value,
    Joined,  ///< a value that may stand right behind the short name
    Values,  ///< a list with commas
  };
  std::string_view name;        ///< without dashes
  std::string_view short_name;  ///< the same, or empty
  Takes takes = Takes::Nothing;
};

struct CommandLine {
  struct Option {
    const OptionRule* rule;
    std::string value;
    std::vector<std::string> words;  ///< as it was written, to be handed on
  };
  std::vector<Option> options;
  std::vector<std::string> inputs;

  bool has(std::string_view name) const;
  /// The last one's.
  std::optional<std::string> value(std::string_view name) const;
  /// All of them, lists taken apart.
  std::vector<std::string> values(std::string_view name) const;
};

/// Fails, in words, for what no rule knows and for missing values. `file_option`: names files whose words stand for it.
Result<CommandLine> read_command_line(std::span<const std::string> words, std::span<const OptionRule> rules,
                                      std::string_view file_option);

}  // namespace cucore::cpu::toolkit_shims
