"""The bench's problems: data, how the kernels of kernels.cu and kernels.cl are launched on them, how reference.cpp
solves them, and when two results are the same.

A problem is a function of an `Arrays` that gives a `Problem`. Arrays lie in memory that kernels and C++ both see, so
all work on the same inputs, on pages of the same kind.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import cucore


class Arrays:
    """Makes NumPy arrays in page-locked memory and keeps them alive."""

    def __init__(self):
        self._memory = cucore.LegacyPinnedMemoryResource()
        self._buffers = {}
        self.random = np.random.default_rng(1)

    def empty(self, shape, dtype=np.float32):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        buffer = self._memory.allocate(size)
        array = np.from_dlpack(buffer).view(np.uint8)[:size].view(dtype).reshape(shape)
        array[...] = 0
        self._buffers[array.ctypes.data] = buffer
        return array

    def of(self, values, dtype=None):
        values = np.asarray(values, dtype)
        array = self.empty(values.shape, values.dtype)
        array[...] = values
        return array

    def uniform(self, shape, low=0.0, high=1.0, dtype=np.float32):
        return self.of(self.random.uniform(low, high, shape), dtype)

    def buffer(self, array):
        return self._buffers[array.ctypes.data]


@dataclass
class Launch:
    kernel: str
    grid: tuple
    block: tuple
    arguments: tuple


@dataclass
class Problem:
    """`results` are the arrays that a solution writes, as they are before the first run: each side gets its own copies.
    `launches` and `call` are functions of such copies: the launches of the kernels in their order, and the C++ function
    with its arguments."""

    results: list
    launches: Callable
    call: Callable = lambda *results: None
    tolerance: float = 0.0  # of each element, relative to the largest one; 0: equal bits
    reset: Callable = lambda *results: None  # what to put back before each run
    constants: dict = field(default_factory=dict)
    view: Callable = lambda result: result  # what of a result is compared


def zero(*results):
    for result in results:
        result.fill(0)


def ceil(n, by):
    return (n + by - 1) // by


def saxpy(a):
    n = 1 << 24
    x = a.uniform(n)
    # y grows from run to run, on all sides alike.
    return Problem(
        [a.uniform(n)],
        lambda y: [Launch("saxpy", (n // 256,), (256,), (y, x, 0.5, n))],
        lambda y: ("saxpy", y, x, ctypes.c_float(0.5), n),
        1e-5,
    )


def stencil(a):
    size = 4096
    x = a.uniform((size, size))
    return Problem(
        [a.empty((size, size))],
        lambda out: [Launch("stencil", (size // 32, size // 8), (32, 8), (out, x, size, size))],
        lambda out: ("stencil", out, x, size, size),
        1e-6,
    )


def transpose(a):
    size = 4096
    x = a.uniform((size, size))
    return Problem(
        [a.empty((size, size))],
        lambda out: [Launch("transpose", (size // 32, size // 32), (32, 8), (out, x, size))],
        lambda out: ("transpose", out, x, size),
    )


def convolution(a):
    size = 2048
    x, filter_ = a.uniform((size, size)), a.uniform(49)
    return Problem(
        [a.empty((size, size))],
        lambda out: [Launch("convolution", (size // 32, size // 8), (32, 8), (out, x, size, size))],
        lambda out: ("convolution", out, x, filter_, size, size),
        1e-5,
        constants={"filter": filter_},
    )


def threshold(a):
    n = 1 << 22
    x = a.of(a.random.integers(0, 256, 3 * n), np.uint8)
    return Problem(
        [a.empty(n, np.uint8)],
        lambda out: [Launch("threshold", (n // 256,), (256,), (out, x, n, 127))],
        lambda out: ("threshold", out, x, n, 127),
    )


def warp_sum(a):
    n = 1 << 24
    x = a.uniform(n)
    return Problem(
        [a.empty(1)],
        lambda total: [Launch("warp_sum", (64,), (256,), (total, x, n))],
        lambda total: ("sum", total, x, n),
        1e-3,
        reset=zero,
    )


def tree_sum(a):
    blocks = 1 << 14
    x = a.uniform(512 * blocks)
    return Problem(
        [a.empty(blocks)],
        lambda sums: [Launch("tree_sum", (blocks,), (256,), (sums, x))],
        lambda sums: ("block_sums", sums, x, blocks),
        1e-5,
    )


def scan(a):
    n = 1 << 23
    x = a.of(a.random.integers(0, 100, n), np.uint32)
    sums = [a.empty(max(n // 512**level, 512), np.uint32) for level in (1, 2, 3)]
    again = [a.empty(s.size, np.uint32) for s in sums[:2]]
    second, third = n // 512, max(n // 512**2, 1)
    return Problem(
        [a.empty(n, np.uint32)],
        lambda out: [
            Launch("scan_blocks", (second,), (512,), (out, sums[0], x)),
            Launch("scan_blocks", (third,), (512,), (again[0], sums[1], sums[0])),
            Launch("scan_blocks", (1,), (512,), (again[1], sums[2], sums[1])),
            Launch("add_sums", (third,), (512,), (again[0], again[1])),
            Launch("add_sums", (second,), (512,), (out, again[0])),
        ],
        lambda out: ("scan", out, x, n),
    )


def softmax(a):
    rows, columns = 4096, 1024
    x = a.uniform((rows, columns), -4, 4)
    return Problem(
        [a.empty((rows, columns))],
        lambda out: [Launch("softmax", (rows // 4,), (32, 4), (out, x, columns))],
        lambda out: ("softmax", out, x, rows, columns),
        1e-4,
    )


def histogram(a):
    n = 1 << 24
    x = a.of(a.random.integers(0, 256, n), np.uint8)
    return Problem(
        [a.empty(256, np.uint32)],
        lambda bins: [Launch("histogram", (64,), (256,), (bins, x, n))],
        lambda bins: ("histogram", bins, x, n),
        reset=zero,
    )


def compact(a):
    n = 1 << 23
    x = a.uniform(n)
    return Problem(
        [a.empty(1, np.uint32), a.empty(n)],
        lambda count, out: [Launch("compact", (n // 256,), (256,), (out, count, x, 0.75, n))],
        lambda count, out: ("compact", out, count, x, ctypes.c_float(0.75), n),
        reset=lambda count, out: zero(count),
        view=np.sort,
    )


def matmul(a):
    n = 1024
    x, y = a.uniform((n, n)), a.uniform((n, n))
    return Problem(
        [a.empty((n, n))],
        lambda out: [Launch("matmul", (n // 16, n // 16), (16, 16), (out, x, y, n))],
        lambda out: ("matmul", out, x, y, n),
        1e-4,
    )


def spmv(a):
    rows = 1 << 18
    lengths = a.random.integers(1, 64, rows)
    starts = a.of(np.concatenate([[0], np.cumsum(lengths)]), np.int32)
    entries = int(starts[-1])
    columns, values = a.of(a.random.integers(0, rows, entries), np.int32), a.uniform(entries)
    x = a.uniform(rows)
    return Problem(
        [a.empty(rows)],
        lambda y: [Launch("spmv", (ceil(rows, 256),), (256,), (y, starts, columns, values, x, rows))],
        lambda y: ("spmv", y, starts, columns, values, x, rows),
        1e-5,
    )


def nbody(a):
    n = 8192
    bodies = a.uniform((n, 4))
    return Problem(
        [a.empty((n, 4))],
        lambda forces: [Launch("nbody", (n // 256,), (256,), (forces, bodies, n))],
        lambda forces: ("nbody", forces, bodies, n),
        1e-3,
    )


def fft(a):
    count = 2048
    x = a.uniform((count, 1024, 2), -1, 1)
    angles = -2 * np.pi * np.arange(512) / 1024
    twiddles = a.of(np.stack([np.cos(angles), np.sin(angles)], 1), np.float32)
    return Problem(
        [a.empty((count, 1024, 2))],
        lambda out: [Launch("fft", (count,), (512,), (out, x, twiddles))],
        lambda out: ("fft", out, x, twiddles, count),
        1e-5,
    )


def mandelbrot(a):
    size, most = 1024, 256
    return Problem(
        [a.empty((size, size), np.int32)],
        lambda out: [Launch("mandelbrot", (size // 16, size // 16), (16, 16), (out, size, size, most))],
        lambda out: ("mandelbrot", out, size, size, most),
        # Products and sums are fused on one side and not on the other: points on the edge leave a round apart.
        2e-3,
        view=lambda result: np.histogram(result, 16, (0, most + 1))[0].astype(np.float32),
    )


def black_scholes(a):
    n = 1 << 22
    price, strike, years = a.uniform(n, 5, 30), a.uniform(n, 1, 100), a.uniform(n, 0.25, 10)
    numbers = (0.02, 0.3)
    return Problem(
        [a.empty(n), a.empty(n)],
        lambda call, put: [
            Launch("black_scholes", (n // 256,), (256,), (call, put, price, strike, years, *numbers, n))
        ],
        lambda call, put: ("black_scholes", call, put, price, strike, years, *map(ctypes.c_float, numbers), n),
        1e-5,
    )


def monte_carlo(a):
    paths, rounds = 1 << 16, 256
    return Problem(
        [a.empty(1, np.uint32)],
        lambda hits: [Launch("monte_carlo", (paths // 256,), (256,), (hits, 12345, rounds))],
        lambda hits: ("monte_carlo", hits, 12345, rounds, paths),
        1e-4,  # a point on the edge is in or out as products and sums are fused
        reset=zero,
    )


def bitonic_sort(a):
    blocks = 2048
    unsorted = a.random.integers(0, 1 << 32, (blocks, 1024), dtype=np.uint32)
    return Problem(
        [a.of(unsorted)],
        lambda keys: [Launch("bitonic_sort", (blocks,), (512,), (keys,))],
        lambda keys: ("sort_blocks", keys, blocks),
        reset=lambda keys: np.copyto(keys, unsorted),
    )


def hash_strings(a):
    n = 1 << 18
    starts = a.of(np.concatenate([[0], np.cumsum(a.random.integers(4, 60, n))]), np.int32)
    text = a.of(a.random.integers(32, 127, int(starts[-1])), np.uint8)
    return Problem(
        [a.empty(n, np.uint32)],
        lambda out: [Launch("hash_strings", (n // 256,), (256,), (out, text, starts, n))],
        lambda out: ("hash_strings", out, text, starts, n),
    )


def find_pattern(a):
    n, pattern = 1 << 23, a.of(list(b"abac"), np.uint8)
    text = a.of(a.random.integers(97, 101, n), np.uint8)
    return Problem(
        [a.empty(1, np.uint32)],
        lambda count: [Launch("find_pattern", (n // 256,), (256,), (count, text, n, pattern, 4))],
        lambda count: ("find_pattern", count, text, n, pattern, 4),
        reset=zero,
    )


def search(a):
    size, n = 1 << 20, 1 << 20
    table = a.of(np.sort(a.random.integers(0, 1 << 32, size, dtype=np.uint32)))
    keys = a.of(a.random.integers(0, 1 << 32, n, dtype=np.uint32))
    return Problem(
        [a.empty(n, np.int32)],
        lambda found: [Launch("search", (n // 256,), (256,), (found, table, keys, size, n))],
        lambda found: ("search", found, table, keys, size, n),
    )


def heat(a):
    size = 192
    x = a.uniform((size, size, size), dtype=np.float64)
    return Problem(
        [a.empty((size, size, size), np.float64)],
        lambda out: [Launch("heat", (size // 32, size // 8, size), (32, 8), (out, x, size))],
        lambda out: ("heat", out, x, size),
        1e-12,
    )


PROBLEMS = [
    saxpy, stencil, transpose, convolution, threshold, warp_sum, tree_sum, scan, softmax, histogram, compact, matmul,
    spmv, nbody, fft, mandelbrot, black_scholes, monte_carlo, bitonic_sort, hash_strings, find_pattern, search, heat,
]  # fmt: skip
