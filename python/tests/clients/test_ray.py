"""cucore in real Ray tasks and actors: what one has compiled the others take from a store the environment names."""

import os

import pytest
from conftest import SAXPY

import cucore as core

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
