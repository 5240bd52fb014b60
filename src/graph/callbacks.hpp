// Host callbacks of graphs: what runs on the driver's thread, and where what it throws is recorded.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cucore/error.hpp"

namespace cucore::detail {

/// The last error of the callbacks of a definition or an executable graph. Thread-safe.
struct CallbackErrors {
  /// Records it here and wherever errors from here are to be recorded too.
  void record(const Error& error) noexcept;
  std::optional<Error> last() const;
  /// From now on errors are recorded in `other` too, as long as it lives.
  void also_in(const std::shared_ptr<CallbackErrors>& other);

 private:
  mutable std::mutex mutex_;
  std::optional<Error> last_;
  std::vector<std::weak_ptr<CallbackErrors>> others_;
};

/// A std::function as a host node keeps it.
struct HostCallback : std::enable_shared_from_this<HostCallback> {
  HostCallback(std::function<void()> called, std::shared_ptr<CallbackErrors> recorded)
      : function(std::move(called)), errors(std::move(recorded)) {}
  std::function<void()> function;
  std::shared_ptr<CallbackErrors> errors;
};

/// @throws ValueError empty
std::shared_ptr<const HostCallback> make_host_callback(std::function<void()> function,
                                                       std::shared_ptr<CallbackErrors> errors, const char* call);

/// The driver's function for a HostCallback, which is its user data. What the function throws is recorded, and reported
/// to the release failure handler unless it is a CallbackFailure.
void run_host_callback(void* callback) noexcept;

}  // namespace cucore::detail
