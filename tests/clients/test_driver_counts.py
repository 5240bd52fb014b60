"""The counts of real and stub entries in docs/cpu-device.md are those of the CPU device."""

import ctypes
import re
from pathlib import Path

import pytest
from test_driver_clients import driver_folder


class Status(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("real_count", ctypes.c_size_t),
        ("real_names", ctypes.c_void_p),
        ("stub_count", ctypes.c_size_t),
        ("stub_names", ctypes.c_void_p),
        ("covered_opcode_count", ctypes.c_size_t),
        ("covered_opcodes", ctypes.c_void_p),
        ("known_opcode_count", ctypes.c_size_t),
        ("known_opcodes", ctypes.c_void_p),
    ]


def test_the_documented_counts_of_entries_are_true():
    folder = driver_folder()
    if folder is None or not (folder / "companions").is_dir():
        pytest.skip("no CPU device")
    library = ctypes.CDLL(str(folder / "libcuda.so.1"))
    status = Status(size=ctypes.sizeof(Status))
    assert library.cucore_cpu_driver_status(ctypes.byref(status)) == 0
    text = (Path(__file__).parents[2] / "docs/cpu-device.md").read_text()
    total, real, stubs = map(int, re.search(r"Of (\d+) exported entries (\d+) are real and (\d+)", text).groups())
    assert (real, stubs, total) == (status.real_count, status.stub_count, real + stubs)
