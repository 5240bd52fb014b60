"""Options that say nothing to the compiler of a Program, or nothing useful: it compiles, and a warning tells."""

import pytest

import cucore

EMPTY = 'extern "C" __global__ void k() {}'
ARCH = {"arch": "sm_80"}
PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"


@pytest.mark.parametrize("nothing", [False, ""])
@pytest.mark.parametrize(
    "option", ["include_path", "pre_include", "pch_dir", "use_pch", "create_pch", "fdevice_time_trace", "time"]
)
def test_a_path_that_is_false_or_empty_is_none(option, nothing):
    options = cucore.ProgramOptions(**ARCH, **{option: nothing})
    assert options.as_bytes("nvrtc") == [b"-arch=sm_80"]
    assert cucore.Program(EMPTY, "c++", options).compile("ptx").code


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_link_time_optimization_is_left_out_with_a_warning_where_it_would_leave_nothing(target):
    plain = cucore.Program(EMPTY, "c++", ARCH).compile(target)
    with pytest.warns(UserWarning, match=f"left out for target '{target}'"):
        code = cucore.Program(EMPTY, "c++", {**ARCH, "link_time_optimization": True}).compile(target)
    assert bytes(code.code) == bytes(plain.code)


def test_a_check_of_the_syntax_is_warned_of_and_gives_nothing_empty():
    with pytest.warns(UserWarning, match="fdevice_syntax_only"):
        program = cucore.Program(EMPTY, "c++", {**ARCH, "fdevice_syntax_only": True})
    assert program.compile("ptx").code and b".entry" not in program.compile("ptx").code
    assert program.compile("cubin").code and program.compile("ltoir").code


@pytest.mark.parametrize("option", ["numba_debug", "fdevice_syntax_only"])
def test_an_option_that_says_nothing_of_ptx_is_ignored_with_a_warning(option):
    with pytest.warns(UserWarning, match=f"{option} is ignored"):
        program = cucore.Program(PTX, "ptx", {**ARCH, option: True})
    assert bytes(program.compile("cubin").code) == bytes(cucore.Program(PTX, "ptx", ARCH).compile("cubin").code)


def test_a_time_without_a_file_is_warned_of_and_compiles_without_it():
    with pytest.warns(UserWarning, match="path of a file"):
        program = cucore.Program(EMPTY, "c++", {**ARCH, "time": True})
    assert program.compile("ptx").code
