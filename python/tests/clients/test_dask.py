"""cucore on a real Dask cluster of processes."""

import os

import numpy as np
import pytest
from conftest import SAXPY, run_python

import cucore as core

distributed = pytest.importorskip("distributed")
import dask  # noqa: E402

import cucore.dask  # noqa: E402

OPTIONS = {"name": "saxpy"}
NAMES = ("saxpy<float>",)


def saxpy_here(code, n=256):
    """A worker's own launch; returns its process and whether the numbers are right."""
    device = core.Device()
    device.set_current()
    stream = device.default_stream
    memory = core.LegacyPinnedMemoryResource()
    buffers = [memory.allocate(4 * n) for _ in range(3)]
    x, y, out = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
    x[:], y[:], out[:] = np.arange(n), 1, 0
    kernel = code.get_kernel("saxpy<float>")
    core.launch(stream, core.LaunchConfig(grid=2, block=128), kernel, np.float32(2), *buffers, np.uint64(n))
    stream.sync()
    return os.getpid(), bool((out == 2 * x + y).all())


def die_once(code, marker):
    """Kills its worker in the middle of the work, the first time."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return saxpy_here(code)
    code.get_kernel("saxpy<float>")
    return os.kill(os.getpid(), 9)


def misses():
    return cucore.dask.cache().stats.misses


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    with (
        # A cluster gives up a worker that dies and is not back by then: on a loaded machine that takes long.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=folder
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        cucore.dask.install(client, cache=folder / "cache")
        yield client


def test_code_is_compiled_once_and_runs_on_every_worker(client):
    code = cucore.dask.compile(client, SAXPY, options=OPTIONS, name_expressions=NAMES)
    results = cucore.dask.run(client, saxpy_here, code)
    assert len(results) == 2 and len({pid for pid, _ in results.values()}) == 2
    assert all(right for _, right in results.values())
    assert sum(client.run(misses).values()) == 1
    here = code.result()
    assert (here.name, here.code_type, here.is_loaded) == ("saxpy", "cubin", False)
    assert saxpy_here(here)[1]


def test_code_of_the_client_runs_on_every_worker(client):
    arch = f"sm_{core.Device().arch}"
    code = core.Program(SAXPY, "c++", {"arch": arch}).compile("cubin", NAMES)
    assert all(right for _, right in cucore.dask.run(client, saxpy_here, code).values())


def test_a_worker_that_is_killed_in_the_middle_is_replaced(client, tmp_path):
    code = cucore.dask.compile(client, SAXPY, options=OPTIONS, name_expressions=NAMES)
    distributed.wait(code)
    future = client.submit(die_once, code, str(tmp_path / "marker"), pure=False)
    assert future.result(timeout=60)[1]
    assert (tmp_path / "marker").exists()
    client.wait_for_workers(2, timeout=60)
    results = cucore.dask.run(client, saxpy_here, code)
    assert len(results) == 2 and all(right for _, right in results.values())
    # What the dead worker had compiled was in the cache that all share.
    assert sum(client.run(misses).values()) <= 1


def test_workers_with_folders_of_their_own_share_a_store(client, tmp_path):
    def compile_apart(folder, store):
        os.environ["CUCORE_CACHE_KEYS"] = f"{folder}/keys"
        plugin = cucore.dask.Setup(f"{folder}/{os.getpid()}", store)
        plugin.setup(None)
        cucore.dask._compile(SAXPY, "c++", "cubin", {"arch": "sm_80"}, NAMES)
        return cucore.dask.cache().stats.misses, cucore.dask.cache().stats.store_hits

    (tmp_path / "keys").write_text(f"a {'31' * 32}\n")
    try:
        assert sorted(client.run(compile_apart, str(tmp_path), str(tmp_path / "store")).values()) == [(0, 1), (1, 0)]
    finally:
        cucore.dask.install(client, cache=tmp_path / "cache")


def counts_of_references():
    shared = cucore.dask._sending.store
    return shared.stats.sent, shared.stats.received


def large_code():
    return core.ObjectCode.from_cubin(bytes(200_000), name="large", symbol_mapping={"b": "y", "a": "x"})


def test_code_travels_by_reference_where_all_have_the_store(client, tmp_path, monkeypatch):
    (tmp_path / "keys").write_text(f"a {'31' * 32}\n")
    keys = {"CUCORE_CACHE_KEYS": f"{tmp_path}/keys"}
    monkeypatch.setenv(*next(iter(keys.items())))
    client.run(os.environ.update, keys)
    cucore.dask.install(client, cache=tmp_path / "cache", store=tmp_path / "store")
    try:
        code = large_code()
        assert cucore.dask._serialize(code)[1] == []  # no frames
        lengths = cucore.dask.run(client, lambda got: (len(got.code), got.name, list(got.symbol_mapping)), code)
        assert list(lengths.values()) == [(200_000, "large", ["b", "a"])] * 2
        assert [received for _, received in client.run(counts_of_references).values()] == [1, 1]
        back = client.submit(large_code, pure=False).result()
        assert (back.code, back.name, list(back.symbol_mapping)) == (code.code, "large", ["b", "a"])
        assert sorted(sent for sent, _ in client.run(counts_of_references).values())[-1] > 0
        assert counts_of_references()[1] > 0
    finally:
        cucore.dask.install(client, cache=tmp_path / "cache")
    assert cucore.dask._serialize(code)[1] == [code.code] and client.run(lambda: cucore.dask._sending is None)


def test_code_travels_as_bytes_where_the_client_has_no_keys(client, tmp_path, monkeypatch):
    monkeypatch.delenv("CUCORE_CACHE_KEYS", raising=False)
    (tmp_path / "keys").write_text(f"a {'31' * 32}\n")
    client.run(os.environ.update, {"CUCORE_CACHE_KEYS": f"{tmp_path}/keys"})
    cucore.dask.install(client, cache=tmp_path / "cache", store=tmp_path / "store")
    try:
        assert set(client.run(lambda: cucore.dask._sending is None).values()) == {True}
        assert len(client.submit(large_code, pure=False).result().code) == 200_000
    finally:
        cucore.dask.install(client, cache=tmp_path / "cache")


def test_damaged_frames_are_refused():
    code = core.ObjectCode.from_ptx(b"some text", name="victim", symbol_mapping={"a": "b"})
    header, frames = cucore.dask._serialize(code)
    again = cucore.dask._deserialize(header, [memoryview(frames[0])])
    assert (again.code, again.name, again.symbol_mapping) == (b"some text", "victim", {"a": "b"})
    with pytest.raises(ValueError, match="'victim' was damaged"):
        cucore.dask._deserialize(header, [b"some tezt"])


def test_importing_cucore_does_not_import_dask():
    source = "import sys, cucore; print([m for m in sys.modules if m.startswith(('dask', 'distributed'))])"
    assert run_python(source).stdout == "[]\n"
