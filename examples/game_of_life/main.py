"""Plays Conway's game of life from one small pattern; `main.py FILE.png` draws where it ends."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
generation = Program(source, "c++").compile("cubin").get_kernel("generation")

width, height, generations = 160, 120, 400
pinned = LegacyPinnedMemoryResource()
now, following = (np.from_dlpack(pinned.allocate(width * height)).view(np.uint8).reshape(height, width) for _ in "ab")
now[:] = 0
now[59:62, 79:82] = [[0, 1, 1], [1, 1, 0], [0, 1, 0]]  # the R-pentomino, which grows for long
board = now.copy()

config = LaunchConfig(grid=(width // 32, height // 8), block=(32, 8))
for _ in range(generations):
    launch(stream, config, generation, now, following, width, height)
    now, following = following, now
stream.sync()

for _ in range(generations):
    around = sum(np.roll(board, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - board
    board = ((around == 3) | ((around == 2) & (board == 1))).astype(np.uint8)
assert np.array_equal(now, board)
print(f"5 cells have become {now.sum()} after {generations} generations")

if len(sys.argv) > 1:
    from PIL import Image

    Image.fromarray((255 - 255 * now).repeat(3, axis=0).repeat(3, axis=1)).save(sys.argv[1])
