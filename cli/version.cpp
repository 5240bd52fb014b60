// `cucore version`.
#include <cstdio>

#include "cli/commands.hpp"
#include "cucore/version.hpp"

int cucore::cli::version(Arguments) {
  std::printf("%s\n", CUCORE_VERSION_STRING);
  return 0;
}
