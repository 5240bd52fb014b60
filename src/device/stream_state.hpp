// StreamState: what all references to a stream share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "src/device/context_state.hpp"
#include "src/handles/handle_registry.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

struct StreamState {
  StreamState() = default;
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
  ~StreamState() { disown(); }

  std::shared_ptr<const ContextState> context;  ///< null: not known yet, or whatever is current (default streams)
  std::shared_ptr<const void> owner;            ///< kept alive with a borrowed stream
  OwningHandle<StreamTraits> owned;             ///< empty for a borrowed stream; goes before the context
  driver::CUstream handle = nullptr;
  mutable RegistryLinks<StreamState> registry_links;
  /// Cached answers; unknown until asked for a borrowed stream.
  static constexpr int unknown = INT32_MIN;
  mutable std::atomic<int> flags{unknown};
  mutable std::atomic<int> priority{unknown};
  static constexpr std::uint64_t unknown_id = UINT64_MAX;
  mutable std::atomic<std::uint64_t> id{unknown_id};

  /// Makes `state` the owner of its `handle`, which was made in `in`.
  static void own(const std::shared_ptr<StreamState>& state, std::shared_ptr<const ContextState> in);
  /// Gives ownership up; the handle is empty if there was none.
  OwningHandle<StreamTraits> disown() noexcept;

  /// Whether it stands for the default stream of whatever context is current.
  bool follows_current_context() const noexcept {
    return handle == nullptr || handle == driver::CU_STREAM_LEGACY || handle == driver::CU_STREAM_PER_THREAD;
  }
};

/// The context that has to be current for a call on the stream; null for default streams, which mean the current one.
ContextHandle context_handle(const StreamState& stream);

/// "Stream 0x... of Device 0".
std::string describe(const StreamState& stream);

/// The open stream's state. @throws StateError closed
const StreamState& open_stream(const std::shared_ptr<const StreamState>& state, const char* call);

/// The ordinal of the stream's device; of the current context's for default streams.
int stream_device(const StreamState& stream);

}  // namespace cucore::detail
