"""The bench's problems: data, how the kernels of kernels.cu are launched on them, how reference.cpp solves them, and
when two results are the same.

A problem is a function of an `Arrays` that gives a `Problem`. Arrays lie in memory that kernels and C++ both see, so
both work on the same inputs, on pages of the same kind.
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
    """`launches` run in order; `call` is the C++ function with its arguments. `mine` and `theirs` are the results."""

    launches: list
    call: tuple
    mine: list
    theirs: list
    tolerance: float = 0.0  # of each element, relative to the largest one; 0: equal bits
    before: Callable = lambda: None  # what to put back before each run of either
    constants: dict = field(default_factory=dict)
    view: Callable = lambda result: result  # what of a result is compared


def ceil(n, by):
    return (n + by - 1) // by


def saxpy(a):
    n = 1 << 24
    x, start = a.uniform(n), a.uniform(n)
    mine, theirs = a.of(start), a.of(start)
    # y grows from run to run, in both alike.
    return Problem(
        [Launch("saxpy", (n // 256,), (256,), (mine, x, 0.5, n))],
        ("saxpy", theirs, x, ctypes.c_float(0.5), n),
        [mine],
        [theirs],
        1e-5,
    )


def stencil(a):
    size = 4096
    x, mine, theirs = a.uniform((size, size)), a.empty((size, size)), a.empty((size, size))
    return Problem(
        [Launch("stencil", (size // 32, size // 8), (32, 8), (mine, x, size, size))],
        ("stencil", theirs, x, size, size),
        [mine],
        [theirs],
        1e-6,
    )


def transpose(a):
    size = 4096
    x, mine, theirs = a.uniform((size, size)), a.empty((size, size)), a.empty((size, size))
    return Problem(
        [Launch("transpose", (size // 32, size // 32), (32, 8), (mine, x, size))],
        ("transpose", theirs, x, size),
        [mine],
        [theirs],
    )


def convolution(a):
    size = 2048
    x, mine, theirs = a.uniform((size, size)), a.empty((size, size)), a.empty((size, size))
    filter_ = a.uniform(49)
    return Problem(
        [Launch("convolution", (size // 32, size // 8), (32, 8), (mine, x, size, size))],
        ("convolution", theirs, x, filter_, size, size),
        [mine],
        [theirs],
        1e-5,
        constants={"filter": filter_},
    )


def threshold(a):
    n = 1 << 22
    x, mine, theirs = a.of(a.random.integers(0, 256, 3 * n), np.uint8), a.empty(n, np.uint8), a.empty(n, np.uint8)
    return Problem(
        [Launch("threshold", (n // 256,), (256,), (mine, x, n, 127))],
        ("threshold", theirs, x, n, 127),
        [mine],
        [theirs],
    )


def warp_sum(a):
    n = 1 << 24
    x, mine, theirs = a.uniform(n), a.empty(1), a.empty(1)
    return Problem(
        [Launch("warp_sum", (64,), (256,), (mine, x, n))],
        ("sum", theirs, x, n),
        [mine],
        [theirs],
        1e-3,
        before=lambda: mine.fill(0),
    )


def tree_sum(a):
    blocks = 1 << 14
    x, mine, theirs = a.uniform(512 * blocks), a.empty(blocks), a.empty(blocks)
    return Problem(
        [Launch("tree_sum", (blocks,), (256,), (mine, x))],
        ("block_sums", theirs, x, blocks),
        [mine],
        [theirs],
        1e-5,
    )


def scan(a):
    n = 1 << 23
    x = a.of(a.random.integers(0, 100, n), np.uint32)
    mine, theirs = a.empty(n, np.uint32), a.empty(n, np.uint32)
    sums = [a.empty(max(n // 512**level, 512), np.uint32) for level in (1, 2, 3)]
    again = [a.empty(s.size, np.uint32) for s in sums[:2]]
    second, third = n // 512, max(n // 512**2, 1)
    return Problem(
        [
            Launch("scan_blocks", (second,), (512,), (mine, sums[0], x)),
            Launch("scan_blocks", (third,), (512,), (again[0], sums[1], sums[0])),
            Launch("scan_blocks", (1,), (512,), (again[1], sums[2], sums[1])),
            Launch("add_sums", (third,), (512,), (again[0], again[1])),
            Launch("add_sums", (second,), (512,), (mine, again[0])),
        ],
        ("scan", theirs, x, n),
        [mine],
        [theirs],
    )


def softmax(a):
    rows, columns = 4096, 1024
    x, mine, theirs = a.uniform((rows, columns), -4, 4), a.empty((rows, columns)), a.empty((rows, columns))
    return Problem(
        [Launch("softmax", (rows // 4,), (32, 4), (mine, x, columns))],
        ("softmax", theirs, x, rows, columns),
        [mine],
        [theirs],
        1e-4,
    )


def histogram(a):
    n = 1 << 24
    x = a.of(a.random.integers(0, 256, n), np.uint8)
    mine, theirs = a.empty(256, np.uint32), a.empty(256, np.uint32)
    return Problem(
        [Launch("histogram", (64,), (256,), (mine, x, n))],
        ("histogram", theirs, x, n),
        [mine],
        [theirs],
        before=lambda: mine.fill(0),
    )


def compact(a):
    n = 1 << 23
    x, mine, theirs = a.uniform(n), a.empty(n), a.empty(n)
    counts = [a.empty(1, np.uint32), a.empty(1, np.uint32)]
    return Problem(
        [Launch("compact", (n // 256,), (256,), (mine, counts[0], x, 0.75, n))],
        ("compact", theirs, counts[1], x, ctypes.c_float(0.75), n),
        [counts[0], mine],
        [counts[1], theirs],
        before=lambda: counts[0].fill(0),
        view=np.sort,
    )


def matmul(a):
    n = 1024
    x, y, mine, theirs = a.uniform((n, n)), a.uniform((n, n)), a.empty((n, n)), a.empty((n, n))
    return Problem(
        [Launch("matmul", (n // 16, n // 16), (16, 16), (mine, x, y, n))],
        ("matmul", theirs, x, y, n),
        [mine],
        [theirs],
        1e-4,
    )


def spmv(a):
    rows = 1 << 18
    lengths = a.random.integers(1, 64, rows)
    starts = a.of(np.concatenate([[0], np.cumsum(lengths)]), np.int32)
    entries = int(starts[-1])
    columns, values = a.of(a.random.integers(0, rows, entries), np.int32), a.uniform(entries)
    x, mine, theirs = a.uniform(rows), a.empty(rows), a.empty(rows)
    return Problem(
        [Launch("spmv", (ceil(rows, 256),), (256,), (mine, starts, columns, values, x, rows))],
        ("spmv", theirs, starts, columns, values, x, rows),
        [mine],
        [theirs],
        1e-5,
    )


def nbody(a):
    n = 8192
    bodies, mine, theirs = a.uniform((n, 4)), a.empty((n, 4)), a.empty((n, 4))
    return Problem(
        [Launch("nbody", (n // 256,), (256,), (mine, bodies, n))],
        ("nbody", theirs, bodies, n),
        [mine],
        [theirs],
        1e-3,
    )


def fft(a):
    count = 2048
    x, mine, theirs = a.uniform((count, 1024, 2), -1, 1), a.empty((count, 1024, 2)), a.empty((count, 1024, 2))
    angles = -2 * np.pi * np.arange(512) / 1024
    twiddles = a.of(np.stack([np.cos(angles), np.sin(angles)], 1), np.float32)
    return Problem(
        [Launch("fft", (count,), (512,), (mine, x, twiddles))],
        ("fft", theirs, x, twiddles, count),
        [mine],
        [theirs],
        1e-5,
    )


def mandelbrot(a):
    size, most = 1024, 256
    mine, theirs = a.empty((size, size), np.int32), a.empty((size, size), np.int32)
    problem = Problem(
        [Launch("mandelbrot", (size // 16, size // 16), (16, 16), (mine, size, size, most))],
        ("mandelbrot", theirs, size, size, most),
        [mine],
        [theirs],
    )
    # Products and sums are fused on one side and not on the other: points on the edge leave a round apart.
    problem.view = lambda result: np.histogram(result, 16, (0, most + 1))[0].astype(np.float32)
    problem.tolerance = 2e-3
    return problem


def black_scholes(a):
    n = 1 << 22
    price, strike, years = a.uniform(n, 5, 30), a.uniform(n, 1, 100), a.uniform(n, 0.25, 10)
    outs = [a.empty(n) for _ in range(4)]
    numbers = (0.02, 0.3)
    return Problem(
        [Launch("black_scholes", (n // 256,), (256,), (outs[0], outs[1], price, strike, years, *numbers, n))],
        ("black_scholes", outs[2], outs[3], price, strike, years, *map(ctypes.c_float, numbers), n),
        outs[:2],
        outs[2:],
        1e-5,
    )


def monte_carlo(a):
    paths, rounds = 1 << 16, 256
    mine, theirs = a.empty(1, np.uint32), a.empty(1, np.uint32)
    return Problem(
        [Launch("monte_carlo", (paths // 256,), (256,), (mine, 12345, rounds))],
        ("monte_carlo", theirs, 12345, rounds, paths),
        [mine],
        [theirs],
        1e-4,  # a point on the edge is in or out as products and sums are fused
        before=lambda: mine.fill(0),
    )


def bitonic_sort(a):
    blocks = 2048
    keys = a.random.integers(0, 1 << 32, (blocks, 1024), dtype=np.uint32)
    mine, theirs = a.of(keys), a.of(keys)

    def unsorted():
        mine[...] = keys
        theirs[...] = keys

    return Problem(
        [Launch("bitonic_sort", (blocks,), (512,), (mine,))],
        ("sort_blocks", theirs, blocks),
        [mine],
        [theirs],
        before=unsorted,
    )


def hash_strings(a):
    n = 1 << 18
    starts = a.of(np.concatenate([[0], np.cumsum(a.random.integers(4, 60, n))]), np.int32)
    text = a.of(a.random.integers(32, 127, int(starts[-1])), np.uint8)
    mine, theirs = a.empty(n, np.uint32), a.empty(n, np.uint32)
    return Problem(
        [Launch("hash_strings", (n // 256,), (256,), (mine, text, starts, n))],
        ("hash_strings", theirs, text, starts, n),
        [mine],
        [theirs],
    )


def find_pattern(a):
    n, pattern = 1 << 23, a.of(list(b"abac"), np.uint8)
    text = a.of(a.random.integers(97, 101, n), np.uint8)
    mine, theirs = a.empty(1, np.uint32), a.empty(1, np.uint32)
    return Problem(
        [Launch("find_pattern", (n // 256,), (256,), (mine, text, n, pattern, 4))],
        ("find_pattern", theirs, text, n, pattern, 4),
        [mine],
        [theirs],
        before=lambda: mine.fill(0),
    )


def search(a):
    size, n = 1 << 20, 1 << 20
    table = a.of(np.sort(a.random.integers(0, 1 << 32, size, dtype=np.uint32)))
    keys = a.of(a.random.integers(0, 1 << 32, n, dtype=np.uint32))
    mine, theirs = a.empty(n, np.int32), a.empty(n, np.int32)
    return Problem(
        [Launch("search", (n // 256,), (256,), (mine, table, keys, size, n))],
        ("search", theirs, table, keys, size, n),
        [mine],
        [theirs],
    )


def heat(a):
    size = 192
    x, mine, theirs = (
        a.uniform((size, size, size), dtype=np.float64),
        a.empty((size, size, size), np.float64),
        a.empty((size, size, size), np.float64),
    )
    return Problem(
        [Launch("heat", (size // 32, size // 8, size), (32, 8), (mine, x, size))],
        ("heat", theirs, x, size),
        [mine],
        [theirs],
        1e-12,
    )


PROBLEMS = [
    saxpy, stencil, transpose, convolution, threshold, warp_sum, tree_sum, scan, softmax, histogram, compact, matmul,
    spmv, nbody, fft, mandelbrot, black_scholes, monte_carlo, bitonic_sort, hash_strings, find_pattern, search, heat,
]  # fmt: skip
