"""Shared stores: what a hit costs by the tier it comes from, and 1,000 keys compiled by 64 processes on 4 hosts.

    python bench/store_bench.py [--output FILE] [--keys 1000] [--processes 64] [--rounds 100]

A hit of a store is by a ProgramCache whose memory and folder are empty; the store is a folder, a Redis server on a
socket and on TCP, and, where moto and s3fs are there, a server that speaks S3. The compile that it saves stands beside.
The four hosts are folders of their own and, for root where iproute2 is installed, network namespaces behind one bridge;
all ask one Redis server. Each process compiles all keys, in an order of its own; every key has to be compiled once.
"""

import argparse
import contextlib
import ctypes
import importlib.util
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from machine import machine  # noqa: E402

import cucore  # noqa: E402
from cucore import stores  # noqa: E402

KEYS = stores.KeyRing({"bench": b"1" * 32})
WIDE = {"call_seconds": 60, "compile_seconds": 600, "lease_seconds": 30, "wait_seconds": 600}
BRIDGE = "10.213.7.1"


def program(number=0):
    source = f'extern "C" __global__ void fill(int* x) {{ x[threadIdx.x] = {number}; }}'
    return cucore.Program(source, "c++", cucore.ProgramOptions(arch="sm_80"))


@contextlib.contextmanager
def running(command, address):
    """A server, from when it takes connections."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        with socket.socket(family) as probe:
            while probe.connect_ex(address):
                time.sleep(0.01)
        try:
            yield
        finally:
            process.terminate()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def redis(folder, host="127.0.0.1"):
    """The URLs of one server, by its socket and by TCP."""
    port, path = free_port(), f"{folder}/redis"
    server = shutil.which("redis-server") or shutil.which("valkey-server")
    command = [server, "--port", str(port), "--bind", host, "--unixsocket", path, "--save", "", "--dir", folder]
    with running([*command, "--protected-mode", "no"], path):
        yield f"unix://{path}", f"redis://{host}:{port}"


@contextlib.contextmanager
def s3():
    port = free_port()
    with running([sys.executable, "-m", "moto.server", "-p", str(port)], ("127.0.0.1", port)):
        store = stores.FsspecStore("s3://bench", endpoint_url=f"http://127.0.0.1:{port}", key="a", secret="b")
        store._files.mkdir("bench")
        yield store


def milliseconds(operation, rounds):
    """The least and the median of some calls, each made ready by what `operation` gives the call it returns."""
    times = []
    for _ in range(rounds):
        call = operation()
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e3)
    return min(times), statistics.median(times)


def tiers(folder, rounds):
    """Rows of the table: who answers, and in which time."""
    one = program()
    in_memory = cucore.ProgramCache(f"{folder}/memory")
    one.compile("cubin", cache=in_memory)
    yield "memory", milliseconds(lambda: lambda: one.compile("cubin", cache=in_memory), rounds)

    def own_folder():
        cache = cucore.ProgramCache(f"{folder}/memory")
        return lambda: one.compile("cubin", cache=cache)

    yield "own folder", milliseconds(own_folder, rounds)

    def hit_of(store):
        def prepare():
            shared = stores.SharedStore(store, keys=KEYS, **WIDE)
            cache = cucore.ProgramCache(tempfile.mkdtemp(dir=folder), store=shared)

            def call():
                one.compile("cubin", cache=cache)
                assert not rounds_began or one.last_report["cache"] == "hit"

            return call

        rounds_began = []
        prepare()()  # which compiles and stores
        rounds_began.append(True)
        return milliseconds(prepare, rounds)

    yield "store: folder", hit_of(stores.FolderStore(f"{folder}/store"))
    with redis(folder) as (by_socket, by_tcp):
        yield "store: Redis, socket", hit_of(stores.RedisStore(by_socket))
        yield "store: Redis, TCP", hit_of(stores.RedisStore(by_tcp))
    if importlib.util.find_spec("moto") and importlib.util.find_spec("s3fs"):
        with s3() as store:
            yield "store: S3 (moto)", hit_of(store)
    numbers = iter(range(1, 1 << 30))

    def compile_anew():
        made = program(next(numbers))
        return lambda: made.compile("cubin")

    yield "the compile that it saves", milliseconds(compile_anew, rounds)


@contextlib.contextmanager
def hosts(number):
    """Names of network namespaces behind one bridge; Nones where there can be none."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        yield [None] * number, "folders of their own", "127.0.0.1"
        return

    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    names = [f"cucore{i}" for i in range(number)]
    try:
        ip("link", "add", "cucore-bridge", "type", "bridge")
        ip("addr", "add", f"{BRIDGE}/24", "dev", "cucore-bridge")
        ip("link", "set", "cucore-bridge", "up")
        for i, name in enumerate(names):
            ip("netns", "add", name)
            ip("link", "add", f"{name}-out", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"{name}-out", "master", "cucore-bridge", "up")
            ip("-n", name, "addr", "add", f"10.213.7.{10 + i}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        yield names, "network namespaces behind a bridge", BRIDGE
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", "cucore-bridge"], capture_output=True)


def enter(namespace):
    if namespace is not None:
        with open(f"/run/netns/{namespace}") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0):
                raise OSError(ctypes.get_errno(), "setns")


def one_process(number, namespace, url, keys, folder):
    """Compiles all keys; writes how many it had to compile, and what the store was asked."""
    enter(namespace)
    shared = stores.SharedStore(url, keys=KEYS, **WIDE)
    cache = cucore.ProgramCache(f"{folder}/host-{number % 4}", store=shared)
    order = list(range(keys))
    random.Random(number).shuffle(order)
    for key in order:
        program(key).compile("cubin", cache=cache)
    stats = shared.stats
    Path(f"{folder}/count-{number}").write_text(f"{cache.stats.misses} {stats.hits} {stats.waits} {stats.errors}")
    return 0


def fleet(keys, processes):
    """Lines on many processes that compile the same keys."""
    with tempfile.TemporaryDirectory() as folder, hosts(4) as (names, kind, address):
        with redis(folder, address) as (_, url):
            begin = time.perf_counter()
            children = []
            for number in range(processes):
                child = os.fork()
                if child == 0:
                    status = 1
                    try:
                        signal.alarm(3600)
                        status = one_process(number, names[number % 4], url, keys, folder)
                    finally:
                        os._exit(status)
                children.append(child)
            failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
            took = time.perf_counter() - begin
        counts = [[int(n) for n in path.read_text().split()] for path in Path(folder).glob("count-*")]
    compiles, hits, waits, errors = (sum(each) for each in zip(*counts, strict=True))
    yield f"{keys} keys, {processes} processes on 4 hosts ({kind}), one Redis server: {took:.1f} s"
    yield f"compiles {compiles}, hits of the store {hits}, waits {waits}, errors {errors}, processes failed {failed}"
    if compiles != keys or failed:
        raise SystemExit(f"{compiles} compiles of {keys} keys, {failed} processes failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output")
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    lines = [*machine(), "", f"{'a hit, ms':28} {'least':>8} {'median':>8}"]
    with tempfile.TemporaryDirectory() as folder:
        for name, (least, median) in tiers(folder, arguments.rounds):
            lines.append(f"{name:28} {least:8.3f} {median:8.3f}")
    lines += ["", *fleet(arguments.keys, arguments.processes)]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output:
        Path(arguments.output).write_text(text)


if __name__ == "__main__":
    main()
