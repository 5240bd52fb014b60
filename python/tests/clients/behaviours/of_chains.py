"""Chains of calls: what objects tell after another call went wrong, what they are after they were closed, what is made of
them then; each chain as its user would write it."""

from common import lines

BEHAVIOURS = lines(
    r"""
    # Code, its launches and configurations that cannot be.
    core.ObjectCode.from_ptx(None).code
    core.ObjectCode.from_ptx(None).get_kernel('k')
    core.ObjectCode.from_ptx(None).handle
    core.ObjectCode.from_cubin(5).handle
    core.ObjectCode.from_cubin(5).code
    core.ObjectCode.from_cubin(5).get_kernel('k')
    core.ObjectCode.from_cubin(b'x').handle
    core.ObjectCode.from_cubin(b'x').get_kernel('k')
    core.ObjectCode.from_cubin(b'x').get_module()
    core.ObjectCode.from_cubin([]).get_module()
    core.ObjectCode.from_cubin('').handle
    core.ObjectCode.from_cubin('').get_kernel('k')
    core.ObjectCode.from_cubin('').code
    core.ObjectCode.from_cubin('/nonexistent').get_kernel('k')
    core.ObjectCode.from_cubin(np.zeros(4)).get_kernel('k')
    core.ObjectCode.from_cubin(cubin).get_kernel('k')
    core.ObjectCode.from_cubin(object()).get_kernel('k')
    core.ObjectCode.from_ltoir(b"x").handle
    core.ObjectCode.from_ltoir(b"x").get_kernel('k')
    core.ObjectCode.from_ltoir(5).get_kernel('k')
    core.ObjectCode.from_ltoir(5).get_module()
    core.ObjectCode.from_ltoir(b"x").get_module()
    core.ObjectCode.from_ltoir(5).handle
    core.Linker(core.ObjectCode.from_ptx(None))
    core.Linker(core.ObjectCode.from_cubin(5), options={'arch':arch}).link('cubin')
    core.Linker(core.ObjectCode.from_cubin(''), options={'arch':arch}).link('cubin')
    repr(core.ObjectCode.from_cubin(5))
    core.ObjectCode.from_cubin(5) == core.ObjectCode.from_cubin(5)
    kind(hash(core.ObjectCode.from_cubin(5)))
    pickle.loads(pickle.dumps(core.ObjectCode.from_cubin(5))).code
    core.launch(stream, core.LaunchConfig(grid=2**40, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=2**70, block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=2**40), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=-1), kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid=(2,3); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid=None; core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.block=None; core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid=(2,3,4,5); c.grid
    c = core.LaunchConfig(grid=1, block=1); c.grid=(2,3,4,5); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid=(0,1,1); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.grid=(-1,1,1); core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size=-1; core.launch(stream, c, kernel, buffer)
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size=None
    c = core.LaunchConfig(grid=1, block=1); c.shmem_size=2**40; core.launch(stream, c, kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=2**40), kernel, buffer)
    core.GraphMemoryResource(99).device_id
    core.GraphMemoryResource(99).attributes.used_mem_current
    core.GraphMemoryResource(99).trim()
    core.GraphMemoryResource(99).allocate(16, stream=stream)
    core.GraphMemoryResource(99) == core.GraphMemoryResource(99)
    core.GraphMemoryResource(99) is core.GraphMemoryResource(99)
    core.GraphMemoryResource(-1).device_id
    checkpoint.Process(2**40).pid
    checkpoint.Process(2**40).state
    checkpoint.Process(-5).state
    checkpoint.Process(2**40).lock()
    g = graph.GraphDefinition(); n = g.callback(work); n.destroy(); kind(n.callback)
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.destroy(); kind(n.kernel)
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.destroy(); kind(n.config)
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); n.destroy(); kind(n.dptr)
    a = device.create_mipmapped_array(texture.MipmappedArrayOptions((8,), 'float32', 1, 99)); a.get_level(98).shape
    a = device.create_mipmapped_array(texture.MipmappedArrayOptions((8,), 'float32', 1, 99)); a.get_level(4).shape
    a = device.create_mipmapped_array(texture.MipmappedArrayOptions((8,), 'float32', 1, 99)); a.get_level(99).shape
    a = device.create_mipmapped_array(texture.MipmappedArrayOptions((8,), 'float32', 1, 4)); a.get_level(3).shape
    a = device.create_mipmapped_array(texture.MipmappedArrayOptions((8,), 'float32', 1, 4)); a.get_level(4).shape
    core.Program(SOURCE, 'c++', {'arch': arch, 'diag_error': 'x'})
    core.Program(SOURCE, 'c++', {'arch': arch, 'diag_error': 'x'}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': arch, 'max_register_count': 1.5})
    core.Program(SOURCE, 'c++', {'arch': arch, 'max_register_count': 1.5}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': arch, 'max_register_count': True}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': arch, 'max_register_count': False}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': arch, 'undefine_macro': 5}).compile('ptx')
    core.Program(SOURCE, 'c++', {'arch': arch, 'ptxas_options': 5}).compile('cubin')
    core.Program(SOURCE, 'c++', {'arch': [arch]}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'arch': [arch]}).compile('cubin').code_type
    core.Program(SOURCE, 'c++', {'arch': (arch,)}).compile('ptx').code_type
    core.ProgramOptions(arch=[arch]).as_bytes('nvrtc')
    core.ProgramOptions(arch=['sm_80', 'sm_90']).as_bytes('nvrtc')
    core.Program(SOURCE, 'c++', {'arch': ['sm_80', 'sm_90']}).compile('cubin').code_type
    core.Program(SOURCE, 'c++', {'arch': ['sm_80', 'sm_90']}).compile('ptx').code_type
    core.ProgramOptions(arch=5).as_bytes('nvrtc')
    core.ProgramOptions(arch='').as_bytes('nvrtc')
    core.Program(SOURCE, 'c++', {'arch': ''}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'arch': 'sm_1'}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'arch': 'x'}).compile('ptx').code_type
    core.Program(SOURCE, 'c++', {'arch': 'x'})
    k = core.Linker(cubin).link('cubin'); k.get_kernel('k')
    k = core.Linker(cubin).link('cubin'); core.launch(stream, one, k.get_kernel('k'), buffer); stream.sync(); k.name, k.code_type
    k = core.Linker(cubin).link('cubin'); len(k.code) > 1000
    k = core.Linker(ptx, options={'arch': arch}).link('cubin'); k.get_kernel('k').num_arguments
    core.Device(1).set_current(); s = core.Device(1).create_stream(); device.set_current(); b = resource.allocate(64, stream=stream); b.fill(1, stream=s)
    core.Device(1).set_current(); s = core.Device(1).create_stream(); device.set_current(); b = resource.allocate(64, stream=stream); b.copy_to(buffer, stream=s)
    core.Device(1).set_current(); s = core.Device(1).create_stream(); b = resource.allocate(64, stream=stream); r = raised(lambda: b.fill(1, stream=s)); device.set_current(); r
    b = core.Buffer.from_handle(int(buffer.handle), 16, mr=5)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(handle_type='win32')); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(allocation_type='none')); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_hint='x')); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(peers=5)); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_hint=-1)); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(self_access='none')); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(peer_access='none')); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(location_type='none')); r.allocate(4096)
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(allocation_type='none')); r.is_device_accessible
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(location_type='none')); r.is_host_accessible
    r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(allocation_type='none')); repr(r.config)
    v = core.VirtualMemoryResource(device); b = v.allocate(4096); c = v.modify_allocation(b, 1<<23); (b.size, c.size, raised(lambda: b.handle))
    v = core.VirtualMemoryResource(device); b = v.allocate(4096); h = int(b.handle); c = v.modify_allocation(b, 1<<23); (b.size, c.size, int(b.handle) == h, int(c.handle) == h)
    v = core.VirtualMemoryResource(device); b = v.allocate(4096); c = v.modify_allocation(b, 4096); c is b
    v = core.VirtualMemoryResource(device); b = v.allocate(4096); c = v.modify_allocation(b, -1); c is b
    # Devices, streams, events, buffers.
    issubclass(core.CUDAError if hasattr(core,'CUDAError') else Exception, Exception)
    hasattr(core, '__version__')
    type(core.__version__).__name__
    device.set_current(); device.set_current() is None
    core.Device() is core.Device(), core.Device(0) is core.Device(), core.Device(0) == core.Device(), core.Device(0) == core.Device(1), hash(core.Device(0)) == hash(core.Device(0))
    {core.Device(0): 1}[core.Device(0)]
    core.Device(device) is device
    [d.device_id for d in core.Device.get_all_devices()], type(core.Device.get_all_devices()).__name__
    core.Device.get_all_devices() == core.Device.get_all_devices()
    pickle.loads(pickle.dumps(device)) == device, pickle.loads(pickle.dumps(device)) is device
    copy.copy(device) is device, copy.deepcopy(device) is device
    shape(repr(device)), shape(str(device))
    device.compute_capability.major, device.compute_capability.minor, type(device.compute_capability).__name__, device.compute_capability == (9, 0), device.compute_capability._fields
    device.name, len(device.uuid), len(device.pci_bus_id), device.arch
    ctx = device.context; old = device.set_current(ctx); kind(old), old == ctx, device.context == ctx
    c = device.create_context(core.ContextOptions(resources=[device.resources.sm.split(core.SMResourceOptions(count=8))[0][0]])); kind(c), c.is_green, c.device.device_id, shape(repr(c))
    s1 = device.create_stream(); s2 = device.create_stream(); s1 == s2, s1 != s2, s1 == s1, s1 == 5, s1 == int(s1.handle), len({s1, s2})
    s = device.create_stream(); t = core.Stream.from_handle(int(s.handle)); s == t, hash(s) == hash(t), t.handle == s.handle, t.is_nonblocking, t.priority, t.device == device
    W = type('W', (), {'__cuda_stream__': lambda self: (0, int(stream.handle))}); s = device.create_stream(W()); s.handle == stream.handle, s == stream
    W = type('W', (), {'__cuda_stream__': lambda self: (1, int(stream.handle))}); device.create_stream(W())
    W = type('W', (), {'__cuda_stream__': lambda self: 5}); device.create_stream(W())
    W = type('W', (), {'__cuda_stream__': (0, int(stream.handle))}); device.create_stream(W())
    W = type('W', (), {'__cuda_stream__': lambda self: (0,)}); device.create_stream(W())
    W = type('W', (), {'__cuda_stream__': lambda self: (0, 'x')}); device.create_stream(W())
    W = type('W', (), {'__cuda_stream__': lambda self: (0, int(stream.handle))}); device.create_stream(W(), options={'priority': 0})
    stream.__cuda_stream__()[0], type(stream.__cuda_stream__()).__name__, stream.__cuda_stream__()[1] == int(stream.handle)
    s = device.create_stream(); s.close(); (s.handle, s.close())
    s = device.create_stream(); s.close(); raised(lambda: s.sync()), raised(lambda: s.record()), raised(lambda: s.device), raised(lambda: s.context), raised(lambda: s.is_nonblocking), raised(lambda: s.priority), raised(lambda: s.wait(stream)), raised(lambda: stream.wait(s)), raised(lambda: s.__cuda_stream__()), raised(lambda: repr(s)), raised(lambda: core.launch(s, one, kernel, buffer)), raised(lambda: resource.allocate(16, stream=s)), raised(lambda: buffer.fill(0, stream=s)), raised(lambda: s.create_graph_builder()), raised(lambda: device.create_stream(s)), raised(lambda: s.resources)
    e = stream.record(); stream.sync(); e.is_done, e.sync(), e.is_timing_enabled, e.is_blocking_sync, e.is_ipc_enabled
    a = stream.record(options={'timing_enabled': True}); b = stream.record(options=core.EventOptions(timing_enabled=True)); stream.sync(); type(b - a).__name__, (b - a) >= 0
    a = stream.record(); b = stream.record(); stream.sync(); b - a
    a = device.create_event({'timing_enabled': True}); b = device.create_event({'timing_enabled': True}); b - a
    a = device.create_event({'timing_enabled': True}); b = stream.record(options={'timing_enabled': True}); stream.sync(); b - a
    b = stream.record(options={'timing_enabled': True}); b - 5
    b = stream.record(options={'timing_enabled': True}); 5 - b
    e = device.create_event(); e.is_done
    e = device.create_event(); r = stream.record(e); r is e
    e = device.create_event(); e.close(); raised(lambda: e.is_done), raised(lambda: e.sync()), raised(lambda: e.device), raised(lambda: e.context), raised(lambda: e.is_timing_enabled), raised(lambda: stream.wait(e)), raised(lambda: stream.record(e)), raised(lambda: repr(e)), raised(lambda: e - e), raised(lambda: e == e), raised(lambda: hash(e)), raised(lambda: e.close()), raised(lambda: e.handle)
    e = device.create_event(); f = device.create_event(); e == f, e == e, e != f, e == 5
    b = resource.allocate(1024, stream=stream); b.size, b.device_id, b.is_device_accessible, b.is_host_accessible, b.is_managed, b.memory_resource is resource, b.owner, b.is_mapped, kind(b.handle)
    b = resource.allocate(1024, stream=stream); b.close(stream); b.size, b.handle, raised(lambda: b.memory_resource), raised(lambda: b.device_id), raised(lambda: b.is_device_accessible), raised(lambda: b.close()), raised(lambda: repr(b)), raised(lambda: b == b), raised(lambda: hash(b)), raised(lambda: b.copy_to(buffer, stream=stream)), raised(lambda: b.fill(1, stream=stream)), raised(lambda: buffer.copy_from(b, stream=stream)), raised(lambda: b.__dlpack__()), raised(lambda: b.__dlpack_device__()), raised(lambda: b.owner), raised(lambda: b.ipc_descriptor), raised(lambda: b.is_mapped)
    b = resource.allocate(0, stream=stream); b.size, int(b.handle), b.close(stream)
    b = resource.allocate(64, stream=stream); c = b.copy_to(stream=stream); c.size, c.memory_resource is resource, c == b
    b = resource.allocate(64, stream=stream); c = b.copy_to(buffer, stream=stream)
    b = resource.allocate(256, stream=stream); c = b.copy_to(buffer, stream=stream); c is buffer
    b = resource.allocate(256, stream=stream); c = b.copy_from(buffer, stream=stream); c is None
    b = pinned.allocate(16); b.fill(b'\x01\x02', stream=stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(b'\x01\x02\x03\x04', stream=stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(b'\x01\x02\x03', stream=stream)
    b = pinned.allocate(15); b.fill(b'\x01\x02', stream=stream)
    b = pinned.allocate(16); b.fill(256, stream=stream)
    b = pinned.allocate(16); b.fill(-1, stream=stream)
    b = pinned.allocate(16); b.fill(np.int32(7), stream=stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(np.float32(1), stream=stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(np.array([1,2], np.uint8), stream=stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(True, stream=stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill('a', stream=stream)
    b = pinned.allocate(16); b.fill(1.0, stream=stream)
    b = pinned.allocate(16); b.fill(None, stream=stream)
    b = pinned.allocate(16); b.fill(1)
    b = pinned.allocate(16); np.from_dlpack(b).dtype, np.from_dlpack(b).shape, np.from_dlpack(b).flags.writeable
    a = np.from_dlpack(pinned.allocate(16)); a[:] = 3; a.tolist()
    np.from_dlpack(buffer)
    buffer.__dlpack_device__(), pinned.allocate(4).__dlpack_device__()
    b = core.Buffer.from_handle(int(buffer.handle), 16, owner=buffer); b.owner is buffer, b.memory_resource, b.size, b == buffer, b.device_id, b.close(), b.owner
    b = core.Buffer.from_handle(int(buffer.handle), 16, mr=resource, owner=buffer)
    core.Buffer.from_handle(0, 0).size
    core.Buffer.from_handle(int(buffer.handle), 256) == buffer
    # Graphs, their nodes and builders.
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); kind(x[n]), shape(repr(x[n])), x[n].is_enabled
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[n].is_enabled = False; x[n].is_enabled
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[n].disable(); x[n].is_enabled
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[n].enable(); x[n].is_enabled
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); [m for m in dir(x[n]) if m[0] != '_']
    g = graph.GraphDefinition(); n = g.empty(); x = g.instantiate(); [m for m in dir(x[n]) if m[0] != '_']
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); [m for m in dir(x[n]) if m[0] != '_']
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[n] == x[n], hash(x[n]) == hash(x[n]), x[n] is x[n]
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); h = graph.GraphDefinition(); m = h.memset(buffer, 1, 16); x[m]
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[5]
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[None]
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); n in x
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); len(x)
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); list(x)
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x[n] = 5
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); n.destroy(); x[n].is_enabled
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); x.close(); x[n]
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 16); x = g.instantiate(); v = x[n]; x.close(); v.is_enabled
    b = pinned.allocate(16); b.fill(0, stream=stream); g = graph.GraphDefinition(); n = g.memset(b, 1, 16); x = g.instantiate(); x[n].update(b, 2, 16); x.launch(stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(0, stream=stream); g = graph.GraphDefinition(); n = g.memset(b, 1, 16); x = g.instantiate(); x[n].update(b, 2, 16, height=1, pitch=0); x.launch(stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(0, stream=stream); g = graph.GraphDefinition(); n = g.memset(b, 1, 16); x = g.instantiate(); n.update(b, 3, 16); x.launch(stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    b = pinned.allocate(16); b.fill(0, stream=stream); g = graph.GraphDefinition(); n = g.memset(b, 1, 16); x = g.instantiate(); x[n].is_enabled = False; x.launch(stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    called = []; g = graph.GraphDefinition(); n = g.callback(lambda: called.append(1)); x = g.instantiate(); x[n].update(lambda: called.append(2)); x.launch(stream); stream.sync(); called
    called = []; g = graph.GraphDefinition(); n = g.callback(lambda: called.append(1)); x = g.instantiate(); n.update(lambda: called.append(2)); x.launch(stream); stream.sync(); called
    called = []; g = graph.GraphDefinition(); n = g.callback(lambda: called.append(1)); x = g.instantiate(); x[n].is_enabled
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); x[n].update(one, kernel, buffer); x[n].update(core.LaunchConfig(grid=2, block=1), kernel, buffer)
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(core.LaunchConfig(grid=2, block=1), kernel, buffer); n.config.grid
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(config=core.LaunchConfig(grid=2, block=1))
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update()
    e = device.create_event(); f = device.create_event(); g = graph.GraphDefinition(); n = g.record(e); x = g.instantiate(); x[n].update(f), n.update(f), n.event == f
    e = device.create_event(); f = device.create_event(); g = graph.GraphDefinition(); n = g.wait(e); x = g.instantiate(); x[n].update(f), n.update(f), n.event == f
    g = graph.GraphDefinition(); c = graph.GraphDefinition(); c.empty(); n = g.embed(c); x = g.instantiate(); d = graph.GraphDefinition(); d.empty(); x[n].update(d), n.update(d)
    g = graph.GraphDefinition(); c = graph.GraphDefinition(); c.empty(); n = g.embed(c); x = g.instantiate(); d = graph.GraphDefinition(); d.empty(); d.empty(); x[n].update(d)
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); c = b.empty(); sorted(len(n.pred) for n in g.nodes()), sorted(len(n.succ) for n in g.nodes()), len(g.edges())
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); b in a.succ, a in b.pred, len(a.succ)
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); a.succ.discard(b); b in a.succ
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.remove(b)
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ = {b}; list(a.succ) == [b]
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.update([b]); a.succ == {b}, {b} == a.succ, a.succ | {a}, a.succ & {b}, a.succ - {b}
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); a.succ.clear(); len(b.pred)
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); a.succ.pop() == b, len(a.succ)
    g = graph.GraphDefinition(); a = g.empty(); a.succ.add(a)
    g = graph.GraphDefinition(); a = g.empty(); h = graph.GraphDefinition(); b = h.empty(); a.succ.add(b)
    g = graph.GraphDefinition(); a = g.empty(); a.succ.add(5)
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); b.succ.add(a); g.instantiate()
    g = graph.GraphDefinition(); a = g.empty(); shape(repr(a.succ)), kind(a.succ), isinstance(a.succ, __import__('collections').abc.MutableSet)
    [g := graph.GraphDefinition(), a := g.empty(), [a.empty() for _ in range(300)], len(a.succ), len(g.nodes()), len(g.edges())][3:]
    g = graph.GraphDefinition(); a = g.allocate(64); b = a.memset(a.dptr, 1, 64); c = b.deallocate(a.dptr); x = g.instantiate(); x.launch(stream); stream.sync(); a.bytesize, a.device_id, a.memory_type, a.peer_access, a.options if hasattr(a, 'options') else None
    g = graph.GraphDefinition(); a = g.allocate(64, device=device, memory_type='device', peer_access=[1]); a.peer_access
    g = graph.GraphDefinition(); a = g.allocate(64, memory_type='host'); a.memory_type
    g = graph.GraphDefinition(); a = g.allocate(64, memory_type='managed'); a.memory_type
    g = graph.GraphDefinition(); a = g.allocate(64, memory_type='none'); a.memory_type
    g = graph.GraphDefinition(); c = g.create_condition(1); w = g.while_loop(c); kind(w.body), w.condition == c, w.cond_type, kind(w.branches)
    g = graph.GraphDefinition(); c = g.create_condition(); w = g.if_else(c); kind(w.then), kind(w.else_), len(w.branches)
    g = graph.GraphDefinition(); c = g.create_condition(); w = g.switch(c, 3); len(w.branches), w.cond_type
    g = graph.GraphDefinition(); c = g.create_condition(default_value=0); w = g.if_then(c); called = []; w.then.callback(lambda: called.append(1)); x = g.instantiate(); x.launch(stream); stream.sync(); called
    g = graph.GraphDefinition(); c = g.create_condition(default_value=1); w = g.if_then(c); b = pinned.allocate(4); b.fill(0, stream=stream); w.then.memset(b, 7, 4); x = g.instantiate(); x.launch(stream); stream.sync(); bytes(np.from_dlpack(b).view(np.uint8))
    g = graph.GraphDefinition(); c = g.create_condition(); h = graph.GraphDefinition(); h.if_then(c)
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); j = g.join(a, b); len(j.pred)
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); j = a.join(b); len(j.pred)
    g = graph.GraphDefinition(); g.join()
    g = graph.GraphDefinition(); a = g.empty(); a.graph == g, a.graph is g, a.graph.handle == g.handle
    g = graph.GraphDefinition(); h = graph.GraphDefinition(); g == h, g == g, hash(g) == hash(g), g != h
    g = graph.GraphDefinition(); a = g.empty(); a.destroy(); a.is_valid, a.handle, a.type, len(g.nodes()), shape(repr(a)), raised(lambda: a.empty()), raised(lambda: a.succ), raised(lambda: a.pred), raised(lambda: a.graph), a == a, raised(lambda: hash(a)), raised(lambda: a.destroy())
    g = graph.GraphDefinition(); x = g.instantiate({'auto_free_on_launch': True}); kind(x)
    g = graph.GraphDefinition(); x = g.instantiate(graph.GraphCompleteOptions(upload_stream=stream)); kind(x)
    g = graph.GraphDefinition(); x = g.instantiate(graph.GraphCompleteOptions(device_launch=True)); kind(x)
    g = graph.GraphDefinition(); g.launch(one, kernel, buffer); x = g.instantiate(graph.GraphCompleteOptions(device_launch=True)); kind(x)
    g = graph.GraphDefinition(); x = g.instantiate(graph.GraphCompleteOptions(use_node_priority=True)); kind(x)
    g = graph.GraphDefinition(); a = g.empty(); x = g.instantiate(); g.empty(); x.update(g)
    g = graph.GraphDefinition(); a = g.memset(buffer, 1, 16); x = g.instantiate(); h = graph.GraphDefinition(); h.memset(buffer, 2, 16); x.update(h)
    x = graph.GraphDefinition().instantiate(); x.close(); raised(lambda: x.launch(stream)), raised(lambda: x.upload(stream)), raised(lambda: x.update(graph.GraphDefinition())), x.handle, raised(lambda: x.close()), shape(repr(x)), x == x, raised(lambda: hash(x))
    x = graph.GraphDefinition().instantiate(); shape(repr(x)), kind(x.handle), x == x
    b = device.create_graph_builder(); b.is_building, b.is_join_required, kind(b.stream), b.begin_building() is b, b.is_building, b.end_building() is b, b.is_building
    b = device.create_graph_builder().begin_building(); l, r = b.split(2); l is b, r.is_join_required, b.is_join_required, kind(graph.GraphBuilder.join(l, r)), b.end_building() is b
    b = device.create_graph_builder().begin_building(); l, r = b.split(2); b.end_building()
    b = device.create_graph_builder().begin_building(); l, r = b.split(2); r.end_building()
    b = device.create_graph_builder().begin_building(); b.begin_building()
    b = device.create_graph_builder(); b.end_building()
    b = device.create_graph_builder(); b.complete()
    b = device.create_graph_builder().begin_building(); b.complete()
    b = device.create_graph_builder().begin_building().end_building(); kind(b.complete()), kind(b.complete())
    b = device.create_graph_builder().begin_building().end_building(); b.begin_building()
    b = device.create_graph_builder().begin_building().end_building(); core.launch(b, one, kernel, buffer)
    b = device.create_graph_builder(); core.launch(b, one, kernel, buffer); b.stream.sync()
    b = device.create_graph_builder().begin_building(); b.close(); raised(lambda: b.stream), raised(lambda: b.is_building), raised(lambda: b.end_building()), raised(lambda: b.close()), shape(repr(b))
    b = device.create_graph_builder().begin_building('global'); b.end_building(); kind(b)
    b = device.create_graph_builder().begin_building('none')
    b = stream.create_graph_builder(); b.stream == stream, b.stream is stream
    b = stream.create_graph_builder().begin_building(); r = raised(lambda: stream.sync()); b.close(); r
    b = device.create_graph_builder().begin_building(); e = b.stream.record(); q = raised(lambda: e.sync()), raised(lambda: e.is_done); b.end_building(); q
    b = device.create_graph_builder().begin_building(); c = b.create_condition(default_value=1); w = b.while_loop(c); kind(w), w.is_building, w.begin_building() is w, w.end_building() is w; b.end_building(); kind(b.complete())
    b = device.create_graph_builder().begin_building(); c = b.create_condition(default_value=1); t = b.if_then(c); t.begin_building(); core.launch(t, one, kernel, buffer); t.end_building(); b.end_building(); x = b.complete(); x.launch(stream); stream.sync()
    b = device.create_graph_builder().begin_building(); c = b.create_condition(default_value=1); t = b.if_else(c); len(t), kind(t)
    b = device.create_graph_builder().begin_building(); c = b.create_condition(default_value=1); t = b.switch(c, 3); len(t), kind(t)
    b = device.create_graph_builder().begin_building(); m = core.GraphMemoryResource(device).allocate(64, stream=b); m.size, kind(m), m.memory_resource is core.GraphMemoryResource(device); m.close(); b.end_building(); x = b.complete(); x.launch(stream); stream.sync()
    b = device.create_graph_builder().begin_building(); b.callback(lambda: None); b.end_building(); kind(b.complete())
    b = device.create_graph_builder().begin_building(); kind(b.graph_definition)
    b = device.create_graph_builder().begin_building(); d = b.graph_definition; d.empty(); b.end_building(); kind(b.complete()), len(d.nodes())
    b = device.create_graph_builder(); b.graph_definition
    b = device.create_graph_builder().begin_building(); core.launch(b, one, kernel, buffer); b.end_building(); d = b.graph_definition; len(d.nodes()), kind(list(d.nodes())[0])
    b = device.create_graph_builder().begin_building(); c = device.create_graph_builder().begin_building().end_building(); b.embed(c); b.end_building(); kind(b.complete())
    b = device.create_graph_builder().begin_building(); c = device.create_graph_builder().begin_building(); b.embed(c)
    # Captures that an error has made invalid.
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.end_building()
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.is_building
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.close()
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); core.launch(b, one, kernel, buffer)
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.split(2)
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.callback(lambda: None)
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.create_condition()
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.complete()
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.graph_definition
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.embed(device.create_graph_builder().begin_building().end_building())
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.begin_building()
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); b.stream.record()
    b = device.create_graph_builder().begin_building(); raised(lambda: b.stream.sync()); raised(lambda: b.end_building()), b.is_building, raised(lambda: b.begin_building())
    b = device.create_graph_builder().begin_building(); e = b.stream.record(); raised(lambda: e.sync())
    b = device.create_graph_builder().begin_building(); e = b.stream.record(); raised(lambda: e.is_done)
    b = device.create_graph_builder().begin_building(); e = b.stream.record(); raised(lambda: e.sync()); b.end_building()
    b = device.create_graph_builder().begin_building(); e = b.stream.record(); raised(lambda: e.is_done); b.end_building()
    b = device.create_graph_builder().begin_building(); e = b.stream.record(); raised(lambda: e.sync()); b.is_building
    b = device.create_graph_builder().begin_building(); s = b.split(2); raised(lambda: s[1].stream.sync()); b.end_building()
    b = device.create_graph_builder().begin_building(); s = b.split(2); raised(lambda: s[1].stream.sync()); graph.GraphBuilder.join(*s)
    """
)


def names(shared):
    def work():
        pass

    return {"work": work}
