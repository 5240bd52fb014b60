// launch: runs a kernel on a stream, with arguments that are checked against the kernel's parameters.
//
//   cucore::LaunchConfig config{.grid = {(n + 255) / 256}, .block = {256}};
//   cucore::launch(stream, config, kernel, 2.0f, x, y, n);      // Buffer arguments pass their address
//
// Arguments: Buffer, pointers, arithmetic types, enums, and any trivially copyable struct, by value. Their number,
// their sizes and, where known, integer against floating point are checked: a mismatch throws TypeError that names the
// parameter, and nothing is launched. bool is 1 byte. Nothing is allocated and nothing is locked on this path.
// Asynchronous: returns when the work is queued; faults in the kernel surface at a later call, Stream::sync() at best.
// The caller keeps buffers alive until the kernel has run; freeing them in stream order does.
// Thread-safety: any threads may launch one kernel with one config on one stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/kernel.hpp"
#include "cucore/stream.hpp"

namespace cucore {

/// Extents; what is not given is 1.
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// How to launch. Made and compared without any driver; checked by launch() against the stream's device.
struct LaunchConfig {
  Dim3 grid = {};   ///< blocks, or clusters if `cluster` is set
  Dim3 block = {};  ///< threads
  /// Blocks per cluster (compute capability 9.0 and later). Then `grid` counts clusters.
  std::optional<Dim3> cluster = std::nullopt;
  /// Bytes of dynamic shared memory. Above the kernel's current limit the limit is raised, up to the device's maximum.
  std::size_t shmem_size = 0;
  /// All blocks run at the same time and can synchronise with one another.
  bool is_cooperative = false;
  /// Overlap with the end of the kernel before it in the stream (compute capability 9.0 and later).
  bool programmatic_stream_serialization = false;
  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

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

/// The unchecked launch beneath that: `values` has one pointer for each of the kernel's parameters.
CUCORE_API void launch_unchecked(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
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

/// What is passed for an argument: a buffer's address, else the value itself.
template <class T>
auto passed_value(const T& argument) {
  if constexpr (std::is_same_v<T, Buffer>) {
    if (!argument) refuse_closed_buffer();
    return reinterpret_cast<void*>(argument.handle());
  } else {
    using Value = std::decay_t<const T>;
    static_assert(std::is_trivially_copyable_v<Value>, "a kernel argument must be trivially copyable, or a Buffer");
    return static_cast<Value>(argument);
  }
}

/// A parameter of TypedKernel::launch: a T, or for pointers a Buffer.
template <class T>
struct Passed {
  Passed(const T& given) : value(given) {}
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

/// Runs `kernel` on `stream`. Errors: as launch_arguments().
template <class... Args>
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, const Args&... args) {
  std::tuple<decltype(detail::passed_value(args))...> values{detail::passed_value(args)...};
  std::apply(
      [&](auto&... value) {
        std::array<void*, sizeof...(Args)> pointers{const_cast<void*>(static_cast<const volatile void*>(&value))...};
        static constexpr std::array<Argument, sizeof...(Args)> kinds{
            Argument{sizeof(value), detail::kind_of<std::decay_t<decltype(value)>>()}...};
        launch_arguments(stream, config, kernel, pointers.data(), kinds);
      },
      values);
}

/// A kernel whose parameters were compared with C++ types once, when this was made, and not at every launch.
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

/// Collects arguments whose types are known only at run time, converting each to the kernel's parameter: the packer of
/// the Python package, and of any other language. Every add_ member throws TypeError if the parameters are used up or
/// the value cannot be passed for the next one, and ValueError if a number does not fit into it.
///
///   cucore::ArgumentPack pack(kernel);
///   pack.add_float(2.0);                 // goes as half, float or double, as the parameter wants
///   pack.add_pointer(buffer.handle());
///   pack.add_integer(n);                 // range-checked against the parameter's width and sign
///   pack.launch(stream, config);
///
/// Where the parameter's type is not known the widths of the peer apply: integers and floats 8 bytes.
/// Holds its values inline; only blocks over 1 KiB or more than 64 arguments allocate. Not thread-safe; use one per
/// launch, on the stack.
class CUCORE_API ArgumentPack {
 public:
  explicit ArgumentPack(const Kernel& kernel);
  ~ArgumentPack();
  ArgumentPack(const ArgumentPack&) = delete;
  ArgumentPack& operator=(const ArgumentPack&) = delete;

  /// A number, or an address where the parameter is a pointer. @throws ValueError out of the parameter's range
  void add_integer(std::int64_t value);
  /// The same, above INT64_MAX.
  void add_unsigned(std::uint64_t value);
  void add_bool(bool value);
  /// To half, bfloat16, float or double by the parameter. An integer parameter refuses it.
  void add_float(double value);
  /// To a pair of floats or doubles by the parameter's size (8 or 16 bytes).
  void add_complex(double real, double imaginary);
  void add_pointer(DevicePointer address);
  /// A value that brings its own type: fixed-width numbers and structs. The size must be the parameter's.
  void add_value(const void* bytes, std::size_t size, ParameterKind kind);

  /// How many have been added.
  std::size_t size() const noexcept { return count_; }
  /// @throws TypeError arguments are missing, or as launch_arguments()
  void launch(const Stream& stream, const LaunchConfig& config) const;
  /// The pointers to the values, for graph nodes. @throws TypeError arguments are missing
  void* const* values() const;

 private:
  const Parameter* next() const;
  void* place(std::size_t size);
  void place_integer(bool negative, std::uint64_t magnitude);

  static constexpr std::size_t inline_bytes = 1024;
  static constexpr std::size_t inline_arguments = 64;
  struct Overflow;

  Kernel kernel_;
  const Signature* signature_;  // the kernel's; null: not known
  std::size_t count_ = 0;
  std::size_t used_ = 0;
  std::array<void*, inline_arguments> inline_values_;
  alignas(64) std::array<std::byte, inline_bytes> inline_block_;
  Overflow* overflow_ = nullptr;
};

}  // namespace cucore
