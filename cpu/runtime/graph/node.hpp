// Payloads of graph nodes: an immutable one per version of a node's parameters, shared by definitions, executable
// graphs and running launches.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/execution/launch.hpp"

namespace cucore::cpu::runtime {

class Context;
class Event;
class Function;
class Graph;
class GraphAllocation;
class UpdatableNode;

struct KernelPayload {
  CUfunction func = nullptr;
  CUkernel kern = nullptr;
  CUcontext context = nullptr;
  std::shared_ptr<Function> function;
  LaunchRequest request;                ///< its `packed` points at `block`
  std::vector<std::max_align_t> block;  ///< the parameters
  std::vector<void*> pointers;          ///< to each of them, as the driver hands them out
  std::vector<CUlaunchAttribute> attributes;
  std::shared_ptr<UpdatableNode> updatable;  ///< if kernels may change the node

  /// After copying: the pointers are those of this payload's own block.
  void rebase();
};

struct MemcpyPayload {
  CUDA_MEMCPY3D copy{};
  CUcontext context = nullptr;
};

struct MemsetPayload {
  CUDA_MEMSET_NODE_PARAMS_v2 fill{};
};

struct HostPayload {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

struct ChildPayload {
  std::shared_ptr<Graph> graph;
};

struct EmptyPayload {};

struct EventPayload {
  CUevent handle = nullptr;
  std::shared_ptr<Event> event;
  bool is_record = false;
};

struct AllocPayload {
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 parameters{};
  std::vector<CUmemAccessDesc> access;
  std::shared_ptr<GraphAllocation> memory;
};

struct FreePayload {
  CUdeviceptr address = 0;
  std::shared_ptr<GraphAllocation> memory;  ///< null: freed like any stream-ordered memory
};

struct MemOpsPayload {
  CUcontext context = nullptr;
  std::vector<CUstreamBatchMemOpParams> operations;
  unsigned int flags = 0;
};

struct ConditionalPayload {
  CUgraphConditionalHandle handle = 0;  ///< the address of the value that kernels set
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  CUcontext context = nullptr;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<CUgraph> body_handles;
};

using Payload = std::variant<EmptyPayload, KernelPayload, MemcpyPayload, MemsetPayload, HostPayload, ChildPayload,
                             EventPayload, AllocPayload, FreePayload, MemOpsPayload, ConditionalPayload>;

CUgraphNodeType type_of(const Payload& payload);

/// Has kernels change the node, as CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE asks, and writes the handle for
/// them into the attribute. It cannot be taken back.
bool is_updatable(const Payload& payload);
/// By which kernels know it, if it is.
CUgraphDeviceNode device_node_of(const KernelPayload& kernel);
Result<void> make_updatable(CUlaunchAttribute& attribute, KernelPayload* kernel);

/// Checks parameters in the current context and copies what they point at. Writes the driver's outputs into them: the
/// address of an allocation, the bodies of a conditional node.
Result<std::shared_ptr<const Payload>> read_parameters(Context& context, const Graph& graph,
                                                       CUgraphNodeParams& parameters);
/// The other way; pointers in it live as long as the payload.
void write_parameters(const Payload& payload, CUgraphNodeParams* parameters);

/// The value behind a conditional handle, if it is one of this graph's (or of one it was made from).
struct Condition {
  unsigned int value = 0;
  unsigned int default_value = 0;
  bool is_assigned_at_launch = false;
  bool is_taken = false;  ///< by a conditional node: at most one may use it
};

}  // namespace cucore::cpu::runtime
