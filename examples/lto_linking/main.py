"""Links two files with optimisation across them (LTO): the call of a function in the other file is inlined."""

from pathlib import Path

import numpy as np

from cucore import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)

device = Device()
device.set_current()
stream = device.create_stream()
arch = f"sm_{device.arch}"


def unit(name):
    """The LTO-IR of a file."""
    source = Path(__file__).with_name(name).read_text()
    return Program(source, "c++", ProgramOptions(arch=arch, link_time_optimization=True)).compile("ltoir")


linker = Linker(unit("kernels.cu"), unit("function.cu"), options=LinkerOptions(arch=arch, link_time_optimization=True))
code = linker.link("cubin")

n = 1000
x = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * n)).view(np.float32)
x[:] = np.arange(n)
launch(stream, LaunchConfig(grid=4, block=256), code.get_kernel("apply"), x, n)
stream.sync()

assert np.array_equal(x, 3 * np.arange(n, dtype=np.float32) + 1)
print(f"kernels {code.kernels}; 3 * {n - 1} + 1 = {x[-1]:g}")
