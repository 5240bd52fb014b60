"""A program that opens NVIDIA's compilers by itself before the driver, and looks their functions up only later, as
ctypes does at the first call of each."""

import ctypes

from checked import checked
from cuda.pathfinder import load_nvidia_dynamic_lib

nvrtc = ctypes.CDLL(load_nvidia_dynamic_lib("nvrtc").abs_path)
nvjitlink = ctypes.CDLL(load_nvidia_dynamic_lib("nvJitLink").abs_path)
SOURCE = b'extern "C" __global__ void kernel(int* out) { *out = 7; }'


def the_driver_comes_after_the_compilers():
    with open("/proc/self/maps") as maps:
        assert "libcuda.so.1" not in maps.read()
    ctypes.CDLL("libcuda.so.1")


def ok(code):
    assert code == 0, code


def compiled(kind):
    """What NVRTC makes of the source, by the functions "nvrtcGet" + `kind`."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    ok(nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"kernel.cu", 0, None, None))
    option = (ctypes.c_char_p * 1)(b"-arch=sm_90")
    ok(nvrtc.nvrtcCompileProgram(program, 1, option))
    ok(nvrtc[f"nvrtcGet{kind}Size"](program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    ok(nvrtc[f"nvrtcGet{kind}"](program, code))
    ok(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
    return code.raw


def linked(ptx, version=""):
    """A cubin, by nvJitLink's functions as its header names them."""

    def function(name):
        return nvjitlink[f"__{name}_{version}" if version else name]

    link, size = ctypes.c_void_p(), ctypes.c_size_t()
    option = (ctypes.c_char_p * 1)(b"-arch=sm_90")
    ok(function("nvJitLinkCreate")(ctypes.byref(link), 1, option))
    ok(function("nvJitLinkAddData")(link, 2, ptx, ctypes.c_size_t(len(ptx)), b"kernel"))
    ok(function("nvJitLinkComplete")(link))
    ok(function("nvJitLinkGetLinkedCubinSize")(link, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    ok(function("nvJitLinkGetLinkedCubin")(link, code))
    ok(function("nvJitLinkDestroy")(ctypes.byref(link)))
    return code.raw


def run(cubin):
    import numpy as np
    from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    out = LegacyPinnedMemoryResource().allocate(4)
    launch(stream, LaunchConfig(grid=1, block=1), ObjectCode.from_cubin(cubin).get_kernel("kernel"), out)
    stream.sync()
    return np.from_dlpack(out).view(np.int32)[0]


def compiled_cubins_run():
    assert run(compiled("CUBIN")) == 7


def linked_cubins_run():
    assert run(linked(compiled("PTX"))) == 7
    assert run(linked(compiled("PTX"), "13_0")) == 7


for part in (the_driver_comes_after_the_compilers, compiled_cubins_run, linked_cubins_run):
    checked(part.__name__, part)
