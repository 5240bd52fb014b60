// Judging single options, and the error that tells all their faults.
#include "src/compile/option_faults.hpp"

#include <algorithm>

#include "cucore/error.hpp"

namespace cucore::detail {

bool is_architecture(std::string_view text) noexcept {
  for (std::string_view prefix : {"sm_", "compute_"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    return (text.size() == 2 || text.size() == 3) &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  }
  return false;
}

std::string in_quotes(std::string_view text) {
  const std::size_t nul = text.find('\0');
  return "'" + std::string(text.substr(0, nul)) + (nul == std::string_view::npos ? "'" : "\\0...'");
}

void OptionFaults::add(std::string_view option, std::string_view value, std::string_view why) {
  add(std::string(option) + "=" + std::string(value) + ": " + std::string(why));
}

void OptionFaults::add(std::string_view fault) { text_ += (text_.empty() ? "" : "; ") + std::string(fault); }

void OptionFaults::architecture(const std::string& value) {
  if (is_architecture(value)) return;
  add("arch", in_quotes(value), "use sm_NN or compute_NN, perhaps with a or f at the end, e.g. sm_90 or sm_90a");
}

void OptionFaults::number(const char* option, std::optional<int> value, int least, int most) {
  if (!value || (*value >= least && *value <= most)) return;
  const bool bounded = most != std::numeric_limits<int>::max();
  add(option, std::to_string(*value),
      "must be " + std::to_string(least) + (bounded ? " to " + std::to_string(most) : " or more"));
}

void OptionFaults::text(const char* option, std::string_view value) {
  if (value.find('\0') != std::string_view::npos) add(option, in_quotes(value), "must not contain a NUL character");
}

void OptionFaults::text(const char* option, const std::optional<std::string>& value) {
  if (value) text(option, std::string_view(*value));
}

void OptionFaults::texts(const char* option, const std::vector<std::string>& values) {
  for (const std::string& value : values) text(option, std::string_view(value));
}

void OptionFaults::words(const char* option, const std::vector<std::string>& values) {
  texts(option, values);
  for (const std::string& value : values) {
    if (value.empty()) add(option, in_quotes(value), "must not be empty");
  }
}

void OptionFaults::path(const char* option, const std::optional<std::string>& value) {
  text(option, value);
  if (value && value->empty()) add(option, in_quotes(*value), "must name a file or folder");
}

void OptionFaults::one_of(const char* option, const std::optional<std::string>& value,
                          std::initializer_list<std::string_view> choices) {
  if (!value || std::ranges::find(choices, *value) != choices.end()) return;
  std::string why = "use one of";
  for (std::string_view choice : choices) why += " " + std::string(choice);
  add(option, in_quotes(*value), why);
}

void OptionFaults::throw_if_any(const std::string& unsupported) const {
  if (!unsupported.empty()) {
    throw UnsupportedOptionError({.call = owner_,
                                  .message = text_ + (text_.empty() ? "" : "; ") + unsupported,
                                  .hint = "correct or leave out these options"});
  }
  if (text_.empty()) return;
  throw ValueError({.call = owner_, .message = text_, .hint = "correct these options"});
}

}  // namespace cucore::detail
