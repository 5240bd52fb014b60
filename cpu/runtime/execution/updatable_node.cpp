// Kernel nodes that kernels may change: see updatable_node.hpp; and the calls that change them, of device_runtime.hpp.
// Addresses that the program gave are read before anything is held.
#include "cpu/runtime/execution/updatable_node.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "cpu/runtime/execution/device_runtime.hpp"

namespace cucore::cpu::runtime {
namespace {

struct Nodes {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::weak_ptr<UpdatableNode>> by_handle;
};

Nodes& nodes() {
  static auto* const instance = new Nodes;
  return *instance;
}

}  // namespace

std::shared_ptr<UpdatableNode> UpdatableNode::make(std::size_t parameter_bytes) {
  auto node = std::make_shared<UpdatableNode>(parameter_bytes);
  const std::lock_guard lock(nodes().mutex);
  nodes().by_handle[node->handle()] = node;
  return node;
}

std::shared_ptr<UpdatableNode> UpdatableNode::find(std::uint64_t handle) {
  const std::lock_guard lock(nodes().mutex);
  const auto found = nodes().by_handle.find(handle);
  return found == nodes().by_handle.end() ? nullptr : found->second.lock();
}

UpdatableNode::~UpdatableNode() {
  const std::lock_guard lock(nodes().mutex);
  nodes().by_handle.erase(handle());
}

bool UpdatableNode::set_grid(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  constexpr std::uint32_t most_on_x = std::numeric_limits<std::int32_t>::max(), most = 65535;
  if (x == 0 || y == 0 || z == 0 || x > most_on_x || y > most || z > most) return false;
  const std::lock_guard lock(mutex_);
  grid_ = {x, y, z};
  return true;
}

bool UpdatableNode::set_parameter(std::uint64_t offset, const std::byte* value, std::uint64_t bytes) {
  std::vector<std::byte> copy(value, value + bytes);
  const std::lock_guard lock(mutex_);
  if (offset > parameter_bytes_ || bytes > parameter_bytes_ - offset) return false;
  std::erase_if(parameters_, [&](const Written& each) {
    return each.offset >= offset && each.offset + each.bytes.size() <= offset + bytes;
  });
  parameters_.push_back({offset, std::move(copy)});
  return true;
}

void UpdatableNode::set_enabled(bool is_enabled) {
  const std::lock_guard lock(mutex_);
  is_enabled_ = is_enabled;
}

void UpdatableNode::forget(std::size_t parameter_bytes) {
  const std::lock_guard lock(mutex_);
  parameter_bytes_ = parameter_bytes;
  grid_.reset();
  is_enabled_.reset();
  parameters_.clear();
}

bool UpdatableNode::apply(bool is_enabled, LaunchRequest* request, std::vector<std::max_align_t>* block) const {
  const std::lock_guard lock(mutex_);
  if (!is_enabled_.value_or(is_enabled)) return false;
  if (grid_) std::copy_n(grid_->data(), 3, request->grid);
  if (parameters_.empty()) return true;
  block->resize((parameter_bytes_ + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  auto* const bytes = reinterpret_cast<std::byte*>(block->data());
  std::copy_n(request->packed, parameter_bytes_, bytes);
  for (const Written& each : parameters_) std::copy(each.bytes.begin(), each.bytes.end(), bytes + each.offset);
  request->packed = bytes;
  return true;
}

namespace device_runtime {

DeviceError GraphKernelNodeSetParam(DeviceCaller& caller, std::uint64_t node, std::uint64_t offset,
                                    const std::byte* value, std::uint64_t bytes) {
  if (!value || !UpdatableNode::find(node)) return DeviceError::InvalidValue;
  std::byte part[256];
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t count = std::min<std::uint64_t>(bytes - done, sizeof part);
    for (std::uint64_t n = 0; n < count; ++n) part[n] = caller.read(value + done + n);
    const auto found = UpdatableNode::find(node);
    if (!found || !found->set_parameter(offset + done, part, count)) return DeviceError::InvalidValue;
    done += count;
  }
  return DeviceError::Success;
}

DeviceError GraphKernelNodeSetEnabled(DeviceCaller&, std::uint64_t node, std::uint32_t is_enabled) {
  const auto found = UpdatableNode::find(node);
  if (!found) return DeviceError::InvalidValue;
  found->set_enabled((is_enabled & 255) != 0);  // a bool
  return DeviceError::Success;
}

DeviceError GraphKernelNodeSetGridDim(DeviceCaller&, std::uint64_t node, DeviceShape grid) {
  const auto found = UpdatableNode::find(node);
  return found && found->set_grid(grid.x, grid.y, grid.z) ? DeviceError::Success : DeviceError::InvalidValue;
}

DeviceError GraphKernelNodeUpdatesApply(DeviceCaller& caller, const NodeUpdate* updates, std::uint64_t count) {
  if (!updates && count != 0) return DeviceError::InvalidValue;
  for (std::uint64_t n = 0; n < count; ++n) {
    const auto update = caller.read(updates + n);
    DeviceError done = DeviceError::InvalidValue;
    switch (update.field) {
      case NodeUpdate::Field::Grid:
        done = GraphKernelNodeSetGridDim(caller, update.node, update.grid);
        break;
      case NodeUpdate::Field::Parameter:
        done = GraphKernelNodeSetParam(caller, update.node, update.parameter.offset, update.parameter.value,
                                       update.parameter.bytes);
        break;
      case NodeUpdate::Field::Enabled:
        done = GraphKernelNodeSetEnabled(caller, update.node, update.is_enabled != 0 ? 1 : 0);
        break;
      default:
        break;
    }
    if (done != DeviceError::Success) return done;
  }
  return DeviceError::Success;
}

}  // namespace device_runtime

}  // namespace cucore::cpu::runtime
