// RedisStore: entries and leases in a Redis server, by the names and scripts of python/cucore/stores/_redis.py.
#include "cucore/redis_store.hpp"

#include <algorithm>

#include "src/redis/redis_connection.hpp"

namespace cucore {
namespace {

// Takes a lease that is free or one's own; the server's clock ends it.
constexpr std::string_view lease_script = R"(
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1
)";
constexpr std::string_view release_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end";

}  // namespace

struct RedisStore::State {
  State(const std::string& url, const RedisStoreOptions& options)
      : connections(detail::parse_redis_url(url), options.timeout),
        entries(options.prefix + "entry:"),
        leases(options.prefix + "lease:") {}

  detail::RedisConnections connections;
  const std::string entries, leases;
};

RedisStore::RedisStore(const std::string& url, const RedisStoreOptions& options)
    : state_(std::make_unique<State>(url, options)) {}
RedisStore::~RedisStore() = default;

std::optional<std::string> RedisStore::get(const std::string& name) {
  return state_->connections.ask({"GET", state_->entries + name}).text;
}

void RedisStore::put(const std::string& name, std::string_view bytes) {
  (void)state_->connections.ask({"SET", state_->entries + name, bytes});
}

void RedisStore::remove(const std::string& name) { (void)state_->connections.ask({"DEL", state_->entries + name}); }

bool RedisStore::exists(const std::string& name) {
  return state_->connections.ask({"EXISTS", state_->entries + name}).number != 0;
}

std::vector<std::string> RedisStore::list() {
  std::string pattern;  // of names that begin with the prefix, whatever signs of patterns are in it
  for (const char each : state_->entries) {
    if (std::string_view("*?[]^\\").find(each) != std::string_view::npos) pattern += '\\';
    pattern += each;
  }
  pattern += '*';
  std::vector<std::string> names;
  std::string cursor = "0";
  do {
    const detail::RedisReply page = state_->connections.ask({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
    cursor = page.elements.at(0).text.value();
    for (const detail::RedisReply& each : page.elements.at(1).elements) {
      names.push_back(each.text.value().substr(state_->entries.size()));
    }
  } while (cursor != "0");
  std::sort(names.begin(), names.end());  // a server that grows meanwhile may name one twice
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool RedisStore::lease(const std::string& name, const std::string& token, std::chrono::milliseconds lasts) {
  const std::string milliseconds = std::to_string(std::max<std::chrono::milliseconds::rep>(1, lasts.count()));
  return state_->connections.ask({"EVAL", lease_script, "1", state_->leases + name, token, milliseconds}).number == 1;
}

void RedisStore::release(const std::string& name, const std::string& token) {
  (void)state_->connections.ask({"EVAL", release_script, "1", state_->leases + name, token});
}

}  // namespace cucore
