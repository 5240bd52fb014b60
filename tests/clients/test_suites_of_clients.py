"""Modules of the test-suites that Numba-CUDA's and Warp's wheels contain, unmodified, on the CPU device: no failure but
those of exceptions.toml, each of which has to be one."""

import importlib.util
import os
import sys

import pytest
import suites
from suites import Exemption
from test_driver_clients import KERNELS_NOT_KEPT, driver_folder

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
    found = suites.run(client, module, sys.executable, driver, tmp_path)
    problems = suites.problems(found, suites.exceptions().get(name, {}), module)
    assert not problems, "\n".join(problems)
    assert any(outcome == "passed" for outcome, _ in found.values())


@pytest.mark.parametrize(
    ("found", "known", "said"),
    [
        ({"m.a": ("passed", "")}, {"other.a": Exemption("why")}, []),
        ({"m.a": ("passed", "")}, {"m.a": Exemption("why", sometimes=True)}, []),
        ({"m.a": ("failed", "wrong")}, {}, ["m.a failed: wrong"]),
        ({"m.a": ("failed", "wrong")}, {"m.a": Exemption("why")}, []),
        ({"m.a": ("passed", "")}, {"m.a": Exemption("why")}, ["m.a passed, though exceptions.toml has it: why"]),
        ({"m.a": ("skipped", "no")}, {"m.a": Exemption("why")}, ["m.a skipped, though exceptions.toml has it: why"]),
        ({}, {"m.a": Exemption("why")}, ["m.a is in exceptions.toml, and is no test"]),
    ],
)
def test_the_list_is_to_be_true_both_ways(found, known, said):
    assert suites.problems(found, known, "m") == said
