"""A thousand bodies attract each other; their energy has to stay. `main.py FILE.png` draws them."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
code = Program(source, "c++").compile("cubin")
place, pull, move = (code.get_kernel(name) for name in ("place", "pull", "move"))

n, steps, time = 1024, 100, 0.01
pinned = LegacyPinnedMemoryResource()
bodies, velocities = (np.from_dlpack(pinned.allocate(16 * n)).view(np.float32).reshape(n, 4) for _ in range(2))
potential = np.from_dlpack(pinned.allocate(4 * n)).view(np.float32)
config = LaunchConfig(grid=n // 128, block=128)


def energy():
    """Kinetic and potential; velocities and places have to be those of one moment."""
    stream.sync()
    return (0.5 * bodies[:, 3] * (velocities[:, :3] ** 2).sum(axis=1)).sum() + potential.sum()


launch(stream, config, place, bodies, velocities, n)
launch(stream, config, pull, bodies, velocities, potential, n, 0)
before = energy()
launch(stream, config, pull, bodies, velocities, potential, n, time / 2)  # velocities half a step ahead: leapfrog
for _ in range(steps):
    launch(stream, config, move, bodies, velocities, time)
    launch(stream, config, pull, bodies, velocities, potential, n, time)
launch(stream, config, pull, bodies, velocities, potential, n, -time / 2)
change = abs(energy() / before - 1)

assert change < 1e-3
print(f"{n} bodies, {steps} steps: the energy has changed by less than 0.1 %")

if len(sys.argv) > 1:
    from PIL import Image

    counts, _, _ = np.histogram2d(bodies[:, 1], bodies[:, 0], bins=240, range=[[-1.2, 1.2]] * 2)
    Image.fromarray(np.minimum(255, counts * 110).astype(np.uint8)).save(sys.argv[1])
