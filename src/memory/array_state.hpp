// ArrayState, MipmappedArrayState: what all references to an array share.
#pragma once

#include <memory>
#include <string>

#include "cucore/opaque_array.hpp"
#include "src/device/context_state.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

struct ArrayState {
  OpaqueArrayOptions made_with;
  std::shared_ptr<const ContextState> context;
  std::shared_ptr<const void> owner;  ///< what a borrowed array, or a level, is part of
  ArrayHandle handle = nullptr;
  OwningHandle<ArrayTraits> owned;  ///< empty for a borrowed array; goes before the context

  std::size_t element_bytes() const noexcept { return format_bytes(made_with.format) * made_with.num_channels; }
  std::size_t size_bytes() const noexcept;
};

struct MipmappedArrayState {
  MipmappedArrayOptions made_with;
  std::shared_ptr<const ContextState> context;
  MipmappedArrayHandle handle = nullptr;
  OwningHandle<MipmappedArrayTraits> owned;  ///< goes before the context
};

/// "OpaqueArray 0x... of Device 0".
std::string describe(const ArrayState& array);
std::string describe(const MipmappedArrayState& array);

/// @throws StateError closed
const ArrayState& open_array(const std::shared_ptr<const ArrayState>& state, const char* call);
const MipmappedArrayState& open_array(const std::shared_ptr<const MipmappedArrayState>& state, const char* call);

/// What Context::create_opaque_array() and create_mipmapped_array() do. @throws ValueError, DriverError
OpaqueArray create_opaque_array(const std::shared_ptr<const ContextState>& context, const OpaqueArrayOptions& options);
MipmappedArray create_mipmapped_array(const std::shared_ptr<const ContextState>& context,
                                      const MipmappedArrayOptions& options);

/// @throws ValueError a format that the driver does not know, or a number of channels other than 1, 2 or 4
void check_element(const char* call, ArrayFormat format, unsigned num_channels);

}  // namespace cucore::detail
