"""Cupoch's point clouds on CUDA, compared with NumPy: kernels of Thrust, which its wheel carries with PTX, on a
run-time library of CUDA 11 that is linked into it."""

import unittest

import cupoch as cph
import numpy as np


def cloud(points):
    return cph.geometry.PointCloud(cph.utility.Vector3fVector(points.astype(np.float32)))


def host(vector):
    return np.asarray(vector.cpu())


class Programs(unittest.TestCase):
    def setUp(self):
        self.points = np.random.RandomState(3).rand(400, 3).astype(np.float32)

    def test_bounds_and_centre(self):
        points = cloud(self.points)
        np.testing.assert_array_equal(points.get_min_bound(), self.points.min(axis=0))
        np.testing.assert_array_equal(points.get_max_bound(), self.points.max(axis=0))
        np.testing.assert_allclose(points.get_center(), self.points.mean(axis=0), rtol=1e-5)

    def test_voxels(self):
        size = 0.25
        origin = self.points.min(axis=0) - size / 2
        cells = np.floor((self.points - origin) / np.float32(size)).astype(int)
        wanted = [self.points[(cells == cell).all(axis=1)].mean(axis=0) for cell in np.unique(cells, axis=0)]
        found = host(cloud(self.points).voxel_down_sample(size).points)
        np.testing.assert_allclose(sorted(found.tolist()), sorted(np.array(wanted).tolist()), atol=1e-4)

    def test_normals_of_a_plane(self):
        self.points[:, 2] = 0.3 * self.points[:, 0] - 0.2 * self.points[:, 1]
        points = cloud(self.points)
        points.estimate_normals(cph.geometry.KDTreeSearchParamKNN(10))
        normal = np.array([0.3, -0.2, -1]) / np.sqrt(0.3**2 + 0.2**2 + 1)
        np.testing.assert_allclose(np.abs(host(points.normals) @ normal), 1, atol=1e-3)

    def test_transformation(self):
        matrix = np.array([[0, -1, 0, 2], [1, 0, 0, -1], [0, 0, 1, 0.5], [0, 0, 0, 1]], np.float32)
        points = cloud(self.points)
        points.transform(matrix)
        np.testing.assert_allclose(host(points.points), self.points @ matrix[:3, :3].T + matrix[:3, 3], atol=1e-5)


if __name__ == "__main__":
    unittest.main()
