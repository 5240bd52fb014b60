// `cucore`: the command-line tool. Finds the command, runs it, turns errors into a sentence and an exit status.
#include <array>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"

namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(cucore::cli::Arguments);
};

constexpr std::array commands{
    Command{"devices", "list the devices and the driver in use", cucore::cli::devices},
    Command{"doctor", "say what of driver, NVRTC, nvJitLink and headers was found, and what to do about the rest",
            cucore::cli::doctor},
    Command{"driver-path", "print the folder whose libcuda.so.1 is the CPU device", cucore::cli::driver_path},
    Command{"driver-status", "count the CPU device's driver calls and PTX opcodes: real, stub (--list names them)",
            cucore::cli::driver_status},
    Command{"dump", "say how exact the CPU device runs a file's kernels, or print their PTX, LLVM IR or assembly",
            cucore::cli::dump},
    Command{"version", "print cucore's version", cucore::cli::version},
};

int usage(std::FILE* out) {
  std::fputs("usage: cucore COMMAND [ARGUMENT...]\n\n", out);
  for (const Command& command : commands) {
    std::fprintf(out, "  %-15.*s %.*s\n", static_cast<int>(command.name.size()), command.name.data(),
                 static_cast<int>(command.summary.size()), command.summary.data());
  }
  std::fputs("\nCUCORE_DEVICE=auto|gpu|cpu chooses the driver.\n", out);
  return out == stdout ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.empty()) return usage(stderr);
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") return usage(stdout);
  const std::string_view wanted = words[0] == "--version" ? "version" : words[0];
  for (const Command& command : commands) {
    if (command.name != wanted) continue;
    try {
      return command.run(cucore::cli::Arguments(words).subspan(1));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cucore %s: %s\n", argv[1], error.what());
      return 1;
    }
  }
  std::fprintf(stderr, "cucore: there is no command '%s'\n\n", argv[1]);
  return usage(stderr);
}
