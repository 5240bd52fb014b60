// Reads command lines: see command_line.hpp.
#include "cpu/toolkit_shims/command_line.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace cucore::cpu::toolkit_shims {

namespace {

using Takes = OptionRule::Takes;

Failure wrong(std::string what) { return Failure(ErrorCode::InvalidValue, std::move(what)); }

struct Match {
  const OptionRule* rule = nullptr;
  std::optional<std::string> value;
};

/// The option that a word names, with the value that stands in it.
Match find_rule(std::string_view word, std::span<const OptionRule> rules) {
  const bool is_long = word.starts_with("--");
  const std::string_view text = word.substr(is_long ? 2 : 1);
  const std::string_view name = text.substr(0, text.find('='));
  Match match;
  for (const OptionRule& rule : rules) {
    if (name != rule.name && (is_long || name != rule.short_name)) continue;
    match.rule = &rule;
    if (name.size() < text.size()) match.value = text.substr(name.size() + 1);
    return match;
  }
  for (const OptionRule& rule : rules) {
    if (is_long || rule.takes != Takes::Joined || rule.short_name.empty() || !text.starts_with(rule.short_name))
      continue;
    match.rule = &rule;
    match.value = text.substr(rule.short_name.size());
  }
  return match;
}

std::vector<std::string> apart(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    if (end != 0) parts.emplace_back(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return parts;
}

Result<std::vector<std::string>> words_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return wrong("Options file '" + path + "' could not be opened");
  std::vector<std::string> words;
  for (std::string word; file >> word;) {
    std::erase(word, '"');
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

bool CommandLine::has(std::string_view name) const {
  return std::any_of(options.begin(), options.end(), [&](const Option& option) { return option.rule->name == name; });
}

std::optional<std::string> CommandLine::value(std::string_view name) const {
  std::optional<std::string> last;
  for (const Option& option : options)
    if (option.rule->name == name) last = option.value;
  return last;
}

std::vector<std::string> CommandLine::values(std::string_view name) const {
  std::vector<std::string> all;
  for (const Option& option : options) {
    if (option.rule->name != name) continue;
    if (option.rule->takes == Takes::Values) {
      for (std::string& part : apart(option.value)) all.push_back(std::move(part));
    } else {
      all.push_back(option.value);
    }
  }
  return all;
}

Result<CommandLine> read_command_line(std::span<const std::string> words, std::span<const OptionRule> rules,
                                      std::string_view file_option) {
  CommandLine line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      line.inputs.push_back(word);
      continue;
    }
    Match match = find_rule(word, rules);
    if (!match.rule) return wrong("Unknown option '" + word + "'");
    std::vector<std::string> written{word};
    if (match.rule->takes == Takes::Nothing && match.value) return wrong("Option '" + word + "' takes no value");
    if (match.rule->takes != Takes::Nothing && !match.value) {
      if (++i == words.size()) return wrong("argument expected after '" + word + "'");
      match.value = words[i];
      written.push_back(words[i]);
    }
    if (match.rule->name == file_option) {
      Result<std::vector<std::string>> further = words_of_file(*match.value);
      if (!further) return std::move(further).failure();
      Result<CommandLine> inner = read_command_line(*further, rules, {});
      if (!inner) return inner;
      std::move(inner->options.begin(), inner->options.end(), std::back_inserter(line.options));
      std::move(inner->inputs.begin(), inner->inputs.end(), std::back_inserter(line.inputs));
      continue;
    }
    line.options.push_back({match.rule, match.value.value_or(""), std::move(written)});
  }
  return line;
}

}  // namespace cucore::cpu::toolkit_shims
