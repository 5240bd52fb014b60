"""Rounds of faults of shared stores: what goes wrong may cost compiles, never a wrong load, a hang or a lost compile.

    python python/tests/compile/store_faults.py [--rounds 1000] [--seed 1] [--output FILE]

In each round, processes with folders of their own compile one key through one store on which a fault is. All that are
not killed have to come back with the right code; then one more, without the fault, has to as well, and the one after
that has to be a hit. test_stores.py runs each fault once.
"""

import argparse
import functools
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import cucore
from cucore import stores

SOURCE = 'extern "C" __global__ void fill(int* x) { *x = 7; }'
OPTIONS = {"arch": "sm_80", "name": "fill"}
KEYS = stores.KeyRing({"k1": b"1" * 32})
OTHER_KEYS = stores.KeyRing({"k1": b"2" * 32})
# Wide, so that only what is meant to be late is late, on a loaded machine too.
BOUNDS = {"call_seconds": 10, "compile_seconds": 30, "lease_seconds": 0.15, "wait_seconds": 15}
HANG = 30  # seconds after which a process counts as hung, also on a loaded machine


def compile_through(cache):
    program = cucore.Program(SOURCE, "c++", OPTIONS)
    return program.compile("ptx", cache=cache).code, program.last_report["cache"]


class Slow(stores.FolderStore):
    deadlines = {"call_seconds": 0.25, "compile_seconds": 1}

    def get(self, name):
        time.sleep(0.4)
        return super().get(name)


class Refused(stores.FolderStore):
    def get(self, name):
        raise ConnectionRefusedError("refused")

    put = get


class ShownLate(stores.FolderStore):
    """Shows an entry some time after it was stored, as NFS and object stores may."""

    def get(self, name):
        try:
            age = time.time() - os.stat(self._file("entries", name)).st_mtime
        except FileNotFoundError:
            return None
        return super().get(name) if age > 0.05 else None


class DiesWriting(stores.FolderStore):
    """The process is killed with half an entry written."""

    def put(self, name, data):
        self._temporary(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)


class DiesHolding(stores.FolderStore):
    """The process is killed between its compile and the store, with the lease."""

    def put(self, name, data):
        os.kill(os.getpid(), signal.SIGKILL)


def damaged(change):
    """A round that finds an entry in the store that has been changed so."""

    def damage(folder, chance):
        store = stores.FolderStore(folder)
        shutil.rmtree(folder.parent / "first", ignore_errors=True)
        cache = cucore.ProgramCache(folder.parent / "first", store=stores.SharedStore(store, keys=KEYS))
        compile_through(cache)
        (name,) = store.list()
        store.put(name, change(store.get(name), name, chance))

    return damage


def cut(sealed, name, chance):
    return sealed[: chance.randrange(len(sealed))]


def flipped(sealed, name, chance):
    at = chance.randrange(len(sealed))
    return sealed[:at] + bytes([sealed[at] ^ 1 << chance.randrange(8)]) + sealed[at + 1 :]


def signed_otherwise(sealed, name, chance):
    return stores._seal.seal(name, stores._seal.unseal(name, sealed, KEYS), OTHER_KEYS)


def of_another_key(sealed, name, chance):
    return stores._seal.seal("0" * 64, stores._seal.unseal(name, sealed, KEYS), KEYS)


def nothing(folder, chance):
    pass


def left_lease(folder, chance):
    """A lease whose holder is long dead, with the time of a clock that is wrong by years."""
    store = stores.FolderStore(folder)
    for name in (key_name(),):
        store.lease(name, "dead", 0.15)
        when = chance.choice([0, time.time() + 1e9])
        os.utime(store._file("leases", name), (when, when))


def key_name():
    program = cucore.Program(SOURCE, "c++", OPTIONS)
    return program._program.cache_key("ptx", [])[0]


def fill_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))


# name -> (what is done to the store before, the store of the processes, what each does first, how many may be killed)
FAULTS = {
    "none": (nothing, stores.FolderStore, None, 0),
    "cut entry": (damaged(cut), stores.FolderStore, None, 0),
    "flipped bit": (damaged(flipped), stores.FolderStore, None, 0),
    "entry signed with another key": (damaged(signed_otherwise), stores.FolderStore, None, 0),
    "entry of another key": (damaged(of_another_key), stores.FolderStore, None, 0),
    "slow store": (nothing, Slow, None, 0),
    "refused connections": (nothing, Refused, None, 0),
    "holder killed": (nothing, DiesHolding, None, 1),
    "writer killed": (nothing, DiesWriting, None, 1),
    "full disk": (nothing, stores.FolderStore, fill_disk, 0),
    "clock jump and a left lease": (left_lease, stores.FolderStore, None, 0),
    "delayed visibility": (nothing, ShownLate, None, 0),
}


def run_round(fault, folder, chance, expected, processes=3):
    """What was wrong, as text; empty if nothing."""
    prepare, kind, begin, killed = FAULTS[fault]
    folder = Path(folder)
    prepare(folder / "store", chance)
    children = []
    for i in range(processes):
        child = os.fork()
        if child == 0:
            status = 99
            try:
                signal.alarm(HANG)
                # Of those that a fault kills there is one; the others meet what it leaves.
                own = kind if not killed or i == 0 else stores.FolderStore
                bounds = BOUNDS | getattr(own, "deadlines", {})
                shared = stores.SharedStore(own(folder / "store"), keys=KEYS, **bounds)
                cache = cucore.ProgramCache(folder / f"host-{i}", store=shared)
                if begin is not None:
                    begin()
                status = 0 if compile_through(cache)[0] == expected else 98
                if shared.stats.wait_timeouts:
                    status = 97  # a lease of the dead was not taken over
                if shared.stats.rejected:
                    os.mkdir(folder / f"rejected-{i}")
            finally:
                os._exit(status)
        children.append(child)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    allowed = [{0, -signal.SIGKILL} if i < killed else {0} for i in range(processes)]
    if any(status not in may for status, may in zip(statuses, allowed, strict=True)):
        return f"exit statuses {statuses}"
    if prepare.__name__ == "damage" and not list(folder.glob("rejected-*")):
        return "the damaged entry was not rejected"
    for i, wanted in (("x", ("hit", "miss")), ("y", ("hit",))):
        shared = stores.SharedStore(folder / "store", keys=KEYS, **BOUNDS)
        code, result = compile_through(cucore.ProgramCache(folder / f"host-{i}", store=shared))
        if code != expected:
            return "wrong code after the fault"
        if result not in wanted:
            return f"a {result} after the fault: {shared.stats}"
    return ""


def numbered_round(number, seed, expected):
    fault = list(FAULTS)[number % len(FAULTS)]
    with tempfile.TemporaryDirectory() as folder:
        return fault, run_round(fault, folder, random.Random(f"{seed}:{number}"), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4, help="rounds at once; most of a round is waiting")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    expected = compile_through(None)[0]
    counts = {name: [0, 0] for name in FAULTS}
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
        one = functools.partial(numbered_round, seed=arguments.seed, expected=expected)
        for number, (fault, wrong) in enumerate(pool.imap(one, range(arguments.rounds))):
            counts[fault][0] += 1
            counts[fault][1] += bool(wrong)
            if wrong:
                print(f"round {number}, {fault}: {wrong}", file=sys.stderr)
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
    from machine import machine

    title = f"Faults of shared stores: {arguments.rounds} rounds of 3 processes, seed {arguments.seed}"
    lines = [title, "", *machine(), "", f"{'fault':32} rounds  wrong load, hang or lost compile"]
    lines += [f"{name:32} {rounds:6}  {wrong}" for name, (rounds, wrong) in counts.items()]
    lines += ["", f"{time.monotonic() - begin:.0f} s in all"]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output:
        Path(arguments.output).write_text(text)
    return any(wrong for _, wrong in counts.values())


if __name__ == "__main__":
    sys.exit(main())
