// program_options.def, expanded to the table, to the options of a linker, and compared with the struct.
#include "src/compile/program_option_table.hpp"

namespace cucore::detail {
namespace {

// The option of a Linker that an option becomes where the source is PTX.
template <class T>
struct LinkedAs {
  T LinkerOptions::* member;
  Handling column;
  constexpr operator Handling() const { return column; }  // NOLINT(google-explicit-constructor): as the other columns
  [[nodiscard]] constexpr LinkedAs after(const char* name) const { return {member, column.after(name)}; }
};

template <class T>
constexpr LinkedAs<T> linked_as(T LinkerOptions::* member) {
  return {member, {}};
}

constexpr auto lines = [] {
  using namespace columns;
#define NAME(value, what)
#define OPTION(member, kind, check, nvrtc, linker, nvvm, since, key, what) \
  ProgramOptionLine{                                                       \
      option_line<ProgramOptions, kinds::kind, &ProgramOptions::member>(#member), nvrtc, linker, nvvm, since, key},
  return with_places(std::to_array<ProgramOptionLine>({
#include "cucore/detail/program_options.def"
                     }),
                     &ProgramOptionLine::nvrtc, &ProgramOptionLine::linker, &ProgramOptionLine::nvvm,
                     &ProgramOptionLine::key);
}();

// Does not compile if a member has no line or stands elsewhere in the struct, or a line has no member.
[[maybe_unused]] void compare(const ProgramOptions& o) {
  [[maybe_unused]] const auto& [
#define NAME(value, what) name
#define OPTION(member, ...) , member
#include "cucore/detail/program_options.def"
  ] = o;
  [[maybe_unused]] const ProgramOptions in_order = {
#define NAME(value, what) .name = value,
#define OPTION(member, ...) .member = o.member,
#include "cucore/detail/program_options.def"
  };
}

template <class T>
void become(T& option, const T& value) {
  option = value;
}
void become(std::optional<bool>& option, const PathOrTrue& value) {
  if (use_of(value) == Use::on || use_of(value) == Use::value) option = true;
}
void become(std::optional<int>& level, const std::optional<bool>& optimize) {
  if (optimize.value_or(false)) level = 3;
}
template <class T, class Value>
void link(LinkerOptions& linker, const LinkedAs<T>& column, const Value& value) {
  become(linker.*column.member, value);
}
template <class Value>
void link(LinkerOptions&, const Handling&, const Value&) {}

}  // namespace

std::span<const ProgramOptionLine> program_option_lines() { return lines; }

LinkerOptions linker_options(const ProgramOptions& o) {
  using namespace columns;
  LinkerOptions result;
#define NAME(value, what) result.name = o.name;
#define OPTION(member, kind, check, nvrtc, linker, ...) link(result, linker, o.member);
#include "cucore/detail/program_options.def"
  return result;
}

}  // namespace cucore::detail
