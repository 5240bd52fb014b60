"""Shares work among all devices of the machine; `cucore run --devices 2 main.py` gives the CPU device a second one."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

devices = Device.get_all_devices()
source = Path(__file__).with_name("kernels.cu").read_text()
share = 1_000_000
streams, sums = [], []
for number, device in enumerate(devices):
    device.set_current()  # code, streams and memory are of the current device from here on
    stream = device.create_stream()
    kernel = Program(source, "c++").compile("cubin").get_kernel("sum")
    buffer = LegacyPinnedMemoryResource().allocate(8)
    buffer.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=16, block=256), kernel, buffer, number * share, share)  # returns at once
    streams.append(stream)
    sums.append(buffer)

total = 0
for number, (device, stream, buffer) in enumerate(zip(devices, streams, sums, strict=True)):
    device.set_current()
    stream.sync()
    part = int(np.from_dlpack(buffer).view(np.uint64)[0])
    print(f"device {number}: {part}")
    total += part

n = share * len(devices)
assert total == n * (n - 1) // 2
print(f"together: {total}")
