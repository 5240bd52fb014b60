"""Halide's CUDA target, compared with its own code for the host: schedules on blocks and threads, reductions, shared
memory, histograms by atomic operations, stages, types, and buffers that are on the device. Halide makes PTX by LLVM and
gives it to the driver."""

import unittest

import halide as hl
import numpy as np

HOST = hl.get_jit_target_from_environment()
CUDA = HOST.with_feature(hl.TargetFeature.CUDA).with_feature(hl.TargetFeature.CUDACapability80)
x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
xi, yi, xo, yo = hl.Var("xi"), hl.Var("yi"), hl.Var("xo"), hl.Var("yo")
rng = np.random.default_rng(5)


def compare(make, sizes, rtol=1e-5):
    """What `make(on_device)` computes on both; it returns a Func, and schedules it for the device if it is told to."""
    results = [np.array(make(on_device).realize(sizes, CUDA if on_device else HOST)) for on_device in (True, False)]
    np.testing.assert_allclose(*results, rtol=rtol, atol=1e-6)
    return results[0]


def image(kind=np.float32, shape=(120, 90)):
    values = (rng.random(shape) * 200).astype(kind)
    return values, hl.BoundaryConditions.repeat_edge(hl.Buffer(values))


class Programs(unittest.TestCase):
    def test_elementwise(self):
        def make(on_device):
            f = hl.Func("f")
            f[x, y] = hl.sqrt(hl.f32(x * x + y)) + hl.sin(hl.f32(y)) * hl.exp(hl.f32(-x) / 50) + hl.pow(hl.f32(x), 0.3)
            if on_device:
                f.gpu_tile(x, y, xi, yi, 16, 8)
            return f

        compare(make, [101, 83], rtol=1e-4)

    def test_types(self):
        for kind in (hl.UInt(8), hl.Int(16), hl.UInt(32), hl.Int(64), hl.Float(64)):

            def make(on_device, kind=kind):
                f = hl.Func("f")
                f[x, y] = hl.cast(kind, (x * 37 + y * 11) % 251) * hl.cast(kind, 3) / hl.cast(kind, 2)
                if on_device:
                    f.gpu_tile(x, y, xi, yi, 8, 8)
                return f

            compare(make, [64, 40], rtol=0)

    def test_a_blur_of_two_stages(self):
        _, source = image()

        def make(on_device):
            across, down = hl.Func("across"), hl.Func("down")
            across[x, y] = (source[x - 1, y] + source[x, y] * 2 + source[x + 1, y]) / 4
            down[x, y] = (across[x, y - 1] + across[x, y] * 2 + across[x, y + 1]) / 4
            if on_device:
                down.gpu_tile(x, y, xo, yo, xi, yi, 16, 16)
                across.compute_at(down, xo).gpu_threads(x, y)  # in shared memory
            return down

        compare(make, [120, 90])

    def test_a_median(self):
        _, source = image(np.uint8)

        def make(on_device):
            f = hl.Func("f")
            v = [source[x + dx, y + dy] for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
            for i in range(9):
                for j in range(8 - i):
                    v[j], v[j + 1] = hl.min(v[j], v[j + 1]), hl.max(v[j], v[j + 1])
            f[x, y] = v[4]
            if on_device:
                f.gpu_tile(x, y, xi, yi, 32, 4)
            return f

        compare(make, [90, 120], rtol=0)

    def test_a_matrix_product(self):
        a, b = rng.random((64, 64), np.float32), rng.random((64, 64), np.float32)

        def make(on_device):
            f, out = hl.Func("f"), hl.Func("out")
            k = hl.RDom([(0, 64)])
            A, B = hl.Buffer(a), hl.Buffer(b)
            f[x, y] = 0.0
            f[x, y] += A[k, y] * B[x, k]
            out[x, y] = f[x, y]
            if on_device:
                out.gpu_tile(x, y, xo, yo, xi, yi, 16, 16)
                f.compute_at(out, xi)
            return out

        np.testing.assert_allclose(compare(make, [64, 64]), a @ b, rtol=1e-4)

    def test_reductions(self):
        _, source = image()

        def make(on_device):
            sums = hl.Func("sums")
            r = hl.RDom([(0, 90)])
            sums[y] = 0.0
            sums[y] += source[r, y]
            if on_device:
                sums.gpu_tile(y, yi, 32)
                sums.update().gpu_tile(y, yi, 32)
            return sums

        compare(make, [120], rtol=1e-4)

    def test_a_histogram(self):
        values, source = image(np.uint8)

        def make(on_device):
            f = hl.Func("f")
            r = hl.RDom([(0, 90), (0, 120)])
            f[x] = 0
            f[hl.i32(source[r.x, r.y])] += 1
            if on_device:
                f.gpu_tile(x, xi, 32)
                f.update().atomic().gpu_tile(r.x, r.y, hl.RVar("rx"), hl.RVar("ry"), 16, 8)
            return f

        found = compare(make, [256], rtol=0)
        np.testing.assert_array_equal(found, np.bincount(values.ravel(), minlength=256))

    def test_a_scan(self):
        _, source = image()

        def make(on_device):
            f = hl.Func("f")
            r = hl.RDom([(1, 89)])
            f[x, y] = source[x, y]
            f[r, y] += f[r - 1, y]
            if on_device:
                f.gpu_tile(x, y, xi, yi, 16, 8)
                f.update().gpu_tile(y, yi, 32)
            return f

        compare(make, [90, 120], rtol=1e-4)

    def test_several_results(self):
        def make(on_device):
            f, g = hl.Func("f"), hl.Func("g")
            f[x, y] = (hl.f32(x * y), x - y)
            g[x, y] = hl.select(f[x, y][1] > 0, f[x, y][0], hl.f32(f[x, y][1]))
            if on_device:
                f.compute_root().gpu_tile(x, y, xi, yi, 8, 8)
                g.gpu_tile(x, y, xi, yi, 8, 8)
            return g

        compare(make, [50, 60], rtol=0)

    def test_vectors_and_unrolling(self):
        _, source = image()

        def make(on_device):
            f = hl.Func("f")
            f[x, y] = source[x, y] * 2 + source[x + 1, y]
            if on_device:
                f.split(x, xo, xi, 4).vectorize(xi).gpu_tile(xo, y, hl.Var("xt"), yi, 8, 8)
            return f

        compare(make, [88, 100])


if __name__ == "__main__":
    unittest.main()
