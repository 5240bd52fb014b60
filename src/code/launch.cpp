// launch: check, one driver call. Everything that builds a string is on a cold path below.
#include "cucore/launch.hpp"

#include <atomic>
#include <bit>
#include <string>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/launch_config.hpp"
#include "src/code/parameter_check.hpp"
#include "src/device/stream_state.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore {
namespace detail {

void refuse_closed_buffer() {
  throw ValueError({.call = "launch",
                    .message = "a Buffer given as a kernel argument has been closed",
                    .hint = "keep buffers open until the kernels that use them have been launched"});
}

namespace {

// After a refusal: launches again in the stream's context if the thread had none, else throws an error that names the
// limit.
[[gnu::cold, gnu::noinline]] void retry_or_fail(driver::CUresult code, const StreamState& stream,
                                                const driver::CUlaunchConfig& config, const Kernel& kernel,
                                                void* const* values) {
  if (code == driver::CUDA_ERROR_INVALID_CONTEXT && !stream.follows_current_context()) {
    ContextScope scope(context_handle(stream));
    code = driver::table().cuLaunchKernelEx(&config, function_of(*kernel.state()), const_cast<void**>(values), nullptr);
    if (code == driver::CUDA_SUCCESS) {
      scope.restore();
      return;
    }
  }
  std::string hint;
  if (code == driver::CUDA_ERROR_INVALID_VALUE || code == driver::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
      code == driver::CUDA_ERROR_INVALID_CLUSTER_SIZE || code == driver::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) {
    try {
      const int device = stream_device(stream);
      hint = exceeded_limit(config, kernel, device);
      if (hint.empty()) check_device_features(config, kernel, device);
    } catch (const DriverError&) {
      hint.clear();  // the refusal itself is what matters
    }
  }
  driver::fail(code, "cuLaunchKernelEx", describe(*kernel.state()) + " in " + describe(stream), hint);
}

/// Devices, by ordinal, that were found to support a launcher's config.
using SuitedDevices = std::atomic<std::uint64_t>;

[[gnu::noinline]] void allow_shared(const StreamState& stream, const driver::CUlaunchConfig& config,
                                    const Kernel& kernel) {
  allow_dynamic_shared(*kernel.state(), stream_device(stream), config.sharedMemBytes);
}

[[gnu::noinline]] void ask_device(const StreamState& stream, const driver::CUlaunchConfig& config, const Kernel& kernel,
                                  SuitedDevices* suited) {
  const int device = stream_device(stream);
  const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
  if (suited != nullptr && (suited->load(std::memory_order_relaxed) & bit) != 0) return;
  check_device_features(config, kernel, device);
  if (suited != nullptr) suited->fetch_or(bit, std::memory_order_relaxed);
}

inline void launch_now(const StreamState& stream, const DriverLaunchConfig& config, const Kernel& kernel,
                       void* const* values, SuitedDevices* suited = nullptr) {
  driver::CUlaunchConfig native = config.native;
  native.hStream = stream.handle;
  if (native.sharedMemBytes != 0) allow_shared(stream, native, kernel);
  if (config.needs_device) ask_device(stream, native, kernel, suited);
  const driver::CUresult code =
      driver::table().cuLaunchKernelEx(&native, function_of(*kernel.state()), const_cast<void**>(values), nullptr);
  if (code != driver::CUDA_SUCCESS) [[unlikely]] {
    retry_or_fail(code, stream, native, kernel, values);
  }
}

inline void check(const KernelState& state, std::span<const Argument> arguments) {
  const Signature* parameters = state.parameters();
  if (parameters == nullptr) return;
  if (parameters->size() != arguments.size()) [[unlikely]] {
    refuse_count(state, parameters->size(), arguments.size());
  }
  const ParameterSlot* slots = parameters->slots();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!fits(slots[i], arguments[i].size, arguments[i].kind)) [[unlikely]] {
      refuse_argument(state, i, (*parameters)[i], arguments[i].size, arguments[i].kind);
    }
  }
}

}  // namespace
}  // namespace detail

namespace detail {

// launch_config.cpp compares the two structs of a config.
[[gnu::hot]] int launch_native(const NativeConfig& config, KernelHandle kernel, void* const* values) {
  const driver::Table* const table = driver::table_for_release();
  if (table == nullptr) [[unlikely]] {
    return driver::CUDA_ERROR_DEINITIALIZED;
  }
  return table->cuLaunchKernelEx(reinterpret_cast<const driver::CUlaunchConfig*>(&config),
                                 reinterpret_cast<driver::CUfunction>(kernel), const_cast<void**>(values), nullptr);
}

int launch_block(const NativeConfig& config, KernelHandle kernel, void* block, std::size_t bytes) {
  const driver::Table* const table = driver::table_for_release();
  if (table == nullptr) return driver::CUDA_ERROR_DEINITIALIZED;
  void* const buffer_pointer = reinterpret_cast<void*>(1);  // CU_LAUNCH_PARAM_BUFFER_POINTER
  void* const buffer_size = reinterpret_cast<void*>(2);     // CU_LAUNCH_PARAM_BUFFER_SIZE
  void* extra[] = {buffer_pointer, block, buffer_size, &bytes, nullptr};
  return table->cuLaunchKernelEx(reinterpret_cast<const driver::CUlaunchConfig*>(&config),
                                 reinterpret_cast<driver::CUfunction>(kernel), nullptr, extra);
}

void launch_refused(int code, const Stream& stream, const NativeConfig& config, const Kernel& kernel,
                    void* const* values) {
  const StreamState& stream_state = open_stream(stream.state(), "launch");
  open_kernel(kernel.state(), "launch");
  auto native = std::bit_cast<driver::CUlaunchConfig>(config);
  native.hStream = stream_state.handle;
  // That call was made without asking the device first, and not at all if the driver was not open: this one opens the
  // driver, or says why it may not be called.
  const bool is_plain = native.sharedMemBytes == 0 && native.numAttrs == 0;
  if (native.sharedMemBytes != 0) allow_shared(stream_state, native, kernel);
  if (native.numAttrs != 0) ask_device(stream_state, native, kernel, nullptr);
  if (!is_plain || code == driver::CUDA_ERROR_DEINITIALIZED) {
    code = driver::table().cuLaunchKernelEx(&native, function_of(*kernel.state()), const_cast<void**>(values), nullptr);
    if (code == driver::CUDA_SUCCESS) return;
  }
  retry_or_fail(code, stream_state, native, kernel, values);
}

}  // namespace detail

void check_arguments(const Kernel& kernel, std::span<const Argument> arguments) {
  detail::check(detail::open_kernel(kernel.state(), "launch"), arguments);
}

void launch_arguments(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, void* const* values,
                      std::span<const Argument> arguments) {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "launch");
  detail::check(detail::open_kernel(kernel.state(), "launch"), arguments);
  detail::launch_now(stream_state, detail::DriverLaunchConfig(config), kernel, values);
}

void launch_unchecked(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, void* const* values) {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "launch");
  detail::open_kernel(kernel.state(), "launch");
  detail::launch_now(stream_state, detail::DriverLaunchConfig(config), kernel, values);
}

void launch_unchecked(const Stream& stream, const ResolvedConfig& config, const Kernel& kernel, void* const* values) {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "launch");
  detail::open_kernel(kernel.state(), "launch");
  detail::launch_now(stream_state, config.native(), kernel, values);
}

struct Launcher::State {
  State(Kernel launched, const LaunchConfig& how) : kernel(std::move(launched)), config(how), native(how) {}
  Kernel kernel;
  LaunchConfig config;
  detail::DriverLaunchConfig native;
  mutable detail::SuitedDevices suited{0};
};

Launcher::Launcher(Kernel kernel, const LaunchConfig& config) {
  detail::open_kernel(kernel.state(), "Launcher").parameters();  // learned here rather than at the first launch
  state_ = std::make_shared<const State>(std::move(kernel), config);
}

void Launcher::launch_unchecked(const Stream& stream, void* const* values) const {
  detail::launch_now(detail::open_stream(stream.state(), "launch"), state_->native, state_->kernel, values,
                     &state_->suited);
}

const Kernel& Launcher::kernel() const noexcept { return state_->kernel; }

const LaunchConfig& Launcher::config() const noexcept { return state_->config; }

}  // namespace cucore
