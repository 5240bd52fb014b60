// `cucore completion bash|zsh|fish`: a script that makes a shell complete commands and options, made from the table.
#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace cucore::cli {
namespace {

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string words(const CLI::App& command) {
  std::string text;
  for (const CLI::App* each : command.get_subcommands({})) text += each->get_name() + " ";
  for (const std::string& option : options_of(command)) text += option + " ";
  return text;
}

/// A case of bash for each command: what may follow it.
std::string cases(const CLI::App& command, const std::string& name) {
  std::string text = "    '" + name + "') words='" + words(command) + "' ;;\n";
  for (const CLI::App* each : command.get_subcommands({})) {
    text += cases(*each, name.empty() ? each->get_name() : name + " " + each->get_name());
  }
  return text;
}

/// Of the words before the cursor those that are no options name the command; then come options of it and files.
std::string bash(const CLI::App& tool) {
  return R"(_cucore() {
  local command='' each words='' current=${COMP_WORDS[COMP_CWORD]}
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $each in
      -*) ;;
      run) command=run; break ;;
      *) command="${command:+$command }$each" ;;
    esac
  done
  case $command in
)" + cases(tool, "") +
         R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o filenames -F _cucore cucore
)";
}

std::string zsh(const CLI::App& tool) {
  return "#compdef cucore\nautoload -U +X bashcompinit && bashcompinit\n" + bash(tool);
}

std::string escaped(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return "'" + quoted + "'";
}

void add_fish(const CLI::App& command, const std::string& condition, std::string& text) {
  const std::string begin = "complete -c cucore -n " + escaped(condition);
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      text += begin + " -l " + name + " -d " + escaped(option->get_description()) + "\n";
    }
  }
  std::string names;
  for (const CLI::App* each : command.get_subcommands({})) names += " " + each->get_name();
  for (const CLI::App* each : command.get_subcommands({})) {
    const bool is_first = command.get_parent() == nullptr;
    text += "complete -c cucore -n " +
            escaped(is_first ? "__fish_use_subcommand" : condition + "; and not __fish_seen_subcommand_from" + names) +
            " -f -a " + each->get_name() + " -d " + escaped(each->get_description()) + "\n";
    const std::string here = "__fish_seen_subcommand_from " + each->get_name();
    add_fish(*each, is_first ? here : condition + "; and " + here, text);
  }
}

std::string fish(const CLI::App& tool) {
  std::string text;
  add_fish(tool, "__fish_use_subcommand", text);
  return text;
}

int run_completion(const CLI::App& command) {
  const CLI::App& tool = *command.get_parent();
  const auto shell = value_of<std::string>(command, "SHELL");
  std::fputs((shell == "bash" ? bash(tool) : shell == "zsh" ? zsh(tool) : fish(tool)).c_str(), stdout);
  return 0;
}

}  // namespace

void add_completion(CLI::App& tool, int& status) {
  CLI::App& command =
      add_command(tool, status, "completion", "Print a script that completes commands and options", run_completion);
  add_value(command, "SHELL", "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.footer(
      "bash: source <(cucore completion bash)\nzsh:  source <(cucore completion zsh), after compinit\n"
      "fish: cucore completion fish | source");
}

}  // namespace cucore::cli
