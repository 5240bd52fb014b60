// Virtual memory: reservations, mappings and access rights of growing buffers.
#include "cucore/virtual_memory.hpp"

#include <sched.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/stream.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/release_report.hpp"
#include "src/memory/buffer_state.hpp"
#include "src/memory/memory_location.hpp"

namespace cucore {
namespace detail {

/// The pieces of an allocation, from its first address on. Physical memory has no handle left: it is freed with its
/// mapping.
struct VirtualPieces {
  struct Piece {
    DevicePointer address;
    std::size_t size;
  };
  std::vector<Piece> reservations;
  std::vector<Piece> mappings;

  void add(VirtualPieces more) {
    reservations.insert(reservations.end(), more.reservations.begin(), more.reservations.end());
    mappings.insert(mappings.end(), more.mappings.begin(), more.mappings.end());
  }
};

struct VirtualAllocations {
  std::mutex mutex;
  std::map<DevicePointer, VirtualPieces> by_address;
  std::mutex policy_mutex;              ///< of the resource's options
  std::atomic<bool> is_managed{false};  ///< as the options say, without the mutex
};

namespace {

std::string range_of(const VirtualPieces::Piece& piece) {
  return std::to_string(piece.size) + " bytes at " + hexadecimal(piece.address);
}

/// Frees what is not kept: unfinished allocations, and old pieces that new ones have replaced.
class Undone {
 public:
  Undone() = default;
  explicit Undone(VirtualPieces pieces) : pieces_(std::move(pieces)) {}
  Undone(const Undone&) = delete;
  Undone& operator=(const Undone&) = delete;
  ~Undone() {
    try {
      now();
    } catch (const Error& error) {
      report_release_failure(error);
    } catch (...) {
      report_release_failure(driver::CUDA_ERROR_OUT_OF_MEMORY, "cuMemUnmap", nullptr);
    }
  }

  VirtualPieces& pieces() noexcept { return pieces_; }
  VirtualPieces keep() noexcept { return std::exchange(pieces_, {}); }

  /// Frees everything, and then throws the first failure.
  void now() {
    const VirtualPieces all = keep();
    const driver::Table* table = driver::table_for_release();
    if (table == nullptr) return;
    driver::CUresult failure = driver::CUDA_SUCCESS;
    const char* failed = nullptr;
    const VirtualPieces::Piece* on = nullptr;
    const auto note = [&](driver::CUresult code, const char* call, const VirtualPieces::Piece& piece) {
      if (code == driver::CUDA_SUCCESS || failed != nullptr) return;
      failure = code;
      failed = call;
      on = &piece;
    };
    for (const auto& piece : all.mappings) note(table->cuMemUnmap(piece.address, piece.size), "cuMemUnmap", piece);
    for (const auto& piece : all.reservations) {
      note(table->cuMemAddressFree(piece.address, piece.size), "cuMemAddressFree", piece);
    }
    if (failed != nullptr) driver::check(failure, failed, [&] { return range_of(*on); });
  }

 private:
  VirtualPieces pieces_;
};

int handle_type(VirtualMemoryHandle type) {
  switch (type) {
    case VirtualMemoryHandle::posix_fd:
      return driver::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    case VirtualMemoryHandle::win32_kmt:
      return driver::CU_MEM_HANDLE_TYPE_WIN32_KMT;
    case VirtualMemoryHandle::fabric:
      return driver::CU_MEM_HANDLE_TYPE_FABRIC;
    default:
      return driver::CU_MEM_HANDLE_TYPE_NONE;
  }
}

driver::CUmemAllocationProp properties_of(const VirtualMemoryResourceOptions& options) {
  driver::CUmemAllocationProp properties{};
  properties.type = options.allocation_type == VirtualMemoryAllocation::managed ? driver::CU_MEM_ALLOCATION_TYPE_MANAGED
                                                                                : driver::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = handle_type(options.handle_type);
  properties.location = location_of(*options.location);
  properties.gpuDirectRDMACapable = options.gpu_direct_rdma ? 1 : 0;
  return properties;
}

std::size_t granularity_of(const VirtualMemoryResourceOptions& options) {
  const driver::CUmemAllocationProp properties = properties_of(options);
  std::size_t bytes = 0;
  driver::check(driver::table().cuMemGetAllocationGranularity(&bytes, &properties,
                                                              options.granularity == VirtualMemoryGranularity::minimum
                                                                  ? driver::CU_MEM_ALLOC_GRANULARITY_MINIMUM
                                                                  : driver::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                "cuMemGetAllocationGranularity", [&] { return "memory of " + describe(*options.location); });
  return bytes;
}

std::size_t rounded(std::size_t size, std::size_t granularity) {
  if (size > SIZE_MAX - granularity) {
    throw ValueError({.call = "VirtualMemoryResource", .message = std::to_string(size) + " bytes are too many"});
  }
  return (size + granularity - 1) / granularity * granularity;
}

std::size_t bytes_of(const std::vector<VirtualPieces::Piece>& mappings) {
  std::size_t bytes = 0;
  for (const auto& piece : mappings) bytes += piece.size;
  return bytes;
}

int flags_of(VirtualMemoryAccess access) {
  if (access == VirtualMemoryAccess::none) return driver::CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return access == VirtualMemoryAccess::read ? driver::CU_MEM_ACCESS_FLAGS_PROT_READ
                                             : driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

/// Gives the adjacent mappings the rights that the options ask for. No access needs no call: it is what a mapping
/// begins with.
void grant(const std::vector<VirtualPieces::Piece>& mappings, const VirtualMemoryResourceOptions& options) {
  std::vector<driver::CUmemAccessDesc> rights;
  if (options.self_access != VirtualMemoryAccess::none) {
    rights.push_back({location_of(*options.location), flags_of(options.self_access)});
  }
  for (const int peer : options.peers) {
    if (options.peer_access == VirtualMemoryAccess::none || options.location->device_id() == peer) continue;
    rights.push_back({{driver::CU_MEM_LOCATION_TYPE_DEVICE, peer}, flags_of(options.peer_access)});
  }
  if (rights.empty()) return;
  for (const auto& piece : mappings) {
    driver::check(driver::table().cuMemSetAccess(piece.address, piece.size, rights.data(), rights.size()),
                  "cuMemSetAccess", [&] { return range_of(piece); });
  }
}

/// Reserves; where exactly, the driver decides.
DevicePointer reserve(VirtualPieces& into, std::size_t size, std::size_t alignment, DevicePointer hint) {
  into.reservations.reserve(into.reservations.size() + 1);
  DevicePointer address = 0;
  driver::check(driver::table().cuMemAddressReserve(&address, size, alignment, hint, 0), "cuMemAddressReserve",
                [&] { return std::to_string(size) + " bytes of addresses"; });
  into.reservations.push_back({address, size});
  return address;
}

/// Maps physical memory, to which the mapping is then the only reference of ours.
void map_and_release(VirtualPieces& into, const VirtualPieces::Piece& piece,
                     driver::CUmemGenericAllocationHandle physical) {
  const driver::Table& table = driver::table();
  const driver::CUresult mapped = table.cuMemMap(piece.address, piece.size, 0, physical, 0);
  if (mapped == driver::CUDA_SUCCESS) into.mappings.push_back(piece);
  const driver::CUresult released = table.cuMemRelease(physical);
  driver::check(mapped, "cuMemMap", [&] { return range_of(piece); });
  driver::check(released, "cuMemRelease", [&] { return "the handle of " + range_of(piece); });
}

void map_new(VirtualPieces& into, const VirtualPieces::Piece& piece, const VirtualMemoryResourceOptions& options) {
  into.mappings.reserve(into.mappings.size() + 1);
  const driver::CUmemAllocationProp properties = properties_of(options);
  driver::CUmemGenericAllocationHandle physical = 0;
  const bool whole_host = options.location->host() && options.location->host()->is_any();
  driver::check(
      driver::table().cuMemCreate(&physical, piece.size, &properties, 0), "cuMemCreate",
      [&] { return std::to_string(piece.size) + " bytes of physical memory of " + describe(*options.location); },
      whole_host && options.handle_type != VirtualMemoryHandle::none
          ? "memory of the host as a whole cannot be exported: use handle_type none, or a NUMA node"
          : "");
  map_and_release(into, piece, physical);
}

void map_again(VirtualPieces& into, const VirtualPieces::Piece& old, DevicePointer address) {
  into.mappings.reserve(into.mappings.size() + 1);
  driver::CUmemGenericAllocationHandle physical = 0;
  driver::check(driver::table().cuMemRetainAllocationHandle(&physical, reinterpret_cast<void*>(old.address)),
                "cuMemRetainAllocationHandle", [&] { return range_of(old); });
  map_and_release(into, {address, old.size}, physical);
}

VirtualMemoryResourceOptions checked(int device, VirtualMemoryResourceOptions options) {
  const Device on(device);
  if (!on.properties().virtual_memory_management_supported()) {
    throw UnavailableError({.call = "VirtualMemoryResource",
                            .message = describe_device(device) + " has no virtual memory management",
                            .hint = "use DeviceMemoryResource"});
  }
  if (options.gpu_direct_rdma && !on.properties().gpu_direct_rdma_with_cuda_vmm_supported()) {
    throw UnavailableError({.call = "VirtualMemoryResource",
                            .message = describe_device(device) + " has no GPUDirect RDMA for virtual memory",
                            .hint = "leave gpu_direct_rdma out"});
  }
  if ((options.addr_align & (options.addr_align - 1)) != 0) {
    throw ValueError({.call = "VirtualMemoryResource",
                      .message = "addr_align is " + std::to_string(options.addr_align) + ", not a power of two"});
  }
  if (!options.location) options.location = on;
  if (options.location->host() && options.location->host()->is_numa_current()) {
    unsigned node = 0;
    getcpu(nullptr, &node);
    options.location = Host::numa(static_cast<int>(node));
  }
  return options;
}

}  // namespace
}  // namespace detail

using detail::Undone;
using detail::VirtualPieces;

VirtualMemoryResource::VirtualMemoryResource(int device, VirtualMemoryResourceOptions options)
    : device_(device),
      policy_(std::make_shared<const VirtualMemoryResourceOptions>(std::move(options))),
      allocations_(std::make_unique<detail::VirtualAllocations>()) {
  allocations_->is_managed = policy_->allocation_type == VirtualMemoryAllocation::managed;
}

VirtualMemoryResource::~VirtualMemoryResource() = default;

std::shared_ptr<VirtualMemoryResource> VirtualMemoryResource::create(const Device& device,
                                                                     const VirtualMemoryResourceOptions& options) {
  return std::shared_ptr<VirtualMemoryResource>(
      new VirtualMemoryResource(device.ordinal(), detail::checked(device.ordinal(), options)));
}

std::shared_ptr<const VirtualMemoryResourceOptions> VirtualMemoryResource::policy() const noexcept {
  const std::lock_guard lock(allocations_->policy_mutex);
  return policy_;
}

bool VirtualMemoryResource::is_device_accessible() const noexcept {
  const auto options = policy();
  if (options->location->device_id()) return options->self_access != VirtualMemoryAccess::none;
  return !options->peers.empty() && options->peer_access != VirtualMemoryAccess::none;
}

bool VirtualMemoryResource::is_host_accessible() const noexcept {
  return is_managed() || policy()->location->host().has_value();
}

bool VirtualMemoryResource::is_managed() const noexcept {
  return allocations_->is_managed.load(std::memory_order_relaxed);
}

int VirtualMemoryResource::device_id() const noexcept { return policy()->location->device_id().value_or(-1); }

std::size_t VirtualMemoryResource::granularity() const { return detail::granularity_of(*policy()); }

Buffer VirtualMemoryResource::allocate(std::size_t size, const Stream& stream) {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "allocate");
  const auto context = detail::allocation_context(stream_state, device_);
  detail::ContextScope scope(context->handle);
  if (size == 0) {
    Buffer empty(detail::own_memory(0, 0, shared_from_this(), stream.state(), context));
    scope.restore();
    return empty;
  }
  const auto options = policy();
  const std::size_t step = detail::granularity_of(*options);
  const std::size_t bytes = detail::rounded(size, step);
  Undone made;
  const DevicePointer address =
      detail::reserve(made.pieces(), bytes, std::max(options->addr_align, step), options->addr_hint);
  detail::map_new(made.pieces(), {address, bytes}, *options);
  detail::grant(made.pieces().mappings, *options);
  {
    const std::lock_guard lock(allocations_->mutex);
    allocations_->by_address[address] = made.pieces();
  }
  made.keep();
  Buffer buffer(detail::own_memory(address, bytes, shared_from_this(), stream.state(), context));
  scope.restore();
  return buffer;
}

void VirtualMemoryResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (address == 0) return;  // that of 0 bytes
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "deallocate");
  const std::lock_guard lock(allocations_->mutex);
  const auto found = allocations_->by_address.find(address);
  if (found == allocations_->by_address.end()) {
    throw InvalidValueError({.call = "VirtualMemoryResource::deallocate",
                             .code = 1,
                             .code_name = "CUDA_ERROR_INVALID_VALUE",
                             .message = detail::range_of({address, size}) + " is not of this resource"});
  }
  driver::check(driver::table().cuStreamSynchronize(stream_state.handle), "cuStreamSynchronize",
                [&] { return describe(stream_state); });
  Undone old(std::move(found->second));
  allocations_->by_address.erase(found);
  old.now();
}

void VirtualMemoryResource::modify_allocation(Buffer& buffer, std::size_t new_size) {
  grow(buffer, new_size, *policy());
}

void VirtualMemoryResource::modify_allocation(Buffer& buffer, std::size_t new_size,
                                              const VirtualMemoryResourceOptions& options) {
  auto wanted = std::make_shared<const VirtualMemoryResourceOptions>(detail::checked(device_, options));
  grow(buffer, new_size, *wanted);
  const std::lock_guard lock(allocations_->policy_mutex);
  policy_ = std::move(wanted);
  allocations_->is_managed = policy_->allocation_type == VirtualMemoryAllocation::managed;
}

void VirtualMemoryResource::grow(Buffer& buffer, std::size_t new_size, const VirtualMemoryResourceOptions& wanted) {
  if (buffer.state() == nullptr) detail::refuse_closed("Buffer", "modify_allocation");
  detail::BufferState& state = *buffer.state();
  const std::lock_guard lock(allocations_->mutex);
  const auto found = allocations_->by_address.find(state.address);
  if (state.resource.get() != this || found == allocations_->by_address.end()) {
    throw ValueError({.call = "VirtualMemoryResource::modify_allocation",
                      .message = describe(state) + " is not an allocation of this resource",
                      .hint = "allocate it from the resource, with a size above 0"});
  }
  VirtualPieces& pieces = found->second;
  const std::size_t mapped = detail::bytes_of(pieces.mappings);  // whole steps, of which the buffer has what was asked
  if (new_size <= mapped) {
    detail::grant(pieces.mappings, wanted);
    state.size = std::max(state.size, new_size);
    return;
  }

  const std::size_t step = std::max(granularity(), detail::granularity_of(wanted));
  const std::size_t bytes = detail::rounded(new_size, step);
  const DevicePointer end = state.address + mapped;
  const std::size_t more = bytes - mapped;
  {
    Undone added;
    if (detail::reserve(added.pieces(), more, 0, end) == end) {
      detail::map_new(added.pieces(), {end, more}, wanted);
      detail::grant(added.pieces().mappings, wanted);
      VirtualPieces all = pieces;
      all.add(added.pieces());
      detail::grant(pieces.mappings, wanted);
      pieces = std::move(all);
      added.keep();
      state.size = new_size;
      return;
    }
  }
  Undone moved;
  const DevicePointer address = detail::reserve(moved.pieces(), bytes, std::max(wanted.addr_align, step), 0);
  for (const VirtualPieces::Piece& old : pieces.mappings) {
    detail::map_again(moved.pieces(), old, address + (old.address - state.address));
  }
  detail::map_new(moved.pieces(), {address + mapped, more}, wanted);
  detail::grant(moved.pieces().mappings, wanted);
  {
    // Work under way uses the old addresses.
    const ContextHandle context = state.context != nullptr ? state.context->handle : context_handle(*state.stream);
    detail::ContextScope scope(context);
    driver::check(driver::table().cuStreamSynchronize(state.stream->handle), "cuStreamSynchronize",
                  [&] { return describe(*state.stream); });
    scope.restore();
  }
  allocations_->by_address[address] = moved.pieces();
  moved.keep();
  const Undone replaced(std::move(pieces));
  allocations_->by_address.erase(found);
  state.address = address;
  state.size = new_size;
}

}  // namespace cucore
