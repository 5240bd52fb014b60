"""Draws the Mandelbrot set; `main.py FILE.png` keeps the picture."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
mandelbrot = Program(source, "c++").compile("cubin").get_kernel("mandelbrot")

width, height, most = 640, 480, 200
steps = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * width * height)).view(np.int32).reshape(height, width)
config = LaunchConfig(grid=(width // 32, height // 8), block=(32, 8))
launch(stream, config, mandelbrot, steps, width, height, most)
stream.sync()

inside = (steps == most).mean()
print(f"{inside:.1%} of {width} x {height} points are in the set")
assert 0.195 < inside < 0.2  # its area is 1.5066, that of the picture 7.68

if len(sys.argv) > 1:
    from PIL import Image

    shade = np.where(steps == most, 0, 255 * np.log1p(steps) / np.log1p(most))
    Image.fromarray(shade.astype(np.uint8)).save(sys.argv[1])
