"""A program that opens NVIDIA's compilers, and asks for their versions, before anything of it has loaded the driver."""

import pathlib

from checked import checked
from cuda.bindings import nvjitlink, nvrtc

MAIN = 'extern __device__ int help(int); extern "C" __global__ void kernel(int* out) { *out = help(20); }'
HELP = "__device__ int help(int value) { return 2 * value + 1; }"


def the_compilers_are_there_and_the_driver_is_not():
    assert nvrtc.nvrtcVersion()[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS and nvjitlink.version()[0] == 13
    loaded = pathlib.Path("/proc/self/maps").read_text()
    assert "libnvrtc.so.13" in loaded and "libnvJitLink.so.13" in loaded and "libcuda.so.1" not in loaded


def run(code):
    import numpy as np
    from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    out = LegacyPinnedMemoryResource().allocate(4)
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("kernel"), out)
    stream.sync()
    return np.from_dlpack(out).view(np.int32)[0]


def compiled_cubins_run():
    from cuda.core import Program, ProgramOptions

    source = 'extern "C" __global__ void kernel(int* out) { *out = 7; }'
    assert run(Program(source, "c++", options=ProgramOptions(arch="sm_90")).compile("cubin")) == 7


def linked_cubins_run():
    from cuda.core import Linker, LinkerOptions, Program, ProgramOptions

    for kind in ("ptx", "cubin", "ltoir"):
        lto = {"link_time_optimization": True} if kind == "ltoir" else {}
        options = ProgramOptions(arch="sm_90", relocatable_device_code=True, **lto)
        parts = [Program(text, "c++", options=options).compile(kind) for text in (MAIN, HELP)]
        assert run(Linker(*parts, options=LinkerOptions(arch="sm_90", **lto)).link("cubin")) == 41, kind


for part in (the_compilers_are_there_and_the_driver_is_not, compiled_cubins_run, linked_cubins_run):
    checked(part.__name__, part)
