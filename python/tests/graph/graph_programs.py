"""What the tests of graphs share: kernels compiled once, and memory that host and device see."""

import functools

import numpy as np
import pytest
from conftest import compile_cubin

import cucore

ONE = cucore.LaunchConfig(grid=1, block=1)
SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);
extern "C" __global__ void add(int* p, int v) { atomicAdd(p, v); }
extern "C" __global__ void mul(int* p, int v) { *p *= v; }
extern "C" __global__ void store(int* p) { *p = blockDim.x * 100 + gridDim.x; }
extern "C" __global__ void set(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
extern "C" __global__ void countdown(cudaGraphConditionalHandle h, int* p) {
  cudaGraphSetConditional(h, atomicSub(p, 1) > 1);
}
"""


@functools.cache
def code():
    return compile_cubin(SOURCE)


def kernel(name):
    return code().get_kernel(name)


@pytest.fixture
def memory(stream, pinned):
    """(buffer, its 64 ints as an array of zeros)"""
    buffer = pinned.allocate(256)
    numbers = np.frombuffer(memoryview(buffer), np.int32)
    numbers[:] = 0
    yield buffer, numbers
    stream.sync()


def at(buffer, index):
    """The address of one of the ints."""
    return int(buffer.handle) + 4 * index


def run(graph, stream, times=1):
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
