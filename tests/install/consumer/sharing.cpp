// A cache behind a Redis server, by the optional library.
#include <cucore/redis_store.hpp>
#include <iostream>

int main() {
  auto redis = std::make_shared<cucore::RedisStore>("redis://cache.invalid", cucore::RedisStoreOptions{});
  cucore::SharedStore store(redis, {.allow_unsigned = true});
  std::cout << store.stats().hits << " hits\n";
}
