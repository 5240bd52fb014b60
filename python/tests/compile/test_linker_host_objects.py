"""Linking host objects and static libraries: their PTX, and symbols that are defined twice by whatever inputs."""

import ctypes
import itertools
import shutil
import struct
import subprocess

import numpy as np
import pytest
from conftest import run_python

import cucore as core

CALLER = """
extern "C" __device__ int twice(int);
extern "C" __global__ void k(int* p) { *p = twice(*p); }
"""
CALLEE = 'extern "C" __device__ int twice(int a) { return 2 * a; }'
TEMPLATE = "template <class T> __device__ __noinline__ T same(T a) { return a; }\n"
KINDS = ["ptx", "cubin", "fatbin", "object", "library"]
ARCH = "sm_80"


@pytest.fixture(scope="module")
def assembled(tmp_path_factory):
    """Host objects as nvcc -rdc=true makes them: fat binaries in a section of their own."""
    compiler, archiver = shutil.which("cc"), shutil.which("ar")
    if compiler is None or archiver is None:
        pytest.skip("no C compiler")
    folder, numbers = tmp_path_factory.mktemp("host"), itertools.count()

    def make(kind, *fatbins, section="__nv_relfatbin"):
        paths = []
        for fatbin in fatbins:
            base = folder / f"{next(numbers)}_with_a_long_name"
            base.with_suffix(".fatbin").write_bytes(fatbin)
            code = f'.section {section}, "a"\n.balign 8\ncode:\n.incbin "{base}.fatbin"\n'
            told = '.section .nvFatBinSegment, "aw"\n.balign 8\n.long 0x466243b1, 1\n.quad code, 0\n'
            base.with_suffix(".s").write_text(code + told)
            paths.append(base.with_suffix(".o"))
            subprocess.run([compiler, "-c", base.with_suffix(".s"), "-o", paths[-1]], check=True)
        if kind == "object":
            return paths[0].read_bytes()
        library = folder / f"lib{next(numbers)}.a"
        subprocess.run([archiver, "rcs", library, *paths], check=True)
        return library.read_bytes()

    return make


def compiled(source, target="cubin", arch=ARCH, **options):
    options = core.ProgramOptions(arch=arch, relocatable_device_code=True, **options)
    return core.Program(source, "c++", options).compile(target)


def fat(source, **options):
    """A cubin and its PTX."""
    return core.ObjectCode.from_images([compiled(source, **options)]).code


@pytest.fixture(scope="module")
def made(assembled):
    def make(kind, source, name):
        if kind in ("ptx", "cubin"):
            return getattr(core.ObjectCode, f"from_{kind}")(compiled(source, kind).code, name=name)
        code = fat(source)
        if kind != "fatbin":
            code = assembled(kind, code)
        return getattr(core.ObjectCode, f"from_{kind}")(code, name=name)

    return make


def linked(*codes, **options):
    options.setdefault("arch", ARCH)
    linker = core.Linker(*codes, options=options)
    return linker.link("cubin"), linker.get_info_log()


def doubled(code, stream, pinned):
    buffer = pinned.allocate(4, stream=stream)
    view = np.from_dlpack(buffer).view(np.int32)
    view[0] = 21
    core.launch(stream, core.LaunchConfig(grid=1, block=1), code.get_kernel("k"), buffer)
    stream.sync()
    return int(view[0])


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_a_symbol_that_two_inputs_of_any_kinds_define_is_an_error_that_names_all_three(first, second, made):
    codes = made("ptx", CALLER, "caller"), made(first, CALLEE, "first"), made(second, CALLEE, "second")
    for options in ({"arch": ARCH}, {}):
        with pytest.raises(ValueError) as refusal:
            core.Linker(*codes, options=options)
        text = str(refusal.value)
        assert "symbol 'twice' is defined by" in text
        assert f"input 'first' ({first}) and by" in text and f"input 'second' ({second})" in text


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_weak_definitions_may_be_many(first, second, made):
    use = "__global__ void %s(int* p) { *p = same(*p); }"
    codes = [made(kind, TEMPLATE + 'extern "C" ' + use % name, name) for kind, name in ((first, "a"), (second, "b"))]
    code, log = linked(*codes)
    assert sorted(code.kernels) == ["a", "b"] and code.ptx is not None, log


def test_a_kernel_and_a_variable_that_are_defined_twice_are_errors(made):
    kernel, variable = CALLER + CALLEE, "__device__ int table[4] = {1};"
    with pytest.raises(ValueError, match=r"symbol 'k' is defined by input 'one' \(object\)"):
        linked(made("object", kernel, "one"), made("cubin", kernel.replace("twice", "other"), "two"))
    with pytest.raises(ValueError, match=r"symbol 'table' is defined by input 'one' \(object\)"):
        linked(made("object", variable, "one"), made("library", variable, "two"))


def test_symbols_that_only_their_own_file_sees_are_not_defined_twice(made):
    sources = [
        f'static __device__ int own = 1; extern "C" __global__ void {name}(int* p) {{ *p = own++; }}' for name in "ab"
    ]
    assert sorted(linked(*(made("object", source, "own") for source in sources))[0].kernels) == ["a", "b"]


def test_two_members_of_a_library_that_define_one_symbol_are_an_error_that_names_both(assembled):
    library = core.ObjectCode.from_library(assembled("library", fat(CALLEE), fat(CALLEE)), name="lib")
    with pytest.raises(ValueError, match=r"member '\d+_with_a_long_name.o' of input 'lib' \(library\) and by member"):
        linked(library)


def test_only_the_image_for_the_architecture_of_the_link_counts(assembled):
    newer = core.ObjectCode.from_images(
        [compiled(CALLEE, arch="sm_90", embed_ptx=False), compiled("__device__ int nothing;", embed_ptx=False)]
    ).code
    codes = [
        core.ObjectCode.from_object(assembled("object", code), name=name)
        for code, name in ((fat(CALLEE), "a"), (newer, "b"))
    ]
    caller = core.ObjectCode.from_ptx(compiled(CALLER, "ptx").code, name="caller")
    assert linked(caller, *codes)[0].kernels == ["k"]
    with pytest.raises(ValueError, match="'twice' is defined by input 'a'.*and by input 'b'"):
        linked(caller, *codes, arch="sm_90")


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", ["object", "library"])
def test_the_result_carries_the_ptx_of_host_objects_and_runs(first, second, made, stream, pinned):
    on_gpu = core.driver_info().kind == "gpu"
    code, log = linked(made(first, CALLER, "caller"), made(second, CALLEE, "callee"))
    assert [kind for kind, _ in code.images] == ["cubin", "ptx", "ptx"] and log == ""
    assert on_gpu or doubled(code, stream, pinned) == 42
    assert linked(made(first, CALLER, "caller"), made(second, CALLEE, "callee"), embed_ptx=False)[0].ptx is None


def test_of_a_library_the_ptx_that_is_needed_is_carried_and_no_more(assembled, made):
    through = 'extern "C" __device__ int inner(int); extern "C" __device__ int twice(int a) { return inner(a); }'
    inner = 'extern "C" __device__ int inner(int a) { return 2 * a; }'
    members = [fat(source) for source in (inner, "__device__ int unused;", through)]
    code, log = linked(made("ptx", CALLER, "caller"), core.ObjectCode.from_library(assembled("library", *members)))
    assert log == "" and len(code.images) == 4 and "unused" not in code.ptx


def compressed(fatbin, library, compress, flag):
    """With the payload of every entry compressed."""
    out, at = b"", 16
    while at < len(fatbin):
        header, size = struct.unpack_from("<IQ", fatbin, at + 4)
        entry, payload = bytearray(fatbin[at : at + header]), fatbin[at + header : at + header + size]
        data = compress(ctypes.CDLL(library), payload)
        struct.pack_into("<Q", entry, 8, (len(data) + 7) // 8 * 8)
        struct.pack_into("<I", entry, 16, len(data))
        struct.pack_into("<Q", entry, 40, struct.unpack_from("<Q", entry, 40)[0] | flag)
        struct.pack_into("<Q", entry, 56, len(payload))
        out += bytes(entry) + data.ljust((len(data) + 7) // 8 * 8, b"\0")
        at += header + size
    return fatbin[:8] + struct.pack("<Q", len(out)) + out


def zstd(library, payload):
    out = ctypes.create_string_buffer(len(payload) + 1024)
    library.ZSTD_compress.restype = ctypes.c_size_t
    size = library.ZSTD_compress(out, ctypes.c_size_t(len(out)), payload, ctypes.c_size_t(len(payload)), 3)
    return out.raw[:size]


def lz4(library, payload):
    out = ctypes.create_string_buffer(len(payload) + 1024)
    size = library.LZ4_compress_default(payload, out, len(payload), len(out))
    return out.raw[:size]


@pytest.mark.parametrize(
    "how", [("libzstd.so.1", zstd, 0x8000), ("liblz4.so.1", lz4, 0x2000)], ids=["zstandard", "lz4"]
)
def test_compressed_images_are_read(how, assembled, made, stream, pinned):
    try:
        ctypes.CDLL(how[0])
    except OSError:
        pytest.skip(f"no {how[0]}")
    packed = compressed(fat(CALLEE), *how)
    callee = core.ObjectCode.from_object(assembled("object", packed), name="packed")
    code, log = linked(made("ptx", CALLER, "caller"), callee)
    assert log == "" and len(code.images) == 3
    assert core.driver_info().kind == "gpu" or doubled(code, stream, pinned) == 42
    with pytest.raises(ValueError, match="'twice' is defined by input 'packed'"):
        linked(callee, core.ObjectCode.from_fatbin(packed, name="again"))
    for size in range(0, len(packed), 41):
        with pytest.raises((ValueError, core.NvJitLinkError), match="cut"):
            linked(made("ptx", CALLER, "caller"), core.ObjectCode.from_fatbin(packed[:size], name="cut"))


def test_what_has_no_ptx_is_told_in_the_log(assembled, made):
    bare = core.ObjectCode.from_images([compiled(CALLEE, embed_ptx=False)]).code
    callee = core.ObjectCode.from_object(assembled("object", bare), name="bare")
    code, log = linked(made("ptx", CALLER, "caller"), callee)
    assert code.ptx is None and code.kernels == ["k"]
    assert "the result carries no PTX: no PTX in input 'bare' (object)" in log
    library = core.ObjectCode.from_library(assembled("library", bare), name="bare")
    assert "symbol 'twice' is in the PTX of no input" in linked(made("ptx", CALLER, "caller"), library)[1]


def test_a_host_object_for_another_architecture_or_without_relocatable_code_is_refused(assembled, made):
    newer = core.ObjectCode.from_object(assembled("object", fat(CALLEE, arch="sm_90")), name="newer")
    with pytest.raises(ValueError, match=r"input 'newer' \(object\) is for sm_90, compute_90 and cannot be linked for"):
        linked(made("ptx", CALLER, "caller"), newer)
    whole = core.ObjectCode.from_object(assembled("object", fat(CALLEE), section=".nv_fatbin"), name="whole")
    with pytest.raises(ValueError, match="'whole'.*not relocatable"):
        linked(made("ptx", CALLER, "caller"), whole)


@pytest.mark.parametrize("kind", ["object", "library"])
def test_a_truncated_host_object_is_refused_before_the_linker_sees_it(kind, assembled):
    image = assembled(kind, fat(CALLEE))
    make = getattr(core.ObjectCode, f"from_{kind}")
    for size in range(1, len(image) - 1, 53):
        with pytest.raises(ValueError, match="'cut'"):
            core.Linker(make(image[:size], name="cut"), options={"arch": ARCH})


def test_without_nvjitlink_the_cpu_device_links_the_ptx_of_host_objects(made, tmp_path):
    if core.driver_info().kind != "cpu":
        pytest.skip("the driver's linker reads host objects by itself")
    library = tmp_path / "libnvJitLink.so"
    source = b"void nvJitLinkCreate(void) {}"  # as old as 12.2
    subprocess.run([shutil.which("cc"), "-shared", "-x", "c", "-o", library, "-"], input=source, check=True)
    made("object", CALLER, "caller").save(tmp_path / "caller")
    made("library", CALLEE, "callee").save(tmp_path / "callee")
    program = """
        import sys, warnings
        warnings.simplefilter("ignore")
        import cucore as core
        device = core.Device(); device.set_current()
        codes = [core.ObjectCode.from_saved(path) for path in sys.argv[1:]]
        code = core.Linker(*codes, options={"arch": "sm_80"}).link("cubin")
        print(core.Linker.which_backend(), code.kernels, code.get_kernel("k").name)
    """
    result = run_python(program, tmp_path / "caller", tmp_path / "callee", env={"CUCORE_NVJITLINK": str(library)})
    assert result.stdout == "driver ['k'] k\n", result.stderr
