// Random programs over all classes, from eight threads at once: whatever the order in which objects are made, used,
// closed and dropped, calls answer or throw an Error that says why, and every release succeeds. The seed is fixed;
// CUCORE_TEST_SEED replays another.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

class Sequence {
 public:
  explicit Sequence(unsigned seed) : random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      try {
        step();
      } catch (const Error& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
  }

 private:
  template <class T>
  T& any(std::vector<T>& objects) {
    if (objects.empty()) objects.emplace_back();  // the closed object
    return one_of(objects);
  }
  template <class T>
  T& one_of(std::vector<T>& objects) {
    return objects[random_() % objects.size()];
  }
  template <class T>
  void drop(std::vector<T>& objects) {
    if (!objects.empty()) objects.erase(objects.begin() + static_cast<std::ptrdiff_t>(random_() % objects.size()));
  }
  // Written in the order of the stream that it comes from: this program does not know what order another stream would
  // need.
  struct Written {
    Buffer memory;
    Stream stream;
  };
  void allocate(const Stream& stream) {
    Buffer memory = device().allocate(coin() ? 4096 : 1 << 20, stream);
    buffers_.push_back({std::move(memory), stream.share()});
  }
  static void fill(Written& buffer) { buffer.memory.fill(std::uint8_t{7}, buffer.stream); }
  bool coin() { return random_() % 2 == 0; }

  void step() {
    switch (random_() % 36) {
      case 0:
      case 1:
        streams_.push_back(device().create_stream({.nonblocking = coin()}));
        return;
      case 2:
      case 3:
        events_.push_back(device().create_event({.timing_enabled = coin(), .blocking_sync = coin()}));
        return;
      case 4:
        events_.push_back(any(streams_).record({.timing_enabled = coin()}));
        return;
      case 5:
        pooled_.push_back(pool_->get({.timing_enabled = coin()}));
        return;
      case 6:
      case 7:
        allocate(any(streams_));
        return;
      case 8:
        streams_.push_back(coin() ? any(streams_).share() : Stream::from_handle(any(streams_).handle()));
        return;
      case 9:
        any(events_).record(any(streams_));
        return;
      case 10:
        if (!pooled_.empty()) any(pooled_)->record(any(streams_));
        return;
      case 11:
        any(streams_).wait(any(events_));
        return;
      case 12:
        any(streams_).wait(any(streams_));
        return;
      case 13:
        fill(any(buffers_));
        return;
      case 14:
        launch(any(streams_), {.grid = {1}, .block = {32}}, kernel("no_parameters"));
        return;
      case 15:
        any(events_) - any(events_);
        return;
      case 16:
        any(streams_).sync();
        return;
      case 17:
        any(events_).sync();
        return;
      case 18:
        any(streams_).close();
        return;
      case 19:
        any(events_).close();
        return;
      case 20:
        any(buffers_).memory.close();
        return;
      case 21:
        drop(streams_);
        return;
      case 22:
        drop(events_);
        drop(pooled_);
        return;
      case 23:
        drop(buffers_);
        return;
      case 24:
        codes_.push_back(coin() || codes_.empty() ? ObjectCode::from_ptx(trapping_ptx()) : one_of(codes_));
        return;
      case 25:
        if (!codes_.empty()) kernels_.push_back(one_of(codes_).get_kernel("trap_now"));
        return;
      case 26:
        EXPECT_TRUE(kernels_.empty() || one_of(kernels_).handle() != nullptr);
        drop(codes_);
        drop(kernels_);
        return;
      case 27:
        resources_.push_back(DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{}));
        return;
      case 28:
        if (resources_.empty()) return;
        {
          const Stream order = any(streams_).share();
          Buffer memory = one_of(resources_)->allocate(4096, order);
          buffers_.push_back({std::move(memory), order.share()});
        }
        return;
      case 29:
        if (!resources_.empty()) one_of(resources_)->close();
        drop(resources_);
        return;
      case 30:
        timers_.emplace_back(any(streams_));
        return;
      case 31:
        if (timers_.empty()) return;
        {
          Timer& timer = one_of(timers_);
          if (coin()) timer.stop();
          EXPECT_GE(timer.milliseconds(), 0.0f);
        }
        return;
      case 32:
        drop(timers_);
        return;
      case 33: {
        Context context = coin() || !any(streams_) ? device().context() : any(streams_).context();
        const ScopedCurrent current(context);
        context.close();
        streams_.push_back(Context::current().create_stream());
        return;
      }
      case 34:
        programs_.emplace_back("extern \"C\" __global__ void k() {}", "c++", ProgramOptions{.arch = "sm_80"});
        if (coin()) programs_.back().close();
        if (programs_.size() > 4) drop(programs_);
        return;
      default:
        if (codes_.empty()) return;
        linkers_.emplace_back(std::vector<ObjectCode>{one_of(codes_)}, LinkerOptions{.arch = "sm_80"});
        if (coin()) linkers_.back().close();
        if (linkers_.size() > 4) drop(linkers_);
    }
  }

  std::mt19937 random_;
  std::shared_ptr<EventPool> pool_ = EventPool::create(device().context(), 2);
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::vector<PooledEvent> pooled_;
  std::vector<Written> buffers_;
  std::vector<ObjectCode> codes_;
  std::vector<Kernel> kernels_;
  std::vector<std::shared_ptr<DeviceMemoryResource>> resources_;
  std::vector<Timer> timers_;
  std::vector<Program> programs_;
  std::vector<Linker> linkers_;
};

TEST(sequences, of_eight_threads_release_everything_once) {
  const char* text = std::getenv("CUCORE_TEST_SEED");
  const unsigned seed = text == nullptr ? 20261121u : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  const unsigned long failures = release_failures();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([=] {
      device().set_current();
      for (unsigned i = 0; i < 125; ++i) Sequence(seed + 1000 * t + i).run(60);
    });
  }
  for (std::thread& thread : threads) thread.join();
  device().sync();
  EXPECT_EQ(release_failures(), failures);
}

}  // namespace
}  // namespace cucore::test
