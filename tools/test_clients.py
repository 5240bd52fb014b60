"""`make test-clients`: the clients of tests/clients/suites/clients.toml, whole, each in an environment of its own.

Usage: test_clients.py [--folder FOLDER] [--driver FOLDER] [--modules TEXT] [--remaining] [--workers N] [CLIENT ...]
Environments and caches lie in FOLDER (default build/clients). What came of each client goes to
bench/results/clients/CLIENT.json, and docs/compatibility.md is made of it, both to be committed. With --modules only
modules whose names contain TEXT run, with --remaining only those that the file does not have yet; what the file has of
the others stays. N modules run at a time, each in a process of its own. Ends with status 1 if exceptions.toml does not
say exactly what failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import make_compatibility
from machine import machine
from make_compatibility import RESULTS, ROOT, suites

HERE_ONLY = re.compile(r"\S*/site-packages/|/tmp/\w+")  # the part of a path that is another one elsewhere


def set_up(client, folder, driver):
    """The Python of an environment that has what the client needs."""
    python, done = folder / "venv/bin/python", folder / "requirements"
    wanted = "\n".join([*client.requirements, *client.from_source])
    if done.exists() and done.read_text() == wanted:
        return python
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
    done.write_text(wanted)
    return python


def version(python, distribution):
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def modules_of(client, python):
    """The modules of the suite inside the client's wheel, by the files that are there."""
    if client.programs:
        return [Path(client.programs).stem]
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


def run_client(client, options):
    folder = options.folder.resolve() / client.name
    folder.mkdir(parents=True, exist_ok=True)
    python = set_up(client, folder, options.driver.resolve())
    path = RESULTS / f"{client.name}.json"
    keep = path.exists() and (options.modules or options.remaining)
    record = json.loads(path.read_text()) if keep else {"modules": {}}
    record |= {"client": client.title, "version": version(python, client.distribution), "machine": machine()}
    known, problems = suites.exceptions().get(client.name, {}), []
    modules = modules_of(client, python)
    chosen = [each for each in modules if options.modules in each]
    if options.remaining:
        chosen = [each for each in chosen if each not in record["modules"]]

    def run(module):
        start = time.monotonic()
        found = suites.run(client, module, python, options.driver.resolve(), folder / "run")
        return module, found, time.monotonic() - start

    with ThreadPoolExecutor(options.workers) as pool:
        for module, found, seconds in pool.map(run, chosen):
            record["modules"][module] = kept = summary(found)
            numbers = f"{kept['passed']} passed, {len(kept['failed'])} failed, {sum(kept['skipped'].values())} skipped"
            print(f"   {module}: {numbers} ({seconds:.0f} s)", flush=True)
            problems += suites.problems(found, known, module)
            RESULTS.mkdir(parents=True, exist_ok=True)
            record["modules"] = dict(sorted(record["modules"].items()))
            record["remaining"] = [each for each in modules if each not in record["modules"]]
            path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=ROOT / "build/clients")
    parser.add_argument("--driver", type=Path, default=ROOT / "build/cpu/driver")
    parser.add_argument("--modules", default="")
    parser.add_argument("--remaining", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("clients", nargs="*")
    options = parser.parse_args()
    all_clients = suites.clients()
    os.environ.setdefault("CUCORE_CPU_CACHE", str(options.folder.resolve() / "kernels"))
    problems = []
    for name in options.clients or all_clients:
        print(f"== {name}", flush=True)
        problems += run_client(all_clients[name], options)
    make_compatibility.main()
    print(*problems, sep="\n")
    print(f"{len(problems)} differences from tests/clients/suites/exceptions.toml")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
