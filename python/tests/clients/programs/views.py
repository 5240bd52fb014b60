"""Passes arrays of any library to a function as views."""

import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory


@args_viewable_as_strided_memory((0,))
def describe(array, stream):
    view = array.view(int(stream.handle) if stream else -1)
    return view.shape, view.strides, str(view.dtype), view.readonly, view.is_device_accessible


device = Device()
device.set_current()
stream = device.create_stream()
print(describe(np.zeros((3, 4), np.float32), None))
print(describe(np.zeros((3, 4), np.float32).T, None))
buffer = device.allocate(64, stream=stream)
print(describe(buffer, stream))
view = StridedMemoryView.from_buffer(buffer, (4, 4), dtype=np.dtype(np.float32))
print(view.shape, view.size, view.dtype, view.ptr == int(buffer.handle))
print(StridedMemoryView.from_any_interface(LegacyPinnedMemoryResource().allocate(8), -1).shape)
