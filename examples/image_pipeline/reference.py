"""The same job by SciPy and NumPy in double precision, and how far the kernels' results may be from it."""

import numpy as np
from scipy import ndimage

RADIUS = 6
SIGMA = 2.0

# Float passes: 13 products of 24-bit numbers each, values up to 255. uchar4 rounds to integers after each of two passes
# (half a unit each, the first one damped by the second). Sobel adds eight values up to 1020 in single precision.
TOLERANCE = {"blur float": 2e-4, "blur uchar4": 1.0, "sobel": 2e-3, "mean": 1e-3}


def weights():
    x = np.arange(-RADIUS, RADIUS + 1)
    w = np.exp(-(x**2) / (2 * SIGMA**2))
    return (w / w.sum()).astype(np.float32)


def luminance(rgba):
    return rgba[..., :3].astype(np.float64) @ np.float32([0.2126, 0.7152, 0.0722]).astype(np.float64)


def blur(image):
    image = image.astype(np.float64)
    w = weights().astype(np.float64)
    rows = ndimage.correlate1d(image, w, axis=1, mode="nearest")
    return ndimage.correlate1d(rows, w, axis=0, mode="nearest")


def sobel(gray):
    gray = gray.astype(np.float64)
    return np.hypot(ndimage.sobel(gray, axis=1, mode="nearest"), ndimage.sobel(gray, axis=0, mode="nearest"))


def check(rgba, gray, results):
    """Compares `results` (what the kernels gave) with SciPy. Returns rows (name, largest difference, allowed, ok)."""
    rows = []

    def row(name, difference, allowed):
        rows.append((name, float(difference), float(allowed), bool(difference <= allowed)))

    row("blur float", np.abs(results["blur_float"] - blur(gray)).max(), TOLERANCE["blur float"])
    expected = np.stack([blur(rgba[..., c]) for c in range(4)], axis=-1)
    row("blur uchar4", np.abs(results["blur_uchar4"].astype(np.float64) - expected).max(), TOLERANCE["blur uchar4"])
    row("sobel", np.abs(results["sobel"] - sobel(results["blur_float"])).max(), TOLERANCE["sobel"])
    row("mean", abs(results["mean"] - luminance(rgba).mean()), TOLERANCE["mean"])
    levels = rgba[..., :3].astype(np.int64) @ [54, 183, 19] // 256
    expected_bins = np.bincount(levels.ravel(), minlength=256)
    row("histogram", np.abs(results["bins"].astype(np.int64) - expected_bins).sum(), 0)
    return rows
