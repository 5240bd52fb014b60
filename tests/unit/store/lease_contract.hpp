// What every store with leases has to give: a lease has one holder, and of hosts that ask for one key at once, one
// compiles.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cucore/shared_store.hpp"

namespace cucore::test {

/// Of two hosts, each with a store of its own or both with one: the lease of `abc` is `you`'s in the end.
inline void expect_one_holder(Store& mine, Store& yours) {
  constexpr std::chrono::seconds minute(60);
  EXPECT_TRUE(mine.lease("abc", "me", minute));
  EXPECT_TRUE(mine.lease("abc", "me", minute));
  EXPECT_FALSE(yours.lease("abc", "you", minute));
  yours.release("abc", "you");
  EXPECT_FALSE(yours.lease("abc", "you", minute));
  mine.release("abc", "me");
  EXPECT_TRUE(yours.lease("abc", "you", minute));
}

/// Eight hosts, each with what `host()` makes, whose leases last 200 ms; the compile takes three of them.
template <class MakeHost>
void expect_one_compile(const MakeHost& host, const std::string& key) {
  std::atomic<int> compiles = 0;
  std::vector<std::thread> hosts;
  for (int each = 0; each < 8; ++each) {
    hosts.emplace_back([&] {
      SharedStore store = host();
      if (const auto found = store.obtain(key)) {
        EXPECT_EQ(*found, "code");
        return;
      }
      ++compiles;
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      store.publish(key, "code");
    });
  }
  for (std::thread& each : hosts) each.join();
  EXPECT_EQ(compiles, 1);
}

}  // namespace cucore::test
