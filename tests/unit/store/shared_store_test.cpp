// Stores that hosts share: one compile a key, leases that end with their holders, and stores that are slow or dead.
#include "cucore/shared_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cucore/error.hpp"
#include "src/store/deadline.hpp"
#include "src/store/sealed_entry.hpp"
#include "tests/unit/store/lease_contract.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

const std::string key(64, 'a');

class shared_store : public testing::Test {
 protected:
  std::shared_ptr<FolderStore> folder_store() const { return std::make_shared<FolderStore>(folder_.path() / "store"); }
  static SharedStoreOptions options() {
    return {.keys = KeyRing({{"k", std::string(16, 's')}}), .lease = 200ms, .wait = 20s};
  }
  SharedStore host() const { return SharedStore(folder_store(), options()); }

  test::TemporaryFolder folder_;
};

TEST_F(shared_store, a_folder_keeps_entries_and_leases) {
  FolderStore store(folder_.path() / "new/store");
  EXPECT_FALSE(store.get("abc"));
  EXPECT_FALSE(store.exists("abc"));
  store.put("abc", "1");
  store.put("abc", "2");
  store.put("def", "3");
  EXPECT_EQ(store.get("abc"), "2");
  EXPECT_TRUE(store.exists("abc"));
  EXPECT_THAT(store.list(), UnorderedElementsAre("abc", "def"));
  store.remove("abc");
  store.remove("abc");
  EXPECT_THAT(store.list(), ElementsAre("def"));

  test::expect_one_holder(store, store);
}

TEST_F(shared_store, a_lease_that_is_not_renewed_ends) {
  FolderStore mine(folder_.path()), yours(folder_.path());
  ASSERT_TRUE(mine.lease("abc", "me", 20ms));
  while (!yours.lease("abc", "you", 60s)) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(mine.lease("abc", "me", 20ms));
}

TEST_F(shared_store, what_one_host_compiles_the_others_have) {
  SharedStore first = host(), second = host();
  EXPECT_FALSE(first.obtain(key));
  first.publish(key, "code");
  EXPECT_EQ(second.obtain(key), "code");
  EXPECT_EQ(first.stats().published, 1U);
  EXPECT_EQ(second.stats().hits, 1U);
}

TEST_F(shared_store, one_host_compiles_and_the_others_wait) {
  test::expect_one_compile([this] { return host(); }, key);
}

TEST_F(shared_store, another_compiles_when_the_holder_is_killed_or_gives_up) {
  const pid_t child = ::fork();
  if (child == 0) {
    SharedStore store = host();
    ::_exit(store.obtain(key) ? 1 : 0);  // with the lease
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  SharedStore second = host();
  EXPECT_FALSE(second.obtain(key));
  EXPECT_EQ(second.stats().waits, 1U);
  second.abandon(key);
  SharedStore third = host();
  EXPECT_FALSE(third.obtain(key));
  EXPECT_EQ(third.stats().waits, 0U);
}

TEST_F(shared_store, an_entry_that_cannot_be_trusted_is_replaced) {
  FolderStore(folder_.path() / "store").put(key, "no entry");
  SharedStore store = host();
  EXPECT_FALSE(store.obtain(key));
  store.publish(key, "code");
  EXPECT_EQ(store.stats().rejected, 1U);
  EXPECT_EQ(host().obtain(key), "code");
}

TEST_F(shared_store, a_result_of_a_lost_lease_does_not_replace_a_valid_one) {
  SharedStoreOptions long_leases = options();
  long_leases.lease = 60s;  // no renewal while the test goes on
  SharedStore first(folder_store(), long_leases), second = host();
  EXPECT_FALSE(first.obtain(key));
  FolderStore direct(folder_.path() / "store");
  // Another took the lease over, as after a pause of this process, and stored.
  std::filesystem::remove_all(folder_.path() / "store/leases");
  ASSERT_TRUE(direct.lease(key, "another", 60s));
  direct.put(key, detail::seal(key, "theirs", detail::toolkit_of_entries(), {.keys = options().keys}));
  first.publish(key, "mine");
  EXPECT_EQ(first.stats().fenced, 1U);
  EXPECT_EQ(second.obtain(key), "theirs");
}

struct FaultyStore final : Store {
  std::atomic<int> calls = 0;
  std::chrono::milliseconds delay{0};
  bool throws = false;

  std::optional<std::string> get(const std::string&) override {
    ++calls;
    std::this_thread::sleep_for(delay);
    if (throws) throw std::runtime_error("refused");
    return std::nullopt;
  }
  void put(const std::string&, std::string_view) override { ++calls; }
  void remove(const std::string&) override {}
  std::vector<std::string> list() override { return {}; }
};

TEST_F(shared_store, a_dead_store_is_left_alone_after_one_call) {
  const auto store = std::make_shared<FaultyStore>();
  store->throws = true;
  SharedStore host(store, options());
  for (int compile = 0; compile < 5; ++compile) {
    EXPECT_FALSE(host.obtain(key));
    host.publish(key, "code");
  }
  EXPECT_EQ(store->calls, 1);
  EXPECT_EQ(host.stats().errors, 1U);
  EXPECT_GT(host.stats().skipped, 4U);
}

TEST_F(shared_store, a_slow_store_is_not_waited_for) {
  const auto store = std::make_shared<FaultyStore>();
  store->delay = 3s;
  SharedStoreOptions hurried = options();
  hurried.call_limit = 10ms;
  SharedStore host(store, hurried);
  EXPECT_FALSE(host.obtain(key));
  EXPECT_EQ(host.stats().timeouts, 1U);
  EXPECT_FALSE(host.obtain(key));
  EXPECT_EQ(store->calls, 1);
}

TEST_F(shared_store, many_threads_may_ask_at_once) {
  const auto store = std::make_shared<FaultyStore>();
  store->delay = 20ms;
  SharedStoreOptions patient = options();
  patient.call_limit = patient.compile_limit = 20s;
  SharedStore host(store, patient);
  std::vector<std::thread> threads;
  for (int each = 0; each < 16; ++each) {
    threads.emplace_back(
        [&, name = std::string(64, static_cast<char>('a' + each))] { EXPECT_FALSE(host.obtain(name)); });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(host.stats().skipped, 0U);
}

TEST_F(shared_store, the_child_of_a_fork_goes_on) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "under ThreadSanitizer a child of several threads has none of its own";
#endif
  SharedStore store = host();
  EXPECT_FALSE(store.obtain(key));  // threads of the parent: of calls, and of the lease
  // The address sanitizer's allocator, unlike glibc's, stays locked in the child if one of them is in it.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_missing = !store.obtain(std::string(64, 'b')).has_value();
    store.publish(std::string(64, 'b'), "child's");
    ::_exit(is_missing && store.obtain(std::string(64, 'b')) == "child's" ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  store.publish(key, "parent's");
  EXPECT_EQ(host().obtain(key), "parent's");
}

TEST_F(shared_store, keys_are_asked_for) {
  EXPECT_THROW(SharedStore(folder_store(), {}), ValueError);
  EXPECT_NO_THROW(SharedStore(folder_store(), {.allow_unsigned = true}));
  EXPECT_THROW(SharedStore(nullptr, options()), ValueError);
}

TEST_F(shared_store, a_cache_takes_from_it_and_gives_to_it) {
  const auto cache = [&](const char* name) {
    return ProgramCache(
        {.path = folder_.path() / name, .store = std::make_shared<SharedStore>(folder_store(), options())});
  };
  ProgramCache first = cache("first"), second = cache("second");
  EXPECT_TRUE(first.put({.hex = key}, {.code = ObjectCode::from_bytes(CodeType::ptx, "code")}));
  const std::optional<std::string> entry = first.read_entry(key);
  ASSERT_TRUE(entry);
  EXPECT_TRUE(second.write_entry(key, *entry));
  EXPECT_FALSE(second.write_entry(std::string(64, 'b'), *entry));
  EXPECT_FALSE(second.write_entry(key, "nothing"));
  EXPECT_EQ(second.get({.hex = key})->code.code(), "code");
}

TEST(deadline, a_call_is_left_to_itself_when_its_time_is_over) {
  detail::DeadlineCaller caller;
  EXPECT_EQ(caller.run(10s, [] { return 7; }), 7);
  EXPECT_THROW((void)caller.run(10s, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  const auto ends = std::make_shared<std::atomic<bool>>(false);
  EXPECT_FALSE(caller.run(1ms, [ends] {
    while (!*ends) std::this_thread::sleep_for(1ms);
    return 1;
  }));
  EXPECT_EQ(caller.hanging(), 1U);
  EXPECT_EQ(caller.run(10s, [] { return 8; }), 8);
  *ends = true;
  while (caller.hanging() != 0) std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace cucore
