// What this process holds of the driver.
#include "cucore/process.hpp"

#include "src/driver/table.hpp"
#include "src/handles/live_buffers.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore {

bool driver_opened() noexcept { return driver::is_open(); }

LiveHandles live_handles() noexcept {
  return {.streams = detail::OwningHandle<detail::StreamTraits>::live(),
          .events = detail::OwningHandle<detail::EventTraits>::live(),
          .buffers = detail::live_buffers.load(std::memory_order_relaxed),
          .memory_pools = detail::OwningHandle<detail::PoolTraits>::live(),
          .libraries = detail::OwningHandle<detail::LibraryTraits>::live(),
          .green_contexts = detail::OwningHandle<detail::GreenContextTraits>::live(),
          .arrays = detail::OwningHandle<detail::ArrayTraits>::live() +
                    detail::OwningHandle<detail::MipmappedArrayTraits>::live(),
          .textures = detail::OwningHandle<detail::TextureTraits>::live(),
          .surfaces = detail::OwningHandle<detail::SurfaceTraits>::live()};
}

}  // namespace cucore
