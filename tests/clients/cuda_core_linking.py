"""A client of the linkers: cuda.core, nvJitLink itself and the driver's linker, given device code in every form."""

import ctypes
import itertools
import tempfile
from pathlib import Path

import numpy as np
from checked import checked, refuses
from cuda.bindings import driver, nvjitlink
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
from device_objects import CUBIN, LTOIR, PTX, fat_binary, host_object, library

device = Device()
device.set_current()
stream = device.create_stream()
host = LegacyPinnedMemoryResource().allocate(4096)
numbers = np.from_dlpack(host).view(np.int32)
ARCH = f"sm_{device.arch}"

CALLER = """
extern "C" __device__ int twice(int);
extern "C" __device__ int offset;
extern "C" __global__ void k(int* p) { *p = twice(*p) + offset; }
"""
CALLEE = """
extern "C" __device__ int offset = 100;
extern "C" __device__ int next(int);
extern "C" __device__ int twice(int v) { return 2 * next(v) - 2; }
"""
NEXT = 'extern "C" __device__ int next(int v) { return v + 1; }'
UNUSED = 'extern "C" __device__ int nowhere(int); extern "C" __device__ int unused(int v) { return nowhere(v); }'


def compiled(source, kind):
    """PTX, a cubin with its PTX or, if it is "machine code", without, or LTO-IR."""
    lto = kind == "ltoir"
    options = {"link_time_optimization": True} if lto else {"relocatable_device_code": True}
    target = "cubin" if kind == "machine code" else kind
    code = Program(source, "c++", options=ProgramOptions(arch=ARCH, **options)).compile(target).code
    return code.replace(b".cucore.ptx", b".cucore.no_") if kind == "machine code" else bytes(code)


ENTRIES = {
    "ptx": [("ptx", PTX)],
    "ltoir": [("ltoir", LTOIR)],
    "machine code": [("machine code", CUBIN)],
    "cubin": [("cubin", CUBIN)],
    "machine code and PTX": [("machine code", CUBIN), ("ptx", PTX)],
    "machine code and LTO-IR": [("machine code", CUBIN), ("ltoir", LTOIR)],
}


def fat(source, kind):
    return fat_binary(*((entry, compiled(source, each)) for each, entry in ENTRIES[kind]), arch=device_number)


device_number = int(device.arch)


def runs(cubin):
    numbers[0] = 7
    code = ObjectCode.from_cubin(cubin if isinstance(cubin, bytes) else bytes(cubin.code))
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("k"), host)
    stream.sync()
    assert numbers[0] == 114, numbers[0]


def forms(source, kind, name):
    """The source in a fat binary, an object, and as one of two members of a library."""
    code = fat(source, kind)
    others = {"unused": host_object(fat(UNUSED, kind))} if "ltoir" not in kind and "LTO" not in kind else {}
    yield ObjectCode.from_fatbin(code, name=name)
    yield ObjectCode.from_object(host_object(code), name=name)
    yield ObjectCode.from_library(library(**others, member=host_object(code)), name=name)


def linked(*codes, lto=False):
    return Linker(*codes, options=LinkerOptions(arch=ARCH, link_time_optimization=lto or None)).link("cubin")


def containers_of(kind):
    def part():
        lto = "ltoir" in kind or "LTO" in kind
        caller = ObjectCode.from_ptx(compiled(CALLER, "ptx"), name="caller")
        for callee in forms(CALLEE + NEXT, kind, "callee"):
            runs(linked(caller, callee, lto=lto))
        whole = itertools.islice(forms(CALLER, kind, "caller"), 2)  # a library gives only what is called
        for caller, callee in zip(whole, forms(CALLEE + NEXT, kind, "callee"), strict=False):
            runs(linked(caller, callee, lto=lto))

    part.__name__ = "containers_of_" + kind.replace(" ", "_")
    return part


def ptx_and_ltoir_call_each_other():
    for kinds in itertools.product(("ptx", "ltoir", "cubin"), repeat=3):
        if "ltoir" not in kinds:
            continue
        sources = zip((CALLER, CALLEE, NEXT), kinds, strict=True)
        codes = [getattr(ObjectCode, f"from_{kind}")(compiled(source, kind), name=kind) for source, kind in sources]
        runs(linked(*codes, lto=True))


def members_of_libraries_that_others_need():
    caller = ObjectCode.from_ptx(compiled(CALLER, "ptx"), name="caller")
    for kind in ("ptx", "machine code and PTX"):
        members = library(next=host_object(fat(NEXT, kind)), callee=host_object(fat(CALLEE, kind)))
        runs(linked(caller, ObjectCode.from_library(members, name="lib")))


def machine_code_alone_is_refused():
    callee = CALLEE + NEXT
    caller = ObjectCode.from_ptx(compiled(CALLER, "ptx"), name="caller")
    said = "machine code alone", "twice", "offset"
    cubin = ObjectCode.from_cubin(compiled(callee, "machine code"), name="callee")
    refuses(Exception, lambda: linked(caller, cubin), "'callee'", *said)
    for code in forms(callee, "machine code", "callee"):
        name = "'callee(member.o)'" if code.code_type == "library" else "'callee'"
        refuses(Exception, lambda code=code: linked(caller, code), name, *said)
    kernel = ObjectCode.from_cubin(compiled("__global__ void lonely() {}", "machine code"), name="kernels")
    refuses(Exception, lambda: linked(kernel), "'kernels'", "kernel '_Z6lonelyv'")
    # What nobody calls need not run.
    idle = ObjectCode.from_cubin(compiled(UNUSED + NEXT.replace("next", "nowhere"), "machine code"), name="idle")
    runs(linked(caller, ObjectCode.from_ptx(compiled(callee, "ptx"), name="callee"), idle))


def nvjitlink_takes_anything_and_files():
    kinds = nvjitlink.InputType
    inputs = {
        "ptx": (kinds.PTX, compiled(CALLEE + NEXT, "ptx")),
        "cubin": (kinds.CUBIN, compiled(CALLEE + NEXT, "cubin")),
        "ltoir": (kinds.LTOIR, compiled(CALLEE + NEXT, "ltoir")),
    }
    for kind in ("ptx", "ltoir", "machine code and PTX"):
        code = fat(CALLEE + NEXT, kind)
        inputs["fatbin of " + kind] = kinds.FATBIN, code
        inputs["object of " + kind] = kinds.OBJECT, host_object(code)
        inputs["library of " + kind] = kinds.LIBRARY, library(member=host_object(code))
    with tempfile.TemporaryDirectory() as folder:
        for name, (exact, data) in inputs.items():
            path = Path(folder) / name.replace(" ", "_")
            path.write_bytes(data)
            for kind, is_file in itertools.product((exact, kinds.ANY), (False, True)):
                options = [f"-arch={ARCH}", *(["-lto"] if "ltoir" in name else [])]
                link = nvjitlink.create(len(options), options)
                caller = compiled(CALLER, "ptx")
                nvjitlink.add_data(link, kinds.PTX, caller, len(caller), "caller")
                if is_file:
                    nvjitlink.add_file(link, kind, str(path))
                else:
                    nvjitlink.add_data(link, kind, data, len(data), name)
                nvjitlink.complete(link)
                cubin = bytearray(nvjitlink.get_linked_cubin_size(link))
                nvjitlink.get_linked_cubin(link, cubin)
                nvjitlink.destroy(link)
                runs(bytes(cubin))


def linked_by_the_driver(kind, data):
    """The cubin, or the code of the call that refused and what it said."""

    def ok(answer):
        assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer[0]
        return answer[1:]

    log = bytearray(2000)
    options = [driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    (link,) = ok(driver.cuLinkCreate(2, options, [log, len(log)]))
    kinds = driver.CUjitInputType
    caller = compiled(CALLER, "ptx")
    ok(driver.cuLinkAddData(link, kinds.CU_JIT_INPUT_PTX, caller, len(caller), b"caller", 0, [], []))
    answer = driver.cuLinkAddData(link, getattr(kinds, f"CU_JIT_INPUT_{kind}"), data, len(data), b"callee", 0, [], [])
    if answer[0] == driver.CUresult.CUDA_SUCCESS:
        answer = driver.cuLinkComplete(link)
    if answer[0] != driver.CUresult.CUDA_SUCCESS:
        ok(driver.cuLinkDestroy(link))
        return answer[0], log.split(b"\0")[0].decode()
    cubin = ctypes.string_at(answer[1], answer[2])
    ok(driver.cuLinkDestroy(link))
    return cubin


def the_driver_links_them_too():
    callee = CALLEE + NEXT
    for kind in ("ptx", "cubin", "machine code and PTX"):
        code = fat(callee, kind)
        runs(linked_by_the_driver("FATBINARY", code))
        runs(linked_by_the_driver("OBJECT", host_object(code)))
        runs(linked_by_the_driver("LIBRARY", library(unused=host_object(fat(UNUSED, kind)), code=host_object(code))))
    refused = driver.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
    code = host_object(fat(callee, "machine code"))
    for kind, data, name in (
        ("CUBIN", compiled(callee, "machine code"), "'callee'"),
        ("FATBINARY", fat(callee, "machine code"), "'callee'"),
        ("OBJECT", code, "'callee'"),
        ("LIBRARY", library(code=code), "'callee(code.o)'"),
    ):
        answer, log = linked_by_the_driver(kind, data)
        assert answer == refused and name in log and "function 'twice'" in log and "variable 'offset'" in log, log
    answer, log = linked_by_the_driver("OBJECT", host_object(fat(callee, "ltoir")))
    assert answer == driver.CUresult.CUDA_ERROR_NOT_SUPPORTED and "nvJitLink" in log, (answer, log)


if __name__ == "__main__":
    for part in (
        *(containers_of(kind) for kind in ENTRIES if kind != "machine code"),
        ptx_and_ltoir_call_each_other,
        members_of_libraries_that_others_need,
        machine_code_alone_is_refused,
        nvjitlink_takes_anything_and_files,
        the_driver_links_them_too,
    ):
        checked(part.__name__, part)
