// `cucore driver-status [--list]`: how much of the driver API and of PTX the CPU device implements.
#include <cstdio>
#include <string>

#include "cli/commands.hpp"
#include "cli/cpu_device.hpp"
#include "cli/output.hpp"

namespace cucore::cli {
namespace {

std::string as_json(size_t count, const char* const* names) {
  std::vector<std::string> all;
  for (size_t i = 0; i < count; ++i) all.push_back(json_text(names[i]));
  return json_array(all);
}

void list(const char* title, size_t count, const char* const* names) {
  std::printf("%s\n", title);
  for (size_t i = 0; i < count; ++i) std::printf("  %s\n", names[i]);
}

int run_driver_status(const CLI::App& command) {
  const auto read_status = cpu_device_function<decltype(cucore_cpu_driver_status)>("cucore_cpu_driver_status");
  cucore_cpu_status status{};
  status.size = sizeof status;
  if (read_status(&status) != 0) {
    throw UnavailableError({.call = "cucore_cpu_driver_status", .message = "this is not this version's CPU device"});
  }
  if (wants_json(command)) {
    JsonObject json;
    json.raw("real", as_json(status.real_count, status.real_names))
        .raw("stubs", as_json(status.stub_count, status.stub_names))
        .raw("covered_opcodes", as_json(status.covered_opcode_count, status.covered_opcodes))
        .raw("known_opcodes", as_json(status.known_opcode_count, status.known_opcodes));
    std::printf("%s\n", json.str().c_str());
    return 0;
  }
  std::printf("driver API: %zu entries are real, %zu are stubs that answer CUDA_ERROR_NOT_SUPPORTED\n",
              status.real_count, status.stub_count);
  std::printf("PTX: %zu of %zu opcodes have a code generator\n", status.covered_opcode_count,
              status.known_opcode_count);
  if (command.count("--list") > 0) {
    list("real entries", status.real_count, status.real_names);
    list("stubs", status.stub_count, status.stub_names);
    list("covered opcodes", status.covered_opcode_count, status.covered_opcodes);
  }
  return 0;
}

}  // namespace

void add_driver_status(CLI::App& tool, int& status) {
  CLI::App& command = add_command(tool, status, "driver-status",
                                  "Count the CPU device's driver calls and PTX opcodes: real, stub", run_driver_status);
  add_flag(command, "--list", "name them");
  add_json(command);
}

}  // namespace cucore::cli
