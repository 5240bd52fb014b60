"""The CPU device of cucore: a CUDA driver, `libcuda.so.1`, that runs kernels on the cores of the host.

The package `cucore` finds it here by itself. Any other program that uses the driver API takes it with

    LD_LIBRARY_PATH=$(python -m cucore_cpu_device) program

Importing this package loads nothing.
"""

import os as _os

__all__ = ["folder", "tools"]


def folder():
    """The folder of `libcuda.so.1` and `libnvidia-ml.so.1`, for LD_LIBRARY_PATH."""
    return _os.path.dirname(_os.path.abspath(__file__))


def tools():
    """The folder of the `nvcc` and `ptxas` that stand in front of NVIDIA's, for PATH."""
    return _os.path.join(folder(), "bin")
