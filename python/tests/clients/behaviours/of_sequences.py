"""What objects do after something else has happened: another device or context is current, their owners are closed or
gone, in threads, after fork, in resources written in Python."""

from common import each, lines

# What is asked of objects that are made before.
ASKED = """
    stream.device.device_id | stream.context == device.context | stream.sync() | stream.priority | kind(stream.record())
    event.device.device_id | event.context == device.context | event.is_done | event.sync() | buffer.device_id | buffer.size
    buffer.is_device_accessible | buffer.is_host_accessible | buffer.memory_resource is resource | resource.device_id
    buffer.fill(1, stream=stream) | buffer.copy_to(other, stream=stream) is other | kind(buffer.copy_to(stream=stream))
    resource.allocate(16, stream=stream).device_id | core.launch(stream, one, none_) | kernel.num_arguments
    kernel.attributes.num_regs >= 0 | kernel.attributes.max_threads_per_block > 0 | kind(kernel.occupancy)
    kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0) > 0 | device.context.is_closed | device.sync()
    kind(device.create_stream()) | kind(device.create_event()) | kind(device.create_graph_builder()) | device.device_id
    device.default_stream.sync() | device.allocate(16, stream=stream).device_id | kind(device.memory_resource)
    kind(graph.GraphDefinition().empty()) | kind(graph.GraphDefinition().instantiate()) | made.launch(stream)
    kind(pinned.allocate(16)) | kind(View.from_dlpack(buffer, -1)) | View.from_dlpack(buffer, -1).device_id
    kind(core.DeviceMemoryResource(device)) | core.Device().device_id | core.Device() is device | array().shape
    kind(core.Program(SOURCE, 'c++').compile('ptx')) | kind(ptx.get_kernel('k')) | stream.wait(event)
    core.ProgramOptions().arch == f'sm_{device.arch}' | kind(core.LinkerOptions()) | event - event
    kind(cubin.get_module()) | kind(kernel.handle) | core.Stream.from_handle(number).device.device_id
"""
ASK = [part.strip() for line in lines(ASKED) for part in line.split(" | ")]
# What happens before; each undoes itself at the end of `asked` (see names()).
BEFORE = ["second", "no_context", "green", "both", "thread", "thread_of_second", "set_again", "twice"]
CLOSED = "stream event buffer pool cubin graph builder program linker array context"

BEHAVIOURS = [
    *each("after.{before}(lambda: {asked})", before=BEFORE, asked=ASK),
    *each("in_child(lambda: {asked})", asked=ASK[:14]),
    *each(
        "in_child(lambda: {asked})",
        asked=[
            "stream.record(event)",
            "device.create_event()",
            "device.create_event({'timing_enabled': True})",
            "device.create_stream()",
            "core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx')",
            "core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin')",
            "graph.GraphDefinition()",
            "core.launch(stream, one, none_)",
            "core.Device(0).device_id",
        ],
    ),
    *lines("""
        two = core.Device(1); two.set_current(); s = two.create_stream(); device.set_current(); s.device.device_id
        two = core.Device(1); two.set_current(); s = two.create_stream(); device.set_current(); core.launch(s, one, none_)
        two = core.Device(1); two.set_current(); s = two.create_stream(); device.set_current(); kind(s.record())
        two = core.Device(1); two.set_current(); s = two.create_stream(); device.set_current(); s.record().device.device_id
        two = core.Device(1); two.set_current(); s = two.create_stream(); device.set_current(); stream.wait(s)
        two = core.Device(1); two.set_current(); s = two.create_stream(); device.set_current(); buffer.fill(1, stream=s)
        two = core.Device(1); two.set_current(); e = two.create_event(); device.set_current(); stream.record(e)
        two = core.Device(1); two.set_current(); e = two.create_event(); device.set_current(); stream.wait(e)
        two = core.Device(1); two.set_current(); s = two.create_stream(); b = two.allocate(16, stream=s); device.set_current(); b.device_id
        two = core.Device(1); two.set_current(); s = two.create_stream(); b = two.allocate(256, stream=s); device.set_current(); kind(buffer.copy_to(b, stream=stream))
        two = core.Device(1); two.set_current(); s = two.create_stream(); b = two.allocate(256, stream=s); device.set_current(); b.close(stream)
        two = core.Device(1); two.set_current(); c = two.context; device.set_current(); c == device.context
        two = core.Device(1); two.set_current(); c = two.context; device.set_current(); device.set_current(c)
        two = core.Device(1); two.set_current(); c = two.context; device.set_current(); kind(two.set_current(c))
        two = core.Device(1); old = two.set_current(device.context)
        core.Device(1).set_current(); device.set_current(); core.Device().device_id
        device.set_current() is None
        kind(device.set_current(device.context))
        device.set_current(device.context) == device.context
        c = device.context; c.close(); device.sync()
        c = device.context; c.close(); c.is_closed
        two = core.Device(1); two.set_current(); k = two.memory_resource is resource; device.set_current(); k
        two = core.Device(1); two.set_current(); p = two.properties.multiprocessor_count == device.properties.multiprocessor_count; device.set_current(); p
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(16, stream=stream); r.close(); b.is_closed
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(16, stream=stream); r.close(); b.fill(1, stream=stream)
        r = core.DeviceMemoryResource(device, {}); b = r.allocate(16, stream=stream); del r; b.fill(1, stream=stream)
        r = core.DeviceMemoryResource(device, {}); r.close(); r.allocate(16, stream=stream)
        r = core.DeviceMemoryResource(device, {}); r.close(); r.close()
        r = core.DeviceMemoryResource(device, {}); r.close(); r.device_id
        s = device.create_stream(); b = resource.allocate(16, stream=s); s.close(); b.close()
        s = device.create_stream(); b = resource.allocate(16, stream=s); s.close(); b.fill(1, stream=s)
        s = device.create_stream(); b = resource.allocate(16, stream=s); del s; b.close()
        s = device.create_stream(); e = s.record(); s.close(); e.sync()
        s = device.create_stream(); e = s.record(); s.close(); e.is_done
        s = device.create_stream(); e = s.record(); s.close(); e.context == device.context
        s = device.create_stream(); t = core.Stream.from_handle(int(s.handle)); t == s
        s = device.create_stream(); t = core.Stream.from_handle(int(s.handle)); t.close(); s.is_closed
        s = device.create_stream(); t = core.Stream.from_handle(int(s.handle)); t.close(); s.sync()
        s = device.create_stream(); t = core.Stream.from_handle(int(s.handle)); hash(t) == hash(s)
        s = device.create_stream(); t = device.create_stream(s); t is s
        s = device.create_stream(); t = device.create_stream(s); t == s
        d = graph.GraphDefinition(); n = d.empty(); g = d.instantiate(); n.destroy(); g.launch(stream)
        d = graph.GraphDefinition(); n = d.empty(); g = d.instantiate(); del d; kind(n.graph)
        d = graph.GraphDefinition(); n = d.empty(); n.destroy(); n.destroy()
        d = graph.GraphDefinition(); n = d.empty(); n.destroy(); n.is_valid
        d = graph.GraphDefinition(); n = d.empty(); n.destroy(); n.empty if hasattr(n, 'empty') else n.join()
        d = graph.GraphDefinition(); n = d.empty(); n.destroy(); n.type
        d = graph.GraphDefinition(); n = d.empty(); n.destroy(); n.pred
        d = graph.GraphDefinition(); n = d.empty(); n.destroy(); n.handle
        d = graph.GraphDefinition(); n = d.empty(); m = n.join(); n.destroy(); len(m.pred)
        d = graph.GraphDefinition(); e = device.create_event(); n = d.record(e); n.event == e
        d = graph.GraphDefinition(); e = device.create_event(); n = d.record(e); e.close(); kind(n.event)
        d = graph.GraphDefinition(); e = device.create_event(); n = d.record(e); e.close(); kind(d.instantiate())
        d = graph.GraphDefinition(); e = device.create_event(); n = d.record(e); n.event.close(); n.event.is_closed
        d = graph.GraphDefinition(); e = device.create_event(); n = d.record(e); n.event.close(); e.is_closed
        d = graph.GraphDefinition(); n = d.callback(called); n.callback is called
        d = graph.GraphDefinition(); n = d.callback(called); n.update(other_called); n.callback is other_called
        d = graph.GraphDefinition(); n = d.empty(); n.graph == d
        d = graph.GraphDefinition(); n = d.empty(); n.graph is n.graph
        d = graph.GraphDefinition(); n = d.empty(); n in d.nodes()
        d = graph.GraphDefinition(); n = d.empty(); d.nodes() == {n}
        d = graph.GraphDefinition(); n = d.empty(); m = n.join(); d.edges() == {(n, m)}
        g = ended().complete(); g.close(); g.launch(stream)
        g = ended().complete(); g.close(); g.upload(stream)
        g = ended().complete(); g.close(); g.update(ended())
        g = ended().complete(); g.close(); g.handle
        b = ended(); b.close(); b.complete()
        b = ended(); g = b.complete(); b.close(); g.launch(stream)
        b = ended(); b.begin_building()
        b = ended(); b.end_building()
        b = ended(); b.is_building
        b = device.create_graph_builder(); b.close(); b.begin_building()
        b = device.create_graph_builder(); b.end_building()
        b = device.create_graph_builder(); b.complete()
        b = device.create_graph_builder().begin_building(); b.complete()
        b = device.create_graph_builder().begin_building(); b.close(); b.is_building
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); s.sync()
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); s.record()
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); stream.wait(s)
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); buffer.fill(1, stream=s)
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); kind(resource.allocate(16, stream=s))
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); core.launch(s, one, none_)
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); s.close(); b.end_building()
        s = device.create_stream(); b = s.create_graph_builder().begin_building(); s.create_graph_builder().begin_building()
        b = device.create_graph_builder().begin_building(); kind(core.GraphMemoryResource(device).allocate(16, stream=b))
        b = device.create_graph_builder().begin_building(); kind(resource.allocate(16, stream=b))
        b = device.create_graph_builder().begin_building(); kind(device.create_event())
        p = core.Program(SOURCE, 'c++'); p.close(); p.compile('ptx')
        p = core.Program(SOURCE, 'c++'); p.close(); p.handle
        p = core.Program(SOURCE, 'c++'); p.close(); p.backend
        p = core.Program(SOURCE, 'c++'); p.compile('ptx'); kind(p.compile('ptx'))
        p = core.Program(SOURCE, 'c++'); p.compile('ptx'); kind(p.compile('cubin'))
        p = core.Program('broken', 'c++'); raised(lambda: p.compile('ptx')); p.compile('ptx')
        l = core.Linker(ptx); l.close(); l.link('cubin')
        l = core.Linker(ptx); l.link('cubin'); kind(l.get_error_log())
        l = core.Linker(ptx); kind(l.get_info_log())
        l = core.Linker(ptx); l.close(); l.get_info_log()
        l = core.Linker(ptx); l.close(); l.handle
        k = cubin.get_kernel('k'); k.attributes is k.attributes
        k = cubin.get_kernel('k'); cubin.get_kernel('k') is k
        k = cubin.get_kernel('k'); cubin.get_kernel('k') == k
        k = cubin.get_kernel('k'); hash(cubin.get_kernel('k')) == hash(k)
        c = core.ObjectCode.from_cubin(cubin.code); k = c.get_kernel('k'); del c; k.num_arguments
        c = pickle.loads(pickle.dumps(cubin)); c.get_kernel('fill<int>').num_arguments
        c = pickle.loads(pickle.dumps(cubin)); c == cubin
        c = pickle.loads(pickle.dumps(cubin)); c.code == cubin.code and c.name == cubin.name
        c = copy.copy(cubin); c.code == cubin.code
        c = copy.deepcopy(cubin); c.code == cubin.code
    """),
    *each(
        "own = Own({how}); b = own.allocate(16, stream=stream); {asked}",
        how=["", "host=True", "plain=True"],
        asked=[
            "b.memory_resource is own",
            "b.size",
            "b.device_id",
            "b.is_device_accessible",
            "b.is_host_accessible",
            "b.is_managed",
            "b.is_mapped",
            "kind(b)",
            "b.close(); own.calls",
            "b.close(stream); own.calls",
            "b.close(); b.close(); len(own.calls)",
            "del b; gc.collect(); own.calls",
            "b.set_deallocation_stream(stream); b.close(); own.calls",
            "b.fill(1, stream=stream)",
            "kind(b.copy_to(stream=stream))",
            "b.__dlpack_device__()",
            "b.owner",
            "pickle.dumps(b)",
            "b.ipc_descriptor",
            "old = device.memory_resource; device.memory_resource = own; r = device.memory_resource is own; device.memory_resource = old; r",
            "kind(View.from_buffer(b, (4,), itemsize=4))",
            "hash(own) == hash(own)",
            "own == own",
            "isinstance(own, core.MemoryResource)",
            "kind(own)",
            "bool(own)",
            "weakref.ref(own)() is own",
            "own.attribute = 5; own.attribute",
            "kind(b.handle)",
            "b.close(); int(b.handle)",
            "b.close(); b.memory_resource",
            "b.close(); b.size",
        ],
    ),
    *each(
        "kind(type('Part', (core.MemoryResource,), {{body}})().{call})",
        body=["", "'allocate': lambda self, size, *, stream: 5", "'x': 1"],
        call=[
            "allocate(16, stream=stream)",
            "deallocate(0, 16, stream=stream)",
            "device_id",
            "is_device_accessible",
            "is_managed",
        ],
    ),
    *each(
        "Mine = type('Mine', (core.{base},), {}); {asked}",
        base="Buffer Stream Event Kernel ObjectCode Program Linker Device Context MemoryResource DeviceMemoryResource "
        "LegacyPinnedMemoryResource PinnedMemoryResource ManagedMemoryResource VirtualMemoryResource GraphMemoryResource "
        "LaunchConfig StreamOptions EventOptions ProgramOptions LinkerOptions Host",
        asked=["issubclass(Mine, object)", "kind(Mine())", "Mine.__name__", "Mine.__mro__[1].__name__", "Mine(1)"],
    ),
]


class After:
    """Something that happens before a call, and is undone after it."""

    def __init__(self, core, device, in_thread):
        self.core, self.device, self.in_thread = core, device, in_thread

    def second(self, call):
        self.core.Device(1).set_current()
        try:
            return call()
        finally:
            self.device.set_current()

    def both(self, call):
        self.core.Device(1).set_current()
        self.device.set_current()
        return call()

    def set_again(self, call):
        self.device.set_current()
        return call()

    def twice(self, call):
        call()
        return call()

    def thread(self, call):
        return self.in_thread(lambda: self.core.Device(0).set_current() or call())

    def thread_of_second(self, call):
        return self.in_thread(lambda: self.core.Device(1).set_current() or call())

    def no_context(self, call):
        return self.in_thread(call)

    def green(self, call):
        old = self.device.set_current(self.device.context)
        try:
            return call()
        finally:
            self.device.set_current(old)


def names(shared):
    import os

    core, device, stream = shared.core, shared.device, shared.stream
    none_ = shared.cubin.get_kernel("none")

    def ended():
        builder = device.create_graph_builder().begin_building()
        core.launch(builder, shared.one, none_)
        return builder.end_building()

    def in_child(call):
        """What the call gives in a child made by fork: its text."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                text = shared.raised(call) or "fine"
                os.write(writing, text.encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as file:
            text = file.read()
        os.waitpid(child, 0)
        return text

    class Own(core.MemoryResource):
        def __init__(self, host=False, plain=False):
            self.calls, self.host, self.plain, self.kept = [], host, plain, []

        def allocate(self, size, *, stream=None):
            under = (shared.pinned if self.host else shared.resource).allocate(size, stream=stream)
            self.kept.append(under)
            return core.Buffer.from_handle(int(under.handle), size, **({} if self.plain else {"mr": self}))

        def deallocate(self, ptr, size, *, stream=None):
            self.calls.append((type(ptr).__name__ in ("int", "CUdeviceptr"), size, type(stream).__name__))

        @property
        def is_device_accessible(self):
            return True

        @property
        def is_host_accessible(self):
            return self.host

        @property
        def device_id(self):
            return -1 if self.host else 0

    made = dict(after=After(core, device, shared.in_thread), none_=none_, ended=ended, in_child=in_child, Own=Own)
    made.update(made=ended().complete(), event=device.create_event(), number=int(stream.handle))
    made.update(other=shared.resource.allocate(256, stream=stream), called=lambda: None, other_called=lambda: 1)
    made["array"] = lambda: device.create_opaque_array(shared.texture.OpaqueArrayOptions((8,), "float32", 1))
    return made
