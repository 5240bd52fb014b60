"""Runs what clients.toml names, on the CPU device, and compares what came of it with exceptions.toml.

A module runs in a process of its own, with the Python in which its client is installed and nothing told to it but where
the driver is. A test that fails is to be in the list of exceptions, and one in the list is to fail.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import tomllib

from . import limited

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Client:
    name: str
    title: str
    distribution: str
    requirements: tuple
    tests: str = ""
    programs: tuple = ()
    lines: bool = False
    in_make_test: tuple = ()
    before_others: str = ""
    leave_out: tuple = ()
    before: str = ""
    not_run: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    from_source: tuple = ()
    seconds: int = 1800


def clients():
    table = tomllib.loads((HERE / "clients.toml").read_text())
    return {name: Client(name=name, **values) for name, values in table.items()}


def program(client, module):
    """The file of ours that a module is."""
    return next(HERE / each for each in client.programs if Path(each).stem == module)


@dataclass(frozen=True)
class Exemption:
    reason: str
    sometimes: bool = False


def exceptions():
    """client -> test -> why it does not pass."""
    known = {}
    for each in tomllib.loads((HERE / "exceptions.toml").read_text())["exception"]:
        for test in each["tests"]:
            if test in known.setdefault(each["client"], {}):
                raise ValueError(f"exceptions.toml has {test} twice")
            known[each["client"]][test] = Exemption(each["reason"], each.get("sometimes", False))
    return known


def environment(driver, client):
    """What a client gets besides what `cucore run` sets: which build's driver that is, and what it needs anywhere."""
    names = {**os.environ, "CUCORE_CPU_DRIVER": str(driver / "libcuda.so.1")}
    for name in ("CUDA_VISIBLE_DEVICES", "CUCORE_CPU_COMPUTE_CAPABILITY", "CUCORE_DEVICE"):
        names.pop(name, None)
    return names | {"PYTHONDONTWRITEBYTECODE": "1", "CUCORE_CPU_DEVICES": "1"} | client.environment


def by_hand(driver, folder):
    """What docs/clients.md tells users to set who have no `cucore run`."""
    names = {"LD_LIBRARY_PATH": str(driver), "PATH": f"{driver / 'bin'}:{os.environ['PATH']}"}
    names |= {f"TRITON_PTXAS{each}_PATH": str(driver / "bin/ptxas") for each in ("", "_BLACKWELL")}
    return names | {"TRITON_CACHE_DIR": str(folder / "TRITON")}


def command(client, module, python):
    if client.lines:
        return [str(python), "-W", "ignore", str(program(client, module))]
    leave_out = [f"--leave-out={ending}" for ending in client.leave_out]
    return [str(python), str(HERE / "unittest_module.py"), module, *leave_out, f"--before={client.before}"]


def results(client, text):
    """test -> (outcome, what it said)."""
    if not client.lines:
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        return {line["test"]: (line["outcome"], line["said"]) for line in lines}
    found = {}
    for line in text.splitlines():
        good, _, name = line.partition("ok ")
        found[name if not good else line] = ("passed", "") if not good else ("failed", line)
    return found


def run(client, module, python, driver, folder, cucore=None):
    """What came of each test of a module, and the seconds of processor time it took; a module that ends before its
    tests do is a failure by its own name. With the tool's path it is `cucore run` that sets the environment."""
    folder.mkdir(parents=True, exist_ok=True)
    names = environment(driver, client) | ({} if cucore else by_hand(driver, folder))
    names |= {"WARP_CACHE_PATH": str(folder / "warp"), "CUPY_CACHE_DIR": str(folder / "cupy"), "HOME": str(folder)}
    if client.programs:
        names["PYTHONPATH"] = str(program(client, module).parent)
    with open(folder / f"{module}.log", "w") as log, open(folder / f"{module}.out", "w+") as out:
        how = {"cwd": folder, "env": names, "stdout": out, "stderr": log}
        words = [str(cucore), "run"] if cucore else []
        ended = limited.run([*words, *command(client, module, python)], client.seconds, **how)
        out.seek(0)
        found = results(client, out.read())
    if ended.why or not found:
        said = (folder / f"{module}.log").read_text(errors="replace")[-1500:]
        found[module] = ("failed", f"{ended.why or 'has no test'}: {said}")
    return found, ended.seconds


def failures(found):
    return {test: said for test, (outcome, said) in sorted(found.items()) if outcome == "failed"}


def differences(failed, known, module):
    """What the exceptions that are known do not say of what failed in a module, and what they say that is not so."""
    lines = [f"{test} failed: {said}" for test, said in failed.items() if test not in known]
    for test, why in sorted(known.items()):
        if belongs_to(test, module) and test not in failed and not why.sometimes:
            lines.append(f"{test} did not fail, though exceptions.toml has it: {why.reason}")
    return lines


def belongs_to(test, module):
    return test == module or test.startswith(module + ".")
