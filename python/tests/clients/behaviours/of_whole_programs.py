"""What the pages of the peer's documentation promise and show, each as a small program of our own.

Overview, ten minutes, interoperability, concurrency, errors, and the examples of its API pages.
"""

from common import each, lines

KINDS = "float double int"
SIZES = "1 31 256 1000"

BEHAVIOURS = [
    # Overview and examples: templates by name expressions, for several types and sizes.
    *each("add({kind!r}, {size})", kind=KINDS, size=SIZES),
    *each("saxpy({kind!r}, {size})", kind="float double", size=SIZES),
    *each("add_in_graph({times})", times="1 2 5"),
    *each("conditional({value}, {form!r})", value="0 1", form="if_then if_else switch"),
    *each("linked({lto}, {by})", lto="True False", by="2 5"),
    *each("waits_for({count})", count="1 2 4"),
    *each("copied({way!r})", way="pinned managed device legacy"),
    *each("viewed({way!r})", way="dlpack any array_interface buffer"),
    *each("cached({kind!r})", kind="memory file"),
    # Errors: whatever a call does, the current context stays the one that was current.
    *each(
        "after.second(lambda: (raised(lambda: {call}), core.Device().device_id))",
        call=[
            "stream.record()",
            "stream.sync()",
            "stream.wait(stream.record())",
            "buffer.fill(1, stream=stream)",
            "buffer.fill(1, stream=None)",
            "resource.allocate(1 << 50, stream=stream)",
            "core.Device(0).create_stream()",
            "core.Device(0).create_event()",
            "core.DeviceMemoryResource(core.Device(0), {})",
            "core.launch(stream, one, none_)",
            "cubin.get_kernel('missing')",
            "device.sync()",
            "buffer.close(5)",
            "device.create_stream(options={'priority': 99})",
            "device.allocate(16, stream=stream)",
            "device.create_graph_builder()",
            "stream.close",
            "core.Program('broken', 'c++').compile('ptx')",
            "device.can_access_peer(1)",
            "device.properties",
            "device.context",
            "made.launch(stream)",
            "graph.GraphDefinition().instantiate()",
        ],
    ),
    # Interoperability.
    *lines("""
        s = device.create_stream(Foreign(stream)); s == stream
        s = device.create_stream(Foreign(stream)); s.sync()
        s = device.create_stream(Foreign(stream)); int(s.handle) == int(stream.handle)
        s = device.create_stream(Foreign(stream)); s.close(); stream.sync()
        s = device.create_stream(Foreign(stream)); core.launch(s, one, none_)
        device.create_stream(Foreign(stream, version=1))
        device.create_stream(Foreign(stream, version='0'))
        device.create_stream(Foreign(stream, more=(1,)))
        device.create_stream(Foreign(stream, as_list=True))
        device.create_stream(Foreign(None))
        device.create_stream(Foreign(stream), options={})
        device.create_stream(Foreign(stream), options=core.StreamOptions())
        device.create_stream(obj=Foreign(stream)).is_nonblocking
        core.launch(Foreign(stream), one, none_)
        stream.__cuda_stream__() == (0, int(stream.handle))
        core.LEGACY_DEFAULT_STREAM.__cuda_stream__()
        core.PER_THREAD_DEFAULT_STREAM.__cuda_stream__()
        core.LEGACY_DEFAULT_STREAM.sync()
        core.PER_THREAD_DEFAULT_STREAM.sync()
        np.from_dlpack(pinned.allocate(8)).dtype
        np.from_dlpack(pinned.allocate(8)).shape
        b = pinned.allocate(8); a = np.from_dlpack(b); a[:] = 7; bytes(np.from_dlpack(b))
        b = pinned.allocate(8); a = np.from_dlpack(b).view('f4'); a[:] = 1.5; a.tolist()
        b = pinned.allocate(8); a = np.from_dlpack(b); b.close(); a.shape
        View.from_dlpack(np.arange(6).reshape(2, 3), -1).shape
        View.from_dlpack(np.arange(6).reshape(2, 3).T, -1).strides
        View.from_dlpack(np.arange(6, dtype='f4')[::2], -1).strides
        View.from_dlpack(np.array(5), -1).shape
        View.from_dlpack(np.zeros((0, 3)), -1).shape
        View.from_any_interface(np.arange(6), -1).is_device_accessible
        View.from_any_interface(np.arange(6), None).device_id
        np.asarray(np.from_dlpack(View.from_dlpack(np.arange(3), -1))).tolist()
        decorated(np.arange(6).reshape(2, 3))
        decorated(buffer)
        decorated(5)
        decorated(a=np.arange(4))
        decorated.__name__
        numbers = [core.Device(i).device_id for i in range(2)]; numbers
        [one.device_id for one in core.Device.get_all_devices()]
        core.Device.get_all_devices()[0] is device
        s = device.create_stream(); a = s.record(options=timing); core.launch(s, one, none_); b = s.record(options=timing); b.sync(); (b - a) >= 0
        s = device.create_stream(); a = device.create_event(timing); b = device.create_event(timing); s.record(a); s.record(b); s.sync(); type(b - a) is float
        a = device.create_event(); b = device.create_event(); stream.record(a); stream.record(b); b.sync(); b - a
        r = core.DeviceMemoryResource(0); r.peer_accessible_by = {1}; 1 in r.peer_accessible_by
        r = core.DeviceMemoryResource(0); r.peer_accessible_by = {1}; r.peer_accessible_by = []; 1 in r.peer_accessible_by
        b = resource.allocate(16, stream=stream); b.close(); b.close()
        with_ = device.create_event(); weakref.ref(with_)() is with_
        core.Device().set_current(); core.Device().device_id
        in_thread(lambda: core.Device().device_id)
        in_thread(lambda: (core.Device(1).set_current(), core.Device().device_id)[1])
        in_thread(lambda: core.Device(0) is device)
        in_thread(lambda: core.Device(0) == device)
        [in_thread(lambda: (core.Device(0).set_current(), device.create_stream().sync())) for _ in range(3)]
    """),
]


class Foreign:
    """A stream of another library, by the protocol."""

    def __init__(self, stream, version=0, more=(), as_list=False):
        self.stream, self.version, self.more, self.as_list = stream, version, more, as_list

    def __cuda_stream__(self):
        given = (self.version, None if self.stream is None else int(self.stream.handle), *self.more)
        return list(given) if self.as_list else given


SUMS = """
template <class T> __global__ void add(const T* a, const T* b, T* c, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * size_t(blockDim.x); i < n; i += gridDim.x * size_t(blockDim.x)) c[i] = a[i] + b[i];
}
template <class T> __global__ void saxpy(T by, const T* x, const T* y, T* out, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * size_t(blockDim.x); i < n; i += gridDim.x * size_t(blockDim.x)) out[i] = by * x[i] + y[i];
}
extern "C" __global__ void more(int* out) { *out += 1; }
"""


def names(shared):
    import numpy as np
    from of_sequences import After

    core, graph, utils, device, stream = shared.core, shared.graph, shared.utils, shared.device, shared.stream
    pinned, arch = shared.pinned, shared.arch
    none_ = shared.cubin.get_kernel("none")
    names_of = tuple(f"{name}<{kind}>" for name in ("add", "saxpy") for kind in ("float", "double", "int"))
    code = core.Program(SUMS, "c++", core.ProgramOptions(std="c++17", arch=arch)).compile("cubin", names_of)
    more = code.get_kernel("more")

    def array(kind, size, fill=None):
        memory = pinned.allocate(size * np.dtype(kind).itemsize)
        values = np.from_dlpack(memory).view(kind)
        values[:] = np.arange(size) if fill is None else fill
        return memory, values

    dtypes = {"float": "f4", "double": "f8", "int": "i4"}

    def add(kind, size):
        (a, _), (b, _), (c, out) = (array(dtypes[kind], size) for _ in range(3))
        config = core.LaunchConfig(grid=(size + 63) // 64, block=64)
        core.launch(stream, config, code.get_kernel(f"add<{kind}>"), a, b, c, np.uint64(size))
        stream.sync()
        return out.sum()

    def saxpy(kind, size):
        (a, _), (b, _), (c, out) = (array(dtypes[kind], size) for _ in range(3))
        by = np.dtype(dtypes[kind]).type(3)
        core.launch(
            stream, core.LaunchConfig(grid=2, block=32), code.get_kernel(f"saxpy<{kind}>"), by, a, b, c, np.uint64(size)
        )
        stream.sync()
        return out.sum()

    def add_in_graph(times):
        memory, values = array("i4", 1, 0)
        builder = device.create_graph_builder().begin_building()
        for _ in range(times):
            core.launch(builder, shared.one, more, memory)
        made = builder.end_building().complete()
        made.upload(stream)
        for _ in range(3):
            made.launch(stream)
        stream.sync()
        return int(values[0])

    def conditional(value, form):
        memory, values = array("i4", 1, 0)
        definition = graph.GraphDefinition()
        condition = definition.create_condition(default_value=value)
        node = definition.switch(condition, 2) if form == "switch" else getattr(definition, form)(condition)
        for times, branch in enumerate(node.branches, 1):
            point = branch
            for _ in range(times):
                point = point.launch(shared.one, more, memory)
        definition.instantiate().launch(stream)
        stream.sync()
        return int(values[0]), [len(branch.nodes()) for branch in node.branches]

    def linked(lto, by):
        options = dict(arch=arch, relocatable_device_code=True, link_time_optimization=lto)
        caller = 'extern __device__ int scaled(int); extern "C" __global__ void run(int* out) { *out = scaled(*out); }'
        callee = f"__device__ int scaled(int x) {{ return x * {by}; }}"
        target = "ltoir" if lto else "ptx"
        parts = [core.Program(text, "c++", core.ProgramOptions(**options)).compile(target) for text in (caller, callee)]
        whole = core.Linker(*parts, options=core.LinkerOptions(arch=arch, link_time_optimization=lto or None)).link(
            "cubin"
        )
        memory, values = array("i4", 1, 7)
        core.launch(stream, shared.one, whole.get_kernel("run"), memory)
        stream.sync()
        return int(values[0])

    def waits_for(count):
        memory, values = array("i4", 1, 0)
        streams = [device.create_stream() for _ in range(count)]
        before = None
        for one in streams:
            if before is not None:
                one.wait(before)
            core.launch(one, shared.one, more, memory)
            before = one.record()
        before.sync()
        return int(values[0]), before.is_done

    def copied(way):
        sources = {
            "pinned": lambda: core.PinnedMemoryResource(),
            "managed": lambda: core.ManagedMemoryResource(),
            "device": lambda: shared.resource,
            "legacy": lambda: pinned,
        }
        memory, values = array("u1", 64)
        there = sources[way]().allocate(64, stream=stream)
        there.copy_from(memory, stream=stream)
        stream.sync()
        values[:] = 0
        there.copy_to(memory, stream=stream)
        stream.sync()
        return int(values.sum()), there.is_device_accessible, there.is_host_accessible

    def viewed(way):
        numbers = np.arange(6, dtype="i4").reshape(2, 3)
        view = {
            "dlpack": lambda: shared.View.from_dlpack(numbers, -1),
            "any": lambda: shared.View.from_any_interface(numbers, -1),
            "array_interface": lambda: shared.View.from_array_interface(numbers),
            "buffer": lambda: shared.View.from_buffer(shared.buffer, (2, 3), dtype=np.dtype("i4")),
        }[way]()
        return view.shape, view.strides, view.dtype, view.device_id, view.is_device_accessible, view.readonly, view.size

    def cached(kind):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            cache = utils.InMemoryProgramCache() if kind == "memory" else utils.FileStreamProgramCache(folder)
            with cache:
                program = core.Program(SUMS, "c++", core.ProgramOptions(arch=arch))
                first = program.compile("cubin", cache=cache).code
                again = core.Program(SUMS, "c++", core.ProgramOptions(arch=arch)).compile("cubin", cache=cache).code
                return first == again, len(cache)

    @utils.args_viewable_as_strided_memory((0,))
    def decorated(a):
        view = a.view(-1)
        return view.shape, view.dtype, view.is_device_accessible

    builder = device.create_graph_builder().begin_building()
    core.launch(builder, shared.one, none_)
    return dict(
        add=add,
        saxpy=saxpy,
        add_in_graph=add_in_graph,
        conditional=conditional,
        linked=linked,
        waits_for=waits_for,
        copied=copied,
        viewed=viewed,
        cached=cached,
        decorated=decorated,
        Foreign=Foreign,
        none_=none_,
        after=After(core, device, shared.in_thread),
        made=builder.end_building().complete(),
        timing=core.EventOptions(timing_enabled=True),
    )
