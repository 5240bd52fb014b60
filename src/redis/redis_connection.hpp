// Connections to a Redis server: one a call, kept for the next ones.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/redis/redis_url.hpp"

struct redisContext;

namespace cucore::detail {

/// What a server answers to a command, as far as stores need it.
struct RedisReply {
  std::optional<std::string> text;  ///< of strings and states; nothing: there is none of that name
  long long number = 0;
  std::vector<RedisReply> elements;
};

class RedisConnections {
 public:
  RedisConnections(RedisUrl url, std::chrono::milliseconds timeout) : url_(std::move(url)), timeout_(timeout) {}

  /// Sends a command and waits for the answer. A kept connection that turns out to be gone is replaced once; so what is
  /// asked for must be the same when it is done twice. Throws StateError.
  RedisReply ask(const std::vector<std::string_view>& words);

 private:
  struct Close {
    void operator()(redisContext* context) const noexcept;
  };
  using Connection = std::unique_ptr<redisContext, Close>;

  Connection open() const;
  /// Nothing: the connection has failed, and says why.
  static std::optional<RedisReply> try_on(redisContext& connection, const std::vector<std::string_view>& words);
  Connection take_kept();
  void keep(Connection connection);
  [[noreturn]] void fail(const std::string& what) const;

  const RedisUrl url_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::vector<Connection> kept_;
  pid_t process_ = 0;  ///< whose connections they are
};

}  // namespace cucore::detail
