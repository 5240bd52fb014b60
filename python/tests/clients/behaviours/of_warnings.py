"""Of what there are warnings, and that each points at the program that has cause for it, not into the package."""

import warnings
from pathlib import Path

import common
from common import lines

WARNED = lines("""
View(np.zeros(4), -1)
View(np.zeros(4), stream_ptr=-1)
View()
View(None)
View(np.zeros((2, 3), np.float32), -1).shape
[View(np.zeros(4), -1), View(np.zeros(4), -1)]
(lambda: View(np.zeros(4), -1))()
View(whole, -1)
View.from_dlpack(np.zeros(4), -1)
View.from_any_interface(whole, -1)
device.create_stream(value)
device.create_stream(method)
device.create_stream(obj=value)
stream.wait(value)
stream.wait(method)
stream.wait(value, value)
core.launch(value, one, none_)
core.launch(method, one, none_)
core.launch(stream, one, none_)
buffer.fill(1, stream=value)
buffer.fill(1, stream=method)
buffer.copy_to(other, stream=value)
buffer.copy_to(other, stream=method)
buffer.copy_from(other, stream=value)
buffer.close(value)
resource.allocate(16, stream=value)
resource.allocate(16, stream=method)
pinned.allocate(16, stream=value)
pinned.allocate(16, stream=method)
device.allocate(16, stream=value)
device.allocate(16, stream=method)
executable.launch(value)
executable.launch(method)
executable.upload(value)
executable.upload(method)
core.Buffer.from_handle(16, 16, mr=pinned, stream=value)
utils.copy_batch(value, [buffer], [other])
core.LinkerOptions(arch=arch, numba_debug=True)
core.LinkerOptions(arch=arch, numba_debug=False)
core.LinkerOptions(arch=arch)
core.Linker(ptx, options=core.LinkerOptions(arch=arch, verbose=True))
core.Program(SOURCE, 'c++', core.ProgramOptions(arch=arch, time=True))
core.Program(SOURCE, 'c++', core.ProgramOptions(arch=arch, debug=True))
core.Program(SOURCE, 'c++', core.ProgramOptions(arch=arch, lineinfo=True)).compile('cubin')
core.Program(SOURCE, 'c++', core.ProgramOptions(arch=arch)).compile('ptx')
core.Program(SOURCE, 'c++', core.ProgramOptions(arch=arch)).compile('ltoir')
core.Program(ptx_text, 'ptx', core.ProgramOptions(arch=arch)).compile('cubin')
core.Program(ptx_text, 'ptx', core.ProgramOptions(arch=arch, numba_debug=True))
core.Program(ptx_text, 'ptx', core.ProgramOptions(arch=arch, fdevice_syntax_only=True))
core.Kernel.from_handle(int(kernel.handle))
core.Kernel.from_handle(int(kernel.handle), cubin)
core.Kernel.from_handle(int(kernel.handle), core.ObjectCode.from_ptx(ptx.code))
core.DeviceMemoryResource(device)
core.ManagedMemoryResource()
core.ManagedMemoryResource(core.ManagedMemoryResourceOptions(preferred_location=0))
core.PinnedMemoryResource()
core.PinnedMemoryResource(core.PinnedMemoryResourceOptions(ipc_enabled=True))
core.VirtualMemoryResource(device).allocate(4096).close()
device.create_event().close()
core.Device(0).set_current()
graph.GraphDefinition().instantiate()
device.create_graph_builder().begin_building().end_building().complete()
utils.InMemoryProgramCache(max_size_bytes=1)
utils.make_program_cache_key(code='x', code_type='c++', options=core.ProgramOptions(arch=arch), target_type='ptx')
system.get_driver_version()
system.Device(index=0).name
""")

BEHAVIOURS = [f"warned(lambda: {warned})" for warned in WARNED]


def names(shared):
    stream = shared.stream

    class Value:
        __cuda_stream__ = (0, int(stream.handle))

    class Method:
        def __cuda_stream__(self):
            return (0, int(stream.handle))

    class Whole:
        __cuda_array_interface__ = {
            "shape": (4,),
            "typestr": "<f4",
            "data": (int(shared.buffer.handle), False),
            "version": 3,
        }

    package = str(Path(shared.core.__file__).parent)

    def warned(call):
        """The categories of the warnings, with those that do not point at the program; and what is raised."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            error = common.raised(call)
        inside = [one for one in caught if one.filename.startswith((package, "<"))]
        return [common.kind_of_warning(one.category) for one in caught], len(inside), error

    definition = shared.graph.GraphDefinition()
    definition.empty()
    return {
        "warned": warned,
        "value": Value(),
        "method": Method(),
        "whole": Whole(),
        "other": shared.resource.allocate(256, stream=stream),
        "none_": shared.cubin.get_kernel("none"),
        "executable": definition.instantiate(),
        "ptx_text": bytes(shared.ptx.code).decode(),
    }
