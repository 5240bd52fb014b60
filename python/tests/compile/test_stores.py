"""Stores that hosts share: ProgramCache(store=...) on folders, a real Redis server, fsspec and others' backends."""

import concurrent.futures
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
import store_faults

import cucore
from cucore import stores

SOURCE = "template <class T> __global__ void fill(T* x) { *x = 7; }"
OPTIONS = {"arch": "sm_80", "name": "fill"}
KEYS = stores.KeyRing({"k1": b"1" * 32})
OTHER_KEYS = stores.KeyRing({"k1": b"2" * 32})


def compile_through(cache, source=SOURCE):
    program = cucore.Program(source, "c++", OPTIONS)
    code = program.compile("cubin", ["fill<int>"], cache=cache)
    return code, program.last_report["cache"]


def cache_of(tmp_path, host, shared):
    return cucore.ProgramCache(tmp_path / f"host-{host}", store=shared)


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    pytest.importorskip("redis")
    server = shutil.which("redis-server") or shutil.which("valkey-server")
    if server is None:
        pytest.skip("redis-server is not installed")
    folder = tmp_path_factory.mktemp("redis")
    path = f"{folder}/socket"
    command = [server, "--port", "0", "--unixsocket", path, "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(path)
                break
            time.sleep(0.01)
        yield f"unix://{path}"
        process.terminate()


class Filenames:
    """A backend with Triton's methods."""

    def __init__(self):
        self.files = {}

    def get(self, filenames):
        return {name: self.files[name] for name in filenames if name in self.files}

    def put(self, filename, data):
        self.files[filename] = data


class Keyed(Filenames):
    """A backend with Inductor's methods."""

    def get(self, key):
        return self.files.get(key)


@pytest.fixture(scope="module")
def s3_url(tmp_path_factory):
    """A bucket of a server that speaks S3."""
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        for _ in range(3000):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.01)
        settings = {"endpoint_url": f"http://127.0.0.1:{port}", "key": "test", "secret": "test"}
        stores.FsspecStore("s3://kernels", **settings)._files.mkdir("kernels")
        yield "s3://kernels/of/a/team", settings
        process.terminate()


@pytest.fixture(params=["folder", "redis", "s3", "fsspec", "filenames", "keyed"])
def store(request, tmp_path):
    if request.param == "folder":
        return stores.open_store(tmp_path / "store")
    if request.param == "redis":
        return stores.RedisStore(request.getfixturevalue("redis_url"), prefix=f"{tmp_path}:")
    if request.param == "s3":
        url, settings = request.getfixturevalue("s3_url")
        return stores.FsspecStore(f"{url}{tmp_path}", **settings)
    if request.param == "fsspec":
        pytest.importorskip("fsspec")
        return stores.open_store(f"memory:/{tmp_path}")
    return stores.open_store(Filenames() if request.param == "filenames" else Keyed())


def test_another_host_takes_what_one_has_compiled(store, tmp_path):
    bounds = {"call_seconds": 60, "compile_seconds": 60}  # on a loaded machine too
    first, missed = compile_through(cache_of(tmp_path, 1, stores.SharedStore(store, keys=KEYS, **bounds)))
    shared = stores.SharedStore(store, keys=KEYS, **bounds)
    cache = cache_of(tmp_path, 2, shared)
    second, hit = compile_through(cache)
    assert (missed, hit) == ("miss", "hit")
    assert (second.code, second.symbol_mapping, second.name) == (first.code, first.symbol_mapping, first.name)
    assert (cache.stats.store_hits, shared.stats.hits) == (1, 1)


def test_a_local_hit_does_not_ask_the_store(tmp_path):
    shared = stores.SharedStore(tmp_path / "store", keys=KEYS)
    compile_through(cache_of(tmp_path, 1, shared))
    before = shared.stats
    again = cache_of(tmp_path, 1, shared)
    assert [compile_through(again)[1] for _ in range(2)] == ["hit", "hit"]
    assert shared.stats == before


def test_stores_hold_bytes_and_leases(store):
    assert store.get("ab12") is None
    store.put("ab12", b"first")
    store.put("ab12", b"second")
    assert store.get("ab12") == b"second" and store.exists("ab12") and not store.exists("ab13")
    if not isinstance(store, stores.BackendStore):
        assert list(store.list()) == ["ab12"]
        store.delete("ab12")
        store.delete("ab12")
        assert store.get("ab12") is None and list(store.list()) == []
        assert store.lease("ab12", "one", 60) and store.lease("ab12", "one", 60)
        assert not store.lease("ab12", "two", 60)
        store.release("ab12", "two")
        assert not store.lease("ab12", "two", 60)
        store.release("ab12", "one")
        assert store.lease("ab12", "two", 0.02) and not store.lease("ab12", "three", 0.02)
        time.sleep(0.05)
        assert store.lease("ab12", "three", 60)
        assert list(store.list()) == []


def cut(sealed):
    return sealed[: len(sealed) // 2]


def flip(sealed):
    return sealed[:-100] + bytes([sealed[-100] ^ 1]) + sealed[-99:]


def sign_otherwise(sealed):
    (name, key) = sealed_key(sealed)
    return stores._seal.seal(key, stores._seal.unseal(key, sealed, KEYS), OTHER_KEYS)


def leave_unsigned(sealed):
    (name, key) = sealed_key(sealed)
    return stores._seal.seal(key, stores._seal.unseal(key, sealed, KEYS), None)


def rename(sealed):
    (name, key) = sealed_key(sealed)
    return stores._seal.seal("0" * 64, stores._seal.unseal(key, sealed, KEYS), KEYS)


def sealed_key(sealed):
    start = sealed.index(b'"key": "') + 8
    return "key", sealed[start : start + 64].decode()


@pytest.mark.parametrize("damage", [cut, flip, sign_otherwise, leave_unsigned, rename, lambda sealed: b""])
def test_an_entry_that_is_not_to_be_trusted_is_a_miss(damage, tmp_path):
    folder = stores.FolderStore(tmp_path / "store")
    first, _ = compile_through(cache_of(tmp_path, 1, stores.SharedStore(folder, keys=KEYS)))
    (name,) = folder.list()
    folder.put(name, damage(folder.get(name)))
    shared = stores.SharedStore(folder, keys=KEYS)
    second, result = compile_through(cache_of(tmp_path, 2, shared))
    assert result == "miss" and second.code == first.code
    assert (shared.stats.rejected, shared.stats.published) == (1, 1)
    assert compile_through(cache_of(tmp_path, 3, stores.SharedStore(folder, keys=KEYS)))[1] == "hit"


def test_keys_are_replaced_one_by_one(tmp_path):
    old, new = {"old": b"o" * 32}, {"new": b"n" * 32}
    compile_through(cache_of(tmp_path, 1, stores.SharedStore(tmp_path / "store", keys=stores.KeyRing(old))))
    both = stores.SharedStore(tmp_path / "store", keys=stores.KeyRing(new | old))
    assert compile_through(cache_of(tmp_path, 2, both))[1] == "hit"
    only = stores.SharedStore(tmp_path / "store", keys=stores.KeyRing(new))
    assert compile_through(cache_of(tmp_path, 3, only))[1] == "miss"


def test_the_environment_names_store_and_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("CUCORE_CACHE_STORE", str(tmp_path / "store"))
    with pytest.raises(ValueError, match="CUCORE_CACHE_KEYS"):
        cucore.ProgramCache(tmp_path / "1")
    (tmp_path / "keys").write_text(f"# of the tests\na {b'1'.hex() * 32}\n")
    monkeypatch.setenv("CUCORE_CACHE_KEYS", str(tmp_path / "keys"))
    assert [compile_through(cucore.ProgramCache(tmp_path / name))[1] for name in "12"] == ["miss", "hit"]
    monkeypatch.setenv("CUCORE_CACHE_KEYS", "unsigned")
    assert compile_through(cucore.ProgramCache(tmp_path / "3"))[1] == "miss"  # signed by a key it does not know
    (tmp_path / "keys").write_text("a b c\n")
    monkeypatch.setenv("CUCORE_CACHE_KEYS", str(tmp_path / "keys"))
    with pytest.raises(ValueError, match=r"keys:1"):
        cucore.ProgramCache(tmp_path / "4")


class Dead(stores.Store):
    """Raises, or does not answer in time."""

    def __init__(self, seconds):
        self.seconds, self.calls = seconds, 0

    def get(self, name):
        self.calls += 1
        if self.seconds:
            time.sleep(self.seconds)
        raise ConnectionRefusedError

    put = delete = get

    def list(self):
        return []


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_dead_store_costs_one_call(seconds, tmp_path, monkeypatch):
    monkeypatch.setattr(stores._shared, "FIRST_PAUSE", 60)  # longer than the test, on a loaded machine too
    dead = Dead(seconds)
    shared = stores.SharedStore(dead, keys=KEYS, call_seconds=0.05)
    cache = cache_of(tmp_path, 1, shared)
    assert [compile_through(cache, SOURCE + "\n" * n)[1] for n in range(3)] == ["miss"] * 3
    assert dead.calls == 1
    stats = shared.stats
    assert stats.errors + stats.timeouts == 1 and stats.skipped > 0 and stats.misses == 3


def test_a_store_that_comes_back_is_used_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stores._shared, "FIRST_PAUSE", 60)
    folder = stores.FolderStore(tmp_path / "store")
    shared = stores.SharedStore(folder, keys=KEYS)
    cache = cache_of(tmp_path, 1, shared)
    monkeypatch.setattr(folder, "get", Dead(0).get)
    compile_through(cache)
    monkeypatch.undo()
    shared._retry_at = 0  # the pause is over
    compile_through(cache, SOURCE + "\n")
    assert shared.stats.published == 1 and len(list(folder.list())) == 1


def in_children(number, work):
    """Runs work(i) in forked processes at once; their exit statuses."""
    children = []
    for i in range(number):
        child = os.fork()
        if child == 0:
            status = 99
            try:
                status = work(i)
            finally:
                os._exit(status)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.parametrize("kind", ["folder", "redis"])
def test_64_processes_on_4_hosts_compile_a_key_once(kind, tmp_path, request):
    where = tmp_path / "store"
    if kind == "redis":
        where = stores.RedisStore(request.getfixturevalue("redis_url"), prefix=f"{tmp_path}:")
    # The bounds are not what is tested: on a loaded machine a call may wait long for its turn.
    bounds = {"call_seconds": 60, "compile_seconds": 600, "lease_seconds": 60, "wait_seconds": 600}
    cucore.utils.make_program_cache_key(code=SOURCE, code_type="c++", options=OPTIONS, target_type="cubin")

    def work(i):
        cache = cache_of(tmp_path, i % 4, stores.SharedStore(where, keys=KEYS, **bounds))
        code, _ = compile_through(cache)
        return cache.stats.misses if code.symbol_mapping else 99

    statuses = in_children(64, work)
    assert sorted(statuses) == [0] * 63 + [1]


def test_a_holder_that_is_killed_is_replaced(tmp_path):
    def die(i):
        shared = stores.SharedStore(tmp_path / "store", keys=KEYS, lease_seconds=0.2)
        shared.publish = lambda key, entry: os.kill(os.getpid(), signal.SIGKILL)
        compile_through(cache_of(tmp_path, 1, shared))
        return 0

    assert in_children(1, die) == [-signal.SIGKILL]
    shared = stores.SharedStore(tmp_path / "store", keys=KEYS, lease_seconds=0.2)
    assert compile_through(cache_of(tmp_path, 2, shared))[1] == "miss"
    assert (shared.stats.waits, shared.stats.published) == (1, 1)


def test_a_late_holder_does_not_replace_a_result(tmp_path):
    folder = stores.FolderStore(tmp_path / "store")
    late, other = (stores.SharedStore(folder, keys=KEYS, lease_seconds=60) for _ in range(2))
    key = "5" * 64
    assert late.obtain(key) is None
    os.unlink(folder._file("leases", key))  # as one who saw it end does
    assert other.obtain(key) is None
    other.publish(key, b"first")
    assert folder.lease(key, "a third", 60)
    late.publish(key, b"second")
    assert other.obtain(key) == b"first" and late.stats.fenced == 1


def file_stream(folder, shared):
    return cucore.utils.FileStreamProgramCache(folder, store=shared)


def test_folders_of_images_share_a_store(store, tmp_path):
    bounds = {"call_seconds": 60, "compile_seconds": 60}
    one, two = (file_stream(tmp_path / host, stores.SharedStore(store, keys=KEYS, **bounds)) for host in "12")
    first = cucore.Program(SOURCE, "c++", OPTIONS).compile("cubin", ["fill<int>"], cache=one)
    shared = two._store
    program = cucore.Program(SOURCE, "c++", OPTIONS)
    second = program.compile("cubin", ["fill<int>"], cache=two)
    assert (program.last_report["cache"], shared.stats.bytes_in > 0) == ("hit", True)
    assert (second.code, second.symbol_mapping) == (first.code, first.symbol_mapping)
    asked = shared.stats
    key = cucore.utils.make_program_cache_key(
        code=SOURCE, code_type="c++", options=OPTIONS, target_type="cubin", name_expressions=["fill<int>"]
    )
    assert two[key] == first.code and shared.stats == asked  # a local hit asks nobody
    if not isinstance(store, stores.BackendStore):  # which cannot remove
        del one[key]
        assert list(store.list()) == [] and key not in list(one._known)
        assert one.get(key) is None and two[key] == first.code


@pytest.mark.parametrize("damage", [cut, flip, lambda sealed: b""])
def test_images_that_are_not_to_be_trusted_are_misses(damage, tmp_path):
    folder = stores.FolderStore(tmp_path / "store")
    file_stream(tmp_path / "1", stores.SharedStore(folder, keys=KEYS))[b"key"] = b"code" * 100
    (name,) = folder.list()
    folder.put(name, damage(folder.get(name)))
    assert file_stream(tmp_path / "2", stores.SharedStore(folder, keys=KEYS)).get(b"key") is None
    strangers = stores.SharedStore(folder, keys=OTHER_KEYS)
    file_stream(tmp_path / "3", strangers)[b"key"] = b"else"
    assert file_stream(tmp_path / "2", stores.SharedStore(folder, keys=KEYS)).get(b"key") is None


def test_a_dead_store_costs_a_folder_of_images_nothing_but_time(tmp_path):
    cache = file_stream(tmp_path / "1", stores.SharedStore(Dead(0), keys=KEYS))
    cache[b"key"] = b"code"
    assert cache[b"key"] == b"code" and cache.get(b"other") is None
    del cache[b"key"]
    with pytest.raises(KeyError):
        del cache[b"key"]


class Slow(Dead):
    def get(self, name):
        time.sleep(0.02)


def test_many_threads_may_ask_at_once():
    shared = stores.SharedStore(Slow(0), allow_unsigned=True, call_seconds=20, compile_seconds=20)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(shared.obtain, [character * 64 for character in "0123456789abcdef"])) == [None] * 16
    assert shared.stats.skipped == 0


class Late(stores.FolderStore):
    """Shows an entry from the second look on."""

    looks = 0

    def get(self, name):
        self.looks += 1
        return super().get(name) if self.looks > 1 else None


def test_a_result_that_shows_after_the_lease_is_taken_and_the_lease_ended(tmp_path):
    bounds = {"call_seconds": 60, "compile_seconds": 60}
    compile_through(cache_of(tmp_path, 1, stores.SharedStore(tmp_path / "store", keys=KEYS, **bounds)))
    late = Late(tmp_path / "store")
    assert compile_through(cache_of(tmp_path, 2, stores.SharedStore(late, keys=KEYS, **bounds)))[1] == "hit"
    (name,) = late.list()
    assert late.lease(name, "another", 60)


def test_a_failed_compile_ends_the_lease(tmp_path):
    shared = stores.SharedStore(tmp_path / "store", keys=KEYS)
    for host in (1, 2):
        with pytest.raises(cucore.NVRTCError):
            compile_through(cache_of(tmp_path, host, shared), "no C++")
    assert shared.stats.waits == 0 and shared.stats.misses == 2


@pytest.mark.parametrize("place", ["folder", "redis"])
def test_faults_cost_compiles_only(place, request):
    if place == "redis":
        request.getfixturevalue("redis_url")  # or there is no server to be had
    faults = {"folder": store_faults.FOLDER_FAULTS, "redis": store_faults.REDIS_FAULTS}[place]
    # In a process of its own: its rounds fork, which a process that has used CUDA cannot.
    rounds = ["--rounds", str(len(faults)), "--only", place, "--jobs", "2"]
    done = subprocess.run([sys.executable, store_faults.__file__, *rounds], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_counts_as_prometheus_reads_them(tmp_path):
    shared = stores.SharedStore(tmp_path / "store", keys=KEYS)
    compile_through(cache_of(tmp_path, 1, shared))
    assert "# TYPE cucore_store_published_total counter\ncucore_store_published_total 1\n" in stores.prometheus(shared)


def test_counts_as_opentelemetry_has_them(tmp_path):
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    from opentelemetry.sdk.metrics import MeterProvider

    shared = stores.SharedStore(tmp_path / "store", keys=KEYS)
    compile_through(cache_of(tmp_path, 1, shared))
    reader = export.InMemoryMetricReader()
    stores.opentelemetry(shared, MeterProvider([reader]).get_meter("test"), {"store": "of all"})
    (scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
    points = {metric.name: metric.data.data_points[0] for metric in scope.metrics}
    assert points["cucore.store.published"].value == 1
    assert points["cucore.store.hits"].attributes == {"store": "of all"}


def test_something_else_is_no_store():
    with pytest.raises(TypeError, match="not int"):
        stores.open_store(7)
