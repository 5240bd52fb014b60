"""The ASTRA toolbox's projectors and reconstructions on CUDA, compared with its own code for the host: compiled
kernels, which its wheel carries with PTX, that read textures."""

import unittest

import astra
import numpy as np

SIZE, ANGLES = 64, np.linspace(0, np.pi, 40, endpoint=False)
VOLUME = astra.create_vol_geom(SIZE, SIZE)
PARALLEL = astra.create_proj_geom("parallel", 1.0, 96, ANGLES)
FAN = astra.create_proj_geom("fanflat", 1.0, 128, ANGLES, 200, 100)


def picture():
    x, y = np.meshgrid(np.arange(SIZE) - 30, np.arange(SIZE) - 34)
    return ((x**2 + y**2 < 400) + 0.5 * (abs(x - 5) + abs(y) < 9)).astype(np.float32)


def sums(projector):
    return astra.create_sino(picture(), projector)


def reconstruct(algorithm, data, iterations, projector=None):
    found = astra.data2d.create("-vol", VOLUME)
    settings = astra.astra_dict(algorithm) | {"ReconstructionDataId": found, "ProjectionDataId": data}
    if projector is not None:
        settings["ProjectorId"] = projector
    astra.algorithm.run(astra.algorithm.create(settings), iterations)
    return astra.data2d.get(found)


class Programs(unittest.TestCase):
    def test_projections(self):
        for geometry, host in ((PARALLEL, "linear"), (FAN, "line_fanflat")):
            _, wanted = sums(astra.create_projector(host, geometry, VOLUME))
            _, found = sums(astra.create_projector("cuda", geometry, VOLUME))
            with self.subTest(host=host):  # which weigh pixels in ways of their own
                self.assertLess(np.abs(found - wanted).mean() / wanted.mean(), 0.02)

    def test_projecting_back(self):
        data, _ = sums(astra.create_projector("cuda", PARALLEL, VOLUME))
        wanted = reconstruct("BP", data, 1, astra.create_projector("linear", PARALLEL, VOLUME))
        found = reconstruct("BP_CUDA", data, 1)
        self.assertLess(np.abs(found - wanted).mean() / wanted.mean(), 0.02)

    def test_reconstructions(self):
        for geometry in (PARALLEL, FAN):
            data, _ = sums(astra.create_projector("cuda", geometry, VOLUME))
            for algorithm, iterations in (("SIRT_CUDA", 60), ("CGLS_CUDA", 20), ("SART_CUDA", 400)):
                with self.subTest(algorithm=algorithm):
                    found = reconstruct(algorithm, data, iterations)
                    self.assertLess(np.abs(found - picture()).mean(), 0.05)

    def test_three_dimensions(self):
        volume = astra.create_vol_geom(24, 24, 24)
        geometry = astra.create_proj_geom("cone", 1.0, 1.0, 32, 40, ANGLES, 200, 50)
        solid = np.zeros((24, 24, 24), np.float32)
        solid[6:16, 8:18, 5:12] = 1
        projections, _ = astra.create_sino3d_gpu(solid, geometry, volume)
        found = astra.data3d.create("-vol", volume)
        settings = astra.astra_dict("CGLS3D_CUDA") | {"ReconstructionDataId": found, "ProjectionDataId": projections}
        astra.algorithm.run(astra.algorithm.create(settings), 15)
        self.assertLess(np.abs(astra.data3d.get(found) - solid).mean(), 0.03)


if __name__ == "__main__":
    unittest.main()
