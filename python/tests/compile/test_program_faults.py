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


@pytest.mark.parametrize("make", [cucore.ObjectCode.from_ptx, cucore.ObjectCode.from_ltoir])
@pytest.mark.parametrize("options", [{}, ARCH])
def test_what_does_not_look_like_code_is_refused_when_the_linker_is_made(make, options):
    with pytest.raises(cucore.NvJitLinkError, match="broken"):
        cucore.Linker(make(b"junk" * 9, name="broken"), options=options)
    with pytest.raises(cucore.NvJitLinkError, match="/none/such"):
        cucore.Linker(make("/none/such"), options=options)


def test_ptx_for_a_newer_architecture_is_refused_when_the_program_is_made():
    ptx = cucore.Program(EMPTY, "c++", ARCH).compile("ptx").code.decode()
    with pytest.raises(cucore.NvJitLinkError):
        cucore.Program(ptx, "ptx", {"arch": "sm_80"})
    assert cucore.Program(ptx, "ptx", {"arch": "sm_90a"}).compile("cubin").code_type == "cubin"


@pytest.mark.parametrize("value", [True, False])
def test_a_bool_is_no_number_to_an_option(value):
    with pytest.raises(TypeError, match="max_register_count"):
        cucore.LinkerOptions(max_register_count=value, **ARCH).as_bytes()
    with pytest.raises(cucore.NVRTCError, match="max_register_count"):
        cucore.Program(EMPTY, "c++", {"max_register_count": value, **ARCH}).compile("ptx")
