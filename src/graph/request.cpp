// Requests for graph nodes: from what users say to what the driver takes.
#include "src/graph/request.hpp"

#include <cstring>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/graph_definition.hpp"
#include "src/code/kernel_state.hpp"
#include "src/device/event_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/closed.hpp"
#include "src/graph/callbacks.hpp"

namespace cucore {
namespace detail {
namespace {

void set_type(NodeRequest& request, GraphNodeType type) { request.native.type = static_cast<int>(type); }

/// What a kernel node keeps of its launch: the kernel, and events that its attributes name.
struct LaunchOwners {
  std::shared_ptr<const KernelState> kernel;
  std::shared_ptr<const DriverLaunchConfig> launch;
};

std::shared_ptr<const PackedArguments> copy_of(const Signature* signature, void* const* values) {
  if (signature == nullptr) return nullptr;
  auto packed = std::make_shared<PackedArguments>();
  packed->block.resize(signature->bytes());
  packed->values.reserve(signature->size());
  for (std::size_t i = 0; i < signature->size(); ++i) {
    const Parameter& parameter = (*signature)[i];
    std::byte* const at = packed->block.data() + parameter.offset;
    std::memcpy(at, values[i], parameter.size);
    packed->values.push_back(at);
  }
  return packed;
}

/// Whether the operand lies in the host's memory, asking the driver where the caller does not say.
bool is_host(const MemoryOperand& operand, const ContextState& context) {
  using Kind = MemoryOperand::Kind;
  if (operand.kind() == Kind::host || operand.kind() == Kind::device) return operand.kind() == Kind::host;
  ContextScope scope(context.handle);
  unsigned type = 0;
  const driver::CUresult code =
      driver::table().cuPointerGetAttribute(&type, driver::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, operand.address());
  scope.restore();
  const bool is_known = code == driver::CUDA_SUCCESS && type != 0;
  return is_known ? type == driver::CU_MEMORYTYPE_HOST : operand.kind() == Kind::ask_else_host;
}

bool same_but_for_extents(LaunchConfig a, const LaunchConfig& b) {
  a.grid = b.grid;
  a.block = b.block;
  a.shmem_size = b.shmem_size;
  return a == b;
}

int checked_device(int ordinal, const char* what, int code, const char* code_name) {
  if (ordinal < 0 || ordinal >= device_count()) {
    throw InvalidValueError({.call = "GraphPoint::allocate",
                             .code = code,
                             .code_name = code_name,
                             .message = std::string(what) + " is " + std::to_string(ordinal) + ", but there are " +
                                        std::to_string(device_count()) + " devices"});
  }
  return device_handle(ordinal);
}

}  // namespace

NodeRequest kernel_request(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) {
  const KernelState& state = open_kernel(kernel.state(), "GraphPoint::launch");
  NodeRequest request;
  set_type(request, GraphNodeType::kernel);
  auto launch = std::make_shared<const DriverLaunchConfig>(config);
  const driver::CUlaunchConfig& native = launch->native;
  if (native.sharedMemBytes != 0) allow_dynamic_shared(state, request.context->device, native.sharedMemBytes);
  if (launch->needs_device) check_device_features(launch->native, kernel, request.context->device);
  driver::CUDA_KERNEL_NODE_PARAMS& to = request.native.kernel;
  to.kern = state.handle;
  to.gridDimX = native.gridDimX;
  to.gridDimY = native.gridDimY;
  to.gridDimZ = native.gridDimZ;
  to.blockDimX = native.blockDimX;
  to.blockDimY = native.blockDimY;
  to.blockDimZ = native.blockDimZ;
  to.sharedMemBytes = native.sharedMemBytes;
  to.kernelParams = const_cast<void**>(arguments.values);
  to.ctx = request.context->handle;
  request.parameters = KernelParameters{config, kernel, copy_of(state.parameters(), arguments.values)};
  request.owners = {std::make_shared<const LaunchOwners>(LaunchOwners{kernel.state(), launch}), arguments.owner};
  request.launch = std::move(launch);
  return request;
}

NodeRequest memcpy_request(const MemoryOperand& dst, const MemoryOperand& src, std::size_t size) {
  NodeRequest request;
  set_type(request, GraphNodeType::memcpy);
  MemcpyParameters parameters{dst.address(), src.address(), size, is_host(dst, *request.context),
                              is_host(src, *request.context)};
  request.native.memcpy.copyCtx = request.context->handle;
  driver::CUDA_MEMCPY3D& copy = request.native.memcpy.copyParams;
  copy.dstMemoryType =
      static_cast<int>(parameters.is_dst_host ? driver::CU_MEMORYTYPE_HOST : driver::CU_MEMORYTYPE_DEVICE);
  copy.srcMemoryType =
      static_cast<int>(parameters.is_src_host ? driver::CU_MEMORYTYPE_HOST : driver::CU_MEMORYTYPE_DEVICE);
  if (parameters.is_dst_host) {
    copy.dstHost = reinterpret_cast<void*>(dst.address());
  } else {
    copy.dstDevice = dst.address();
  }
  if (parameters.is_src_host) {
    copy.srcHost = reinterpret_cast<const void*>(src.address());
  } else {
    copy.srcDevice = src.address();
  }
  copy.WidthInBytes = size;
  copy.Height = 1;
  copy.Depth = 1;
  request.parameters = parameters;
  request.owners = {dst.owner(), src.owner()};
  return request;
}

NodeRequest memset_request(const MemoryOperand& dst, const FillPattern& value, std::size_t width, std::size_t height,
                           std::size_t pitch) {
  NodeRequest request;
  set_type(request, GraphNodeType::memset);
  request.native.memset = {dst.address(), pitch,  value.value(),          value.element_size(),
                           width,         height, request.context->handle};
  request.parameters = MemsetParameters{dst.address(), value.value(), value.element_size(), width, height, pitch};
  request.owners = {dst.owner(), nullptr};
  return request;
}

NodeRequest event_request(GraphNodeType type, const Event& event, const char* call) {
  open_event(event.state(), call);
  NodeRequest request;
  set_type(request, type);
  request.native.event.event = event.state()->handle;
  request.parameters = EventParameters{event.state()};
  request.owners = {event.state(), nullptr};
  // Later the driver may report the node's event by its handle alone.
  EventState::make_known(event.state());
  return request;
}

NodeRequest host_request(std::function<void()> function, const std::shared_ptr<CallbackErrors>& errors,
                         const char* call) {
  auto callback = make_host_callback(std::move(function), errors, call);
  NodeRequest request;
  set_type(request, GraphNodeType::host);
  request.native.host = {&run_host_callback, const_cast<HostCallback*>(callback.get())};
  request.owners = {callback, nullptr};
  request.parameters = HostParameters{nullptr, nullptr, std::move(callback)};
  return request;
}

NodeRequest host_request(HostFunction function, void* user_data, std::shared_ptr<const void> owner, const char* call) {
  if (function == nullptr) throw ValueError({.call = call, .message = "the callback is a null function"});
  NodeRequest request;
  set_type(request, GraphNodeType::host);
  request.native.host = {function, user_data};
  request.owners = {nullptr, std::move(owner)};
  request.parameters = HostParameters{function, user_data, nullptr};
  return request;
}

NodeRequest alloc_request(std::size_t size, const GraphAllocationOptions& options) {
  NodeRequest request;
  set_type(request, GraphNodeType::mem_alloc);
  const bool is_host = options.memory_type == GraphMemoryType::host;
  const bool is_managed = options.memory_type == GraphMemoryType::managed;
  if (is_managed && driver_info().version < 13000) {
    throw ValueError({.call = "GraphPoint::allocate",
                      .message = "managed memory in a graph needs a driver of CUDA 13.0 or newer; this one is of " +
                                 std::to_string(driver_info().version / 1000) + "." +
                                 std::to_string(driver_info().version % 1000 / 10),
                      .hint = "allocate device memory, or update the driver"});
  }
  const int device = options.device.value_or(request.context->device);
  driver::CUDA_MEM_ALLOC_NODE_PARAMS& alloc = request.native.alloc;
  alloc.poolProps.allocType =
      is_managed ? driver::CU_MEM_ALLOCATION_TYPE_MANAGED : driver::CU_MEM_ALLOCATION_TYPE_PINNED;
  alloc.poolProps.handleTypes = driver::CU_MEM_HANDLE_TYPE_NONE;
  alloc.poolProps.location = {
      is_host ? driver::CU_MEM_LOCATION_TYPE_HOST : driver::CU_MEM_LOCATION_TYPE_DEVICE,
      is_host ? 0 : checked_device(device, "device", driver::CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE")};
  for (const int peer : options.peer_access) {
    request.access.push_back(
        {{driver::CU_MEM_LOCATION_TYPE_DEVICE,
          checked_device(peer, "peer_access", driver::CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE")},
         driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  alloc.accessDescs = request.access.empty() ? nullptr : request.access.data();
  alloc.accessDescCount = request.access.size();
  alloc.bytesize = size;
  request.parameters = AllocParameters{0, size, is_host ? -1 : device, options.memory_type, options.peer_access};
  return request;
}

void ask_to_embed(const GraphDefinition& child, const char* call, NodeRequest& request) {
  set_type(request, GraphNodeType::graph);
  request.native.graph = {open_graph(child, call).handle, driver::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  request.parameters = ChildParameters{};
  request.cloned = child.graph_state();
}

bool same_attributes(const LaunchConfig& a, const LaunchConfig& b) { return same_but_for_extents(a, b); }

driver::CUlaunchAttributeValue neutral_attribute(int id) noexcept {
  driver::CUlaunchAttributeValue value{};
  switch (id) {
    case driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      value.clusterDim = {1, 1, 1};
      break;
    case driver::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      value.preferredClusterDim = {1, 1, 1};
      break;
    case driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      value.memSyncDomainMap = {0, 1};
      break;
    case driver::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      value.sharedMemCarveout = static_cast<unsigned>(-1);
      break;
    default:
      break;
  }
  return value;
}

void refuse_request(driver::CUresult code, const char* call, const NodeRequest& request, const std::string& on) {
  std::string hint;
  const auto* const kernel = std::get_if<KernelParameters>(&request.parameters);
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED && std::string_view(call) == "cuGraphAddNode" &&
      driver_info().version < 12030) {
    hint = "graphs need a driver of CUDA 12.3 or newer: update the driver";
  } else if (kernel != nullptr) {
    try {
      hint = exceeded_limit(request.launch->native, kernel->kernel, request.context->device);
    } catch (const DriverError&) {
      hint.clear();  // the refusal itself is what matters
    }
    driver::fail(code, call, describe(*kernel->kernel.state()) + " in " + on, hint);
  } else if (request.type() == GraphNodeType::memcpy) {
    hint = "pageable memory of the host must be marked as such: MemoryOperand::host()";
  }
  driver::fail(code, call, on, hint);
}

}  // namespace detail
}  // namespace cucore
