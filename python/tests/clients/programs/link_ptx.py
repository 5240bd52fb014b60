"""Links a kernel with a device function that was compiled by itself."""

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

FUNCTION = "__device__ int square(int x) { return x * x; }"
KERNEL = """extern __device__ int square(int);
extern "C" __global__ void squares(int* out) { out[threadIdx.x] = square(threadIdx.x); }"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
parts = [Program(source, "c++", options).compile("ptx") for source in (FUNCTION, KERNEL)]
linked = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
buffer = LegacyPinnedMemoryResource().allocate(32)
launch(stream, LaunchConfig(grid=1, block=8), linked.get_kernel("squares"), buffer)
stream.sync()
print(np.from_dlpack(buffer).view(np.int32), linked.code_type)
