// Device: one GPU, or the CPU device, by its ordinal.
//
//   cucore::Device device(0);
//   device.set_current();
//   auto stream = device.create_stream();
//   auto buffer = device.allocate(1 << 20, stream);
//   if (device.compute_capability() >= cucore::ComputeCapability{9, 0}) ...
//
// A Device is a value: copying costs nothing, equality is by ordinal, and making one creates no context. The calls that
// create something do so in the device's primary context, whatever context is current, and leave that as it was.
// Thread-safety: every member may be called from any thread at any time.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/context.hpp"
#include "cucore/device_resources.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/event.hpp"
#include "cucore/event_pool.hpp"
#include "cucore/export.hpp"
#include "cucore/memory.hpp"
#include "cucore/stream.hpp"

namespace cucore {

/// Compute capability; ordered as versions are.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// The device's attributes by name. Each call asks the driver (cuDeviceGetAttribute); an attribute the driver does not
/// know has the default in device_attributes.def. @throws DriverError for any other failure
class CUCORE_API DeviceProperties {
 public:
  explicit DeviceProperties(int ordinal) noexcept : ordinal_(ordinal) {}

#define DEVICE_ATTRIBUTE(name, number, kind, default_value, text) \
  kind name() const { return static_cast<kind>(value(number, static_cast<int>(default_value))); }
#include "cucore/device_attributes.def"

 private:
  int value(int number, int default_value) const;
  int ordinal_;
};

/// Bytes of a device's memory.
struct MemoryInfo {
  std::size_t free = 0;
  std::size_t total = 0;
};

/// The priorities a device's streams may have; a lower number is a higher priority.
struct PriorityRange {
  int lowest = 0;
  int highest = 0;
};

class CUCORE_API Device {
 public:
  /// The device with this ordinal.
  /// @throws ValueError no such ordinal  @throws UnavailableError no driver
  explicit Device(int ordinal = 0);
  /// The device with this UUID, as uuid() writes it; hyphens and case do not count. @throws ValueError none has it
  static Device from_uuid(std::string_view uuid);
  /// The device with this bus address, for example "0000:3b:00.0" (cuDeviceGetByPCIBusId). @throws ValueError none has
  /// it
  static Device from_pci_bus_id(const std::string& id);
  /// The current context's device; device 0 if no context is current.
  static Device current();
  /// How many devices the driver shows.
  static int count();
  /// All of them, in order.
  static std::vector<Device> all();

  int ordinal() const noexcept { return ordinal_; }
  /// The driver's handle (CUdevice).
  DeviceHandle handle() const;
  /// cuDeviceGetName.
  std::string name() const;
  /// In lower-case hexadecimal, 8-4-4-4-12; for a MIG instance, the instance's own.
  std::string uuid() const;
  /// "dddd:bb:dd.f".
  std::string pci_bus_id() const;
  ComputeCapability compute_capability() const;
  /// The compute capability as digits: "75", "90", "100".
  std::string arch() const;
  /// Bytes of device memory (cuDeviceTotalMem).
  std::size_t total_memory() const;
  /// How much of its memory is free (cuMemGetInfo); makes the primary context.
  MemoryInfo memory_info() const;
  /// The priorities its streams may have (cuCtxGetStreamPriorityRange); makes the primary context.
  PriorityRange priority_range() const;
  /// Limits of the primary context: Context::limit(), Context::set_limit().
  std::size_t limit(Limit limit) const { return context().limit(limit); }
  void set_limit(Limit limit, std::size_t value) const { context().set_limit(limit, value); }
  /// Lets kernels of the primary context access memory of the primary context of `peer`: see Context.
  void enable_peer_access(const Device& peer) const { context().enable_peer_access(peer.context()); }
  void disable_peer_access(const Device& peer) const { context().disable_peer_access(peer.context()); }
  /// An attribute by its CUdevice_attribute number. @throws DriverError (CUDA_ERROR_INVALID_VALUE: unknown to the
  /// driver)
  int attribute(int number) const;
  DeviceProperties properties() const noexcept { return DeviceProperties(ordinal_); }
  /// Whether kernels on this device can access memory of `peer`; true for the device itself.
  bool can_access_peer(const Device& peer) const;

  /// Makes the primary context current in the calling thread.
  void set_current() const;
  /// The primary context, made at first need.
  Context context() const;
  /// The resources of the whole device: its multiprocessors and work queues, to be divided among green contexts.
  DeviceResources resources() const noexcept { return DeviceResources(ordinal_); }
  /// Makes a green context that runs on `options.resources` only (cuGreenCtxCreate); it does not become current.
  ///
  ///   const auto split = device.resources().sm().split({{.count = 16}});
  ///   const Context context = device.create_context({.resources = {split.groups[0]}});
  ///
  /// @throws ValueError no resources, a dry run's, or another device's  @throws UnavailableError the driver is older
  /// than CUDA 12.4  @throws DriverError the parts cannot be provisioned together
  Context create_context(const ContextOptions& options) const;
  /// Splits the device once and makes a green context of each group. @throws as SMResource::split, create_context
  std::vector<Context> partition(const std::vector<SMGroup>& groups) const;
  /// Creates a stream in the primary context. @throws ValueError the priority is outside the device's range
  Stream create_stream(const StreamOptions& options = {}) const;
  /// Builds a graph on a stream of its own.
  GraphBuilder create_graph_builder() const;
  /// Creates an event in the primary context, not recorded on any stream.
  /// @throws TypeError IPC-enabled: those are made by Stream::record()
  Event create_event(const EventOptions& options = {}) const;
  /// The process's pool of events in the primary context, made at first need. Its idle events are destroyed at process
  /// exit.
  std::shared_ptr<EventPool> event_pool() const;
  /// Memory for textures and surfaces in the primary context (opaque_array.hpp, texture.hpp). @throws ValueError
  /// options out of range
  /// @throws DriverError CUDA_ERROR_OUT_OF_MEMORY, ...
  OpaqueArray create_opaque_array(const OpaqueArrayOptions& options) const;
  MipmappedArray create_mipmapped_array(const MipmappedArrayOptions& options) const;
  /// Lets kernels read memory as a texture. @throws ValueError options that contradict each other, or memory of another
  /// device
  /// @throws DriverError addresses or pitches that the device does not take
  TextureObject create_texture_object(const ResourceDescriptor& resource, const TextureObjectOptions& options) const;
  TextureObject create_texture_object(const ResourceDescriptor& resource) const;
  /// Lets kernels write an array. @throws ValueError not an array made with is_surface_load_store
  SurfaceObject create_surface_object(const ResourceDescriptor& resource) const;
  /// Waits for everything submitted to the primary context.
  void sync() const;

  /// Memory from memory_resource(), usable in the order of `stream`. @throws DriverError CUDA_ERROR_OUT_OF_MEMORY, ...
  Buffer allocate(std::size_t size, const Stream& stream) const;
  /// The process's memory resource for this device: until set_memory_resource() replaces it, the device's default pool,
  /// or synchronous allocation where the device has no pools.
  std::shared_ptr<MemoryResource> memory_resource() const;
  /// @throws ValueError `resource` is null
  void set_memory_resource(std::shared_ptr<MemoryResource> resource) const;
  /// Stream::legacy_default(), or Stream::per_thread_default() when the environment variable
  /// CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM is a number other than 0 (read at each call).
  static const Stream& default_stream();

  friend bool operator==(const Device&, const Device&) = default;

 private:
  friend class Stream;
  friend class Event;
  struct Known {};
  /// Of what is there already: needs no driver, so that a child of fork() can be told too.
  Device(int ordinal, Known /*is*/) noexcept : ordinal_(ordinal) {}
  int ordinal_;
};

}  // namespace cucore
