"""CUDA C++ that copies asynchronously: cuda::barrier, cuda::pipeline and bulk copies through NVRTC, against NumPy."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import run_check

import cucore

KERNELS = r"""
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

constexpr int tile = 128;

// Each block reverses every tile that it copies; the barrier counts the copies' bytes and the threads.
extern "C" __global__ void reverse(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int cells[tile];
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&arrived, block.size());
  block.sync();
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    cuda::memcpy_async(block, cells, in + t * tile, cuda::aligned_size_t<16>(sizeof cells), arrived);
    arrived.arrive_and_wait();
    out[t * tile + threadIdx.x] = cells[tile - 1 - threadIdx.x];
    block.sync();
  }
}

// Two stages of a pipeline shared by the block: sums every tile with its own index.
extern "C" __global__ void stages(const int* in, int* out, int tiles) {
  __shared__ alignas(16) int cells[2][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int total = 0;
  for (int fetched = 0, used = 0; used < tiles; ++used) {
    for (; fetched < tiles && fetched < used + 2; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, cells[fetched % 2], in + fetched * tile, cuda::aligned_size_t<16>(sizeof(int) * tile),
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    total += cells[used % 2][(threadIdx.x + used) % tile];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = total;
}

#if __CUDA_ARCH__ >= 900
// A warp produces with bulk copies, the others consume: full and empty barriers, four stages.
extern "C" __global__ void produce_and_consume(const int* in, int* out, int tiles) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(128) int cells[4][tile];
  __shared__ barrier full[4], empty[4];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 4; ++s) init(&full[s], 1 + tile), init(&empty[s], 1 + tile);
    cuda::device::barrier_expect_tx(full[0], 0);
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;");
  }
  __syncthreads();
  if (threadIdx.x >= tile) {
    if (threadIdx.x > tile) return;
    for (int t = 0; t < tiles; ++t) {
      empty[t % 4].arrive_and_wait();
      cuda::device::memcpy_async_tx(cells[t % 4], in + t * tile, cuda::aligned_size_t<16>(sizeof(int) * tile),
                                    full[t % 4]);
      (void)cuda::device::barrier_arrive_tx(full[t % 4], 1, sizeof(int) * tile);
    }
  } else {
    for (int s = 0; s < 4; ++s) (void)empty[s].arrive();
    int total = 0;
    for (int t = 0; t < tiles; ++t) {
      full[t % 4].arrive_and_wait();
      total += cells[t % 4][(threadIdx.x + t) % tile];
      (void)empty[t % 4].arrive();
    }
    out[threadIdx.x] = total;
  }
}
#endif
"""


def headers():
    """CUDA's C++ headers: beside NVRTC's in its package, or in a toolkit."""
    roots = [Path(p) / "nvidia" / "cu13" for p in sys.path]
    roots += [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    found = [root / "include" for root in [*roots, Path("/usr/local/cuda")] if (root / "include" / "cccl").is_dir()]
    return [str(found[0] / "cccl"), str(found[0])] if found else []


def run(name, block, tiles, size):
    """What a kernel makes of as many tiles of numbers; and the numbers."""
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    options = {"arch": f"sm_{device.arch}", "std": "c++17", "include_path": headers()}
    kernel = cucore.Program(KERNELS, "c++", options).compile("ptx").get_kernel(name)
    pinned = cucore.LegacyPinnedMemoryResource()
    numbers = np.random.default_rng(4).integers(-1000, 1000, (tiles, 128), dtype=np.int32)
    source, target = pinned.allocate(numbers.nbytes), pinned.allocate(4 * size)
    np.frombuffer(memoryview(source), np.int32)[: numbers.size] = numbers.ravel()
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=block), kernel, source, target, tiles)
    stream.sync()
    return np.frombuffer(memoryview(target), np.int32)[:size].copy(), numbers


def check_reversal():
    out, numbers = run("reverse", 128, 9, 9 * 128)
    np.testing.assert_array_equal(out.reshape(numbers.shape), numbers[:, ::-1])


def check_sums(name, block):
    out, numbers = run(name, block, 11, 128)
    np.testing.assert_array_equal(out, sum(np.roll(tile, -t) for t, tile in enumerate(numbers)))


pytestmark = pytest.mark.skipif(not headers(), reason="no C++ headers of CUDA")


def test_a_barrier_waits_for_copies(device):
    check_reversal()


def test_a_pipeline_keeps_its_stages_apart(device):
    check_sums("stages", 128)


def check_bulk_copies():
    check_reversal()
    check_sums("stages", 128)
    check_sums("produce_and_consume", 160)


def test_compute_capability_9_has_bulk_copies(device):
    """There cuda::memcpy_async is a bulk copy, and one warp may copy for the others."""
    run_check(device, __file__, "check_bulk_copies()")
