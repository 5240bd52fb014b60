"""A program of `programs/` on the current device: its kernels, and arrays that go there and come back."""

from pathlib import Path

import numpy as np
from conftest import compile_cubin

import cucore

FOLDER = Path(__file__).with_name("programs")


class DeviceArray:
    """An array in the device's memory; as an argument it is its address."""

    def __init__(self, buffer, like):
        self.buffer, self.shape, self.dtype, self.nbytes = buffer, like.shape, like.dtype, like.nbytes


class DeviceProgram:
    """The kernels of programs/NAME.cu, compiled without fused multiply-adds so that NumPy can compute the same bits."""

    def __init__(self, name, device, stream):
        self.device, self.stream = device, stream
        self.code = compile_cubin((FOLDER / f"{name}.cu").read_text(), fma=False, std="c++17")
        self.pinned, self.kernels = cucore.LegacyPinnedMemoryResource(), {}

    def staged(self, nbytes):
        return self.pinned.allocate(max(nbytes, 1))

    def put(self, array):
        array = np.ascontiguousarray(array)
        staged = self.staged(array.nbytes)
        memoryview(staged).cast("B")[: array.nbytes] = array.tobytes()
        buffer = self.device.allocate(max(array.nbytes, 1), stream=self.stream)
        buffer.copy_from(staged, stream=self.stream)
        self.stream.sync()
        return DeviceArray(buffer, array)

    def zeros(self, shape, dtype):
        return self.put(np.zeros(shape, dtype))

    def get(self, array):
        staged = self.staged(array.nbytes)
        array.buffer.copy_to(staged, stream=self.stream)
        self.stream.sync()
        data = bytes(memoryview(staged).cast("B")[: array.nbytes])
        return np.frombuffer(data, array.dtype).reshape(array.shape).copy()

    def set_global(self, name, array):
        """Writes a __constant__ or __device__ variable of the program."""
        array = np.ascontiguousarray(array)
        staged = self.staged(array.nbytes)
        memoryview(staged).cast("B")[: array.nbytes] = array.tobytes()
        self.code.get_global(name).copy_from(staged, stream=self.stream)
        self.stream.sync()

    def run(self, kernel, grid, block, *arguments, shared=0):
        if kernel not in self.kernels:
            self.kernels[kernel] = self.code.get_kernel(kernel)
        arguments = [a.buffer if isinstance(a, DeviceArray) else a for a in arguments]
        config = cucore.LaunchConfig(grid=grid, block=block, shmem_size=shared)
        cucore.launch(self.stream, config, self.kernels[kernel], *arguments)
