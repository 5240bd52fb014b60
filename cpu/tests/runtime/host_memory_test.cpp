// What memory the device shows: the host's, within the limits of the containers around the process.
#include "cpu/runtime/process/host_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cpu/tests/api/own_folder.hpp"

namespace {

using cucore::cpu::OwnFolder;
using cucore::cpu::runtime::host_memory;
using cucore::cpu::runtime::HostMemory;

constexpr std::size_t mib = std::size_t{1} << 20;

/// A host of 1000 MiB, 600 of them to give, with files as the kernel writes them.
class Host : public OwnFolder {
 protected:
  void SetUp() override {
    OwnFolder::SetUp();
    write("proc/meminfo", "MemTotal:        1024000 kB\nMemFree:          100000 kB\nMemAvailable:     614400 kB\n");
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void expect(std::size_t total, std::size_t available) const {
    const HostMemory memory = host_memory(root.string());
    EXPECT_EQ(total * mib, memory.total);
    EXPECT_EQ(available * mib, memory.available);
  }
  static std::string bytes(std::size_t count) { return std::to_string(count * mib) + "\n"; }
};

TEST_F(Host, has_what_meminfo_says_without_a_container) {
  expect(1000, 600);
  write("proc/self/cgroup", "0::/user.slice\n");
  write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  expect(1000, 600);
}

TEST_F(Host, has_what_a_container_leaves_but_for_files_that_can_go) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", bytes(500));
  write("sys/fs/cgroup/memory.current", bytes(300));
  write("sys/fs/cgroup/memory.stat", "anon 5\ninactive_file " + bytes(100) + "active_file 7\n");
  expect(500, 300);
}

TEST_F(Host, has_the_least_of_the_limits_of_groups_around_each_other) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/memory.max", bytes(400));
  write("sys/fs/cgroup/outer/memory.current", bytes(390));
  write("sys/fs/cgroup/outer/inner/memory.max", bytes(500));
  write("sys/fs/cgroup/outer/inner/memory.current", bytes(10));
  expect(400, 10);
}

TEST_F(Host, knows_the_first_version_of_control_groups) {
  write("proc/self/cgroup", "5:cpu:/other\n4:hugetlb,memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", bytes(200));
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", bytes(50));
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 0\ntotal_inactive_file " + bytes(20));
  expect(200, 170);
}

}  // namespace
