"""Buffers and memory resources: what is left of them once closed, and classes of programs that derive from them."""

from common import lines
from of_wrong_arguments import names  # noqa: F401

BEHAVIOURS = lines("""
    b = make(); b.close(); b.size
    b = make(); b.close(); b.handle
    b = make(); b.close(); b.memory_resource
    b = make(); b.close(); b.device_id
    b = make(); b.close(); b.is_device_accessible, b.is_host_accessible
    b = make(); b.close(); b.fill(0, stream=stream)
    b = make(); b.close(); b.copy_to(stream=stream)
    b = make(); b.close(); b.copy_from(buffer, stream=stream)
    b = make(); b.close(); buffer.copy_from(b, stream=stream)
    b = make(); b.close(); buffer.copy_to(b, stream=stream)
    b = make(); b.close(); b.__dlpack__()
    b = make(); b.close(); b.__dlpack_device__()
    b = make(); b.close(); b.ipc_descriptor
    b = make(); b.close(); core.launch(stream, one, kernel, b)
    b = make(); b.close(); shape(repr(b))
    b = make(); b.close(); b == buffer, b == b, b != b
    b = make(); b.close(); View.from_buffer(b, (4,), itemsize=4)
    b = make(); b.close(); View.from_dlpack(b, stream_ptr=-1)
    b = make(); b.close(); b.owner
    b = make(); b.close(); b.is_mapped
    b = make(); b.close(); b.is_managed
    b = make(); b.close(); b.set_deallocation_stream(stream)
    b = make(); b.set_deallocation_stream(stream); b.close(); b.is_closed if hasattr(b, 'is_closed') else None
    b = make(); b.set_deallocation_stream(None)
    b = make(); b.set_deallocation_stream(5)
    b = make(); b.set_deallocation_stream(gone_stream())
    b = make(); b.close(None)
    b = make(); b.close(5)
    b = make(); b.close(gone_stream())
    b = make(); b.close(stream); b.close(stream)
    b = make(); b.close(stream=core.LEGACY_DEFAULT_STREAM)
    with_ = make(); x = with_.__enter__() is with_; with_.__exit__(None, None, None); x, raised(lambda: with_.size), int(with_.handle or 0)
    b = make(); w = weakref.ref(b); del b; gc.collect(); w() is None
    b = make(); l = []; weakref.finalize(b, l.append, 1); del b; gc.collect(); l
    b = make(); m = b.memory_resource; w = weakref.ref(m); m is resource
    r = core.DeviceMemoryResource(device, {}); b = r.allocate(16, stream=stream); w = weakref.ref(r); del r; gc.collect(); w() is not None, kind(b.memory_resource)
    r = core.DeviceMemoryResource(device, {}); b = r.allocate(16, stream=stream); w = weakref.ref(r); del r, b; gc.collect(); w() is None
    r = core.DeviceMemoryResource(device, {}); b = r.allocate(16, stream=stream); r.close(); b.size, b.fill(1, stream=stream), stream.sync()
    r = core.DeviceMemoryResource(device, {}); r.close(); r.close(); r.allocate(16, stream=stream)
    r = core.DeviceMemoryResource(device, {}); r.close(); r.handle
    r = core.DeviceMemoryResource(device, {}); r.close(); r.device_id
    r = core.DeviceMemoryResource(device, {}); r.close(); r.attributes
    r = core.DeviceMemoryResource(device, {}); r.close(); r.peer_accessible_by
    r = core.DeviceMemoryResource(device, {}); r.close(); r.is_ipc_enabled, r.is_device_accessible, r.is_host_accessible
    r = core.DeviceMemoryResource(device, {}); r.close(); r.uuid
    r = core.DeviceMemoryResource(device); r.close(); r.allocate(16, stream=stream).size
    r = core.DeviceMemoryResource(device); r.is_handle_owned, core.DeviceMemoryResource(device, {}).is_handle_owned
    r = core.DeviceMemoryResource(device); r2 = core.DeviceMemoryResource(device); r == r2, hash(r) == hash(r2), r is r2, int(r.handle) == int(r2.handle)
    r = core.DeviceMemoryResource(device, {}); r == core.DeviceMemoryResource(device, {}), r != r, r == 5
    core.DeviceMemoryResource(device, {'max_size': -1})
    core.DeviceMemoryResource(device, {'max_size': 'x'})
    core.DeviceMemoryResource(device, {'nope': 1})
    core.DeviceMemoryResource(device, {'ipc_enabled': True}).is_ipc_enabled
    core.DeviceMemoryResource(99)
    core.DeviceMemoryResource(-1)
    core.DeviceMemoryResource('x')
    core.DeviceMemoryResource(None)
    core.DeviceMemoryResource(core.Device(1)).device_id
    core.DeviceMemoryResource(device_id=1).device_id
    core.DeviceMemoryResource(device=device)
    core.PinnedMemoryResource().device_id, core.PinnedMemoryResource().is_host_accessible, core.PinnedMemoryResource().is_device_accessible
    core.PinnedMemoryResource({'numa_id': 0}).numa_id
    core.PinnedMemoryResource({'numa_id': 99})
    core.PinnedMemoryResource({'numa_id': -2})
    core.PinnedMemoryResource({'numa_id': 'x'})
    core.PinnedMemoryResource({'ipc_enabled': True, 'numa_id': 0}).is_ipc_enabled
    core.PinnedMemoryResource(core.DeviceMemoryResourceOptions())
    core.ManagedMemoryResource({'preferred_location': 0}).preferred_location
    core.ManagedMemoryResource({'preferred_location': -1}).preferred_location
    core.ManagedMemoryResource({'preferred_location': device})
    core.ManagedMemoryResource({'preferred_location': 99})
    core.ManagedMemoryResource({'preferred_location': 'x'})
    core.ManagedMemoryResource({'preferred_location_type': 'device'})
    core.ManagedMemoryResource({'preferred_location_type': 'host'}).preferred_location
    core.ManagedMemoryResource({'preferred_location_type': 'nope'})
    core.ManagedMemoryResource({'preferred_location': 0, 'preferred_location_type': 'host'})
    core.ManagedMemoryResource({'preferred_location': 0, 'preferred_location_type': 'host_numa'}).preferred_location
    core.ManagedMemoryResource().is_managed, core.ManagedMemoryResource().device_id, core.ManagedMemoryResource().is_host_accessible
    core.LegacyPinnedMemoryResource() == core.LegacyPinnedMemoryResource(), pinned.device_id
    pinned.allocate(0).size
    pinned.allocate(-1)
    pinned.allocate('x')
    pinned.allocate(16, stream=5)
    pinned.allocate(16, stream)
    pinned.allocate(16, stream=stream).size
    resource.allocate(16)
    resource.allocate(16, stream=None)
    resource.allocate(16, stream)
    resource.allocate(0, stream=stream).size, int(resource.allocate(0, stream=stream).handle) == 0
    resource.allocate(1 << 62, stream=stream)
    resource.allocate(1 << 70, stream=stream)
    resource.allocate(16.5, stream=stream)
    resource.allocate(True, stream=stream).size
    resource.allocate(np.uint8(5), stream=stream).size
    resource.deallocate(int(buffer.handle), 256, stream=None)
    resource.deallocate(0, 0, stream=stream)
    resource.deallocate(5, 16, stream=stream)
    resource.deallocate('x', 16, stream=stream)
    resource.attributes.reuse_follow_event_dependencies, resource.attributes.reuse_allow_opportunistic, resource.attributes.reuse_allow_internal_dependencies
    resource.attributes.release_threshold
    resource.attributes.release_threshold = 5
    resource.attributes.nope
    repr(core.DeviceMemoryResource(device, {}).attributes).startswith('<')
    resource.attributes is resource.attributes
    len(resource.peer_accessible_by), list(resource.peer_accessible_by)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [1]; r.peer_accessible_by == {1}, r.peer_accessible_by == (1,), len(r.peer_accessible_by), list(r.peer_accessible_by)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [0]; list(r.peer_accessible_by)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [99]
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = ['x']
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = 1
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = None
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = core.Device(1)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by.add(1); list(r.peer_accessible_by)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by |= {1}; list(r.peer_accessible_by)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [core.Device(1)]; r.peer_accessible_by.discard(1); r.peer_accessible_by.clear(); len(r.peer_accessible_by)
    r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by.remove(1)
    class_ = type('Mine', (core.MemoryResource,), {'allocate': lambda self, size, *, stream=None: core.Buffer.from_handle(address, size, mr=self), 'deallocate': lambda self, ptr, size, *, stream=None: None, 'device_id': 0, 'is_device_accessible': True, 'is_host_accessible': False}); m = class_(); b = m.allocate(16); b.memory_resource is m, b.device_id, b.is_device_accessible, b.is_host_accessible
    class_ = type('Mine', (core.MemoryResource,), {}); m = class_(); m.allocate(16)
    class_ = type('Mine', (core.MemoryResource,), {}); m = class_(); m.deallocate(0, 16)
    class_ = type('Mine', (core.MemoryResource,), {}); m = class_(); m.device_id
    class_ = type('Mine', (core.MemoryResource,), {}); m = class_(); m.is_managed, m.is_device_accessible
    got = []; class_ = type('Mine', (core.MemoryResource,), {'is_device_accessible': True, 'is_host_accessible': False, 'device_id': 0, 'deallocate': lambda self, ptr, size, *, stream=None: got.append((kind(ptr), size, stream is stream))}); b = core.Buffer.from_handle(address, 16, mr=class_()); b.close(stream); got
    got = []; class_ = type('Mine', (core.MemoryResource,), {'is_device_accessible': True, 'is_host_accessible': False, 'device_id': 0, 'deallocate': lambda self, ptr, size, *, stream=None: got.append((kind(ptr), int(ptr) == address, size, kind(stream)))}); b = core.Buffer.from_handle(address, 16, mr=class_()); del b; gc.collect(); got
    got = []; class_ = type('Mine', (core.MemoryResource,), {'is_device_accessible': True, 'is_host_accessible': False, 'device_id': 0, 'deallocate': lambda self, ptr, size, *, stream=None: got.append((kind(ptr), int(ptr) == address, size, kind(stream)))}); b = core.Buffer.from_handle(address, 16, mr=class_()); b.close(); b.close(); got
    got = []; class_ = type('Mine', (core.MemoryResource,), {'is_device_accessible': True, 'is_host_accessible': False, 'device_id': 0, 'deallocate': lambda self, ptr, size, stream=None: got.append((size, kind(stream)))}); b = core.Buffer.from_handle(address, 16, mr=class_()); b.close(core.LEGACY_DEFAULT_STREAM); got
    core.Buffer.from_handle(address, 16).size, core.Buffer.from_handle(address, 16).memory_resource, core.Buffer.from_handle(address, 16).owner
    o = object(); core.Buffer.from_handle(address, 16, owner=o).owner is o
    o = object(); core.Buffer.from_handle(address, 16, mr=resource, owner=o)
    core.Buffer.from_handle(address, -1)
    core.Buffer.from_handle(address, 'x')
    core.Buffer.from_handle('x', 16)
    core.Buffer.from_handle(None, 16)
    core.Buffer.from_handle(0, 0).size
    core.Buffer.from_handle(-1, 16)
    core.Buffer.from_handle(address, 16).device_id, core.Buffer.from_handle(address, 16).is_device_accessible, core.Buffer.from_handle(address, 16).is_host_accessible
    core.Buffer.from_handle(pinned.allocate(16).handle, 16).is_host_accessible
    core.Buffer.from_handle(12345, 16).device_id
    class_ = type('Mine', (core.Buffer,), {}); kind(class_.from_handle(address, 16))
    class_ = type('Mine', (core.Stream,), {}); kind(class_.from_handle(number))
    class_ = type('Mine', (core.Device,), {}); kind(class_(0))
    class_ = type('Mine', (core.DeviceMemoryResource,), {}); m = class_(device); kind(m), kind(m.allocate(16, stream=stream).memory_resource)
    class_ = type('Mine', (core.DeviceMemoryResource,), {'allocate': lambda self, size, *, stream: core.DeviceMemoryResource.allocate(self, 2 * size, stream=stream)}); class_(device, {}).allocate(16, stream=stream).size
    class_ = type('Mine', (core.LaunchConfig,), {}); c = class_(grid=1, block=1); core.launch(stream, c, none_), c == one
    class_ = type('Mine', (core.ObjectCode,), {}); kind(class_.from_ptx(ptx.code))
    class_ = type('Mine', (core.StreamOptions,), {}); device.create_stream(options=class_()).is_nonblocking
    class_ = type('Mine', (core.ProgramOptions,), {}); core.Program(SOURCE, 'c++', class_(arch=arch)).compile('ptx').code_type
    class_ = type('Mine', (core.Program,), {}); kind(class_(SOURCE, 'c++', {'arch': arch}))
    class_ = type('Mine', (core.Kernel,), {}); class_.from_handle(kernel_number)
    class_ = type('Mine', (core.Event,), {})
    class_ = type('Mine', (graph.GraphDefinition,), {}); kind(class_().empty())
""")
