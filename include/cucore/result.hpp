// Result: what a call returned, or the error it threw, for code that does without exceptions.
//
//   auto stream = cucore::attempt([&] { return device.create_stream(); });
//   if (!stream) log(stream.error().what());
//   else use(*stream);
//
// attempt() never throws, whatever function of cucore it calls. Thread-safety: as of the value in it.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "cucore/error.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
/// The error for when there is no memory to make one; made when the library is loaded.
CUCORE_API const Error& host_memory_exhausted() noexcept;
/// The exception in flight as an Error. Never throws.
CUCORE_API Error error_in_flight() noexcept;
}  // namespace detail

/// The error of a call, if it failed.
class Failure {
 public:
  Failure() noexcept = default;
  /// The exception in flight.
  static Failure in_flight() noexcept {
    Failure failure;
    failure.error_ = detail::error_in_flight();
    failure.thrown_ = std::current_exception();
    return failure;
  }
  explicit operator bool() const noexcept { return error_.has_value(); }
  const Error& error() const noexcept { return error_.has_value() ? *error_ : detail::host_memory_exhausted(); }
  [[noreturn]] void rethrow() const { std::rethrow_exception(thrown_); }

 private:
  std::optional<Error> error_;
  std::exception_ptr thrown_;
};

/// Either a T or an error.
template <class T>
class [[nodiscard]] Result {
 public:
  explicit Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  explicit Result(Failure failure) noexcept : failure_(std::move(failure)) {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  /// The value. @throws what the call threw
  T& value() & {
    if (!value_.has_value()) failure_.rethrow();
    return *value_;
  }
  T value() && {
    if (!value_.has_value()) failure_.rethrow();
    return std::move(*value_);
  }
  /// The value; there must be one.
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }
  /// The error; there must be one.
  const Error& error() const noexcept { return failure_.error(); }

 private:
  std::optional<T> value_;
  Failure failure_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  explicit Result(Failure failure) noexcept : failure_(std::move(failure)) {}

  explicit operator bool() const noexcept { return !failure_; }
  /// @throws what the call threw
  void value() const {
    if (failure_) failure_.rethrow();
  }
  /// The error; there must be one.
  const Error& error() const noexcept { return failure_.error(); }

 private:
  Failure failure_;
};

/// Calls `call` and returns its value, or the error it threw.
template <class Call>
auto attempt(Call&& call) noexcept {
  using Value = std::remove_cvref_t<decltype(std::forward<Call>(call)())>;
  try {
    if constexpr (std::is_void_v<Value>) {
      std::forward<Call>(call)();
      return Result<void>();
    } else {
      return Result<Value>(std::forward<Call>(call)());
    }
  } catch (...) {
    return Result<Value>(Failure::in_flight());
  }
}

}  // namespace cucore
