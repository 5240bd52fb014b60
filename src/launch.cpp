// launch: check, convert, one driver call. Everything that builds a string is on a cold path below.
#include "cucore/launch.hpp"

#include <string>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/detail/context_scope.hpp"
#include "src/detail/demangle.hpp"
#include "src/detail/kernel_state.hpp"
#include "src/detail/launch_config.hpp"
#include "src/detail/parameter_check.hpp"
#include "src/detail/stream_state.hpp"

namespace cucore {
namespace detail {

void refuse_closed_buffer() {
  throw ValueError({.call = "launch",
                    .message = "a Buffer given as a kernel argument has been closed",
                    .hint = "keep buffers open until the kernels that use them have been launched"});
}

bool fits(const Parameter& parameter, std::size_t size, ParameterKind kind) noexcept {
  if (size != parameter.size) return false;
  switch (parameter.kind) {
    case ParameterKind::floating:
    case ParameterKind::bfloat16:
      // Types like half are structs to C++.
      return kind == parameter.kind || kind == ParameterKind::aggregate || kind == ParameterKind::unknown;
    case ParameterKind::boolean:
    case ParameterKind::signed_integer:
    case ParameterKind::unsigned_integer:
    case ParameterKind::integer:
    case ParameterKind::pointer:
      return kind != ParameterKind::floating && kind != ParameterKind::bfloat16;
    case ParameterKind::unknown:
    case ParameterKind::aggregate:
      return true;
  }
  return true;
}

const char* kind_name(ParameterKind kind) noexcept {
  switch (kind) {
    case ParameterKind::unknown:
      return "value";
    case ParameterKind::boolean:
      return "bool";
    case ParameterKind::signed_integer:
      return "signed integer";
    case ParameterKind::unsigned_integer:
      return "unsigned integer";
    case ParameterKind::integer:
      return "integer";
    case ParameterKind::floating:
      return "floating-point number";
    case ParameterKind::bfloat16:
      return "bfloat16";
    case ParameterKind::pointer:
      return "pointer";
    case ParameterKind::aggregate:
      return "struct";
  }
  return "value";
}

std::string describe_parameter(const Parameter& parameter) {
  std::string text = kind_name(parameter.kind);
  text += " of " + std::to_string(parameter.size) + (parameter.size == 1 ? " byte" : " bytes");
  if (!parameter.type_name.empty()) text += " (" + parameter.type_name + ")";
  return text;
}

void refuse_count(const KernelState& kernel, std::size_t expected, std::size_t given) {
  throw TypeError({.call = "launch",
                   .message = describe(kernel) + " takes " + std::to_string(expected) +
                              (expected == 1 ? " argument, " : " arguments, ") + std::to_string(given) +
                              (given == 1 ? " was given" : " were given"),
                   .hint = given < expected ? "pass one argument for every parameter of the kernel"
                                            : "leave out the arguments the kernel has no parameter for"});
}

void refuse_argument(const KernelState& kernel, std::size_t position, const Parameter& parameter, std::size_t size,
                     ParameterKind kind) {
  const char* hint = "pass a value of exactly the parameter's type";
  if (parameter.kind == ParameterKind::floating && parameter.size == 4 && kind == ParameterKind::floating) {
    hint = "the parameter is a float and the argument a double: write 2.0f, or convert to float";
  } else if (kind == ParameterKind::aggregate || parameter.kind == ParameterKind::aggregate) {
    hint = "the struct must have the same layout on the host and in the kernel";
  }
  throw TypeError({.call = "launch",
                   .message = "argument " + std::to_string(position + 1) + " of " + describe(kernel) +
                              " does not fit: the parameter is a " + describe_parameter(parameter) +
                              ", the argument a " + kind_name(kind) + " of " + std::to_string(size) +
                              (size == 1 ? " byte" : " bytes"),
                   .hint = hint});
}

namespace {

// After a refusal: again in the stream's own context if the thread had none, else an error that names the limit.
void retry_or_fail(driver::CUresult code, const StreamState& stream, const LaunchConfig& config, const Kernel& kernel,
                   const driver::CUlaunchConfig& native, void* const* values) {
  if (code == driver::CUDA_ERROR_INVALID_CONTEXT && !stream.follows_current_context()) {
    ContextScope scope(context_handle(stream));
    code = driver::table().cuLaunchKernelEx(&native, function_of(*kernel.state()), const_cast<void**>(values), nullptr);
    if (code == driver::CUDA_SUCCESS) {
      scope.restore();
      return;
    }
  }
  std::string hint;
  if (code == driver::CUDA_ERROR_INVALID_VALUE || code == driver::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
      code == driver::CUDA_ERROR_INVALID_CLUSTER_SIZE) {
    try {
      hint = exceeded_limit(config, kernel, stream_device(stream));
    } catch (const Error&) {
      hint.clear();  // the refusal itself is what matters
    }
  }
  driver::fail(code, "cuLaunchKernelEx", describe(*kernel.state()) + " in " + describe(stream), hint);
}

void launch_now(const StreamState& stream, const LaunchConfig& config, const Kernel& kernel, const KernelState& state,
                void* const* values) {
  const DriverLaunchConfig native(config, stream.handle);
  if (config.shmem_size != 0) allow_dynamic_shared(state, stream_device(stream), config.shmem_size);
  if (native.native.numAttrs != 0) check_device_features(config, native, kernel, stream_device(stream));
  const driver::CUresult code =
      driver::table().cuLaunchKernelEx(&native.native, function_of(state), const_cast<void**>(values), nullptr);
  if (code != driver::CUDA_SUCCESS) [[unlikely]] {
    retry_or_fail(code, stream, config, kernel, native.native, values);
  }
}

}  // namespace
}  // namespace detail

namespace detail {
namespace {

void check(const KernelState& state, std::span<const Argument> arguments) {
  const Signature* parameters = state.parameters();
  if (parameters == nullptr) return;
  if (parameters->size() != arguments.size()) [[unlikely]] {
    refuse_count(state, parameters->size(), arguments.size());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!fits((*parameters)[i], arguments[i].size, arguments[i].kind)) [[unlikely]] {
      refuse_argument(state, i, (*parameters)[i], arguments[i].size, arguments[i].kind);
    }
  }
}

}  // namespace
}  // namespace detail

void check_arguments(const Kernel& kernel, std::span<const Argument> arguments) {
  detail::check(detail::open_kernel(kernel.state(), "launch"), arguments);
}

void launch_arguments(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, void* const* values,
                      std::span<const Argument> arguments) {
  const detail::StreamState& order = detail::open_stream(stream.state(), "launch");
  const detail::KernelState& state = detail::open_kernel(kernel.state(), "launch");
  detail::check(state, arguments);
  detail::launch_now(order, config, kernel, state, values);
}

void launch_unchecked(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, void* const* values) {
  const detail::StreamState& order = detail::open_stream(stream.state(), "launch");
  const detail::KernelState& state = detail::open_kernel(kernel.state(), "launch");
  detail::launch_now(order, config, kernel, state, values);
}

}  // namespace cucore
