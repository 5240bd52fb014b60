"""The CPU device's compiled kernels in stores: what one host has compiled, another takes into its folder."""

import hashlib
import importlib.util

import pytest
from conftest import run_python

import cucore
from cucore import stores
from cucore.stores import _cpu_kernels

KEYS = stores.KeyRing({"k1": b"1" * 32})
BOUNDS = {"call_seconds": 60, "compile_seconds": 60}  # on a loaded machine too
PROGRAM = """
    import ctypes, sys
    import cucore.cpu_device
    import numpy as np
    import cucore

    ptx = '''.version 7.0
    .target sm_70
    .address_size 64
    .visible .entry seven(.param .u64 to) {
      .reg .u64 %at; .reg .u32 %value;
      ld.param.u64 %at, [to]; mov.u32 %value, 7; st.global.u32 [%at], %value; ret;
    }'''
    device = cucore.Device()
    device.set_current()
    memory = cucore.LegacyPinnedMemoryResource().allocate(4)
    kernel = cucore.ObjectCode.from_ptx(ptx.encode()).get_kernel("seven")
    cucore.launch(device.default_stream, cucore.LaunchConfig(grid=1, block=1), kernel, memory)
    device.sync()
    compiled, loaded = ctypes.c_size_t(), ctypes.c_size_t()
    cucore.cpu_device._driver.cucore_cpu_kernel_counts(ctypes.byref(compiled), ctypes.byref(loaded))
    print(np.from_dlpack(memory).view(np.int32)[0], compiled.value, loaded.value)
"""


def launch(folder):
    """A new process on a host with that folder: what the kernel wrote, kernels it compiled, kernels it found."""
    environment = {"CUCORE_CPU_CACHE": str(folder), "CUCORE_DEVICE": "cpu", "CUCORE_CPU_FORM": "scalar"}
    done = run_python(PROGRAM, env=environment)
    return done.stdout or done.stderr


@pytest.fixture
def shared(tmp_path):
    return stores.SharedStore(tmp_path / "store", keys=KEYS, **BOUNDS)


@pytest.fixture
def one_kernel(tmp_path):
    """A folder as the device leaves it, with a kernel that looks like one."""
    return folder_with(tmp_path / "kernels", "5" * 64)


def folder_with(folder, key, content=b"code"):
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / f"{key}.kernel").write_bytes(kernel_file(key, content))
    return folder


def kernel_file(key, content):
    body = b"cucpuk\n\x06" + bytes.fromhex(key) + content
    return body + hashlib.blake2b(body, digest_size=32).digest()


@pytest.mark.skipif(importlib.util.find_spec("cucore_cpu_device") is None, reason="needs the CPU device")
def test_a_second_host_compiles_nothing(shared, tmp_path):
    one, two = tmp_path / "host-1", tmp_path / "host-2"
    assert launch(one) == "7 1 0\n"
    pushed = stores.push_cpu_kernels(shared, one)
    pulled = stores.pull_cpu_kernels(shared, two)
    assert pushed.copied == pulled.copied > 0 and not pushed.rejected and not pulled.rejected
    assert launch(two) == "7 0 1\n"
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in two.iterdir()
    }
    again = stores.push_cpu_kernels(shared, two), stores.pull_cpu_kernels(shared, one)
    assert [(report.copied, report.already_there, report.left) for report in again] == [(0, pushed.copied, 0)] * 2


def test_the_environment_names_folder_and_store(one_kernel, tmp_path, monkeypatch):
    (tmp_path / "keys").write_text(f"k1 {'31' * 32}\n")
    monkeypatch.setenv("CUCORE_CACHE_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CUCORE_CACHE_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("CUCORE_CPU_CACHE", str(one_kernel))
    assert stores.push_cpu_kernels().copied == 1
    monkeypatch.delenv("CUCORE_CPU_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    with stores.cpu_kernels_from() as taken:
        assert taken.copied == 1
        folder_with(tmp_path / "xdg/cucore/cpu-kernels", "6" * 64)
    assert len(list(stores.open_store(tmp_path / "store").list())) == 2
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert stores.pull_cpu_kernels().copied == 2
    assert len(list((tmp_path / ".cache/cucore/cpu-kernels").iterdir())) == 2
    monkeypatch.setenv("CUCORE_CPU_CACHE", "0")
    with pytest.raises(ValueError, match="set CUCORE_CPU_CACHE"):
        stores.pull_cpu_kernels()
    monkeypatch.delenv("CUCORE_CACHE_STORE")
    with pytest.raises(ValueError, match="CUCORE_CACHE_STORE"):
        stores.push_cpu_kernels(folder=one_kernel)


def unsigned(name, sealed):
    payload = stores._seal.unseal(name, sealed, KEYS, made_by=_cpu_kernels.KIND)
    return stores._seal.seal(name, payload, None, _cpu_kernels.KIND)


def of_strangers(name, sealed):
    payload = stores._seal.unseal(name, sealed, KEYS, made_by=_cpu_kernels.KIND)
    return stores._seal.seal(name, payload, stores.KeyRing({"k1": b"2" * 32}), _cpu_kernels.KIND)


def of_another_kind(name, sealed):
    return stores._seal.seal(name, stores._seal.unseal(name, sealed, KEYS, made_by=_cpu_kernels.KIND), KEYS)


def of_another_key(name, sealed):
    return stores._seal.seal(name, kernel_file("6" * 64, b"code"), KEYS, _cpu_kernels.KIND)


def cut_inside(name, sealed):
    payload = stores._seal.unseal(name, sealed, KEYS, made_by=_cpu_kernels.KIND)
    return stores._seal.seal(name, payload[:-1], KEYS, _cpu_kernels.KIND)


def cut(name, sealed):
    return sealed[:-1]


@pytest.mark.parametrize("damage", [unsigned, of_strangers, of_another_kind, of_another_key, cut_inside, cut])
def test_what_is_not_to_be_trusted_stays_out(damage, shared, one_kernel, tmp_path):
    stores.push_cpu_kernels(shared, one_kernel)
    (name,) = shared.store.list()
    shared.store.put(name, damage(name, shared.store.get(name)))
    report = stores.pull_cpu_kernels(shared, tmp_path / "other")
    assert (report.copied, list(report.rejected), list((tmp_path / "other").iterdir())) == (0, ["5" * 64], [])


def test_only_the_users_own_whole_kernels_are_signed(shared, one_kernel, tmp_path):
    (one_kernel / ("6" * 64 + ".kernel")).write_bytes(kernel_file("6" * 64, b"cut")[:-1])
    (one_kernel / ("7" * 64 + ".kernel")).symlink_to(one_kernel / ("5" * 64 + ".kernel"))
    open_to_all = one_kernel / ("8" * 64 + ".kernel")
    open_to_all.write_bytes(kernel_file("8" * 64, b"of all"))
    open_to_all.chmod(0o666)
    (one_kernel / "unfinished-1").write_bytes(b"")
    report = stores.push_cpu_kernels(shared, one_kernel)
    assert (report.copied, sorted(report.rejected)) == (1, [digit * 64 for digit in "678"])
    one_kernel.chmod(0o770)
    with pytest.raises(ValueError, match="others can write to it"):
        stores.push_cpu_kernels(shared, one_kernel)
    with pytest.raises(ValueError, match="others can write to it"):
        stores.pull_cpu_kernels(shared, one_kernel)
    (tmp_path / "link").symlink_to(one_kernel)
    with pytest.raises(ValueError, match="no symbolic link"):
        stores.pull_cpu_kernels(shared, tmp_path / "link")


def test_a_folder_that_is_not_there_has_nothing_to_give(shared, tmp_path):
    assert stores.push_cpu_kernels(shared, tmp_path / "none") == stores.KernelTransfer()


class Dead(stores.Store):
    def get(self, name):
        raise ConnectionRefusedError

    put = delete = exists = get

    def list(self):
        raise ConnectionRefusedError


class Forgetful(Dead):
    def list(self):
        return ["5" * 64 + ".cpu", "6" * 64, "6" * 64 + ".code"]


def test_a_store_that_fails_is_asked_once_and_the_report_says_so(one_kernel, tmp_path):
    dead = stores.SharedStore(Dead(), keys=KEYS)
    assert "failed" in stores.pull_cpu_kernels(dead, tmp_path / "other").stopped
    report = stores.push_cpu_kernels(stores.SharedStore(Dead(), keys=KEYS), one_kernel)
    assert "failed" in report.stopped and report.left == 1
    report = stores.pull_cpu_kernels(stores.SharedStore(Forgetful(), keys=KEYS), tmp_path / "other")
    assert "failed" in report.stopped and report.left == 1 and dead.stats.errors == 1


def test_no_more_is_taken_than_there_is_room_or_time_for(shared, one_kernel, tmp_path):
    folder_with(one_kernel, "6" * 64, bytes(1000))
    stores.push_cpu_kernels(shared, one_kernel)
    report = stores.pull_cpu_kernels(shared, tmp_path / "other", max_bytes=500)
    assert (report.copied, report.left, report.stopped) == (1, 1, "500 bytes were taken")
    report = stores.push_cpu_kernels(stores.SharedStore(Forgetful(), keys=KEYS), one_kernel, seconds=0)
    assert report.stopped is not None and report.left > 0


def test_kernels_are_no_entries_of_a_program_cache(shared, one_kernel, tmp_path):
    stores.push_cpu_kernels(shared, one_kernel)
    (name,) = shared.store.list()
    assert name == "5" * 64 + ".cpu" and shared.obtain(name) is None and shared.stats.rejected == 1
    assert cucore.ProgramCache(tmp_path / "cache").entries() == []
