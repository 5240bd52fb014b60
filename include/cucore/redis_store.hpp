// RedisStore: a Redis or Valkey server as the store that hosts share; python/cucore/stores/_redis.py uses it alike.
//
//   auto redis = std::make_shared<RedisStore>("redis://:password@cache.example:6379/0");
//   ProgramCache cache({.store = std::make_shared<SharedStore>(redis, SharedStoreOptions{.keys = keys})});
//
// An optional part with a library of its own, cucore::redis in CMake (find_package(cucore COMPONENTS redis)), since it
// needs hiredis; the rest of cucore does not.
//
// Thread-safety: all members may be called from any thread, each call on a connection of its own; after fork() the
// child makes new ones.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/shared_store.hpp"

namespace cucore {

struct RedisStoreOptions {
  std::string prefix = "cucore:";                                       ///< of all names in the server
  std::chrono::milliseconds timeout = std::chrono::milliseconds(1000);  ///< of connecting, and of each answer
};

/// Members throw StateError: the server cannot be reached, does not answer in time, or says no.
class RedisStore final : public Store {
 public:
  /// `redis://[[user]:password@]host[:port][/database]` or `unix://[[user]:password@]/path[?db=database]`; `valkey` is
  /// the same as `redis`. Percent signs begin two hex digits. Connects when it is first used. Throws ValueError:
  /// another URL; `rediss` too, since Debian's hiredis has no TLS.
  explicit RedisStore(const std::string& url, const RedisStoreOptions& options = {});
  ~RedisStore() override;

  std::optional<std::string> get(const std::string& name) override;
  void put(const std::string& name, std::string_view bytes) override;
  void remove(const std::string& name) override;
  std::vector<std::string> list() override;
  bool exists(const std::string& name) override;
  /// Ends by the server's clock.
  bool lease(const std::string& name, const std::string& token, std::chrono::milliseconds lasts) override;
  void release(const std::string& name, const std::string& token) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cucore
