"""A kernel written in PTX by hand, with instructions that C++ has no word for."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("bits.ptx").read_text()
bits = Program(source, "ptx").compile("cubin").get_kernel("bits")
print(bits.signature)

n = 1000
pinned = LegacyPinnedMemoryResource()
numbers, counts, highest = (np.from_dlpack(pinned.allocate(4 * n)).view(np.uint32) for _ in range(3))
numbers[:] = np.arange(1, n + 1)
launch(stream, LaunchConfig(grid=4, block=256), bits, numbers, counts, highest, n)
stream.sync()

assert [int(count) for count in counts] == [int(number).bit_count() for number in numbers]
assert [int(place) for place in highest] == [int(number).bit_length() - 1 for number in numbers]
print(f"{numbers[-1]} has {counts[-1]} bits, the highest at {highest[-1]}")
