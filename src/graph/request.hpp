// NodeRequest: the parameters that a graph node is to have, in the driver's form and in ours; the same for adding a
// node, updating it, and updating it in an executable graph.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/code/launch_config.hpp"
#include "src/device/context_state.hpp"
#include "src/graph/state.hpp"

namespace cucore::detail {

struct NodeRequest {
  driver::CUgraphNodeParams native{};  ///< points into what follows, and, for kernels, to the caller's values
  NodeParameters parameters;
  Owners owners;
  std::shared_ptr<const ContextState> context = recorded_context();
  std::shared_ptr<const DriverLaunchConfig> launch;  ///< of a kernel: the attributes
  std::vector<driver::CUmemAccessDesc> access;       ///< of an allocation
  std::shared_ptr<const GraphState> cloned;          ///< of a child graph: what becomes a clone

  GraphNodeType type() const noexcept { return static_cast<GraphNodeType>(native.type); }
};

/// @throws ValueError, DriverError as launch()  @throws StateError the kernel refers to nothing
NodeRequest kernel_request(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments);
/// @throws ValueError a closed buffer
NodeRequest memcpy_request(const MemoryOperand& dst, const MemoryOperand& src, std::size_t size);
NodeRequest memset_request(const MemoryOperand& dst, const FillPattern& value, std::size_t width, std::size_t height,
                           std::size_t pitch);
/// `call` names the function of cucore for errors. @throws StateError closed
NodeRequest event_request(GraphNodeType type, const Event& event, const char* call);
/// @throws ValueError empty
NodeRequest host_request(std::function<void()> function, const std::shared_ptr<CallbackErrors>& errors,
                         const char* call);
NodeRequest host_request(HostFunction function, void* user_data, std::shared_ptr<const void> owner, const char* call);
/// @throws ValueError no such device; managed memory before CUDA 13
NodeRequest alloc_request(std::size_t size, const GraphAllocationOptions& options);

/// Makes the request one for a clone of `child`. Both hierarchies locked. @throws StateError `child` is not valid
void ask_to_embed(const GraphDefinition& child, const char* call, NodeRequest& request);

/// Locks a hierarchy, and another unless it is the same.
class LockBoth {
 public:
  LockBoth(GraphHierarchy& one, GraphHierarchy& other)
      : one_(one.mutex, std::defer_lock), other_(other.mutex, std::defer_lock) {
    if (&one == &other) {
      one_.lock();
    } else {
      std::lock(one_, other_);
    }
  }

 private:
  std::unique_lock<std::mutex> one_;
  std::unique_lock<std::mutex> other_;
};

/// Whether a kernel in a graph can be changed from one config to the other without changing launch attributes.
bool same_attributes(const LaunchConfig& a, const LaunchConfig& b);

/// The config of a kernel node as the driver tells it. @throws DriverError
LaunchConfig read_config(driver::CUgraphNode node, const driver::CUDA_KERNEL_NODE_PARAMS& parameters);

/// A value of the attribute that changes nothing.
driver::CUlaunchAttributeValue neutral_attribute(int id) noexcept;

/// Throws the DriverError of a call that refused the request, with the reason if it can be found.
[[noreturn]] void refuse_request(driver::CUresult code, const char* call, const NodeRequest& request,
                                 const std::string& on);

}  // namespace cucore::detail
