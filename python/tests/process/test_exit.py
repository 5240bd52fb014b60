"""However a process ends: exit status as asked, nothing on stderr, nothing alive at exit."""

import re

import pytest
from conftest import run_python
from exit_scenarios import SCENARIOS, START
from exit_threads import THREADS

SCENARIOS = SCENARIOS | THREADS
LEAKS = {"CUCORE_CPU_REPORT_LEAKS": "1"}


def run(text, environment=None, **keywords):
    return run_python(text, env=LEAKS | (environment or {}), **keywords)


def test_the_matrix_is_large():
    assert len(SCENARIOS) >= 60


@pytest.mark.parametrize("name", SCENARIOS)
def test_exit(name):
    scenario = SCENARIOS[name]
    if scenario.cpu_only and not is_cpu():
        pytest.skip(scenario.cpu_only)
    done = run(START + ("make()\n" if scenario.made else "") + scenario.text, scenario.environment)
    assert done.stdout == scenario.stdout
    if scenario.stderr is None:
        assert done.stderr.endswith(scenario.stderr_ends), done.stderr
        errors = re.findall(r"^\w*Error", done.stderr, re.MULTILINE)
        assert len(errors) <= 1 and "alive at exit" not in done.stderr, done.stderr
    else:
        assert done.stderr == scenario.stderr
    assert done.returncode == scenario.status


def test_what_is_alive_at_exit_is_reported_with_its_place():
    """The check above can fail: a reference that nobody gives back is found."""
    if not is_cpu():
        pytest.skip("the CPU device counts live objects")
    done = run(START + "make()\nimport ctypes\nctypes.pythonapi.Py_IncRef(ctypes.py_object(pool.get()))\n")
    assert done.returncode == 0
    assert "1 objects are alive at exit" in done.stderr and "Event 0x" in done.stderr and "<string>:" in done.stderr


def is_cpu():
    import cucore

    return cucore.driver_info().kind == "cpu"
