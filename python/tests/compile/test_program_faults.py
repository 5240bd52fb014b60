"""Options that the compiler would refuse: kept as they are given, and its error when they are used."""

import pytest

import cucore

ARCH = {"arch": "sm_90"}
EMPTY = 'extern "C" __global__ void k() {}'


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arch": "hopper"}, "arch='hopper'"),
        ({"arch": 5}, "arch='5'"),
        ({"arch": []}, "arch="),
        ({"ptxas_options": 5}, "ptxas_options=5"),
        ({"diag_error": "one"}, "diag_error='one'"),
        ({"max_register_count": "many"}, "max_register_count='many'"),
        ({"std": "c89"}, "std"),
        ({"std": 17}, "std='17'"),
        ({"ofast_compile": "very"}, "ofast_compile"),
    ],
)
def test_what_the_compiler_would_refuse_is_its_error_when_it_compiles(options, words):
    program = cucore.Program(EMPTY, "c++", {**ARCH, **options})
    for kind in (cucore.NVRTCError, ValueError):
        for _ in range(2):
            with pytest.raises(kind, match=words) as caught:
                program.compile("ptx")
    assert caught.value.name == "NVRTC_ERROR_INVALID_OPTION"
    with pytest.raises(cucore.NVRTCError, match=words):
        program.compile("cubin", cache=cucore.utils.InMemoryProgramCache())
    with pytest.raises(cucore.CompileErrors) as together:
        cucore.compile_all([program])
    assert isinstance(together.value.exceptions[0], cucore.NVRTCError)
    ptx = cucore.compile_ptx(EMPTY, ARCH).code.decode()
    if "max_register_count" in options:
        with pytest.raises(cucore.NvJitLinkError, match=words):
            cucore.Program(ptx, "ptx", {**ARCH, **options})


def test_numbers_are_taken_where_words_are_expected():
    options = cucore.ProgramOptions(arch="sm_90", frandom_seed=5, ofast_compile=0, ptxas_options=[5])
    assert options.as_bytes("nvrtc") == [
        b"-arch=sm_90", b"--ptxas-options=5", b"--frandom-seed=5", b"--Ofast-compile=0"
    ]  # fmt: skip
