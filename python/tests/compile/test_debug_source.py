"""Source that a debugger can show: a Program with line information and no name of its own writes it to a file."""

import gc
import re
import tempfile
from pathlib import Path

import pytest

import cucore

SOURCE = """
#include "beside.h"
extern "C" __global__ void __launch_bounds__(32) count(int* out) { *out = BESIDE + __LINE__; }
"""


@pytest.fixture(autouse=True)
def beside(tmp_path, monkeypatch):
    """The current folder, where quoted includes are looked for."""
    (tmp_path / "beside.h").write_text("#define BESIDE 5\n")
    monkeypatch.chdir(tmp_path)


def program(**options):
    return cucore.Program(SOURCE, "c++", {"arch": "sm_80", "lineinfo": True, **options})


def files_of(code):
    """The files that the line information of PTX names."""
    return [Path(name.decode()) for name in re.findall(rb'\.file\s+\d+\s+"([^"]*)"', code.code)]


def written(code):
    (path,) = [path for path in files_of(code) if path.parent == Path(tempfile.gettempdir())]
    return path


@pytest.mark.parametrize("options", [{}, {"debug": True, "lineinfo": None}])
def test_line_information_names_a_file_with_the_source_until_the_program_is_closed(options):
    made = program(**options)
    code = made.compile("ptx")
    path = written(code)
    assert path.read_text() == SOURCE
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.name.startswith("test_debug_source_count_") and path.suffix == ".cu"
    assert code.name == str(path)
    assert made.compile("ptx", ["count"]).get_kernel("count").num_arguments == 1
    made.close()
    assert not path.exists()
    made.close()


def test_the_file_goes_with_the_last_program_of_that_source():
    first, second = program(), program()
    path = written(first.compile("ptx"))
    assert written(second.compile("ptx")) == path
    del first
    gc.collect()
    assert path.exists()
    del second
    gc.collect()
    assert not path.exists()


def test_compiles_stay_reproducible():
    assert program().compile("cubin").code == program().compile("cubin").code


def test_lines_and_messages_are_those_of_the_source():
    with pytest.raises(cucore.NVRTCError) as raised:
        cucore.Program("\n\nbroken", "c++", {"arch": "sm_80", "lineinfo": True}).compile("ptx")
    assert raised.value.diagnostics[0].line == 3
    assert re.search(rb"(mov|st)\S* .*\b8;", program().compile("ptx").code)  # BESIDE + line 3


@pytest.mark.parametrize("options", [{"name": "mine.cu"}, {"lineinfo": None}])
def test_a_name_or_no_line_information_writes_no_file(options):
    before = set(Path(tempfile.gettempdir()).glob("test_debug_source_*"))
    made = program(**options)
    made.compile("ptx")
    assert set(Path(tempfile.gettempdir()).glob("test_debug_source_*")) == before


def test_where_no_file_can_be_written_it_compiles_without(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    code = program().compile("ptx")
    assert all("test_debug_source" not in path.name for path in files_of(code))


def test_a_file_that_somebody_else_has_put_there_is_not_trusted(monkeypatch, tmp_path):
    first = program()
    path = written(first.compile("ptx"))
    first.close()
    path.write_text("something else")
    try:
        code = program().compile("ptx")
        assert path not in files_of(code)
        assert path.read_text() == "something else"
    finally:
        path.unlink()
