// launch: runs a kernel on a stream, with arguments that are checked against the kernel's parameters.
//
//   cucore::LaunchConfig config{.grid = {(n + 255) / 256}, .block = {256}};
//   cucore::launch(stream, config, kernel, 2.0f, x, y, n);      // Buffer arguments pass their address
//
// Arguments: Buffer, pointers, arithmetic types, enums, and any trivially copyable struct, by value. Their number,
// their sizes and, where known, integer against floating point are checked: a mismatch throws TypeError that names the
// parameter, and nothing is launched. bool is 1 byte. Nothing is allocated and nothing is locked on this path.
// Asynchronous: returns when the work is queued; faults in the kernel surface at a later call, at the latest at
// Stream::sync(). The caller keeps buffers alive until the kernel has run; freeing them in stream order does.
// Thread-safety: any threads may launch one kernel with one config on one stream.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cucore/argument_pack.hpp"
#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/kernel.hpp"
#include "cucore/launch_config.hpp"
#include "cucore/stream.hpp"

namespace cucore {

class GraphCondition;

/// What the caller says about one argument.
struct Argument {
  std::size_t size = 0;
  ParameterKind kind = ParameterKind::unknown;
};

/// The checked launch beneath the template: `values[i]` points to the bytes of argument i.
/// @throws TypeError number, size or kind does not fit  @throws ValueError the config is impossible
/// @throws StateError stream or kernel closed  @throws DriverError with a hint that names the limit exceeded, if one is
CUCORE_API void launch_arguments(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                 void* const* values, std::span<const Argument> arguments);

/// The check alone. @throws TypeError, StateError as above
CUCORE_API void check_arguments(const Kernel& kernel, std::span<const Argument> arguments);

/// The launch beneath that, which does not check arguments: `values` has one pointer for each parameter.
CUCORE_API void launch_unchecked(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                 void* const* values);
CUCORE_API void launch_unchecked(const Stream& stream, const ResolvedConfig& config, const Kernel& kernel,
                                 void* const* values);

namespace detail {

/// A closed buffer has no address to pass. Throws ValueError.
[[noreturn]] CUCORE_API void refuse_closed_buffer();

template <class T>
constexpr ParameterKind kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return ParameterKind::boolean;
  } else if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
    return ParameterKind::pointer;
  } else if constexpr (std::is_enum_v<T>) {
    return kind_of<std::underlying_type_t<T>>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return ParameterKind::floating;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? ParameterKind::signed_integer : ParameterKind::unsigned_integer;
  } else {
    return ParameterKind::aggregate;
  }
}

/// An object with a kernel_argument(), such as a texture or a surface.
template <class T>
concept SaysKernelArgument = requires(const T& object) { object.kernel_argument(); };

/// What is passed for an argument: a buffer's address, an object's kernel_argument(), a condition's number, else the
/// value itself.
template <class T>
auto passed_value(const T& argument) {
  if constexpr (std::is_same_v<T, Buffer>) {
    if (!argument) refuse_closed_buffer();
    return reinterpret_cast<void*>(argument.handle());
  } else if constexpr (SaysKernelArgument<T>) {
    return argument.kernel_argument();
  } else if constexpr (std::is_same_v<T, GraphCondition>) {
    return argument.handle();
  } else {
    using Value = std::decay_t<const T>;
    static_assert(std::is_trivially_copyable_v<Value>, "a kernel argument must be trivially copyable, or a Buffer");
    return static_cast<Value>(argument);
  }
}

/// A parameter of TypedKernel::launch: a T, for pointers also a Buffer, or an object whose kernel_argument() is a T.
template <class T>
struct Passed {
  Passed(const T& given) : value(given) {}
  template <SaysKernelArgument Object>
    requires std::is_same_v<decltype(std::declval<const Object&>().kernel_argument()), std::uint64_t> &&
             std::is_integral_v<T> && (sizeof(T) == sizeof(std::uint64_t))
  Passed(const Object& object) : value(static_cast<T>(object.kernel_argument())) {}
  T value;
};
template <class T>
struct Passed<T*> {
  Passed(T* given) : value(given) {}
  Passed(const Buffer& buffer) : value(reinterpret_cast<T*>(buffer.handle())) {
    if (!buffer) refuse_closed_buffer();
  }
  T* value;
};

}  // namespace detail

namespace detail {

/// Calls `run(values, arguments)` with a pointer to each argument's value and what it is.
template <class Run, class... Args>
void with_values(Run&& run, const Args&... args) {
  std::tuple<decltype(passed_value(args))...> values{passed_value(args)...};
  std::apply(
      [&](auto&... value) {
        std::array<void*, sizeof...(Args)> pointers{const_cast<void*>(static_cast<const volatile void*>(&value))...};
        static constexpr std::array<Argument, sizeof...(Args)> kinds{
            Argument{sizeof(value), kind_of<std::decay_t<decltype(value)>>()}...};
        run(pointers.data(), std::span<const Argument>(kinds));
      },
      values);
}

}  // namespace detail

/// Runs `kernel` on `stream`. Errors: as launch_arguments().
template <class... Args>
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, const Args&... args) {
  detail::with_values(
      [&](void* const* values, std::span<const Argument> arguments) {
        launch_arguments(stream, config, kernel, values, arguments);
      },
      args...);
}

/// A kernel and a config prepared to be launched together many times: the config is checked and brought into the
/// driver's form once, and the device is asked once for what it must support (clusters, cooperative launches).
///
///   const cucore::Launcher step(kernel, {.grid = {blocks}, .block = {256}});
///   for (...) step(stream, 2.0f, x, y, n);
///
/// A cheap copyable value. Thread-safety: any threads may launch one Launcher.
class CUCORE_API Launcher {
 public:
  /// @throws ValueError as ResolvedConfig  @throws StateError `kernel` refers to nothing
  Launcher(Kernel kernel, const LaunchConfig& config);

  /// Errors: as launch().
  template <class... Args>
  void operator()(const Stream& stream, const Args&... args) const {
    detail::with_values(
        [&](void* const* values, std::span<const Argument> arguments) {
          check_arguments(kernel(), arguments);
          launch_unchecked(stream, values);
        },
        args...);
  }
  /// The launch beneath that: `values` has one pointer for each parameter.
  void launch_unchecked(const Stream& stream, void* const* values) const;

  const Kernel& kernel() const noexcept;
  const LaunchConfig& config() const noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// A kernel whose parameters are compared with C++ types once, when this object is made, and not at every launch.
///
///   const cucore::TypedKernel<float, const float*, float*, int> saxpy(code.get_kernel("saxpy<float>"));
///   saxpy.launch(stream, config, 2.0f, x, y, n);     // converts as a C++ call does; a Buffer fits a pointer
///
/// A cheap copyable value, as Kernel is. Thread-safety: as Kernel.
template <class... Args>
class TypedKernel {
 public:
  /// @throws TypeError the kernel's parameters are not Args  @throws StateError the kernel refers to nothing
  explicit TypedKernel(Kernel kernel) : kernel_(std::move(kernel)) {
    static_assert((std::is_trivially_copyable_v<Args> && ...), "a kernel argument must be trivially copyable");
    static constexpr std::array<Argument, sizeof...(Args)> kinds{Argument{sizeof(Args), detail::kind_of<Args>()}...};
    check_arguments(kernel_, kinds);
  }

  /// Errors: as launch(), less what was checked before.
  void launch(const Stream& stream, const LaunchConfig& config, const detail::Passed<Args>&... args) const {
    std::tuple<Args...> values{args.value...};
    std::apply(
        [&](auto&... value) {
          std::array<void*, sizeof...(Args)> pointers{const_cast<void*>(static_cast<const volatile void*>(&value))...};
          launch_unchecked(stream, config, kernel_, pointers.data());
        },
        values);
  }

  const Kernel& kernel() const noexcept { return kernel_; }

 private:
  Kernel kernel_;
};

/// The same, its parameters written as the kernel's declaration has them: TypedKernel<void(float, const float*, int)>.
template <class... Args>
class TypedKernel<void(Args...)> : public TypedKernel<Args...> {
 public:
  using TypedKernel<Args...>::TypedKernel;
};

}  // namespace cucore
