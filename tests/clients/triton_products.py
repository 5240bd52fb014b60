"""Programs in Triton of the kinds that its tutorials teach after the first ones: attention forward and backward,
grouped, persistent and descriptor-fed matrix products, small types, dropout."""

import ctypes

import numpy as np
import triton
import triton.language as tl
from triton_arrays import Array, check, close, cuda, normal, ok, rng, softmax_of, zeros


@triton.jit
def attention_forward(
    q, k, v, out, logs, scale, LENGTH: tl.constexpr, DIM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    head = tl.program_id(1) * LENGTH
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, DIM)
    queries = tl.load(q + (head + m)[:, None] * DIM + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    weights, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, DIM), tl.float32)
    for first in tl.range(0, (tl.program_id(0) + 1) * BM, BN, num_stages=2):
        n = first + tl.arange(0, BN)
        keys = tl.load(k + (head + n)[None, :] * DIM + d[:, None])
        scores = tl.where(m[:, None] >= n[None, :], tl.dot(queries, keys) * scale, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, 1))
        p, old = tl.math.exp2((scores - now[:, None]) * 1.4426950408889634), tl.exp(largest - now)
        weights = weights * old + tl.sum(p, 1)
        values = tl.load(v + (head + n)[:, None] * DIM + d[None, :])
        total = tl.dot(p.to(tl.float16), values, total * old[:, None])
        largest = now
    tl.store(out + (head + m)[:, None] * DIM + d[None, :], total / weights[:, None])
    tl.store(logs + head + m, largest + tl.log(weights))


@triton.jit
def attention_delta(out, gradient, delta, DIM: tl.constexpr, BM: tl.constexpr):
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, DIM)
    at = m[:, None] * DIM + d[None, :]
    tl.store(delta + m, tl.sum(tl.load(out + at) * tl.load(gradient + at).to(tl.float32), 1))


@triton.jit
def attention_backward(
    q, k, v, gradient, logs, delta, dq, dk, dv, scale,
    LENGTH: tl.constexpr, DIM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """A block of keys: its own gradients it keeps, those of the queries it adds to others'."""
    head = tl.program_id(1) * LENGTH
    n, d = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, DIM)
    at = (head + n)[:, None] * DIM + d[None, :]
    keys, values = tl.load(k + at), tl.load(v + at)
    for_keys, for_values = tl.zeros((BN, DIM), tl.float32), tl.zeros((BN, DIM), tl.float32)
    for first in range(tl.program_id(0) * BN // BM * BM, LENGTH, BM):
        m = first + tl.arange(0, BM)
        rows = (head + m)[:, None] * DIM + d[None, :]
        queries, given = tl.load(q + rows), tl.load(gradient + rows)
        scores = tl.dot(queries, tl.trans(keys)) * scale - tl.load(logs + head + m)[:, None]
        p = tl.where(m[:, None] >= n[None, :], tl.exp(scores), 0.0)
        for_values += tl.dot(tl.trans(p.to(tl.float16)), given)
        ds = p * (tl.dot(given, tl.trans(values)) - tl.load(delta + head + m)[:, None]) * scale
        for_keys += tl.dot(tl.trans(ds.to(tl.float16)), queries)
        tl.atomic_add(dq + rows, tl.dot(ds.to(tl.float16), keys))
    tl.store(dk + at, for_keys)
    tl.store(dv + at, for_values)


def attention_and_its_gradients():
    heads, length, dim = 2, 128, 32
    q, k, v, given = (normal(heads, length, dim, kind=np.float16) for _ in range(4))
    out, dq, dk, dv = (zeros(heads, length, dim) for _ in range(4))
    logs, delta = zeros(heads, length), zeros(heads, length)
    inputs = [Array(each) for each in (q, k, v)]
    sizes = {"LENGTH": length, "DIM": dim, "BM": 32, "BN": 32}
    attention_forward[(length // 32, heads)](*inputs, out, logs, 0.2, **sizes)
    attention_delta[(heads * length // 64,)](out, Array(given), delta, DIM=dim, BM=64)
    attention_backward[(length // 32, heads)](*inputs, Array(given), logs, delta, dq, dk, dv, 0.2, **sizes)

    q, k, v, given = (each.astype(np.float64) for each in (q, k, v, given))
    scores = np.einsum("hmd,hnd->hmn", q, k) * 0.2
    scores[:, ~np.tri(length, dtype=bool)] = -np.inf
    p = softmax_of(scores)
    close(out, p @ v, 5e-3)
    dp = given @ v.transpose(0, 2, 1)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * 0.2
    close(dv, p.transpose(0, 2, 1) @ given, 2e-2)
    close(dq, ds @ k, 2e-2)
    close(dk, ds.transpose(0, 2, 1) @ q, 2e-2)


@triton.jit
def grouped_kernel(
    a, b, c, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr
):
    """Programs take tiles in turn, through all products of the group."""
    tile, last = tl.program_id(0), 0
    for g in range(groups):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * across
        left = tl.load(a + g).to(tl.pointer_type(tl.float16))
        right = tl.load(b + g).to(tl.pointer_type(tl.float16))
        product = tl.load(c + g).to(tl.pointer_type(tl.float32))
        while tile >= last and tile < last + tiles:
            m = (tile - last) // across * BM + tl.arange(0, BM)
            n = (tile - last) % across * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for first in range(tl.cdiv(K, BK)):
                at = first * BK + k
                x = tl.load(left + m[:, None] * K + at[None, :], mask=(m[:, None] < M) & (at[None, :] < K), other=0.0)
                y = tl.load(right + at[:, None] * N + n[None, :], mask=(at[:, None] < K) & (n[None, :] < N), other=0.0)
                total = tl.dot(x, y, total)
            tl.store(product + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))
            tile += PROGRAMS
        last += tiles


def grouped_products():
    sizes = [(64, 48, 32), (33, 70, 50), (16, 16, 16), (100, 20, 90)]
    left = [normal(m, k, kind=np.float16) for m, _, k in sizes]
    right = [normal(k, n, kind=np.float16) for _, n, k in sizes]
    arrays = [[Array(each) for each in left], [Array(each) for each in right], [zeros(m, n) for m, n, _ in sizes]]
    addresses = [Array(np.array([each.address for each in those], np.int64)) for those in arrays]
    grouped_kernel[(3,)](*addresses, Array(np.array(sizes, np.int32)), len(sizes), BM=32, BN=32, BK=16, PROGRAMS=3)
    for a, b, c in zip(left, right, arrays[2], strict=True):
        close(c, a.astype(np.float64) @ b.astype(np.float64), 2e-3)


@triton.jit
def persistent_kernel(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    k = tl.arange(0, BK)
    for tile in tl.range(tl.program_id(0), down * across, PROGRAMS, flatten=True):
        first = tile // (GROUP * across) * GROUP
        height = min(down - first, GROUP)
        m = (first + tile % (GROUP * across) % height) * BM + tl.arange(0, BM)
        n = tile % (GROUP * across) // height * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for at in range(0, K, BK):
            x = tl.load(a + m[:, None] * K + (at + k)[None, :], mask=m[:, None] < M, other=0.0)
            y = tl.load(b + (at + k)[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
            total = tl.dot(x, y, total)
        tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


def persistent_products():
    a, b, c = normal(200, 64, kind=np.float16), normal(64, 150, kind=np.float16), zeros(200, 150, kind=np.float16)
    sizes = {"BM": 64, "BN": 32, "BK": 32, "GROUP": 2, "PROGRAMS": 4}
    persistent_kernel[(4,)](Array(a), Array(b), c, 200, 150, 64, **sizes, num_stages=3)
    close(c, a.astype(np.float64) @ b.astype(np.float64), 2e-2)


@triton.jit
def described_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    left = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    right = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    product = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, PROGRAMS):
        m, n = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for at in range(0, K, BK):
            total = tl.dot(left.load([m, at]), right.load([at, n]), total)
        product.store([m, n], total.to(tl.float16))


class Scratch:
    """What triton.set_allocator gives out; Triton asks it for an address."""

    def __init__(self, size):
        address = ctypes.c_uint64()
        ok(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
        self.address = address.value

    def data_ptr(self):
        return self.address


def products_of_tensor_descriptors():
    """TMA: tensor maps made on the device, asynchronous bulk copies, and warp group instructions that read them."""
    triton.set_allocator(lambda size, alignment, stream: Scratch(size))
    a, b, c = normal(100, 72, kind=np.float16), normal(72, 136, kind=np.float16), zeros(100, 136, kind=np.float16)
    sizes = {"BM": 64, "BN": 64, "BK": 32, "PROGRAMS": 3}
    described_kernel[(3,)](Array(a), Array(b), c, 100, 136, 72, **sizes, num_stages=3)
    close(c, a.astype(np.float64) @ b.astype(np.float64), 2e-2)


@triton.jit
def small_types_kernel(
    a, b, c, KIND: tl.constexpr, TOTAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :]).to(KIND, bitcast=True)
    right = tl.load(b + k[:, None] * N + n[None, :]).to(KIND, bitcast=True)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(left, right, out_dtype=TOTAL))


def value_of_float8(codes, exponent_bits, bias, has_infinity):
    """What the bits of a float8 are worth; NaN for those that are none or not finite."""
    mantissa_bits = 7 - exponent_bits
    exponent, mantissa = codes >> mantissa_bits & (1 << exponent_bits) - 1, codes & (1 << mantissa_bits) - 1
    normal_value = (1 + mantissa / 2.0**mantissa_bits) * 2.0 ** (exponent - bias)
    value = np.where(exponent == 0, mantissa / 2.0**mantissa_bits * 2.0 ** (1 - bias), normal_value)
    top = (1 << exponent_bits) - 1
    none = exponent == top if has_infinity else codes & 0x7F == 0x7F
    return np.where(none, np.nan, np.where(codes & 0x80, -value, value))


def products_of_small_types():
    for kind, *layout in ((tl.float8e4nv, 4, 7, False), (tl.float8e5, 5, 15, True)):
        codes = np.arange(256)
        good = codes[np.abs(value_of_float8(codes, *layout)) <= 4]
        a, b = (rng.choice(good, shape).astype(np.uint8) for shape in ((64, 64), (64, 32)))
        c = zeros(64, 32)
        small_types_kernel[(1,)](Array(a), Array(b), c, KIND=kind, TOTAL=tl.float32, M=64, N=32, K=64)
        # Sums of float8 products are cut off 13 bits below the largest, on tensor cores of 9.0 and so here.
        a, b = (value_of_float8(each.astype(np.int64), *layout) for each in (a, b))
        np.testing.assert_allclose(c.get(), a @ b, rtol=1e-4, atol=64 * 16 / 2**13)
    a, b, c = (
        rng.integers(-128, 128, (64, 64), np.int8),
        rng.integers(-128, 128, (64, 32), np.int8),
        zeros(64, 32, kind=np.int32),
    )
    small_types_kernel[(1,)](Array(a), Array(b), c, KIND=tl.int8, TOTAL=tl.int32, M=64, N=32, K=64)
    np.testing.assert_array_equal(c.get(), a.astype(np.int32) @ b.astype(np.int32))


@triton.jit
def conversions_kernel(x, out8, back8, out5, back5, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    e4, e5 = values.to(tl.float8e4nv), values.to(tl.float8e5)
    tl.store(out8 + i, e4.to(tl.uint8, bitcast=True))
    tl.store(back8 + i, e4.to(tl.float32))
    tl.store(out5 + i, e5.to(tl.uint8, bitcast=True))
    tl.store(back5 + i, e5.to(tl.float32))


def conversions_to_float8():
    x = (normal(1024) * 10).astype(np.float32)
    out8, out5 = (zeros(1024, kind=np.uint8) for _ in range(2))
    back8, back5 = zeros(1024), zeros(1024)
    conversions_kernel[(1,)](Array(x), out8, back8, out5, back5, BLOCK=1024)
    for out, back, layout in ((out8, back8, (4, 7, False)), (out5, back5, (5, 15, True))):
        all_codes = value_of_float8(np.arange(256), *layout)
        finite = np.sort(all_codes[np.isfinite(all_codes)])
        np.testing.assert_array_equal(back.get(), value_of_float8(out.get().astype(np.int64), *layout))
        error = np.abs(back.get() - x)
        np.testing.assert_array_equal(error, np.abs(finite[None, :] - x.astype(np.float64)[:, None]).min(1))


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(kept, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


def philox(seed, counters):
    """The first word of Philox 4x32-10 at (counter, 0, 0, 0)."""
    words = [counters.astype(np.uint64), *(np.zeros(counters.shape, np.uint64) for _ in range(3))]
    low, high = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            second >> np.uint64(32) ^ words[1] ^ np.uint64(low),
            second & np.uint64(0xFFFFFFFF),
            first >> np.uint64(32) ^ words[3] ^ np.uint64(high),
            first & np.uint64(0xFFFFFFFF),
        ]
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
    return words[0].astype(np.uint32)


def dropout():
    x, out = normal(3000), zeros(3000)
    dropout_kernel[(3,)](Array(x), out, 3000, 0.3, 12345678901, BLOCK=1024)
    word = philox(12345678901, np.arange(3000)).view(np.int32)
    uniform = np.where(word < 0, -(word + 1), word).astype(np.float32) * np.float32(4.6566127342e-10)
    close(out, np.where(uniform > np.float32(0.3), x / np.float32(0.7), 0))


@triton.jit
def norm_backward(dx, dy, x, w, dw, db, means, scales, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """The tutorial's: rows add their parts of the weights' gradients into a few places, each under a lock."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    mask = i < columns
    values = tl.load(x + row * columns + i, mask=mask, other=0.0)
    given = tl.load(dy + row * columns + i, mask=mask, other=0.0)
    weights = tl.load(w + i, mask=mask, other=0.0)
    scale = tl.load(scales + row)
    unit = tl.where(mask, (values - tl.load(means + row)) * scale, 0.0)
    weighted = tl.where(mask, weights * given, 0.0)
    a, b = tl.sum(unit * weighted, 0) / columns, tl.sum(weighted, 0) / columns
    tl.store(dx + row * columns + i, (weighted - (unit * a + b)) * scale, mask=mask)
    place = row % GROUPS
    while tl.atomic_cas(locks + place, 0, 1) == 1:
        pass
    count = tl.load(locks + GROUPS + place)
    for_weights, for_bias = given * unit, given
    if count == 0:
        tl.atomic_xchg(locks + GROUPS + place, 1)
    else:
        for_weights += tl.load(dw + place * columns + i, mask=mask)
        for_bias += tl.load(db + place * columns + i, mask=mask)
    tl.store(dw + place * columns + i, for_weights, mask=mask)
    tl.store(db + place * columns + i, for_bias, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(locks + place, 0)


def layer_norm_backward():
    rows, columns, groups = 40, 300, 4
    x, dy, w = normal(rows, columns), normal(rows, columns), normal(columns)
    mean, scale = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    dx, dw, db = zeros(rows, columns), zeros(groups, columns), zeros(groups, columns)
    inputs = [Array(each) for each in (dy, x, w)]
    locks = zeros(2 * groups, kind=np.int32)
    norm_backward[(rows,)](dx, *inputs, dw, db, Array(mean), Array(scale), locks, columns, GROUPS=groups, BLOCK=512)
    unit, weighted = (x - mean[:, None]) * scale[:, None], w * dy
    a, b = (unit * weighted).mean(1, keepdims=True), weighted.mean(1, keepdims=True)
    close(dx, (weighted - (unit * a + b)) * scale[:, None], 1e-4)
    np.testing.assert_allclose(dw.get().sum(0), (dy * unit).sum(0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(db.get().sum(0), dy.sum(0), rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    check(
        attention_and_its_gradients,
        grouped_products,
        persistent_products,
        products_of_tensor_descriptors,
        products_of_small_types,
        conversions_to_float8,
        dropout,
        layer_norm_backward,
    )
