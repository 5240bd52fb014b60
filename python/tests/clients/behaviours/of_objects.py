"""Devices, streams, events and configurations: what each is, compares as, and does once it is closed."""

from common import lines
from of_wrong_arguments import names  # noqa: F401

BEHAVIOURS = lines("""
    core.launch(stream, core.LaunchConfig(grid=2**40, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=2**40), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=2**31, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=2**32, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=(8,8,8), cluster=2**40, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=2**70, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=-1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=2**40), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=2**32-1), kernel, buffer)
    core.LaunchConfig(grid=1, block=1, shmem_size=2**40).shmem_size
    core.LaunchConfig(grid=(1,2), block=1).grid
    core.LaunchConfig(grid=(True,1,1), block=1).grid
    core.LaunchConfig(grid=(1.5,1,1), block=1).grid
    core.LaunchConfig(grid=(1,2,3,4), block=1).grid
    core.LaunchConfig(grid=1.5, block=1).grid
    core.LaunchConfig(grid='x', block=1).grid
    core.LaunchConfig(grid=(2**40,1,1), block=1).grid
    core.LaunchConfig(grid=(-1,1,1), block=1).grid
    core.LaunchConfig(grid=0, block=1).grid
    core.LaunchConfig(grid=(), block=1).grid
    hash(core.LaunchConfig(grid=2**40, block=1)) == hash(core.LaunchConfig(grid=2**40, block=1)), core.LaunchConfig(grid=2**40, block=1) == core.LaunchConfig(grid=2**40, block=1), core.LaunchConfig(grid=2**40, block=1) == core.LaunchConfig(grid=1, block=1), shape(repr(core.LaunchConfig(grid=2**40, block=1)))
    c = core.LaunchConfig(grid=1, block=1); c.grid = None; core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid = (2**40, 1, 1); c.grid, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = -1; c.shmem_size, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = 2**40; c.shmem_size, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.grid = 'x'; c.grid
    c = core.LaunchConfig(grid=1, block=1); c.grid = ('x',1,1); c.grid, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.is_cooperative = 5; c.is_cooperative
    c = core.LaunchConfig(grid=1, block=1); c.is_cooperative = 'x'; c.is_cooperative
    graph.GraphDefinition().launch(core.LaunchConfig(grid=2**40, block=1), kernel, buffer)
    kernel.occupancy.max_active_clusters(core.LaunchConfig(grid=2**40, block=1), stream)
    core.LaunchConfig(grid=2**40, block=1, cluster=2).grid
    core.LaunchConfig(grid=1, block=1, cluster=(1,2)).cluster
    core.LaunchConfig(grid=-5, block=1).grid
    core.LaunchConfig(grid=-2**70, block=1).grid
    pickle.loads(pickle.dumps(core.LaunchConfig(grid=2**40, block=1))).grid
    copy.copy(core.LaunchConfig(grid=2**40, block=1)).grid
    virtual.modify_allocation(gone_buffer(), 8192)
    v = virtual; b = v.allocate(4096); b.close(); v.modify_allocation(b, 8192)
    virtual.modify_allocation(buffer, 8192)
    virtual.modify_allocation(None, 8192)
    virtual.modify_allocation(5, 8192)
    virtual.modify_allocation('x', 8192)
    virtual.modify_allocation(virtual.allocate(4096), 'x')
    virtual.modify_allocation(virtual.allocate(4096), -1)
    virtual.modify_allocation(virtual.allocate(4096), None)
    virtual.modify_allocation(virtual.allocate(4096), 0)
    virtual.modify_allocation(virtual.allocate(4096), 1.5)
    virtual.modify_allocation(virtual.allocate(4096), 2**70)
    kind(virtual.modify_allocation(core.VirtualMemoryResource(device).allocate(4096), 1<<22))
    kind(virtual.modify_allocation(core.Buffer.from_handle(address, 16), 8192))
    virtual.modify_allocation(pinned.allocate(16), 8192)
    virtual.modify_allocation(managed(), 8192)
    repr(stream.handle)[:10]
    kind(core.GraphMemoryResource(device_id=1))
    b = resource.allocate(16, stream=stream); kind(pinned.deallocate(0, 16, stream=stream))
    core.LaunchConfig(grid=1, block=1, shmem_size=2**31).shmem_size
    core.LaunchConfig(grid=1, block=1, shmem_size=2**31-1).shmem_size
    core.LaunchConfig(grid=1, block=1, shmem_size=-2**31).shmem_size
    core.LaunchConfig(grid=1, block=1, shmem_size=-2**31-1).shmem_size
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = 2**31
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = -2**31-1
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = 1.5; c.shmem_size
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = None; c.shmem_size
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = np.int32(5); c.shmem_size
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size = True; c.shmem_size
    core.LaunchConfig(grid=1, block=1, shmem_size=True).shmem_size
    core.LaunchConfig(grid=1, block=1, shmem_size=1.5).shmem_size
    core.LaunchConfig(grid=1, block=1, shmem_size='x').shmem_size
    c = core.LaunchConfig(grid=1, block=1); c.grid = (1,1,1,1); c.grid, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.grid = (0,1,1); c.grid, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.grid = (-1,1,1); c.grid, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.grid = (1.5,1,1); c.grid, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.grid = (np.int32(1),1,1); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid = [1,1,1]; c.grid
    c = core.LaunchConfig(grid=1, block=1); c.cluster = [1,1,1]; c.cluster
    c = core.LaunchConfig(grid=1, block=1); c.cluster = (0,1,1); c.cluster, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.cluster = (2**40,1,1); c.cluster, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.block = (2**40,1,1); c.block, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.block = (0,1,1); c.block, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.block = None; c.block, raised(lambda: core.launch(stream, c, kernel, buffer))
    c = core.LaunchConfig(grid=1, block=1); c.grid = (2**40,1,1); raised(lambda: graph.GraphDefinition().launch(c, kernel, buffer)), raised(lambda: kernel.occupancy.max_active_clusters(c, stream=stream)), raised(lambda: kernel.occupancy.max_potential_cluster_size(c, stream=stream))
    c = core.LaunchConfig(grid=1, block=1); c.grid = (2**40,1,1); c.grid = (1,1,1); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=2**40, block=1); c.block = (2,1,1); c.grid, c.block
    c = core.LaunchConfig(grid=2**40, block=1); c.grid = (2,1,1); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=2**40, block=1, cluster=2); c.cluster
    core.LaunchConfig(grid=2**40, block=1) == core.LaunchConfig(grid=2**41, block=1), len({core.LaunchConfig(grid=2**40, block=1), core.LaunchConfig(grid=2**40, block=1), core.LaunchConfig(grid=2**41, block=1)})
    core.LaunchConfig(grid=True, block=1) == core.LaunchConfig(grid=1, block=1), repr(core.LaunchConfig(grid=True, block=1))
    c = core.LaunchConfig(grid=1, block=1); c.grid = None; repr(c), hash(c) == hash(c), c == c
    c = core.LaunchConfig(grid=1, block=1); del c.grid
    c = core.LaunchConfig(grid=1, block=1); del c.grid; c.grid
    c = core.LaunchConfig(grid=1, block=1); del c.shmem_size
    c = core.LaunchConfig(grid=1, block=1); del c.is_cooperative
    c = core.LaunchConfig(grid=1, block=1); del c.cluster; c.cluster
    c = core.LaunchConfig(grid=1, block=1); c.mine = 5
    core.LaunchConfig(1, None, 1)
    core.LaunchConfig(1, 1)
    core.LaunchConfig()
    core.LaunchConfig(grid=1)
    core.LaunchConfig(block=1)
    core.LaunchConfig(grid=1, block=1025)
    core.LaunchConfig(grid=1, block=2000).block
    issubclass(core.DeviceMemoryResource, core.MemoryResource), issubclass(core.LegacyPinnedMemoryResource, core.MemoryResource), issubclass(core.ManagedBuffer, core.Buffer)
    isinstance(core.LEGACY_DEFAULT_STREAM, core.Stream), type(core.LEGACY_DEFAULT_STREAM).__name__, type(core.PER_THREAD_DEFAULT_STREAM).__name__
    core.LEGACY_DEFAULT_STREAM is device.default_stream, device.default_stream == core.LEGACY_DEFAULT_STREAM
    core.Device(0) is core.Device(0), core.Device(0) == core.Device(1), core.Device(0) != core.Device(1), hash(core.Device(0)) == hash(core.Device(1))
    sorted([core.Device(1), core.Device(0)], key=lambda d: d.device_id)[0].device_id
    core.Device(0) < core.Device(1)
    {core.Device(0): 1, core.Device(1): 2}[core.Device(0)]
    kind(core.Device.get_all_devices()), len(core.Device.get_all_devices())
    str(device.compute_capability), device.compute_capability == (9, 0), device.compute_capability.major, device.compute_capability.minor, device.compute_capability[0], tuple(device.compute_capability), isinstance(device.compute_capability, tuple)
    device.compute_capability >= (8, 0), device.compute_capability._fields, device.compute_capability._asdict()
    repr(device.compute_capability)
    len(device.uuid), device.uuid.count('-'), device.uuid == device.uuid.lower(), kind(device.uuid)
    kind(device.pci_bus_id), len(device.pci_bus_id), device.pci_bus_id.count(':')
    kind(device.name), kind(device.arch), kind(device.device_id)
    device.properties is device.properties, kind(device.properties)
    device.context == device.context, device.context is device.context, kind(device.context)
    device.memory_resource is device.memory_resource, kind(device.memory_resource)
    mr = device.memory_resource; device.memory_resource = pinned; x = device.memory_resource is pinned; device.memory_resource = mr; x
    mr = device.memory_resource; device.memory_resource = pinned; b = device.allocate(16, stream=stream); device.memory_resource = mr; b.memory_resource is pinned
    mr = device.memory_resource; device.memory_resource = core.DeviceMemoryResource(core.Device(1)); r = device.memory_resource.device_id; device.memory_resource = mr; r
    device.device_id = 5
    device.name = 'x'
    del device.name
    device.mine = 5
    device.allocate(0, stream=stream).size
    device.allocate(-1, stream=stream)
    device.allocate('x', stream=stream)
    device.allocate(16)
    device.allocate(16, stream)
    device.allocate(16, stream=None)
    device.allocate(size=16, stream=core.LEGACY_DEFAULT_STREAM).size
    device.allocate(16.0, stream=stream)
    device.allocate(np.int64(16), stream=stream).size
    device.allocate(1 << 60, stream=stream)
    device.sync(5)
    device.sync()
    device.set_current(device.context)
    device.set_current('x')
    kind(device.set_current(device.context)), kind(device.set_current())
    device.set_current(core.Device(1).context)
    two = core.Device(1); two.set_current(); c = two.context; r = raised(lambda: device.set_current(c)); device.set_current(); r
    two = core.Device(1); old = two.set_current(); device.set_current(); kind(old)
    device.set_current(ctx=device.context)
    device.set_current(None)
    device.create_stream(None, None), device.create_stream(options=None)
    device.create_stream(stream)
    device.create_stream(5)
    device.create_stream('x')
    device.create_stream(options='x')
    device.create_stream(options={'nonblocking': False}).is_nonblocking, device.create_stream(options={'nonblocking': True}).is_nonblocking, device.create_stream().is_nonblocking
    device.create_stream(options={'priority': 0}).priority, device.create_stream(options={'priority': -1}).priority
    device.create_stream(options={'priority': 1})
    device.create_stream(options={'priority': -100})
    device.create_stream(options={'nope': 1})
    device.create_event(options={'nope': 1})
    device.create_event('x')
    device.create_event(5)
    device.create_event({'timing_enabled': True}).is_timing_enabled, device.create_event({'blocking_sync': True}).is_blocking_sync, device.create_event().is_timing_enabled, device.create_event().is_blocking_sync, device.create_event().is_ipc_enabled
    device.create_event({'ipc_enabled': True, 'timing_enabled': True})
    device.create_event({'ipc_enabled': True}).is_ipc_enabled
    core.EventOptions(True), core.EventOptions(timing_enabled=True).timing_enabled, core.EventOptions().timing_enabled, core.EventOptions().blocking_sync, core.EventOptions().ipc_enabled
    core.EventOptions(enable_timing=True)
    core.EventOptions(busy_waited_sync=True)
    core.EventOptions(support_ipc=True)
    core.StreamOptions().nonblocking, core.StreamOptions().priority
    repr(core.StreamOptions()), repr(core.EventOptions())
    core.StreamOptions() == core.StreamOptions(), core.StreamOptions() == core.StreamOptions(nonblocking=False), hash(core.StreamOptions()) if core.StreamOptions.__hash__ else None
    core.EventOptions() == core.EventOptions(), core.EventOptions(timing_enabled=True) != core.EventOptions()
    o = core.StreamOptions(); o.priority = 5; o.priority
    o = core.EventOptions(); o.mine = 5
    o = core.StreamOptions(); o.mine = 5
    core.StreamOptions(priority='x')
    device.create_stream(options=core.StreamOptions(priority='x'))
    device.create_stream(options=core.EventOptions())
    device.create_event(options=core.StreamOptions())
    s = device.create_stream(); s.close(); s.close(); s.is_closed if hasattr(s, 'is_closed') else None
    s = device.create_stream(); s.close(); s.sync()
    s = device.create_stream(); s.close(); s.handle
    s = device.create_stream(); s.close(); s.record()
    s = device.create_stream(); s.close(); s.wait(event)
    s = device.create_stream(); s.close(); s.device
    s = device.create_stream(); s.close(); s.context
    s = device.create_stream(); s.close(); s.priority
    s = device.create_stream(); s.close(); s.is_nonblocking
    s = device.create_stream(); s.close(); s.__cuda_stream__()
    s = device.create_stream(); s.close(); s == stream, s == s, s != s
    s = device.create_stream(); s.close(); s.create_graph_builder()
    s = device.create_stream(); s.close(); s.resources
    s = device.create_stream(); s.close(); shape(repr(s))
    s = device.create_stream(); s.close(); core.launch(s, one, none_)
    s = device.create_stream(); s.close(); resource.allocate(16, stream=s)
    s = device.create_stream(); s.close(); stream.wait(s)
    s = device.create_stream(); s.close(); device.create_stream(s)
    e = device.create_event(); e.close(); e.close(); e.is_closed if hasattr(e, 'is_closed') else None
    e = device.create_event(); e.close(); e.sync()
    e = device.create_event(); e.close(); e.is_done
    e = device.create_event(); e.close(); e.handle
    e = device.create_event(); e.close(); e.device
    e = device.create_event(); e.close(); e.context
    e = device.create_event(); e.close(); e.is_timing_enabled
    e = device.create_event(); e.close(); e.is_blocking_sync
    e = device.create_event(); e.close(); e.is_ipc_enabled
    e = device.create_event(); e.close(); e.ipc_descriptor
    e = device.create_event(); e.close(); stream.wait(e)
    e = device.create_event(); e.close(); stream.record(e)
    e = device.create_event(); e.close(); e - event
    e = device.create_event(); e.close(); e == event, e == e
    e = device.create_event(); e.close(); shape(repr(e))
    e = device.create_event(); e.ipc_descriptor
    e = device.create_event({'ipc_enabled': True}); kind(e.ipc_descriptor), e.ipc_descriptor == e.ipc_descriptor
    e = device.create_event({'ipc_enabled': True}); core.Event.from_ipc_descriptor(e.ipc_descriptor)
    core.Event.from_ipc_descriptor(b'x' * 64)
    core.Event.from_ipc_descriptor('x')
    e = device.create_event({'timing_enabled': True}); e - e
    e = device.create_event({'timing_enabled': True}); stream.record(e); stream.sync(); e - e
    a, b = device.create_event({'timing_enabled': True}), device.create_event(); stream.record(a); stream.record(b); stream.sync(); b - a
    a, b = device.create_event({'timing_enabled': True}), device.create_event(); stream.record(a); stream.record(b); stream.sync(); a - b
    a = device.create_event({'timing_enabled': True}); b = device.create_event({'timing_enabled': True}); stream.record(a); stream.sync(); b - a
    a = device.create_event({'timing_enabled': True}); a - 5
    a = device.create_event({'timing_enabled': True}); 5 - a
    a = device.create_event({'timing_enabled': True}); a - None
    a = device.create_event({'timing_enabled': True}); a - stream
    stream.record(options={'timing_enabled': True}).is_timing_enabled
    stream.record(event, {'timing_enabled': True}) is event
    stream.record(event) is event, stream.record(event=event) is event
    stream.record(5)
    stream.record('x')
    stream.record(options='x')
    stream.wait(5)
    stream.wait(None)
    stream.wait(stream)
    stream.wait(event)
    stream.wait(core.LEGACY_DEFAULT_STREAM)
    stream.wait(gives)
    stream.wait(device)
    stream.wait()
    event.is_done, event.is_done is True
    event.is_done = True
    event()
    stream()
    bool(stream), bool(event), bool(device), bool(buffer), bool(kernel), bool(cubin), bool(resource), bool(one)
    core.Stream()
    core.Event()
    core.Buffer()
    core.Kernel()
    core.ObjectCode()
    core.Stream(5)
    core.Event(5)
    core.Buffer(5)
    core.Kernel(5)
    core.ObjectCode(5)
    core.Context()
    core.MemoryResource()
    core.DeviceMemoryResource()
    core.PinnedMemoryResource('x')
    core.Stream.from_handle('x')
    core.Stream.from_handle(-1)
    core.Stream.from_handle(0) == core.LEGACY_DEFAULT_STREAM
    core.Stream.from_handle(1) == core.LEGACY_DEFAULT_STREAM, core.Stream.from_handle(2) == core.PER_THREAD_DEFAULT_STREAM
    core.Stream.from_handle(number) == stream, hash(core.Stream.from_handle(number)) == hash(stream)
    core.Stream.from_handle(number).device == device, core.Stream.from_handle(number).is_nonblocking, core.Stream.from_handle(number).priority
    s = core.Stream.from_handle(number); s.close(); stream.sync()
    s = core.Stream.from_handle(number); del s; gc.collect(); stream.sync()
    core.Stream.from_handle(1.5)
    core.Stream.from_handle(None)
    core.Stream.from_handle(2**70)
    core.LEGACY_DEFAULT_STREAM.is_nonblocking, core.LEGACY_DEFAULT_STREAM.priority, core.PER_THREAD_DEFAULT_STREAM.is_nonblocking, core.PER_THREAD_DEFAULT_STREAM.priority
    core.LEGACY_DEFAULT_STREAM == core.PER_THREAD_DEFAULT_STREAM, hash(core.LEGACY_DEFAULT_STREAM) == hash(core.PER_THREAD_DEFAULT_STREAM)
    core.LEGACY_DEFAULT_STREAM.device == device, core.LEGACY_DEFAULT_STREAM.context == device.context
    core.LEGACY_DEFAULT_STREAM.create_graph_builder().begin_building()
    int(core.LEGACY_DEFAULT_STREAM.handle), int(core.PER_THREAD_DEFAULT_STREAM.handle)
    core.Stream.legacy_default() if hasattr(core.Stream, 'legacy_default') else None
    copy.copy(stream), copy.deepcopy(event)
    pickle.dumps(stream)
    pickle.dumps(event)
    pickle.dumps(device.context)
    pickle.dumps(kernel)
    pickle.loads(pickle.dumps(cubin)) == cubin, hash(pickle.loads(pickle.dumps(cubin))) == hash(cubin)
    pickle.loads(pickle.dumps(cubin)).name, pickle.loads(pickle.dumps(cubin)).code_type, pickle.loads(pickle.dumps(cubin)).code == cubin.code, pickle.loads(pickle.dumps(cubin)).symbol_mapping == cubin.symbol_mapping
    pickle.loads(pickle.dumps(device)) is device
    pickle.loads(pickle.dumps(core.Device(1))).device_id
    pickle.loads(pickle.dumps(one)) == one
    pickle.loads(pickle.dumps(core.StreamOptions(priority=-1))) == core.StreamOptions(priority=-1)
    pickle.loads(pickle.dumps(core.EventOptions(timing_enabled=True))) == core.EventOptions(timing_enabled=True)
    pickle.loads(pickle.dumps(core.ProgramOptions(arch='sm_90'))) == core.ProgramOptions(arch='sm_90')
    pickle.loads(pickle.dumps(core.LinkerOptions(arch='sm_90'))) == core.LinkerOptions(arch='sm_90')
    copy.deepcopy(core.ProgramOptions(arch='sm_90')) == core.ProgramOptions(arch='sm_90'), copy.copy(core.ProgramOptions(arch='sm_90')).arch
    pickle.dumps(buffer)
    pickle.dumps(graph.GraphDefinition())
    pickle.dumps(made)
    pickle.dumps(View.from_any_interface(np.zeros(4), stream_ptr=-1))
    pickle.dumps(core.Program(SOURCE, 'c++'))
    pickle.dumps(core.Linker(ptx))
""")
