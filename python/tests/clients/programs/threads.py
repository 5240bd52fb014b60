"""Works in several threads, each with a stream of its own."""

import threading

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = """extern "C" __global__ void put(int* out, int value) { *out = value; }"""

device = Device()
device.set_current()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("put")
results = [None] * 4


def work(number):
    own = Device()
    own.set_current()
    stream = own.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(4)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer, np.int32(number * number))
    stream.sync()
    results[number] = int(np.from_dlpack(buffer).view(np.int32)[0])


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)
