"""LTO-IR is linked to PTX, that to a cubin with others: what each step gives, and what linkers tell."""

import pickle

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

PARTS = {
    "seed": "__device__ int seed() { return 40; }",
    "step": "extern __device__ int seed(); __device__ int step(int x) { return seed() + x; }",
    "main": 'extern __device__ int step(int); extern "C" __global__ void main_(int* x) { *x = step(2); }',
}
device = Device()
device.set_current()
stream = device.create_stream()
arch = f"sm_{device.arch}"
memory = LegacyPinnedMemoryResource().allocate(4)


def result(code, name="main_"):
    np.from_dlpack(memory).view(np.int32)[:] = 0
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel(name), memory)
    stream.sync()
    return int(np.from_dlpack(memory).view(np.int32)[0])


ir = [
    Program(source, "c++", ProgramOptions(arch=arch, link_time_optimization=True, name=name)).compile("ltoir")
    for name, source in PARTS.items()
]
ptx = [
    Program(source, "c++", ProgramOptions(arch=arch, relocatable_device_code=True, name=name)).compile("ptx")
    for name, source in PARTS.items()
]
cubins = [
    Program(source, "c++", ProgramOptions(arch=arch, relocatable_device_code=True, name=name)).compile("cubin")
    for name, source in PARTS.items()
]
print([code.code_type for code in (*ir, *ptx, *cubins)], [code.name for code in ir])
lto = LinkerOptions(arch=arch, link_time_optimization=True)
for parts, options in (
    (ir, lto),
    (ptx, LinkerOptions(arch=arch)),
    (cubins, LinkerOptions(arch=arch)),
    ((ptx[0], cubins[1], ptx[2]), LinkerOptions(arch=arch, name="mixed")),
    ((ir[0], ir[1], ptx[2]), lto),
    ((ir[0], cubins[1], cubins[2]), lto),
):
    linker = Linker(*parts, options=options)
    linked = linker.link("cubin")
    print(linked.code_type, linked.name, type(linked.code).__name__, result(linked), repr(linker.get_error_log()))
    linker.close()
middle = Linker(*ir, options=LinkerOptions(arch=arch, link_time_optimization=True, ptx=True)).link("ptx")
print(middle.code_type, b".entry main_" in middle.code, result(middle))
final = Linker(ObjectCode.from_ptx(middle.code), options=LinkerOptions(arch=arch, lineinfo=True)).link("cubin")
print(result(final), result(pickle.loads(pickle.dumps(final))))
compiled = Program(middle.code.decode(), "ptx", ProgramOptions(arch=arch)).compile("cubin")
print(compiled.code_type, result(compiled))
for wrong in (
    lambda: Linker(ptx[1], ptx[2], options=LinkerOptions(arch=arch)).link("cubin"),
    lambda: Linker(*ir, options=lto).link("fatbin"),
    lambda: Linker(*ptx, options=LinkerOptions(arch="sm_1000")).link("cubin"),
    lambda: Linker(options=lto),
    lambda: Linker(b"x", options=lto),
    lambda: Linker(ObjectCode.from_ptx(b".version x"), options=LinkerOptions(arch=arch)).link("cubin"),
    lambda: (
        Linker(*ptx, options=LinkerOptions(arch=arch, max_register_count=32, ptxas_options=["-v"]))
        .link("cubin")
        .code_type
    ),
):
    try:
        print("taken", wrong())
    except Exception as error:
        names = [kind.__name__.lower() for kind in type(error).__mro__]
        print([name for name in names if name in ("nvjitlinkerror", "valueerror", "typeerror", "runtimeerror")][:1])
