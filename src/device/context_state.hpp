// ContextState: what the objects in a context share of it, and the process's primary contexts.
#pragma once

#include <memory>
#include <string>

#include "cucore/driver_types.hpp"
#include "src/handles/handle_registry.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

struct ContextState {
  ContextState() = default;
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;
  ~ContextState();

  ContextHandle handle = nullptr;
  mutable RegistryLinks<ContextState> registry_links;
  int device = 0;
  bool is_primary = false;
  GreenContextHandle green = nullptr;      ///< null unless it is a green context
  OwningHandle<GreenContextTraits> owned;  ///< empty unless it is a green context made here
};

/// The primary context of a device, retained at first need and kept until the process ends: it is what every other user
/// of CUDA in the process shares, and making it again is slow. @throws DriverError
std::shared_ptr<const ContextState> primary_context(int device);

/// The current context; one of cucore's own if the handle is known, else a borrowed one; null if none is current.
std::shared_ptr<const ContextState> current_context();

/// The ordinal of the current context's device; 0 if no context is current. Takes no lock when the context is cucore's
/// own.
int current_device();

/// The context with this handle, as above. The handle is trusted; its device is asked for.
std::shared_ptr<const ContextState> context_of(ContextHandle handle);

/// "Context 0x... of Device 0".
std::string describe(const ContextState& context);

/// The driver's handle of an ordinal (on every known driver the ordinal itself, but that is the driver's to say).
DeviceHandle device_handle(int ordinal);

/// The ordinal of a driver's device handle.
int device_ordinal(DeviceHandle handle);

/// How many devices there are; asked once.
int device_count();

/// "Device 0".
std::string describe_device(int ordinal);

}  // namespace cucore::detail
