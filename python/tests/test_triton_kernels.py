"""Kernels that Triton compiled (triton_ptx/emit.py says how) against NumPy, on whatever driver is in use."""

from pathlib import Path

import numpy as np
import pytest

import cucore

EXTRA = (0, 0)  # Triton's own parameters: scratch memory, which these kernels do not use


@pytest.fixture
def run(device, stream):
    def run(name, grid, shared, *arguments):
        """Arrays go to the device and come back; what the kernel left in them is returned."""
        kernel = cucore.ObjectCode.from_ptx(Path(__file__).with_name("triton_ptx") / f"{name}.ptx").get_kernel(name)
        pinned = cucore.LegacyPinnedMemoryResource()
        buffers, views, passed = [], [], []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                buffers.append(pinned.allocate(argument.nbytes))
                views.append(np.frombuffer(memoryview(buffers[-1]), argument.dtype)[: argument.size])
                views[-1][:] = argument.ravel()
                argument = buffers[-1]
            passed.append(argument)
        cucore.launch(stream, cucore.LaunchConfig(grid=grid, block=128, shmem_size=shared), kernel, *passed, *EXTRA)
        stream.sync()
        return [view.copy() for view in views]

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
