// Compiled kernels on disk, between processes: each test starts programs with a folder of its own.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/api/own_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// A command that has begun; what it prints, when it has ended.
class Command {
 public:
  explicit Command(const std::string& text) : pipe_(popen(text.c_str(), "r")) {}

  std::string output() {
    std::string printed;
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), pipe_.get())) printed += buffer.data();
    return printed;
  }

 private:
  struct Close {
    void operator()(FILE* pipe) const { pclose(pipe); }
  };
  std::unique_ptr<FILE, Close> pipe_;
};

class KernelsOnDisk : public cucore::cpu::OwnFolder {
 protected:
  /// Launches in a new process. `environment`: what `env` takes.
  Command start(const std::string& kernel, const std::string& environment) const {
    return Command("env -u XDG_CACHE_HOME -u CUCORE_CPU_FORM " + environment +
                   " " CUCORE_TEST_PROGRAM " " CUCORE_TEST_DATA "/api/kernels.ptx " + kernel + " 2>/dev/null");
  }
  std::string launch(const std::string& kernel, const std::string& environment) const {
    return start(kernel, environment).output();
  }
  std::string launch(const std::string& kernel) const { return launch(kernel, in_folder()); }
  std::string in_folder() const { return "CUCORE_CPU_CACHE=" + folder.string(); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(folder)) {
      for (const auto& item : fs::directory_iterator(folder)) found.push_back(item.path());
    }
    return found;
  }
};

constexpr const char* compiled = "sum 4 compiled 1 loaded 0 compiler in memory\n";
constexpr const char* loaded = "sum 4 compiled 0 loaded 1 compiler absent\n";

TEST_F(KernelsOnDisk, a_second_process_compiles_nothing) {
  EXPECT_EQ(launch("count_up"), compiled);
  EXPECT_EQ(files().size(), 1U);
  EXPECT_EQ(launch("count_up"), loaded);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(KernelsOnDisk, a_change_elsewhere_in_the_module_compiles_nothing) {
  EXPECT_EQ(launch("count_up"), compiled);
  std::ifstream file(CUCORE_TEST_DATA "/api/kernels.ptx");
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.insert(text.find(".address_size 64") + 16, "\n.global .u32 added;\n.visible .entry added_kernel() { ret; }\n");
  std::ofstream(root / "changed.ptx") << text;
  EXPECT_EQ(Command("env -u CUCORE_CPU_FORM " + in_folder() + " " CUCORE_TEST_PROGRAM " " +
                    (root / "changed.ptx").string() + " count_up")
                .output(),
            loaded);
}

TEST_F(KernelsOnDisk, without_the_compiler_beside_it_the_driver_says_what_is_missing) {
  Dl_info driver{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&cuInit), &driver), 0);
  fs::create_directory(root / "driver");
  fs::copy_file(driver.dli_fname, root / "driver/libcuda.so.1");
  const auto launch_there = [&] {
    return Command("env -u CUCORE_CPU_FORM LD_LIBRARY_PATH=" + (root / "driver").string() + " " + in_folder() +
                   " " CUCORE_TEST_PROGRAM " " CUCORE_TEST_DATA "/api/kernels.ptx count_up 2>&1")
        .output();
  };
  const std::string printed = launch_there();
  EXPECT_TRUE(printed.starts_with("cuLaunchKernel: 221 ")) << printed;  // CUDA_ERROR_JIT_COMPILER_NOT_FOUND
  EXPECT_NE(printed.find("libcucore-cpu-compiler.so"), std::string::npos) << printed;
  EXPECT_NE(printed.find("beside libcuda.so.1"), std::string::npos) << printed;
  // A compiler library of another build is detected and not called.
  fs::copy_file(fs::canonical(driver.dli_fname), root / "driver/libcucore-cpu-compiler.so");
  EXPECT_NE(launch_there().find("is of another build"), std::string::npos) << launch_there();
}

TEST_F(KernelsOnDisk, a_process_killed_at_any_moment_leaves_nothing_that_harms_the_next) {
  for (const char* const after : {"0.005", "0.008", "0.011", "0.014", "0.02"}) {
    fs::remove_all(folder);
    Command("timeout -s KILL " + std::string(after) + " env -u CUCORE_CPU_FORM " + in_folder() +
            " " CUCORE_TEST_PROGRAM " " CUCORE_TEST_DATA "/api/kernels.ptx count_up 2>/dev/null")
        .output();
    EXPECT_EQ(launch("count_up").substr(0, 6), "sum 4 ") << after;
    EXPECT_EQ(launch("count_up"), loaded) << after;
  }
}

TEST_F(KernelsOnDisk, each_process_has_the_variables_where_it_put_them) {
  // What the last of four threads saw: the counter, through a pointer to it, at 41, since a warp loads it before any of
  // its lanes stores the next number; table[3]; the managed 7.
  EXPECT_EQ(launch("read_globals"), "sum 52 compiled 1 loaded 0 compiler in memory\n");
  EXPECT_EQ(launch("read_globals"), "sum 52 compiled 0 loaded 1 compiler absent\n");
}

TEST_F(KernelsOnDisk, forms_do_not_answer_for_each_other) {
  EXPECT_EQ(launch("count_up"), compiled);
  EXPECT_EQ(launch("count_up", in_folder() + " CUCORE_CPU_FORM=vector"), compiled);
  EXPECT_EQ(launch("count_up", in_folder() + " CUCORE_CPU_FORM=vector"), loaded);
  EXPECT_EQ(launch("count_up"), loaded);
}

TEST_F(KernelsOnDisk, the_automatic_choice_takes_vectors_for_many_threads_in_blocks_that_fill_them) {
  const std::string automatic = in_folder() + " CUCORE_CPU_FORM=auto";
  // Every other thread of a block counts, the rest have left.
  // The scalar form that is made for blocks of part of a warp serves longer ones too, in one process.
  EXPECT_EQ(launch("leave_early_then_meet 1x4 1x256", automatic), "sum 130 compiled 1 loaded 0 compiler in memory\n");
  EXPECT_EQ(launch("leave_early_then_meet 1x256 16x256 1x256", automatic),
            "sum 2304 compiled 2 loaded 0 compiler in memory\n");
  EXPECT_EQ(launch("leave_early_then_meet 16x256 16x4 16x256", automatic),
            "sum 4128 compiled 0 loaded 2 compiler absent\n");
  EXPECT_EQ(launch("leave_early_then_meet 1024x4", automatic), "sum 2048 compiled 0 loaded 1 compiler absent\n");
  EXPECT_EQ(launch("leave_early_then_meet 4x256 3x256 1x256", automatic),
            "sum 1024 compiled 0 loaded 2 compiler absent\n");
}

TEST_F(KernelsOnDisk, a_kernel_that_cannot_have_vectors_is_compiled_once) {
  const std::string automatic = in_folder() + " CUCORE_CPU_FORM=auto";
  EXPECT_EQ(launch("come_to_a_barrier_of_others 1x64 16x256 8x512", automatic),
            "sum 1 compiled 1 loaded 1 compiler in memory\n");
  EXPECT_EQ(launch("come_to_a_barrier_of_others 16x256", automatic), "sum 1 compiled 0 loaded 1 compiler absent\n");
}

TEST_F(KernelsOnDisk, one_scalar_code_serves_blocks_of_all_shapes_in_which_threads_wait_alike) {
  EXPECT_EQ(launch("count_up 1x16 1x9 1x64", in_folder() + " CUCORE_CPU_FORM=scalar"),
            "sum 89 compiled 1 loaded 0 compiler in memory\n");
}

TEST_F(KernelsOnDisk, a_damaged_file_is_compiled_anew_and_replaced) {
  EXPECT_EQ(launch("count_up"), compiled);
  ASSERT_EQ(files().size(), 1U);
  const fs::path file = files().front();
  const std::uintmax_t size = fs::file_size(file);
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{7}, size / 2, size - 1}) {
    fs::resize_file(file, left);
    EXPECT_EQ(launch("count_up"), compiled) << left << " bytes left";
    EXPECT_EQ(launch("count_up"), loaded);
  }
}

TEST_F(KernelsOnDisk, code_from_a_small_image_serves_the_same_kernel_of_a_large_one) {
  std::ifstream file(CUCORE_TEST_DATA "/api/kernels.ptx");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::ofstream(root / "large.ptx") << text << "//" << std::string(300 << 10, '{');
  EXPECT_EQ(launch("read_globals"), "sum 52 compiled 1 loaded 0 compiler in memory\n");
  EXPECT_EQ(Command("env -u CUCORE_CPU_FORM " + in_folder() + " " CUCORE_TEST_PROGRAM " " +
                    (root / "large.ptx").string() + " read_globals")
                .output(),
            "sum 52 compiled 0 loaded 1 compiler absent\n");
}

TEST_F(KernelsOnDisk, what_is_known_of_a_large_image_and_damaged_is_read_anew_and_replaced) {
  std::ifstream file(CUCORE_TEST_DATA "/api/kernels.ptx");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::ofstream(root / "large.ptx") << text << "//" << std::string(300 << 10, '{');
  const auto launch_large = [&] {
    return Command("env -u CUCORE_CPU_FORM " + in_folder() + " " CUCORE_TEST_PROGRAM " " +
                   (root / "large.ptx").string() + " count_up 2>/dev/null")
        .output();
  };
  EXPECT_EQ(launch_large(), compiled);
  const std::vector<fs::path> known = files();
  EXPECT_EQ(known.size(), 3U) << "the image, the kernel's PTX, its code";
  EXPECT_EQ(launch_large(), loaded);
  EXPECT_EQ(files().size(), 3U);
  for (const fs::path& each : known) {
    std::ifstream whole(each, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(whole), {});
    for (const std::size_t left : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
      fs::resize_file(each, left);
      EXPECT_EQ(launch_large().substr(0, 6), "sum 4 ") << left << " bytes left";
      std::ifstream again(each, std::ios::binary);
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}).size(), bytes.size()) << left << " bytes left";
    }
  }
  EXPECT_EQ(launch_large(), loaded);
}

TEST_F(KernelsOnDisk, processes_that_compile_the_same_at_once_do_not_harm_each_other) {
  std::vector<Command> commands;
  for (int i = 0; i < 4; ++i) commands.push_back(start("count_up", in_folder()));
  for (Command& command : commands) EXPECT_EQ(command.output().substr(0, 6), "sum 4 ");
  EXPECT_EQ(files().size(), 1U) << "nothing unfinished is left";
  EXPECT_EQ(launch("count_up"), loaded);
}

TEST_F(KernelsOnDisk, unless_told_otherwise_they_lie_among_the_users_caches_and_for_the_user_alone) {
  const std::string home = "-u CUCORE_CPU_CACHE HOME=" + root.string();
  EXPECT_EQ(launch("count_up", home), compiled);
  folder = root / ".cache/cucore/cpu-kernels";
  EXPECT_EQ(files().size(), 1U);
  struct stat status{};
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  EXPECT_EQ(launch("count_up", home), loaded);

  const std::string caches = home + " XDG_CACHE_HOME=" + (root / "xdg").string();
  EXPECT_EQ(launch("count_up", caches), compiled);
  folder = root / "xdg/cucore/cpu-kernels";
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(KernelsOnDisk, there_are_none_where_that_is_asked_for_or_no_folder_can_be) {
  const std::string home = " HOME=" + root.string();
  for (const std::string& environment :
       {"CUCORE_CPU_CACHE=0" + home, std::string("-u CUCORE_CPU_CACHE -u HOME"),
        std::string("CUCORE_CPU_CACHE=/proc/self/cucore") + home, "CUCORE_CPU_CACHE=/dev/null/cucore" + home}) {
    EXPECT_EQ(launch("count_up", environment), compiled) << environment;
    EXPECT_EQ(launch("count_up", environment), compiled) << environment;
  }
  EXPECT_TRUE(fs::is_empty(root));
}

TEST_F(KernelsOnDisk, those_of_a_container_image_lie_beside_the_users_and_are_only_read) {
  const std::string shipped = "CUCORE_CPU_CACHE_READ_ONLY=" + folder.string();
  EXPECT_EQ(launch("count_up"), compiled);
  const std::string own = " CUCORE_CPU_CACHE=" + (root / "own").string();
  EXPECT_EQ(launch("count_up", shipped + own), loaded);
  EXPECT_FALSE(fs::exists(root / "own"));
  EXPECT_EQ(launch("count_up", shipped + " CUCORE_CPU_CACHE=0"), loaded);
  EXPECT_EQ(launch("read_globals", shipped + own), "sum 52 compiled 1 loaded 0 compiler in memory\n");
  EXPECT_EQ(files().size(), 1U);
  EXPECT_EQ(launch("read_globals", shipped + own), "sum 52 compiled 0 loaded 1 compiler absent\n");
}

}  // namespace
