"""Programs in Triton, unmodified from PyPI, whose kernels the ptxas of the CPU device assembles: what everybody begins
with. triton_products.py and triton_language.py have more."""

import contextlib
import sys

import numpy as np
import triton
import triton.language as tl
from triton.runtime.errors import PTXASError
from triton_arrays import Array, check, close, normal, rng, softmax_of, zeros


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def addition():
    x, y = normal(1000), normal(1000)
    out = zeros(1024)
    compiled = add_kernel[(4,)](Array(x), Array(y), out, 1000, BLOCK=256)
    close(out, np.append(x + y, np.zeros(24)))
    assert b".cucore.ptx" in compiled.asm["cubin"]


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


def softmax():
    x, out = normal(10, 781), zeros(10, 781)
    softmax_kernel[(10,)](Array(x), out, 781, BLOCK=1024)
    close(out, softmax_of(x))


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(i < columns, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    w, b = tl.load(weight + i, mask=i < columns), tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, centred * scale * w + b, mask=i < columns)


def layer_norm():
    x, weight, bias, out = normal(8, 300), normal(300), normal(300), zeros(8, 300)
    layer_norm_kernel[(8,)](Array(x), Array(weight), Array(bias), out, 300, 1e-5, BLOCK=512)
    wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    close(out, wanted, 1e-4)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        at = first + k
        left = tl.load(a + m[:, None] * K + at[None, :], mask=(m[:, None] < M) & (at[None, :] < K), other=0.0)
        right = tl.load(b + at[:, None] * N + n[None, :], mask=(at[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def matrix_products():
    for kind, tolerance in ((np.float16, 1e-3), (np.float32, 3e-2)):  # of float32 the tensor cores take tf32
        a, b, c = normal(100, 80, kind=kind), normal(80, 70, kind=kind), zeros(100, 70)
        grid = (triton.cdiv(100, 64), triton.cdiv(70, 32))
        matmul_kernel[grid](Array(a), Array(b), c, 100, 70, 80, BM=64, BN=32, BK=32)
        close(c, a.astype(np.float64) @ b.astype(np.float64), tolerance)


@triton.autotune(
    configs=[triton.Config({"BM": 32, "BN": 32, "BK": 16}, num_warps=2), triton.Config({"BM": 64, "BN": 64, "BK": 32})],
    key=["M", "N", "K"],
    do_bench=lambda call, quantiles: call() or [1.0, 1.0, 1.0],
)
@triton.jit
def tuned_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    matmul_kernel(a, b, c, M, N, K, BM, BN, BK)


def autotuning():
    a, b, c = normal(64, 64, kind=np.float16), normal(64, 64, kind=np.float16), zeros(64, 64)
    tuned_matmul[lambda chosen: (64 // chosen["BM"], 64 // chosen["BN"])](Array(a), Array(b), c, 64, 64, 64)
    close(c, a.astype(np.float64) @ b.astype(np.float64), 1e-3)
    assert len(tuned_matmul.cache) == 1


@triton.jit
def attention_kernel(q, k, v, out, scale, LENGTH: tl.constexpr, DIM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * LENGTH * DIM
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, DIM)
    queries = tl.load(q + head + m[:, None] * DIM + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    weights, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, DIM), tl.float32)
    for first in range(0, (tl.program_id(0) + 1) * BM, BN):
        n = first + tl.arange(0, BN)
        keys = tl.load(k + head + n[None, :] * DIM + d[:, None])
        scores = tl.where(m[:, None] >= n[None, :], tl.dot(queries, keys) * scale, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, 1))
        p, old = tl.exp(scores - now[:, None]), tl.exp(largest - now)
        weights = weights * old + tl.sum(p, 1)
        values = tl.load(v + head + n[:, None] * DIM + d[None, :])
        total = total * old[:, None] + tl.dot(p.to(tl.float16), values)
        largest = now
    tl.store(out + head + m[:, None] * DIM + d[None, :], total / weights[:, None])


def flash_attention():
    q, k, v = (normal(2, 128, 32, kind=np.float16) for _ in range(3))
    out = zeros(2, 128, 32)
    attention_kernel[(2, 2)](Array(q), Array(k), Array(v), out, 0.25, LENGTH=128, DIM=32, BM=64, BN=32)
    scores = np.einsum("hmd,hnd->hmn", q.astype(np.float64), k.astype(np.float64)) * 0.25
    scores[:, ~np.tri(128, dtype=bool)] = -np.inf
    close(out, softmax_of(scores) @ v.astype(np.float64), 5e-3)


@triton.jit
def histogram_kernel(x, counts, total, lock, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + values, 1, mask=i < n)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + tl.sum(values, 0))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def atomics():
    x = rng.integers(0, 16, 2000).astype(np.int32)
    counts, total, lock = (zeros(size, kind=np.int32) for size in (16, 1, 1))
    histogram_kernel[(8,)](Array(x), counts, total, lock, 2000, BLOCK=256)
    np.testing.assert_array_equal(counts.get(), np.bincount(x, minlength=16))
    assert total.get()[0] == x.sum()


@triton.jit
def scan_kernel(x, sums, order, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(values, 0))
    tl.store(order + i, tl.sort(values))


def scans_and_sorts():
    x = rng.integers(-100, 100, 512).astype(np.int32)
    sums, order = zeros(512, kind=np.int32), zeros(512, kind=np.int32)
    scan_kernel[(1,)](Array(x), sums, order, BLOCK=512)
    np.testing.assert_array_equal(sums.get(), np.cumsum(x))
    np.testing.assert_array_equal(order.get(), np.sort(x))


@triton.jit
def angle_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.sin(tl.load(x + i, mask=i < n)), mask=i < n)


def sines_of_large_angles():
    """Their reduction keeps digits in local memory, of which Triton's LLVM takes addresses in 32 bits."""
    x, out = normal(500) * 1e6, zeros(500)
    angle_kernel[(2,)](Array(x.astype(np.float32)), out, 500, BLOCK=256)
    close(out, np.sin(x.astype(np.float32).astype(np.float64)))


@triton.jit
def wrong_kernel(x):
    tl.inline_asm_elementwise("no.such.instruction $0, $1;", "=r,r", [tl.load(x)], tl.int32, False, 1)


def what_cannot_be_assembled_is_told():
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Triton prints the PTX
            wrong_kernel[(1,)](zeros(1, kind=np.int32))
    except PTXASError as error:
        assert "no.such.instruction" in str(error) or "error" in str(error), error
    else:
        raise AssertionError("no.such.instruction was assembled")


if __name__ == "__main__":
    check(
        addition,
        softmax,
        layer_norm,
        matrix_products,
        autotuning,
        flash_attention,
        atomics,
        scans_and_sorts,
        sines_of_large_angles,
        what_cannot_be_assembled_is_told,
    )
