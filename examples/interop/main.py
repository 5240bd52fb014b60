"""Arrays of NumPy, Numba, CuPy and PyTorch as arguments, without a copy: of those that are installed."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

import cucore.cpu_device  # noqa: F401  where there is no GPU, the CPU device is the driver of the others, too
from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
twice = Program(source, "c++").compile("cubin").get_kernel("twice")
config = LaunchConfig(grid=1, block=256)

# NumPy sees page-locked memory through DLPack, and the kernel takes NumPy's view of it.
x = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * 100)).view(np.float32)
x[:] = 1
launch(stream, config, twice, x, 100)
stream.sync()
assert (x == 2).all()
print("NumPy", x[:3])

if importlib.util.find_spec("numba"):
    from numba import cuda

    on_device = cuda.to_device(np.full(100, 3, np.float32))  # __cuda_array_interface__
    launch(stream, config, twice, on_device, 100)
    stream.sync()
    print("Numba", on_device.copy_to_host()[:3])

if importlib.util.find_spec("cupy"):
    import cupy

    y = cupy.full(100, 4, cupy.float32)
    launch(device.create_stream(cupy.cuda.get_current_stream()), config, twice, y, 100)  # after CuPy's own work
    print("CuPy", y[:3])

if importlib.util.find_spec("torch"):
    import torch

    if torch.cuda.is_available():
        z = torch.full((100,), 5.0).cuda()
        launch(device.create_stream(torch.cuda.current_stream()), config, twice, z, 100)
        print("PyTorch", z[:3])
sys.stdout.flush()
