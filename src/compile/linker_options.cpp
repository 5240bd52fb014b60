// LinkerOptions: checks that need no link, and what each option turns into, as linker_options.def says.
#include "cucore/linker.hpp"

#include <span>

#include "src/compile/linker_options.hpp"
#include "src/compile/option_faults.hpp"
#include "src/compile/option_table.hpp"
#include "src/driver/abi.hpp"

namespace cucore {
namespace {

using detail::Handling;
using detail::PlacedTexts;
using Way = Handling::Way;

struct LinkerOptionLine {
  detail::OptionLine<LinkerOptions> line;
  Handling nvjitlink, driver;
};

constexpr auto lines = [] {
  using namespace detail;
  using namespace detail::columns;
#define NAME(value, what)
#define OPTION(member, kind, check, nvjitlink, driver_column, ...) \
  LinkerOptionLine{option_line<LinkerOptions, kinds::kind, &LinkerOptions::member>(#member), nvjitlink, driver_column},
  return with_places(std::to_array<LinkerOptionLine>({
#include "cucore/detail/linker_options.def"
                     }),
                     &LinkerOptionLine::nvjitlink, &LinkerOptionLine::driver);
}();

// Does not compile if a member has no line or stands elsewhere in the struct, or a line has no member.
[[maybe_unused]] void compare(const LinkerOptions& o) {
  [[maybe_unused]] const auto& [
#define NAME(value, what) name
#define OPTION(member, ...) , member
#include "cucore/detail/linker_options.def"
  ] = o;
  [[maybe_unused]] const LinkerOptions in_order = {
#define NAME(value, what) .name = value,
#define OPTION(member, ...) .member = o.member,
#include "cucore/detail/linker_options.def"
  };
}

// What the driver is given for an option that is set.
std::optional<std::uintptr_t> jit_value(const std::optional<bool>& value, const Handling& column) {
  return value.value_or(false) ? std::optional(column.jit_value) : std::nullopt;
}
std::optional<std::uintptr_t> jit_value(const std::optional<int>& value, const Handling&) {
  return value ? std::optional(static_cast<std::uintptr_t>(*value)) : std::nullopt;
}
std::optional<std::uintptr_t> jit_value(const std::optional<std::string>& arch, const Handling&) {
  return arch ? std::optional(static_cast<std::uintptr_t>(detail::driver_target(*arch))) : std::nullopt;
}
std::optional<std::uintptr_t> jit_value(const std::vector<std::string>&, const Handling&) { return std::nullopt; }

}  // namespace

void validate(const LinkerOptions& o) {
  detail::OptionFaults faults("LinkerOptions");
#define NAME(value, what) faults.text("name", std::string_view(o.name));
#define OPTION(member, kind, check, ...) detail::OptionJudge{faults, #member, o.member}.check;
#include "cucore/detail/linker_options.def"
  if (o.incremental.value_or(false) && o.ptx.value_or(false)) {
    faults.add("incremental", "true", "gives a cubin, so ptx must not be set");
  }
  faults.throw_if_any();
}

std::vector<std::string> nvjitlink_flags(const LinkerOptions& o) {
  PlacedTexts flags;
  for (const LinkerOptionLine& option : lines) option.line.add_flags(flags, option.nvjitlink, o);
  return flags.take();
}

std::vector<std::string> ignored_options(const LinkerOptions& o, LinkerBackend backend) {
  std::vector<std::string> names;
  for (const LinkerOptionLine& option : lines) {
    const Handling& column = backend == LinkerBackend::driver ? option.driver : option.nvjitlink;
    const bool is_ignored = (column.way == Way::ignored && option.line.is_used(o)) ||
                            (column.way == Way::ignored_if_set && option.line.use(o) != detail::Use::unset);
    if (is_ignored) names.emplace_back(option.line.name);
  }
  return names;
}

std::vector<std::string> detail::refused_by_driver(const LinkerOptions& o) {
  PlacedTexts names;
  for (const LinkerOptionLine& option : lines) option.line.add_refusal(names, option.driver, o);
  return names.take();
}

std::vector<detail::JitOption> detail::driver_options(const LinkerOptions& o) {
  using namespace columns;
  std::vector<detail::JitOption> list;
  const auto add = [&list](const Handling& column, const auto& option) {
    if (column.way != Way::jit) return;
    if (const auto value = jit_value(option, column)) list.emplace_back(column.jit_option, *value);
  };
#define NAME(value, what)
#define OPTION(member, kind, check, nvjitlink, driver_column, ...) add(driver_column, o.member);
#include "cucore/detail/linker_options.def"
  return list;
}

}  // namespace cucore
