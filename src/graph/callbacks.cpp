// Host callbacks of graphs.
#include "src/graph/callbacks.hpp"

#include <exception>
#include <string>

#include "cucore/graph_node.hpp"
#include "src/handles/release_report.hpp"

namespace cucore::detail {

void CallbackErrors::record(const Error& error) noexcept {
  try {
    std::vector<std::shared_ptr<CallbackErrors>> others;
    {
      const std::scoped_lock lock(mutex_);
      last_ = error;
      std::erase_if(others_, [&](const auto& other) {
        auto alive = other.lock();
        if (alive == nullptr) return true;
        others.push_back(std::move(alive));
        return false;
      });
    }
    for (const auto& other : others) other->record(error);
  } catch (...) {  // no memory to say more
  }
}

std::optional<Error> CallbackErrors::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

void CallbackErrors::also_in(const std::shared_ptr<CallbackErrors>& other) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(others_, [](const auto& each) { return each.expired(); });
  for (const auto& each : others_) {
    if (each.lock() == other) return;
  }
  others_.push_back(other);
}

std::shared_ptr<const HostCallback> make_host_callback(std::function<void()> function,
                                                       std::shared_ptr<CallbackErrors> errors, const char* call) {
  if (function == nullptr) {
    throw ValueError({.call = call, .message = "the callback is empty", .hint = "pass a function to call"});
  }
  return std::make_shared<const HostCallback>(std::move(function), std::move(errors));
}

void run_host_callback(void* callback) noexcept {
  const auto* const called = static_cast<const HostCallback*>(callback);
  const auto failed = [&](const char* what) noexcept {
    try {
      const StateError error(
          {.call = "GraphPoint::callback", .message = std::string("a callback of a graph threw: ") + what});
      called->errors->record(error);
      report_release_failure(error);
    } catch (...) {  // no memory to say so
    }
  };
  try {
    called->function();
  } catch (const CallbackFailure& error) {
    called->errors->record(error);
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("something that is not a std::exception");
  }
}

}  // namespace cucore::detail
