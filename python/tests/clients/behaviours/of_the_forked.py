"""What a child made by fork() makes of what its parent has, and of what it makes itself: each is tried in a child of its
own. Not with NVIDIA's driver, in whose children of a process with many threads cuda.core hangs at times."""

import os
import select
import signal
import warnings

import common
from common import lines

TRIED = lines("""
core.Device().device_id
core.Device(0) == device
len(core.Device.get_all_devices())
device.device_id, device.uuid == device.uuid
device.name
device.arch
device.compute_capability
device.pci_bus_id
device.properties.warp_size
device.properties.max_threads_per_block
core.Device(1).properties.warp_size
device.context.handle is None
device.set_current()
device.sync()
device.create_stream()
device.create_event()
device.create_graph_builder()
device.allocate(16, stream=stream)
device.memory_resource.device_id
device.default_stream
device.can_access_peer(1)
device.resources.sm.sm_count
repr(device)
stream.sync()
stream.record()
stream.record(event)
stream.wait(event)
stream.wait(other_stream)
stream.is_nonblocking, stream.priority, stream.is_closed
stream.device.device_id
stream.close(); stream.is_closed
stream.create_graph_builder()
stream == stream, hash(stream) == hash(stream)
core.Stream.from_handle(int(stream.handle)) == stream
core.LEGACY_DEFAULT_STREAM.sync()
core.PER_THREAD_DEFAULT_STREAM.record()
event.sync()
event.is_done
event.device.device_id
event.is_timing_enabled, event.is_ipc_enabled, event.is_closed
event - event
event.close(); event.is_closed
buffer.size, buffer.is_closed, buffer.owner
buffer.is_device_accessible, buffer.is_host_accessible, buffer.device_id
buffer.fill(0, stream=stream)
buffer.copy_to(second, stream=stream)
buffer.copy_from(second, stream=stream)
buffer.close(); buffer.is_closed
kind(buffer.__dlpack__())
core.Buffer.from_handle(16, 6).size
core.Buffer.from_handle(16, 6).is_device_accessible
resource.device_id, resource.is_managed, resource.is_handle_owned
resource.allocate(16, stream=stream)
resource.attributes.used_mem_current
resource.close()
core.DeviceMemoryResource(device)
core.DeviceMemoryResource(device, {'max_size': 4096})
core.PinnedMemoryResource()
core.ManagedMemoryResource()
core.LegacyPinnedMemoryResource().is_managed
core.LegacyPinnedMemoryResource().allocate(16)
core.VirtualMemoryResource(device).is_managed
core.VirtualMemoryResource(device).allocate(16)
core.GraphMemoryResource(device).device_id
core.GraphMemoryResource(device).attributes.used_mem_current
core.ProgramOptions()
core.ProgramOptions().arch
core.ProgramOptions(arch=arch).arch
core.Program(SOURCE, 'c++')
core.Program(SOURCE, 'c++', core.ProgramOptions(arch=arch)).compile('ptx').code_type
core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin').code_type
core.Program(ptx_text, 'ptx')
core.Program(ptx_text, 'ptx', core.ProgramOptions(arch=arch)).compile('cubin').code_type
program.compile('ptx').code_type
core.LinkerOptions().arch
core.LinkerOptions(arch=arch).as_bytes()[:1]
core.Linker(ptx, options=core.LinkerOptions(arch=arch)).link('cubin').code_type
core.Linker(ptx)
core.ObjectCode.from_ptx(ptx_text.encode()).code_type
core.ObjectCode.from_ptx(ptx_text.encode()).get_kernel('k')
cubin.code_type, cubin.name
cubin.get_kernel('k')
kernel.num_arguments
kernel.attributes.num_regs
kernel.occupancy.max_active_blocks_per_multiprocessor(32, 0)
core.LaunchConfig(grid=2, block=3).grid
core.launch(stream, one, kernel, buffer)
graph.GraphDefinition()
graph.GraphDefinition().empty()
definition.empty()
len(definition.nodes())
definition.instantiate()
executable.launch(stream)
executable.close(); executable.is_closed
core.Host().numa_id
pickle.loads(pickle.dumps(cubin)).code == cubin.code
View.from_dlpack(np.zeros(4), -1).shape
View.from_any_interface(buffer, -1).shape
View.from_buffer(buffer, (4,), itemsize=1).size
texture.OpaqueArray.from_descriptor(shape=(4, 4), format='float32')
utils.make_program_cache_key(code='x', code_type='c++', options=core.ProgramOptions(arch=arch), target_type='ptx')[:0]
system.get_num_devices()
system.Device(index=0).index
kind(checkpoint.Process(os.getpid()))
""")

BEHAVIOURS = [f"in_child({tried!r})" for tried in TRIED if os.environ.get("CUCORE_DEVICE") != "gpu"]


def names(shared):
    core, device, stream = shared.core, shared.device, shared.stream
    known = {
        **vars(shared),
        "second": shared.resource.allocate(256, stream=stream),
        "other_stream": device.create_stream(),
        "event": stream.record(options={"timing_enabled": True}),
        "ptx_text": bytes(shared.ptx.code).decode(),
        "program": core.Program(shared.SOURCE, "c++", core.ProgramOptions(arch=shared.arch)),
        "definition": shared.graph.GraphDefinition(),
    }
    known["executable"] = known["definition"].instantiate()
    stream.sync()

    def tell(expression):
        *statements, last = expression.split("; ")
        try:
            exec("; ".join(statements), known)
            return common.shown(eval(last, known))
        except Exception as error:
            return f"raises {common.kind_of_error(error)}"

    def in_child(expression):
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is said of the fork itself is another snippet's
            child = os.fork()
        if child == 0:
            os.write(writer, tell(expression).encode())
            os._exit(0)
        os.close(writer)
        try:
            answers, _, _ = select.select([reader], [], [], 60)
            if not answers:
                os.kill(child, signal.SIGKILL)
            told = os.read(reader, 65536).decode() if answers else "hangs"
        finally:
            os.close(reader)
            _, status = os.waitpid(child, 0)
        return told or f"ends with {status}"

    return {"in_child": in_child}
