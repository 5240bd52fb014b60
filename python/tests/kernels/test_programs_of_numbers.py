"""Whole programs of floating-point numbers (programs/*.cu) against NumPy and SciPy, on whatever driver is in use."""

import numpy as np
import pytest
from device_program import DeviceProgram

scipy_linalg = pytest.importorskip("scipy.linalg")
scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_special = pytest.importorskip("scipy.special")

RANDOM = np.random.default_rng


@pytest.fixture
def program(device, stream):
    return lambda name: DeviceProgram(name, device, stream)


def test_jacobi_smooths_a_grid_bit_for_bit(program):
    grid = RANDOM(1).random((53, 71), np.float32)
    p = program("jacobi")
    here, there = p.put(grid), p.zeros(grid.shape, np.float32)
    for _ in range(10):
        p.run("step", (3, 7), (32, 8), here, there, 71, 53)
        here, there = there, here
        smooth = grid.copy()
        around = (grid[1:-1, :-2] + grid[1:-1, 2:]) + (grid[:-2, 1:-1] + grid[2:, 1:-1])
        smooth[1:-1, 1:-1] = np.float32(0.25) * around
        grid = smooth
    np.testing.assert_array_equal(p.get(here), grid)


def test_heat_spreads_in_a_solid_bit_for_bit(program):
    n, heat = 20, RANDOM(2).random((20, 20, 20))
    p = program("heat")
    here, there = p.put(heat), p.zeros(heat.shape, np.float64)
    for _ in range(4):
        p.run("step", (3, 3), (8, 8), here, there, n, 0.1)
        here, there = there, here
        pad = np.pad(heat, 1)
        x = pad[1:-1, 1:-1, :-2] + pad[1:-1, 1:-1, 2:]
        y = pad[1:-1, :-2, 1:-1] + pad[1:-1, 2:, 1:-1]
        z = pad[:-2, 1:-1, 1:-1] + pad[2:, 1:-1, 1:-1]
        heat = heat + 0.1 * (((x + y) + z) - 6.0 * heat)
    np.testing.assert_array_equal(p.get(here), heat)


def test_fourier_transforms(program):
    signals = RANDOM(3).standard_normal((6, 256)) + 1j * RANDOM(4).standard_normal((6, 256))
    p = program("fft")
    out = p.zeros(signals.shape, complex)
    p.run("fft", 6, 128, p.put(signals), out, 256, shared=2 * 256 * 16)
    np.testing.assert_allclose(p.get(out), np.fft.fft(signals), rtol=1e-12, atol=1e-12)


def test_product_of_matrices(program):
    a, b = RANDOM(5).random((70, 45), np.float32), RANDOM(6).random((45, 83), np.float32)
    p = program("gemm")
    c = p.zeros((70, 83), np.float32)
    p.run("gemm", (3, 3), (16, 16), p.put(a), p.put(b), c, 70, 83, 45)
    np.testing.assert_allclose(p.get(c), a @ b, rtol=2e-6)


@pytest.mark.parametrize("kernel, threads", [("by_threads", 1), ("by_warps", 32)])
def test_sparse_matrix_by_vector(program, kernel, threads):
    matrix = scipy_sparse.random(500, 400, 0.05, "csr", rng=RANDOM(7))
    x = RANDOM(8).standard_normal(400)
    p = program("spmv")
    y = p.zeros(500, np.float64)
    arrays = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data, x)
    p.run(kernel, (500 * threads + 127) // 128, 128, *map(p.put, arrays), y, 500)
    np.testing.assert_allclose(p.get(y), matrix @ x, rtol=1e-12, atol=1e-14)


def test_bodies_attract_each_other(program):
    bodies = RANDOM(9).random((150, 4), np.float32)
    p = program("nbody")
    out = p.zeros((150, 4), np.float32)
    p.run("accelerate", 3, 64, p.put(bodies), out, 150)
    exact = bodies.astype(np.float64)
    apart = exact[None, :, :3] - exact[:, None, :3]
    pull = exact[None, :, 3] / ((apart**2).sum(2) + 1e-3) ** 1.5
    np.testing.assert_allclose(p.get(out)[:, :3], (pull[:, :, None] * apart).sum(1), rtol=2e-3, atol=2e-2)


def test_lu_with_pivoting(program):
    a = RANDOM(10).standard_normal((40, 40))
    p = program("lu")
    factors, order = p.put(a), p.zeros(40, np.int32)
    p.run("factor", 1, 64, factors, order, 40)
    rows, order = p.get(factors), p.get(order)
    lower, upper = np.tril(rows[order], -1) + np.eye(40), np.triu(rows[order])
    np.testing.assert_allclose(lower @ upper, a[order], atol=1e-12)
    assert abs(lower).max() <= 1
    np.testing.assert_allclose(upper, scipy_linalg.lu(a)[2], atol=1e-10)


def test_cholesky_of_many_matrices(program):
    roots = RANDOM(11).random((5, 24, 24), np.float32)
    matrices = roots @ roots.transpose(0, 2, 1) + 2 * np.eye(24, dtype=np.float32)
    p = program("cholesky")
    out = p.put(matrices)
    p.run("factor", 5, 24, out, 24, shared=24 * 24 * 4)
    np.testing.assert_allclose(p.get(out), np.linalg.cholesky(matrices.astype(np.float64)), rtol=1e-3, atol=1e-4)


def test_lattice_boltzmann_keeps_its_mass(program):
    height, width = 24, 40
    f = RANDOM(12).random((9, height, width)) + 0.5
    p = program("lattice_boltzmann")
    here, there = p.put(f), p.zeros(f.shape, np.float64)
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    mass = f.sum()
    for _ in range(5):
        p.run("step", (2, height), 32, here, there, width, height, 1.2)
        here, there = there, here
        density = f.sum(0)
        ux, uy = (np.tensordot(c, f, 1) / density for c in (cx, cy))
        along = cx[:, None, None] * ux + cy[:, None, None] * uy
        rest = weights[:, None, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (ux**2 + uy**2))
        f = f + 1.2 * (rest - f)
        f = np.stack([np.roll(f[q], (cy[q], cx[q]), (0, 1)) for q in range(9)])
    np.testing.assert_allclose(p.get(here), f, rtol=1e-12)
    np.testing.assert_allclose(p.get(here).sum(), mass)


def test_mandelbrot_bit_for_bit(program):
    width, height, most = 60, 40, 200
    p = program("mandelbrot")
    out = p.zeros((height, width), np.int32)
    p.run("escape", (4, 5), (16, 8), out, width, height, -2.0, -1.0, 0.05, most)
    c_real, c_imaginary = np.meshgrid(-2.0 + np.arange(width) * 0.05, -1.0 + np.arange(height) * 0.05)
    real, imaginary, count = np.zeros((3, height, width))
    for _ in range(most):
        inside = real * real + imaginary * imaginary <= 4
        next_real = real * real - imaginary * imaginary + c_real
        imaginary = np.where(inside, 2 * real * imaginary + c_imaginary, imaginary)
        real = np.where(inside, next_real, real)
        count += inside
    np.testing.assert_array_equal(p.get(out), count)


def test_black_scholes(program):
    n = 1000
    spots, strikes, years = (RANDOM(13).random((3, n), np.float32) * [[50], [50], [3]] + [[75], [75], [0.2]]).astype(
        "f"
    )
    p = program("black_scholes")
    calls, puts = p.zeros(n, np.float32), p.zeros(n, np.float32)
    p.run("price", 4, 256, *map(p.put, (spots, strikes, years)), calls, puts, 0.03, 0.25, n)
    s, k, t = (a.astype(np.float64) for a in (spots, strikes, years))
    d1 = (np.log(s / k) + (0.03 + 0.25**2 / 2) * t) / (0.25 * np.sqrt(t))
    d2, normal = d1 - 0.25 * np.sqrt(t), scipy_special.ndtr
    np.testing.assert_allclose(p.get(calls), s * normal(d1) - k * np.exp(-0.03 * t) * normal(d2), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(p.get(puts), k * np.exp(-0.03 * t) * normal(-d2) - s * normal(-d1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", ["thomas", "cyclic_reduction"])
def test_tridiagonal_systems(program, kernel):
    systems, n = 10, 50
    below, above, right = RANDOM(14).standard_normal((3, systems, n))
    middle = 4 + RANDOM(15).random((systems, n))
    p = program("tridiagonal")
    x = p.put(right)
    arrays = list(map(p.put, (below, middle, above)))
    if kernel == "thomas":
        p.run(kernel, 1, 32, *arrays, x, n, systems)
    else:
        p.run(kernel, systems, n, *arrays, x, n)
    for s in range(systems):
        bands = np.zeros((3, n))
        bands[0, 1:], bands[1], bands[2, :-1] = above[s, :-1], middle[s], below[s, 1:]
        np.testing.assert_allclose(
            p.get(x)[s], scipy_linalg.solve_banded((1, 1), bands, right[s]), rtol=1e-9, atol=1e-12
        )


def test_rays_meet_spheres(program):
    width, height = 48, 36
    spheres = RANDOM(16).random((12, 4)) * [4, 4, 6, 1.2] + [-2, -2, 3, 0.2]
    p = program("ray_caster")
    hits, distances = p.zeros((height, width), np.int32), p.zeros((height, width), np.float64)
    p.run("cast", (3, 9), (16, 4), p.put(spheres), 12, hits, distances, width, height)
    x, y = np.meshgrid((np.arange(width) + 0.5) / width - 0.5, (np.arange(height) + 0.5) / height - 0.5)
    rays = np.stack([x, y, np.ones_like(x)], 2) / np.sqrt(x * x + y * y + 1)[:, :, None]
    along = rays @ spheres[:, :3].T
    inside = along**2 - (spheres[:, :3] ** 2).sum(1) + spheres[:, 3] ** 2
    away = np.where(inside >= 0, along - np.sqrt(np.maximum(inside, 0)), np.inf)
    away[away <= 0] = np.inf
    want = np.where(np.isinf(away.min(2)), -1, away.argmin(2))
    np.testing.assert_array_equal(p.get(hits), want)
    np.testing.assert_allclose(p.get(distances), np.minimum(away.min(2), 1e30), rtol=1e-12)


def test_a_circle_by_marching_squares(program):
    n = 101
    x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
    p = program("marching_squares")
    pieces, length = p.zeros((n - 1, n - 1), np.int32), p.zeros((n - 1, n - 1), np.float64)
    p.run("march", (4, n - 1), 32, p.put((x * x + y * y).astype(np.float32)), n, n, 0.49, pieces, length)
    inside = (x * x + y * y).astype(np.float32) - np.float32(0.49) < 0
    corners = inside[:-1, :-1] + 0 + inside[:-1, 1:] + inside[1:, :-1] + inside[1:, 1:]
    np.testing.assert_array_equal(p.get(pieces), (corners % 4 != 0).astype(int))
    np.testing.assert_allclose(p.get(length).sum() * 2 / (n - 1), 2 * np.pi * 0.7, rtol=1e-3)


def test_cosine_transform_of_blocks(program):
    fft = pytest.importorskip("scipy.fft")
    image = RANDOM(17).random((32, 48), np.float32)
    p = program("dct")
    out = p.zeros(image.shape, np.float32)
    p.run("dct", (6, 4), (8, 8), p.put(image), out, 48)
    blocks = image.reshape(4, 8, 6, 8).transpose(0, 2, 1, 3)
    want = fft.dctn(blocks.astype(np.float64), axes=(2, 3), norm="ortho").transpose(0, 2, 1, 3).reshape(32, 48)
    np.testing.assert_allclose(p.get(out), want, atol=2e-5)


def test_conjugate_gradients(program):
    n = 300
    b = RANDOM(18).standard_normal(n)
    p = program("conjugate_gradient")
    x, r, q, d = (p.zeros(n, np.float64) for _ in range(4))
    rounds = p.zeros(1, np.int32)
    p.run("solve", 1, 256, p.put(b), x, r, d, q, n, rounds)
    bands = np.array([[-1.0] * n, [2.0] * n, [-1.0] * n])
    np.testing.assert_allclose(p.get(x), scipy_linalg.solve_banded((1, 1), bands, b), rtol=1e-7, atol=1e-7)
    assert 0 < p.get(rounds)[0] <= 2 * n


def test_half_precision_axpy_bit_for_bit(program):
    x, y = (RANDOM(19).standard_normal((2, 500)) * 8).astype(np.float16)
    a = np.float16(1.37)
    p = program("half_axpy")
    out = p.put(y)
    p.run("axpy", 2, 128, a, p.put(x), out, 250)
    np.testing.assert_array_equal(p.get(out), (a.astype("d") * x.astype("d") + y.astype("d")).astype(np.float16))


def test_a_matrix_turned_over(program):
    matrix = RANDOM(20).random((75, 43))
    p = program("transpose")
    out = p.zeros((43, 75), np.float64)
    p.run("transpose", (2, 3), (32, 8), p.put(matrix), out, 43, 75)
    np.testing.assert_array_equal(p.get(out), matrix.T)
