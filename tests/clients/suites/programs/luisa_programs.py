"""LuisaCompute's CUDA back end, compared with NumPy: kernels written in Python, which it hands to NVRTC as CUDA C++."""

import unittest

import luisa
import numpy as np
from luisa import Buffer, func
from luisa.mathtypes import *  # noqa: F403  (the language's functions and types)

luisa.init("cuda")
rng = np.random.default_rng(13)


def on_the_device(array, kind):
    buffer = Buffer(array.size, kind)
    buffer.copy_from(array)
    return buffer


def back(buffer, like):
    found = np.empty_like(like)
    buffer.copy_to(found)
    return found


class Programs(unittest.TestCase):
    def test_mathematics(self):
        host = rng.random(1000, np.float32) + np.float32(0.1)
        a, out = on_the_device(host, float), Buffer(1000, float)

        @func
        def kernel():
            i = dispatch_id().x  # noqa: F405
            x = a.read(i)
            out.write(i, sin(x) * exp(x) + sqrt(x) - log(x) / (1.0 + pow(x, 1.5)))  # noqa: F405

        kernel(dispatch_size=(1000, 1, 1))
        wanted = np.sin(host) * np.exp(host) + np.sqrt(host) - np.log(host) / (1 + host**1.5)
        np.testing.assert_allclose(back(out, host), wanted, rtol=1e-4, atol=1e-5)

    def test_whole_numbers_and_loops(self):
        out = Buffer(500, int)

        @func
        def kernel():
            i = dispatch_id().x  # noqa: F405
            n = int(i) + 1
            steps = 0
            while n != 1:
                if n % 2 == 0:  # noqa: SIM108  (the language has no conditional expressions)
                    n = n // 2
                else:
                    n = 3 * n + 1
                steps = steps + 1
            out.write(i, steps)

        def on_the_host(n):
            return 0 if n == 1 else 1 + on_the_host(n // 2 if n % 2 == 0 else 3 * n + 1)

        kernel(dispatch_size=(500, 1, 1))
        wanted = np.array([on_the_host(i + 1) for i in range(500)], np.int32)
        np.testing.assert_array_equal(back(out, wanted), wanted)

    def test_atomic_operations(self):
        values = rng.integers(0, 17, 5000).astype(np.int32)
        a, bins = on_the_device(values, int), on_the_device(np.zeros(17, np.int32), int)

        @func
        def kernel():
            _ = bins.atomic_fetch_add(a.read(dispatch_id().x), 1)  # noqa: F405

        kernel(dispatch_size=(5000, 1, 1))
        wanted = np.bincount(values, minlength=17).astype(np.int32)
        np.testing.assert_array_equal(back(bins, wanted), wanted)

    def test_two_dimensions(self):
        host = rng.random((40, 50), np.float32)
        a, out = on_the_device(host.reshape(-1), float), Buffer(2000, float)

        @func
        def kernel():
            p = dispatch_id().xy  # noqa: F405
            out.write(p.x * 40 + p.y, a.read(p.y * 50 + p.x))

        kernel(dispatch_size=(50, 40, 1))
        np.testing.assert_array_equal(back(out, host.T.reshape(-1).copy()), host.T.reshape(-1))


if __name__ == "__main__":
    unittest.main()
