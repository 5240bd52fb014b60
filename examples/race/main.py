"""A kernel without its barrier, for the checker to find: `cucore run --check race main.py`."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
path = Path(__file__).with_name("kernels.cu")
options = ProgramOptions(lineinfo=True, name=str(path), define_macro=sys.argv[1:])  # RIGHT: with the barrier
reverse = Program(path.read_text(), "c++", options).compile("cubin").get_kernel("reverse")

x = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * 256)).view(np.int32)
x[:] = np.arange(256)
launch(stream, LaunchConfig(grid=1, block=256), reverse, x)
stream.sync()
print("done")
