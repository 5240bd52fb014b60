// What is wrong with the options of a compile or a link: all of it, to be told in one error.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

/// Whether this is sm_ or compute_ with a number of two or three digits, and perhaps a or f.
bool is_architecture(std::string_view text) noexcept;

/// Options are judged one by one; an option that is unset has no fault.
class OptionFaults {
 public:
  /// `owner` names what the options are of, e.g. "ProgramOptions"; it must outlive the object.
  explicit OptionFaults(const char* owner) : owner_(owner) {}

  /// `value` as it is to be read: texts in quotes. `why` completes the sentence, e.g. "must be 0 or more".
  void add(std::string_view option, std::string_view value, std::string_view why);
  /// A fault of several options together, in words.
  void add(std::string_view fault);

  void architecture(const std::string& value);
  void number(const char* option, std::optional<int> value, int least, int most = std::numeric_limits<int>::max());
  /// Text that goes to a C interface.
  void text(const char* option, std::string_view value);
  void text(const char* option, const std::optional<std::string>& value);
  void texts(const char* option, const std::vector<std::string>& values);
  /// As texts(), none of them empty.
  void words(const char* option, const std::vector<std::string>& values);
  void path(const char* option, const std::optional<std::string>& value);
  void one_of(const char* option, const std::optional<std::string>& value,
              std::initializer_list<std::string_view> choices);

  /// Throws ValueError with all faults. Where `unsupported` says what else there is that the back end does not have,
  /// UnsupportedOptionError with that too.
  void throw_if_any(const std::string& unsupported = {}) const;

 private:
  const char* owner_;
  std::string text_ = {};
};

/// One option and its judgement, in the words of the check column of program_options.def and linker_options.def.
template <class T>
struct OptionJudge {
  OptionFaults& faults;
  const char* option;
  const T& value;

  void any() const {}
  void at_least(int least) const { faults.number(option, value, least); }
  void each_at_least(int least) const {
    for (const int number : value) faults.number(option, number, least);
  }
  void between(int least, int most) const { faults.number(option, value, least, most); }
  void text() const { faults.text(option, value); }
  void words() const { faults.words(option, value); }
  void path() const { faults.path(option, value); }
  void one_of(std::initializer_list<std::string_view> choices) const { faults.one_of(option, value, choices); }
  void architecture() const {
    if (value) faults.architecture(*value);
  }
};
template <class T>
OptionJudge(OptionFaults&, const char*, const T&) -> OptionJudge<T>;

/// `text` in quotes, as it is shown in a fault; what is behind a NUL is left out.
std::string in_quotes(std::string_view text);

}  // namespace cucore::detail
