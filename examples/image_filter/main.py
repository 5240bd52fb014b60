"""Filters and turns a picture through textures; `main.py FILE.png` keeps it, its edges, and it turned."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cucore.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
code = Program(source, "c++").compile("cubin")
edges, turned = code.get_kernel("edges"), code.get_kernel("turned")

width, height = 200, 160
y, x = np.indices((height, width))
picture = np.where((x // 25 + y // 20) % 2, 220, 40).astype(np.uint8)  # a chessboard with a disc on it
picture[(x - 100) ** 2 + (y - 80) ** 2 < 50**2] = 130
array = device.create_opaque_array(OpaqueArrayOptions((width, height), "uint8", 1))
array.copy_from(picture, stream=stream)
resource = ResourceDescriptor.from_opaque_array(array)
texels = device.create_texture_object(resource=resource)  # whole elements, the edge repeated
smooth = device.create_texture_object(
    resource=resource,
    options=TextureObjectOptions(filter_mode="linear", read_mode="normalized_float", address_mode="mirror"),
)

pinned = LegacyPinnedMemoryResource()
lines = np.from_dlpack(pinned.allocate(width * height)).view(np.uint8).reshape(height, width)
rotated = np.from_dlpack(pinned.allocate(4 * width * height)).view(np.float32).reshape(height, width)
config = LaunchConfig(grid=((width + 15) // 16, (height + 15) // 16), block=(16, 16))
launch(stream, config, edges, texels, lines, width, height)
launch(stream, config, turned, smooth, rotated, width, height, 0.5)
stream.sync()

padded = np.pad(picture.astype(int), 1, mode="edge")
part = {(dx, dy): padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width] for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
across = sum(w * (part[1, d] - part[-1, d]) for d, w in ((-1, 1), (0, 2), (1, 1)))
down = sum(w * (part[d, 1] - part[d, -1]) for d, w in ((-1, 1), (0, 2), (1, 1)))
assert np.array_equal(lines, np.minimum(255, (abs(across) + abs(down)) // 4))
assert abs(rotated[80, 100] * 255 - 130) < 1  # the middle stays
print(f"{(lines > 40).mean():.0%} of {width} x {height} pixels are edges")

if len(sys.argv) > 1:
    from PIL import Image

    Image.fromarray(np.hstack([picture, lines, (255 * rotated).astype(np.uint8)])).save(sys.argv[1])
