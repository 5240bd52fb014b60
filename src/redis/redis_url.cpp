// Takes the URL of a Redis server apart.
#include "src/redis/redis_url.hpp"

#include <charconv>
#include <optional>

#include "cucore/error.hpp"

namespace cucore::detail {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw ValueError({.call = "RedisStore",
                    .message = "the URL " + why,
                    .hint = "write redis://[:password@]host[:port][/database] or unix:///path/of/socket"});
}

/// What stands before a separator, which is removed with it; nothing if it is not there.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + separator.size());
  return taken;
}

int number(std::string_view text, int most, const std::string& what) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
    refuse("has no " + what + " from 0 to " + std::to_string(most));
  return value;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2)
      refuse("has a percent sign without two hex digits");
    decoded += static_cast<char>(byte);
    at += 2;
  }
  return decoded;
}

void read_credentials(std::string_view& rest, RedisUrl& url) {
  const std::size_t at = rest.rfind('@', rest.find('/'));
  if (at == std::string_view::npos) return;
  std::string_view said = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  if (const auto user = take_until(said, ":")) {
    url.user = percent_decoded(*user);
    url.password = percent_decoded(said);
  } else {
    url.user = percent_decoded(said);
  }
}

void read_socket(std::string_view rest, RedisUrl& url) {
  std::string_view path = rest;
  if (const auto before = take_until(rest, "?")) {
    path = *before;
    if (!rest.starts_with("db=")) refuse("of a socket takes ?db= and nothing else");
    url.database = number(rest.substr(3), 65535, "database");
  }
  url.path = percent_decoded(path);
  if (!url.path.starts_with('/')) refuse("of a socket needs its whole path");
}

void read_host(std::string_view rest, RedisUrl& url) {
  if (rest.find('?') != std::string_view::npos) refuse("takes no options behind a question mark");
  std::string_view host = rest;
  if (const auto before = take_until(rest, "/")) {
    host = *before;
    if (!rest.empty()) url.database = number(rest, 65535, "database");
  }
  if (host.starts_with('[')) {  // IPv6
    host.remove_prefix(1);
    const auto address = take_until(host, "]");
    if (!address || (!host.empty() && !host.starts_with(':'))) refuse("has a bracket that does not close");
    url.host = *address;
    if (!host.empty()) url.port = number(host.substr(1), 65535, "port");
    return;
  }
  const auto name = take_until(host, ":");
  if (name) url.port = number(host, 65535, "port");
  const std::string_view said = name.value_or(host);
  if (!said.empty()) url.host = percent_decoded(said);
}

}  // namespace

RedisUrl parse_redis_url(std::string_view text) {
  const auto scheme = take_until(text, "://");
  if (scheme == "rediss" || scheme == "valkeys") {
    throw ValueError({.call = "RedisStore",
                      .message = "hiredis is used without TLS here",
                      .hint = "let a tunnel such as stunnel speak TLS, and give its socket"});
  }
  RedisUrl url;
  if (scheme == "unix") {
    read_credentials(text, url);
    read_socket(text, url);
  } else if (scheme == "redis" || scheme == "valkey") {
    read_credentials(text, url);
    read_host(text, url);
  } else {
    refuse("does not begin with redis://, valkey:// or unix://");
  }
  return url;
}

}  // namespace cucore::detail
