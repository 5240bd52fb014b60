"""Cooperative launches: all blocks are resident and meet at grid-wide barriers."""

import numpy as np
import pytest
from conftest import compile_cubin

import cucore

# Every thread takes its right neighbour's value, adds one, and waits for all others in between.
ROUNDS = """
#include <cooperative_groups.h>
extern "C" __global__ void rounds(int* cells, int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < n; ++r) {
    int next = cells[(i + 1) % (gridDim.x * blockDim.x)];
    grid.sync();
    cells[i] = next + 1;
    grid.sync();
  }
}
"""


@pytest.fixture(scope="module")
def rounds():
    device = cucore.Device()
    if not device.properties.cooperative_launch:
        pytest.skip("the device has no cooperative launch")
    return compile_cubin(ROUNDS, std="c++17").get_kernel("rounds")


@pytest.mark.parametrize("prepared", [False, True])
def test_blocks_wait_for_one_another(stream, pinned, rounds, prepared):
    memory = pinned.allocate(4 * 256)
    cells = np.frombuffer(memory, np.int32)
    cells[:] = np.arange(256)
    config = cucore.LaunchConfig(grid=8, block=32, is_cooperative=True)
    if prepared:
        launcher = rounds.launcher(config)
        for _ in range(5):
            launcher(stream, memory, 1)
    else:
        cucore.launch(stream, config, rounds, memory, 5)
    stream.sync()
    assert (cells == (np.arange(256) + 5) % 256 + 5).all()


def test_more_blocks_than_can_be_resident_are_refused_with_the_reckoning(stream, pinned, rounds):
    config = cucore.LaunchConfig(grid=10**6, block=32, is_cooperative=True)
    with pytest.raises(ValueError, match=r"1000000 blocks exceeds the limit of \d+ .* multiprocessors"):
        cucore.launch(stream, config, rounds, pinned.allocate(4), 1)
