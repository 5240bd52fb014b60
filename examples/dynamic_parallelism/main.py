"""A kernel that launches itself where more work is needed, linked with the device runtime library."""

from pathlib import Path

import numpy as np

from cucore import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
    toolkit_info,
)

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
unit = Program(source, "c++", options).compile("cubin")
library = Path(toolkit_info().nvrtc.path).with_name("libcudadevrt.a")  # of nvidia-cuda-runtime; a GPU needs it
code = Linker(unit, ObjectCode.from_library(library), options={"arch": options.arch}).link("cubin")

pinned = LegacyPinnedMemoryResource()
total = np.from_dlpack(pinned.allocate(8)).view(np.float64)
launches = np.from_dlpack(pinned.allocate(4)).view(np.int32)
total[0], launches[0] = 0, 0
launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("integrate"), 0, 1, total, launches)
stream.sync()  # for that kernel and all that came of it

assert abs(total[0] - 2 / 3) < 1e-5
print(f"the integral is {total[0]:.4f}, after {launches[0]} launches")
