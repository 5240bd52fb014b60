"""The program that debuggers and profilers run: launches the kernels of debugged.cu and checks what they computed."""

import os
import sys
from pathlib import Path

import numpy as np

import cucore

SOURCE = Path(__file__).with_name("debugged.cu")

device = cucore.Device()
device.set_current()
stream = device.create_stream()
flag = {"debug": True} if "-G" in sys.argv else {"lineinfo": True}
options = cucore.ProgramOptions(name=SOURCE.name, arch=f"sm_{device.arch}", **flag)
code = cucore.Program(SOURCE.read_text(), "c++", options).compile("ptx", name_expressions=["reversed<float>"])

memory = cucore.LegacyPinnedMemoryResource()
buffers = [memory.allocate(4 * 64), memory.allocate(4 * 64)]
x, y = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
x[:] = np.arange(64)
y[:] = 1
cucore.launch(stream, cucore.LaunchConfig(grid=2, block=32), code.get_kernel("saxpy"), 2.0, *buffers, 64)
cucore.launch(stream, cucore.LaunchConfig(grid=1, block=64), code.get_kernel("reversed<float>"), buffers[1])
stream.sync()
print(os.getpid(), "computed", y[0], y[63])
