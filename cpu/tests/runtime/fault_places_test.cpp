// Where reports say that a kernel failed: the PTX line, in every form of the code, compiled or from the cache on disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>

#include "cpu/tests/api/own_folder.hpp"

namespace {

using Case = std::tuple<const char*, const char*>;  ///< form, kernel

class FaultPlaces : public cucore::cpu::OwnFolder, public ::testing::WithParamInterface<Case> {
 protected:
  /// What a new process says that launches the kernel, which fails.
  std::string report(const std::string& file, const std::string& kernel, const std::string& grid) const {
    const std::string command = "env CUCORE_CPU_CACHE=" + folder.string() +
                                " CUCORE_CPU_FORM=" + std::get<0>(GetParam()) + " " CUCORE_TEST_PROGRAM " " + file +
                                " " + kernel + " " + grid + " 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string printed;
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), pipe.get())) printed += buffer.data();
    return printed;
  }

  /// Whether the report names the line that is marked. In the scalar form LLVM may make a load of its own again of one
  /// that it had put into the instruction that computes: that has no line, so the report names the one behind it.
  static bool names_the_line(const std::string& said, const std::string& text, const std::string& kernel) {
    const std::size_t mark = text.find("// " + kernel + " FAILS");
    if (mark == std::string::npos) return false;
    const auto before = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n');
    if (said.find(" at PTX line " + std::to_string(before + 1) + ": ") != std::string::npos) return true;
    return std::string(std::get<0>(GetParam())) == "scalar" &&
           said.find(" just before the code for PTX line " + std::to_string(before + 2) + ": ") != std::string::npos;
  }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(FaultPlaces, reports_name_the_line) {
  const std::string kernel = std::get<1>(GetParam());
  const std::string file = CUCORE_TEST_DATA "/runtime/faulting_kernels.ptx";
  for (const char* const source : {"compiled 1 loaded 0", "compiled 0 loaded 1"}) {
    const std::string said = report(file, kernel, "2x256");
    EXPECT_NE(said.find("kernel " + kernel + ", block ("), std::string::npos) << said;
    EXPECT_TRUE(names_the_line(said, text_of(file), kernel)) << said;
    EXPECT_NE(said.find(source), std::string::npos) << said;
  }
}

/// The object code is that of the other module, in which the lines were others.
TEST_P(FaultPlaces, code_from_disk_has_the_lines_of_the_module_that_uses_it) {
  const std::string kernel = std::get<1>(GetParam());
  const std::string file = CUCORE_TEST_DATA "/runtime/faulting_kernels.ptx";
  report(file, kernel, "2x256");
  const std::string moved = "\n\n\n" + text_of(file);
  std::ofstream(root / "moved.ptx") << moved;
  const std::string said = report((root / "moved.ptx").string(), kernel, "2x256");
  EXPECT_TRUE(names_the_line(said, moved, kernel)) << said;
  EXPECT_NE(said.find("compiled 0 loaded 1"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, FaultPlaces,
    ::testing::Combine(::testing::Values("scalar", "vector", "masked"),
                       ::testing::Values("loads_of_neighbours", "load_of_all_threads", "loads_from_scattered_places",
                                         "stores_to_neighbours", "store_of_one_thread", "stores_of_a_parted_side",
                                         "atomic_of_all_threads", "atomics_of_scattered_places", "loop_beyond_the_end",
                                         "store_in_a_function", "store_behind_a_barrier", "trap_of_one_thread",
                                         "load_that_an_addition_takes", "load_behind_another")),
    [](const auto& named) { return std::string(std::get<0>(named.param)) + "_" + std::get<1>(named.param); });

}  // namespace
