// What the driver says of graph nodes that were not made here, or came with a clone.
#include "src/code/kernel_state.hpp"
#include "src/device/context_state.hpp"
#include "src/device/event_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/graph/callbacks.hpp"
#include "src/graph/request.hpp"

namespace cucore::detail {
namespace {

using driver::table;

/// A check for calls on the node.
struct Asked {
  driver::CUgraphNode node;
  void check(driver::CUresult code, const char* call) const {
    driver::check(code, call, [&] { return "graph node " + hexadecimal(node); });
  }
};

KernelParameters read_kernel(const Asked& asked) {
  driver::CUDA_KERNEL_NODE_PARAMS native{};
  asked.check(table().cuGraphKernelNodeGetParams(asked.node, &native), "cuGraphKernelNodeGetParams");
  KernelParameters parameters;
  const auto handle = native.kern != nullptr ? native.kern : reinterpret_cast<driver::CUkernel>(native.func);
  if (handle != nullptr) parameters.kernel = Kernel::from_handle(handle);
  parameters.config = read_config(asked.node, native);
  return parameters;
}

MemcpyParameters read_memcpy(const Asked& asked) {
  driver::CUDA_MEMCPY3D copy{};
  asked.check(table().cuGraphMemcpyNodeGetParams(asked.node, &copy), "cuGraphMemcpyNodeGetParams");
  MemcpyParameters parameters;
  parameters.is_dst_host = copy.dstMemoryType == static_cast<int>(driver::CU_MEMORYTYPE_HOST);
  parameters.is_src_host = copy.srcMemoryType == static_cast<int>(driver::CU_MEMORYTYPE_HOST);
  parameters.dst = parameters.is_dst_host ? reinterpret_cast<DevicePointer>(copy.dstHost) : copy.dstDevice;
  parameters.src = parameters.is_src_host ? reinterpret_cast<DevicePointer>(copy.srcHost) : copy.srcDevice;
  parameters.size = copy.WidthInBytes;
  parameters.is_linear = copy.Height <= 1 && copy.Depth <= 1 && copy.dstArray == nullptr && copy.srcArray == nullptr &&
                         copy.dstXInBytes == 0 && copy.srcXInBytes == 0 && copy.dstY == 0 && copy.srcY == 0 &&
                         copy.dstZ == 0 && copy.srcZ == 0;
  return parameters;
}

MemsetParameters read_memset(const Asked& asked) {
  driver::CUDA_MEMSET_NODE_PARAMS fill{};
  asked.check(table().cuGraphMemsetNodeGetParams(asked.node, &fill), "cuGraphMemsetNodeGetParams");
  return {fill.dst, fill.value, fill.elementSize, fill.width, fill.height, fill.pitch};
}

HostParameters read_host(const Asked& asked, Owners& owners) {
  driver::CUDA_HOST_NODE_PARAMS host{};
  asked.check(table().cuGraphHostNodeGetParams(asked.node, &host), "cuGraphHostNodeGetParams");
  if (host.fn != &run_host_callback) return {host.fn, host.userData, nullptr};
  // An event that the graph keeps alive; who else holds it is not known here.
  auto callback = static_cast<const HostCallback*>(host.userData)->shared_from_this();
  owners[0] = callback;
  return {nullptr, nullptr, std::move(callback)};
}

EventParameters read_event(const Asked& asked, GraphNodeType type) {
  driver::CUevent handle = nullptr;
  if (type == GraphNodeType::event_record) {
    asked.check(table().cuGraphEventRecordNodeGetEvent(asked.node, &handle), "cuGraphEventRecordNodeGetEvent");
  } else {
    asked.check(table().cuGraphEventWaitNodeGetEvent(asked.node, &handle), "cuGraphEventWaitNodeGetEvent");
  }
  return {Event::from_handle(handle).state()};
}

AllocParameters read_alloc(const Asked& asked) {
  driver::CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
  asked.check(table().cuGraphMemAllocNodeGetParams(asked.node, &alloc), "cuGraphMemAllocNodeGetParams");
  AllocParameters parameters;
  parameters.dptr = alloc.dptr;
  parameters.bytesize = alloc.bytesize;
  const bool is_on_device = alloc.poolProps.location.type == driver::CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.device_id = is_on_device ? device_ordinal(alloc.poolProps.location.id) : -1;
  parameters.memory_type = alloc.poolProps.allocType == driver::CU_MEM_ALLOCATION_TYPE_MANAGED
                               ? GraphMemoryType::managed
                           : is_on_device ? GraphMemoryType::device
                                          : GraphMemoryType::host;
  for (std::size_t i = 0; i < alloc.accessDescCount; ++i) {
    parameters.peer_access.push_back(device_ordinal(alloc.accessDescs[i].location.id));
  }
  return parameters;
}

ConditionalParameters read_conditional(GraphHierarchy& hierarchy, const Asked& asked) {
  driver::CUgraphNodeParams native{};
  const driver::CUresult code = table().cuGraphNodeGetParams(asked.node, &native);
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED) return {};  // before CUDA 13.2
  asked.check(code, "cuGraphNodeGetParams");
  const driver::CUDA_CONDITIONAL_NODE_PARAMS& told = native.conditional;
  ConditionalParameters parameters;
  parameters.condition = GraphCondition(told.handle);
  parameters.type = static_cast<GraphConditionalType>(told.type);
  for (unsigned i = 0; i < told.size; ++i) parameters.branches.push_back(hierarchy.graph(told.phGraph_out[i]));
  return parameters;
}

}  // namespace

LaunchConfig read_config(driver::CUgraphNode node, const driver::CUDA_KERNEL_NODE_PARAMS& native) {
  LaunchConfig config;
  config.grid = {native.gridDimX, native.gridDimY, native.gridDimZ};
  config.block = {native.blockDimX, native.blockDimY, native.blockDimZ};
  config.shmem_size = native.sharedMemBytes;
  driver::CUlaunchAttributeValue value{};
  // What a driver does not report counts as not set.
  const auto has = [&](int id) {
    value = {};
    return table().cuGraphKernelNodeGetAttribute(node, id, &value) == driver::CUDA_SUCCESS;
  };
  if (has(driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)) {
    const Dim3 cluster{value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    const bool is_set = cluster.x != 0 && cluster.y != 0 && cluster.z != 0 && cluster != Dim3{};
    if (is_set) {
      config.cluster = cluster;
      config.grid = {config.grid.x / cluster.x, config.grid.y / cluster.y, config.grid.z / cluster.z};
    }
  }
  if (has(driver::CU_LAUNCH_ATTRIBUTE_COOPERATIVE)) config.is_cooperative = value.cooperative != 0;
  if (has(driver::CU_LAUNCH_ATTRIBUTE_PRIORITY) && value.priority != 0) config.priority = value.priority;
  if (has(driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN) && value.memSyncDomain != 0) {
    config.memory_sync_domain = static_cast<MemorySyncDomain>(value.memSyncDomain);
  }
  if (has(driver::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) && value.accessPolicyWindow.num_bytes != 0) {
    const driver::CUaccessPolicyWindow& window = value.accessPolicyWindow;
    config.access_policy_window =
        AccessPolicyWindow{reinterpret_cast<DevicePointer>(window.base_ptr), window.num_bytes, window.hitRatio,
                           static_cast<AccessProperty>(window.hitProp), static_cast<AccessProperty>(window.missProp)};
  }
  return config;
}

NodeParameters read_parameters(GraphHierarchy& hierarchy, driver::CUgraphNode handle, GraphNodeType type,
                               Owners& owners) {
  const Asked asked{handle};
  switch (type) {
    case GraphNodeType::kernel:
      return read_kernel(asked);
    case GraphNodeType::memcpy:
      return read_memcpy(asked);
    case GraphNodeType::memset:
      return read_memset(asked);
    case GraphNodeType::host:
      return read_host(asked, owners);
    case GraphNodeType::graph: {
      driver::CUgraph child = nullptr;
      asked.check(table().cuGraphChildGraphNodeGetGraph(handle, &child), "cuGraphChildGraphNodeGetGraph");
      return ChildParameters{hierarchy.graph(child)};
    }
    case GraphNodeType::event_record:
    case GraphNodeType::wait_event:
      return read_event(asked, type);
    case GraphNodeType::mem_alloc:
      return read_alloc(asked);
    case GraphNodeType::mem_free: {
      FreeParameters parameters;
      asked.check(table().cuGraphMemFreeNodeGetParams(handle, &parameters.dptr), "cuGraphMemFreeNodeGetParams");
      return parameters;
    }
    case GraphNodeType::conditional:
      return read_conditional(hierarchy, asked);
    default:
      return std::monostate{};
  }
}

}  // namespace cucore::detail
