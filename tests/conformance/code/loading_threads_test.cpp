// Loading by many threads, counted where the calls enter the driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include "cucore/object_code.hpp"
#include "src/driver/table.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

// While one of these lives, the driver's loads are counted, and the first one can be held.
class Loads {
 public:
  Loads() : table_(const_cast<driver::Table&>(driver::table())) {  // made in no const object
    real_ = table_.cuLibraryLoadData;
    count_ = 0;
    table_.cuLibraryLoadData = &counted;
  }
  Loads(const Loads&) = delete;
  Loads& operator=(const Loads&) = delete;
  ~Loads() {
    let_go();
    table_.cuLibraryLoadData = real_;
  }
  static int count() { return count_; }
  static void hold_the_first() { held_ = true; }
  static void let_go() {
    held_ = false;
    held_.notify_all();
  }
  static void wait_for(int count) {
    for (int now = count_; now < count; now = count_) count_.wait(now);
  }

 private:
  static driver::CUresult counted(driver::CUlibrary* library, const void* code, int* jit_options,
                                  void** jit_option_values, unsigned jit_option_count, int* library_options,
                                  void** library_option_values, unsigned library_option_count) {
    const bool is_first = count_.fetch_add(1) == 0;
    count_.notify_all();
    if (is_first) held_.wait(true);
    return real_(library, code, jit_options, jit_option_values, jit_option_count, library_options,
                 library_option_values, library_option_count);
  }

  driver::Table& table_;
  static inline decltype(driver::Table::cuLibraryLoadData) real_ = nullptr;
  static inline std::atomic<int> count_ = 0;
  static inline std::atomic<bool> held_ = false;
};

TEST(loading, many_threads_load_an_object_once) {
  constexpr int most_threads = 64;
  const Loads loads;
  for (int round = 1; round <= 3; ++round) {
    const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "kernels");
    std::vector<LibraryHandle> handles(most_threads);
    std::vector<KernelHandle> kernels(most_threads);
    std::vector<std::thread> threads;
    std::latch start(most_threads);
    for (std::size_t i = 0; i < most_threads; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        kernels[i] = code.get_kernel("no_parameters").handle();
        handles[i] = code.handle();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_NE(handles[0], nullptr);
    EXPECT_EQ(std::count(handles.begin(), handles.end(), handles[0]), most_threads);
    EXPECT_EQ(std::count(kernels.begin(), kernels.end(), kernels[0]), most_threads);
    EXPECT_EQ(Loads::count(), round);
  }
}

TEST(loading, what_needs_no_driver_loads_nothing) {
  const Loads loads;
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "kernels");
  const ObjectCode again = ObjectCode::deserialize(code.serialize());
  EXPECT_FALSE(code == again);
  (void)std::hash<ObjectCode>()(code);
  (void)again.kernel_names();
  (void)again.images();
  EXPECT_EQ(Loads::count(), 0);
}

TEST(loading, one_object_does_not_wait_for_another) {
  const Loads loads;
  const ObjectCode slow = ObjectCode::from_ptx(kernels_ptx(), "slow");
  const ObjectCode other = ObjectCode::from_ptx(kernels_ptx(), "other");
  Loads::hold_the_first();
  std::thread thread([&] { slow.load(); });
  Loads::wait_for(1);  // it is inside the driver and stays there
  const std::future<void> loading = std::async(std::launch::async, [&] { other.load(); });
  EXPECT_EQ(loading.wait_for(std::chrono::minutes(2)), std::future_status::ready);
  EXPECT_TRUE(other.is_loaded());
  EXPECT_FALSE(slow.is_loaded());
  Loads::let_go();
  thread.join();
  EXPECT_TRUE(slow.is_loaded());
  EXPECT_EQ(Loads::count(), 2);
}

TEST(loading, a_failed_load_is_tried_once_by_each_that_asks_later) {
  const Loads loads;
  const ObjectCode code = ObjectCode::from_ptx("nonsense", "broken");
  EXPECT_THROW(code.load(), DriverError);
  EXPECT_THROW(code.load(), DriverError);
  EXPECT_EQ(Loads::count(), 2);
}

}  // namespace
}  // namespace cucore::test
