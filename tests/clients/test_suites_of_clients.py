"""Modules of the test-suites that Numba-CUDA's and Warp's wheels contain, unmodified, on the CPU device: no failure but
those of exceptions.toml, each of which has to be one."""

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest
import suites
from suites import Exemption, limited
from test_driver_clients import KERNELS_NOT_KEPT, driver_folder

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = suites.clients()
MODULES = [(client.name, module) for client in CLIENTS.values() for module in client.in_make_test]


@pytest.mark.parametrize(("name", "module"), MODULES, ids=[module for _, module in MODULES])
def test_a_module_of_a_clients_own_suite_passes(name, module, tmp_path, monkeypatch):
    client, driver = CLIENTS[name], driver_folder()
    if driver is None:
        pytest.skip("no CPU device")
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{client.distribution} is not installed")
    for key, value in KERNELS_NOT_KEPT.items():
        monkeypatch.setenv(key, os.environ.get(key, value))
    if client.before_others:
        packages = ROOT / ".setup" / client.before_others
        assert packages.is_dir(), "`make setup-test` installs them"
        monkeypatch.setenv("PYTHONPATH", str(packages))
    found, _ = suites.run(client, module, sys.executable, driver, tmp_path)
    differences = suites.differences(suites.failures(found), suites.exceptions().get(name, {}), module)
    assert not differences, "\n".join(differences)
    assert any(outcome == "passed" for outcome, _ in found.values())


@pytest.mark.parametrize(
    ("failed", "known", "said"),
    [
        ({}, {"other.a": Exemption("why")}, []),
        ({}, {"m.a": Exemption("why", sometimes=True)}, []),
        ({"m.a": "wrong"}, {}, ["m.a failed: wrong"]),
        ({"m.a": "wrong"}, {"m.a": Exemption("why")}, []),
        ({}, {"m.a": Exemption("why")}, ["m.a did not fail, though exceptions.toml has it: why"]),
    ],
)
def test_the_list_is_to_be_true_both_ways(failed, known, said):
    assert suites.differences(failed, known, "m") == said


PARENT_OF_A_BUSY_CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"


@pytest.mark.parametrize(
    ("program", "limits", "why"),
    [
        ("pass", (60,), ""),
        ("raise SystemExit(3)", (60,), "ended with status 3"),
        (PARENT_OF_A_BUSY_CHILD, (1,), "stopped after 1 s of processor time"),
        ("import time; time.sleep(3600)", (60, 2), "stopped: no progress in 2 s"),
    ],
)
def test_a_module_is_stopped_by_what_it_used_and_not_by_the_clock(program, limits, why):
    seconds, *idle = limits
    ended = limited.run([sys.executable, "-c", program], seconds, look=0.1, **({"idle": idle[0]} if idle else {}))
    assert ended.why == why


def test_what_a_stopped_module_started_ends_with_it(tmp_path):
    told = tmp_path / "pid"
    program = f"import subprocess; open({str(told)!r}, 'w').write(str(subprocess.Popen(['sleep', '3600']).pid))"
    limited.run([sys.executable, "-c", program], 60, look=0.1)
    stat = Path(f"/proc/{told.read_text()}/stat")
    while stat.exists() and ") Z " not in stat.read_text():  # a signal takes a moment to arrive
        time.sleep(0.1)
