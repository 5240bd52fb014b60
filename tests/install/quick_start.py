"""The quick start, right after `pip install .` in an empty environment: no NumPy, no toolkit but what cucore needs."""

import cucore

SOURCE = """
template <class T> __global__ void saxpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""
N = 1000

device = cucore.Device()
device.set_current()
stream = device.create_stream()
with cucore.Program(SOURCE, "c++", {"std": "c++17"}) as program:
    kernel = program.compile("cubin", ["saxpy<float>"]).get_kernel("saxpy<float>")

pinned = cucore.LegacyPinnedMemoryResource()
x, y = pinned.allocate(4 * N), pinned.allocate(4 * N)
xs, ys = memoryview(x).cast("B").cast("f"), memoryview(y).cast("B").cast("f")
for i in range(N):
    xs[i], ys[i] = i, 1
cucore.launch(stream, cucore.LaunchConfig(grid=-(-N // 256), block=256), kernel, 2.0, x, y, N)
stream.sync()
assert all(ys[i] == 1 + 2 * i for i in range(N))
print(f"{device!r}: {N} elements, all right")
