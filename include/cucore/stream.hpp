// Stream: a queue of work on a device, executed in order.
//
//   auto stream = device.create_stream();
//   cucore::launch(stream, config, kernel, n, buffer);
//   auto done = stream.record();           // event after the launch
//   other.wait(done);                      // later work in `other` waits; the host does not
//   stream.sync();                         // the host waits
//
// Ownership: a Stream is a reference to a stream and, through it, to its context. Streams made by create_stream() or
// adopt() are destroyed with the last reference (their pending work still completes); from_handle() borrows. Move-only;
// share() makes another reference. Buffers hold one to the stream they will be freed on.
// Closed: after close(), and when moved from, handle() is null and every active use throws StateError.
// Thread-safety: const members may be called concurrently; close(), release() and moves need exclusion. A caller that
// cannot exclude them calls share() first and works on the copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cucore/driver_types.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct StreamState;
}
class Context;
class Device;
class DeviceResources;
class GraphBuilder;

struct StreamOptions {
  /// Do not synchronise with the legacy default stream.
  bool nonblocking = true;
  /// A lower number is a higher priority; must lie in the device's range. Unset: the lowest priority.
  std::optional<int> priority = std::nullopt;
};

/// Whether a stream is being captured into a graph.
enum class CaptureStatus { none = 0, active = 1, invalidated = 2 };

/// What wait_value() waits for; compares the value in memory with the one given.
enum class WaitCondition {
  greater_or_equal = 0,  ///< their difference, taken with a sign, is not negative: counters may wrap around
  equal = 1,
  any_bit = 2,      ///< they have a bit in common
  any_zero_bit = 3  ///< some bit is set in neither; see DeviceProperties::can_use_stream_wait_value_nor
};

/// How a thread that waits for a stream waits.
enum class SyncPolicy { automatic = 1, spin = 2, yield = 3, blocking_sync = 4 };

/// Whose writes a kernel's memory fences wait for: kernels of different domains do not hold one another up.
enum class MemSyncDomain { default_domain = 0, remote = 1 };

class CUCORE_API Stream {
 public:
  /// The closed stream.
  Stream() noexcept = default;
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept = default;

  /// Refers to a stream that someone else owns; makes no driver call. 0 is the NULL stream, which is not equal to
  /// legacy_default() (1) or per_thread_default() (2). `owner` is kept alive as long as the stream is referred to. For
  /// the handle of a stream that cucore owns this is the same as share(), and `owner` is not needed.
  static Stream from_handle(StreamHandle handle, std::shared_ptr<const void> owner = nullptr);
  /// Takes ownership of a stream made elsewhere (cuStreamDestroy at the end). @throws ValueError null or a default
  /// stream
  static Stream adopt(StreamHandle handle);
  /// The legacy default stream of whatever context is current.
  static const Stream& legacy_default() noexcept;
  /// The calling thread's default stream of whatever context is current.
  static const Stream& per_thread_default() noexcept;

  /// The driver's handle; null when closed (and for the open NULL stream: ask operator bool).
  StreamHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Whether it is exempt from synchronising with the legacy default stream (cuStreamGetFlags, cached).
  bool is_nonblocking() const;
  /// Priority (cuStreamGetPriority, cached).
  int priority() const;
  /// The device of the stream's context.
  Device device() const;
  /// The stream's context; of the default streams, the current one. @throws StateError no context is current
  Context context() const;
  /// What the stream's context was provisioned with: all of the device unless that is a green one.
  DeviceResources resources() const;

  /// Records `event` after the work submitted so far (cuEventRecord). @throws TypeError an IPC event, which is recorded
  /// only when it is made
  void record(const Event& event) const;
  /// As record(), in a stream that is being captured: the graph records the event each time it runs, for others to wait
  /// for (CU_EVENT_RECORD_EXTERNAL). @throws DriverError CUDA_ERROR_ILLEGAL_STATE: nothing is captured here
  void record_external(const Event& event) const;
  /// Makes an event in the stream's context and records it. @throws TypeError IPC together with timing
  Event record(const EventOptions& options = {}) const;
  /// Later work here waits for the event's most recent record; one never recorded is not waited for.
  void wait(const Event& event) const;
  /// As wait(), in a stream that is being captured: the graph waits each time it runs (CU_EVENT_WAIT_EXTERNAL).
  /// @throws DriverError CUDA_ERROR_ILLEGAL_STATE: nothing is captured here
  void wait_external(const Event& event) const;
  /// Later work here waits for the work submitted to `other` so far.
  void wait(const Stream& other) const;
  /// Blocks the calling thread until the work submitted so far has completed. @throws DriverError also for faults of
  /// kernels that ran earlier
  void sync() const;
  /// As sync(), for at most `timeout`; returns whether the work has completed. Asks the driver at intervals
  /// (cuStreamQuery).
  bool sync_for(std::chrono::nanoseconds timeout) const;
  /// Whether all work submitted so far has completed (cuStreamQuery).
  bool is_done() const;
  /// The driver's number of the stream, unique in the process (cuStreamGetId).
  std::uint64_t id() const;
  /// Whether work submitted now is recorded into a graph (cuStreamIsCapturing).
  CaptureStatus capture_status() const;
  /// Builds a graph of what is given to this stream, which the builder shares.
  GraphBuilder create_graph_builder() const;

  /// Calls `function` on a thread of the driver when the work submitted so far has completed; later work here waits for
  /// it to return (cuStreamAddCallback). It must not call CUDA. It is not called if that work failed; what it throws is
  /// reported to the release failure handler. Cannot be captured. @throws ValueError empty  @throws DriverError
  void callback(std::function<void()> function) const;
  /// Later work here waits until the value at `address`, aligned to its size, is as `condition` says
  /// (cuStreamWaitValue32, 64). The host does not wait. Memory of LegacyPinnedMemoryResource and of cuMemAlloc can be
  /// used; memory of a pool, as from Device::allocate(), cannot. @throws DriverError other memory, or not
  /// aligned
  void wait_value(DevicePointer address, std::uint32_t value,
                  WaitCondition condition = WaitCondition::greater_or_equal) const;
  void wait_value(DevicePointer address, std::uint64_t value,
                  WaitCondition condition = WaitCondition::greater_or_equal) const;
  /// Writes a value to such memory when the work submitted so far has completed (cuStreamWriteValue32, 64).
  /// @throws as wait_value()
  void write_value(DevicePointer address, std::uint32_t value) const;
  void write_value(DevicePointer address, std::uint64_t value) const;
  /// Attributes (cuStreamGetAttribute, cuStreamSetAttribute). @throws DriverError a value the driver does not take
  SyncPolicy sync_policy() const;
  void set_sync_policy(SyncPolicy policy) const;
  MemSyncDomain mem_sync_domain() const;
  void set_mem_sync_domain(MemSyncDomain domain) const;

  /// The owner that was given to from_handle(); null if none.
  std::shared_ptr<const void> owner() const noexcept;
  /// Another reference to the same stream.
  Stream share() const;
  /// Drops this reference; the last one to an owned stream destroys it. Closing twice is allowed.
  /// @throws DriverError cuStreamDestroy failed; the stream is closed all the same
  void close();
  /// Gives up ownership: returns the handle, which is then the caller's to destroy, and closes this object.
  /// @throws StateError closed, or other references exist
  StreamHandle release();

  /// By handle; needs no driver call. Closed streams equal one another.
  friend bool operator==(const Stream& a, const Stream& b) noexcept {
    return a.handle() == b.handle() && static_cast<bool>(a) == static_cast<bool>(b);
  }

  /// Internal.
  explicit Stream(std::shared_ptr<const detail::StreamState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::StreamState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::StreamState> state_;
};

}  // namespace cucore
