// What bindings to other languages need beyond the public headers, to get to the driver in a few instructions: what a
// launch reads of a kernel and a config, and driver calls with nothing around them.
//
// For cucore's own bindings. Nothing is checked here unless its comment says so, and any version may change all of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cucore/detail/parameter_slot.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

class Context;
class Kernel;
class ObjectCode;
class ResolvedConfig;
class Stream;

namespace detail {

/// The driver's CUlaunchConfig.
struct NativeConfig {
  unsigned grid[3] = {};
  unsigned block[3] = {};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  void* attributes = nullptr;
  unsigned attribute_count = 0;
};

/// All of a config but its stream, if it holds only a grid and a block; else nothing. With such a config neither the
/// device nor the kernel has to be asked before a launch.
CUCORE_API std::optional<NativeConfig> plain_config(const ResolvedConfig& config) noexcept;

/// All that a launch reads of a kernel.
struct KernelPlan {
  KernelHandle handle = nullptr;
  // Set before `learned`, and not changed afterwards. If the parameters are not known, `count` is a number that no
  // launch has.
  mutable const ParameterSlot* slots = nullptr;
  mutable std::uint32_t bytes = 0;
  mutable std::uint32_t count = UINT32_MAX;
  mutable std::atomic<bool> learned = false;
};

/// Lives as long as any copy of the kernel; null if it refers to nothing.
CUCORE_API const KernelPlan* plan_of(const Kernel& kernel) noexcept;

/// code.get_kernel(name) if the code is loaded and that kernel has been asked for before, else nothing. Calls no driver
/// and does not wait for threads that do.
CUCORE_API Kernel known_kernel(const ObjectCode& code, std::string_view name);

/// cuLaunchKernelEx and nothing else: no check, no throw, the driver's answer. `config` has its stream in it.
CUCORE_API int launch_native(const NativeConfig& config, KernelHandle kernel, void* const* values);
/// The same with the values in one block at their offsets, which costs the driver a nanosecond less for each.
CUCORE_API int launch_block(const NativeConfig& config, KernelHandle kernel, void* block, std::size_t bytes);

/// To be called when the driver has refused launch_native() with `code`. If all that was missing was the driver, a
/// context, or what launch_unchecked() asks the device for (dynamic shared memory), it launches; else it throws as that
/// does. The stream is `stream`, not that of `config`.
CUCORE_API void launch_refused(int code, const Stream& stream, const NativeConfig& config, const Kernel& kernel,
                               void* const* values);

/// What the stream is known to be without asking the driver; nothing, or a null Context, if it has to be asked, and of
/// a closed stream.
CUCORE_API std::optional<bool> known_nonblocking(const Stream& stream) noexcept;
CUCORE_API std::optional<int> known_priority(const Stream& stream) noexcept;
CUCORE_API Context known_context(const Stream& stream) noexcept;

/// cuEventRecord and nothing else: no check, no throw, the driver's answer.
CUCORE_API int record_native(EventHandle event, StreamHandle stream) noexcept;

/// cuOccupancyMaxActiveBlocksPerMultiprocessor in the current context and nothing else.
CUCORE_API int max_active_blocks_native(int& blocks, KernelHandle kernel, int block_size,
                                        std::size_t dynamic_shared_memory_size) noexcept;

}  // namespace detail
}  // namespace cucore
