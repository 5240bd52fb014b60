"""A first program: compile a template, launch it, time it, check it. Runs on a GPU or on none."""

import numpy as np

import cucore
from cucore import Device, LaunchConfig, Program, ProgramOptions, launch

source = """
template <typename T>
__global__ void saxpy(T* out, T a, const T* x, const T* y, size_t n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
"""

device = Device()
device.set_current()
stream = device.create_stream()

program = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17"))
code = program.compile("cubin", name_expressions=["saxpy<float>"])
saxpy = code.get_kernel("saxpy<float>")  # the code is loaded here, at its first use

n = 1_000_000
pinned = cucore.LegacyPinnedMemoryResource()
buffers = [pinned.allocate(4 * n) for _ in range(3)]  # page-locked memory: kernels and NumPy both see it
out, x, y = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
x[:], y[:] = np.random.default_rng(0).random((2, n), dtype=np.float32)

start = device.create_event({"timing_enabled": True})
end = device.create_event({"timing_enabled": True})
start.record(stream)
launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), saxpy, buffers[0], 2.0, buffers[1], buffers[2], n)
stream.record(end)
end.sync()

np.testing.assert_allclose(out, 2.0 * x + y, rtol=1e-6)
print(f"{device}: saxpy over {n} elements, {end - start:.3f} ms, result checked")
