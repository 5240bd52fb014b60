"""`make test-clients`: the clients of tests/clients/suites/clients.toml, whole, each in an environment of its own.

Usage: test_clients.py [--folder FOLDER] [--driver FOLDER] [--tool FILE] [--modules PATTERN] [--remaining]
                       [--again] [--workers N] [CLIENT ...]
Environments and caches lie in FOLDER (default build/clients). What came of each module is written at once to
bench/results/clients/CLIENT.json, with what it came of: a module whose result is of this driver, these programs and
these packages is not run again (but with --again), so a run that was interrupted goes on where it was. With --modules
only modules in whose names the regular expression is found run, with --remaining only those that have no result at all;
what the file has of the others stays. N modules run at a time, each started by `cucore run`, which alone sets what the
CPU device needs, and for as long as it makes progress (suites/limited.py). At the end the whole record is compared with
exceptions.toml, into bench/results/clients/verdict.txt, and docs/compatibility.md is made of it; all to be committed.
Ends with status 1 if exceptions.toml does not say exactly what failed, or results are missing or of other drivers,
programs or packages.
"""

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import make_compatibility
from machine import machine
from make_compatibility import RESULTS, ROOT, suites
from suites import limited

HERE_ONLY = re.compile(r"\S*/site-packages/|/tmp/\w+")  # the part of a path that is another one elsewhere


def installed(python):
    """What pip says is in an environment."""
    said = subprocess.run([python, "-m", "pip", "freeze", "--all"], capture_output=True, text=True, check=True).stdout
    return sorted(line for line in said.splitlines() if not line.startswith(("pip==", "setuptools==", "wheel==")))


def set_up(client, folder, driver):
    """The Python of an environment that has what the client needs and nothing else; what pip put there."""
    python, done = folder / "venv/bin/python", folder / "requirements.json"
    wanted = [*client.requirements, *client.from_source]
    if done.exists() and json.loads(done.read_text()) == {"wanted": wanted, "installed": (has := installed(python))}:
        return python, has
    pip = [python, "-m", "pip", "install", "-q"]
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", folder / "venv"], check=True)
    subprocess.run([*pip, *client.requirements], check=True)
    if client.from_source:
        toolkit = next((folder / "venv").glob("lib/python3*/site-packages/nvidia/cu13"))
        (folder / ".aksetup-defaults.py").write_text(  # what PyCUDA's set-up reads in the home folder
            f"CUDA_ROOT = {str(toolkit)!r}\nCUDADRV_LIB_DIR = [{str(driver)!r}]\nCUDA_ENABLE_CURAND = False\n"
        )
        environment = {**os.environ, "HOME": str(folder)}
        subprocess.run([*pip, "--no-build-isolation", *client.from_source], check=True, env=environment)
    has = installed(python)
    done.write_text(json.dumps({"wanted": wanted, "installed": has}))
    return python, has


def version(python, distribution):
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def modules_of(client, python):
    """The modules of the suite inside the client's wheel, by the files that are there."""
    if client.programs:
        return [Path(each).stem for each in client.programs]
    code = (
        "import importlib.util, pathlib; "
        f"folder = pathlib.Path(importlib.util.find_spec({client.tests!r}).origin).parent; "
        "print(*sorted(str(p.relative_to(folder).with_suffix('')) for p in folder.rglob('test_*.py')), sep='\\n')"
    )
    said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    names = [f"{client.tests}.{line.replace('/', '.')}" for line in said.split()]
    return [name for name in names if name not in client.not_run]


def summary(found):
    """A module's results as they are kept: numbers, the reasons for skips, and what failed."""
    skipped = Counter(said for outcome, said in found.values() if outcome == "skipped")
    failed = {
        test: HERE_ONLY.sub("", said)[-300:] for test, (outcome, said) in sorted(found.items()) if outcome == "failed"
    }
    passed = sum(outcome == "passed" for outcome, _ in found.values())
    return {"passed": passed, "skipped": dict(sorted(skipped.items())), "failed": failed}


def source_of_results(client, driver, packages):
    """A short name of the driver and of the programs of ours, by their content, and of the packages."""
    files = [each for each in sorted(driver.rglob("*")) if each.is_file()]
    files += [suites.HERE / each for each in client.programs]
    digest = hashlib.sha256("\n".join(packages).encode())
    for each in files:
        digest.update(each.name.encode() + each.read_bytes())
    return digest.hexdigest()[:12]


def run_client(client, options):
    """Runs what is to be run, and writes each result as it comes."""
    folder, driver = options.folder.resolve() / client.name, options.driver.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python, packages = set_up(client, folder, driver)
    path = RESULTS / f"{client.name}.json"
    done = json.loads(path.read_text())["modules"] if path.exists() else {}
    source, modules = source_of_results(client, driver, packages), modules_of(client, python)

    def is_due(module):
        if not re.search(options.modules, module):
            return False
        return options.again or module not in done or (done[module].get("source") != source and not options.remaining)

    def write():
        record = {
            "client": client.title,
            "version": version(python, client.distribution),
            "machine": machine(),
            "packages": packages,
            "source": source,
            "modules": {module: done[module] for module in modules if module in done},
            "remaining": [module for module in modules if module not in done],
        }
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def run(module):
        return module, *suites.run(client, module, python, driver, folder / "run", options.tool.resolve())

    RESULTS.mkdir(parents=True, exist_ok=True)
    write()
    with ThreadPoolExecutor(options.workers) as pool:
        runs = [pool.submit(run, module) for module in modules if is_due(module)]
        try:
            for each in as_completed(runs):
                module, found, seconds = each.result()
                done[module] = summary(found) | {"seconds": round(seconds), "source": source}
                print("   " + line(module, done[module]), flush=True)
                write()
        except BaseException:
            limited.interrupted.set()
            pool.shutdown(cancel_futures=True)
            raise


def line(module, kept):
    numbers = f"{kept['passed']} passed, {len(kept['failed'])} failed, {sum(kept['skipped'].values())} skipped"
    return f"{module}: {numbers} ({kept.get('seconds', '?')} s of processor time)"


def verdict(name, known):
    """The lines of a client's whole record, and how it differs from the exceptions."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return [], [f"{name}: was not run"]
    record = json.loads(path.read_text())
    lines = [f"== {record['client']} {record['version']}", *(line(*each) for each in record["modules"].items())]
    differences = [f"{module}: was not run" for module in record["remaining"]]
    other = sum(kept.get("source") != record.get("source", "") for kept in record["modules"].values())
    if other:
        differences.append(f"{name}: the results of {other} modules are of other drivers, programs or packages")
    for module, kept in record["modules"].items():
        differences += suites.differences(kept["failed"], known, module)
    of_no_module = [test for test in known if not any(suites.belongs_to(test, each) for each in record["modules"])]
    return lines, differences + [
        f"{test} is in exceptions.toml, and no module that ran has it" for test in of_no_module
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=ROOT / "build/clients")
    parser.add_argument("--driver", type=Path, default=ROOT / "build/cpu/driver")
    parser.add_argument("--tool", type=Path, default=ROOT / "build/cli/cucore")
    parser.add_argument("--modules", default="")
    parser.add_argument("--remaining", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("clients", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    all_clients = suites.clients()
    os.environ.setdefault("CUCORE_CPU_CACHE", str(options.folder.resolve() / "kernels"))
    differences, lines = [], []
    for name in options.clients or all_clients:
        print(f"== {name}", flush=True)
        try:
            run_client(all_clients[name], options)
        except subprocess.CalledProcessError as error:  # the others can run
            differences.append(f"{name} could not be set up: {error}")
    for name in all_clients:
        ran, differs = verdict(name, suites.exceptions().get(name, {}))
        lines += ran
        differences += differs
    differences.append(f"{len(differences)} differences from tests/clients/suites/exceptions.toml")
    (RESULTS / "verdict.txt").write_text("\n".join([*machine(), *lines, "", *differences]) + "\n")
    make_compatibility.main()
    print(*differences, sep="\n")
    return 1 if len(differences) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
