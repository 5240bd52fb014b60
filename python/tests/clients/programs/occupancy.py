"""Chooses the size of blocks by what the device can run at once."""

from cuda.core import Device, Program

SOURCE = """extern "C" __global__ void work(float* x) { x[threadIdx.x] += 1; }"""

device = Device()
device.set_current()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("work")
blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(128, 0)
grid, block = kernel.occupancy.max_potential_block_size(0, 0)
print(blocks, grid, block, kernel.attributes.max_threads_per_block, kernel.num_arguments)
