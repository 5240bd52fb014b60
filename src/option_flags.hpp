// The flags of a compiler or linker, put together option by option.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cucore::detail {

/// An option that is on, off or unset, and then left to whoever reads the flags.
using OptionalFlag = std::optional<bool>;

/// Flags in the order in which they are added. Options that are unset add none.
class OptionFlags {
 public:
  void add(std::string flag) { flags_.push_back(std::move(flag)); }
  // Sent if true; false and unset are the same.
  void if_true(const char* flag, const OptionalFlag& option) {
    if (option.value_or(false)) add(flag);
  }
  void if_set(const char* flag, const OptionalFlag& option) {
    if (option) add(std::string(flag) + (*option ? "=true" : "=false"));
  }
  void if_set(const char* flag, const std::optional<std::string>& option) {
    if (option) add(std::string(flag) + "=" + *option);
  }
  void if_set(const char* flag, const std::optional<int>& option) {
    if (option) add(std::string(flag) + "=" + std::to_string(*option));
  }
  void each(const char* flag, const std::vector<std::string>& options) {
    for (const std::string& option : options) add(std::string(flag) + "=" + option);
  }
  void each(const char* flag, const std::vector<int>& options) {
    for (int option : options) add(std::string(flag) + "=" + std::to_string(option));
  }
  void as_digit(const char* flag, const OptionalFlag& option) {
    if (option) add(std::string(flag) + (*option ? "=1" : "=0"));
  }
  std::vector<std::string> take() { return std::move(flags_); }

 private:
  std::vector<std::string> flags_;
};

}  // namespace cucore::detail
