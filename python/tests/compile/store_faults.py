"""Rounds of faults of shared stores: what goes wrong may cost compiles, never a wrong load, a hang or a lost compile.

    python python/tests/compile/store_faults.py [--rounds 1000] [--seed 1] [--only folder|redis] [--output FILE]

In each round, processes with folders of their own compile one key through one store on which a fault is: a folder, or a
real Redis server that the round starts. All that are not killed have to come back with the right code; then one more,
without the fault, has to as well, and the one after that has to be a hit. test_stores.py runs each fault once.
"""

import argparse
import functools
import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
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


class Folder:
    """Where a round keeps its store: a folder."""

    def __init__(self, path):
        self.path = path

    def store(self, kind=stores.FolderStore):
        return kind(self.path)

    def close(self):
        pass


class Server:
    """Where a round keeps its store: a Redis server of its own."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        self.start()

    def start(self):
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        command = [program, "--port", "0", "--unixsocket", f"{self.path}/socket", "--save", "", "--dir", self.path]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with socket.socket(socket.AF_UNIX) as probe:
            while probe.connect_ex(f"{self.path}/socket"):
                time.sleep(0.005)

    def store(self, kind=stores.RedisStore):
        return kind(f"unix://{self.path}/socket")

    def close(self):
        self.process.kill()
        self.process.wait()


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


def dies_holding(store):
    """Such a store whose process is killed between its compile and the store, with the lease."""

    class DiesHolding(store):
        def put(self, name, data):
            os.kill(os.getpid(), signal.SIGKILL)

    return DiesHolding


def damaged(change):
    """A round that finds an entry in the store that has been changed so."""

    def damage(place, chance):
        store = place.store()
        first = place.path.parent / "first"
        compile_through(cucore.ProgramCache(first, store=stores.SharedStore(store, keys=KEYS, **BOUNDS)))
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


def left_lease(place, chance):
    """A lease whose holder is long dead, with the time of a clock that is wrong by years."""
    store = place.store()
    store.lease(key_name(), "dead", 0.15)
    if isinstance(store, stores.FolderStore):
        when = chance.choice([0, time.time() + 1e9])
        os.utime(store._file("leases", key_name()), (when, when))


def key_name():
    program = cucore.Program(SOURCE, "c++", OPTIONS)
    return program._program.cache_key("ptx", [])[0]


def fill_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))


def no_memory(server, chance):
    """A server that takes no more."""
    server.store()._client.config_set("maxmemory", 1)


def memory_again(server):
    server.store()._client.config_set("maxmemory", 0)


def of_another_type(server, chance):
    """Somebody has used the names for something else."""
    for name in (f"cucore:entry:{key_name()}", f"cucore:lease:{key_name()}"):
        server.store()._client.rpush(name, "a list")


def names_again(server):
    server.store()._client.flushall()


def start_again(server, chance):
    """The server dies, once or more, and what it held is lost."""
    for _ in range(chance.randrange(1, 4)):
        time.sleep(chance.random() * 0.1)
        server.close()
        time.sleep(chance.random() * 0.1)
        server.start()


def stop_for_a_while(server, chance):
    time.sleep(chance.random() * 0.1)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(0.6)
    server.process.send_signal(signal.SIGCONT)


def cut_connections(server, chance):
    client = server.store()._client
    for _ in range(20):
        client.client_kill_filter(_type="normal", skipme=True)
        time.sleep(chance.random() * 0.02)


def nothing(*_):
    pass


@dataclass
class Fault:
    place: type = Folder
    prepare: Callable = nothing  # done to the place before
    kind: Callable | None = None  # the store of the processes
    begin: Callable = nothing  # what each process does first
    meanwhile: Callable = nothing  # done to the place while they run
    repair: Callable = nothing  # done to it after
    killed: int = 0  # how many of the processes may be

    def store(self, place):
        return place.store(self.kind) if self.kind else place.store()


DAMAGES = {
    "cut entry": damaged(cut),
    "flipped bit": damaged(flipped),
    "entry signed with another key": damaged(signed_otherwise),
    "entry of another key": damaged(of_another_key),
}
FOLDER_FAULTS = {
    "none": Fault(),
    **{name: Fault(prepare=damage) for name, damage in DAMAGES.items()},
    "slow store": Fault(kind=Slow),
    "refused connections": Fault(kind=Refused),
    "holder killed": Fault(kind=dies_holding(stores.FolderStore), killed=1),
    "writer killed": Fault(kind=DiesWriting, killed=1),
    "full disk": Fault(begin=fill_disk),
    "clock jump and a left lease": Fault(prepare=left_lease),
    "delayed visibility": Fault(kind=ShownLate),
}
REDIS_FAULTS = {
    "none": Fault(Server),
    **{name: Fault(Server, prepare=damage) for name, damage in DAMAGES.items()},
    "holder killed": Fault(Server, kind=dies_holding(stores.RedisStore), killed=1),
    "a left lease": Fault(Server, prepare=left_lease),
    "server started again": Fault(Server, meanwhile=start_again),
    "server stopped for a while": Fault(Server, meanwhile=stop_for_a_while),
    "connections cut": Fault(Server, meanwhile=cut_connections),
    "no memory left": Fault(Server, prepare=no_memory, repair=memory_again),
    "names of another type": Fault(Server, prepare=of_another_type, repair=names_again),
}
FAULTS = {f"folder: {name}": fault for name, fault in FOLDER_FAULTS.items()} | {
    f"Redis: {name}": fault for name, fault in REDIS_FAULTS.items()
}


def child_of_round(fault, place, number, expected):
    """What one process of a round does; its exit status."""
    own = place.store() if fault.killed and number else fault.store(place)
    shared = stores.SharedStore(own, keys=KEYS, **BOUNDS | getattr(own, "deadlines", {}))
    cache = cucore.ProgramCache(place.path.parent / f"host-{number}", store=shared)
    fault.begin()
    if compile_through(cache)[0] != expected:
        return 98
    if shared.stats.rejected:
        (place.path.parent / f"rejected-{number}").mkdir()
    return 97 if shared.stats.wait_timeouts else 0  # a lease of the dead was not taken over


def run_round(fault, folder, chance, expected, processes=3):
    """What was wrong, as text; empty if nothing."""
    place = fault.place(Path(folder) / "store")
    try:
        return statuses_of_round(fault, place, chance, expected, processes) or after_round(fault, place, expected)
    finally:
        place.close()


def statuses_of_round(fault, place, chance, expected, processes):
    fault.prepare(place, chance)
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            status = 99
            try:
                signal.alarm(HANG)
                status = child_of_round(fault, place, number, expected)
            finally:
                os._exit(status)
        children.append(child)
    meanwhile = threading.Thread(target=fault.meanwhile, args=(place, chance))
    meanwhile.start()
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    meanwhile.join()
    fault.repair(place)
    allowed = [{0, -signal.SIGKILL} if number < fault.killed else {0} for number in range(processes)]
    if any(status not in may for status, may in zip(statuses, allowed, strict=True)):
        return f"exit statuses {statuses}"
    if fault.prepare in DAMAGES.values() and not list(place.path.parent.glob("rejected-*")):
        return "the damaged entry was not rejected"
    return ""


def after_round(fault, place, expected):
    for host, wanted in (("x", ("hit", "miss")), ("y", ("hit",))):
        shared = stores.SharedStore(place.store(), keys=KEYS, **BOUNDS)
        code, result = compile_through(cucore.ProgramCache(place.path.parent / f"host-{host}", store=shared))
        if code != expected:
            return "wrong code after the fault"
        if result not in wanted:
            return f"a {result} after the fault: {shared.stats}"
    return ""


def numbered_round(number, names, seed, expected):
    name = names[number % len(names)]
    with tempfile.TemporaryDirectory() as folder:
        return name, run_round(FAULTS[name], folder, random.Random(f"{seed}:{number}"), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=4, help="rounds at once; most of a round is waiting")
    parser.add_argument("--only", choices=["folder", "redis"])
    parser.add_argument("--output")
    arguments = parser.parse_args()
    expected = compile_through(None)[0]
    names = [name for name in FAULTS if name.lower().startswith(arguments.only or "")]
    counts = {name: [0, 0] for name in names}
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
        one = functools.partial(numbered_round, names=names, seed=arguments.seed, expected=expected)
        for number, (fault, wrong) in enumerate(pool.imap(one, range(arguments.rounds))):
            counts[fault][0] += 1
            counts[fault][1] += bool(wrong)
            if wrong:
                print(f"round {number}, {fault}: {wrong}", file=sys.stderr)
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
    from machine import machine

    title = f"Faults of shared stores: {arguments.rounds} rounds of 3 processes, seed {arguments.seed}"
    lines = [title, "", *machine(), "", f"{'fault':38} rounds  wrong load, hang or lost compile"]
    lines += [f"{name:38} {rounds:6}  {wrong}" for name, (rounds, wrong) in counts.items()]
    lines += ["", f"{time.monotonic() - begin:.0f} s in all"]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output:
        Path(arguments.output).write_text(text)
    return any(wrong for _, wrong in counts.values())


if __name__ == "__main__":
    sys.exit(main())
