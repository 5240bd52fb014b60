"""CUCORE_CPU_REPORT=forms: the form of code that each kernel gets, and what keeps it from the vector form."""

import re

import pytest
from conftest import run_python

import cucore

SOURCE = """
template <class T> __global__ void scale(T* p) { p[threadIdx.x] *= 2; }
extern "C" __global__ void count(int* p) {
  asm volatile("bar.arrive 1, 1024;");
  p[threadIdx.x] += 1;
}
"""

PROGRAM = f"""
import cucore
device = cucore.Device()
device.set_current()
stream = device.create_stream()
options = cucore.ProgramOptions(name="forms.cu", lineinfo=True, arch="sm_80")
code = cucore.Program('''{SOURCE}''', "c++", options).compile("ptx", ["scale<float>"])
memory = device.allocate(4096, stream=stream)
many = {{"scale<float>": 1 << 17, "count": 64}}  # the first so many that it waits for vectors
for kernel in many:
    for times in range(2):
        for grid in (1, many[kernel]):
            cucore.launch(stream, cucore.LaunchConfig(grid=grid, block=128), code.get_kernel(kernel), memory)
            stream.sync()
"""

CHANGING_PROGRAM = (
    PROGRAM[: PROGRAM.index("many =")]
    + """
import time
kernel = code.get_kernel("scale<float>")
config = cucore.LaunchConfig(grid=64, block=128)
for times in range(50):
    for launches in range(200):
        cucore.launch(stream, config, kernel, memory)
    stream.sync()
    time.sleep(0.05)
"""
)
UNTIL_LATER = "scalar form, until it has run for long enough to compile its vector form"
FEW = "scalar form, as long as it has run few threads or in small blocks"
REFUSED = "scalar form, because of a barrier of part of a block at forms.cu:4 (PTX line N: bar.arrive)"
ASKED = "scalar form, as the environment asks"
FORMS = {  # of the kernel that has every form, and of the one that has not
    "auto": ([FEW, "vector form, for blocks of 128x1x1 threads"], [FEW, REFUSED]),
    "vector": (["vector form, for blocks of 128x1x1 threads"], [REFUSED]),
    "masked": (["masked form, for blocks of 128x1x1 threads"], [REFUSED]),
    "scalar": ([ASKED], [ASKED]),
}


@pytest.fixture(autouse=True)
def only_on_the_cpu_device():
    if cucore.driver_info().kind != "cpu":
        pytest.skip("only the CPU device has forms of code")


def said(form, report):
    done = run_python(PROGRAM, env={"CUCORE_CPU_FORM": form, "CUCORE_CPU_REPORT": report})
    assert done.returncode == 0, done.stderr
    return re.sub(r"at \S*/forms.cu", "at forms.cu", re.sub(r"PTX line \d+", "PTX line N", done.stderr))


@pytest.mark.parametrize("form", FORMS)
def test_each_kernel_says_once_which_forms_it_gets_and_why(form):
    lines = [
        f"cucore CPU device: kernel {kernel}: {got}\n"
        for kernel, forms in zip(("void scale<float>(float*)", "count"), FORMS[form], strict=True)
        for got in forms
    ]
    assert said(form, "stderr,forms") == "".join(lines)


def test_nothing_is_said_that_was_not_asked_for():
    assert said("vector", "stderr") == ""


def test_a_kernel_that_changes_its_form_says_both():
    done = run_python(CHANGING_PROGRAM, env={"CUCORE_CPU_REPORT": "forms", "CUCORE_CPU_CACHE": "0"})
    assert done.returncode == 0, done.stderr
    lines = [UNTIL_LATER, "vector form, for blocks of 128x1x1 threads"]
    assert done.stderr == "".join(f"cucore CPU device: kernel void scale<float>(float*): {line}\n" for line in lines)
