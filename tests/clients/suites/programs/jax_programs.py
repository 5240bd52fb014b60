"""JAX on its CUDA backend, compared with NumPy: what XLA generates itself (fusions, reductions, loops, scans, sorts,
gathers and scatters, random numbers, gradients, matrix products by Triton), with nothing of cuBLAS, cuDNN and cuFFT."""

import functools
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cuda"
os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # it asks CUPTI for its version, and CUPTI asks for a GPU
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import hardware_utils

hardware_utils._NVIDIA_GPU_DEVICES.append("/dev/null")  # it wants a file of NVIDIA's kernel module

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(4)


def equal(found, wanted, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=atol)


class Arrays(unittest.TestCase):
    def test_the_device_is_cuda(self):
        self.assertEqual(jax.devices()[0].platform, "gpu")

    def test_elementwise(self):
        a = rng.random((33, 65), np.float32) + 0.1
        for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "arctan", "log1p", "expm1", "cbrt", "floor", "sign"):
            equal(getattr(jnp, name)(jnp.asarray(a)), getattr(np, name)(a), rtol=1e-4, atol=1e-5)
        b = rng.random((33, 65)) + 0.1
        for name in ("power", "arctan2", "hypot", "fmod", "maximum"):
            equal(getattr(jnp, name)(jnp.asarray(b), 0.7), getattr(np, name)(b, 0.7), rtol=1e-10)
        equal(
            jax.nn.gelu(jnp.asarray(a)), 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3))), rtol=1e-4
        )
        i = rng.integers(-1000, 1000, 500)
        equal(jnp.asarray(i) // 7, i // 7, rtol=0)
        equal(jnp.asarray(i) % 7, i % 7, rtol=0)
        equal(lax.population_count(jnp.asarray(i.astype(np.uint32))), [bin(v).count("1") for v in i.astype(np.uint32)])

    def test_types(self):
        a = rng.random(1000) * 100
        for kind in ("int8", "int32", "uint64", "float16", "float64"):
            equal(jnp.asarray(a).astype(kind).astype("float64"), a.astype(kind).astype("float64"), rtol=1e-6)
        equal(jnp.asarray(a).astype(jnp.bfloat16).astype("float64"), a, rtol=1e-2)
        z = a + 1j * a[::-1]
        equal(jnp.abs(jnp.asarray(z) * jnp.asarray(z)), np.abs(z * z), rtol=1e-10)

    def test_reductions(self):
        a = rng.random((40, 1000), np.float32)
        x = jnp.asarray(a)
        for axis in (None, 0, 1):
            for name in ("sum", "max", "min", "mean", "std", "argmax"):
                equal(getattr(jnp, name)(x, axis), getattr(np, name)(a, axis), rtol=1e-4)
        e = np.exp(a - a.max(1, keepdims=True))
        equal(jax.nn.softmax(x), e / e.sum(1, keepdims=True), rtol=1e-4)
        equal(jax.nn.logsumexp(x, 1), np.log(np.exp(a).sum(1)), rtol=1e-4)
        equal(jnp.cumsum(x, 1), np.cumsum(a, 1), rtol=1e-3)
        equal(jnp.any(x > 0.999, 0), (a > 0.999).any(0))

    def test_movement(self):
        a = rng.random((6, 8, 10), np.float32)
        x = jnp.asarray(a)
        equal(x.transpose(2, 0, 1), a.transpose(2, 0, 1))
        equal(jnp.pad(x, ((1, 2), (0, 0), (3, 0))), np.pad(a, ((1, 2), (0, 0), (3, 0))))
        equal(x[::-1][2:5, ::2], a[::-1][2:5, ::2])
        equal(jnp.concatenate([x, x], 2), np.concatenate([a, a], 2))
        equal(jnp.roll(x, 3, 1), np.roll(a, 3, 1))
        equal(x[np.array([3, 0, 5]), :, np.array([1, 9, 2])], a[np.array([3, 0, 5]), :, np.array([1, 9, 2])])
        index = rng.integers(0, 50, 3000)
        equal(jnp.zeros(50).at[index].add(1.0), np.bincount(index, minlength=50))
        equal(
            jnp.zeros(50, jnp.int32).at[index].max(jnp.asarray(index, jnp.int32)),
            np.where(np.bincount(index, minlength=50), np.arange(50), 0),
        )

    def test_sorting(self):
        a = rng.permutation(500).astype(np.float32)
        equal(jnp.sort(jnp.asarray(a)), np.sort(a))
        equal(jnp.argsort(jnp.asarray(a)), np.argsort(a))
        equal(jnp.median(jnp.asarray(a)), np.median(a))
        equal(jnp.sort(jnp.asarray(a.reshape(5, 100)), axis=0), np.sort(a.reshape(5, 100), 0))
        equal(jnp.searchsorted(jnp.sort(jnp.asarray(a)), jnp.asarray([3.5, 17.0])), [4, 17])

    def test_products(self):
        a, b = rng.random((64, 128), np.float32), rng.random((128, 32), np.float32)
        for kind, rtol in ((jnp.float32, 2e-2), (jnp.float16, 2e-2)):
            found = jax.jit(lambda x, y: (x @ y) * 2)(jnp.asarray(a, kind), jnp.asarray(b, kind))
            equal(found.astype(jnp.float32), a @ b * 2, rtol=rtol)
        equal(jnp.dot(jnp.asarray(a[0]), jnp.asarray(a[1])), a[0] @ a[1], rtol=1e-4)


class Control(unittest.TestCase):
    def test_loops(self):
        found = jax.jit(
            lambda n: lax.while_loop(
                lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)
            )
        )(27)
        self.assertEqual(int(found[1]), 111)
        equal(
            lax.fori_loop(0, 10, lambda i, x: x * 2 + i, jnp.ones(5)),
            np.full(5, functools.reduce(lambda x, i: x * 2 + i, range(10), 1.0)),
        )
        a = rng.random((20, 7))
        last, all_ = lax.scan(lambda carry, row: (carry * 0.5 + row, carry.sum()), jnp.zeros(7), jnp.asarray(a))
        carry, sums = np.zeros(7), []
        for row in a:
            sums.append(carry.sum())
            carry = carry * 0.5 + row
        equal(last, carry)
        equal(all_, sums)

    def test_branches(self):
        f = jax.jit(lambda n, x: lax.switch(n, [lambda x: x + 1, lambda x: x * x, jnp.sin], x))
        a = rng.random(50)
        for n, wanted in enumerate((a + 1, a * a, np.sin(a))):
            equal(f(n, jnp.asarray(a)), wanted)
        equal(
            jax.vmap(lambda p, x: lax.cond(p, jnp.exp, jnp.negative, x))(jnp.asarray(a > 0.5), jnp.asarray(a)),
            np.where(a > 0.5, np.exp(a), -a),
        )

    def test_gradients(self):
        a = rng.random(200)
        f = lambda x: jnp.sum(jnp.sin(x) * x)  # noqa: E731
        equal(jax.grad(f)(jnp.asarray(a)), np.cos(a) * a + np.sin(a))
        equal(jnp.diag(jax.hessian(f)(jnp.asarray(a[:5]))), 2 * np.cos(a[:5]) - a[:5] * np.sin(a[:5]))
        equal(jax.jvp(jnp.tanh, (jnp.asarray(a),), (jnp.ones(200),))[1], 1 - np.tanh(a) ** 2)

    def test_training(self):
        a = rng.random((256, 10))
        wanted = a @ np.arange(10.0)

        @jax.jit
        def step(w):
            loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.sum(a * w, 1) - wanted) ** 2))(w)
            return w - 0.3 * gradient, loss

        w, losses = jnp.zeros(10), []
        for _ in range(30):
            w, loss = step(w)
            losses.append(float(loss))
        self.assertLess(losses[-1], losses[0] / 20)

    def test_random_numbers(self):
        key = jax.random.key(5)
        with jax.default_device(jax.devices()[0]):
            u = np.asarray(jax.random.uniform(key, (10000,)))
            n = np.asarray(jax.random.normal(key, (10000,)))
        self.assertLess(abs(u.mean() - 0.5), 0.02)
        self.assertLess(abs(n.std() - 1), 0.05)
        self.assertEqual(sorted(np.asarray(jax.random.permutation(key, 100))), list(range(100)))


if __name__ == "__main__":
    unittest.main()
