"""Kernel Tuner, which compiles and times a kernel in every form of a search space, on CuPy and on NVIDIA's bindings;
each form's results are compared with NumPy's."""

import unittest

import kernel_tuner
import numpy as np

ADD = """
extern "C" __global__ void add(float* c, const float* a, const float* b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
PRODUCT = """
extern "C" __global__ void product(float* c, const float* a, const float* b) {
  __shared__ float of_a[block_size_x][block_size_x], of_b[block_size_x][block_size_x * tile_size];
  int x = blockIdx.x * block_size_x * tile_size + threadIdx.x, y = blockIdx.y * block_size_x + threadIdx.y;
  float sum[tile_size] = {};
  for (int k = 0; k < width; k += block_size_x) {
    __syncthreads();
    of_a[threadIdx.y][threadIdx.x] = a[y * width + k + threadIdx.x];
#pragma unroll
    for (int j = 0; j < tile_size; ++j)
      of_b[threadIdx.y][threadIdx.x + j * block_size_x] = b[(k + threadIdx.y) * width + x + j * block_size_x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < block_size_x; ++i)
      for (int j = 0; j < tile_size; ++j) sum[j] += of_a[threadIdx.y][i] * of_b[i][threadIdx.x + j * block_size_x];
  }
  for (int j = 0; j < tile_size; ++j) c[y * width + x + j * block_size_x] = sum[j];
}
"""


class Programs(unittest.TestCase):
    def test_block_sizes(self):
        a, b = np.random.RandomState(5).randn(2, 5000).astype(np.float32)
        arguments = [np.zeros_like(a), a, b, np.int32(a.size)]
        for language in ("cupy", "nvcuda"):
            with self.subTest(language):
                results = kernel_tuner.tune_kernel(
                    "add",
                    ADD,
                    a.size,
                    arguments,
                    {"block_size_x": [32, 96, 256]},
                    answer=[a + b, None, None, None],
                    lang=language,
                    quiet=True,
                )
                self.assertEqual([float(each["time"]) > 0 for each in results[0]], [True] * 3)
                found = kernel_tuner.run_kernel("add", ADD, a.size, arguments, {"block_size_x": 64}, lang=language)
                np.testing.assert_array_equal(found[0], a + b)

    def test_tiles(self):
        a, b = np.random.RandomState(6).randn(2, 64, 64).astype(np.float32)
        results = kernel_tuner.tune_kernel(
            "product",
            PRODUCT,
            (64, 64),
            [np.zeros_like(a), a, b],
            {"width": [64], "block_size_x": [8, 16], "block_size_y": [8, 16], "tile_size": [1, 2, 4]},
            answer=[a @ b, None, None],
            atol=1e-3,
            lang="cupy",
            quiet=True,
            grid_div_x=["block_size_x", "tile_size"],
            grid_div_y=["block_size_x"],
            restrictions=["block_size_x == block_size_y"],
        )
        self.assertEqual([float(each["time"]) > 0 for each in results[0]], [True] * 6)


if __name__ == "__main__":
    unittest.main()
