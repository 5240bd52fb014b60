"""TVM's CUDA target, compared with NumPy: functions of Relax, which TVM lowers to loops, schedules for GPUs and hands
to NVRTC as CUDA C++."""

import os
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import tvm
from tvm import relax
from tvm.s_tir import dlight

# TVM looks for CUDA's headers in the folders of an installed toolkit; those of Python's packages lie otherwise.
toolkit = tempfile.TemporaryDirectory()
headers = Path(next(iter(find_spec("nvidia").submodule_search_locations))) / "cu13/include"
for folder in (Path(toolkit.name), Path(toolkit.name, "targets/x86_64-linux")):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "include").symlink_to(headers)
os.environ["CUDA_PATH"] = toolkit.name

TARGET = tvm.target.Target(
    {
        "kind": "cuda",
        "arch": "sm_90",
        "max_threads_per_block": 1024,
        "max_shared_memory_per_block": 49152,
        "thread_warp_size": 32,
    }
)
DEVICE = tvm.cuda(0)
rng = np.random.default_rng(7)


def run(make, *arrays):
    """What a function of Relax gives on the device; `make` builds its body of variables for the arrays."""
    builder = relax.BlockBuilder()
    variables = [relax.Var(f"v{i}", relax.TensorType(each.shape, str(each.dtype))) for i, each in enumerate(arrays)]
    with builder.function("main", variables):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(make(*variables)))
        builder.emit_func_output(result)
    schedules = [
        dlight.gpu.Matmul(),
        dlight.gpu.GEMV(),
        dlight.gpu.Reduction(),
        dlight.gpu.GeneralReduction(),
        dlight.gpu.Fallback(),
    ]
    with TARGET:
        module = dlight.ApplyDefaultSchedule(*schedules)(relax.get_pipeline("zero")(builder.get()))
    machine = relax.VirtualMachine(tvm.compile(module, target=TARGET), DEVICE)
    return machine["main"](*(tvm.runtime.tensor(each, DEVICE) for each in arrays)).numpy()


def floats(*shape):
    return rng.random(shape, np.float32)


class Programs(unittest.TestCase):
    def test_elementwise(self):
        x, y = floats(33, 1000), floats(33, 1000)
        found = run(lambda a, b: relax.op.exp(relax.op.multiply(relax.op.sin(a), b)), x, y)
        np.testing.assert_allclose(found, np.exp(np.sin(x) * y), rtol=1e-5)

    def test_types(self):
        for kind in (np.int8, np.uint8, np.int32, np.int64, np.float16, np.float64):
            x, y = (rng.integers(0, 11, (7, 130)).astype(kind) for _ in range(2))
            with self.subTest(kind=kind):
                np.testing.assert_array_equal(
                    run(lambda a, b: relax.op.add(relax.op.multiply(a, b), a), x, y), x * y + x
                )

    def test_softmax(self):
        x = floats(33, 1000)
        found = run(lambda a: relax.op.nn.softmax(a, axis=-1), x)
        np.testing.assert_allclose(found, np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-5)

    def test_products_of_matrices(self):
        for kind, tolerance in ((np.float32, 1e-4), (np.float16, 2e-2)):
            x, y = floats(96, 256).astype(kind), floats(256, 64).astype(kind)
            with self.subTest(kind=kind):
                found = run(relax.op.matmul, x, y)
                np.testing.assert_allclose(found, x.astype(float) @ y.astype(float), rtol=tolerance)

    def test_a_matrix_and_a_vector(self):
        x, y = floats(1, 512), floats(512, 300)
        np.testing.assert_allclose(run(relax.op.matmul, x, y), x @ y, rtol=1e-4)

    def test_reductions(self):
        x = floats(5, 33, 70)
        for name in ("sum", "max", "min", "mean"):
            for axis in ([0], [1], [2], [0, 2]):
                with self.subTest(name=name, axis=axis):
                    found = run(lambda a, name=name, axis=axis: getattr(relax.op, name)(a, axis=axis), x)
                    np.testing.assert_allclose(found, getattr(np, name)(x, axis=tuple(axis)), rtol=1e-5)

    def test_running_sums(self):
        x = floats(33, 1000)
        found = run(lambda a: relax.op.cumsum(a, axis=1), x)
        np.testing.assert_allclose(found, np.cumsum(x, axis=1), rtol=1e-4)

    def test_sorting(self):
        x = floats(9, 777)
        np.testing.assert_array_equal(run(lambda a: relax.op.sort(a, axis=1), x), np.sort(x, axis=1))

    def test_convolution(self):
        x, w = floats(1, 8, 18, 18), floats(16, 8, 3, 3)
        found = run(relax.op.nn.conv2d, x, w)
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        np.testing.assert_allclose(found, np.einsum("nchwij,ocij->nohw", windows, w), rtol=1e-4)

    def test_a_normalised_layer(self):
        x, scale, shift = floats(16, 300), floats(300), floats(300)
        found = run(lambda a, b, c: relax.op.nn.layer_norm(a, b, c, axes=[-1]), x, scale, shift)
        wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * scale + shift
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
