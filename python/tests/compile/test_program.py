"""Compiling: options, targets, names, logs, errors. Needs no driver."""

import io
import pickle
import threading
import warnings

import pytest
from conftest import run_python

import cucore
from cucore.typing import CompilerBackendType

EMPTY = 'extern "C" __global__ void k() {}'
TEMPLATE = "template <class T> __global__ void fill(T* x, T value) { *x = value; }"
PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"
ARCH = {"arch": "sm_80"}


def test_compile_gives_every_target():
    program = cucore.Program(EMPTY, "c++", ARCH)
    for target in ("ptx", "cubin", "ltoir", "PTX"):
        code = program.compile(target)
        assert code.code_type == target.lower()
        assert isinstance(code.code, bytes) and len(code.code) > 100
        assert code.name == "default_program"
    assert b".entry k" in program.compile("ptx").code
    assert not program.compile("ptx").code.endswith(b"\0")


def test_a_list_of_one_architecture_compiles_to_every_target():
    program = cucore.Program(EMPTY, "c++", {"arch": ["sm_90"]})
    assert b".target sm_90" in program.compile("ptx").code
    assert program.compile("ltoir").code_type == "ltoir"
    assert program.compile("cubin").images[0] == ("cubin", "sm_90")


def test_backend_and_repr_name_the_compiler():
    program = cucore.Program(EMPTY, "c++", ARCH)
    assert program.backend == "NVRTC" and program.backend is CompilerBackendType.NVRTC
    assert repr(program) == "<Program backend='NVRTC'>"
    ptx = program.compile("ptx").code.decode()
    assert cucore.Program(ptx, "ptx", ARCH).backend == "nvJitLink"


def test_ptx_source_compiles_to_a_cubin_and_back_to_itself():
    ptx = cucore.compile_ptx(EMPTY, ARCH).code.decode()
    program = cucore.Program(ptx, "ptx", {"arch": "sm_80", "name": "from_ptx"})
    cubin = program.compile("cubin")
    assert cubin.code[:4] == b"\x7fELF"
    assert cubin.name == "from_ptx"
    assert program.compile("ptx").code.decode() == ptx


def test_name_expressions_map_spellings_to_symbols():
    program = cucore.Program(TEMPLATE, "c++", ARCH)
    code = program.compile("cubin", ("fill<int>", b"fill< float >"))
    mapping = {"fill<int>": b"_Z4fillIiEvPT_S0_", "fill< float >": b"_Z4fillIfEvPT_S0_"}
    assert list(code.symbol_mapping.items()) == list(mapping.items())  # in the order of the names
    assert list(pickle.loads(pickle.dumps(code)).symbol_mapping.items()) == list(mapping.items())
    code.symbol_mapping.clear()  # a copy
    assert len(code.symbol_mapping) == 2


def test_name_expressions_may_be_one_string_or_a_generator():
    assert "fill<int>" in cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", "fill<int>").symbol_mapping
    names = (f"fill<{t}>" for t in ("int", "float"))
    assert len(cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", names).symbol_mapping) == 2


def test_a_name_expression_is_str_or_bytes():
    for name in (bytearray(b"fill<int>"), 5, None):
        with pytest.raises(TypeError, match=f"not {type(name).__name__}"):
            cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", [name])


def test_one_program_compiles_again_with_other_names():
    program = cucore.Program(TEMPLATE, "c++", ARCH)
    assert "fill<int>" in program.compile("ptx", ["fill<int>"]).symbol_mapping
    assert "fill<float>" in program.compile("cubin", ["fill<float>"]).symbol_mapping


def test_an_unknown_name_expression_is_in_the_error():
    with pytest.raises(cucore.NVRTCError, match="no_such_kernel"):
        cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", ["no_such_kernel<int>"])


def test_a_syntax_error_carries_the_log():
    with pytest.raises(cucore.NVRTCError, match="compilation log") as caught:
        cucore.Program("__global__ void k() { undefined_thing; }", "c++", ARCH).compile("ptx")
    error = caught.value
    assert error.code == 6 and error.name == "NVRTC_ERROR_COMPILATION"
    assert "undefined_thing" in error.log and "\0" not in error.log
    assert isinstance(error, cucore.CUDAError)


def test_a_ptx_syntax_error_carries_the_log_and_the_name():
    broken = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense"
    with pytest.raises(cucore.NvJitLinkError, match=r"broken\.ptx") as caught:
        cucore.Program(broken, "ptx", {**ARCH, "name": "broken.ptx"}).compile("cubin")
    assert "nonsense" in caught.value.log or "syntax" in caught.value.log


def test_warnings_go_to_logs():
    log = io.StringIO()
    source = 'extern "C" __global__ void k() { int unused = 3; }'
    cucore.Program(source, "c++", ARCH).compile("ptx", logs=log)
    assert "unused" in log.getvalue()


@pytest.mark.parametrize(
    ("code", "code_type", "options", "expected"),
    [
        (b"bytes", "c++", None, TypeError),
        (5, "ptx", None, TypeError),
        (EMPTY, "fortran", None, RuntimeError),
        (EMPTY, "fortran", {"use_libdevice": True}, ValueError),
        (PTX.replace("ret", "return"), "ptx", ARCH, cucore.NvJitLinkError),
        (PTX.replace("ret;", "ret"), "ptx", None, cucore.NvJitLinkError),
        (EMPTY, "c++", {"extra_sources": [("a", "b")]}, ValueError),
        (EMPTY, "c++", "not options", TypeError),
        (EMPTY, "c++", {"no_such_option": 1}, TypeError),
        (EMPTY + "\0 more", "c++", None, ValueError),
    ],
)
def test_constructor_refuses(code, code_type, options, expected):
    with pytest.raises(expected):
        cucore.Program(code, code_type, options)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("fatbin", {}),
        ("exe", {}),
        ("cubin", {"arch": "compute_80"}),
    ],
)
def test_targets_that_cannot_be_are_refused(target, options):
    with pytest.raises(ValueError, match="Unsupported target_type|arch"):
        cucore.Program(EMPTY, "c++", {**ARCH, **options}).compile(target)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": 3}, "name"),
        ({"extra_sources": "ab"}, "must be a sequence of 2-tuples"),
        ({"extra_sources": ["ab"]}, "must be a 2-tuple"),
        ({"extra_sources": [(1, "b")]}, "Module name at index"),
        ({"extra_sources": [("a", 1)]}, "Module source at index"),
        ({"extra_sources": [("a", "")]}, "cannot be empty"),
    ],
)
def test_options_are_checked_when_they_are_made(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        cucore.ProgramOptions(**options)


def test_options_become_flags_in_order():
    options = cucore.ProgramOptions(
        arch="sm_90a",
        relocatable_device_code=True,
        lineinfo=True,
        ptxas_options=["-v", "-O2"],
        max_register_count=32,
        fma=False,
        define_macro=[("A", "1"), "B", ("C", "x y")],
        include_path="inc",
        std="c++17",
        diag_suppress=[1, 2],
        debug=False,
    )
    assert options.as_bytes("nvrtc", "ltoir") == [
        b"-arch=sm_90a",
        b"--relocatable-device-code=true",
        b"--generate-line-info",
        b"--ptxas-options=-v",
        b"--ptxas-options=-O2",
        b"--maxrregcount=32",
        b"--fmad=false",
        b"--define-macro=A=1",
        b"--define-macro=B",
        b"--define-macro=C=x y",
        b"--include-path=inc",
        b"--std=c++17",
        b"--diag-suppress=1",
        b"--diag-suppress=2",
    ]


def test_a_number_of_a_message_may_be_numpys():
    numpy = pytest.importorskip("numpy")
    for numbers in (numpy.int64(177), numpy.array([177])):
        options = cucore.ProgramOptions(arch="sm_90", diag_suppress=numbers)
        assert options.as_bytes("nvrtc") == [b"-arch=sm_90", b"--diag-suppress=177"]


def test_a_pair_of_strings_is_one_macro_and_a_list_is_several():
    assert b"--define-macro=A=B" in cucore.ProgramOptions(**ARCH, define_macro=("A", "B")).as_bytes("nvrtc")
    flags = cucore.ProgramOptions(**ARCH, define_macro=["A", "B"]).as_bytes("nvrtc")
    assert b"--define-macro=A" in flags and b"--define-macro=B" in flags


@pytest.mark.parametrize("macro", [("A",), ("A", 1), 5, [("A", "B", "C")]])
def test_a_malformed_macro_is_refused_when_flags_are_made(macro):
    options = cucore.ProgramOptions(**ARCH, define_macro=macro)
    with pytest.raises(RuntimeError, match="Expected define_macro"):
        options.as_bytes("nvrtc")


def test_options_the_backend_lacks_are_all_named():
    options = cucore.ProgramOptions(**ARCH, lineinfo=True, std="c++17")
    with pytest.raises(cucore.CUDAError, match="not supported by NVVM backend") as caught:
        options.as_bytes("nvvm")
    assert "lineinfo" in str(caught.value) and "std" in str(caught.value)
    with pytest.raises(ValueError, match="Unknown backend"):
        options.as_bytes("gcc")


def test_options_show_and_compare_by_their_fields():
    options = cucore.ProgramOptions(name="a", arch="sm_80", debug=True)
    assert repr(options) == "ProgramOptions(name='a', arch='sm_80')"
    assert options == cucore.ProgramOptions(name="a", arch="sm_80", debug=True)
    assert options != cucore.ProgramOptions(name="a", arch="sm_80")
    assert cucore.ProgramOptions(name=None).name == "default_program"
    with pytest.raises(TypeError):
        hash(options)


def test_times_go_to_a_file_or_to_the_log_of_the_linker(tmp_path):
    cucore.Program(EMPTY, "c++", {**ARCH, "time": tmp_path / "t.csv"}).compile("ptx")
    assert (tmp_path / "t.csv").stat().st_size > 0
    for time, told in ((True, True), ("t.csv", True), (False, False), ("", False)):
        log = io.StringIO()
        cucore.Program(PTX, "ptx", {**ARCH, "time": time}).compile("cubin", logs=log)
        assert ("time" in log.getvalue()) is told
    assert cucore.ProgramOptions(**ARCH, time=False).as_bytes("nvrtc") == [b"-arch=sm_80"]


def test_headers_come_from_memory():
    options = {"arch": "sm_80", "headers": {"value.h": "#define VALUE 42"}}
    code = cucore.Program('#include "value.h"\nextern "C" __device__ int v = VALUE;', "c++", options).compile("ptx")
    assert b"42" in code.code


def test_a_cubin_carries_its_ptx_unless_told_otherwise():
    assert ".entry k" in cucore.Program(EMPTY, "c++", ARCH).compile("cubin").ptx
    assert cucore.Program(EMPTY, "c++", {**ARCH, "embed_ptx": False}).compile("cubin").ptx is None


def test_close_is_final_and_may_be_repeated():
    with cucore.Program(EMPTY, "c++", ARCH) as program:
        assert not program.is_closed
    assert program.is_closed and program
    program.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        program.compile("ptx")


def test_programs_compile_in_parallel_and_one_program_in_turn():
    shared = cucore.Program(TEMPLATE, "c++", ARCH)
    results, errors = [], []

    def work(index):
        try:
            own = cucore.Program(EMPTY.replace(" k(", f" k{index}("), "c++", ARCH).compile("ptx")
            results.append((f"k{index}".encode() in own.code, shared.compile("ptx", ["fill<int>"])))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and len(results) == 4 and all(ok for ok, _ in results)


def test_messages_are_data_on_success_and_on_failure():
    program = cucore.Program('extern "C" __global__ void k() { int unused; }', "c++", {**ARCH, "name": "w.cu"})
    assert program.diagnostics == []
    program.compile("ptx")
    (message,) = program.diagnostics
    assert (message.file, message.line, message.severity) == ("w.cu", 1, "warning")
    assert "unused" in message.text and message.number == 177 and message.column > 0 and "unused" in message.context
    broken = cucore.Program("\n__global__ void k() { nothing_known; }", "c++", {**ARCH, "name": "b.cu"})
    with pytest.raises(cucore.NVRTCError) as caught:
        broken.compile("ptx")
    assert broken.diagnostics == caught.value.diagnostics
    assert [(d.file, d.line, d.severity) for d in broken.diagnostics] == [("b.cu", 2, "error")]


def test_the_handle_is_the_compilers_program_as_an_int():
    with cucore.Program(EMPTY, "c++", ARCH) as program:
        handle = program.handle
        assert isinstance(handle, int) and int(handle) > 0 and type(handle).__name__ == "nvrtcProgram"
        program.compile("ptx")
        assert int(program.handle) == int(handle)
    assert int(program.handle) == 0  # closed
    ptx = cucore.compile_ptx(EMPTY, ARCH).code.decode()
    assert cucore.Program(ptx, "ptx", ARCH).handle > 0


@pytest.mark.parametrize(
    "include",
    [
        "cuda_fp16.h",
        "cuda_bf16.h",
        "mma.h",
        "cooperative_groups.h",
        "cuda/std/type_traits",
        "cub/block/block_reduce.cuh",
    ],
)
def test_the_toolkits_headers_are_found_without_an_option(include):
    source = f'#include <{include}>\nextern "C" __global__ void k() {{}}'
    assert cucore.compile_ptx(source, ARCH).code
    with pytest.raises(cucore.NVRTCError, match="not open source file") as caught:
        cucore.compile_ptx(source, {**ARCH, "toolkit_headers": False})
    assert "include_path" in caught.value.hint


def test_what_the_linker_lacks_is_refused_by_name_when_the_program_is_made():
    ptx = cucore.compile_ptx(EMPTY, ARCH).code.decode()
    with pytest.raises(cucore.UnsupportedOptionError, match="std, restrict") as caught:
        cucore.Program(ptx, "ptx", {**ARCH, "std": "c++17", "restrict": True, "use_libdevice": True})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, cucore.NvJitLinkError)
    assert cucore.Program(ptx, "ptx", {**ARCH, "restrict": False, "use_fast_math": True}).compile("cubin").code


NVVM = """target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-\
f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare float @__nv_sinf(float)
define void @k(float* %p) {
  %v = call float @__nv_sinf(float 1.0)
  store float %v, float* %p, align 4
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float*)* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


@pytest.mark.parametrize("form", [str, str.encode, lambda text: bytearray(text, "utf8")])
def test_nvvm_ir_becomes_ptx_and_ltoir(form):
    program = cucore.Program(form(NVVM), "nvvm", {**ARCH, "name": "m", "use_libdevice": True})
    assert program.backend == CompilerBackendType.NVVM and repr(program) == "<Program backend='NVVM'>"
    code = program.compile("ptx")
    assert b".entry k" in code.code and b".extern" not in code.code and code.name == "m"
    assert len(program.compile("ltoir").code) > 100 and isinstance(program.handle, int)
    with pytest.raises(ValueError, match='Unsupported target_type="cubin" for NVVM'):
        program.compile("cubin")


def test_nvvm_errors_carry_the_log_and_its_place():
    with pytest.raises(cucore.NVVMError, match="broken") as caught:
        cucore.Program(NVVM.replace("ret void", "ret voi"), "nvvm", {**ARCH, "name": "broken"}).compile("ptx")
    assert caught.value.name == "NVVM_ERROR_INVALID_IR" and caught.value.diagnostics[0].line == 7
    for bad in (5, None, [NVVM]):
        with pytest.raises(TypeError):
            cucore.Program(bad, "nvvm", ARCH)
    with pytest.raises(cucore.CUDAError, match="not supported by NVVM backend: ptxas_options, std"):
        cucore.Program(NVVM, "nvvm", {**ARCH, "std": "c++17", "ptxas_options": "-v"})


def test_precompiled_headers_are_made_and_used(tmp_path):
    header = tmp_path / "big.h"
    header.write_text("template <class T> __device__ T twice(T x) { return x + x; }\n")
    source = '#include "big.h"\nextern "C" __global__ void k(int* x) { *x = twice(21); }'
    options = {**ARCH, "include_path": str(tmp_path)}
    made = cucore.Program(source, "c++", {**options, "create_pch": str(tmp_path / "big.pch")})
    assert made.pch_status is None
    first = made.compile("ptx")
    assert made.pch_status == "created" and (tmp_path / "big.pch").stat().st_size > 0
    used = cucore.Program(source, "c++", {**options, "use_pch": str(tmp_path / "big.pch")})
    assert used.compile("ptx").code == first.code
    assert cucore.Program(source, "c++", options).pch_status is None


SEVERAL = {"arch": ["sm_80", "sm_90", "compute_90"]}


def test_several_architectures_are_one_object(tmp_path):
    program = cucore.Program(TEMPLATE, "c++", SEVERAL)
    code = program.compile("cubin", ["fill<int>"])
    assert code.code_type == "fatbin" and "fill<int>" in code.symbol_mapping
    assert {("cubin", "sm_80"), ("cubin", "sm_90"), ("ptx", "compute_80"), ("ptx", "compute_90")} == set(code.images)
    assert program.compile("fatbin", ["fill<int>"]).code == code.code
    code.save(tmp_path / "code")
    assert cucore.ObjectCode.from_saved(tmp_path / "code").images == code.images
    alone = cucore.Program(EMPTY, "c++", {"arch": ("sm_80", "sm_90"), "embed_ptx": False}).compile("cubin")
    assert sorted(alone.images) == [("cubin", "sm_80"), ("cubin", "sm_90")]
    ptx = cucore.compile_ptx(EMPTY, ARCH).code.decode()
    linked = cucore.Program(ptx, "ptx", {"arch": ["sm_80", "sm_90"]}).compile("cubin")
    assert sorted(linked.images) == [("cubin", "sm_80"), ("cubin", "sm_90"), ("ptx", "compute_80")]


@pytest.mark.parametrize("cache", [cucore.ProgramCache, cucore.utils.FileStreamProgramCache])
def test_several_architectures_are_cached_as_one(cache, tmp_path):
    for _ in range(2):
        program = cucore.Program(EMPTY, "c++", SEVERAL)
        code = program.compile("cubin", cache=cache(tmp_path))
        assert code.code_type == "fatbin" and len(code.images) == 4
    assert program.last_report["cache"] == "hit"


@pytest.mark.parametrize(
    ("kind", "arch", "target"),
    [
        ("c++", ["sm_80", "sm_90"], "ptx"),
        ("c++", ["sm_80", "sm_90"], "ltoir"),
        ("c++", ["sm_80", "sm_80"], "cubin"),
        ("c++", ["sm_80", "bad"], "cubin"),
        ("nvvm", ["sm_80", "sm_90"], "ptx"),
    ],
)
def test_what_several_architectures_cannot_give_is_refused(kind, arch, target):
    with pytest.raises(ValueError, match="several|arch"):
        cucore.Program(EMPTY, kind, {"arch": arch}).compile(target)


@pytest.mark.parametrize(("driver", "warns"), [(12000, True), (99000, False), (None, False)])
def test_ptx_that_an_older_driver_may_not_load_is_warned_of(driver, warns, monkeypatch, tmp_path):
    monkeypatch.setattr(cucore._seam, "open_driver_version", lambda: driver)
    cache = cucore.ProgramCache(tmp_path)
    program = cucore.Program(EMPTY, "c++", ARCH)
    for result in ("miss", "hit"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert program.compile("ptx", cache=cache).code
            assert program.compile("cubin").code
        assert program.last_report["cache"] == "not used"
        assert [w.category for w in caught] == [RuntimeWarning] * warns, result
    assert cache.stats.hits == 1


def test_compile_works_where_no_driver_is(tmp_path):
    program = """
        import cucore
        cucore.compile_ptx("__global__ void k() {}", {"arch": "sm_80"})
        code = cucore.compile_cubin("__global__ void k() {}", {"arch": "sm_80"})
        cache = cucore.ProgramCache(__import__("sys").argv[1])
        cucore.Program(code.ptx, "ptx", {"arch": "sm_80"}).compile("cubin", cache=cache)
        try:
            cucore.compile_ptx("__global__ void k() {}")
        except ValueError as error:
            assert "set arch" in str(error), error
        else:
            raise AssertionError("compiled for no device")
        """
    result = run_python(program, tmp_path, env={"CUCORE_DEVICE": "cpu", "CUCORE_CPU_DRIVER": "/nonexistent"})
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("names", ["fill<int>", (n for n in ["fill<int>"]), [b"fill<int>"]])
def test_every_form_of_name_expressions_maps_to_a_symbol(names):
    mapping = cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", names).symbol_mapping
    assert mapping == {"fill<int>": b"_Z4fillIiEvPT_S0_"}


def test_compile_ptx_is_the_short_form():
    code = cucore.compile_ptx(TEMPLATE, ARCH, ["fill<int>"])
    assert code.code_type == "ptx" and "fill<int>" in code.symbol_mapping
    assert cucore.compile_cubin(TEMPLATE, ARCH, ["fill<int>"]).code[:4] == b"\x7fELF"
    assert cucore.compile_ltoir(EMPTY, ARCH).code_type == "ltoir"


def test_the_headers_that_nvrtc_carries_stand_in_for_a_toolkit(tmp_path, monkeypatch):
    monkeypatch.setenv("CUCORE_CACHE_DIR", str(tmp_path))
    source = "#include <cuda_fp16.h>\n__global__ void k(__half* x) { *x = __float2half(1.5f); }"
    options = {"arch": "sm_90", "use_bundled_headers": True}
    if cucore.toolkit_info().nvrtc.version < (13, 3):
        with pytest.raises(RuntimeError, match=r"use_bundled_headers needs NVRTC 13\.3"):
            cucore.Program(source, "c++", options)
    else:
        assert cucore.Program(source, "c++", options).compile("ptx").kernels
        assert list(tmp_path.glob("nvrtc-headers-*/**/cuda_fp16.h"))
    with pytest.raises((cucore.UnsupportedOptionError, RuntimeError), match="use_bundled_headers"):
        cucore.Program(".version 7.0", "ptx", {"use_bundled_headers": True})
