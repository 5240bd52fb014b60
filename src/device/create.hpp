// Creating streams and events in a given context: what Device, Context and Stream share.
#pragma once

#include <memory>

#include "cucore/event.hpp"
#include "cucore/stream.hpp"
#include "src/device/context_state.hpp"

namespace cucore::detail {

/// @throws ValueError the priority is outside the range  @throws DriverError
Stream create_stream(const std::shared_ptr<const ContextState>& context, const StreamOptions& options);

/// @throws TypeError IPC together with timing  @throws DriverError
Event create_event(const std::shared_ptr<const ContextState>& context, const EventOptions& options);

}  // namespace cucore::detail
