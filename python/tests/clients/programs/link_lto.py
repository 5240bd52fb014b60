"""Links LTO-IR of two sources, so that the function is inlined."""

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)

FUNCTION = "__device__ float half_of(float x) { return 0.5f * x; }"
KERNEL = """extern __device__ float half_of(float);
extern "C" __global__ void halves(float* out) { out[threadIdx.x] = half_of(threadIdx.x); }"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}", link_time_optimization=True)
parts = [Program(source, "c++", options).compile("ltoir") for source in (FUNCTION, KERNEL)]
linker = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}", link_time_optimization=True))
kernel = linker.link("cubin").get_kernel("halves")
buffer = LegacyPinnedMemoryResource().allocate(32)
launch(stream, LaunchConfig(grid=1, block=8), kernel, buffer)
stream.sync()
print(np.from_dlpack(buffer).view(np.float32), Linker.which_backend())
