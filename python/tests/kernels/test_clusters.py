"""CUDA C++ for clusters through NVRTC: cluster_group, multicast and im2col copies, against NumPy."""

import ctypes

import numpy as np
import pytest
from conftest import run_check
from test_async_copies import headers

import cucore

KERNELS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Each block takes a part of the bins into its shared memory; all count in whichever block has the bin.
extern "C" __global__ void histogram(const int* values, int count, int bins_per_block, int* bins) {
  extern __shared__ int mine[];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    int bin = values[i];
    int* of_owner = cluster.map_shared_rank(mine, bin / bins_per_block);
    atomicAdd(of_owner + bin % bins_per_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
    atomicAdd(&bins[cluster.block_rank() * bins_per_block + i], mine[i]);
}

// The sum of every cluster's part, gathered by its first block.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sums(const int* values, int* out) {
  __shared__ int part;
  auto cluster = cg::this_cluster();
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int sum = cg::reduce(warp, values[blockIdx.x * 32 + threadIdx.x], cg::plus<int>());
  if (threadIdx.x == 0) part = sum;
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(static_cast<decltype(token)&&>(token));
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int total = 0;
    for (int rank = 0; rank < cluster.num_blocks(); ++rank) total += *cluster.map_shared_rank(&part, rank);
    out[blockIdx.x / 4] = total;
  }
  cluster.sync();
}

// Where a block stands: cluster, place in it, rank, thread's rank, and whose memory an address is in.
extern "C" __global__ void places(int* out) {
  __shared__ int cell;
  auto cluster = cg::this_cluster();
  int block = blockIdx.x + gridDim.x * blockIdx.y;
  int next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int* there = cluster.map_shared_rank(&cell, next);
  cluster.sync();  // until then, the other block may not have begun
  *there = block;
  cluster.sync();
  int row[] = {int(cluster.block_index().x), int(cluster.block_index().y), int(cluster.block_rank()),
               int(cluster.dim_blocks().x), int(cluster.dim_blocks().y), int(cluster.thread_rank()),
               int(cluster.query_shared_rank(there)), cell};
  if (threadIdx.x == 0)
    for (int i = 0; i < 8; ++i) out[8 * block + i] = row[i];
}

// The first block loads a box for all; every block writes what it got.
extern "C" __global__ void __cluster_dims__(4, 1, 1) multicast(const void* map, unsigned* out, int x, int y) {
  __shared__ __align__(1024) unsigned cells[256];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(cells), bar = __cvta_generic_to_shared(&barrier);
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(bar));
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(at), "l"(map), "r"(x), "r"(y), "r"(bar), "h"((short)15) : "memory");
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}"
               ::"r"(bar) : "memory");
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[256 * blockIdx.x + i] = cells[i];
  cluster.sync();
}

// Pixels of images with channels, from (x, y, n) on, each (dx, dy) aside.
extern "C" __global__ void pixels(const void* map, unsigned* out, int bytes, int x, int y, int n, short dx, short dy) {
  __shared__ __align__(1024) unsigned cells[2048];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(cells), bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes));
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                 ::"r"(at), "l"(map), "r"(0), "r"(x), "r"(y), "r"(n), "r"(bar), "h"(dx), "h"(dy) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}"
               ::"r"(bar) : "memory");
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = cells[i];
}
"""


class Bench:
    """A device with the kernels above; arrays go in and come back as NumPy's."""

    def __init__(self):
        self.device = cucore.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        options = {"arch": f"sm_{self.device.arch}", "std": "c++17", "include_path": headers()}
        self.code = cucore.Program(KERNELS, "c++", options).compile("ptx")
        self.pinned = cucore.LegacyPinnedMemoryResource()
        self.kept = []

    def place(self, array):
        """Device memory with the array in it; and the array as it is there at the end."""
        host = self.pinned.allocate(max(16, array.nbytes))
        np.frombuffer(memoryview(host), np.uint8)[: array.nbytes] = array.view(np.uint8).ravel()
        on_device = self.device.allocate(max(16, array.nbytes), stream=self.stream)
        on_device.copy_from(host, stream=self.stream)
        self.kept.append((host, on_device))
        return on_device

    def read(self, buffer, like):
        host = next(host for host, on_device in self.kept if on_device is buffer)
        buffer.copy_to(host, stream=self.stream)
        self.stream.sync()
        return np.frombuffer(memoryview(host), np.uint8)[: like.nbytes].view(like.dtype).reshape(like.shape).copy()

    def run(self, name, config, *arguments):
        cucore.launch(self.stream, cucore.LaunchConfig(**config), self.code.get_kernel(name), *arguments)

    def map_of(self, encode, *arguments):
        """Device memory with the 128 bytes that cuTensorMapEncode* wrote."""
        room = (ctypes.c_uint8 * 192)()
        start = -ctypes.addressof(room) % 64
        driver = ctypes.CDLL(cucore.driver_info().path)
        assert getattr(driver, encode)(ctypes.byref(room, start), *arguments) == 0
        return self.place(np.frombuffer(bytes(room[start : start + 128]), np.uint8))


def array_of(kind, *values):
    return (kind * len(values))(*values)


def check_histogram():
    bench = Bench()
    for blocks, bins in ((1, 64), (2, 32), (4, 100), (8, 3)):
        values = np.random.default_rng(blocks).integers(0, blocks * bins, 5000, dtype=np.int32)
        counts = np.zeros(blocks * bins, np.int32)
        source, target = bench.place(values), bench.place(counts)
        config = {"grid": 2, "cluster": blocks, "block": 64, "shmem_size": 4 * bins}
        bench.run("histogram", config, source, 5000, bins, target)
        np.testing.assert_array_equal(bench.read(target, counts), np.bincount(values, minlength=blocks * bins))


def check_sums():
    bench = Bench()
    values = np.random.default_rng(5).integers(-1000, 1000, 12 * 32, dtype=np.int32)
    totals = np.zeros(3, np.int32)
    source, target = bench.place(values), bench.place(totals)
    bench.run("sums", {"grid": 12, "block": 32}, source, target)
    np.testing.assert_array_equal(bench.read(target, totals), values.reshape(3, 128).sum(1))


def check_places():
    bench = Bench()
    shape, clusters = (2, 3), (3, 2)
    width, height = shape[0] * clusters[0], shape[1] * clusters[1]
    rows = np.zeros((width * height, 8), np.int32)
    target = bench.place(rows)
    bench.run("places", {"grid": clusters, "cluster": shape, "block": 32}, target)
    want = np.zeros_like(rows)
    for block in range(width * height):
        x, y = block % width, block // width
        rank = x % 2 + 2 * (y % 3)
        before = (rank + 5) % 6
        at = x // 2 * 2 + before % 2 + width * (y // 3 * 3 + before // 2)
        want[block] = (x % 2, y % 3, rank, 2, 3, 32 * rank, (rank + 1) % 6, at)
    np.testing.assert_array_equal(bench.read(target, rows), want)


def check_multicast():
    bench = Bench()
    numbers = np.arange(1, 1 + 40 * 64, dtype=np.uint32).reshape(40, 64)
    out = np.zeros((8, 8, 32), np.uint32)
    source, target = bench.place(numbers), bench.place(out)
    one, uint32 = ctypes.c_uint32, 2
    extents, strides = array_of(ctypes.c_uint64, 64, 40), array_of(ctypes.c_uint64, 256)
    box, ones = array_of(one, 32, 8), array_of(one, 1, 1)
    encoded = bench.map_of(
        "cuTensorMapEncodeTiled",
        uint32,
        2,
        ctypes.c_void_p(int(source.handle)),
        extents,
        strides,
        box,
        ones,
        0,
        0,
        0,
        0,
    )
    bench.run("multicast", {"grid": 8, "block": 32}, encoded, target, 16, 35)
    want = np.zeros((8, 32), np.uint32)
    want[:5] = numbers[35:, 16:48]
    np.testing.assert_array_equal(bench.read(target, out), np.broadcast_to(want, out.shape))


def check_pixels(lower, upper, start, aside, stride=1, swizzle=0):
    """im2col: 20 pixels of 32 channels from images of 5 x 4, two of them."""
    bench = Bench()
    images = np.arange(1, 1 + 2 * 4 * 5 * 32, dtype=np.uint32).reshape(2, 4, 5, 32)
    pixels = 20
    out = np.zeros((pixels, 32), np.uint32)
    source, target = bench.place(images), bench.place(out)
    extents = array_of(ctypes.c_uint64, 32, 5, 4, 2)
    strides = array_of(ctypes.c_uint64, 128, 128 * 5, 128 * 20)
    steps = array_of(ctypes.c_uint32, 1, stride, stride, 1)
    uint32 = 2
    encoded = bench.map_of(
        "cuTensorMapEncodeIm2col",
        *(uint32, 4, ctypes.c_void_p(int(source.handle)), extents, strides),
        *(array_of(ctypes.c_int, *lower), array_of(ctypes.c_int, *upper), 32, pixels, steps, 0, swizzle, 0, 0),
    )
    bench.run("pixels", {"grid": 1, "block": 32}, encoded, target, out.nbytes, *start, *aside)
    want = np.zeros_like(out)
    x, y, n = start
    for pixel in range(pixels):
        column, row = x + aside[0], y + aside[1]
        if 0 <= column < 5 and 0 <= row < 4 and n < 2:
            want[pixel] = images[n, row, column]
        x += stride
        if x > 4 + upper[0]:
            x, y = lower[0], y + stride
        if y > 3 + upper[1]:
            y, n = lower[1], n + 1
    if swizzle:
        chunks = want.reshape(pixels, 8, 4)
        want = np.stack([chunks[p, [c ^ p % 8 for c in range(8)]] for p in range(pixels)]).reshape(pixels, 32)
    np.testing.assert_array_equal(bench.read(target, out), want)


def check_all_pixels():
    check_pixels((0, 0), (0, 0), (0, 0, 0), (0, 0))
    check_pixels((-1, -1), (-1, -1), (-1, -1, 0), (0, 0))  # a filter of 3 x 3 with a border of one
    check_pixels((-1, -1), (-1, -1), (-1, -1, 0), (2, 1))
    check_pixels((-1, -1), (-1, -1), (2, 1, 1), (1, 2))
    check_pixels((-1, -1), (-1, -1), (-1, -1, 0), (1, 1), stride=2)
    check_pixels((0, 0), (-1, -2), (1, 0, 0), (1, 2), swizzle=3)


CHECKS = ("check_histogram", "check_sums", "check_places", "check_multicast", "check_all_pixels")


@pytest.mark.skipif(not headers(), reason="no C++ headers of CUDA")
@pytest.mark.parametrize("check", CHECKS)
def test_clusters(device, check):
    run_check(device, __file__, f"{check}()")
