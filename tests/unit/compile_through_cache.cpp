// A process for program_cache_process_test: compiles a source through a cache and prints what became of it.
//   compile_through_cache FOLDER LOCK_WAIT_MS SOURCE      prints "RESULT BYTES LOCK_TIMEOUTS"
//   compile_through_cache --hold LOCK_FILE                locks the file, prints "held", and sleeps until it is killed
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "src/detail/files.hpp"

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--hold") {
    const auto lock = cucore::detail::FileLock::acquire(argv[2], std::chrono::seconds(10));
    std::puts(lock.held() ? "held" : "not held");
    std::fflush(stdout);
    for (;;) ::pause();
  }
  if (argc != 4) return 2;
  try {
    cucore::ProgramCache cache({.path = argv[1], .lock_wait = std::chrono::milliseconds(std::atoi(argv[2]))});
    cucore::CompileReport report;
    const cucore::ObjectCode code =
        cucore::Program(argv[3], "c++", {.arch = "sm_90"}).compile("cubin", {}, {.cache = &cache, .report = &report});
    const char* result = report.cache == cucore::CacheResult::hit ? "hit" : "miss";
    std::printf("%s %zu %d\n", result, code.code().size(), static_cast<int>(cache.stats().lock_timeouts));
    return 0;
  } catch (const cucore::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
