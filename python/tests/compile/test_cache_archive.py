"""A cache's entries in one signed file, and that both languages read what the other writes."""

import subprocess
import tarfile
import time

import pytest

import cucore
from cucore import Program, ProgramCache, ProgramOptions
from cucore.stores import FolderStore, KeyRing, RejectedEntry, SharedStore, _seal

KEYS = KeyRing({"clé": b"0123456789abcdef", "old": b"fedcba9876543210"})
SOURCE = 'extern "C" __global__ void one(int* x) { *x = 1; }'


def program():
    return Program(SOURCE, "c++", ProgramOptions(arch="sm_90"))


@pytest.fixture
def full(tmp_path):
    cache = ProgramCache(tmp_path / "full")
    for target in ("ptx", "cubin"):
        program().compile(target, cache=cache)
    return cache


def test_entries_say_what_they_are(full):
    entries = full.entries()
    assert len(entries) == 2 and {entry.bytes > 100 for entry in entries} == {True}
    assert all(abs(time.time() - at) < 1000 for entry in entries for at in (entry.stored, entry.used))


def test_prune_follows_its_limits(full):
    assert full.prune() == [] and full.prune(max_unused=1000, max_age=1000) == []
    assert len(full.prune(max_bytes=0, dry_run=True)) == 2 and len(full) == 2
    kept = full.entries()[0]
    assert len(full.prune(max_bytes=kept.bytes)) == 1 and full.entries()[0].key == kept.key
    with pytest.raises(TypeError):
        full.prune(10)


def test_an_archive_gives_what_was_compiled_elsewhere(full, tmp_path):
    assert full.export_archive(tmp_path / "a.tar", keys=KEYS) == 2
    other = ProgramCache(tmp_path / "other")
    assert other.import_archive(tmp_path / "a.tar", keys=KEYS) == (2, 0, {})
    program().compile("cubin", cache=other)
    assert (other.stats.hits, other.stats.misses) == (1, 0)
    only = [full.entries()[0].key]
    assert full.export_archive(tmp_path / "one.tar", keys=KEYS, only=only) == 1
    assert other.import_archive(tmp_path / "one.tar", keys=KEYS).already_there == 1


def test_what_is_not_trusted_is_not_taken(full, tmp_path, monkeypatch):
    monkeypatch.delenv("CUCORE_CACHE_KEYS", raising=False)
    with pytest.raises(ValueError, match="CUCORE_CACHE_KEYS"):
        full.export_archive(tmp_path / "a.tar")
    full.export_archive(tmp_path / "a.tar", allow_unsigned=True)
    other = ProgramCache(tmp_path / "other")
    report = other.import_archive(tmp_path / "a.tar", keys=KEYS)
    assert report.imported == 0 and set(report.rejected.values()) == {"it is not signed"} and len(other) == 0
    (tmp_path / "a.tar").write_bytes((tmp_path / "a.tar").read_bytes()[:-2000])
    with pytest.raises(ValueError, match="cut"):
        other.import_archive(tmp_path / "a.tar", allow_unsigned=True)


def test_python_reads_what_the_core_signs(full, tmp_path):
    full.export_archive(tmp_path / "a.tar", keys=KEYS)
    with tarfile.open(tmp_path / "a.tar") as archive:
        for member in archive:
            key, sealed = member.name.rpartition("/")[2], archive.extractfile(member).read()
            assert _seal.unseal(key, sealed, KEYS).startswith(b"CUCORE")
            with pytest.raises(RejectedEntry):
                _seal.unseal(key, sealed, KeyRing({"clé": b"another key here"}))
    (tmp_path / "store").mkdir()
    subprocess.run(["tar", "-C", tmp_path / "store", "-xf", tmp_path / "a.tar"], check=True)
    cache = ProgramCache(tmp_path / "third", store=SharedStore(FolderStore(tmp_path / "store"), keys=KEYS))
    program().compile("ptx", cache=cache)
    assert cache.stats.store_hits == 1


def test_the_core_reads_what_python_signs(tmp_path):
    store = SharedStore(FolderStore(tmp_path / "store"), keys=KEYS)
    program().compile("ptx", cache=ProgramCache(tmp_path / "first", store=store))
    with tarfile.open(tmp_path / "packed.tar", "w") as archive:
        archive.add(tmp_path / "store", arcname=".")
    other = ProgramCache(tmp_path / "other")
    assert other.import_archive(tmp_path / "packed.tar", keys=KEYS).imported == 1
    assert isinstance(cucore.ProgramCache(tmp_path / "other").entries(), list)
