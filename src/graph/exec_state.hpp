// GraphExecState: what all references to an executable graph share.
//
// What updates through node views refer to is kept in a store that only grows. The store itself is kept alive by a user
// object that the executable graph got from its definition at instantiation. So it is released when the driver reports
// that no launch needs it any more: after the graph is destroyed, or has taken another definition's parameters and
// store.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cucore/graph.hpp"
#include "src/graph/callbacks.hpp"
#include "src/graph/state.hpp"

namespace cucore::detail {

class ExecStore {
 public:
  /// Room for one more, so that keep() cannot fail.
  void reserve() {
    const std::scoped_lock lock(mutex_);
    kept_.reserve(kept_.size() + 1);
  }
  void keep(Owners owners) noexcept {
    const std::scoped_lock lock(mutex_);
    kept_.push_back(std::move(owners));
  }

 private:
  std::mutex mutex_;
  std::vector<Owners> kept_;
};

struct GraphExecState {
  GraphExecState() = default;
  GraphExecState(const GraphExecState&) = delete;
  GraphExecState& operator=(const GraphExecState&) = delete;
  ~GraphExecState() {
    owned.reset();
    safe_point();
  }

  driver::CUgraphExec handle = nullptr;
  std::mutex mutex;                  ///< around changes of what follows
  std::shared_ptr<ExecStore> store;  ///< what the user object of `owned` keeps alive too
  std::shared_ptr<CallbackErrors> errors = std::make_shared<CallbackErrors>();
  std::uint64_t made_at = 0;  ///< change_time(): launch attributes are those that nodes had then
  OwningHandle<GraphExecTraits> owned;
};

/// "Graph 0x...".
std::string describe(const GraphExecState& graph);

/// The open graph's state. @throws StateError closed
GraphExecState& open_exec(const std::shared_ptr<GraphExecState>& state, const char* call);

/// Makes an executable graph. Lock held. @throws as GraphDefinition::instantiate()
std::shared_ptr<GraphExecState> instantiate(GraphHierarchy& hierarchy, const GraphState& graph,
                                            const GraphCompleteOptions& options);

}  // namespace cucore::detail
