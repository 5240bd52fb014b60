"""Attention as transformers compute it, in one pass over keys and values; the sizes are template arguments."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
name = "attention<32, 64>"  # 32 numbers a head, tiles of 64 keys
attention = Program(source, "c++").compile("cubin", name_expressions=[name]).get_kernel(name)

heads, length, width = 4, 256, 32
shape = (heads, length, width)
pinned = LegacyPinnedMemoryResource()
size = 4 * heads * length * width
q, k, v, out = (np.from_dlpack(pinned.allocate(size)).view(np.float32).reshape(shape) for _ in "qkvo")
for number, array in enumerate((q, k, v), 1):
    array[:] = np.sin(np.arange(array.size) * number * 0.7).reshape(shape) * 2

launch(stream, LaunchConfig(grid=(length // 64, heads), block=64), attention, q, k, v, out, length)
stream.sync()

scores = q.astype(np.float64) @ k.transpose(0, 2, 1) / np.sqrt(width)
shares = np.exp(scores - scores.max(axis=2, keepdims=True))
expected = shares / shares.sum(axis=2, keepdims=True) @ v
assert abs(out - expected).max() < 1e-5
print(f"{heads} heads of {length} queries, all right to 0.00001")
