// The words in which program_options.def and linker_options.def are written: the kinds of values, and what a back end
// does with an option. A table made of them is plain data; what is judged, sent or refused is read from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cucore::detail {

/// What an option is set to.
enum class Use { unset, off, on, value };

using PathOrTrue = std::optional<std::variant<bool, std::string>>;
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The C++ type of an option, and whether its `false` says something or is as unset.
template <class T, bool off_is_said = true>
struct OptionKind {
  using Type = T;
  static constexpr bool is_off_said = off_is_said;
};

namespace kinds {
struct toggle : OptionKind<std::optional<bool>, false> {};
struct boolean : OptionKind<std::optional<bool>> {};
struct number : OptionKind<std::optional<int>> {};
struct numbers : OptionKind<std::vector<int>> {};
struct text : OptionKind<std::optional<std::string>> {};
struct texts : OptionKind<std::vector<std::string>> {};
struct path : text {};
struct paths : texts {};
struct path_or_true : OptionKind<PathOrTrue> {};
struct macros : texts {};
struct architecture : text {};
struct architectures : texts {};
struct modules : OptionKind<NamedTexts> {};
struct headers : OptionKind<NamedTexts> {};
}  // namespace kinds

/// What a back end, or the key of a compile, does with an option: an entry in that one's column of the .def.
struct Handling {
  enum class Way {
    nothing,               ///< taken, and no flag sent
    flag,                  ///< a toggle: the flag; else flag=value, for each value
    glued,                 ///< flag and value without `=`
    digit,                 ///< flag=1 or flag=0
    level,                 ///< flag=3 or flag=0
    virtual_architecture,  ///< flag=compute_NN, also for sm_NN
    text_only,             ///< flag=value; nothing where it is true
    refused,               ///< refused if set; the error names `text`, if there is one, instead of the option
    refused_unless_off,    ///< and false is taken though it says something
    refused_if_set,        ///< and false is refused though it is as unset
    ignored,               ///< the link is made without it, and the log says so
    ignored_if_set,        ///< and false is told too
    jit,                   ///< an option of the driver's JIT
    not_cached,            ///< there is no key where it is used
  };
  Way way = Way::nothing;
  const char* flag = "";
  const char* text = "";
  const char* behind = nullptr;  ///< the option whose place it has, just behind that; else its own
  int jit_option = 0;
  std::uintptr_t jit_value = 1;  ///< of a toggle
  std::size_t place = 0;         ///< among all flags or names of this column; see with_places()

  [[nodiscard]] constexpr Handling after(const char* member) const {
    Handling moved = *this;
    moved.behind = member;
    return moved;
  }
};

namespace columns {
using Way = Handling::Way;
constexpr Handling nothing() { return {}; }
constexpr Handling flag(const char* flag) { return {.way = Way::flag, .flag = flag}; }
constexpr Handling glued(const char* flag) { return {.way = Way::glued, .flag = flag}; }
constexpr Handling digit(const char* flag) { return {.way = Way::digit, .flag = flag}; }
constexpr Handling level(const char* flag) { return {.way = Way::level, .flag = flag}; }
constexpr Handling virtual_architecture(const char* flag) { return {.way = Way::virtual_architecture, .flag = flag}; }
constexpr Handling text_only(const char* flag) { return {.way = Way::text_only, .flag = flag}; }
constexpr Handling refused(const char* told = "") { return {.way = Way::refused, .text = told}; }
constexpr Handling refused_unless_off() { return {.way = Way::refused_unless_off}; }
constexpr Handling refused_if_set() { return {.way = Way::refused_if_set}; }
constexpr Handling ignored() { return {.way = Way::ignored}; }
constexpr Handling ignored_if_set() { return {.way = Way::ignored_if_set}; }
constexpr Handling jit(int option, std::uintptr_t value = 1) {
  return {.way = Way::jit, .jit_option = option, .jit_value = value};
}
constexpr Handling in_flags() { return {}; }
constexpr Handling in_part() { return {}; }
constexpr Handling not_cached() { return {.way = Way::not_cached}; }
}  // namespace columns

/// The first version of NVRTC that has an option.
struct FirstVersion {
  int major = 0;
  int minor = 0;
};
constexpr FirstVersion always{};
constexpr FirstVersion since(int major, int minor) { return {major, minor}; }

// What a value says, and how it stands in a flag.
inline Use use_of(const std::optional<bool>& value) { return !value ? Use::unset : *value ? Use::on : Use::off; }
inline Use use_of(const PathOrTrue& value) {
  if (!value) return Use::unset;
  const bool* truth = std::get_if<bool>(&*value);
  return truth == nullptr ? Use::value : *truth ? Use::on : Use::off;
}
template <class T>
Use use_of(const std::optional<T>& value) {
  return value ? Use::value : Use::unset;
}
template <class T>
Use use_of(const std::vector<T>& values) {
  return values.empty() ? Use::unset : Use::value;
}

inline std::vector<std::string> in_flag(const std::optional<bool>& value) { return {*value ? "true" : "false"}; }
inline std::vector<std::string> in_flag(const std::optional<int>& value) { return {std::to_string(*value)}; }
inline std::vector<std::string> in_flag(const std::optional<std::string>& value) { return {*value}; }
inline std::vector<std::string> in_flag(const std::vector<std::string>& values) { return values; }
inline std::vector<std::string> in_flag(const PathOrTrue& value) { return {std::get<std::string>(*value)}; }
inline std::vector<std::string> in_flag(const NamedTexts&) { return {}; }
inline std::vector<std::string> in_flag(const std::vector<int>& values) {
  std::vector<std::string> texts;
  for (const int value : values) texts.push_back(std::to_string(value));
  return texts;
}

/// Flags, or names of options, in the order of their places whatever the order in which they come.
class PlacedTexts {
 public:
  void add(const Handling& column, std::string text) {
    const auto comes_before = [](std::size_t place, const auto& other) { return place < other.first; };
    const auto at = std::upper_bound(texts_.begin(), texts_.end(), column.place, comes_before);
    texts_.emplace(at, column.place, std::move(text));
  }
  std::vector<std::string> take() {
    std::vector<std::string> result;
    result.reserve(texts_.size());
    for (auto& [place, text] : texts_) result.push_back(std::move(text));
    return result;
  }

 private:
  std::vector<std::pair<std::size_t, std::string>> texts_;  // those of one place in the order in which they came
};

/// What a line of either table has.
template <class Options>
struct OptionLine {
  const char* name;
  bool off_is_said;
  Use (*use)(const Options&);
  std::vector<std::string> (*values)(const Options&);  ///< where use() is not unset

  bool is_used(const Options& o) const {
    const Use said = use(o);
    return said == Use::on || said == Use::value || (said == Use::off && off_is_said);
  }

  /// The flags of `column`, where this option is used: most are not.
  void add_flags(PlacedTexts& flags, const Handling& column, const Options& o) const {
    if (const Use said = use(o); said != Use::unset) add_said_flags(flags, column, o, said);
  }

  [[gnu::noinline]] void add_said_flags(PlacedTexts& flags, const Handling& column, const Options& o, Use said) const {
    const std::string flag = column.flag;
    switch (column.way) {
      case Handling::Way::flag:
        if (!off_is_said) {
          if (said == Use::on) flags.add(column, flag);
          return;
        }
        [[fallthrough]];
      case Handling::Way::glued:
        for (const std::string& value : values(o)) {
          flags.add(column, flag + (column.way == Handling::Way::glued ? "" : "=") + value);
        }
        return;
      case Handling::Way::digit:
        return flags.add(column, flag + (said == Use::on ? "=1" : "=0"));
      case Handling::Way::level:
        return flags.add(column, flag + (said == Use::on ? "=3" : "=0"));
      case Handling::Way::virtual_architecture: {
        const std::string arch = values(o).front();
        return flags.add(column, flag + "=" + (arch.starts_with("sm_") ? "compute_" + arch.substr(3) : arch));
      }
      case Handling::Way::text_only:
        if (said == Use::value) flags.add(column, flag + "=" + values(o).front());
        return;
      default:
        return;
    }
  }

  /// Its name, where `column` refuses what it is set to.
  void add_refusal(PlacedTexts& names, const Handling& column, const Options& o) const {
    const Use said = use(o);
    switch (column.way) {
      case Handling::Way::refused:
        if (is_used(o)) names.add(column, *column.text == '\0' ? name : column.text);
        return;
      case Handling::Way::refused_unless_off:
        if (said == Use::on || said == Use::value) names.add(column, name);
        return;
      case Handling::Way::refused_if_set:
        if (said != Use::unset) names.add(column, name);
        return;
      default:
        return;
    }
  }
};

/// The fields that every line has.
template <class Options, class Kind, auto member>
constexpr OptionLine<Options> option_line(const char* name) {
  static_assert(std::is_same_v<typename Kind::Type Options::*, decltype(member)>, "the kind in the table is another");
  return {.name = name,
          .off_is_said = Kind::is_off_said,
          .use = [](const Options& o) { return use_of(o.*member); },
          .values = [](const Options& o) { return in_flag(o.*member); }};
}

/// The table with the places of these columns filled in: the order of the lines, but for what is `after` another.
template <class Line, std::size_t count, class... Columns>
consteval std::array<Line, count> with_places(std::array<Line, count> lines, Columns Line::*... columns) {
  const auto place = [&lines](const Handling& column, std::size_t own) {
    if (column.behind == nullptr) return 2 * own;
    std::size_t at = 0;
    while (std::string_view(lines[at].line.name) != column.behind) ++at;  // past the end: does not compile
    return 2 * at + 1;
  };
  for (std::size_t i = 0; i < count; ++i) {
    (..., ((lines[i].*columns).place = place(lines[i].*columns, i)));
  }
  return lines;
}

}  // namespace cucore::detail
