"""Classes derived from the public ones in Python: whether there can be any, and of what class what they make is."""

from common import lines

CLASSES = """core.Buffer core.ManagedBuffer core.MemoryResource core.DeviceMemoryResource core.PinnedMemoryResource
core.ManagedMemoryResource core.LegacyPinnedMemoryResource core.VirtualMemoryResource core.GraphMemoryResource
core.Device core.Stream core.Event core.Context core.Kernel core.ObjectCode core.Program core.Linker core.LaunchConfig
core.ProgramOptions core.LinkerOptions core.StreamOptions core.EventOptions core.DeviceMemoryResourceOptions
core.Host core.TensorMapDescriptor graph.Graph graph.GraphBuilder graph.GraphDefinition graph.GraphNode graph.EmptyNode
graph.KernelNode graph.GraphCondition graph.GraphCompleteOptions utils.StridedMemoryView utils.InMemoryProgramCache
utils.FileStreamProgramCache utils.ProgramCacheResource utils.CopyOptions texture.OpaqueArray
texture.TextureObject texture.TextureObjectOptions texture.OpaqueArrayOptions checkpoint.Process"""
ASKED = [
    "issubclass(Mine, {base})",
    "Mine.__mro__[1] is {base}, Mine.__base__ is {base}",
    "raised(lambda: Mine())",
    "raised(lambda: Mine.__new__(Mine))",
    "raised(lambda: Mine(1, 2, 3, 4, 5, 6, 7, 8, 9))",
    "raised(lambda: type('Other', (Mine,), {{}}))",
    "'__dict__' in dir(Mine)",
]
MADE = lines("""
kind(derived(core.Buffer).from_handle(16, 16))
isinstance(derived(core.Buffer).from_handle(16, 16), core.Buffer)
kind(derived(core.Buffer).from_handle(16, 16, owner=device))
kind(derived(core.Stream).from_handle(int(stream.handle)))
kind(derived(core.Kernel).from_handle(int(kernel.handle)))
kind(derived(core.ObjectCode).from_ptx(b'x'))
kind(derived(core.ObjectCode).from_cubin(b'x', name='y'))
derived(core.ObjectCode).from_cubin(b'x', name='y').name
kind(derived(core.Device)())
kind(derived(core.Device)(0))
derived(core.Device)(0) == device, derived(core.Device)(0) is device
kind(derived(core.LaunchConfig)(grid=1, block=1))
core.launch(stream, derived(core.LaunchConfig)(grid=1, block=1), cubin.get_kernel('none'))
derived(core.LaunchConfig)(grid=1, block=1) == one
kind(derived(core.ProgramOptions)(arch=arch))
core.Program(SOURCE, 'c++', derived(core.ProgramOptions)(arch=arch)).compile('ptx').code_type
kind(derived(core.Program)(SOURCE, 'c++', core.ProgramOptions(arch=arch)).compile('ptx'))
kind(derived(core.Linker)(ptx, options=core.LinkerOptions(arch=arch)).link('cubin'))
kind(derived(core.StreamOptions)(priority=0)), device.create_stream(options=derived(core.StreamOptions)()).priority
device.create_event(derived(core.EventOptions)(timing_enabled=True)).is_timing_enabled
kind(derived(core.DeviceMemoryResource)(device))
kind(derived(core.DeviceMemoryResource)(device, {'max_size': 1 << 21}).allocate(16, stream=stream))
derived(core.DeviceMemoryResource)(device).allocate(16, stream=stream).memory_resource.__class__.__name__
kind(derived(core.LegacyPinnedMemoryResource)().allocate(16))
kind(derived(core.VirtualMemoryResource)(device).allocate(4096))
device.create_event().__class__ is core.Event
kind(derived(graph.GraphDefinition)())
kind(derived(graph.GraphDefinition)().empty())
kind(derived(graph.GraphDefinition)().instantiate())
kind(derived(utils.StridedMemoryView).from_dlpack(np.zeros(4), -1))
kind(derived(utils.StridedMemoryView).from_array_interface(np.zeros(4)))
kind(derived(utils.StridedMemoryView).from_buffer(buffer, (4,), itemsize=1))
kind(derived(utils.StridedMemoryView).from_dlpack(np.zeros(4), -1).view(dtype=np.dtype('int64')))
derived(utils.InMemoryProgramCache)().get(b'x')
c = derived(utils.InMemoryProgramCache)(); c[b'k'] = b'v'; c[b'k'], len(c)
kind(derived(core.Host)(0))
m = own(); b = m.allocate(16, stream=stream); b.memory_resource is m, b.size, b.is_device_accessible, b.device_id
m = own(); b = m.allocate(16, stream=stream); b.close(); m.freed
m = own(); b = m.allocate(16, stream=stream); del b; gc.collect(); m.freed
m = own(); b = m.allocate(16, stream=stream); b.close(); b.close(); m.freed
m = own(); b = m.allocate(16, stream=stream); b.close(stream); m.freed, b.memory_resource
m = own(); b = m.allocate(16, stream=stream); m.is_managed, m.is_ipc_enabled
m = own(); b = m.allocate(16, stream=stream); raised(lambda: b.ipc_descriptor)
m = own(); b = m.allocate(16, stream=stream); raised(lambda: pickle.dumps(b))
m = own(); b = m.allocate(16, stream=stream); b.fill(3, stream=stream); kind(b.copy_to(stream=stream))
m = own(); b = m.allocate(16, stream=stream); np.from_dlpack(b).shape if m.is_host_accessible else None
m = own(host=True); b = m.allocate(16, stream=stream); np.from_dlpack(b).shape
m = own(host=True); b = m.allocate(16, stream=stream); b.__dlpack_device__()
m = own(failing=True); b = m.allocate(16, stream=stream); raised(lambda: b.close()), m.freed
m = own(failing=True); b = m.allocate(16, stream=stream); del b; gc.collect(); m.freed
with_own(lambda: kind(device.memory_resource))
with_own(lambda: kind(device.allocate(16, stream=stream)))
with_own(lambda: device.allocate(16, stream=stream).memory_resource is device.memory_resource)
raised(lambda: setattr(device, 'memory_resource', 5))
raised(lambda: type('Bare', (core.MemoryResource,), {})())
raised(lambda: type('Bare', (core.MemoryResource,), {})().allocate(16, stream=stream))
raised(lambda: type('Bare', (core.MemoryResource,), {})().deallocate(16, 16, stream=stream))
raised(lambda: type('Bare', (core.MemoryResource,), {})().is_device_accessible)
raised(lambda: type('Bare', (core.MemoryResource,), {})().device_id)
raised(lambda: core.MemoryResource())
core.Buffer.from_handle(16, 16, mr=type('Bare', (core.MemoryResource,), {'deallocate': lambda *a, **k: None})()).size
""")

BEHAVIOURS = [
    *(f"Mine = derived({base}); {asked.format(base=base)}" for base in CLASSES.split() for asked in ASKED),
    *MADE,
]


def names(shared):
    core = shared.core

    def derived(base):
        return type("Mine", (base,), {})

    class Own(core.MemoryResource):
        """Of memory that another resource has."""

        def __init__(self, host, failing):
            self.inner = shared.pinned if host else shared.resource
            self.failing, self.is_host, self.kept, self.freed = failing, host, {}, 0

        def allocate(self, size, *, stream=None):
            inner = self.inner.allocate(size, stream=stream)
            self.kept[int(inner.handle)] = inner
            return core.Buffer.from_handle(int(inner.handle), size, mr=self)

        def deallocate(self, ptr, size, *, stream=None):
            self.freed += 1
            self.kept.pop(int(ptr)).close()
            if self.failing:
                raise OSError("on purpose")

        @property
        def is_device_accessible(self):
            return True

        @property
        def is_host_accessible(self):
            return self.is_host

        @property
        def device_id(self):
            return 0

    def own(host=False, failing=False):
        return Own(host, failing)

    def with_own(call):
        """What the call gives while the device has such a resource."""
        before = shared.device.memory_resource
        shared.device.memory_resource = own()
        try:
            return call()
        finally:
            shared.device.memory_resource = before

    return {"derived": derived, "own": own, "with_own": with_own}
