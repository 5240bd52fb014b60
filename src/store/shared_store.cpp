// SharedStore: a store as ProgramCache uses it, with signed entries, one compile a key, deadlines and counts.
// python/cucore/stores/_shared.py is the same for Python, written again on purpose: stores there are Python's objects,
// to be called on Python's threads, and here is no Python to ask. Both follow the rules in docs/cache-format.md.
#include "cucore/shared_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "cucore/error.hpp"
#include "src/formats/sha256.hpp"
#include "src/store/deadline.hpp"
#include "src/store/sealed_entry.hpp"

namespace cucore {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds first_pause{1000}, longest_pause{60000};  // a store that failed is left alone
constexpr milliseconds first_poll{5}, longest_poll{100};         // between looks at what another host compiles
constexpr std::size_t most_hanging = 4;                          // calls; beyond them a store is not asked

std::string random_token() {
  std::random_device random;
  std::array<std::uint8_t, 16> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return detail::to_hex(bytes);
}

}  // namespace

struct SharedStore::State {
  /// A compile under way: its lease, and what its calls may still cost.
  struct Work {
    explicit Work(milliseconds limit) : left(limit) {}
    const std::string token = random_token();
    milliseconds left;
    bool holds = false;

    std::mutex mutex;
    std::condition_variable changed;
    bool has_ended = false;
  };

  /// What bounds a call: what is left to all of its compile, too, or its own limit alone, where the compile waits.
  enum class Budget { of_compile, of_call_alone };

  std::shared_ptr<Store> store;
  SharedStoreOptions options;
  detail::Trust trust;

  mutable std::mutex mutex;
  pid_t process = ::getpid();
  SharedStoreStats stats;
  std::map<std::string, std::shared_ptr<Work>> works;
  milliseconds pause{0};
  Clock::time_point retry_at = {};
  std::shared_ptr<detail::DeadlineCaller> caller = std::make_shared<detail::DeadlineCaller>();

  template <class Value = std::uint64_t>
  void count(Value SharedStoreStats::* which, Value more = 1) {
    const std::lock_guard lock(mutex);
    stats.*which += more;
  }

  /// With the mutex held: in the child of a fork() threads of the parent mean nothing, nor do leases it holds.
  void notice_fork() {
    if (process == ::getpid()) return;
    process = ::getpid();
    works.clear();
    pause = milliseconds(0);
    retry_at = {};
    caller = std::make_shared<detail::DeadlineCaller>();
  }

  /// What the store says; nothing: it threw, was too slow, or is left alone after that.
  template <class Call>
  auto call(Work& work, Budget budget, const Call& made) -> std::optional<std::invoke_result_t<const Call&, Store&>> {
    const Clock::time_point begin = Clock::now();
    milliseconds limit = options.call_limit;
    if (budget == Budget::of_compile) limit = std::min(limit, work.left);
    std::shared_ptr<detail::DeadlineCaller> by;
    {
      const std::lock_guard lock(mutex);
      notice_fork();
      if (limit.count() <= 0 || begin < retry_at || caller->hanging() >= most_hanging) {
        ++stats.skipped;
        return std::nullopt;
      }
      by = caller;
    }
    std::optional<std::invoke_result_t<const Call&, Store&>> answer;
    bool has_thrown = false;
    try {
      answer = by->run(limit, [kept = store, made] { return made(*kept); });
    } catch (const std::exception&) {
      has_thrown = true;
    }
    const Clock::time_point end = Clock::now();
    if (budget == Budget::of_compile) work.left -= std::chrono::ceil<milliseconds>(end - begin);
    const std::lock_guard lock(mutex);
    stats.time += std::chrono::duration_cast<std::chrono::microseconds>(end - begin);
    if (answer) {
      pause = milliseconds(0);
      return answer;
    }
    ++(has_thrown ? stats.errors : stats.timeouts);
    pause = std::clamp(2 * pause, first_pause, longest_pause);
    retry_at = end + pause;
    return std::nullopt;
  }

  std::optional<std::optional<std::string>> get(Work& work, Budget budget, const std::string& key) {
    return call(work, budget, [key](Store& from) { return from.get(key); });
  }
  std::optional<bool> take_lease(Work& work, Budget budget, const std::string& key) {
    return call(work, budget, [key, token = work.token, lasts = options.lease](Store& from) {
      return from.lease(key, token, lasts);
    });
  }
  void release(Work& work, const std::string& key) {
    if (!work.holds) return;
    (void)call(work, Budget::of_compile, [key, token = work.token](Store& from) {
      from.release(key, token);
      return true;
    });
  }

  std::optional<std::string> payload_of(const std::string& key, const std::string& sealed) const {
    try {
      return std::string(detail::unseal(key, sealed, detail::toolkit_of_entries(), trust));
    } catch (const detail::RejectedEntry&) {
      return std::nullopt;
    }
  }

  std::optional<std::string> obtain(const std::string& key, Work& work);
  void renew(const std::string& key, const std::shared_ptr<Work>& work);
  std::shared_ptr<Work> end(const std::string& key);
};

std::optional<std::string> SharedStore::State::obtain(const std::string& key, Work& work) {
  std::optional<std::string> rejected;  // the bytes that were looked at
  const Clock::time_point give_up = Clock::now() + options.wait;
  milliseconds poll = first_poll;
  Budget budget = Budget::of_compile;
  for (;;) {
    const auto sealed = get(work, budget, key);
    if (!sealed) return std::nullopt;
    if (*sealed && *sealed != rejected) {
      if (std::optional<std::string> payload = payload_of(key, **sealed)) return payload;
      rejected = *sealed;
      count(&SharedStoreStats::rejected);
    }
    if (work.holds) return std::nullopt;
    const std::optional<bool> held = take_lease(work, budget, key);
    if (!held) return std::nullopt;
    if (*held) {
      work.holds = true;  // and look once more: it may have been stored between the look and the lease
      continue;
    }
    if (Clock::now() > give_up) {
      count(&SharedStoreStats::wait_timeouts);
      return std::nullopt;
    }
    if (budget == Budget::of_compile) {
      budget = Budget::of_call_alone;
      count(&SharedStoreStats::waits);
    }
    std::this_thread::sleep_for(poll);
    poll = std::min(2 * poll, longest_poll);
  }
}

// Keeps the lease while this process lives and compiles.
void SharedStore::State::renew(const std::string& key, const std::shared_ptr<Work>& work) {
  std::unique_lock lock(work->mutex);
  while (!work->changed.wait_for(lock, std::max(options.lease / 3, first_poll), [&] { return work->has_ended; })) {
    lock.unlock();
    (void)take_lease(*work, Budget::of_call_alone, key);
    lock.lock();
  }
}

std::shared_ptr<SharedStore::State::Work> SharedStore::State::end(const std::string& key) {
  std::shared_ptr<Work> work;
  {
    const std::lock_guard lock(mutex);
    notice_fork();
    const auto found = works.find(key);
    if (found == works.end()) return std::make_shared<Work>(options.compile_limit);
    work = found->second;
    works.erase(found);
  }
  const std::lock_guard lock(work->mutex);
  work->has_ended = true;
  work->changed.notify_all();
  return work;
}

SharedStore::SharedStore(std::shared_ptr<Store> store, SharedStoreOptions options) : state_(std::make_shared<State>()) {
  if (!store) throw ValueError({.call = "SharedStore", .message = "there is no store", .hint = "give a FolderStore"});
  state_->trust = detail::resolve_trust("SharedStore", options.keys, options.allow_unsigned);
  state_->store = std::move(store);
  state_->options = std::move(options);
}
SharedStore::~SharedStore() = default;

SharedStoreStats SharedStore::stats() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stats;
}

std::optional<std::string> SharedStore::obtain(const std::string& key) {
  const auto work = std::make_shared<State::Work>(state_->options.compile_limit);
  if (std::optional<std::string> payload = state_->obtain(key, *work)) {
    state_->release(*work, key);
    state_->count(&SharedStoreStats::hits);
    state_->count(&SharedStoreStats::bytes_in, std::uint64_t{payload->size()});
    return payload;
  }
  state_->count(&SharedStoreStats::misses);
  {
    const std::lock_guard lock(state_->mutex);
    state_->works.insert_or_assign(key, work);
  }
  if (work->holds) std::thread([state = state_, key, work] { state->renew(key, work); }).detach();
  return std::nullopt;
}

void SharedStore::publish(const std::string& key, const std::string& entry) {
  const std::shared_ptr<State::Work> work = state_->end(key);
  if (work->holds && state_->take_lease(*work, State::Budget::of_compile, key) == std::optional(false)) {
    const auto there = state_->get(*work, State::Budget::of_compile, key);
    if (there && *there && state_->payload_of(key, **there)) {
      state_->count(&SharedStoreStats::fenced);
      return;
    }
  }
  const std::string sealed = detail::seal(key, entry, detail::toolkit_of_entries(), state_->trust);
  const auto stored = state_->call(*work, State::Budget::of_compile, [key, sealed](Store& into) {
    into.put(key, sealed);
    return true;
  });
  if (stored) {
    state_->count(&SharedStoreStats::published);
    state_->count(&SharedStoreStats::bytes_out, std::uint64_t{sealed.size()});
  }
  state_->release(*work, key);
}

void SharedStore::abandon(const std::string& key) { state_->release(*state_->end(key), key); }

}  // namespace cucore
