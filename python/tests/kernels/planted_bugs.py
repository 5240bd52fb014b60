"""A table of kernels with one planted bug each, and of clean ones: what the CPU device's checker must find, and what
compute-sanitizer finds on a GPU.

    python planted_bugs.py NAME ...     runs them on the driver in use, saying `#### NAME` on stderr before each
    python planted_bugs.py --sanitizer  on a GPU: runs each under compute-sanitizer and compares the verdicts
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SOURCES = [
    Path(__file__).with_name(name) for name in ("planted_bugs.cu", "planted_bugs_copies.cu", "planted_bugs_texels.cu")
]
SAID = re.compile("Invalid|Misaligned|Uninit|hazard|Barrier|Error|error")
INTS = 1000  # in the array that every kernel gets
ONE_INT = 10 | 1 << 32  # CU_AD_FORMAT_SIGNED_INT32, channels
CUDA_ARRAY3D_SURFACE_LDST = 2
CU_TRSF_READ_AS_INTEGER = 1
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FALSE_ALARMS = {  # compute-sanitizer's, which follows neither flags nor one lane's arrival for its warp
    ("clean_flag", "racecheck"),
    ("clean_warp_arrivals", "racecheck"),
    ("clean_cluster_arrivals", "racecheck"),
}


@dataclass(frozen=True)
class Planted:
    """One kernel, how it is launched, and what is to be said of it."""

    name: str
    found: str | None = None  # the checker's headline begins so; None: nothing is wrong
    tool: str | None = None  # compute-sanitizer's, if it can see this; None: a GPU must not run it, or no tool looks
    grid: int = 1
    block: int = 64
    shared: int = 0
    filled: bool = True  # what the kernel gets was written before
    freed: bool = False  # and given back
    hangs: bool = False  # on a GPU
    texels: str | None = None  # what is bound to the texture or surface object that the kernel gets, too
    gone: str | None = None  # of "object" and "array", what is destroyed before the launch


MEMORY = [
    Planted("write_past_end", "Invalid __global__ write of size 4", "memcheck", grid=16),
    Planted("read_past_end", "Invalid __global__ read of size 4", "memcheck"),
    Planted("neighbour_past_end", "Invalid __global__ read of size 4", "memcheck"),
    Planted("before_start", "Invalid __global__ write of size 4", "memcheck"),
    Planted("null_pointer", "Invalid __global__ write of size 4", "memcheck"),
    Planted("use_after_free", "Invalid __global__ write of size 4", "memcheck", freed=True),
    Planted("atomic_past_end", "Invalid __global__ atomic of size 4", "memcheck"),
    Planted("same_place_read", "Invalid __global__ read of size 4", "memcheck"),
    Planted("same_place_written", "Invalid __global__ write of size 4", "memcheck"),
    Planted("pairs_past_end", "Invalid __global__ read of size 8", "memcheck"),
    Planted("retry_past_end", "Invalid __global__ atomic of size 2", "memcheck"),
    Planted("shared_past_end", "Invalid __shared__ write of size 4", "memcheck"),
    Planted("shared_into_neighbour", "Invalid __shared__ write of size 4"),
    Planted("dynamic_shared_past_end", "Invalid __shared__ write of size 4", "memcheck", shared=128),
    Planted("local_past_end", "Invalid __local__ read of size 4", block=32),
    Planted("misaligned", "Misaligned __global__ write of size 4", "memcheck"),
    Planted("misaligned_shared", "Misaligned __shared__ read of size 16", "memcheck"),
    Planted("loop_past_end", "Invalid __global__ write of size 4", "memcheck", grid=32, block=8),
    Planted("loop_before_start", "Invalid __global__ write of size 4", "memcheck", grid=32),
    Planted("loop_misaligned", "Misaligned __global__ write of size 4", "memcheck", grid=32),
    Planted("loop_wraps_around", "Invalid __global__ write of size 4", "memcheck", grid=32),
    Planted("matrix_past_end", "Invalid __global__ read of size", "memcheck", block=32),
    Planted("cluster_past_end", "Invalid __shared__ write of size 4", grid=2),
    Planted("texture_of_freed_memory", "Invalid texture read of size 4", texels="linear", freed=True),
    Planted("texture_of_freed_rows", "Invalid texture read of size 4", texels="pitched", freed=True),
    Planted("texture_of_destroyed_array", "Invalid texture read of size 4", "memcheck", texels="array", gone="array"),
    Planted(
        "surface_of_destroyed_array", "Invalid surface write of size 4", "memcheck", texels="surface", gone="array"
    ),
    Planted("surface_out_of_range", "Invalid surface access", "memcheck", texels="surface"),
    Planted("destroyed_texture", "Invalid texture object", texels="linear", gone="object"),
    Planted("destroyed_surface", "Invalid surface object", texels="surface", gone="object"),
    Planted("heap_use_after_free", "Invalid __global__ read of size 4", "memcheck"),
]
RACES = [
    Planted("shared_without_barrier", "Race in __shared__ memory: read and write", "racecheck"),
    Planted("shared_read_then_write", "Race in __shared__ memory: write and read", "racecheck"),
    Planted("shared_two_writers", "Race in __shared__ memory: write and write", "racecheck"),
    Planted("warp_without_sync", "Race in __shared__ memory: read and write", "racecheck", block=32),
    Planted("warp_by_volatile", "Race in __shared__ memory: read and write by lanes of one warp", block=32),
    Planted("counter_read_too_early", "Race in __shared__ memory: write and read"),
    Planted("blocks_write_one_word", "Race in __global__ memory: write and write", grid=4),
    Planted("global_without_barrier", "Race in __global__ memory: read and write"),
    Planted("blocks_write_one_texel", "Race in __global__ memory: write and write", texels="surface", grid=4),
    Planted("last_block_without_fence", "Race in __global__ memory: read and write", grid=8),
    Planted("counter_reset_too_early", "Race in __global__ memory", grid=8),
    Planted("cluster_without_barrier", "Race in __shared__ memory: read and write", grid=2),
    Planted("cluster_read_before_wait", "Race in __shared__ memory: read and write", grid=2),
    Planted("cluster_write_after_arrive", "Race in __shared__ memory: read and write", grid=2),
    Planted(
        "cluster_before_it_begins",
        "Race in __shared__ memory: write of a block that may not have begun",
        "racecheck",
        grid=2,
    ),
    Planted(
        "cluster_after_it_ends", "Race in __shared__ memory: read of a block that may have ended", "racecheck", grid=2
    ),
    Planted("cluster_ends_without_wait", "Race in __shared__ memory: read of a block that may have ended", grid=2),
    Planted("copy_read_before_wait", "Race in __shared__ memory: read during a copy", "racecheck"),
    Planted("copy_of_a_later_group", "Race in __shared__ memory: read during a copy", "racecheck"),
    Planted("copy_waited_for_after_barrier", "Race in __shared__ memory: read", "racecheck"),
    Planted("copy_overwritten", "Race in __shared__ memory: write during a copy", "racecheck"),
    Planted("bulk_copy_without_wait", "Race in __shared__ memory: read and write"),
    Planted("bulk_copy_waited_for_by_another", "Race in __shared__ memory: read and write"),
    Planted("bulk_copy_without_proxy_fence", "Race in __shared__ memory: read by the asynchronous proxy"),
    Planted("proxy_fence_of_one_thread", "Race in __shared__ memory: read by the asynchronous proxy"),
    Planted("bulk_source_overwritten", "Race in __shared__ memory: write during a copy"),
]
UNINITIALISED = [
    Planted("never_written", "Uninitialized __global__ read of size 4", "initcheck", filled=False),
    Planted("partly_written", "Uninitialized __global__ read of size 4", "initcheck", filled=False),
    Planted("texels_never_written", "Uninitialized texture read of size 4", texels="linear", filled=False),
    Planted("shared_never_written", "Uninitialized __shared__ read of size 4"),
    Planted("matrix_never_written", "Uninitialized __shared__ read of size"),
    Planted("rows_never_written", "Uninitialized __shared__ read of size 16", block=32),
    Planted("local_never_written", "Uninitialized __local__ read of size 4"),
    Planted("local_of_another_thread", "Uninitialized __local__ read of size 4"),
    Planted("local_of_earlier_call", "Uninitialized __local__ read of size 4"),
]
SYNCHRONISATION = [
    Planted("barrier_in_branches", "Divergent barrier: threads of one warp", "synccheck", block=32),
    Planted("mask_without_self", "Invalid member mask", block=32),
    Planted("inactive_lane", "Inactive lane read", block=32),
]
DEADLOCKS = [  # each ends its process's context
    Planted("barrier_for_too_few", "Deadlock", hangs=True),
    Planted("masks_that_differ", "Deadlock", block=32, hangs=True),
]
CLEAN = [
    Planted("clean_sum"),
    Planted("clean_tree", shared=256),
    Planted("clean_warp"),
    Planted("clean_last_block", grid=8),
    Planted("clean_last_block_resets", grid=8),
    Planted("clean_bytes", block=256),
    Planted("clean_local"),
    Planted("clean_local_structures"),
    Planted("clean_loops", grid=32),
    Planted("clean_named_barriers"),
    Planted("clean_histogram", grid=4),
    Planted("clean_flag"),
    Planted("clean_volatile_in_a_warp", block=32),
    Planted("clean_heap"),
    Planted("clean_early_return"),
    Planted("clean_matrix", block=32),
    Planted("clean_rows", block=32),
    Planted("clean_cluster", grid=2),
    Planted("clean_cluster_of_one"),
    Planted("clean_cluster_arrivals", grid=2),
    Planted("clean_cluster_exchange", grid=2),
    Planted("clean_warp_arrivals"),
    Planted("clean_proxy_fence_after_barrier"),
    Planted("clean_copy_stages"),
    Planted("clean_bulk_copies"),
    Planted("clean_texture_of_memory", texels="linear"),
    Planted("clean_texture_of_rows", texels="pitched"),
    Planted("clean_texture_of_array", texels="array"),
    Planted("clean_surface", texels="surface"),
]
BUGS = MEMORY + RACES + UNINITIALISED + SYNCHRONISATION + DEADLOCKS
BY_NAME = {planted.name: planted for planted in BUGS + CLEAN}


def place_of(name):
    """Of the planted bug: the source's name and the line."""
    for source in SOURCES:
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if line.endswith(f"// BUG {name}"):
                return source.name, number
    raise LookupError(name)


class Texels:
    """A texture or surface object, made by the driver itself: of the memory at `address`, or of a CUDA array."""

    def __init__(self, path, bound, address):
        self._driver = ctypes.CDLL(path)
        self._is_surface = bound == "surface"
        self._array = ctypes.c_uint64(0)
        self.object = ctypes.c_uint64(0)
        resource = (ctypes.c_uint64 * 18)()  # CUDA_RESOURCE_DESC: a type, what is bound, flags
        if bound == "linear":
            resource[:5] = [2, address, ONE_INT, 4 * INTS, 0]
        elif bound == "pitched":
            resource[:6] = [3, address, ONE_INT, 16, 8, 128]
        else:
            shape = (ctypes.c_uint64 * 5)(16, 8, 0, ONE_INT, CUDA_ARRAY3D_SURFACE_LDST)
            self._call("cuArray3DCreate_v2", ctypes.byref(self._array), ctypes.byref(shape))
            source = (ctypes.c_uint64 * 16)()  # CUDA_MEMCPY2D: from x, y, type, three places, pitch; to the same; shape
            source[2:7] = [2, 0, address, 0, 64]
            source[9:14] = [3, 0, 0, self._array.value, 0]
            source[14:16] = [64, 8]
            self._call("cuMemcpy2D_v2", ctypes.byref(source))
            resource[:2] = [0, self._array.value]
        if self._is_surface:
            self._call("cuSurfObjectCreate", ctypes.byref(self.object), ctypes.byref(resource))
        else:
            texture = (ctypes.c_uint32 * 64)()
            texture[4] = CU_TRSF_READ_AS_INTEGER
            self._call("cuTexObjectCreate", ctypes.byref(self.object), ctypes.byref(resource), texture, None)

    def _call(self, name, *arguments):
        code = getattr(self._driver, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: {code}")

    def destroy(self, what):
        if what == "array":
            self._call("cuArrayDestroy", self._array)
        else:
            self._call("cuSurfObjectDestroy" if self._is_surface else "cuTexObjectDestroy", self.object)


def run(names):
    import cucore

    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    options = {"arch": f"sm_{device.arch}", "lineinfo": True}
    kernels = {}
    for source in SOURCES:
        text = source.read_text()
        code = cucore.Program(text, "c++", {**options, "name": source.name}).compile("cubin")
        kernels |= {name: code.get_kernel(name) for name in names if f" {name}(" in text}
    for name in names:
        planted = BY_NAME[name]
        print(f"#### {name}", file=sys.stderr, flush=True)
        array = device.allocate(4 * INTS, stream=stream)
        if planted.filled:
            array.fill(0, stream=stream)
        stream.sync()
        address = int(array.handle)
        texels = Texels(cucore.driver_info().path, planted.texels, address) if planted.texels else None
        if planted.gone:
            texels.destroy(planted.gone)
        if planted.freed:
            array.close(stream)
            stream.sync()
        config = cucore.LaunchConfig(grid=planted.grid, block=planted.block, shmem_size=planted.shared)
        cucore.launch(stream, config, kernels[name], address, INTS, 0, *([texels.object] if texels else []))
        try:
            stream.sync()
        except cucore.CUDAError as error:
            print(f"#### {name} ended with {error}".splitlines()[0], file=sys.stderr, flush=True)
            os._exit(1)
        if not planted.freed:
            array.close(stream)


def verdict(planted, tool):
    """What one of compute-sanitizer's tools says of a kernel: whether that is what was expected, and a line on it."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    options = ["--error-exitcode", "86", *(["--report-api-errors", "no"] if tool == "memcheck" else [])]
    done = subprocess.run(
        [sanitizer, "--tool", tool, *options, sys.executable, __file__, planted.name],
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = done.stdout + done.stderr
    ran = "SUMMARY" in said
    clean = "ERROR SUMMARY: 0 errors" in said or "SUMMARY: 0 hazards" in said
    found = "failed" if not ran else "nothing" if clean else "found"
    expected = "found" if planted.found or (planted.name, tool) in FALSE_ALARMS else "nothing"
    agrees = found == expected or bool(planted.found and not planted.tool and ran)
    first = next((line for line in said.splitlines() if SAID.search(line)), "")
    return agrees, f"{planted.name:28} {tool:10} {found:8} {'agrees' if agrees else 'DIFFERS'}  {first[:100]}"


def compare_with_sanitizer():
    """What compute-sanitizer says of each bug that one of its tools can see, and of the clean kernels under all."""
    asked = []
    for planted in BUGS + CLEAN:
        if planted.hangs:
            print(f"{planted.name:28} not run: a GPU waits for ever")
            continue
        asked += [(planted, tool) for tool in ([planted.tool] if planted.tool else TOOLS)]
    different = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # a process each
        for agrees, line in pool.map(verdict, *zip(*asked, strict=True)):
            different += not agrees
            print(line, flush=True)
    print(f"{len(asked)} verdicts, {different} differ")
    return different


if __name__ == "__main__":
    if sys.argv[1:] == ["--sanitizer"]:
        sys.exit(1 if compare_with_sanitizer() else 0)
    run(sys.argv[1:])
