// `cucore`: the command-line tool. Lists the commands, lets CLI11 parse, turns errors into a sentence and an exit
// status.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cucore/version.hpp"

namespace cucore::cli {

CLI::App& add_command(CLI::App& tool, int& status, const std::string& name, const std::string& summary, Run run) {
  CLI::App* const command = tool.add_subcommand(name, summary);
  command->callback([&status, command, run] { status = run(*command); });
  return *command;
}

CLI::Option* add_flag(CLI::App& command, const std::string& names, const std::string& meaning) {
  return command.add_flag(names)->description(meaning);
}

CLI::Option* add_value(CLI::App& command, const std::string& names, const std::string& meaning) {
  return command.add_option(names)->description(meaning);
}

void add_json(CLI::App& command) { add_flag(command, "--json", "print the facts as JSON"); }

}  // namespace cucore::cli

namespace {

/// In how many letters two words differ: how many must be put in, left out or replaced.
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t before = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = before + (from[i - 1] == to[j - 1] ? 0 : 1);
      before = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

/// All words that `command` knows: commands, or options if the word begins like one.
std::string suggestion(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known;
  if (word.starts_with('-')) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  } else {
    for (const CLI::App* each : command.get_subcommands({})) known.push_back(each->get_name());
  }
  std::string best;
  if (word.empty()) return best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& each : known) {
    if (const std::size_t far = distance(word, each); far < least) {
      least = far;
      best = each;
    }
  }
  return best;
}

const CLI::App& innermost(const CLI::App& tool) {
  const CLI::App* command = &tool;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : full_name(*command.get_parent()) + " " + command.get_name();
}

int wrong_usage(const CLI::App& tool, const std::string& message, const std::string& word) {
  const CLI::App& command = innermost(tool);
  std::fprintf(stderr, "%s: %s\n", full_name(command).c_str(), cucore::cli::coloured(stderr, "31", message).c_str());
  if (const std::string best = suggestion(command, word); !best.empty()) {
    std::fprintf(stderr, "did you mean '%s'?\n", best.c_str());
  }
  std::fprintf(stderr, "'%s --help' lists what there is\n", full_name(command).c_str());
  return 2;
}

/// What CLI11 could not make anything of: the first of the words after the last ": " of its sentence.
std::string unexpected_word(const CLI::ExtrasError& error) {
  const std::string text = error.what();
  const std::size_t colon = text.rfind(": ");
  const std::string words = colon == std::string::npos ? text : text.substr(colon + 2);
  return words.substr(0, words.find(' '));
}

int run(int argc, char** argv) {
  int status = 0;
  CLI::App tool("Compile, load, launch and time CUDA kernels, on a GPU or with none.", "cucore");
  tool.set_version_flag("--version", CUCORE_VERSION_STRING);
  tool.footer("CUCORE_DEVICE=auto|gpu|cpu chooses the driver.\n'cucore COMMAND --help' tells more of one.");
  using namespace cucore::cli;
  for (const auto add : {add_run, add_devices, add_doctor, add_compile, add_inspect, add_cache, add_trace,
                         add_driver_path, add_driver_status, add_completion, add_version}) {
    add(tool, status);
  }
  if (argc < 2) {
    std::fputs(tool.help().c_str(), stderr);
    return 2;
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.front() == "help") {
    words.front() = "--help";
    if (words.size() > 1) std::swap(words[0], words[1]);
  }
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    tool.parse(words);
  } catch (const CLI::ExtrasError& error) {
    const std::string word = unexpected_word(error);
    const bool is_option = word.starts_with('-');
    const bool has_commands = !innermost(tool).get_subcommands({}).empty();
    const char* const kind = is_option ? "option" : has_commands ? "command" : "argument";
    return wrong_usage(tool, "there is no " + std::string(kind) + " '" + word + "'", word);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return tool.exit(error);  // --help, --version
    return wrong_usage(tool, error.what(), {});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", full_name(innermost(tool)).c_str(), error.what());
    return 1;
  }
  if (!innermost(tool).get_subcommands({}).empty()) return wrong_usage(tool, "a command is missing", {});
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cucore: %s\n", error.what());
    return 1;
  }
}
