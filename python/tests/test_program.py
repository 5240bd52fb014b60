"""Compiling: options, targets, names, logs, errors. Needs no driver."""

import io
import threading

import pytest

import cucore
from cucore.typing import CompilerBackendType

EMPTY = 'extern "C" __global__ void k() {}'
TEMPLATE = "template <class T> __global__ void fill(T* x, T value) { *x = value; }"
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
    assert code.symbol_mapping == {"fill<int>": "_Z4fillIiEvPT_S0_", "fill< float >": "_Z4fillIfEvPT_S0_"}
    code.symbol_mapping.clear()  # a copy
    assert len(code.symbol_mapping) == 2


def test_name_expressions_may_be_one_string_or_a_generator():
    assert "fill<int>" in cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", "fill<int>").symbol_mapping
    names = (f"fill<{t}>" for t in ("int", "float"))
    assert len(cucore.Program(TEMPLATE, "c++", ARCH).compile("ptx", names).symbol_mapping) == 2


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


def test_a_ptx_syntax_error_carries_the_log():
    with pytest.raises(cucore.NvJitLinkError) as caught:
        cucore.Program(".version 8.0\n.target sm_80\n.address_size 64\nnonsense", "ptx", ARCH).compile("cubin")
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
        ("ptx", {"link_time_optimization": True}),
    ],
)
def test_targets_that_cannot_be_are_refused(target, options):
    with pytest.raises(ValueError, match="Unsupported target_type|arch|link_time"):
        cucore.Program(EMPTY, "c++", {**ARCH, **options}).compile(target)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arch": "hopper"}, "arch='hopper'"),
        ({"ptxas_options": 5}, "ptxas_options=5"),
        ({"diag_error": "20012"}, "diag_error='20012'"),
        ({"max_register_count": "many"}, "max_register_count='many'"),
        ({"std": "c89"}, "std"),
        ({"ofast_compile": "very"}, "ofast_compile"),
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
        b"--dlink-time-opt",
        b"--define-macro=A=1",
        b"--define-macro=B",
        b"--define-macro=C=x y",
        b"--include-path=inc",
        b"--std=c++17",
        b"--diag-suppress=1",
        b"--diag-suppress=2",
    ]


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


def test_a_program_does_not_see_later_changes_of_its_options():
    options = cucore.ProgramOptions(arch="sm_80", define_macro=["VALUE=1"])
    program = cucore.Program('extern "C" __device__ int v = VALUE;', "c++", options)
    options.define_macro.append("BROKEN(")
    options.arch = "nonsense"
    assert program.compile("ptx").code


def test_headers_come_from_memory():
    options = {"arch": "sm_80", "headers": {"value.h": "#define VALUE 42"}}
    code = cucore.Program('#include "value.h"\nextern "C" __device__ int v = VALUE;', "c++", options).compile("ptx")
    assert b"42" in code.code


def test_a_cubin_carries_its_ptx_unless_told_otherwise():
    assert ".entry k" in cucore.Program(EMPTY, "c++", ARCH).compile("cubin").ptx
    assert cucore.Program(EMPTY, "c++", {**ARCH, "embed_ptx": False}).compile("cubin").ptx is None


def test_close_is_final_and_may_be_repeated():
    with cucore.Program(EMPTY, "c++", ARCH) as program:
        assert program and not program.is_closed
    assert not program and program.is_closed
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


def test_compile_ptx_is_the_short_form():
    code = cucore.compile_ptx(TEMPLATE, ARCH, ["fill<int>"])
    assert code.code_type == "ptx" and "fill<int>" in code.symbol_mapping
