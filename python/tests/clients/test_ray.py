"""cucore in real Ray tasks and actors: what one has compiled the others take from a store the environment names."""

import os

import pytest
from conftest import SAXPY

import cucore as core
import cucore.stores

ray = pytest.importorskip("ray")

OPTIONS = {"arch": "sm_80", "name": "saxpy"}
NAMES = ("saxpy<float>",)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray")
    (folder / "keys").write_text(f"a {'31' * 32}\n")
    named = {"CUCORE_CACHE_STORE": str(folder / "store"), "CUCORE_CACHE_KEYS": str(folder / "keys")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))  # where Ray leaves a token
        ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": named})
        yield folder
        ray.shutdown()


def test_tasks_and_actors_compile_a_key_once(store):
    # What goes to Ray stands here, since its workers cannot import this file.
    def compile_apart(folder, host):
        cache = core.ProgramCache(os.path.join(folder, host))
        with core.Program(SAXPY, "c++", OPTIONS) as program:
            code = program.compile("cubin", NAMES, cache=cache)
        return code, cache.stats.misses, cache.stats.store_hits

    class Compiler:
        def compile(self, *arguments):
            return compile_apart(*arguments)

    task = ray.remote(compile_apart)
    actor = ray.remote(Compiler).remote()
    calls = [task.remote(str(store), "a"), task.remote(str(store), "b"), actor.compile.remote(str(store), "c")]
    results = ray.get(calls, timeout=100)
    assert sorted(counts for _, *counts in results) == [[0, 1], [0, 1], [1, 0]]
    assert len({code.code for code, _, _ in results}) == 1
    assert all(code.symbol_mapping == results[0][0].symbol_mapping for code, _, _ in results)


def test_code_goes_to_tasks_and_comes_back_by_reference(store, monkeypatch):
    def look(code):
        import pickle

        from cucore.stores import _references

        message = pickle.dumps(code)  # as a worker sends it, whose environment says how
        return code, len(code.code), len(message), _references._configured().stats.received

    for name in ("CUCORE_CACHE_STORE", "CUCORE_CACHE_KEYS"):
        monkeypatch.setenv(name, str(store / name.rpartition("_")[2].lower()))
    large = core.ObjectCode.from_cubin(bytes(200_000), name="large", symbol_mapping={"b": "y", "a": "x"})
    with core.stores.send_by_reference() as shared:
        task = ray.remote(look).options(runtime_env={"env_vars": {"CUCORE_SEND_BY_REFERENCE": "1"}})
        back, size, message, received = ray.get(task.remote(large), timeout=100)
        assert (size, message < 1000, received > 0) == (200_000, True, True)
        assert (shared.stats.sent, shared.stats.received) == (1, 1)
    assert (back.code, back.name, list(back.symbol_mapping)) == (large.code, "large", ["b", "a"])
