"""What Python itself asks of objects: equality between kinds, hashing, containers, attributes, references, text."""

from common import each, lines

OBJECTS = {
    "device": "device",
    "context": "device.context",
    "stream": "device.create_stream()",
    "default_stream": "core.LEGACY_DEFAULT_STREAM",
    "event": "device.create_event()",
    "buffer": "resource.allocate(16, stream=stream)",
    "pinned_buffer": "pinned.allocate(16)",
    "managed_buffer": "managed.allocate(16, stream=stream)",
    "resource": "core.DeviceMemoryResource(device, {})",
    "default_resource": "core.DeviceMemoryResource(device)",
    "pinned": "core.LegacyPinnedMemoryResource()",
    "virtual": "core.VirtualMemoryResource(device)",
    "graph_memory": "core.GraphMemoryResource(device)",
    "attributes": "resource.attributes",
    "program": "core.Program(SOURCE, 'c++')",
    "linker": "core.Linker(ptx)",
    "code": "core.ObjectCode.from_ptx(ptx.code)",
    "kernel": "cubin.get_kernel('k')",
    "kernel_attributes": "kernel.attributes",
    "occupancy": "kernel.occupancy",
    "config": "core.LaunchConfig(grid=1, block=1)",
    "definition": "graph.GraphDefinition()",
    "node": "graph.GraphDefinition().empty()",
    "kernel_node": "graph.GraphDefinition().launch(one, none_)",
    "builder": "device.create_graph_builder()",
    "made": "graph.GraphDefinition().instantiate()",
    "condition": "graph.GraphDefinition().create_condition()",
    "view": "View.from_dlpack(np.arange(4), -1)",
    "host": "core.Host(0)",
    "array": "device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'float32', 1))",
    "properties": "device.properties",
    "resources": "device.resources",
    "multiprocessors": "device.resources.sm",
    "cache": "utils.InMemoryProgramCache()",
    "program_options": "core.ProgramOptions(arch='sm_90')",
    "linker_options": "core.LinkerOptions(arch='sm_90')",
    "stream_options": "core.StreamOptions()",
    "event_options": "core.EventOptions()",
    "copy_options": "utils.CopyOptions()",
    "texture_options": "texture.TextureObjectOptions()",
}
ASKED = [
    "x == x, x != x, x == None, x != 5",
    "x == object(), object() == x",
    "x == Equal(), Equal() == x, x != Equal()",
    "x.__eq__(5) is NotImplemented",
    "raised(lambda: hash(x))",
    "hash(x) == hash(x), x in {x}, {x: 1}[x]",
    "weakref.ref(x)() is x",
    "weakref.WeakKeyDictionary({x: 1})[x]",
    "len(weakref.WeakValueDictionary({1: x}))",
    "bool(x)",
    "raised(lambda: len(x)), raised(lambda: iter(x)), raised(lambda: x[0])",
    "raised(lambda: x < x), raised(lambda: x + x), raised(lambda: x | x)",
    "raised(lambda: int(x)), raised(lambda: float(x)), raised(lambda: operator.index(x))",
    "raised(lambda: x()), raised(lambda: x.__enter__)",
    "raised(lambda: setattr(x, 'mine', 5))",
    "raised(lambda: delattr(x, 'none'))",
    "raised(lambda: vars(x))",
    "isinstance(repr(x), str), repr(x) == str(x)",
    "format(x) == str(x), f'{x!r}' == repr(x)",
    "raised(lambda: format(x, '>5'))",
    "kept = [x]; kept.index(x), kept.count(x), kept == [x]",
    "raised(lambda: memoryview(x))",
    "copy.copy(x) == x",
    "copy.deepcopy(x) == x",
    "[raised(lambda: pickle.loads(pickle.dumps(x, protocol))) for protocol in range(2, 6)]",
    "raised(lambda: sorted([x, x]))",
    "raised(lambda: type(x)())",
    "raised(lambda: x.__dict__)",
    "isinstance(type(x).__doc__, str)",
    "raised(lambda: type('Mine', (type(x),), {}))",
    "type(x).__name__",
]
CLOSED = "stream event buffer pinned_buffer resource pinned program linker builder made array default_resource"
AFTER = [
    "x.close(); x == x, hash(x) == hash(x)",
    "x.close(); isinstance(repr(x), str)",
    "before = hash(x); x.close(); hash(x) == before",
    "x.close(); x.close(); x.is_closed",
    "x.is_closed, x.close(), x.is_closed",
    "y = x; y.close(); x.is_closed",
    "x.close(); weakref.ref(x)() is x",
    "x.close(); bool(x)",
    "kept = {x}; x.close(); x in kept",
    "x.close(); raised(lambda: copy.copy(x))",
    "with_ = hasattr(x, '__enter__'); x.close(); x.is_closed",
    "x.close(None) if False else raised(lambda: x.close(1, 2))",
]
# Every class that a star import gives.
CLASSES = """Buffer Context ContextOptions Device DeviceMemoryResource DeviceMemoryResourceOptions DeviceResources Event EventOptions
GraphMemoryResource GraphicsResource Host Kernel LaunchConfig LegacyPinnedMemoryResource Linker LinkerOptions ManagedBuffer
ManagedMemoryResource ManagedMemoryResourceOptions MemoryResource ObjectCode PinnedMemoryResource PinnedMemoryResourceOptions Program
ProgramOptions SMResource SMResourceOptions Stream StreamOptions TensorMapDescriptor TensorMapDescriptorOptions
VirtualMemoryResource VirtualMemoryResourceOptions WorkqueueResource WorkqueueResourceOptions"""

BEHAVIOURS = [
    *[f"x = {made}; {asked}" for made in OBJECTS.values() for asked in ASKED],
    *[f"x = {OBJECTS[name]}; {asked}" for name in CLOSED.split() for asked in AFTER],
    *each(
        "{asked}",
        asked=[
            asked.replace("CLASS", f"core.{name}")
            for name in CLASSES.split()
            for asked in (
                "inspect.isclass(CLASS), CLASS.__name__, CLASS.__qualname__",
                "CLASS.__module__.split('.')[0] in ('cuda', 'cucore')",
                "isinstance(CLASS.__doc__, str) and len(CLASS.__doc__) > 10",
                "pickle.loads(pickle.dumps(CLASS)) is CLASS",
                "copy.deepcopy(CLASS) is CLASS",
                "[name for name in dir(CLASS) if not name.startswith('_') and not inspect.getdoc(getattr(CLASS, name))] if not dataclasses.is_dataclass(CLASS) else 0",
            )
        ],
    ),
    *lines("""
        [type(a) == type(b) for a, b in [(device.create_stream(), stream)]]
        stream == device.create_event(), buffer == stream, kernel == cubin, device == device.context, device == 0
        device in (0, 'device'), stream in [int(stream.handle)], buffer in [int(buffer.handle)]
        {stream, core.Stream.from_handle(int(stream.handle))} == {stream}
        len({stream, core.Stream.from_handle(int(stream.handle))})
        len({buffer, core.Buffer.from_handle(int(buffer.handle), buffer.size)})
        len({device, core.Device(0), core.Device(1)})
        len({kernel, cubin.get_kernel('k'), core.Kernel.from_handle(int(kernel.handle))})
        kernel == core.Kernel.from_handle(int(kernel.handle)), hash(kernel) == hash(core.Kernel.from_handle(int(kernel.handle)))
        len({core.DeviceMemoryResource(device), core.DeviceMemoryResource(device)})
        core.DeviceMemoryResource(device) == core.DeviceMemoryResource(device)
        core.DeviceMemoryResource(device, {}) == core.DeviceMemoryResource(device, {})
        core.LegacyPinnedMemoryResource() == core.LegacyPinnedMemoryResource()
        core.GraphMemoryResource(device) is core.GraphMemoryResource(device), core.GraphMemoryResource(0) == core.GraphMemoryResource(device)
        core.VirtualMemoryResource(device) == core.VirtualMemoryResource(device)
        buffer.memory_resource == resource, buffer.memory_resource is resource
        e = stream.record(); f = stream.record(); e == f, e != f, len({e, f})
        e = stream.record(); stream.record(e) is e
        e = stream.record(); e == stream.record(e)
        c = core.ObjectCode.from_ptx(ptx.code); c == ptx, hash(c) == hash(ptx), len({c, ptx})
        c = core.ObjectCode.from_cubin(cubin.code); d = core.ObjectCode.from_cubin(cubin.code); c == d, len({c, d})
        a = core.LaunchConfig(grid=2, block=1); b = core.LaunchConfig(grid=(2, 1, 1), block=(1, 1, 1)); a == b, hash(a) == hash(b)
        a = core.LaunchConfig(grid=2, block=1); b = core.LaunchConfig(grid=2, block=1, shmem_size=1); a == b, a != b
        a = core.LaunchConfig(grid=2, block=1); b = core.LaunchConfig(grid=2, block=1, is_cooperative=True); a == b
        a = core.LaunchConfig(grid=2, block=1); b = core.LaunchConfig(grid=2, block=1, cluster=1); a == b
        g = graph.GraphDefinition(); g == graph.GraphDefinition(), g == g, len({g, graph.GraphDefinition()})
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a == b, a == a, len({a, b, a})
        g = graph.GraphDefinition(); a = g.empty(); {a} == g.nodes(), a in g.nodes(), next(iter(g.nodes())) == a
        g = graph.GraphDefinition(); a = g.empty(); next(iter(g.nodes())) is a
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); copy.copy(b.pred) == {a}, type(copy.copy(b.pred)) == type(b.pred)
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); raised(lambda: copy.deepcopy(b.pred))
        g = graph.GraphDefinition(); c = g.create_condition(); copy.deepcopy({1: [c]}) == {1: [c]}, copy.copy(c).handle == c.handle
        g = graph.GraphDefinition(); a = g.empty(); b = a.join(); b.pred == {a}, a.succ == {b}, list(b.pred)[0] is a
        core.Host() == core.Host(), core.Host(0) == core.Host(), core.Host(0) == core.Host(0), core.Host.numa_current() == core.Host.numa_current()
        core.Host() is core.Host(), core.Host(0) is core.Host(0)
        device.context == device.context, device.context is device.context, len({device.context, core.Device(0).context})
        device.properties is device.properties, device.properties == device.properties
        device.resources is device.resources, device.memory_resource is device.memory_resource
        device.default_stream is device.default_stream, device.default_stream == core.LEGACY_DEFAULT_STREAM
        core.Device(0) is device, core.Device(device) is device, core.Device() is device
        in_thread(lambda: core.Device(0) is core.Device(0)), in_thread(lambda: hash(core.Device(0))) == hash(device)
        kernel.attributes is kernel.attributes, kernel.occupancy is kernel.occupancy
        kernel.attributes[0].num_regs == kernel.attributes.num_regs, kernel.attributes[device].num_regs == kernel.attributes.num_regs
        kernel.attributes[core.Device(1)].num_regs == kernel.attributes.num_regs, kernel.attributes[1].max_threads_per_block
        kernel.attributes['x']
        kernel.attributes[99].num_regs
        kernel.attributes[-1].num_regs
        kernel.attributes[None].num_regs
        kernel.attributes[0] is kernel.attributes[0], kernel.attributes[0] == kernel.attributes[device]
        ptx.code is ptx.code, cubin.symbol_mapping is cubin.symbol_mapping, ptx.name, ptx.code_type
        repr(device).startswith('<Device 0'), str(device) == repr(device)
        x = StreamLike(); raised(lambda: stream.wait(x)), raised(lambda: core.launch(x, one, none_))
        [name for name in core.__all__ if not hasattr(core, name)] if hasattr(core, '__all__') else []
        callable(core.launch), isinstance(core.__version__, str)
        core.__version__.count('.') >= 1
    """),
]


class Equal:
    """Equal to everything."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None


def names(shared):
    stream = shared.stream

    class StreamLike:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    return {
        "Equal": Equal,
        "StreamLike": StreamLike,
        "managed": shared.core.ManagedMemoryResource(),
        "none_": shared.cubin.get_kernel("none"),
    }
