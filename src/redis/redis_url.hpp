// The URL of a Redis server, taken apart.
#pragma once

#include <string>
#include <string_view>

namespace cucore::detail {

struct RedisUrl {
  std::string path;  ///< of a socket; empty: host and port
  std::string host = "localhost";
  int port = 6379;
  std::string user, password;
  int database = 0;

  /// Where it is, without user and password, for messages.
  std::string where() const { return path.empty() ? host + ":" + std::to_string(port) : path; }
};

/// Throws ValueError: no URL of a server that can be reached; the message does not repeat what may hold a password.
RedisUrl parse_redis_url(std::string_view url);

}  // namespace cucore::detail
