"""Small expressions, each a behaviour of cuda.core's public names; run by test_behaviours.py with either package.

``python behaviours.py cuda.core`` prints a line for each: the value if it is plain, else its type's name; the type of
an error; and the types of warnings. ``core`` is the package; the other names are made below.
"""

import ctypes
import importlib
import sys
import warnings

import numpy as np

BEHAVIOURS = """
device.device_id
device.compute_capability
device == core.Device(0)
hash(device) == hash(core.Device(0))
core.Device(-1)
core.Device("0")
stream.priority
stream.is_nonblocking
stream.wait(object())
stream.wait(5)
stream.record() is None
stream.record(options={"timing_enabled": True}).is_timing_enabled
stream.record(options={"no_such": 1})
stream.record() - stream.record()
stream.record().is_done in (True, False)
core.Stream()
core.Stream.from_handle("x")
core.StreamOptions(priority=5).priority
device.create_stream(options={"priority": 99})
device.create_stream(options=5)
device.create_event().is_timing_enabled
core.Event()
buffer.size
buffer.device_id
buffer.is_device_accessible
buffer.is_host_accessible
buffer.memory_resource == resource
core.Buffer()
core.Buffer.from_handle(0, 0).size
buffer.copy_to(buffer)
buffer.copy_to(buffer, stream=None)
buffer.fill(256, stream=stream)
buffer.fill(-1, stream=stream)
buffer.fill(b"abc", stream=stream)
buffer.fill("a", stream=stream)
device.allocate(-1, stream=stream)
device.allocate(0, stream=stream).size
device.allocate(16)
resource.attributes.used_mem_current >= 0
closed_resource.attributes
resource.is_ipc_enabled
resource.allocate(16, stream=5)
core.DeviceMemoryResourceOptions(max_size=5).max_size
core.VirtualMemoryResourceOptions(granularity="minimum").granularity
core.VirtualMemoryResourceOptions(granularity="none")
core.VirtualMemoryResourceOptions(self_access="r").self_access
View.from_array_interface(array).device_id
View.from_array_interface(array).strides
View.from_array_interface(array[::-1]).strides
View.from_dlpack(array, -1).device_id
View.from_dlpack(array, -1).readonly
View(array, -1).shape
View.from_buffer(buffer, (4,), itemsize=4).dtype
View.from_buffer(buffer, (4,))
View.from_buffer(buffer, (1000,), itemsize=4)
View.from_buffer(buffer, (4, 4), dtype=np.dtype("f4")).shape
View.from_any_interface(object(), -1)
View.from_any_interface(buffer, -1).shape
View.from_any_interface(buffer, None)
View.from_buffer(buffer, (64,), dtype=np.dtype("f4")).as_tensor_map((16,))
bytes_of.as_tensor_map((16,), data_type=np.float32).device == device
bytes_of.as_tensor_map((16,))
bytes_of.as_tensor_map((300,), data_type="f4")
bytes_of.as_tensor_map()
bytes_of.as_tensor_map((16,), options={"box_dim": (16,)})
bytes_of.as_tensor_map((16.0,), data_type="f4")
core.TensorMapDescriptorOptions((64,), data_type="f4").data_type
core.TensorMapDescriptorOptions([64]).box_dim
core.TensorMapDescriptorOptions((64,), swizzle=1)
core.TensorMapDescriptor()
core.ProgramOptions(arch="sm_90", include_path=False).as_bytes("nvrtc")
core.ProgramOptions(arch="sm_90", include_path="").as_bytes("nvrtc")
core.ProgramOptions(arch="sm_90", pre_include=False).as_bytes("nvrtc")
core.ProgramOptions(arch="sm_90", fdevice_time_trace=False).as_bytes("nvrtc")
core.ProgramOptions(arch="sm_90", ftz=True, fma=False).as_bytes("nvrtc")
core.ProgramOptions(arch="sm_90", define_macro=("A", "1")).as_bytes("nvrtc")
core.ProgramOptions(arch="sm_90").as_bytes("none")
core.Program("int", "fortran")
core.Program(5, "c++")
core.Program(SOURCE, "c++", {"arch": "sm_90"}).compile("exe")
core.Program(SOURCE, "c++", {"arch": "sm_90"}).compile("ptx").code_type
core.Program("nonsense", "c++", {"arch": "sm_90"}).compile("ptx")
core.LinkerOptions(arch="99").as_bytes()
core.LinkerOptions(arch="sm_90", ptx=True).as_bytes()
core.Linker()
core.Linker(5)
code.get_kernel("none")
code.get_kernel(5)
code.name
kernel.num_arguments
kernel.attributes.max_threads_per_block()
core.Kernel()
core.Kernel.from_handle(0)
core.Kernel.from_handle("0")
core.LaunchConfig(grid=1, block=1).grid
core.LaunchConfig(grid=(1, 2), block=4).block
core.LaunchConfig(grid=0, block=1)
core.LaunchConfig(grid=1)
core.LaunchConfig(grid=1, block=1, no_such=1)
core.launch(stream, core.LaunchConfig(grid=1, block=1), kernel, buffer)
core.launch(None, core.LaunchConfig(grid=1, block=1), kernel, buffer)
core.launch(stream, 5, kernel, buffer)
core.launch(stream, core.LaunchConfig(grid=1, block=1), 5, buffer)
"""

SOURCE = 'extern "C" __global__ void k(int* out) { *out = 1; }'


def shown(value):
    """What can be compared between the packages."""
    if value is None or isinstance(value, (bool, int, float, bytes, np.dtype)):
        return repr(value)
    if isinstance(value, str):
        return repr(str(value))
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    return type(value).__name__


def names_of(core):
    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    resource = core.DeviceMemoryResource(device, {"max_size": 1 << 24})
    closed_resource = core.DeviceMemoryResource(device, {"max_size": 1 << 24})
    closed_resource.close()
    buffer = resource.allocate(256, stream=stream)
    stream.sync()
    code = core.Program(SOURCE, "c++", {"arch": f"sm_{device.arch}"}).compile("ptx")
    view = importlib.import_module(core.__name__ + ".utils").StridedMemoryView
    return {
        "core": core,
        "np": np,
        "ctypes": ctypes,
        "SOURCE": SOURCE,
        "device": device,
        "stream": stream,
        "resource": resource,
        "closed_resource": closed_resource,
        "buffer": buffer,
        "code": code,
        "kernel": code.get_kernel("k"),
        "array": np.zeros((2, 3), np.float32),
        "View": view,
        "bytes_of": view.from_any_interface(buffer, -1),
    }


def run(package):
    names = names_of(importlib.import_module(package))
    for expression in BEHAVIOURS.strip().splitlines():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                result = shown(eval(expression, names))
            except Exception as error:
                builtin = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
                result = f"raises {builtin.__name__}"
        categories = sorted({one.category.__name__ for one in told})
        print(f"{expression}\t{result}{''.join(' warns ' + category for category in categories)}")


if __name__ == "__main__":
    run(sys.argv[1])
