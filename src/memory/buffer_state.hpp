// BufferState: what all references to a buffer share, and how to free the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cucore/driver_types.hpp"
#include "src/device/context_state.hpp"
#include "src/device/stream_state.hpp"
#include "src/handles/live_buffers.hpp"

namespace cucore {
class MemoryResource;
}

namespace cucore::detail {

struct BufferState {
  DevicePointer address = 0;
  std::size_t size = 0;
  std::shared_ptr<MemoryResource> resource;  ///< set for owning buffers
  std::shared_ptr<const void> pool;          ///< what must not go before the memory is freed
  std::shared_ptr<const void> owner;         ///< set for owner-held ones
  // Where and when to free: captured when the buffer is made, so that the thread that drops it does not matter.
  std::shared_ptr<const StreamState> stream;
  std::shared_ptr<const ContextState> context;  ///< of a default stream; null where the stream knows its own

  BufferState() = default;
  BufferState(const BufferState&) = delete;
  BufferState& operator=(const BufferState&) = delete;
  /// Frees; a failure is reported, not thrown.
  ~BufferState();

  /// Frees now. @throws what the resource throws
  void free();
};

/// "Buffer 0x... of 16 bytes".
std::string describe(const BufferState& buffer);

/// An owning buffer to be freed on `stream`; of a default stream, in `context`, or if that is null the current one.
/// @throws StateError no context to free in, for a resource that needs one
std::shared_ptr<BufferState> own_memory(DevicePointer address, std::size_t size,
                                        std::shared_ptr<MemoryResource> resource,
                                        std::shared_ptr<const StreamState> stream,
                                        std::shared_ptr<const ContextState> context = nullptr);

/// The context to make current for allocating on `stream`: its own, else the current one, else the primary context of
/// `device` (-1: none, then null).
std::shared_ptr<const ContextState> allocation_context(const StreamState& stream, int device);

}  // namespace cucore::detail
