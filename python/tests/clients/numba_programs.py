"""Programs in Numba-CUDA, each with NumPy's answer beside it: a client that we did not write, on whatever driver the
process finds as libcuda.so.1.

    python numba_programs.py            runs all and prints "ok NAME" for each that agrees
    python numba_programs.py NAME ...   only these
"""

import math
import sys
import traceback

import numpy as np
from numba import cuda, float32, float64, guvectorize, int32, vectorize
from numba.cuda import random as device_random

PROGRAMS = {}
ALL_LANES = 0xFFFFFFFF


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def numbers(*shape, kind=np.float64):
    return np.random.default_rng(1).random(shape, dtype=np.float64).astype(kind)


@program
def a_sum_by_shared_memory_and_an_atomic():
    @cuda.jit
    def total(x, out):
        part = cuda.shared.array(256, float32)
        thread, i = cuda.threadIdx.x, cuda.grid(1)
        part[thread] = x[i] if i < x.size else 0
        cuda.syncthreads()
        half = 128
        while half > 0:
            if thread < half:
                part[thread] += part[thread + half]
            cuda.syncthreads()
            half //= 2
        if thread == 0:
            cuda.atomic.add(out, 0, part[0])

    x, out = numbers(10_000, kind=np.float32), np.zeros(1, np.float32)
    total[40, 256](x, out)
    np.testing.assert_allclose(out[0], x.sum(), rtol=1e-4)


@program
def a_product_of_matrices_by_tiles():
    @cuda.jit
    def multiply(a, b, c):
        tile_a, tile_b = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for k in range(a.shape[1] // 16):
            tile_a[ty, tx], tile_b[ty, tx] = a[y, k * 16 + tx], b[k * 16 + ty, x]
            cuda.syncthreads()
            for j in range(16):
                total += tile_a[ty, j] * tile_b[j, tx]
            cuda.syncthreads()
        c[y, x] = total

    a, b, c = numbers(64, 48, kind=np.float32), numbers(48, 64, kind=np.float32), np.zeros((64, 64), np.float32)
    multiply[(4, 4), (16, 16)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


@program
def shuffles_and_votes_of_a_warp():
    @cuda.jit
    def warps(x, out):
        i = cuda.grid(1)
        total = x[i]
        for distance in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL_LANES, total, distance)
        large = cuda.ballot_sync(ALL_LANES, x[i] > 5)
        if cuda.laneid == 0:
            out[i // 32, 0], out[i // 32, 1] = total, cuda.popc(large)

    x, out = (numbers(128) * 10).astype(np.int32), np.zeros((4, 2), np.int32)
    warps[1, 128](x, out)
    rows = x.reshape(4, 32)
    np.testing.assert_array_equal(out, np.stack([rows.sum(1), (rows > 5).sum(1)], 1))


@program
def complex_numbers_in_a_device_function():
    def escape(c):
        z = 0j
        for i in range(100):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag > 4:
                return i
        return 100

    on_device = cuda.jit(device=True)(escape)

    @cuda.jit
    def mandelbrot(out):
        x, y = cuda.grid(2)
        out[y, x] = on_device(complex(x / 16 - 1.5, y / 16 - 1))

    out = np.zeros((32, 32), np.int32)
    mandelbrot[(4, 4), (8, 8)](out)
    rows, columns = range(32), range(32)
    np.testing.assert_array_equal(out, [[escape(complex(x / 16 - 1.5, y / 16 - 1)) for x in columns] for y in rows])


@program
def functions_of_libdevice():
    @cuda.jit
    def evaluate(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.sin(x[i]) * math.exp(-x[i]) + math.erf(x[i]) + math.lgamma(x[i] + 1) + x[i] ** 1.5

    x, out = numbers(1000) * 3, np.zeros(1000)
    evaluate[8, 128](x, out)
    host = [math.sin(v) * math.exp(-v) + math.erf(v) + math.lgamma(v + 1) + v**1.5 for v in x]
    np.testing.assert_allclose(out, host, rtol=1e-12)


@program
def atomics_of_integers_and_doubles():
    @cuda.jit
    def count(x, histogram, extremes, locks):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            cuda.atomic.add(histogram, int(x[i] * 64), 1)
            cuda.atomic.max(extremes, 0, x[i])
            cuda.atomic.min(extremes, 1, x[i])
            cuda.atomic.cas(locks, 0, 0, 7)

    x, histogram, extremes, locks = numbers(5000), np.zeros(64, np.int32), np.array([-1.0, 9.0]), np.zeros(1, np.int32)
    count[4, 64](x, histogram, extremes, locks)
    np.testing.assert_array_equal(histogram, np.bincount((x * 64).astype(int), minlength=64))
    assert list(extremes) == [x.max(), x.min()] and locks[0] == 7


@program
def random_numbers_of_the_device():
    @cuda.jit
    def estimate(states, count, out):
        i = cuda.grid(1)
        hits = 0
        for _ in range(count):
            x = device_random.xoroshiro128p_uniform_float32(states, i)
            y = device_random.xoroshiro128p_uniform_float32(states, i)
            hits += x * x + y * y <= 1
        out[i] = 4.0 * hits / count

    out = np.zeros(256, np.float32)
    estimate[2, 128](device_random.create_xoroshiro128p_states(256, seed=1), 500, out)
    assert abs(out.mean() - math.pi) < 0.05


@program
def universal_functions_and_reductions():
    @vectorize([float64(float64, float64)], target="cuda")
    def hypotenuse(a, b):
        return math.hypot(a, b)

    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()", target="cuda")
    def dot(a, b, out):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i] * b[i]
        out[0] = total

    a = numbers(50, 8)
    b = a[::-1].copy()
    np.testing.assert_allclose(hypotenuse(a.ravel(), b.ravel()), np.hypot(a, b).ravel())
    np.testing.assert_allclose(dot(a, b), (a * b).sum(1))
    np.testing.assert_allclose(cuda.reduce(lambda x, y: x + y)(numbers(12_345)), numbers(12_345).sum())


@program
def streams_events_and_all_kinds_of_memory():
    @cuda.jit
    def add_one(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1

    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    on_device = cuda.to_device(np.zeros(1000), stream=stream)
    start.record(stream)
    add_one[8, 128, stream](on_device)
    end.record(stream)
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0
    np.testing.assert_array_equal(on_device.copy_to_host(stream=stream), np.ones(1000))
    for make in (cuda.managed_array, cuda.mapped_array):
        array = make(128, np.float64)
        array[:] = 3
        add_one[1, 128](array)
        cuda.synchronize()
        np.testing.assert_array_equal(array, np.full(128, 4.0))
    grid = np.arange(100.0).reshape(10, 10)
    np.testing.assert_array_equal(cuda.to_device(grid)[2:5, 3].copy_to_host(), grid[2:5, 3])


@program
def dynamic_shared_local_and_constant_memory():
    table = np.arange(10.0)

    @cuda.jit
    def reverse(x):
        line = cuda.shared.array(0, int32)
        i = cuda.threadIdx.x
        line[i] = x[i]
        cuda.syncthreads()
        x[i] = line[x.size - 1 - i]

    @cuda.jit
    def weigh(out):
        weights, products = cuda.const.array_like(table), cuda.local.array(10, float64)
        i = cuda.grid(1)
        for j in range(10):
            products[j] = weights[j] * i
        for j in range(10):
            out[i] += products[(j * 3) % 10]

    x, out = np.arange(64, dtype=np.int32), np.zeros(64)
    reverse[1, 64, 0, 256](x)
    weigh[1, 64](out)
    np.testing.assert_array_equal(x, np.arange(64)[::-1])
    np.testing.assert_allclose(out, 45.0 * np.arange(64))


@program
def records_and_half_precision():
    kind = np.dtype([("a", np.int32), ("b", np.float64)], align=True)

    @cuda.jit
    def scale(rows):
        i = cuda.grid(1)
        rows[i].b = rows[i].a * 2.5

    @cuda.jit
    def polynomial(x, out):
        i = cuda.grid(1)
        out[i] = x[i] * x[i] + x[i]

    rows = np.zeros(32, kind)
    rows["a"] = np.arange(32)
    scale[1, 32](rows)
    np.testing.assert_array_equal(rows["b"], np.arange(32) * 2.5)
    x, out = numbers(64, kind=np.float16), np.zeros(64, np.float16)
    polynomial[1, 64](x, out)
    np.testing.assert_allclose(out, x * x + x, rtol=2e-3)


@program
def a_bitonic_sort_within_a_block():
    @cuda.jit
    def sort(x):
        i = cuda.threadIdx.x
        k = 2
        while k <= x.size:
            j = k // 2
            while j > 0:
                other = i ^ j
                if other > i and ((i & k) == 0) == (x[i] > x[other]):
                    x[i], x[other] = x[other], x[i]
                cuda.syncthreads()
                j //= 2
            k *= 2

    x = numbers(256)
    ordered = np.sort(x)
    sort[1, 256](x)
    np.testing.assert_array_equal(x, ordered)


@program
def a_barrier_of_the_whole_grid():
    @cuda.jit
    def shift(x, rounds):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(rounds):
            neighbour = x[(i + 1) % x.size]
            grid.sync()
            x[i] = neighbour + 1
            grid.sync()

    x = np.arange(256.0)
    shift[4, 64](x, 20)
    np.testing.assert_array_equal(x, np.roll(np.arange(256.0), -20) + 20)


@program
def an_exception_in_a_kernel():
    @cuda.jit(debug=True, opt=False)
    def divide(x):
        x[cuda.grid(1)] = 1 // x[0]

    try:
        divide[1, 2](np.zeros(2, np.int64))
    except ZeroDivisionError:
        return
    raise AssertionError("the division by zero went unseen")


@program
def what_the_driver_tells():
    @cuda.jit
    def store(x):
        x[0] = 1

    x = np.zeros(1)
    store[1, 1](x)
    (compiled,) = store.overloads.values()
    assert compiled.max_cooperative_grid_blocks(32) > 0 and compiled.regs_per_thread > 0
    assert 0 < cuda.current_context().get_memory_info().free <= cuda.current_context().get_memory_info().total


def main():
    failed = 0
    for name in sys.argv[1:] or PROGRAMS:
        try:
            PROGRAMS[name]()
            print("ok", name, flush=True)
        except Exception:
            failed += 1
            print("failed", name, flush=True)
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
