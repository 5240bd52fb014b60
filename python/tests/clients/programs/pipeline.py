"""Sends pieces of an array through three streams: one copies in, one computes, one copies out."""

import numpy as np
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
)

SOURCE = """template <class T> __global__ void square(T* x, unsigned long long n) {
  unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * x[i];
}"""
PIECES, LENGTH = 6, 1000

device = Device()
device.set_current()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
code = Program(SOURCE, code_type="c++", options=options).compile("cubin", name_expressions=("square<float>",))
square = code.get_kernel("square<float>")
config = LaunchConfig(grid=(LENGTH + 255) // 256, block=256)

copies_in, computes, copies_out = (device.create_stream(options=StreamOptions(nonblocking=True)) for _ in range(3))
pinned = LegacyPinnedMemoryResource()
sources = [pinned.allocate(LENGTH * 4) for _ in range(PIECES)]
results = [pinned.allocate(LENGTH * 4) for _ in range(PIECES)]
for number, source in enumerate(sources):
    np.from_dlpack(source).view(np.float32)[:] = np.arange(LENGTH) + number

start = copies_in.record(options=EventOptions(timing_enabled=True))
places = [device.allocate(LENGTH * 4, stream=copies_in) for _ in range(2)]
free = [None, None]
for number in range(PIECES):
    place, slot = places[number % 2], number % 2
    if free[slot] is not None:
        copies_in.wait(free[slot])
    place.copy_from(sources[number], stream=copies_in)
    computes.wait(copies_in)
    launch(computes, config, square, place, np.uint64(LENGTH))
    copies_out.wait(computes.record())
    place.copy_to(results[number], stream=copies_out)
    free[slot] = copies_out.record(device.create_event())
end = copies_out.record(options={"timing_enabled": True})
end.sync()
print(all(event.is_done for event in free), end - start > 0, type(end - start).__name__)
for number, result in enumerate(results):
    expected = (np.arange(LENGTH, dtype=np.float32) + number) ** 2
    print(number, np.array_equal(np.from_dlpack(result).view(np.float32), expected))
for place in places:
    place.close(copies_out)
for stream in (copies_in, computes, copies_out):
    stream.close()
print([place.size for place in places], copies_in.is_closed)
