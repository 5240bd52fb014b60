"""Linker: what it links, what it refuses, and that its results run."""

import pickle
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import run_python

import cucore as core

CALLER = """
extern "C" __device__ int twice(int);
extern "C" __global__ void k(int* p) { *p = twice(*p); }
"""
CALLEE = 'extern "C" __device__ int twice(int a) { return 2 * a; }'
ARCH = "sm_80"


def compiled(source, target, name, arch=ARCH, **options):
    if target != "ltoir":
        options.setdefault("relocatable_device_code", True)
    return core.Program(source, "c++", core.ProgramOptions(arch=arch, name=name, **options)).compile(target)


def caller(target="ptx", **options):
    return compiled(CALLER, target, "caller", **options)


def callee(target="ptx", **options):
    return compiled(CALLEE, target, "callee", **options)


def linked(*codes, target="cubin", **options):
    options.setdefault("arch", ARCH)
    with core.Linker(*codes, options=options) as linker:
        return linker.link(target)


def doubled(code, stream, pinned, value=21, kernel="k"):
    buffer = pinned.allocate(4, stream=stream)
    view = np.from_dlpack(buffer).view(np.int32)
    view[0] = value
    core.launch(stream, core.LaunchConfig(grid=1, block=1), code.get_kernel(kernel), buffer)
    stream.sync()
    return int(view[0])


@pytest.mark.parametrize("first", ["ptx", "cubin", "ltoir"])
@pytest.mark.parametrize("second", ["ptx", "cubin", "ltoir"])
def test_mixed_inputs_link_and_the_result_runs(first, second, stream, pinned):
    on_gpu = core.driver_info().kind == "gpu"
    arch = f"sm_{core.Device().arch}" if on_gpu else ARCH  # without PTX, the binary has to fit
    code = linked(caller(first, arch=arch), callee(second, arch=arch), name="both", arch=arch)
    assert (code.code_type, code.name, code.is_loaded) == ("cubin", "both", False)
    assert code.images[0] == ("cubin", arch)
    if code.ptx is not None or on_gpu:
        assert doubled(code, stream, pinned) == 42


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_a_linked_cubin_carries_the_ptx_of_all_inputs(target):
    code = linked(caller(target), callee(target))
    assert [kind for kind, _ in code.images] == ["cubin", "ptx", "ptx"]
    assert code.kernels == ["k"]
    assert linked(caller(target), callee(target), embed_ptx=False).ptx is None


def test_ltoir_gives_one_ptx_which_is_carried_and_can_be_the_target(stream, pinned):
    inputs = caller("ltoir"), callee("ltoir")
    assert [kind for kind, _ in linked(*inputs).images] == ["cubin", "ptx"]
    ptx = linked(*inputs, target="ptx")
    assert ptx.code_type == "ptx" and b".entry k" in ptx.code and b"call" not in ptx.code
    assert doubled(ptx, stream, pinned) == 42


LIBRARY_OF_IR = """
struct Pair { int a, b; };
__device__ int base = 1;
__device__ Pair both(int a) { return {a, base}; }
__device__ void store(int* p, int value) { *p = value; }
__device__ int unused(int a) { return a; }
"""
USER_OF_IR = """
struct Pair { int a, b; };
extern __device__ int base;
extern __device__ Pair both(int a);
extern __device__ void store(int* p, int value);
extern "C" __global__ void k(int* p) { Pair of = both(*p); store(p, of.a * 2 + of.b - base); }
"""


@pytest.mark.parametrize("kernels", [None, ["k"]])
@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_what_only_the_ptx_of_others_calls_stays_of_ltoir(target, kernels, stream, pinned):
    user, library = compiled(USER_OF_IR, target, "user"), compiled(LIBRARY_OF_IR, "ltoir", "library")
    for inputs in ((user, library), (library, user)):
        code = linked(*inputs, **({} if kernels is None else {"kernels_used": kernels}))
        assert [kind for kind, _ in code.images] == ["cubin", "ptx", "ptx"]
        assert "both" in code.ptx and "unused" not in code.ptx and "__cucore" not in code.ptx
        assert code.kernels == ["k"] and doubled(code, stream, pinned) == 42


def test_a_fat_binary_can_be_an_input(stream, pinned):
    fat = core.ObjectCode.from_images([callee("cubin"), callee("cubin", arch="sm_90")])
    code = linked(caller(), fat)
    assert doubled(code, stream, pinned) == 42


def test_files_can_be_inputs(tmp_path, stream, pinned):
    (tmp_path / "callee.ptx").write_bytes(callee().code)
    code = linked(caller("cubin"), core.ObjectCode.from_ptx(tmp_path / "callee.ptx"))
    assert doubled(code, stream, pinned) == 42


def test_a_library_can_be_an_input_and_the_ptx_of_the_others_is_the_whole_if_nothing_of_it_is_needed(stream, pinned):
    library = Path(core.toolkit_info().nvrtc.path).parent / "libcudadevrt.a"
    if not library.exists():
        pytest.skip(f"no {library}")
    code = linked(caller("cubin"), callee(), core.ObjectCode.from_library(library))
    assert [kind for kind, _ in code.images] == ["cubin", "ptx", "ptx"]
    assert doubled(code, stream, pinned) == 42


def test_the_kernels_of_a_result_without_ptx_are_read_from_the_binary():
    code = linked(caller("cubin"), callee("cubin", embed_ptx=False))
    assert code.ptx is None and code.kernels == ["k"]


def test_an_undefined_symbol_is_an_error_that_names_it_and_the_input():
    with pytest.raises(core.NvJitLinkError) as failure:
        linked(caller(), name="lonely")
    text = str(failure.value)
    assert "'lonely'" in text and "'twice'" in text and "'caller'" in text
    assert "Undefined reference" in failure.value.log


def test_a_linker_that_cannot_be_made_says_why():
    with pytest.raises(core.NvJitLinkError) as failure:
        linked(caller(), callee(), arch="sm_999")
    assert "linking '<default linker>' with -arch=sm_999" in str(failure.value)
    assert "unrecognized architecture" in failure.value.log and "this nvJitLink is version" in failure.value.hint


def test_a_symbol_that_two_inputs_define_is_an_error_that_names_all_three():
    other = compiled(CALLEE, "cubin", "other")
    with pytest.raises(ValueError, match="'twice' is defined by input 'callee'.*and by input 'other'"):
        linked(caller(), callee(), other)
    fat = core.ObjectCode.from_images([callee("cubin"), callee("cubin", arch="sm_90")], name="fat")
    with pytest.raises(ValueError, match="'twice' is defined by input 'callee'.*and by input 'fat'"):
        linked(caller(), callee(), fat)


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_a_kernel_or_variable_that_ltoir_and_another_input_define_is_an_error_that_names_it(target):
    for source, name in ((CALLER, "k"), ('extern "C" { __device__ int shared_by_all = 1; }', "shared_by_all")):
        ir = compiled(source + 'extern "C" __global__ void used(int* p) { *p = 1; }', "ltoir", "ir")
        other = compiled(source, target, "other")
        with pytest.raises(ValueError, match=f"'{name}' is defined by input 'other'.* and by LTO-IR"):
            linked(ir, callee("ltoir"), other, callee(target))


def test_a_cubin_for_another_architecture_is_an_error_that_names_both():
    with pytest.raises(ValueError, match=r"input 'callee' \(cubin\) is for sm_90 and cannot be linked for sm_80"):
        linked(caller(), callee("cubin", arch="sm_90"))
    with pytest.raises(ValueError, match=r"input 'callee' \(ptx\) is for compute_90"):
        linked(caller(), callee("ptx", arch="sm_90"))


def test_inputs_that_are_not_what_they_are_called_are_errors_that_name_them():
    for make, bytes_ in (
        (core.ObjectCode.from_ptx, b".version 8.0\n.target sm_80\n.address_size 64\n zzz"),
        (core.ObjectCode.from_cubin, b"\x7fELF and no more"),
        (core.ObjectCode.from_cubin, b""),
        (core.ObjectCode.from_object, b"junk" * 9),
        (core.ObjectCode.from_fatbin, b"junk" * 9),
        (core.ObjectCode.from_ltoir, b"junk" * 9),
    ):
        with pytest.raises((ValueError, core.NvJitLinkError), match="broken"):
            linked(make(bytes_, name="broken"))


def test_a_truncated_cubin_is_refused_before_the_linker_sees_it():
    image = callee("cubin", embed_ptx=False).code
    for size in range(0, len(image), 97):
        with pytest.raises(ValueError, match="'cut'"):
            core.Linker(core.ObjectCode.from_cubin(image[:size], name="cut"), options={"arch": ARCH})


def test_linking_twice_gives_the_same_code_and_close_ends_it():
    linker = core.Linker(caller(), callee(), options=core.LinkerOptions(arch=ARCH, verbose=True))
    assert linker.handle != 0
    first = linker.link("cubin")
    assert linker.link("cubin") == first
    with pytest.raises(ValueError, match="CUBIN"):
        linker.link("CUBIN")
    assert "registers" in linker.get_info_log()
    assert linker.get_error_log() == ""
    linker.close()
    linker.close()
    assert (
        "registers" in linker.get_info_log() and linker.get_error_log() == ""
    )  # what it has linked it goes on telling
    unused = core.Linker(caller(), callee(), options=core.LinkerOptions(arch=ARCH))
    unused.close()
    for log in (unused.get_info_log, unused.get_error_log):
        with pytest.raises(RuntimeError, match="closed without a link"):
            log()
    assert linker.is_closed and linker
    with pytest.raises(RuntimeError, match="closed"):
        linker.link("cubin")
    assert first.kernels == ["k"]


def test_the_names_of_templates_go_through_a_link(stream, pinned):
    source = "template <class T> __global__ void scale(T* p) { *p *= 2; }"
    options = core.ProgramOptions(arch=ARCH, relocatable_device_code=True)
    code = core.Program(source, "c++", options).compile("ptx", ["scale<int>"])
    assert doubled(linked(code, callee()), stream, pinned, kernel="scale<int>") == 42


def test_an_incremental_link_gives_an_input_for_the_next(stream, pinned):
    part = linked(caller(), incremental=True, name="part")
    assert doubled(linked(part, callee()), stream, pinned) == 42


def test_targets_that_the_inputs_cannot_give_are_refused():
    assert linked(caller(), target="ptx").code == caller().code
    for target, word in (("ptx", "LTO-IR"), ("ltoir", "LTO-IR"), ("fatbin", "Unsupported target type")):
        with pytest.raises(ValueError, match=word):
            linked(caller(), callee(), target=target)
    with pytest.raises(ValueError, match="virtual architecture"):
        linked(caller(), callee(), arch="compute_80")


def test_ltoir_of_ltoir_is_an_input_for_further_links_where_the_linker_makes_it(stream, pinned):
    if core.toolkit_info().nvjitlink.version < (13, 4):
        with pytest.raises(RuntimeError, match="use version 13.4 or newer"):
            linked(caller("ltoir"), target="ltoir")
        return
    on_gpu = core.driver_info().kind == "gpu"
    arch = f"sm_{core.Device().arch}" if on_gpu else ARCH

    def ltoir(*codes, **options):
        return linked(*codes, target="ltoir", arch=arch, **options)

    first, second = caller("ltoir", arch=arch), callee("ltoir", arch=arch)
    whole = ltoir(first, second, name="whole")
    assert (whole.code_type, whole.name) == ("ltoir", "whole")
    for inputs in ((whole,), (ltoir(first), second), (first, ltoir(second))):  # what is lacking comes later
        code = linked(*inputs, arch=arch)
        assert code.kernels == ["k"] and b"twice" not in code.ptx.encode()
        if on_gpu:  # the PTX of such a linker may be newer than the CPU device knows
            assert doubled(code, stream, pinned) == 42


def test_what_is_no_object_code_is_refused():
    with pytest.raises(ValueError, match="At least one ObjectCode"):
        core.Linker()
    with pytest.raises(TypeError, match="not bytes"):
        core.Linker(b"ptx")
    with pytest.raises(TypeError, match="LinkerOptions"):
        core.Linker(caller(), options=1)
    with pytest.raises(TypeError, match="pickle the ObjectCode"):
        pickle.dumps(core.Linker(caller()))


def test_options_are_checked_when_they_are_used_and_all_faults_told_as_the_linkers():
    for given, words in (
        (dict(max_register_count=-1, optimization_level=9), "max_register_count=-1.*optimization_level=9"),
        (dict(split_compile="all"), "split_compile='all'"),
    ):
        options = core.LinkerOptions(**given)
        for kind in (ValueError, core.NvJitLinkError):
            with pytest.raises(kind, match=words):
                core.Linker(caller(), options=options)
    with pytest.raises(ValueError, match="nvJitLink takes 0 and 3"):
        core.Linker(caller(), options={"optimization_level": 1})
    with pytest.raises(ValueError, match="no input is LTO-IR"):
        core.Linker(caller(), options={"link_time_optimization": True})


TWO = """
__device__ int unused, doubled = 2;
extern "C" __global__ void k(int* p) { *p *= doubled; }
extern "C" __global__ void other(int* p) { *p = 1; }
"""


@pytest.mark.parametrize("target", ["ptx", "cubin", "ltoir"])
@pytest.mark.parametrize(
    "options",
    [{"kernels_used": "k"}, {"variables_used": "doubled"}, {"optimize_unused_variables": True}],
    ids=lambda options: next(iter(options)),
)
def test_a_link_may_be_told_to_drop_kernels(target, options, stream, pinned):
    arch = f"sm_{core.Device().arch}"
    codes = [compiled(TWO, target, "two", arch=arch), callee(target, arch=arch)]
    code = linked(*codes, arch=arch, embed_ptx=False, **options)
    dropped = b".text.other\0" not in bytes(code.code)
    assert dropped or "kernels_used" not in options


@pytest.mark.parametrize("arch", ["99", "80", "sm80", "native", ""])
def test_the_linker_judges_what_is_no_architecture(arch):
    options = core.LinkerOptions(arch=arch)
    assert options.as_bytes() == [f"-arch={arch}".encode()]
    with pytest.raises(core.NvJitLinkError, match="UNRECOGNIZED"):
        core.Linker(caller(), options=options)


@pytest.mark.parametrize("arch", ["sm_1", "sm_9"])
def test_an_architecture_at_which_the_linker_would_end_the_process_is_an_error(arch):
    ptx = core.compile_ptx('extern "C" __global__ void k() {}', {"arch": "sm_80"})
    with pytest.raises(core.NvJitLinkError, match=arch):
        core.Linker(ptx, options={"arch": arch}).link("cubin")
    with pytest.raises(core.NvJitLinkError):
        core.Program(ptx.code.decode(), "ptx", {"arch": arch}).compile("cubin")


def test_an_option_that_no_linker_has_is_warned_of():
    with pytest.warns(DeprecationWarning, match="numba_debug.*nvJitLink does not have it"):
        linked(caller(), callee(), numba_debug=True)


def test_every_option_becomes_its_flag():
    options = core.LinkerOptions(
        arch="sm_90a",
        max_register_count=32,
        time=True,
        verbose=True,
        link_time_optimization=True,
        ptx=True,
        optimization_level=3,
        debug=True,
        lineinfo=True,
        ftz=True,
        prec_div=False,
        prec_sqrt=True,
        fma=False,
        kernels_used=("a", "b"),
        variables_used="v",
        optimize_unused_variables=True,
        ptxas_options=["-v", "-w"],
        split_compile=2,
        split_compile_extended=0,
        no_cache=True,
    )
    flags = (
        "-arch=sm_90a -maxrregcount=32 -time -verbose -lto -ptx -O3 -g -lineinfo -ftz=true -prec-div=false "
        "-prec-sqrt=true -fma=false -kernels-used=a -kernels-used=b -variables-used=v -optimize-unused-variables "
        "-Xptxas=-v -Xptxas=-w -split-compile=2 -split-compile-extended=0 -no-cache"
    )
    assert options.as_bytes("nvJitLink") == [flag.encode() for flag in flags.split()]
    off = dict(time=False, optimize_unused_variables=False, verbose=False, debug=False, no_cache=False)
    assert core.LinkerOptions(arch="sm_90", **off).as_bytes() == [b"-arch=sm_90"]
    with pytest.raises(ValueError, match="only supports 'nvjitlink'"):
        options.as_bytes("nvrtc")


def test_a_cache_remembers_links(tmp_path):
    cache = core.ProgramCache(tmp_path)
    for expected in ("misses", "hits"):
        with core.Linker(caller(), callee(), options={"arch": ARCH}) as linker:
            linker.link("cubin", cache=cache)
        assert getattr(cache.stats, expected) == 1
    with core.Linker(callee(), caller(), options={"arch": ARCH, "name": "other"}) as linker:
        linker.link("cubin", cache=cache)
    assert cache.stats.misses == 2


def test_one_linker_in_many_threads_links_once():
    linker = core.Linker(caller(), callee(), options={"arch": ARCH})
    results = []
    threads = [threading.Thread(target=lambda: results.append(linker.link("cubin"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(code == results[0] for code in results)


@pytest.fixture
def old_nvjitlink(tmp_path):
    """A library such as nvJitLink 12.2 was: it cannot tell its version."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path / "libnvJitLink.so"
    subprocess.run(
        [compiler, "-shared", "-x", "c", "-o", library, "-"], input=b"void nvJitLinkCreate(void) {}", check=True
    )
    return str(library)


def test_without_nvjitlink_the_driver_links_with_one_warning(old_nvjitlink):
    source = f"""
        import warnings
        warnings.simplefilter("always")
        import cucore as core, numpy as np
        def made(source):
            options = {{"arch": "sm_80", "relocatable_device_code": True}}
            return core.Program(source, "c++", options).compile("ptx")
        device = core.Device(); device.set_current()
        codes = made({CALLER!r}), made({CALLEE!r})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert core.Linker.which_backend() == "driver"
            linker = core.Linker(*codes, options=core.LinkerOptions(name="both", ftz=True))
        assert [w.category for w in caught] == [RuntimeWarning, DeprecationWarning], [str(w.message) for w in caught]
        assert linker.handle != 0
        code = linker.link("cubin")
        stream = device.default_stream
        buffer = core.LegacyPinnedMemoryResource().allocate(4)
        view = np.from_dlpack(buffer).view(np.int32); view[0] = 21
        core.launch(stream, core.LaunchConfig(grid=1, block=1), code.get_kernel("k"), buffer)
        stream.sync()
        print(code.code_type, code.name, view[0])
        assert linker.get_error_log() == "" and isinstance(linker.get_info_log(), str)
        linker.close()
        for kwargs in (dict(time=True), dict(ptx=True), dict(ptxas_options="-v"), dict(split_compile=2),
                       dict(split_compile_extended=2), dict(incremental=True)):
            try: core.Linker(*codes, options=kwargs); print("accepted", kwargs)
            except ValueError as refusal: assert "not supported by the driver API" in str(refusal)
        try: core.Linker(core.ObjectCode.from_ltoir(b"ir")); print("accepted ltoir")
        except ValueError as refusal: assert "Unknown code_type" in str(refusal)
        from cucore.utils import make_program_cache_key
        for kwargs in (dict(), dict(time="a.csv"), dict(ptxas_options="-v"), dict(split_compile=2)):
            options = dict(arch="sm_80", **kwargs)
            try: key = make_program_cache_key(code="", code_type="ptx", options=options, target_type="cubin")
            except ValueError as refusal: assert kwargs and "driver" in str(refusal), refusal
            else: assert not kwargs, kwargs
        lonely = core.Linker(codes[0], options=dict(name="lonely"))
        try: lonely.link("cubin"); print("linked")
        except core.CUDAError as failure:
            assert "twice" in str(failure) and "lonely" in str(failure), failure
        assert "twice" in lonely.get_error_log()
        lonely.close()
        try: core.LinkerOptions(arch="sm_80").as_bytes(); print("flags")
        except RuntimeError as failure: assert "not available" in str(failure)
    """
    result = run_python(source, env={"CUCORE_NVJITLINK": old_nvjitlink})
    assert (result.stdout, result.returncode) == ("cubin both 42\n", 0), result.stderr


def test_an_nvjitlink_that_is_there_but_cannot_be_loaded_is_an_error_and_no_reason_for_the_driver_to_link(tmp_path):
    (tmp_path / "libnvJitLink.so").write_text("no library")
    program = """
        import cucore
        code = cucore.compile_ptx("", {"arch": "sm_80"})
        for use in (cucore.Linker.which_backend, lambda: cucore.Linker(code, options={"arch": "sm_80"})):
            try:
                print("accepted", use())
            except RuntimeError as error:
                print("cannot be loaded" in str(error), "libnvJitLink.so (CUCORE_NVJITLINK)" in str(error))
    """
    result = run_python(program, env={"CUCORE_NVJITLINK": str(tmp_path / "libnvJitLink.so")})
    assert result.stdout == "True True\n" * 2, result.stdout + result.stderr


def test_without_nvjitlink_the_driver_compiles_ptx(old_nvjitlink, tmp_path):
    program = """
        import warnings
        import cucore
        ptx = cucore.compile_ptx('extern "C" __global__ void k() {}', {"arch": "sm_80"}).code.decode()
        program = cucore.Program(ptx, "ptx", {"arch": "sm_80", "name": "linked", "ftz": True, "use_fast_math": True})
        cache = cucore.ProgramCache(__import__("sys").argv[1])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            code = program.compile("cubin", cache=cache)
        print([(w.category.__name__, w.filename) for w in caught], [d.text.split()[0] for d in program.diagnostics])
        print(program.backend, code.code_type, code.name, program.handle > 0)
        print(program.compile("ptx").code.decode() == ptx, cache.why(program, "cubin"))
        device = cucore.Device(); device.set_current()
        code.get_kernel("k")
        try:
            cucore.Program(ptx, "ptx", {"arch": "sm_80", "ptxas_options": "-v"}).compile("cubin")
        except ValueError as refusal:
            print("ptxas_options" in str(refusal))
        """
    result = run_python(program, tmp_path / "cache", env={"CUCORE_NVJITLINK": old_nvjitlink})
    assert result.stdout.splitlines() == [
        "[('RuntimeWarning', '<string>')] ['ftz', 'use_fast_math']",
        "driver cubin linked True",
        "True hit",
        "True",
    ], result.stderr
