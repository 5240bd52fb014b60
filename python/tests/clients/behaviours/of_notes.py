"""What the peer's release notes and pages say of its behaviour, each as a small program.

long because a table of snippets and the functions that they call belong together.
"""

from common import each, lines

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
SHAPES = ["(4,)", "(2, 3)", "(2, 3, 4)", "()", "(0,)", "(0, 3)", "(1, 1, 1)"]
# A prototype of C | its result and arguments for ctypes
PROTOTYPES = [
    "None, ctypes.c_void_p",
    "ctypes.c_int, ctypes.c_void_p",
    "None",
    "None, ctypes.c_int",
    "None, ctypes.c_void_p, ctypes.c_void_p",
    "None, ctypes.c_size_t",
    "None, ctypes.c_char_p",
    "ctypes.c_void_p, ctypes.c_void_p",
    "None, ctypes.py_object",
    "None, ctypes.POINTER(ctypes.c_int)",
]
COPIES = [
    "buffer.copy_to(other, stream={stream}, options={options})",
    "buffer.copy_from(other, stream={stream}, options={options})",
    "utils.copy_batch({stream}, [buffer], [other], options={options})",
]
STREAMS = [
    "stream",
    "core.LEGACY_DEFAULT_STREAM",
    "core.PER_THREAD_DEFAULT_STREAM",
    "building()",
    "capturing()",
    "None",
]

BEHAVIOURS = [
    # 0.5 and 0.6: views of arrays.
    *each("View.from_array_interface(np.zeros({shape}, {dtype!r})).{name}", shape=SHAPES, dtype=DTYPES, name="dtype"),
    *each(
        "View.from_array_interface(np.zeros({shape}, {dtype!r})).{name}",
        shape=SHAPES,
        dtype="int16 float64",
        name="shape strides size ptr.__class__",
    ),
    *each("View.from_dlpack(np.zeros((2, 3), {dtype!r}), -1).dtype", dtype=DTYPES),
    *each("View.from_buffer(buffer, (4,), dtype=np.dtype({dtype!r})).{name}", dtype=DTYPES, name="dtype size"),
    *each("np.from_dlpack(View.from_array_interface(np.ones((2, 3), {dtype!r}))).tolist()", dtype=DTYPES),
    *each("np.from_dlpack(View.from_buffer(host, (4,), dtype=np.dtype({dtype!r}))).dtype", dtype=DTYPES),
    *each(
        "View.from_array_interface(np.arange(24).reshape(2, 3, 4){part}).{name}",
        part=["[0]", "[:, 1]", "[..., ::2]", "[1:, 1:, 1:]", ".T", "[:, ::-1]", ".swapaxes(0, 1)"],
        name="shape strides size",
    ),
    *each(
        "np.from_dlpack(View.from_array_interface(np.arange(24).reshape(2, 3, 4){part})).tolist()",
        part=["[0]", "[:, 1]", "[..., ::2]", ".T", ".swapaxes(0, 1)"],
    ),
    # 0.7, 1.1: DLPack's errors, managed memory.
    *each("{kind}.__dlpack_device__()", kind="buffer host of_managed pooled"),
    *each(
        "View.from_dlpack({kind}, {stream}).{name}",
        kind="buffer host of_managed pooled",
        stream="-1 None int(stream.handle)",
        name="device_id is_device_accessible readonly",
    ),
    *each(
        "raised(lambda: {thing}.__dlpack__({arguments}))",
        thing="buffer host of_managed view",
        arguments=[
            "",
            "stream=-1",
            "max_version=(1, 0)",
            "max_version=(1, 0), copy=False",
            "copy=True",
            "dl_device=(1, 1)",
            "dl_device=(2, 1)",
            "dl_device=()",
            "dl_device='x'",
            "dl_device=(13, 0)",
            "max_version=()",
            "max_version=(2, 0)",
            "stream=1, max_version=(1, 1)",
            "stream=0",
            "stream='x'",
            "stream=-2",
        ],
    ),
    *each(
        "raised(lambda: np.from_dlpack({thing}, {arguments}))",
        thing="host of_managed buffer",
        arguments=["copy=True", "copy=False", "device='cpu'", "device='cpu', copy=False"],
    ),
    # 1.1: managed buffers.
    *each(
        "b = managed.allocate(64, stream=stream); b.{name} = {value}; b.{name}",
        name="read_mostly",
        value="True False 1 0 None 'x'",
    ),
    *each(
        "b = managed.allocate(64, stream=stream); b.preferred_location = {value}; b.preferred_location == {value}",
        value=["None", "device", "core.Host()", "core.Device(1)"],
    ),
    *each(
        "b = managed.allocate(64, stream=stream); b.accessed_by.{call}; sorted(str(one) for one in b.accessed_by)",
        call=[
            "add(device)",
            "add(core.Host())",
            "discard(device)",
            "update([device])",
            "clear()",
            "add(5)",
            "add(None)",
            "remove(device)",
            "pop()",
            "update([device, 5])",
        ],
    ),
    *each(
        "b = managed.allocate(64, stream=stream); b.accessed_by = {value}; len(b.accessed_by)",
        value=[
            "[]",
            "[device]",
            "{device}",
            "(device, core.Device(1))",
            "[device, 'x']",
            "None",
            "5",
            "[device, device]",
        ],
    ),
    *each(
        "b = managed.allocate(64, stream=stream); b.{call}",
        call=[
            "prefetch(device, stream=stream)",
            "prefetch(core.Host(), stream=stream)",
            "prefetch(None, stream=stream)",
            "prefetch(device)",
            "prefetch('x', stream=stream)",
            "prefetch(device, stream=None)",
            "discard(stream=stream)",
            "discard()",
            "discard_prefetch(device, stream=stream)",
            "discard_prefetch(core.Host(), stream=stream)",
            "prefetch(core.Device(1), stream=stream)",
            "prefetch(core.Host(0), stream=stream)",
            "prefetch(core.Host.numa_current(), stream=stream)",
        ],
    ),
    *each(
        "raised(lambda: utils.{call}_batch(stream, {buffers}{location}))",
        call="prefetch discard_prefetch",
        buffers=[
            "[]",
            "[of_managed]",
            "[of_managed, of_managed]",
            "of_managed",
            "[buffer]",
            "[host]",
            "None",
            "(of_managed,)",
        ],
        location=[", device", ", [device]", ", core.Host()", ", None", ", []"],
    ),
    *each(
        "raised(lambda: utils.discard_batch(stream, {buffers}))",
        buffers=["[]", "[of_managed]", "[of_managed, of_managed]", "of_managed", "[buffer]", "[host]", "None"],
    ),
    # 1.2: copies with options, and what streams they take.
    *[
        text.replace("{stream}", stream).replace("{options}", options)
        for text in COPIES
        for stream in STREAMS
        for options in (
            "None",
            "utils.CopyOptions()",
            "utils.CopyOptions(src_access_order='any')",
            "utils.CopyOptions(src_access_order='during_api_call')",
        )
    ],
    *each(
        "utils.copy_batch(stream, {srcs}, {dsts})",
        srcs=["[]", "[buffer]", "[buffer, buffer]", "(buffer,)", "[small]"],
        dsts=["[]", "[other]", "[other, other]", "[buffer]"],
    ),
    # 1.2: host callbacks must have the driver's prototype.
    *each(
        "g = graph.GraphDefinition(); raised(lambda: g.callback(ctypes.CFUNCTYPE({prototype})(called)))",
        prototype=PROTOTYPES,
    ),
    *each("b = building(); raised(lambda: b.callback(ctypes.CFUNCTYPE({prototype})(called)))", prototype=PROTOTYPES),
    *each(
        "g = graph.GraphDefinition(); n = g.callback(called); raised(lambda: n.update(ctypes.CFUNCTYPE({prototype})(called)))",
        prototype=PROTOTYPES,
    ),
    # 1.2: default streams are of the context that is current.
    *each(
        "after.{before}(lambda: core.{stream}.{asked})",
        before="second green both thread no_context",
        stream="LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM",
        asked=[
            "device.device_id",
            "context == core.Device().context",
            "record().device.device_id",
            "sync()",
            "is_nonblocking",
            "priority",
            "resources is not None",
            "wait(stream)",
        ],
    ),
    # 1.2: foreign memory and where it is freed.
    *each(
        "mr = Counting({accessible}); b = core.Buffer.from_handle(address, 16, mr=mr{stream}); b.close({end}); mr.told",
        accessible="True False",
        stream=["", ", stream=stream", ", stream=core.PER_THREAD_DEFAULT_STREAM"],
        end=["", "stream", "core.LEGACY_DEFAULT_STREAM"],
    ),
    *each(
        "in_thread(lambda: core.Buffer.from_handle(address, 16, mr=Counting({accessible})).close())",
        accessible="True False",
    ),
    *each(
        "mr = Counting(True); b = core.Buffer.from_handle(address, 16, mr=mr); b.set_deallocation_stream({stream}); b.close(); mr.told",
        stream=["stream", "core.LEGACY_DEFAULT_STREAM", "core.PER_THREAD_DEFAULT_STREAM"],
    ),
    *each(
        "raised(lambda: {resource}.deallocate({address}, 16, stream=stream))",
        resource="resource pool graph_memory",
        address="1 12345 0",
    ),
    # 1.2: launches that overlap with those before.
    *each(
        "core.LaunchConfig(grid=1, block=1, programmatic_stream_serialization={value}).programmatic_stream_serialization",
        value="True False",
    ),
    *each(
        "core.launch({stream}, core.LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True), none_)",
        stream=STREAMS[:4],
    ),
    # 1.1: code and programs by path.
    *each(
        "core.ObjectCode.{kind}(files[{key!r}]).get_kernel('k').num_arguments",
        kind="from_cubin from_ptx from_fatbin from_object from_library",
        key="cubin ptx",
    ),
    *each(
        "core.ObjectCode.{kind}(str(files[{key!r}])).{name}",
        kind="from_cubin from_ptx",
        key="cubin ptx",
        name="code_type name",
    ),
    *each(
        "kind(core.ObjectCode.from_cubin({path}).code)",
        path=[
            "files['cubin']",
            "str(files['cubin'])",
            "bytes(cubin.code)",
            "bytearray(cubin.code)",
            "memoryview(cubin.code)",
        ],
    ),
    *each(
        "core.ObjectCode.from_ptx({path}).get_kernel('k').num_arguments",
        path=[
            "ptx.code",
            "ptx.code.decode()",
            "bytearray(ptx.code)",
            "files['ptx']",
            "str(files['ptx'])",
            "'/none/such.ptx'",
            "b''",
            "''",
        ],
    ),
    *each(
        "core.Program({source}, 'c++', {{'arch': arch}}).compile('ptx').code_type",
        source=["files['source']", "files['source'].read_text()", "str(files['source'])", "b'x'", "''"],
    ),
    # Program caches: what is on the disk.
    *lines("""
        c = files_cache(); c['k'] = b'v'; sorted({oct(os.stat(p).st_mode & 0o777) for p in all_files(c)})
        c = files_cache(); c['k'] = b'v'; len(all_files(c)) > 0
        c = files_cache(); c['k'] = b'v'; c.close(); c['k']
        c = files_cache(); c['k'] = b'v'; d = utils.FileStreamProgramCache(c_path(c)); d['k']
        c = files_cache(max_size_bytes=100); [c.__setitem__(str(i), bytes(40)) for i in range(5)]; len(c) < 5
        c = files_cache(max_size_bytes=10); c['k'] = bytes(100); len(c)
        c = files_cache(); c['k'] = b'v'; c.clear(); len(c), c.get('k')
        c = files_cache(); c['k'] = b'v'; [os.remove(p) for p in all_files(c)]; c.get('k')
        c = files_cache(); c['k'] = b'v'; [p.write_bytes(b'') for p in all_files(c)]; c.get('k')
        c = files_cache(); c['k'] = b'v'; c['k'] = b'w'; c['k'], len(c)
        c = files_cache(); c['k'] = b'v'; del c['k']; len(c)
        c = files_cache(); c['a' * 5000] = b'v'; c['a' * 5000]
        c = files_cache(); c[bytes(range(256))] = b'v'; c[bytes(range(256))]
        c = files_cache(); core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache=c); len(c)
        c = files_cache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', cache=c); p.compile('cubin', cache=c); len(c)
        c = files_cache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', cache=c); p.compile('ptx', cache=c); len(c)
        c = files_cache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); x = p.compile('cubin', cache=c); core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache=c).code == x.code
        c = files_cache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', cache=c); core.Program(SOURCE, 'c++', {'arch': arch, 'ftz': True}).compile('cubin', cache=c); len(c)
        c = files_cache(); p = core.Program(SOURCE, 'c++', {'arch': arch, 'name': 'a'}); p.compile('cubin', cache=c).name
        c = utils.InMemoryProgramCache(max_size_bytes=100); [c.__setitem__(str(i), bytes(40)) for i in range(5)]; len(c)
        c = utils.InMemoryProgramCache(max_size_bytes=100); [c.__setitem__(str(i), bytes(40)) for i in range(3)]; c.get('0'), c.get('2') is None
        c = utils.InMemoryProgramCache(max_size_bytes=100); c['a'] = bytes(40); c['b'] = bytes(40); c['a']; c['c'] = bytes(40); c.get('a') is None, c.get('b') is None
        utils.InMemoryProgramCache(max_size_bytes=0)
        utils.InMemoryProgramCache(max_size_bytes=-1)
        utils.InMemoryProgramCache(max_size_bytes='x')
        utils.InMemoryProgramCache(100)
        c = utils.InMemoryProgramCache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('cubin', cache=c); len(c)
        c = utils.InMemoryProgramCache(); core.Program('broken', 'c++', {'arch': arch}).compile('cubin', cache=c)
        c = utils.InMemoryProgramCache(); raised(lambda: core.Program('broken', 'c++', {'arch': arch}).compile('cubin', cache=c)); len(c)
        core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache={})
        core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache=5)
    """),
    # Streams, events and graphs of several streams.
    *lines("""
        s = device.create_stream(options={'priority': -1}); s.priority
        s = device.create_stream(options={'nonblocking': False}); s.is_nonblocking
        s = device.create_stream(options=core.StreamOptions(nonblocking=True, priority=0)); s.priority, s.is_nonblocking
        a = device.create_event({'timing_enabled': True}); b = device.create_event({'timing_enabled': True}); b - a
        a = device.create_event({'timing_enabled': True}); stream.record(a); b = device.create_event({'timing_enabled': True}); b - a
        a = device.create_event({'timing_enabled': True}); stream.record(a); b = device.create_event(); stream.record(b); b - a
        a = device.create_event(); a.is_done, a.sync()
        a = device.create_event({'blocking_sync': True}); a.is_blocking_sync, a.is_timing_enabled
        s = device.create_stream(); e = s.record(); stream.wait(e); stream.sync(); e.is_done
        s = device.create_stream(); stream.wait(s); stream.sync()
        s = device.create_stream(); s.wait(s); s.sync()
        s = device.create_stream(); e = s.record(); e.device.device_id, e.context == s.context
        s = device.create_stream(); e = s.record(); f = s.record(e); f is e
        stream.record(options={'timing_enabled': True}).is_timing_enabled
        stream.record(device.create_event(), {'timing_enabled': True})
        stream.record(5)
        stream.record(options=5)
        device.create_stream(stream) == stream, device.create_stream(stream) is stream
        device.create_stream(5)
        device.create_stream('x')
        device.create_stream(None).is_closed
        device.create_event(5)
        device.create_event(options=core.EventOptions(ipc_enabled=True))
        core.Device.get_all_devices() == (core.Device(0), core.Device(1))
        kind(core.Device.get_all_devices())
        core.Device(5)
        core.Device(-1)
        core.Device('0')
        core.Device(core.Device(1)).device_id
        core.Device(True).device_id
        device.compute_capability == (9, 0), device.compute_capability.major, device.compute_capability.minor
        tuple(device.compute_capability), device.compute_capability._fields
        device.arch, kind(device.arch)
        device.can_access_peer(core.Device(1)), device.can_access_peer(device), device.can_access_peer(1)
        device.uuid == core.Device(0).uuid, device.uuid == core.Device(1).uuid, len(device.uuid)
        device.name == core.Device(0).name, kind(device.name), kind(device.pci_bus_id)
        d = core.Device(1); d.device_id, d.context if False else 0
        in_thread(lambda: kind(core.Device(1).context))
        in_thread(lambda: core.Device(1).sync())
        in_thread(lambda: core.Device(1).create_stream())
        in_thread(lambda: core.Device(1).create_event())
        in_thread(lambda: core.Device(1).allocate(16, stream=stream))
        in_thread(lambda: core.Device(1).default_stream.sync())
        in_thread(lambda: core.Device(1).properties.warp_size)
        in_thread(lambda: core.Device(1).memory_resource.device_id)
        in_thread(lambda: core.Device(1).resources is not None)
        in_thread(lambda: core.Device(1).create_graph_builder())
        in_thread(lambda: core.Device(1).create_opaque_array(texture.OpaqueArrayOptions((8,), 'float32', 1)))
        in_thread(lambda: core.Device(1).create_context(core.ContextOptions([])))
        in_thread(lambda: core.Program(SOURCE, 'c++', {'arch': 'sm_90'}).compile('cubin').code_type)
        in_thread(lambda: core.Program(SOURCE, 'c++').compile('cubin').code_type)
        in_thread(lambda: core.Linker(ptx, options={'arch': 'sm_90'}).link('cubin').code_type)
        in_thread(lambda: core.Linker(ptx).link('cubin').code_type)
        in_thread(lambda: core.ObjectCode.from_cubin(cubin.code).code_type)
        in_thread(lambda: core.ProgramOptions().arch)
        in_thread(lambda: core.LegacyPinnedMemoryResource().is_host_accessible)
        in_thread(lambda: core.DeviceMemoryResource(0).device_id)
        in_thread(lambda: core.PinnedMemoryResource().device_id)
        in_thread(lambda: core.ManagedMemoryResource().device_id)
        in_thread(lambda: core.VirtualMemoryResource(0).device_id)
        in_thread(lambda: core.GraphMemoryResource(0).device_id)
        in_thread(lambda: graph.GraphDefinition().nodes())
        in_thread(lambda: hash(stream) == hash(stream) and stream == stream)
        in_thread(lambda: hash(buffer) and buffer == buffer)
        in_thread(lambda: (stream.context == device.context, event.is_done))
        in_thread(lambda: core.Stream.from_handle(int(stream.handle)) == stream)
        in_thread(lambda: core.Buffer.from_handle(address, 16).size)
    """),
    # Pools.
    *lines("""
        r = core.DeviceMemoryResource(device, {}); r.attributes.used_mem_current
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(1024, stream=stream); r.attributes.used_mem_current
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(1, stream=stream); r.attributes.used_mem_current
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(0, stream=stream); r.attributes.used_mem_current, b.size
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(1024, stream=stream); b.close(); stream.sync(); r.attributes.used_mem_current, r.attributes.used_mem_high
        r = core.DeviceMemoryResource(device, {}); a = r.attributes; b = r.allocate(1024, stream=stream); a.used_mem_current
        r = core.DeviceMemoryResource(device, {}); r.attributes.release_threshold, r.attributes.reuse_allow_opportunistic
        r = core.DeviceMemoryResource(device); r.attributes.release_threshold == 2**64 - 1
        r = core.DeviceMemoryResource(device, {'max_size': 1 << 21}); r.allocate(1 << 30, stream=stream)
        r = core.DeviceMemoryResource(device, {'max_size': 1 << 21}); a = r.allocate(1 << 20, stream=stream); raised(lambda: r.allocate(1 << 24, stream=stream))
        r = core.DeviceMemoryResource(device, {}); r.is_handle_owned, core.DeviceMemoryResource(device).is_handle_owned
        r = core.DeviceMemoryResource(device, {}); r.is_device_accessible, r.is_host_accessible, r.is_managed, r.is_ipc_enabled, r.is_mapped
        r = core.PinnedMemoryResource({}); r.is_device_accessible, r.is_host_accessible, r.is_managed, r.device_id, r.numa_id
        r = core.PinnedMemoryResource(); r.is_device_accessible, r.is_host_accessible, r.is_managed, r.device_id, r.numa_id
        r = core.ManagedMemoryResource({}); r.is_device_accessible, r.is_host_accessible, r.is_managed, r.device_id, r.preferred_location
        r = core.ManagedMemoryResource({'preferred_location': 0}); r.preferred_location, r.device_id
        r = core.ManagedMemoryResource({'preferred_location': -1}); r.preferred_location, r.device_id
        r = core.ManagedMemoryResource({'preferred_location_type': 'host'}); r.preferred_location
        r = core.ManagedMemoryResource({'preferred_location_type': 'host_numa', 'preferred_location': 0}); r.preferred_location
        r = core.ManagedMemoryResource({'preferred_location_type': 'device', 'preferred_location': 1}); r.preferred_location, r.device_id
        r = core.ManagedMemoryResource({'preferred_location_type': 'device'})
        r = core.ManagedMemoryResource({'preferred_location_type': 'none'})
        r = core.ManagedMemoryResource({'preferred_location': 'x'})
        r = core.LegacyPinnedMemoryResource(); r.is_device_accessible, r.is_host_accessible, r.is_managed
        r = core.VirtualMemoryResource(device); r.is_device_accessible, r.is_host_accessible, r.device_id
        r = core.VirtualMemoryResource(device); b = r.allocate(100); b.size % (2 << 20)
        r = core.VirtualMemoryResource(device); b = r.allocate(100); b.is_device_accessible, b.is_host_accessible, b.device_id, b.memory_resource is r
        r = core.VirtualMemoryResource(device); b = r.allocate(100); c = r.modify_allocation(b, 8 << 20); c.size, int(c.handle) != 0
        r = core.VirtualMemoryResource(device); b = r.allocate(100); b.fill(7, stream=stream); stream.sync(); c = r.modify_allocation(b, 8 << 20); host.copy_from(core.Buffer.from_handle(int(c.handle), 256), stream=stream); stream.sync(); np.from_dlpack(host)[:3]
        r = core.VirtualMemoryResource(device); b = r.allocate(100); c = r.modify_allocation(b, 50); c.size, c is b
        r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(peers=[1])); b = r.allocate(100); b.size
        r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(location_type='host')); r.is_host_accessible, r.is_device_accessible
        r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(location_type='host_numa')); r.is_host_accessible
        r = core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(handle_type='win32'))
        r = core.GraphMemoryResource(device); r.attributes.used_mem_high, r.attributes.reserved_mem_current
        r = core.GraphMemoryResource(device); r.allocate(16, stream=stream)
        r = core.GraphMemoryResource(device); r.trim(), r.device_id, r.is_device_accessible, r.is_host_accessible
        r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [1]; tuple(d.device_id for d in r.peer_accessible_by)
        r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [core.Device(1), 1]; len(r.peer_accessible_by)
        r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [0]; len(r.peer_accessible_by)
        r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = [5]
        r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = None
        r = core.DeviceMemoryResource(device, {}); r.peer_accessible_by = ['x']
        a = core.DeviceMemoryResource(device); b = core.DeviceMemoryResource(device); a.peer_accessible_by = [1]; n = len(b.peer_accessible_by); a.peer_accessible_by = []; n, len(b.peer_accessible_by)
        old = device.memory_resource; device.memory_resource = pinned; b = device.allocate(16, stream=stream); device.memory_resource = old; b.memory_resource is pinned
        device.memory_resource = None
        device.memory_resource = 5
        b = device.allocate(16, stream=stream); b.memory_resource is device.memory_resource, b.size, b.device_id
        b = resource.allocate(16, stream=stream); c = b.copy_to(stream=stream); c.memory_resource is resource, c.size
        b = resource.allocate(16, stream=stream); s = device.create_stream(); b.close(s); s.sync(); b.is_closed
        b = resource.allocate(16, stream=building())
        b = resource.allocate(16, stream=core.LEGACY_DEFAULT_STREAM); b.close(); b.is_closed
        b = resource.allocate(16, stream=core.PER_THREAD_DEFAULT_STREAM); b.close(); b.is_closed
    """),
    # Graphs.
    *lines("""
        b = building(); core.launch(b, one, none_); d = b.end_building().graph_definition; len(d.nodes()), kind(d)
        b = building(); b.graph_definition
        b = building(); d = b.end_building().graph_definition; d.empty(); len(b.graph_definition.nodes())
        b = building(); b.end_building(); g = b.complete(); b.graph_definition.empty(); g.launch(stream)
        b = device.create_graph_builder(); b.graph_definition
        b = building(); s = b.stream; kind(s), s.is_closed, b.is_building
        b = building(); b.is_join_required, b.end_building() is b
        b = building(); x, y = b.split(2); x is b, x.is_join_required, y.is_join_required
        b = building(); x, y = b.split(2); y.end_building()
        b = building(); x, y = b.split(2); x.end_building()
        b = building(); x, y = b.split(2); z = graph.GraphBuilder.join(x, y); z is b, z.is_join_required
        b = building(); x, y, z = b.split(3); j = graph.GraphBuilder.join(y, x, z); j is y
        b = building(); x, y = b.split(2); core.launch(x, one, none_); core.launch(y, one, none_); j = graph.GraphBuilder.join(x, y); len(j.end_building().graph_definition.nodes())
        b = building(); raised(lambda: b.begin_building())
        b = building(); b.begin_building('none')
        device.create_graph_builder().begin_building('relaxed').is_building
        device.create_graph_builder().begin_building('thread_local').is_building
        device.create_graph_builder().begin_building('global').end_building().complete().launch(stream)
        device.create_graph_builder().begin_building(mode='relaxed').is_building
        stream.create_graph_builder().is_building
        kind(stream.create_graph_builder().stream), stream.create_graph_builder().stream == stream
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.kernel == kernel, n.config == one, n.grid, n.block
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(config=core.LaunchConfig(grid=2, block=3), kernel=kernel, args=(buffer,)); n.grid, n.block
        g = graph.GraphDefinition(); n = g.memset(buffer, 5, 16); n.update(value=6); n.value, n.width
        g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); n.update(size=8); n.size
        g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); e = g.instantiate(); e[n].update(size=8); n.size
        g = graph.GraphDefinition(); n = g.empty(); e = g.instantiate(); e[n]
        g = graph.GraphDefinition(); n = g.launch(one, none_); e = g.instantiate(); kind(e[n]), e[n].is_enabled
        g = graph.GraphDefinition(); n = g.launch(one, none_); e = g.instantiate(); e[graph.GraphDefinition().launch(one, none_)]
        g = graph.GraphDefinition(); n = g.launch(one, none_); e = g.instantiate(); e[5]
        g = graph.GraphDefinition(); n = g.launch(one, none_); e = g.instantiate(); n.destroy(); e[n]
        g = graph.GraphDefinition(); n = g.launch(one, none_); e = g.instantiate(); v = e[n]; v.is_enabled = False; v.is_enabled
        g = graph.GraphDefinition(); n = g.callback(called); e = g.instantiate(); v = e[n]; v.is_enabled
        g = graph.GraphDefinition(); n = g.allocate(64); n.bytesize, n.device_id, n.memory_type, n.peer_access, int(n.dptr) != 0
        g = graph.GraphDefinition(); n = g.allocate(64); g.deallocate(n.dptr)
        g = graph.GraphDefinition(); n = g.allocate(64); m = n.deallocate(n.dptr); m.dptr == n.dptr
        g = graph.GraphDefinition(); n = g.allocate(64); m = n.memset(n.dptr, 1, 64); m.deallocate(n.dptr); g.instantiate().launch(stream); stream.sync()
        g = graph.GraphDefinition(); n = g.allocate(64, memory_type='host'); n.memory_type
        g = graph.GraphDefinition(); n = g.allocate(64, memory_type='none')
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); c = g.join(a, b); sorted(len(x) for x in (a.succ, b.succ, c.pred))
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); len(g.edges()), b.pred == {a}
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); a.succ.discard(b); len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); a.succ.remove(b); a.succ.remove(b)
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); a.succ.clear(); len(b.pred)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.add(a)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.add(graph.GraphDefinition().empty())
        g = graph.GraphDefinition(); a = g.empty(); a.succ.add(5)
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ = {b}; len(a.succ), len(b.pred)
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); b.destroy(); len(g.nodes()), len(a.succ), b.is_valid
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); c = b.join(); b.destroy(); len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); b.succ.add(a); g.instantiate()
        g = graph.GraphDefinition(); c = g.create_condition(1); n = g.if_then(c); n.cond_type, kind(n.then), n.condition == c, len(n.branches)
        g = graph.GraphDefinition(); c = g.create_condition(1); g.if_then(c); g.if_then(c)
        g = graph.GraphDefinition(); c = graph.GraphDefinition().create_condition(1); g.if_then(c)
        g = graph.GraphDefinition(); g.switch(g.create_condition(1), 0)
        g = graph.GraphDefinition(); n = g.while_loop(g.create_condition(0)); kind(n.body), n.body is n.body, n.body == n.body
        g = graph.GraphDefinition(); n = g.embed(graph.GraphDefinition()); kind(n.child_graph), len(n.child_graph.nodes())
        g = graph.GraphDefinition(); h = graph.GraphDefinition(); n = g.embed(h); h.empty(); len(n.child_graph.nodes())
        g = graph.GraphDefinition(); n = g.embed(graph.GraphDefinition()); n.child_graph.empty(); len(n.child_graph.nodes())
        g = graph.GraphDefinition(); n = g.record(event); n.event == event, kind(n)
        g = graph.GraphDefinition(); n = g.wait(event); n.event == event
        g = graph.GraphDefinition(); n = g.record(5)
        g = graph.GraphDefinition(); e = g.instantiate(); e.launch(stream); e.launch(stream); e.close(); e.is_closed
        g = graph.GraphDefinition(); e = g.instantiate(graph.GraphCompleteOptions(auto_free_on_launch=True)); kind(e)
        g = graph.GraphDefinition(); e = g.instantiate(graph.GraphCompleteOptions(upload_stream=stream)); kind(e)
        g = graph.GraphDefinition(); e = g.instantiate(graph.GraphCompleteOptions(device_launch=True)); kind(e)
        g = graph.GraphDefinition(); e = g.instantiate(graph.GraphCompleteOptions(use_node_priority=True)); kind(e)
        g = graph.GraphDefinition(); p = path(); g.empty(); g.debug_dot_print(p); open(p).read().startswith('digraph')
        b = building(); core.launch(b, one, none_); b.end_building(); p = path(); b.debug_dot_print(p); 'digraph' in open(p).read()
        b = building(); b.debug_dot_print(path())
        g = graph.GraphDefinition(); g.debug_dot_print('/none/such/file')
        w = Weak(); r = weakref.ref(w); g = graph.GraphDefinition(); g.callback(w.call); del w; gc.collect(); r() is not None
        w = Weak(); r = weakref.ref(w); g = graph.GraphDefinition(); n = g.callback(w.call); del w; n.destroy(); gc.collect(); r() is None
        b = resource.allocate(16, stream=stream); r = weakref.ref(b); g = graph.GraphDefinition(); g.launch(one, kernel, b); del b; gc.collect(); r() is not None
        b = resource.allocate(16, stream=stream); r = weakref.ref(b); g = graph.GraphDefinition(); g.memset(b, 1, 4); del b; gc.collect(); r() is not None
        b = resource.allocate(16, stream=stream); r = weakref.ref(b); g = graph.GraphDefinition(); n = g.memset(b, 1, 4); del b; e = g.instantiate(); del g, n; gc.collect(); r() is not None
        b = resource.allocate(16, stream=stream); r = weakref.ref(b); g = graph.GraphDefinition(); g.memset(b, 1, 4); del b, g; gc.collect(); stream.sync(); r() is None
        e = device.create_event(); r = weakref.ref(e); g = graph.GraphDefinition(); g.record(e); del e; gc.collect(); r() is None
        b = resource.allocate(16, stream=stream); r = weakref.ref(b); c = building(); core.launch(c, one, kernel, b); del b; gc.collect(); r() is not None
        b = resource.allocate(16, stream=stream); r = weakref.ref(b); core.launch(stream, one, kernel, b); del b; gc.collect(); r() is None
    """),
]


def names(shared):
    import pathlib
    import tempfile

    from of_sequences import After

    core, device, stream, resource, utils = shared.core, shared.device, shared.stream, shared.resource, shared.utils
    kept = resource.allocate(256, stream=stream)
    address = int(kept.handle)
    folder = pathlib.Path(tempfile.mkdtemp())
    files = {"cubin": folder / "a.cubin", "ptx": folder / "a.ptx", "source": folder / "a.cu"}
    files["cubin"].write_bytes(shared.cubin.code)
    files["ptx"].write_bytes(shared.ptx.code)
    files["source"].write_text(shared.SOURCE)
    caches, builders = {}, []

    class Counting(core.MemoryResource):
        def __init__(self, accessible):
            self.accessible, self.told = accessible, []

        def allocate(self, size, *, stream=None):
            return core.Buffer.from_handle(address, size, mr=self)

        def deallocate(self, ptr, size, *, stream=None):
            self.told.append(
                (size, None if stream is None else int(stream.handle) if int(stream.handle) < 3 else "own")
            )

        is_device_accessible = property(lambda self: self.accessible)
        is_host_accessible = property(lambda self: not self.accessible)
        device_id = property(lambda self: 0 if self.accessible else -1)

    class Weak:
        def call(self):
            pass

    def building():
        return device.create_graph_builder().begin_building()

    def capturing():
        builders.append(building())
        return builders[-1].stream

    def files_cache(**options):
        place = tempfile.mkdtemp()
        made = utils.FileStreamProgramCache(place, **options)
        caches[id(made)] = made, place
        return made

    def c_path(cache):
        return caches[id(cache)][1]

    def all_files(cache):
        return [path for path in pathlib.Path(c_path(cache)).rglob("*") if path.is_file()]

    numbers = iter(range(1000))
    sized = {"other": 256, "small": 16}
    made = {name: resource.allocate(size, stream=stream) for name, size in sized.items()}
    managed = core.ManagedMemoryResource()
    host = shared.pinned.allocate(256)
    return {
        **made,
        "kept": kept,
        "address": address,
        "files": files,
        "Counting": Counting,
        "Weak": Weak,
        "building": building,
        "capturing": capturing,
        "files_cache": files_cache,
        "c_path": c_path,
        "all_files": all_files,
        "path": lambda: str(folder / f"{next(numbers)}.dot"),
        "managed": managed,
        "of_managed": managed.allocate(256, stream=stream),
        "pool": core.DeviceMemoryResource(device),
        "pooled": core.PinnedMemoryResource().allocate(64, stream=stream),
        "graph_memory": core.GraphMemoryResource(device),
        "host": host,
        "view": shared.View.from_any_interface(shared.buffer, -1),
        "none_": shared.cubin.get_kernel("none"),
        "event": stream.record(),
        "called": lambda *given: None,
        "after": After(core, device, shared.in_thread),
    }
