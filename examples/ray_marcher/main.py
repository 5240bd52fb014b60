"""Draws a ball, a ring and their shadows by ray marching; `main.py FILE.png` keeps the picture."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
render = Program(source, "c++").compile("cubin").get_kernel("render")

width, height = 480, 360
pinned = LegacyPinnedMemoryResource()
picture = np.from_dlpack(pinned.allocate(width * height)).view(np.uint8).reshape(height, width)
depth = np.from_dlpack(pinned.allocate(4 * width * height)).view(np.float32).reshape(height, width)
launch(stream, LaunchConfig(grid=(width // 16, height // 8), block=(16, 8)), render, picture, depth, width, height)
stream.sync()

nearest = depth.min()
print(f"{(depth < 20).mean():.0%} of the rays meet something, the nearest after {nearest:.2f}")
assert (depth[-1] < 20).all() and (depth[0] == 20).all()  # the floor below, the sky above

if len(sys.argv) > 1:
    from PIL import Image

    Image.fromarray(picture).save(sys.argv[1])
