// Event: a mark in a stream, to wait for, to query, or to measure the time between two.
//
// Making an event and recording it are separate; the stream is chosen at record time, and an event may be recorded any
// number of times (the last record counts):
//
//   auto start = device.create_event({.timing_enabled = true});
//   auto end = device.create_event({.timing_enabled = true});
//   start.record(stream);
//   cucore::launch(stream, config, kernel, args...);
//   end.record(stream);
//   end.sync();
//   float milliseconds = end.elapsed_time(start);   // or, as a std::chrono duration: end - start
//
// Ownership, closed state and thread-safety: as of Stream. An event keeps its context alive.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

class Context;
class Device;
class Event;
class Stream;

namespace detail {
struct EventState;

/// The driver's handle, only for a driver call or a comparison: unlike the result of Event::handle(), it may not lead
/// from_handle() back to the event.
CUCORE_API EventHandle native_handle(const Event& event) noexcept;
}  // namespace detail

struct EventOptions {
  bool timing_enabled = false;  ///< can be used with elapsed_time(); costs a little
  bool blocking_sync = false;   ///< sync() sleeps instead of spinning
  bool ipc_enabled = false;     ///< can be opened by another process; excludes timing
};

class CUCORE_API Event {
 public:
  /// The closed event.
  Event() noexcept = default;
  Event(Event&&) noexcept = default;
  Event& operator=(Event&&) noexcept = default;

  /// Refers to an event that someone else owns; `options` says how it was made, since the driver cannot be asked. For
  /// the handle of an event that cucore owns this is the same as share(), and `options` is ignored.
  /// @throws ValueError null
  static Event from_handle(EventHandle handle, const EventOptions& options = {});
  /// Takes ownership of an event made elsewhere (cuEventDestroy at the end). @throws ValueError null
  static Event adopt(EventHandle handle, const EventOptions& options = {});
  /// Opens another process's event from the 64 bytes its ipc_descriptor() gave, in the current context.
  /// @throws ValueError fewer than 64 bytes  @throws DriverError
  static Event from_ipc_descriptor(std::span<const std::byte> descriptor, bool blocking_sync);

  /// The driver's handle; null when closed.
  EventHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  bool is_timing_enabled() const;
  bool is_blocking_sync() const;
  bool is_ipc_enabled() const;
  /// The device; none for imported events and those made outside cucore.
  std::optional<Device> device() const;
  /// The context; closed for imported events and those made outside cucore.
  Context context() const;

  /// Records the event after the work submitted to `stream` so far; the same as stream.record(event).
  void record(const Stream& stream) const;
  /// Whether the work before the last record has completed; true for one never recorded (cuEventQuery).
  bool is_done() const;
  /// Blocks the calling thread until is_done() (cuEventSynchronize). @throws DriverError also for faults of kernels
  void sync() const;
  /// As sync(), for at most `timeout`; returns whether it is done. Asks the driver at intervals (cuEventQuery).
  bool sync_for(std::chrono::nanoseconds timeout) const;
  /// Later work in `stream` waits for the last record; the same as stream.wait(event).
  void wait_on(const Stream& stream) const;
  /// Milliseconds from `start` to this event, with a resolution of about half a microsecond. Never waits.
  /// @throws StateError which says what is missing: an event was made without timing enabled, they are of different
  ///   devices, one must be recorded first, or one has not completed
  /// @throws DriverError for any other answer
  float elapsed_time(const Event& start) const;
  /// The same as a duration, which std::chrono converts to any other unit.
  friend std::chrono::duration<float, std::milli> operator-(const Event& end, const Event& start) {
    return std::chrono::duration<float, std::milli>(end.elapsed_time(start));
  }

  /// The bytes another process opens the event with; of an event that this process opened, those it was opened with.
  /// @throws StateError the event is not IPC-enabled
  std::array<std::byte, 64> ipc_descriptor() const;

  /// Another reference to the same event.
  Event share() const;
  /// Drops this reference; the last one to an owned event destroys it. Closing twice is allowed.
  /// @throws DriverError cuEventDestroy failed; the event is closed all the same
  void close();
  /// Gives up ownership: returns the handle, which is then the caller's to destroy, and closes this object.
  /// @throws StateError closed, or other references exist
  EventHandle release();

  /// By handle; needs no driver call.
  friend bool operator==(const Event& a, const Event& b) noexcept {
    return detail::native_handle(a) == detail::native_handle(b);
  }

  /// Internal.
  explicit Event(std::shared_ptr<const detail::EventState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::EventState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::EventState> state_;
};

}  // namespace cucore
