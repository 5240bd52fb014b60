"""Options that change after a Program was made of them."""

import pytest

import cucore

PTX = cucore.Program('extern "C" __global__ void k() {}', "c++", {"arch": "sm_80"}).compile("ptx").code.decode()
ARCH = {"arch": "sm_80"}


def test_each_compile_heeds_what_has_changed_in_the_options_but_for_the_name():
    options = cucore.ProgramOptions(arch="sm_80", define_macro=["VALUE=11"], name="first")
    program = cucore.Program('extern "C" __device__ int v = VALUE;', "c++", options)
    cache = cucore.ProgramCache()
    assert b"v = 11" in program.compile("ptx", cache=cache).code
    options.define_macro[0], options.name = "VALUE=22", "second"
    for _ in range(2):
        code = program.compile("ptx", cache=cache)
        assert b"v = 22" in code.code and code.name == "first"
    options.arch = "nonsense"
    with pytest.raises(cucore.NVRTCError, match="nonsense"):
        program.compile("ptx")
    options.arch = "sm_90"
    assert b".target sm_90" in program.compile("ptx").code
    program.close()
    options.arch = "sm_80"
    with pytest.raises(RuntimeError, match="closed"):
        program.compile("ptx")


def test_a_program_of_ptx_keeps_the_options_that_its_linker_was_made_with():
    options = cucore.ProgramOptions(**ARCH)
    program = cucore.Program(PTX, "ptx", options)
    options.arch = "nonsense"
    assert program.compile("cubin").code
