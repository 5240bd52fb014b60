"""Programs in Triton that go through its language: scans, sorts, histograms, gathers, atomics of every kind, inline
assembly, the mathematics library, random numbers, printing, assertions, cooperative grids, control flow."""

import math
import subprocess
import sys

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton_arrays import Array, check, close, cuda, normal, retain_context, rng, zeros


@triton.jit
def add_or_restart(a, a_starts, b, b_starts):
    return tl.where(b_starts, b, a + b), a_starts | b_starts


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def decay(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def scans_kernel(x, starts, rates, sums, peaks, products, states, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    values, rate = tl.load(x + at), tl.load(rates + at)
    by_segment, _ = tl.associative_scan((values, tl.load(starts + at)), 1, add_or_restart)
    tl.store(sums + at, by_segment)
    tl.store(peaks + at, tl.associative_scan(values, 0, larger, reverse=True))
    tl.store(products + at, tl.cumprod(rate, 1))
    _, state = tl.associative_scan((rate, values), 1, decay)
    tl.store(states + at, state)


def scans():
    rows, columns = 16, 128
    x, rates = normal(rows, columns), rng.uniform(0.8, 1.1, (rows, columns)).astype(np.float32)
    starts = (rng.random((rows, columns)) < 0.1).astype(np.int32)
    outs = [zeros(rows, columns) for _ in range(4)]
    scans_kernel[(1,)](Array(x), Array(starts), Array(rates), *outs, R=rows, C=columns)
    sums, states = np.zeros((2, rows, columns))
    for c in range(columns):
        before, state = (sums[:, c - 1], states[:, c - 1]) if c else (0, 0)
        sums[:, c] = np.where(starts[:, c], x[:, c], before + x[:, c])
        states[:, c] = state * rates[:, c] + x[:, c]
    close(outs[0], sums, 1e-4)
    close(outs[1], np.maximum.accumulate(x[::-1], 0)[::-1])
    close(outs[2], np.cumprod(rates, 1), 1e-4)
    close(outs[3], states, 1e-3)


@triton.jit
def reductions_kernel(x, out, places, BLOCK: tl.constexpr):
    values = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out, tl.sum(values, 0))
    tl.store(out + 1, tl.xor_sum(values, 0))
    tl.store(out + 2, tl.max(values, 0))
    tl.store(out + 3, tl.min(values, 0))
    tl.store(out + 4, tl.reduce(values, 0, larger))
    tl.store(places, tl.argmax(values, 0))
    tl.store(places + 1, tl.argmin(values, 0))
    largest, place = tl.max(values, 0, return_indices=True)
    tl.store(out + 5, largest)
    tl.store(places + 2, place)


def reductions():
    for kind in (np.int32, np.int64, np.int16):
        x, out, places = rng.integers(-9999, 9999, 1024).astype(kind), zeros(6, kind=np.int64), zeros(3, kind=np.int32)
        reductions_kernel[(1,)](Array(x), out, places, BLOCK=1024)
        total, parity = x.astype(np.int64).sum(), np.bitwise_xor.reduce(x)
        np.testing.assert_array_equal(out.get(), [total, parity, x.max(), x.min(), x.max(), x.max()])
        np.testing.assert_array_equal(places.get(), [x.argmax(), x.argmin(), x.argmax()])


@triton.jit
def sorts_kernel(x, ascending, descending, best, turned, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, R)[:, None]
    at = rows * C + tl.arange(0, C)[None, :]
    values = tl.load(x + at)
    tl.store(ascending + at, tl.sort(values, 1))
    tl.store(descending + at, tl.sort(values, 1, descending=True))
    tl.store(best + rows * K + tl.arange(0, K)[None, :], tl.topk(values, K, 1))
    tl.store(turned + at, tl.flip(values, 1))


def sorts():
    for kind in (np.int32, np.float32):
        x = rng.integers(-1000, 1000, (8, 256)).astype(kind)
        ascending, descending, turned = (zeros(8, 256, kind=kind) for _ in range(3))
        best = zeros(8, 16, kind=kind)
        sorts_kernel[(1,)](Array(x), ascending, descending, best, turned, R=8, C=256, K=16)
        wanted = np.sort(x, 1)
        np.testing.assert_array_equal(ascending.get(), wanted)
        np.testing.assert_array_equal(descending.get(), wanted[:, ::-1])
        np.testing.assert_array_equal(best.get(), wanted[:, :-17:-1])
        np.testing.assert_array_equal(turned.get(), x[:, ::-1])


@triton.jit
def counts_kernel(x, counts, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n))


def histograms():
    x, counts = rng.integers(0, 128, 5000).astype(np.int32), zeros(128, kind=np.int32)
    counts_kernel[(10,)](Array(x), counts, 5000, BLOCK=512, BINS=128)
    np.testing.assert_array_equal(counts.get(), np.bincount(x, minlength=128))


@triton.jit
def shapes_kernel(x, places, gathered, joined, parts, turned, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    values = tl.load(x + rows * C + columns)
    tl.store(gathered + rows * C + columns, tl.gather(values, tl.load(places + rows * C + columns), 1))
    pairs = tl.interleave(values, -values)
    tl.store(joined + rows * 2 * C + tl.arange(0, 2 * C)[None, :], pairs)
    even, odd = tl.split(tl.reshape(values, (R, C // 2, 2)))
    half = tl.arange(0, C // 2)[None, :]
    tl.store(parts + rows * C + half, even)
    tl.store(parts + rows * C + C // 2 + half, odd)
    boxes = tl.permute(tl.reshape(values, (R, 4, C // 4)), (1, 0, 2))
    b, r, c = tl.arange(0, 4)[:, None, None], tl.arange(0, R)[None, :, None], tl.arange(0, C // 4)[None, None, :]
    tl.store(turned + (b * R + r) * (C // 4) + c, boxes)


def shapes():
    rows, columns = 16, 64
    x, places = normal(rows, columns), rng.integers(0, columns, (rows, columns)).astype(np.int32)
    gathered, parts, turned, joined = *(zeros(rows, columns) for _ in range(3)), zeros(rows, 2 * columns)
    shapes_kernel[(1,)](Array(x), Array(places), gathered, joined, parts, turned, R=rows, C=columns)
    close(gathered, np.take_along_axis(x, places, 1))
    close(joined, np.stack([x, -x], -1).reshape(rows, -1))
    close(parts, np.concatenate([x[:, ::2], x[:, 1::2]], 1))
    close(turned, x.reshape(rows, 4, -1).transpose(1, 0, 2).reshape(rows, columns))


@triton.jit
def atomics_kernel(x, cells, wide, real, half, lock, owner, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    values = tl.load(x + i, mask=mask, other=0)
    same = tl.zeros((BLOCK,), tl.int32)
    tl.atomic_add(cells + same, values, mask=mask)
    tl.atomic_max(cells + 1 + same, values, mask=mask)
    tl.atomic_min(cells + 2 + same, values, mask=mask)
    tl.atomic_and(cells + 3 + same, values, mask=mask)
    tl.atomic_or(cells + 4 + same, values, mask=mask)
    tl.atomic_xor(cells + 5 + same, values, mask=mask)
    tl.atomic_add(wide + same, values.to(tl.int64), mask=mask, sem="relaxed")
    tl.atomic_max(wide + 1 + same, values.to(tl.int64), mask=mask, sem="acquire", scope="cta")
    tl.atomic_add(real + same, values.to(tl.float32), mask=mask)
    tl.atomic_max(real + 1, tl.max(values.to(tl.float32), 0))
    tl.atomic_min(real + 2, tl.min(values.to(tl.float32), 0))
    tl.atomic_add(half + same, tl.full((BLOCK,), 1.0, tl.float16), mask=mask)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    tl.store(owner, tl.load(owner) * 3 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


def atomics_of_every_kind():
    x = rng.integers(-1000, 1000, 900).astype(np.int32)
    cells = Array(np.array([0, -5000, 5000, -1, 0, 0], np.int32))
    wide, real = Array(np.array([0, -5000], np.int64)), Array(np.array([0, -5000, 5000], np.float32))
    half, lock, owner = zeros(1, kind=np.float16), zeros(1, kind=np.int32), zeros(1, kind=np.int64)
    atomics_kernel[(8,)](Array(x), cells, wide, real, half, lock, owner, 900, BLOCK=128)
    operations = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    wanted = [x.sum(), x.max(), x.min(), *(each.reduce(x) for each in operations)]
    np.testing.assert_array_equal(cells.get(), wanted)
    np.testing.assert_array_equal(wide.get(), [x.sum(), x.max()])
    np.testing.assert_array_equal(real.get(), [x.sum(), max(x.max(), 0), min(x.min(), 0)])
    assert half.get()[0] == 900 and owner.get()[0] == (3**8 - 1) // 2


@triton.jit
def assembly_kernel(x, y, out, ranks, packed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.inline_asm_elementwise("prmt.b32 $0, $1, $2, 0x5140;", "=r,r,r", [a, b], tl.int32, True, 1))
    count, zeros = tl.inline_asm_elementwise(
        "popc.b32 $0, $2; clz.b32 $1, $2;", "=r,=r,r", [a], dtype=(tl.int32, tl.int32), is_pure=True, pack=1
    )
    tl.store(ranks + i, count * 100 + zeros)
    low = (a & 0xFF).to(tl.int8)  # four to a register
    tl.store(packed + i, tl.inline_asm_elementwise("not.b32 $0, $1;", "=r,r", [low], tl.int8, True, 4))


def inline_assembly():
    x, y = (rng.integers(-(2**31), 2**31, 256).astype(np.int32) for _ in range(2))
    out, ranks, packed = zeros(256, kind=np.int32), zeros(256, kind=np.int32), zeros(256, kind=np.int8)
    assembly_kernel[(1,)](Array(x), Array(y), out, ranks, packed, BLOCK=256)
    first, second = x.view(np.uint8).reshape(-1, 4)[:, :2], y.view(np.uint8).reshape(-1, 4)[:, :2]
    np.testing.assert_array_equal(out.get(), np.stack([first, second], -1).reshape(-1).view(np.int32))
    words = [int(each) & 0xFFFFFFFF for each in x]
    wanted = [each.bit_count() * 100 + 32 - each.bit_length() for each in words]
    np.testing.assert_array_equal(ranks.get(), wanted)
    np.testing.assert_array_equal(packed.get(), ~x.astype(np.int8))


@triton.jit
def mathematics_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.erf(v))
    tl.store(out + n + i, libdevice.pow(v, v))
    tl.store(out + 2 * n + i, libdevice.atan2(v, 2 * v + 1))
    tl.store(out + 3 * n + i, libdevice.log1p(v))
    tl.store(out + 4 * n + i, libdevice.tanh(v))
    tl.store(out + 5 * n + i, tl.math.fma(v, v, 1.0))
    tl.store(out + 6 * n + i, tl.math.rsqrt(v))
    tl.store(out + 7 * n + i, tl.sigmoid(v))
    tl.store(out + 8 * n + i, libdevice.div_rn(v, v + 1) + libdevice.sqrt_rn(v))
    tl.store(out + 9 * n + i, libdevice.round(v * 4) + tl.floor(v) + tl.ceil(v) + libdevice.trunc(v))
    tl.store(out + 10 * n + i, tl.clamp(v, 0.5, 1.5) + tl.abs(-v))


def mathematics():
    x = rng.uniform(0.1, 3, 256)
    for kind, tolerance in ((np.float32, 1e-5), (np.float64, 1e-12)):
        v, out = x.astype(kind), zeros(11, 256, kind=kind)
        mathematics_kernel[(1,)](Array(v), out, 256, BLOCK=256)
        v = v.astype(np.float64)
        away = np.floor(v * 4 + 0.5)
        rows = [
            np.vectorize(math.erf)(v),
            v**v,
            np.arctan2(v, 2 * v + 1),
            np.log1p(v),
            np.tanh(v),
            v * v + 1,
            1 / np.sqrt(v),
        ]
        rows += [1 / (1 + np.exp(-v)), v / (v + 1) + np.sqrt(v), away + np.floor(v) + np.ceil(v) + np.trunc(v)]
        rows += [np.clip(v, 0.5, 1.5) + v]
        # Only single precision has an approximate rsqrt; sigmoid goes through exp2 of single precision's kind.
        close(out, np.array(rows), tolerance if kind == np.float32 else 1e-9)


@triton.jit
def random_kernel(ints, uniform, gauss, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(ints + i, tl.randint(seed, i))
    tl.store(uniform + i, tl.rand(seed, i))
    tl.store(gauss + i, tl.randn(seed, i))


def random_numbers():
    n = 16384
    ints, uniform, gauss = zeros(n, kind=np.int32), zeros(n), zeros(n)
    random_kernel[(n // 1024,)](ints, uniform, gauss, 42, BLOCK=1024)
    word = ints.get()
    wanted = np.where(word < 0, -(word + 1), word).astype(np.float32) * np.float32(4.6566127342e-10)
    np.testing.assert_array_equal(uniform.get(), wanted)
    assert abs(uniform.get().mean() - 0.5) < 0.01 and abs(uniform.get().var() - 1 / 12) < 0.002
    assert abs(gauss.get().mean()) < 0.03 and abs(gauss.get().std() - 1) < 0.03
    assert len(np.unique(word)) > n - 5


@triton.jit
def grid_kernel(arrived, x, out, BLOCK: tl.constexpr):
    """All programs meet once, which only a cooperative launch promises."""
    me, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(x + me * BLOCK + i, me * BLOCK + i)
    tl.debug_barrier()
    tl.atomic_add(arrived, 1, sem="acq_rel")
    while tl.atomic_add(arrived, 0, sem="acq_rel") < tl.num_programs(0):
        pass
    tl.debug_barrier()
    other = (me + 1) % tl.num_programs(0)
    tl.store(out + me * BLOCK + i, tl.load(x + other * BLOCK + i, volatile=True))


def cooperative_grids():
    programs, block = 8, 128
    arrived, x, out = (
        zeros(1, kind=np.int32),
        zeros(programs, block, kind=np.int32),
        zeros(programs, block, kind=np.int32),
    )
    grid_kernel[(programs,)](arrived, x, out, BLOCK=block, launch_cooperative_grid=True)
    np.testing.assert_array_equal(out.get(), np.roll(np.arange(programs * block).reshape(programs, block), -1, 0))


@triton.jit
def flow_kernel(x, out, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 2 == 0)
    i = tl.arange(0, BLOCK)
    tl.assume(n > 0)
    total = tl.zeros((BLOCK,), tl.int64)
    step = 0
    while step < n:
        value = tl.load(x + step)
        if value % 2 == 0:
            total += value
        elif value > 100:
            total -= i
        for k in tl.static_range(3):
            total += k * value
        step += 1
    if n > LIMIT:
        tl.store(out + i, total)
        return
    tl.store(out + i, -total)


def control_flow():
    x = rng.integers(0, 300, 77).astype(np.int32)
    for n in (5, 77):
        out = zeros(64, kind=np.int64)
        flow_kernel[(1,)](Array(x), out, n, LIMIT=10, BLOCK=64)
        v = x[:n].astype(np.int64)
        total = v[v % 2 == 0].sum() + 3 * v.sum() - ((v % 2 == 1) & (v > 100)).sum() * np.arange(64)
        np.testing.assert_array_equal(out.get(), total if n > 10 else -total)


@triton.jit
def printing_kernel(x):
    value = tl.load(x)
    tl.device_print("the value", value)
    tl.device_print("of lanes", tl.arange(0, 4) * 10)


@triton.jit
def asserting_kernel(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + i) < n, "a value is too large")
    tl.store(x + i, 0)


def in_a_process_of_its_own(part):
    return subprocess.run([sys.executable, "-W", "ignore", __file__, part], capture_output=True, text=True)


def prints():
    done = in_a_process_of_its_own("print")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any("the value" in line and line.endswith("7") for line in lines), lines
    assert all(any("of lanes" in line and line.endswith(f" {each}") for line in lines) for each in (0, 10, 20, 30)), (
        lines
    )


def assertions():
    done = in_a_process_of_its_own("assert")
    assert done.stdout.split() == ["0", "710"], done.stdout + done.stderr
    assert "a value is too large" in done.stderr, done.stderr


def print_or_assert(part):
    retain_context()
    if part == "print":
        printing_kernel[(1,)](Array(np.array([7], np.int32)), num_warps=1)
        return cuda.cuCtxSynchronize()
    for largest in (9, 10):  # the first passes
        x = Array(np.array([3] * 31 + [largest], np.int32))
        asserting_kernel[(1,)](x, 10, BLOCK=32, debug=True, num_warps=1)
        print(cuda.cuCtxSynchronize(), flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(print_or_assert(sys.argv[1]))
    check(
        scans,
        reductions,
        sorts,
        histograms,
        shapes,
        atomics_of_every_kind,
        inline_assembly,
        mathematics,
        random_numbers,
        cooperative_grids,
        control_flow,
        prints,
        assertions,
    )
