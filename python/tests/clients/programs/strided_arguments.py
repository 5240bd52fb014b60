"""A function takes arrays of any library: a decorator gives it views of them."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

device = Device()
device.set_current()
stream = device.create_stream()
kernel = (
    Program(
        'extern "C" __global__ void scale(float* x, long long step, long long n, float by) {'
        "  if (threadIdx.x < n) x[threadIdx.x * step] *= by; }",
        "c++",
        ProgramOptions(arch=f"sm_{device.arch}"),
    )
    .compile("cubin")
    .get_kernel("scale")
)


class Array:
    """Another library's array, by CUDA's array interface."""

    def __init__(self, buffer, shape, typestr="<f4", strides=None, version=3):
        self.kept = buffer
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (int(buffer.handle), False),
            "strides": strides,
            "version": version,
        }


@args_viewable_as_strided_memory((0,))
def scale(array, by, work_stream):
    """Multiplies what is one-dimensional."""
    view = array.view(work_stream.handle)
    assert isinstance(view, StridedMemoryView)
    step = 1 if view.strides is None else view.strides[0]
    launch(
        work_stream,
        LaunchConfig(grid=1, block=32),
        kernel,
        view.ptr,
        np.int64(step),
        np.int64(view.shape[0]),
        np.float32(by),
    )
    return view


@args_viewable_as_strided_memory((0, 2))
def describe(first, number, second=None):
    one, two = first.view(-1), second.view(-1)
    return [
        (view.shape, view.strides, str(view.dtype), view.readonly, view.device_id, view.is_device_accessible)
        for view in (one, two)
    ], number


pinned = LegacyPinnedMemoryResource()
memory = pinned.allocate(4 * 16)
numbers = np.from_dlpack(memory).view(np.float32)
numbers[:] = np.arange(16)
view = scale(Array(memory, (16,)), 2, stream)
stream.sync()
print(numbers.tolist()[:4], view.shape, view.strides, view.exporting_obj is not None, view.size)
view = scale(Array(memory, (8,), strides=(8,)), 10, stream)
stream.sync()
print(numbers.tolist()[:4], view.shape, view.strides)
print(scale.__name__, scale.__doc__, scale.__wrapped__.__name__ if hasattr(scale, "__wrapped__") else None)
here = np.arange(12, dtype=np.int16).reshape(3, 4)
print(describe(here, 5, here[:, ::2]))
fixed = here.copy()
fixed.flags.writeable = False
print(describe(here.T, 6, fixed))
for take in (StridedMemoryView.from_any_interface, StridedMemoryView.from_dlpack):
    view = take(here, stream_ptr=-1)
    print(
        view.shape,
        view.strides,
        view.dtype,
        view.ptr == here.ctypes.data,
        view.exporting_obj is here,
        view.is_device_accessible,
    )
view = StridedMemoryView.from_array_interface(here)
print(view.shape, view.device_id, np.from_dlpack(view).tolist() == here.tolist())
whole = device.allocate(64, stream=stream)
view = StridedMemoryView.from_buffer(whole, shape=(4, 4), dtype=np.dtype("float32"))
print(view.shape, view.strides, view.ptr == int(whole.handle), view.device_id, view.dtype, view.size)
turned = StridedMemoryView.from_buffer(whole, shape=(2, 4), strides=(1, 2), dtype=np.dtype("float32"))
print(turned.strides)
as_ints = view.view(dtype=np.dtype("int32"))
print(as_ints.dtype, as_ints.shape, as_ints.ptr == view.ptr)
for wrong in (
    lambda: describe(5, 1, here),
    lambda: describe(here, 1),
    lambda: StridedMemoryView.from_any_interface("x", stream_ptr=-1),
    lambda: StridedMemoryView.from_buffer(whole, shape=(100,), dtype=np.dtype("float32")),
    lambda: StridedMemoryView.from_buffer(whole, shape=(4,)),
    lambda: StridedMemoryView.from_buffer(whole, shape=(4,), itemsize=3, dtype=np.dtype("float32")),
    lambda: view.view(dtype=np.dtype("int8")),
    lambda: StridedMemoryView.from_any_interface(np.zeros(3, ">f4"), stream_ptr=-1),
    lambda: StridedMemoryView.from_cuda_array_interface(Array(memory, (4,), version=1), stream_ptr=-1),
    lambda: StridedMemoryView.from_any_interface(Array(memory, (4,)), stream_ptr=None),
):
    try:
        print("taken", type(wrong()).__name__)
    except Exception as error:
        print([kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"][0])
