// Connections to a Redis server by hiredis.
#include "src/redis/redis_connection.hpp"

#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "cucore/error.hpp"

namespace cucore::detail {
namespace {

constexpr std::size_t most_kept = 8;

/// hiredis writes to sockets that the other side may have closed. The signal that comes then would end the process.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec now = {};
    if (!was_pending_) {
      while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_ = {}, before_ = {};
  bool was_pending_ = false;
};

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};

RedisReply taken(const redisReply& from) {
  RedisReply reply;
  if (from.type == REDIS_REPLY_STRING || from.type == REDIS_REPLY_STATUS) reply.text.emplace(from.str, from.len);
  if (from.type == REDIS_REPLY_INTEGER) reply.number = from.integer;
  for (std::size_t each = 0; from.type == REDIS_REPLY_ARRAY && each < from.elements; ++each) {
    reply.elements.push_back(taken(*from.element[each]));
  }
  return reply;
}

timeval as_timeval(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds);
  return {.tv_sec = static_cast<time_t>(seconds.count()), .tv_usec = static_cast<suseconds_t>(rest.count())};
}

}  // namespace

void RedisConnections::Close::operator()(redisContext* context) const noexcept { redisFree(context); }

void RedisConnections::fail(const std::string& what) const {
  throw StateError({.call = "RedisStore",
                    .message = "the server at " + url_.where() + ": " + what,
                    .hint = "see whether it runs, whether its log says why, and whether user and password are right"});
}

RedisConnections::Connection RedisConnections::open() const {
  const timeval limit = as_timeval(timeout_);
  Connection made(url_.path.empty() ? redisConnectWithTimeout(url_.host.c_str(), url_.port, limit)
                                    : redisConnectUnixWithTimeout(url_.path.c_str(), limit));
  if (!made) fail("there is no memory for a connection");
  if (made->err != 0) fail(made->errstr);
  if (redisSetTimeout(made.get(), limit) != REDIS_OK) fail("its socket takes no time limit");
  const auto say = [&](const std::vector<std::string_view>& words) {
    if (!try_on(*made, words)) fail(made->errstr);
  };
  if (!url_.password.empty() && url_.user.empty()) say({"AUTH", url_.password});
  if (!url_.user.empty()) say({"AUTH", url_.user, url_.password});
  if (url_.database != 0) say({"SELECT", std::to_string(url_.database)});
  return made;
}

std::optional<RedisReply> RedisConnections::try_on(redisContext& connection,
                                                   const std::vector<std::string_view>& words) {
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    starts.push_back(word.data());
    sizes.push_back(word.size());
  }
  const std::unique_ptr<redisReply, FreeReply> reply(static_cast<redisReply*>(
      redisCommandArgv(&connection, static_cast<int>(words.size()), starts.data(), sizes.data())));
  if (!reply) return std::nullopt;
  if (reply->type == REDIS_REPLY_ERROR) {
    throw StateError({.call = "RedisStore",
                      .message = "the server refused " + std::string(words.front()) + ": " + reply->str,
                      .hint = "its log and `redis-cli` may say more"});
  }
  return taken(*reply);
}

RedisConnections::Connection RedisConnections::take_kept() {
  const std::lock_guard lock(mutex_);
  if (process_ != ::getpid()) {
    kept_.clear();  // closes sockets that the parent goes on using
    process_ = ::getpid();
  }
  if (kept_.empty()) return nullptr;
  Connection taken = std::move(kept_.back());
  kept_.pop_back();
  return taken;
}

void RedisConnections::keep(Connection connection) {
  const std::lock_guard lock(mutex_);
  if (process_ == ::getpid() && kept_.size() < most_kept) kept_.push_back(std::move(connection));
}

RedisReply RedisConnections::ask(const std::vector<std::string_view>& words) {
  const NoSigpipe guard;
  Connection connection = take_kept();
  const bool is_kept = connection != nullptr;
  if (!is_kept) connection = open();
  std::optional<RedisReply> reply = try_on(*connection, words);
  const bool is_late = !reply && connection->err == REDIS_ERR_IO && errno == EAGAIN;
  if (is_kept && !reply && !is_late) {
    connection = open();
    reply = try_on(*connection, words);
  }
  if (!reply) fail(connection->errstr);
  keep(std::move(connection));
  return *std::move(reply);
}

}  // namespace cucore::detail
