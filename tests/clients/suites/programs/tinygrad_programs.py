"""tinygrad on its CUDA device, compared with NumPy: elementwise operations, reductions, movement, matrix products,
convolutions, gradients and a training loop. Its kernels come from its own generator and NVRTC or its PTX renderer."""

import unittest

import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes

rng = np.random.default_rng(1)


def tensor(array):
    return Tensor(array, device="CUDA")


def equal(found, wanted, **tolerances):
    np.testing.assert_allclose(found.numpy(), wanted, **(tolerances or {"rtol": 1e-5, "atol": 1e-6}))


class Operations(unittest.TestCase):
    def test_the_device_is_cuda(self):
        self.assertEqual(tensor(np.ones(3, np.float32)).device, "CUDA")
        self.assertEqual(type(Device["CUDA"]).__name__, "CUDADevice")

    def test_elementwise(self):
        a = rng.random((33, 65), np.float32) + 0.1
        x = tensor(a)
        equal(x * 2 + 1, a * 2 + 1)
        for name, of_numpy in (("exp", np.exp), ("log", np.log), ("sqrt", np.sqrt), ("sin", np.sin), ("tanh", np.tanh)):
            equal(getattr(x, name)(), of_numpy(a), rtol=1e-4, atol=1e-5)
        equal((x > 0.5).where(x, -x), np.where(a > 0.5, a, -a))
        equal(x.relu().sigmoid(), 1 / (1 + np.exp(-a)))

    def test_reductions(self):
        a = rng.random((40, 1000), np.float32)
        x = tensor(a)
        for axis in (None, 0, 1):
            equal(x.sum(axis), a.sum(axis), rtol=1e-4)
            equal(x.max(axis), a.max(axis))
            equal(x.mean(axis), a.mean(axis), rtol=1e-4)
        equal(x.std(1), a.std(1, ddof=1), rtol=1e-3)
        equal(x.argmax(1), a.argmax(1))
        equal(x.cumsum(1), a.cumsum(1), rtol=1e-3)
        e = np.exp(a - a.max(1, keepdims=True))
        equal(x.softmax(1), e / e.sum(1, keepdims=True), rtol=1e-4)

    def test_movement(self):
        a = rng.random((6, 8, 10), np.float32)
        x = tensor(a)
        equal(x.permute(2, 0, 1).contiguous(), a.transpose(2, 0, 1))
        equal(x.pad(((1, 2), (0, 0), (3, 0))), np.pad(a, ((1, 2), (0, 0), (3, 0))))
        equal(x.flip(1)[2:5, ::2], a[:, ::-1][2:5, ::2])
        equal(x.cat(x, dim=2), np.concatenate([a, a], 2))
        equal(x[tensor(np.array([3, 0, 5], np.int32))], a[[3, 0, 5]])

    def test_types(self):
        a = rng.integers(0, 100, 500).astype(np.int32)
        for kind in (dtypes.int8, dtypes.int64, dtypes.float16, dtypes.float64, dtypes.uint16):
            equal(tensor(a).cast(kind).cast(dtypes.int32), a)

    def test_products(self):
        a, b = rng.random((65, 130), np.float32), rng.random((130, 33), np.float32)
        equal(tensor(a) @ tensor(b), a @ b, rtol=1e-4)
        half = (tensor(a).half() @ tensor(b).half()).float()
        equal(half, a @ b, rtol=2e-2)
        equal(Tensor.einsum("ij,jk->ik", tensor(a), tensor(b)), a @ b, rtol=1e-4)

    def test_sorting(self):
        a = rng.permutation(200).astype(np.float32)
        equal(tensor(a).sort()[0], np.sort(a))
        equal(tensor(a).topk(5)[0], np.sort(a)[::-1][:5])


class Networks(unittest.TestCase):
    def test_convolution(self):
        a, w = rng.random((2, 3, 16, 16), np.float32), rng.random((4, 3, 3, 3), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), (2, 3))
        equal(tensor(a).conv2d(tensor(w)), np.einsum("nchwij,ocij->nohw", windows, w), rtol=1e-4)

    def test_gradients(self):
        a = rng.random((20, 30), np.float32)
        x = tensor(a)
        equal((x * x * x).sum().gradient(x)[0], 3 * a * a)

    def test_training(self):
        x, w = rng.random((256, 10), np.float32), rng.random((10, 1), np.float32)
        inputs, wanted, weight = tensor(x), tensor(x @ w), tensor(np.zeros((10, 1), np.float32))
        losses = []
        for _ in range(20):
            loss = (inputs @ weight - wanted).square().mean()
            weight = (weight - 0.3 * loss.gradient(weight)[0]).detach().realize()
            losses.append(float(loss.numpy()))
        self.assertLess(losses[-1], losses[0] / 5)

    def test_jit(self):
        @TinyJit
        def f(x):
            return (x * 2 + x.sum()).realize()

        for i in range(4):
            a = np.full(64, i, np.float32)
            equal(f(tensor(a)), a * 2 + a.sum())


if __name__ == "__main__":
    unittest.main()
