// ObjectCode and the driver: when it is loaded, how often, and what a load that fails says.
#include "cucore/object_code.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <unordered_set>
#include <vector>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

// A file that goes with the test.
class File {
 public:
  File() : path_(std::filesystem::temp_directory_path() / ("cucore-" + std::to_string(::getpid()) + ".ptx")) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::uint32_t threads_counted_by(const Kernel& count_threads) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint8_t{0}, stream);
  launch(stream, {.grid = {2}, .block = {32}}, count_threads, out);
  return read<std::uint32_t>(out, stream).at(0);
}

TEST(object_code, is_not_loaded_by_anything_that_needs_no_driver) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "kernels", {{"a", "b"}});
  const ObjectCode copy = code;
  (void)code.serialize();
  (void)code.ptx();
  (void)code.kernel_names();
  EXPECT_EQ(copy, code);
  EXPECT_EQ(std::unordered_set<ObjectCode>({code, copy}).size(), 1U);
  EXPECT_EQ(code.symbol_mapping().size(), 1U);
  EXPECT_FALSE(code.is_loaded());
}

TEST(object_code, loads_at_the_first_use_and_copies_share_it) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "kernels");
  const ObjectCode copy = code;
  EXPECT_EQ(threads_counted_by(code.get_kernel("count_threads")), 64U);
  EXPECT_TRUE(copy.is_loaded());
  EXPECT_EQ(copy.handle(), code.handle());
}

TEST(object_code, has_a_module_in_each_context) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "kernels");
  device().set_current();
  EXPECT_NE(code.get_module(), nullptr);
  EXPECT_EQ(code.get_module(), code.get_module());
  std::thread([&] { EXPECT_TRUE(says(refusal([&] { code.get_module(); }), "cuLibraryGetModule", "current")); }).join();
  EXPECT_TRUE(says(refusal([] { ObjectCode::from_ltoir("x").get_module(); }), "Unsupported code type"));
}

TEST(object_code, equal_bytes_in_two_objects_are_two_libraries) {
  const ObjectCode one = ObjectCode::from_ptx(kernels_ptx());
  const ObjectCode two = ObjectCode::deserialize(one.serialize());
  EXPECT_FALSE(one == two);
  EXPECT_NE(one.handle(), two.handle());
}

TEST(object_code, a_load_that_fails_says_what_and_why) {
  const ObjectCode code =
      ObjectCode::from_ptx(".version 7.8\n.target sm_75\n.address_size 64\nnonsense here;", "broken");
  try {
    code.load();
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code_name(), "CUDA_ERROR_INVALID_PTX");
    EXPECT_EQ(error.call(), "cuLibraryLoadData");
    EXPECT_TRUE(says(error.what(), "'broken'", "ptx"));
    EXPECT_FALSE(error.log().empty());
  }
  EXPECT_FALSE(code.is_loaded());
  EXPECT_FALSE(code.serialize().empty());
}

TEST(object_code, a_failure_is_not_remembered) {
  const File file;
  const ObjectCode code = ObjectCode::from_file("ptx", file.path(), "late");
  EXPECT_TRUE(says(refusal([&] { code.load(); }), "cannot read", file.path().string(), "'late'"));
  file.write("nonsense");
  EXPECT_THROW(code.load(), DriverError);
  file.write(kernels_ptx());
  EXPECT_EQ(threads_counted_by(code.get_kernel("count_threads")), 64U);
}

TEST(object_code, every_thread_of_a_race_gets_the_failure) {
  const ObjectCode code = ObjectCode::from_ptx("nonsense", "broken");
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        code.load();
      } catch (const DriverError&) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 8);
}

TEST(object_code, a_type_the_driver_does_not_load_is_refused_before_loading) {
  for (const char* type : {"ltoir", "object", "library"}) {
    const ObjectCode code = ObjectCode::from_bytes(type, "anything", "unlinked");
    EXPECT_THROW((void)code.get_kernel("f"), StateError);
    EXPECT_TRUE(
        says(refusal([&] { (void)code.handle(); }), std::string("Unsupported code type \"") + type + "\"", "link"));
  }
}

TEST(object_code, broken_images_are_refused_and_crash_nothing) {
  std::string cut(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  for (std::size_t size : {7U, 16U, 64U, 4096U}) {
    cut.resize(size, '\0');
    EXPECT_THROW(ObjectCode::from_cubin(cut).load(), DriverError) << size;
    cut[size - 1] = '\xff';
    EXPECT_THROW(ObjectCode::from_cubin(cut).load(), DriverError) << size;
  }
  EXPECT_THROW(ObjectCode::from_fatbin(std::string("\x50\xed\x55\xba\x01\0\x10\0\xff\xff\xff\xff", 12)).load(),
               DriverError);
  for (const char* type : {"ptx", "cubin", "fatbin"}) {
    EXPECT_THROW(ObjectCode::from_bytes(type, "").load(), DriverError) << type;
    EXPECT_THROW(ObjectCode::from_bytes(type, std::string("\0\1\2\3", 4)).load(), DriverError) << type;
  }
}

TEST(object_code, ptx_loads_with_and_without_its_nul) {
  EXPECT_NO_THROW(ObjectCode::from_ptx(kernels_ptx() + '\0').load());
  EXPECT_EQ(ObjectCode::from_ptx(kernels_ptx() + '\0').code(), kernels_ptx());
  EXPECT_TRUE(says(refusal([] { ObjectCode::from_ptx(kernels_ptx() + '\0' + kernels_ptx()).load(); }), "NUL"));
}

TEST(object_code, names_are_looked_up_in_the_mapping_first) {
  const ObjectCode code =
      ObjectCode::from_ptx(kernels_ptx(), "", {{"saxpy", "_Z5saxpyfPKfPfi"}, {"&ns::counter", "counter"}});
  EXPECT_EQ(code.get_kernel("saxpy").name(), "_Z5saxpyfPKfPfi");
  EXPECT_EQ(code.get_kernel("saxpy"), code.get_kernel("_Z5saxpyfPKfPfi"));
  device().set_current();
  EXPECT_EQ(code.get_global("&ns::counter").size, 4U);
  EXPECT_EQ(code.get_global("ns::counter").address, code.get_global("counter").address);
}

TEST(object_code, a_missing_kernel_is_told_with_the_names_there_are) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "kernels");
  const std::string text = refusal([&] { (void)code.get_kernel("count_thread"); });
  EXPECT_TRUE(says(text, "CUDA_ERROR_NOT_FOUND", "'count_thread'", "'kernels'", "did you mean 'count_threads'"));
  EXPECT_TRUE(code.is_loaded());
}

TEST(object_code, a_global_has_an_address_and_a_size) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
  const Stream stream = device().create_stream();
  device().set_current();
  const GlobalVariable counter = code.get_global("counter");
  EXPECT_EQ(counter.size, 4U);
  const Buffer buffer = Buffer::from_handle(counter.address, counter.size);
  EXPECT_EQ(read<std::uint32_t>(buffer, stream).at(0), 7U);
  EXPECT_EQ(code.get_global("table").size, 16U);
  EXPECT_THROW((void)code.get_global("absent"), DriverError);
}

TEST(object_code, a_kernel_outlives_the_object_it_came_from) {
  Kernel kernel;
  {
    const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
    kernel = code.get_kernel("count_threads");
  }
  EXPECT_EQ(threads_counted_by(kernel), 64U);
}

TEST(object_code, a_module_loads_when_told_to) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
  Module module;
  EXPECT_FALSE(module);
  EXPECT_THROW((void)module.get_kernel("no_parameters"), StateError);
  EXPECT_EQ(&module.load(code), &module);
  EXPECT_TRUE(code.is_loaded());
  EXPECT_EQ(module.get_kernel("no_parameters"), code.get_kernel("no_parameters"));
  EXPECT_THROW(module.load(ObjectCode::from_ptx("nonsense")), DriverError);
  EXPECT_EQ(module.object_code(), code);  // what was loaded before is still there
}

}  // namespace
}  // namespace cucore::test
