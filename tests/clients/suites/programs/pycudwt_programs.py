"""PyPWT's wavelet transforms on CUDA, compared with PyWavelets': compiled kernels, which its wheel carries with PTX."""

import unittest

import numpy as np
import pycudwt
import pywt

PICTURE = np.random.RandomState(1).randn(128, 96).astype(np.float32)


class Programs(unittest.TestCase):
    def compare(self, found, wanted):
        np.testing.assert_allclose(found, wanted, atol=1e-4)

    def test_pictures(self):
        for name in ("haar", "db2", "sym4", "bior2.2"):
            with self.subTest(name):
                transform = pycudwt.Wavelets(PICTURE, name, 2)
                transform.forward()
                wanted = pywt.wavedec2(PICTURE, name, mode="periodization", level=2)
                self.compare(transform.coeffs[0], wanted[0])
                for found, level in zip(transform.coeffs[1:], reversed(wanted[1:])):
                    for mine, theirs in zip(found, level):
                        self.compare(mine, theirs)
                transform.inverse()
                self.compare(transform.image, PICTURE)

    def test_thresholds(self):
        transform = pycudwt.Wavelets(PICTURE, "db3", 2)
        transform.forward()
        before = transform.coeffs[1][0].copy()
        transform.soft_threshold(0.5)
        self.compare(transform.coeffs[1][0], pywt.threshold(before, 0.5, "soft"))


if __name__ == "__main__":
    unittest.main()
