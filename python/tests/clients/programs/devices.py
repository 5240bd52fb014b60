"""Goes through all devices and copies between them."""

import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource

for device in Device.get_all_devices():
    device.set_current()
    stream = device.create_stream()
    buffer = device.allocate(64, stream=stream)
    buffer.fill(device.device_id + 1, stream=stream)
    host = LegacyPinnedMemoryResource().allocate(64)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    print(device.device_id, np.from_dlpack(host)[0], buffer.device_id, device.can_access_peer(0))
