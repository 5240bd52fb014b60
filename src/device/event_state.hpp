// EventState: what all references to an event share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "cucore/event.hpp"
#include "src/device/context_state.hpp"
#include "src/handles/handle_registry.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

struct StreamState;

struct EventState {
  EventState() = default;
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
  ~EventState() { disown(); }

  std::shared_ptr<const ContextState> context;  ///< null for an imported event and one made outside cucore
  OwningHandle<EventTraits> owned;              ///< empty for a borrowed event; goes before the context
  driver::CUevent handle = nullptr;
  EventOptions options;
  std::unique_ptr<const std::array<std::byte, 64>> imported_from;  ///< the descriptor of another process's event
  mutable RegistryLinks<EventState> registry_links;
  mutable std::atomic<bool> is_known{false};  ///< whether it was ever in the registry

  /// Puts an event that owns its handle into the registry, before any other code gets the handle. The handle of most
  /// events is never asked for: they stay out of the registry, and are made and dropped with half the atomic
  /// operations.
  static void make_known(const std::shared_ptr<const EventState>& state) noexcept;

  /// Takes ownership of `handle`, made in `in`; null: in a context that is not known.
  void own(std::shared_ptr<const ContextState> in);
  /// Gives ownership up; the handle is empty if there was none.
  OwningHandle<EventTraits> disown() noexcept;
};

/// "Event 0x... of Device 0".
std::string describe(const EventState& event);

/// The open event's state. @throws StateError closed
const EventState& open_event(const std::shared_ptr<const EventState>& state, const char* call);

/// cuEventRecord; with flags, cuEventRecordWithFlags.
void record_event(const EventState& event, const StreamState& stream, unsigned flags = 0);

}  // namespace cucore::detail
