"""Compiles many variants of a kernel in parallel, through a cache that a second run finds full."""

import tempfile
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramCache, compile_all, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
powers = range(2, 8)
wanted = [(Program(source, "c++"), [f"power<{n}>"]) for n in powers]

with tempfile.TemporaryDirectory() as folder:  # without a folder of its own, a cache is in the user's
    for run in "first", "second":
        cache = ProgramCache(folder)
        codes = compile_all(wanted, cache=cache, progress=True)  # the bar shows on a terminal only
        print(f"{run} run: {cache.stats.misses} compiled, {cache.stats.hits} found")

x = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * 4)).view(np.float32)
for n, code in zip(powers, codes, strict=True):
    x[:] = [1, 2, 3, 4]
    launch(stream, LaunchConfig(grid=1, block=4), code.get_kernel(f"power<{n}>"), x)
    stream.sync()
    assert x[3] == 4**n
print("the last: ", *x)
