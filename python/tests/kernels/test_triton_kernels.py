"""Kernels that Triton compiled (triton_ptx/emit.py says how) against NumPy, on whatever driver is in use."""

from pathlib import Path

import numpy as np
import pytest
from conftest import launch_on_arrays

import cucore

EXTRA = (0, 0)  # Triton's own parameters: scratch memory, which these kernels do not use


@pytest.fixture
def run(device, stream):
    def run(name, grid, shared, *arguments, kernel=None):
        """Arrays go to the device and come back; what the kernel left in them is returned."""
        code = cucore.ObjectCode.from_ptx(Path(__file__).with_name("triton_ptx") / f"{name}.ptx")
        kernel = code.get_kernel(kernel or name)
        config = cucore.LaunchConfig(grid=grid, block=128, shmem_size=shared)
        return launch_on_arrays(stream, config, kernel, *arguments, *EXTRA)

    return run


def numbers(*shape, kind=np.float32):
    return np.random.default_rng(1).random(shape).astype(kind)


def test_addition(run):
    x, y = numbers(5000), numbers(5000)[::-1].copy()
    np.testing.assert_array_equal(run("add", 5, 0, x, y, np.zeros_like(x), x.size)[2], x + y)


def test_softmax_reduces_over_warps(run):
    x = numbers(7, 781)
    out = run("softmax", 7, 16, x, np.zeros_like(x), 781, 781)[1].reshape(x.shape)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-5)


def test_a_product_of_matrices(run):
    a, b, c = numbers(64, 48), numbers(48, 96), np.zeros((64, 96), np.float32)
    out = run("matmul", (2, 3), 8192, a, b, c, 64, 96, 48)[2]
    np.testing.assert_allclose(out.reshape(c.shape), a @ b, rtol=1e-5)


def test_layer_norm(run):
    x, weight, bias = numbers(5, 500), numbers(500), numbers(500)[::-1].copy()
    out = run("layer_norm", 5, 16, x, weight, bias, np.zeros_like(x), 500, 1e-5)[3].reshape(x.shape)
    want = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(out, want, rtol=2e-4, atol=1e-5)


def test_a_histogram_by_atomics(run):
    x = numbers(3000, kind=np.float64)
    x = (x * 50).astype(np.int32)
    out = run("histogram", 6, 0, x, np.zeros(50, np.int32), x.size)[1]
    np.testing.assert_array_equal(out, np.bincount(x, minlength=50))


def test_a_cumulative_sum(run):
    x = numbers(512)
    np.testing.assert_allclose(run("cumulative_sum", 1, 64, x, np.zeros_like(x))[1], np.cumsum(x), rtol=1e-5)


def philox(seed, count):
    """The first word of Philox 4x32-10 with the counters (i, 0, 0, 0)."""
    words = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    keys = [seed, 0]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, third = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        shift = np.uint64(32)
        words = [
            (third >> shift) ^ words[1] ^ np.uint64(keys[0]),
            third & low,
            (first >> shift) ^ words[3] ^ np.uint64(keys[1]),
            first & low,
        ]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words[0].astype(np.uint32)


def test_random_numbers_bit_for_bit(run):
    out = run("philox", 8, 0, np.zeros(4096, np.uint32), 42)[0]
    np.testing.assert_array_equal(out, philox(42, 4096))


def test_half_in_and_bfloat16_out(run):
    x = (numbers(2000, kind=np.float64) * 8 - 4).astype(np.float16)
    bits = run("swish", 4, 0, x, np.zeros(x.size, np.uint16), x.size)[1]
    out, exact = (bits.astype(np.uint32) << 16).view(np.float32), x.astype(np.float32)
    np.testing.assert_allclose(out, exact / (1 + np.exp(-exact)), rtol=2**-8)


def test_a_sort_within_a_block(run):
    x = (numbers(256, kind=np.float64) * 1000).astype(np.int32)
    np.testing.assert_array_equal(run("sort", 1, 1024, x, np.zeros_like(x))[1], np.sort(x))


def bfloat16(values):
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


DOTS = [
    ("dot_f16", 12288, lambda x: x.astype(np.float16), np.float32),
    ("dot_bf16", 12288, bfloat16, np.float32),
    ("dot_tf32", 24576, lambda x: x.astype(np.float32), np.float32),
    ("dot_s8", 6144, lambda x: x.astype(np.int8), np.int32),
]


@pytest.mark.parametrize(("name", "shared", "convert", "sums"), DOTS, ids=[row[0] for row in DOTS])
def test_a_product_on_tensor_cores_is_exact_on_small_integers(run, name, shared, convert, sums):
    rng = np.random.default_rng(5)
    a, b = rng.integers(-16, 17, (64, 96)), rng.integers(-16, 17, (96, 128))
    c = np.zeros((64, 128), sums)
    out = run(name, (2, 2), shared, convert(a), convert(b), c, 64, 128, 96, kernel="dot")[2]
    np.testing.assert_array_equal(out.reshape(c.shape), a @ b)


def test_attention_on_tensor_cores(run):
    rng = np.random.default_rng(6)
    q, k, v = (rng.normal(size=(128, 64)).astype(np.float16) for _ in range(3))
    out = run("attention", 2, 24576, q, k, v, np.zeros((128, 64), np.float32), 128, np.float32(0.125))[3]
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.125
    weights = np.exp(scores - scores.max(1, keepdims=True))
    want = weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(out.reshape(want.shape), want, rtol=2e-3, atol=2e-3)


@pytest.fixture
def needs_warpgroups(device):
    if device.compute_capability != (9, 0):
        pytest.skip("sm_90a is for compute capability 9.0 alone")


def e4m3(values):
    """The patterns of integers from -16 to 16."""
    magnitudes = [0] + [(7 + n.bit_length() - 1) << 3 | (n << 3 >> n.bit_length() - 1) & 7 for n in range(1, 17)]
    return np.array([magnitudes[abs(v)] | (v < 0) << 7 for v in values.ravel().tolist()], np.uint8)


GROUP_DOTS = [
    ("dot_f16_sm_90a", 49152, lambda x: x.astype(np.float16), np.float32),
    ("dot_bf16_sm_90a", 49152, bfloat16, np.float32),
    ("dot_e4m3_sm_90a", 16384, e4m3, np.float32),
    ("dot_s8_sm_90a", 16384, lambda x: x.astype(np.int8), np.int32),
]


@pytest.mark.parametrize(("name", "shared", "convert", "sums"), GROUP_DOTS, ids=[row[0] for row in GROUP_DOTS])
def test_a_product_by_warpgroups_is_exact_on_small_integers(run, needs_warpgroups, name, shared, convert, sums):
    rng = np.random.default_rng(5)
    high = 3 if "e4m3" in name else 17  # sums of eight-bit floats keep 14 bits
    a, b = rng.integers(1 - high, high, (128, 192)), rng.integers(1 - high, high, (192, 128))
    c = np.zeros((128, 128), sums)
    out = run(name, (2, 2), shared, convert(a), convert(b), c, 128, 128, 192, kernel="dot")[2]
    np.testing.assert_array_equal(out.reshape(c.shape), a @ b)


def test_attention_by_warpgroups(run, needs_warpgroups):
    rng = np.random.default_rng(6)
    q, k, v = (rng.normal(size=(128, 64)).astype(np.float16) for _ in range(3))
    zeros = np.zeros((128, 64), np.float32)
    out = run("attention_sm_90a", 2, 57344, q, k, v, zeros, 128, np.float32(0.125), kernel="attention")[3]
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.125
    weights = np.exp(scores - scores.max(1, keepdims=True))
    want = weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(out.reshape(want.shape), want, rtol=2e-3, atol=2e-3)
