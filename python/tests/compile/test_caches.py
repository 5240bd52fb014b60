"""The program cache and the program caches. Needs no driver."""

import io
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

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
        print(program.last_report["cache"], code.symbol_mapping["f<int>"].decode())
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


def test_something_else_is_no_cache_whatever_else_is_wrong():
    with pytest.raises(TypeError, match="ProgramCacheResource"):
        compile_through({})
    with pytest.raises(TypeError, match="ProgramCacheResource"):
        cucore.Program(TEMPLATE, "c++", ARCH).compile("no such target", cache={})


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
    with pytest.raises(KeyError):  # Python looks for an entry 0
        _ = key in cache


class CountingCache(utils.InMemoryProgramCache):
    def __init__(self):
        super().__init__()
        self.calls = []

    def get(self, key, default=None):
        self.calls.append("get")
        return super().get(key, default)

    def __setitem__(self, key, value):
        self.calls.append("set")
        super().__setitem__(key, value)


def test_what_a_subclass_does_in_its_own_way_is_used():
    cache = CountingCache()
    source = 'extern "C" __global__ void k() {}'
    first, missed = compile_through(cache, source, names=())
    second, hit = compile_through(cache, source, names=())
    assert (missed, hit, cache.calls) == ("miss", "hit", ["get", "set", "get"]) and first.code == second.code


def test_what_a_cache_raises_is_not_hidden(monkeypatch):
    cache = DictCache()
    monkeypatch.setattr(DictCache, "get", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compile_through(cache, names=())
    monkeypatch.undo()
    monkeypatch.setattr(DictCache, "__setitem__", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compile_through(cache, names=())


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
    make = {"memory": utils.InMemoryProgramCache, "file": lambda **k: utils.FileStreamProgramCache(tmp_path, **k)}[kind]
    cache = make(max_size_bytes=350)
    for key in ("a", "b", "c"):
        cache[key] = b"x" * 100
    assert cache["a"]
    cache["d"] = b"x" * 100
    assert cache.get("b") is None and cache.get("a") and cache.get("d")
    for bad in (0, -1):
        with pytest.raises(ValueError):
            make(max_size_bytes=bad)


def test_the_cap_counts_images_alone(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path, max_size_bytes=1000)
    cache["a"], cache["b"] = b"x" * 400, b"x" * 600
    assert len(cache) == 2
    cache["c"] = b"x"
    assert len(cache) == 2 and cache.get("a") is None
    cache["d"] = b"x" * 1001
    assert len(cache) == 0


def test_entries_of_the_file_cache_are_raw_images(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path)
    code, _ = compile_through(cache)
    (entry,) = (path for path in (tmp_path / "entries").rglob("*") if path.is_file())
    assert entry.read_bytes() == code.code
    assert oct(entry.stat().st_mode & 0o777) == "0o600" and len(entry.parent.name) == 2 and len(entry.name) == 62


def only_file(folder):
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


def test_links_and_foreign_files_are_no_entries_of_the_file_cache(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path / "cache")
    cache["k"] = b"image"
    image = only_file(tmp_path / "cache/entries")
    elsewhere = tmp_path / "elsewhere"
    image.rename(elsewhere)
    image.symlink_to(elsewhere)
    assert cache.get("k") is None and elsewhere.read_bytes() == b"image"
    cache["k"] = b"image"
    assert not image.is_symlink() and cache["k"] == b"image"
    if os.geteuid() == 0:
        os.chown(image, 12345, 12345)
        assert cache.get("k") is None
        assert utils.FileStreamProgramCache(tmp_path / "cache", shared=True)["k"] == b"image"


def test_an_image_that_disagrees_with_its_record_is_removed(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path, max_size_bytes=10_000)
    cache["k"] = b"image"
    image = only_file(tmp_path / "entries")
    for damage in (b"imag", b"imagE", b""):
        image.write_bytes(damage)
        assert cache.get("k") is None and not image.exists() and len(cache) == 0
        cache["k"] = b"image"


def test_an_image_without_its_record_is_a_miss_since_it_may_be_cut(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path)
    cache["k"] = b"image"
    image, record = only_file(tmp_path / "entries"), only_file(tmp_path / "records")
    image.write_bytes(b"ima")
    record.write_bytes(b"{broken")
    assert cache.get("k") is None
    record.unlink()
    assert cache.get("k") is None and image.exists()  # another program's own business
    cache["k"] = b"image"
    assert cache["k"] == b"image"


def test_eviction_counts_what_others_have_removed(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path, max_size_bytes=450)
    for key in "abcd":
        cache[key] = b"x" * 100
    other = utils.FileStreamProgramCache(tmp_path)
    for key in "ab":
        del other[key]
    cache["e"] = b"x" * 100
    assert [cache.get(key) is not None for key in "abcde"] == [False, False, True, True, True]


def test_stale_temporary_files_go_and_fresh_ones_stay(tmp_path):
    utils.FileStreamProgramCache(tmp_path)
    stale, fresh = tmp_path / "tmp/entry-old", tmp_path / "tmp/entry-new"
    for path in (stale, fresh):
        path.write_bytes(b"x")
    os.utime(stale, (0, 0))
    cache = utils.FileStreamProgramCache(tmp_path)
    assert not stale.exists() and fresh.exists()
    cache.clear()
    assert fresh.exists()
    for folder in ("entries", "records", "tmp"):
        assert oct((tmp_path / folder).stat().st_mode & 0o777) == "0o700"


def test_a_folder_made_for_the_cache_is_the_users_alone(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path / "new" / "cache")
    assert oct(cache.path.stat().st_mode & 0o777) == "0o700"


def test_clearing_leaves_what_is_stored_meanwhile(tmp_path, monkeypatch):
    cache = utils.FileStreamProgramCache(tmp_path)
    cache["a"] = cache["b"] = b"1"
    seen = list(cache._files())
    cache["b"] = b"22"
    monkeypatch.setattr(cache, "_files", lambda: iter(seen))
    cache.clear()
    monkeypatch.undo()
    assert cache.get("a") is None and cache["b"] == b"22"


def test_a_file_cache_works_on_when_its_folders_are_deleted(tmp_path):
    cache = utils.FileStreamProgramCache(tmp_path / "cache")
    cache["k"] = b"image"
    shutil.rmtree(tmp_path / "cache")
    assert cache.get("k") is None and len(cache) == 0
    cache["k"] = b"image"
    assert cache["k"] == b"image"


def test_update_takes_mappings_and_pairs_and_there_is_no_in():
    cache = utils.InMemoryProgramCache()
    cache.update({"a": b"1"})
    cache.update([("b", b"2"), (b"c", bytearray(b"3"))])
    assert [cache[key] for key in (b"a", "b", "c")] == [b"1", b"2", b"3"]
    with pytest.raises(TypeError):
        assert "a" in cache
    with pytest.raises(TypeError):
        list(cache)


def test_a_hit_behaves_like_a_compile(cache):
    options = {**ARCH, "name": "named.cu"}
    for _ in range(2):
        log = io.StringIO()
        program = cucore.Program('extern "C" __global__ void k() { int unused; }', "c++", options)
        code = program.compile("cubin", logs=log, cache=cache)
        assert (code.name, code.code_type) == ("named.cu", "cubin")
    assert log.getvalue() == "" and program.last_report["cache"] == "hit"


def test_eight_processes_that_want_one_program_compile_it_once(tmp_path):
    program = """
        import sys, cucore
        cache = cucore.ProgramCache(sys.argv[1])
        program = cucore.Program("template <class T> __global__ void f(T*) {}", "c++", {"arch": "sm_80"})
        program.compile("cubin", ["f<int>"], cache=cache)
        print(program.last_report["cache"])
        """
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: run_python(program, tmp_path / "cache").stdout.strip(), range(8)))
    assert sorted(results) == ["hit"] * 7 + ["miss"]


def test_other_caches_get_code_for_several_architectures():
    cache = DictCache()
    for result in ("miss", "hit"):
        program = cucore.Program('extern "C" __global__ void k() {}', "c++", {"arch": ["sm_80", "sm_90"]})
        code = program.compile("cubin", cache=cache)
        assert program.last_report["cache"] == result and code.code_type == "fatbin" and len(code.images) == 4


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
