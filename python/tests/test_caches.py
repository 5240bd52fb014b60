"""The program cache and the program caches. Needs no driver."""

import os

import pytest
from conftest import run_python

import cucore
from cucore import utils

TEMPLATE = "template <class T> __global__ void fill(T* x, T value) { *x = value; }"
ARCH = {"arch": "sm_80"}


@pytest.fixture(params=["compile", "memory", "file"])
def cache(request, tmp_path):
    return {
        "compile": lambda: cucore.ProgramCache(tmp_path / "cache"),
        "memory": utils.InMemoryProgramCache,
        "file": lambda: utils.FileStreamProgramCache(tmp_path / "cache"),
    }[request.param]()


def compile_through(cache, source=TEMPLATE, target="cubin", names=("fill<int>",), **options):
    program = cucore.Program(source, "c++", {**ARCH, **options})
    return program.compile(target, names, cache=cache), program.last_report["cache"]


def test_the_second_compile_comes_from_the_cache(cache):
    first, missed = compile_through(cache)
    second, hit = compile_through(cache)
    assert (missed, hit) == ("miss", "hit")
    assert (second.code, second.symbol_mapping, second.name) == (first.code, first.symbol_mapping, first.name)
    assert second.ptx == first.ptx and len(cache) == 1


def test_every_input_counts(cache):
    compile_through(cache)
    for change in ({"source": TEMPLATE + "\n"}, {"target": "ptx"}, {"names": ("fill<float>",)}, {"fma": False},
                   {"arch": "sm_90"}, {"name": "other"}, {"define_macro": "A=1"}):  # fmt: skip
        assert compile_through(cache, **change)[1] == "miss", change
        assert compile_through(cache, **change)[1] == "hit", change


def test_a_changed_header_is_a_miss(cache, tmp_path):
    header = tmp_path / "value.h"
    source = '#include "value.h"\nextern "C" __device__ int v = VALUE;'
    header.write_text("#define VALUE 1\n")
    assert compile_through(cache, source, "ptx", (), include_path=str(tmp_path))[1] == "miss"
    assert compile_through(cache, source, "ptx", (), include_path=str(tmp_path))[1] == "hit"
    header.write_text("#define VALUE 2\n")
    code, result = compile_through(cache, source, "ptx", (), include_path=str(tmp_path))
    assert result == "miss" and b"v = 2" in code.code


def test_what_cannot_be_keyed_is_compiled(cache):
    source = 'extern "C" __device__ char when[] = __TIME__;'
    for _ in range(2):
        code, result = compile_through(cache, source, "ptx", ())
        assert result == "uncacheable" and code.code


def test_a_failed_compile_stores_nothing(cache):
    with pytest.raises(cucore.NVRTCError):
        compile_through(cache, "broken", names=())
    assert len(cache) == 0


def test_clear_empties(cache):
    compile_through(cache)
    cache.clear()
    assert len(cache) == 0 and compile_through(cache)[1] == "miss"


def test_another_process_hits(tmp_path):
    program = """
        import sys, cucore
        from cucore import utils
        cache = getattr(utils, sys.argv[1])(sys.argv[2])
        program = cucore.Program("template <class T> __global__ void f(T*) {}", "c++", {"arch": "sm_80"})
        code = program.compile("cubin", ["f<int>"], cache=cache)
        print(program.last_report["cache"], code.symbol_mapping["f<int>"])
        """
    for name in ("ProgramCache", "FileStreamProgramCache"):
        outputs = [run_python(program, name, tmp_path / name).stdout for _ in range(2)]
        assert outputs == ["miss _Z1fIiEvPT_\n", "hit _Z1fIiEvPT_\n"]


def test_a_damaged_file_is_a_miss(tmp_path):
    for cache in (cucore.ProgramCache(tmp_path / "a"), utils.FileStreamProgramCache(tmp_path / "b")):
        compile_through(cache)
        for folder, _, names in os.walk(cache.path):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.getsize(path) > 1000:
                    os.truncate(path, os.path.getsize(path) // 2)
        assert compile_through(cache)[1] == "miss"
        assert compile_through(cache)[1] == "hit"


def test_something_else_is_no_cache():
    with pytest.raises(TypeError, match="ProgramCacheResource"):
        compile_through({})


class DictCache(utils.ProgramCacheResource):
    def __init__(self):
        self.entries = {}

    def __getitem__(self, key):
        return self.entries[key]

    def __setitem__(self, key, value):
        self.entries[key] = value.code

    def __delitem__(self, key):
        del self.entries[key]

    def __len__(self):
        return len(self.entries)

    def clear(self):
        self.entries.clear()


def test_a_cache_of_ones_own_gets_the_peers_protocol():
    cache = DictCache()
    source = 'extern "C" __global__ void k() {}'
    first, missed = compile_through(cache, source, names=())
    second, hit = compile_through(cache, source, names=())
    assert (missed, hit) == ("miss", "hit") and first.code == second.code
    key = utils.make_program_cache_key(code=source, code_type="c++", options=ARCH, target_type="cubin")
    assert cache[key] == first.code and len(key) == 32
    with pytest.raises(ValueError, match="name_expressions"):
        compile_through(cache)
    with pytest.raises(TypeError):
        _ = key in cache


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_program_caches_are_mappings_of_bytes(kind, tmp_path):
    make = {"memory": utils.InMemoryProgramCache, "file": lambda: utils.FileStreamProgramCache(tmp_path)}[kind]
    with make() as cache:
        cache["k"] = b"value"
        assert cache[b"k"] == cache.get(bytearray(b"k")) == b"value"
        cache.update({"a": bytearray(b"1"), "b": memoryview(b"2")})
        assert (len(cache), cache["a"], cache["b"]) == (3, b"1", b"2")
        del cache["a"]
        for missing in (lambda: cache["a"], lambda: cache.__delitem__("a")):
            with pytest.raises(KeyError):
                missing()
        assert cache.get("a") is None and cache.get("a", 5) == 5
        for key, value in ((5, b""), ("k", "text"), ("k", 5)):
            with pytest.raises(TypeError):
                cache[key] = value
        cache.clear()
        assert len(cache) == 0


def test_object_code_in_a_file_is_stored_by_its_bytes(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_bytes(b"ptx text")
    cache = utils.InMemoryProgramCache()
    cache["k"] = cucore.ObjectCode.from_ptx(path)
    assert cache["k"] == b"ptx text"
    path.unlink()
    with pytest.raises(FileNotFoundError, match="k.ptx"):
        cache["k"] = cucore.ObjectCode.from_ptx(path)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_the_cap_removes_what_was_used_longest_ago(kind, tmp_path):
    cap = {"memory": 350, "file": 3 * 250}[kind]
    make = {"memory": utils.InMemoryProgramCache, "file": lambda **k: utils.FileStreamProgramCache(tmp_path, **k)}[kind]
    cache = make(max_size_bytes=cap)
    for key in ("a", "b", "c"):
        cache[key] = b"x" * 100
    assert cache["a"]
    cache["d"] = b"x" * 100
    assert cache.get("b") is None and cache.get("a") and cache.get("d")
    for bad in (0, -1):
        with pytest.raises(ValueError):
            make(max_size_bytes=bad)


def test_entries_of_the_file_cache_are_raw_images(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path)
    code, _ = compile_through(cache)
    (entry,) = (path for path in (tmp_path / "entries").rglob("*") if path.is_file())
    assert entry.read_bytes() == code.code
    assert oct(entry.stat().st_mode & 0o777) == "0o600" and len(entry.parent.name) == 2 and len(entry.name) == 62


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"code_type": "fortran"}, ValueError),
        ({"target_type": "exe"}, ValueError),
        ({"code": b"bytes"}, TypeError),
        ({"options": {**ARCH, "create_pch": "a"}}, ValueError),
        ({"options": {**ARCH, "time": "a.csv"}, "extra_digest": b"x"}, ValueError),
        ({"options": {**ARCH, "include_path": "a"}}, ValueError),
        ({"options": {**ARCH, "name": "dir/file"}}, ValueError),
        ({"name_expressions": [bytearray(b"x")]}, TypeError),
    ],
)
def test_keys_refuse_what_they_cannot_cover(change, expected):
    arguments = {"code": "", "code_type": "c++", "options": ARCH, "target_type": "ptx", **change}
    with pytest.raises(expected):
        utils.make_program_cache_key(**arguments)


def test_extra_digest_enters_the_key():
    arguments = {"code": "int x;", "code_type": "C++", "options": {**ARCH, "include_path": "a"}, "target_type": "PTX"}
    one = utils.make_program_cache_key(**arguments, extra_digest=b"1")
    assert one == utils.make_program_cache_key(**arguments, extra_digest=b"1")
    assert one != utils.make_program_cache_key(**arguments, extra_digest=b"2")


def test_a_cache_says_why_a_compile_would_miss(tmp_path):
    cache = cucore.ProgramCache(tmp_path / "cache", max_bytes=1 << 20)
    header = tmp_path / "value.h"
    header.write_text("#define VALUE 1\n")
    options = {"arch": "sm_80", "include_path": str(tmp_path)}
    program = cucore.Program('#include "value.h"\nextern "C" __device__ int v = VALUE;', "c++", options)
    assert cache.why(program, "ptx") == "miss: no program of this name and target has been stored"
    program.compile("ptx", cache=cache)
    assert cache.why(program, "PTX") == "hit"
    header.write_text("#define VALUE 2\n")
    assert cache.why(program, "ptx").startswith("miss: ") and "value.h" in cache.why(program, "ptx")
    dated = cucore.Program('extern "C" __device__ char when[] = __TIME__;', "c++", ARCH)
    assert cache.why(dated, "ptx").startswith("uncacheable: ") and "__TIME__" in cache.why(dated, "ptx")
    assert cache.stats.misses == 1 and cache.stats.hits == 0


def test_counters_of_the_program_cache(tmp_path):
    cache = cucore.ProgramCache(tmp_path)
    compile_through(cache)
    compile_through(cache)
    assert cache.stats.hits == cache.stats.misses == cache.stats.stores == 1
    assert cache.size_bytes > 0 and str(tmp_path) in repr(cache)
