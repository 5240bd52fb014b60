// Memory shared between processes. The other process is this program again, running the one test that is disabled.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

using Values = std::vector<std::uint32_t>;
constexpr std::size_t count = 1024;
constexpr const char* variable = "CUCORE_TEST_IPC_FILES";  // in the other process: "socket pool kind"

/// What is sent: the descriptor of a buffer, or a question.
struct Message {
  char command = 0;
  std::array<std::byte, 64> payload{};
  std::uint64_t size = 0;
};

IpcBufferDescriptor descriptor_of(const Message& message) { return {.payload = message.payload, .size = message.size}; }

template <class T>
bool receive(int socket, T& value) {
  return ::recv(socket, &value, sizeof value, MSG_WAITALL) == static_cast<ssize_t>(sizeof value);
}

/// The process that a pool is exported to.
class Importer {
 public:
  Importer(const PoolMemoryResource& pool, const char* kind) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const IpcAllocationHandle handle = pool.allocation_handle();
    const int files[2] = {::dup(ends[1]), ::dup(handle.file())};  // inherited
    const std::string value = std::to_string(files[0]) + " " + std::to_string(files[1]) + " " + kind;
    std::vector<std::string> environment{std::string(variable) + "=" + value};
    for (char** each = environ; *each != nullptr; ++each) {
      if (std::strncmp(*each, "GTEST_", 6) != 0) environment.emplace_back(*each);  // not this process's report
    }
    std::vector<char*> variables;
    for (std::string& each : environment) variables.push_back(each.data());
    variables.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(::fileno(report_), STDOUT_FILENO);
      ::execle("/proc/self/exe", "importer", "--gtest_also_run_disabled_tests", "--gtest_filter=memory_ipc.DISABLED_*",
               "--gtest_brief=1", static_cast<char*>(nullptr), variables.data());
      ::_exit(127);
    }
    for (const int file : {ends[1], files[0], files[1]}) ::close(file);
    socket_ = ends[0];
  }
  ~Importer() {
    ::close(socket_);
    wait();
    std::fclose(report_);
  }
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  /// Sends a command; returns its answer.
  std::uint32_t ask(char command, const IpcBufferDescriptor& descriptor) {
    const Message message{.command = command, .payload = descriptor.payload, .size = descriptor.size};
    std::uint32_t answer = 0;
    EXPECT_EQ(::send(socket_, &message, sizeof message, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof message));
    EXPECT_TRUE(receive(socket_, answer));
    return answer;
  }
  void kill() {
    ::kill(process_, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait()));
  }
  /// The exit status, after the last command.
  int finish() {
    ::shutdown(socket_, SHUT_RDWR);
    return wait();
  }

 private:
  int wait() {
    int status = 0;
    if (process_ > 0) ::waitpid(process_, &status, 0);
    process_ = 0;
    if (WIFEXITED(status) && status != 0) {
      std::string text(1 << 16, ' ');
      std::rewind(report_);
      text.resize(std::fread(text.data(), 1, text.size(), report_));
      ADD_FAILURE() << "the other process:\n" << text;
    }
    return status;
  }
  std::FILE* report_ = std::tmpfile();
  pid_t process_ = 0;
  int socket_ = -1;
};

// The other process: 'f' adds one to every value and answers the first; 's' is the same buffer opened twice; 't' the
// same through the pool imported twice; 'b' more bytes than there are; 'a' allocates.
TEST(memory_ipc, DISABLED_importer) {
  const char* value = std::getenv(variable);
  if (value == nullptr) GTEST_SKIP() << "run by the tests below";
  char kind[8] = {};
  int socket = -1, file = -1;
  ASSERT_EQ(std::sscanf(value, "%d %d %7s", &socket, &file, kind), 3);
  const auto import = [&]() -> std::shared_ptr<PoolMemoryResource> {
    if (kind[0] == 'd') return DeviceMemoryResource::from_allocation_handle(device(), file);
    return PinnedMemoryResource::from_allocation_handle(file);
  };
  const std::shared_ptr<PoolMemoryResource> pool = import();
  EXPECT_TRUE(pool->is_mapped() && pool->is_ipc_enabled() && pool->is_handle_owned());
  EXPECT_TRUE(says(refusal([&] { pool->allocation_handle(); }), "mapped from another process"));
  device().set_current();
  const Stream stream = device().create_stream();
  Message message;
  while (receive(socket, message)) {
    std::uint32_t answer = 0;
    IpcBufferDescriptor descriptor = descriptor_of(message);
    if (message.command == 'a') {
      EXPECT_THROW(pool->allocate(64, stream), TypeError);
    } else if (message.command == 'b') {
      descriptor.size += std::size_t{1} << 30;
      const std::string text = refusal([&] { Buffer::from_ipc_descriptor(pool, descriptor, stream); });
      // NVIDIA's drivers do not tell how much of the host's memory was mapped.
      if (kind[0] == 'd' || driver_info().kind == DriverKind::cpu) {
        EXPECT_TRUE(says(text, "bytes, but"));
      }
    } else {
      Buffer buffer = Buffer::from_ipc_descriptor(pool, descriptor, stream);
      EXPECT_TRUE(buffer.is_mapped());
      EXPECT_EQ(buffer.ipc_descriptor(), descriptor);
      Buffer again;
      std::shared_ptr<PoolMemoryResource> pool_again;
      if (message.command == 't') {
        pool_again = import();
        EXPECT_EQ(pool_again->handle(), pool->handle());
        again = Buffer::from_ipc_descriptor(pool_again, descriptor, stream);
        EXPECT_EQ(again.handle(), buffer.handle());
        import()->close();  // neither the pool nor the buffers of the others
        buffer.close();
        std::swap(again, buffer);
      }
      if (message.command == 's') {
        again = Buffer::from_ipc_descriptor(pool, descriptor, stream);
        EXPECT_EQ(again.handle(), buffer.handle());
        buffer.close();
        std::swap(again, buffer);
      }
      Values values = read<std::uint32_t>(buffer, stream);
      for (std::uint32_t& each : values) ++each;
      write(buffer, values, stream);
      answer = values.front();
      buffer.close();
      stream.sync();
    }
    ASSERT_EQ(::send(socket, &answer, sizeof answer, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof answer));
  }
  EXPECT_EQ(release_failures(), 0u);
  ::close(socket);
  ::close(file);
}

class MemoryIpc : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto& properties = device().properties();
    const bool is_device = GetParam()[0] == 'd';
    if (is_device && (properties.mempool_supported_handle_types() & 1) == 0) GTEST_SKIP() << "pools cannot be shared";
    if (!is_device && !properties.host_numa_memory_pools_supported())
      GTEST_SKIP() << "there are no pools of a NUMA node";
    device().set_current();
    if (is_device) {
      pool = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{.ipc_enabled = true});
    } else {
      pool = PinnedMemoryResource::create(PinnedMemoryResourceOptions{.ipc_enabled = true});
    }
    stream = device().create_stream();
  }
  Buffer filled(std::uint32_t value) {
    Buffer buffer = pool->allocate(count * sizeof value, stream);
    write(buffer, Values(count, value), stream);
    return buffer;
  }
  std::shared_ptr<PoolMemoryResource> pool;
  Stream stream;
};

TEST_P(MemoryIpc, two_processes_see_the_same_memory) {
  const Buffer buffer = filled(5);
  EXPECT_TRUE(pool->is_ipc_enabled());
  EXPECT_FALSE(pool->is_mapped() || buffer.is_mapped());
  EXPECT_EQ(buffer.ipc_descriptor(), buffer.ipc_descriptor());
  Importer importer(*pool, GetParam());
  EXPECT_EQ(importer.ask('f', buffer.ipc_descriptor()), 6u);
  EXPECT_EQ(read<std::uint32_t>(buffer, stream), Values(count, 6));
  EXPECT_EQ(importer.ask('f', filled(8).ipc_descriptor()), 9u);
  EXPECT_EQ(importer.ask('f', buffer.ipc_descriptor()), 7u);
  EXPECT_EQ(importer.finish(), 0);
}

TEST_P(MemoryIpc, what_is_opened_twice_is_mapped_once) {
  const Buffer buffer = filled(1);
  Importer importer(*pool, GetParam());
  for (std::uint32_t value = 2; value < 5; ++value) EXPECT_EQ(importer.ask('s', buffer.ipc_descriptor()), value);
  EXPECT_EQ(importer.finish(), 0);
}

TEST_P(MemoryIpc, what_is_imported_twice_ends_with_the_last) {
  const Buffer buffer = filled(1);
  Importer importer(*pool, GetParam());
  for (std::uint32_t value = 2; value < 5; ++value) EXPECT_EQ(importer.ask('t', buffer.ipc_descriptor()), value);
  EXPECT_EQ(importer.ask('f', buffer.ipc_descriptor()), 5u);
  EXPECT_EQ(importer.finish(), 0);
}

TEST_P(MemoryIpc, a_mapped_pool_refuses_to_allocate_and_buffers_that_are_too_large) {
  const Buffer buffer = filled(1);
  Importer importer(*pool, GetParam());
  importer.ask('a', buffer.ipc_descriptor());
  importer.ask('b', buffer.ipc_descriptor());
  EXPECT_EQ(importer.ask('f', buffer.ipc_descriptor()), 2u);
  EXPECT_EQ(importer.finish(), 0);
}

TEST_P(MemoryIpc, survives_an_importer_that_is_killed) {
  const Buffer buffer = filled(1);
  Importer importer(*pool, GetParam());
  EXPECT_EQ(importer.ask('f', buffer.ipc_descriptor()), 2u);
  importer.kill();
  EXPECT_EQ(read<std::uint32_t>(buffer, stream), Values(count, 2));
  Importer next(*pool, GetParam());
  EXPECT_EQ(next.ask('f', buffer.ipc_descriptor()), 3u);
}

TEST_P(MemoryIpc, descriptors_are_of_buffers_with_memory) {
  const Buffer empty = pool->allocate(0, stream);
  EXPECT_THROW(empty.ipc_descriptor(), ValueError);
  EXPECT_TRUE(says(refusal([&] { Buffer().ipc_descriptor(); }), "has been closed"));
  const Buffer buffer = filled(1);
  EXPECT_TRUE(says(refusal([&] { Buffer::from_ipc_descriptor(pool, buffer.ipc_descriptor(), stream); }),
                   "cuMemPoolImportPointer", "use the buffer itself"));
}

INSTANTIATE_TEST_SUITE_P(of, MemoryIpc, testing::Values("device", "pinned"),
                         [](const auto& test) { return std::string(test.param); });

TEST(memory_ipc, is_for_pools_made_for_it) {
  const Stream stream = device().create_stream();
  const auto pool = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{});
  EXPECT_FALSE(pool->is_ipc_enabled());
  EXPECT_TRUE(says(refusal([&] { pool->allocation_handle(); }), "not IPC-enabled", "ipc_enabled"));
  const Buffer buffer = pool->allocate(64, stream);
  EXPECT_TRUE(says(refusal([&] { buffer.ipc_descriptor(); }), "not IPC-enabled"));
  EXPECT_THROW(Buffer::from_ipc_descriptor(pool, {}, stream), StateError);
  EXPECT_THROW(Buffer::from_ipc_descriptor(nullptr, {}, stream), ValueError);
  EXPECT_TRUE(says(refusal([] { DeviceMemoryResource::from_allocation_handle(device(), 1000); }),
                   "cuMemPoolImportFromShareableHandle", "file descriptor 1000", "allocation_handle()"));
}

TEST(memory_ipc, an_allocation_handle_closes_its_file_descriptor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  IpcAllocationHandle handle(ends[0]);
  IpcAllocationHandle moved = std::move(handle);
  EXPECT_EQ(moved.file(), ends[0]);
  moved.close();
  moved.close();
  EXPECT_FALSE(moved);
  EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1);
  EXPECT_EQ(IpcAllocationHandle(ends[1]).release(), ends[1]);
  EXPECT_EQ(::close(ends[1]), 0);
}

}  // namespace
}  // namespace cucore::test
