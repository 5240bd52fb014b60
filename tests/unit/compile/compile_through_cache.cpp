// A process for program_cache_process_test: compiles a source through a cache and prints what became of it.
// clang-format off
//   compile_through_cache FOLDER LOCK_WAIT_MS SOURCE   prints "RESULT BYTES LOCK_TIMEOUTS"
//   compile_through_cache --store FOLDER               stores entries of the same keys over and over until it is killed
//   compile_through_cache --full FOLDER                compiles twice where no file can grow past 2000 bytes, as on a
//                                                      full disk; prints "RESULT RESULT FAILED_STORES FILES"
//   compile_through_cache --hold LOCK_FILE             locks the file, prints "held", and sleeps until it is killed
// clang-format on
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "src/files/files.hpp"

namespace {

[[noreturn]] void store_for_ever(const char* folder) {
  cucore::ProgramCache cache({.path = folder});
  std::puts("begun");
  std::fflush(stdout);
  for (unsigned i = 0;; ++i) {
    const std::string hex(64, static_cast<char>('0' + i % 8));
    cache.put({.hex = hex}, {.code = cucore::ObjectCode::from_cubin(std::string(1000 + i % 60000, 'x'))});
  }
}

int compile_on_a_full_disk(const char* folder) {
  const rlimit limit{2000, 2000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, SIG_IGN);
  cucore::ProgramCache cache({.path = folder});
  const cucore::Program program("extern \"C\" __global__ void f(int* x) { *x = 1; }", "c++", {.arch = "sm_90"});
  for (int i = 0; i < 2; ++i) {
    cucore::CompileReport report;
    const bool compiled = program.compile("cubin", {}, {.cache = &cache, .report = &report}).code().size() > 100;
    std::printf("%s ", compiled && report.cache == cucore::CacheResult::miss ? "miss" : "other");
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path() / "entries")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  std::printf("%d %d\n", static_cast<int>(cache.stats().store_failures), files);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--hold") {
    const auto lock = cucore::detail::FileLock::acquire(argv[2], std::chrono::seconds(10));
    std::puts(lock.held() ? "held" : "not held");
    std::fflush(stdout);
    for (;;) ::pause();
  }
  if (argc == 3 && std::string(argv[1]) == "--store") store_for_ever(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--full") return compile_on_a_full_disk(argv[2]);
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
