"""What the exception says of a kernel that failed on the CPU device: which kernel, block and thread, and where."""

from pathlib import Path

import pytest
from conftest import run_python

import cucore

PROGRAM = """
import sys
import cucore
device = cucore.Device()
device.set_current()
stream = device.create_stream()
options = {"arch": f"sm_{device.arch}", "lineinfo": True, "name": sys.argv[1]}
code = cucore.Program(open(sys.argv[1]).read(), "c++", options).compile("cubin", ["fail<int>"])
cucore.launch(stream, cucore.LaunchConfig(grid=4, block=32), code.get_kernel("fail<int>"), 5)
try:
    stream.sync()
except cucore.CUDAStickyError as error:
    print("log:", error.log)
    print("hint:", error.hint)
    print("text:", error)
"""


def fault(tmp_path, statement, **environment):
    if cucore.driver_info().kind != "cpu":
        pytest.skip("a GPU does not tell")
    source = Path(tmp_path) / "fail.cu"
    source.write_text(f"template <class T> __global__ void fail(T n) {{\n  {statement}\n}}\n")
    done = run_python(PROGRAM, source, env={"CUCORE_CPU_CACHE": "0", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wrong_access_is_told_with_kernel_block_line_and_source(tmp_path):
    said = fault(tmp_path, "if (blockIdx.x == 3) *(volatile T*)64 = n;")
    log = said.split("log: ")[1].split("\nhint: ")[0]
    assert "kernel void fail<int>(int), block (3,0,0)" in log and "fail.cu:2 (PTX line " in log, said
    assert "address 0x40" in log and "if (blockIdx.x == 3) *(volatile T*)64 = n;" in log, said
    assert log in said.split("text: ")[1] and "fault:\n" in said
    assert "compute-sanitizer" not in said


def test_a_trap_is_told_with_its_thread(tmp_path):
    said = fault(tmp_path, 'if (blockIdx.x == 2 && threadIdx.x == n) asm volatile("trap;");')
    assert "block (2,0,0), thread (5,0,0)" in said.split("hint: ")[0], said


def test_what_the_checker_found_is_the_log(tmp_path):
    said = fault(tmp_path, "if (threadIdx.x == 6) *(volatile T*)64 = n;", CUCORE_CPU_CHECK="memory")
    log = said.split("hint: ")[0]
    assert "Invalid __global__" in log or "Invalid" in log, said
    assert "thread (6,0,0)" in log and "source: if (threadIdx.x == 6)" in log, said
