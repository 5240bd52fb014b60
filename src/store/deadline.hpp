// Calls that may take only so long: each is made by a thread that is left to itself if the call does not return in
// time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

namespace cucore::detail {

class DeadlineCaller {
 public:
  DeadlineCaller();
  ~DeadlineCaller();
  DeadlineCaller(const DeadlineCaller&) = delete;
  DeadlineCaller& operator=(const DeadlineCaller&) = delete;

  /// What `call` returns; nothing if it has not returned by `limit`, after which it goes on by itself and must touch
  /// only what it owns. Throws what it throws.
  template <class Call>
  auto run(std::chrono::milliseconds limit, Call call) {
    using Value = std::invoke_result_t<Call&>;
    struct Answer {
      std::optional<Value> value;
      std::exception_ptr error;
    };
    const auto answer = std::make_shared<Answer>();
    const bool is_done = run_task(limit, [answer, call = std::move(call)]() mutable {
      try {
        answer->value.emplace(call());
      } catch (...) {
        answer->error = std::current_exception();
      }
    });
    if (!is_done) return std::optional<Value>();
    if (answer->error) std::rethrow_exception(answer->error);
    return std::move(answer->value);
  }

  /// Calls that have not returned in time, nor since.
  std::size_t hanging() const;

 private:
  struct Worker;
  bool run_task(std::chrono::milliseconds limit, std::function<void()> task);
  std::shared_ptr<Worker> take_worker();

  struct Idle;
  std::shared_ptr<Idle> idle_;
  const pid_t process_;  ///< in the child of a fork() there are no threads to end, and their locks may be held
};

}  // namespace cucore::detail
