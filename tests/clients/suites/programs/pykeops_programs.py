"""KeOps on the GPU, compared with NumPy: reductions over pairs of points that are never held in memory, compiled by
NVRTC for every formula and launched by the driver, in single and double precision."""

import unittest

import numpy as np
import pykeops
from pykeops.numpy import Genred, LazyTensor, Vi, Vj

pykeops.set_verbose(False)
rng = np.random.default_rng(6)


def points(count, dimension, kind=np.float32):
    return rng.random((count, dimension)).astype(kind)


def equal(found, wanted, rtol=1e-4, atol=1e-4):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


class Programs(unittest.TestCase):
    def test_the_gpu_is_used(self):
        self.assertTrue(pykeops.config.gpu_available)

    def test_gaussian_sums(self):
        for kind in (np.float32, np.float64):
            x, y, b = points(513, 3, kind), points(390, 3, kind), points(390, 2, kind)
            kernel = (-((Vi(x) - Vj(y)) ** 2).sum(-1)).exp()
            equal(kernel @ b, np.exp(-squares(x, y)) @ b, rtol=1e-4 if kind == np.float32 else 1e-10)

    def test_nearest_points(self):
        x, y = points(300, 5), points(700, 5)
        distances = ((Vi(x) - Vj(y)) ** 2).sum(-1)
        wanted = squares(x, y)
        np.testing.assert_array_equal(distances.argmin(axis=1).ravel(), wanted.argmin(1))
        equal(distances.min(axis=1).ravel(), wanted.min(1))
        np.testing.assert_array_equal(distances.argKmin(4, axis=1), np.argsort(wanted, 1)[:, :4])

    def test_logsumexp(self):
        x, y = points(200, 3), points(300, 3)
        found = (-((Vi(x) - Vj(y)) ** 2).sum(-1)).logsumexp(axis=1)
        equal(found.ravel(), np.log(np.exp(-squares(x, y)).sum(1)))

    def test_sums_over_the_first_axis(self):
        x, y = points(260, 2), points(130, 2)
        found = ((Vi(x) - Vj(y)).abs().sum(-1)).sum(axis=0)
        equal(found.ravel(), np.abs(x[:, None] - y[None]).sum((0, 2)))

    def test_a_formula_with_parameters(self):
        x, y, p = points(150, 3), points(250, 3), np.array([0.7], np.float32)
        formula = Genred("Sin(p*(x|y))*x", ["p = Pm(1)", "x = Vi(3)", "y = Vj(3)"], reduction_op="Sum", axis=1)
        wanted = (np.sin(0.7 * (x @ y.T))[:, :, None] * x[:, None]).sum(1)
        equal(formula(p, x, y), wanted)

    def test_softmax_weights(self):
        x, y, b = points(100, 3), points(180, 3), points(180, 4)
        scores = (Vi(x) | Vj(y)) * 3
        weights = np.exp(3 * (x @ y.T))
        equal(scores.sumsoftmaxweight(Vj(b), axis=1), weights @ b / weights.sum(1, keepdims=True))

    def test_large_dimensions(self):
        x, y, b = points(130, 120), points(90, 120), points(90, 1)
        kernel = (-((Vi(x) - Vj(y)) ** 2).sum(-1).sqrt()).exp()
        equal(kernel @ b, np.exp(-np.sqrt(squares(x, y))) @ b, rtol=1e-3)

    def test_a_system(self):
        x = points(200, 3, np.float64)
        b = points(200, 1, np.float64)
        kernel = (-((Vi(x) - Vj(x)) ** 2).sum(-1) * 20).exp()
        found = kernel.solve(b, alpha=0.1)
        matrix = np.exp(-20 * squares(x, x)) + 0.1 * np.eye(200)
        equal(found, np.linalg.solve(matrix, b), rtol=1e-2, atol=1e-3)

    def test_batches(self):
        x, y = rng.random((3, 80, 2)).astype(np.float32), rng.random((3, 70, 2)).astype(np.float32)
        found = (-((LazyTensor(x[:, :, None]) - LazyTensor(y[:, None])) ** 2).sum(-1)).exp().sum(2)
        wanted = np.exp(-((x[:, :, None] - y[:, None]) ** 2).sum(-1)).sum(2)
        equal(found[..., 0], wanted)


if __name__ == "__main__":
    unittest.main()
