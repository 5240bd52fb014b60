// RedisStore against a real server that the test starts, ends and stops; and the URLs it takes.
#include "cucore/redis_store.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cucore/error.hpp"
#include "src/redis/redis_url.hpp"
#include "tests/unit/store/lease_contract.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

/// A server on a socket of its own, with a password.
class Server {
 public:
  explicit Server(const std::filesystem::path& folder) : folder_(folder) { start(); }
  ~Server() { end(); }

  void start() {
    process_ = ::fork();
    if (process_ == 0) {
      const int nothing = ::open("/dev/null", O_WRONLY);
      ::dup2(nothing, STDOUT_FILENO);
      ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket().c_str(), "--requirepass",
               "s:cret", "--save", "", "--dir", folder_.c_str(), nullptr);
      ::_exit(127);
    }
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    for (;;) {
      try {
        (void)RedisStore(url()).exists("a");
        return;
      } catch (const StateError&) {
        if (std::chrono::steady_clock::now() > give_up) throw;
        std::this_thread::sleep_for(10ms);
      }
    }
  }
  void end() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  void stop() const { ::kill(process_, SIGSTOP); }
  void go_on() const { ::kill(process_, SIGCONT); }

  std::string socket() const { return (folder_ / "socket").string(); }
  std::string url() const { return "unix://:s%3Acret@" + socket(); }

 private:
  const std::filesystem::path folder_;
  pid_t process_ = -1;
};

class redis_store : public testing::Test {
 protected:
  SharedStore host() const {
    return SharedStore(std::make_shared<RedisStore>(server_.url()),
                       {.keys = KeyRing({{"k", std::string(16, 's')}}), .lease = 200ms, .wait = 20s});
  }

  test::TemporaryFolder folder_;
  Server server_{folder_.path()};
};

std::string message_of(const auto& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(redis_store, keeps_entries_of_any_bytes) {
  RedisStore store(server_.url(), {.prefix = "a[*]:"}), other(server_.url(), {.prefix = "a*:"});
  const std::string bytes("\0\r\n$-1\xff", 7);
  EXPECT_FALSE(store.get("abc"));
  EXPECT_FALSE(store.exists("abc"));
  store.put("abc", bytes);
  store.put("def", "");
  other.put("of-another-prefix", "1");
  EXPECT_EQ(store.get("abc"), bytes);
  EXPECT_EQ(store.get("def"), "");
  EXPECT_TRUE(store.exists("abc"));
  EXPECT_THAT(store.list(), UnorderedElementsAre("abc", "def"));
  store.remove("abc");
  store.remove("abc");
  EXPECT_FALSE(store.exists("abc"));
}

TEST_F(redis_store, lists_more_than_a_page) {
  RedisStore store(server_.url());
  for (int each = 0; each < 2500; ++each) store.put("n" + std::to_string(each), "1");
  EXPECT_EQ(store.list().size(), 2500U);
}

TEST_F(redis_store, leases_have_one_holder_and_end) {
  RedisStore mine(server_.url()), yours(server_.url());
  test::expect_one_holder(mine, yours);
  EXPECT_TRUE(yours.lease("abc", "you", 20ms));
  while (!mine.lease("abc", "me", 60s)) std::this_thread::sleep_for(5ms);
}

TEST_F(redis_store, one_host_compiles_and_the_others_wait) {
  test::expect_one_compile([this] { return host(); }, std::string(64, 'a'));
}

TEST_F(redis_store, a_server_that_was_started_again_is_used_again) {
  RedisStore store(server_.url());
  store.put("abc", "1");
  server_.end();
  EXPECT_THAT(message_of([&] { store.put("abc", "2"); }), HasSubstr(server_.socket()));
  server_.start();
  store.put("abc", "3");
  EXPECT_EQ(store.get("abc"), "3");

  store.put("abc", std::string(1 << 20, 'x'));  // kept connections are gone in the middle of what is written, too
  server_.end();
  server_.start();
  store.put("abc", std::string(1 << 20, 'y'));
  EXPECT_EQ(store.get("abc"), std::string(1 << 20, 'y'));
}

TEST_F(redis_store, a_server_that_does_not_answer_is_late) {
  RedisStore store(server_.url(), {.timeout = 50ms});
  store.put("abc", "1");
  server_.stop();
  EXPECT_THAT(message_of([&] { (void)store.get("abc"); }), HasSubstr("the server at"));
  server_.go_on();
  for (;;) {  // the answer that came late belongs to no other call
    try {
      EXPECT_EQ(store.get("abc"), "1");
      break;
    } catch (const StateError&) {
    }
  }
}

TEST_F(redis_store, a_forked_child_has_connections_of_its_own) {
  RedisStore store(server_.url());
  store.put("abc", "parent");
  const pid_t child = ::fork();
  if (child == 0) {
    for (int each = 0; each < 100; ++each) store.put("child", std::to_string(each));
    ::_exit(store.get("child") == "99" ? 0 : 1);
  }
  for (int each = 0; each < 100; ++each) EXPECT_EQ(store.get("abc"), "parent");
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(redis_store, a_password_that_is_wrong_is_not_repeated) {
  const std::string said = message_of([&] { RedisStore("unix://:guess@" + server_.socket()).remove("abc"); });
  EXPECT_THAT(said, HasSubstr("AUTH"));
  EXPECT_THAT(said, Not(HasSubstr("guess")));
}

TEST(redis_url, names_a_server) {
  const auto url = detail::parse_redis_url("redis://me:a%40b%2f@cache.example:7000/3");
  EXPECT_EQ(url.host, "cache.example");
  EXPECT_EQ(url.port, 7000);
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "a@b/");
  EXPECT_EQ(url.database, 3);
  EXPECT_EQ(url.where(), "cache.example:7000");
  EXPECT_EQ(detail::parse_redis_url("valkey://").where(), "localhost:6379");
  EXPECT_EQ(detail::parse_redis_url("redis://[::1]:1/0").where(), "::1:1");
  EXPECT_EQ(detail::parse_redis_url("redis://:p@host").password, "p");
  EXPECT_EQ(detail::parse_redis_url("unix:///run/redis?db=2").database, 2);
  EXPECT_EQ(detail::parse_redis_url("unix://u:p@/run/redis").path, "/run/redis");
}

TEST(redis_url, says_what_is_wrong) {
  for (const char* url : {"", "http://a", "redis:/a", "redis://a:b", "redis://a:70000", "redis://a/b",
                          "redis://a/1?x=1", "redis://[::1", "redis://[::1]x", "redis://a%4", "redis://a%zz",
                          "unix://run/redis", "unix:///run/redis?x=1", "unix://", "rediss://a"}) {
    EXPECT_THROW((void)RedisStore(url), ValueError) << url;
  }
  EXPECT_THAT(message_of([] { RedisStore store("http://:secret@a"); }), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace cucore
