// The commands of the `cucore` tool: each file adds one to the table that CLI11 parses by, and runs it. main.cpp lists
// them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cucore/driver.hpp"

namespace cucore::cli {

/// What a command does with what was parsed. Returns 0 for success, 1 for failure, 2 for wrong usage; throws
/// cucore::Error for other errors.
using Run = int (*)(const CLI::App& command);

/// Adds the command `name` to `tool`; `status` becomes what `run` returns when the command line names it.
CLI::App& add_command(CLI::App& tool, int& status, const std::string& name, const std::string& summary, Run run);

/// A flag, and an option or argument with a value: what CLI11's functions of this kind cannot tell from others.
CLI::Option* add_flag(CLI::App& command, const std::string& names, const std::string& meaning);
CLI::Option* add_value(CLI::App& command, const std::string& names, const std::string& meaning);

/// "--json", for commands that print facts.
void add_json(CLI::App& command);
inline bool wants_json(const CLI::App& command) { return command.count("--json") > 0; }

/// An option's value; `otherwise` if it was not given.
template <class T>
T value_of(const CLI::App& command, const char* option, const T& otherwise = {}) {
  return command.count(option) > 0 ? command.get_option(option)->as<T>() : otherwise;
}

/// What is known of the driver, for --json.
std::string driver_as_json(const DriverInfo& driver);

void add_cache(CLI::App& tool, int& status);
void add_compile(CLI::App& tool, int& status);
void add_completion(CLI::App& tool, int& status);
void add_devices(CLI::App& tool, int& status);
void add_doctor(CLI::App& tool, int& status);
void add_driver_path(CLI::App& tool, int& status);
void add_driver_status(CLI::App& tool, int& status);
void add_inspect(CLI::App& tool, int& status);
void add_run(CLI::App& tool, int& status);
void add_trace(CLI::App& tool, int& status);
void add_version(CLI::App& tool, int& status);

}  // namespace cucore::cli
