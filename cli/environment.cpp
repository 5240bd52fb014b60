// The one place of the tool that reads the environment: see environment.hpp.
#include "cli/environment.hpp"

#include <cstdlib>

std::string cucore::cli::environment_value(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}
