"""How full blocks of each size leave a multiprocessor, as a picture: KernelOccupancy.plot()."""

from cucore._device import Device


def plot_occupancy(occupancy, name, dynamic_shared_memory, device, axes):
    """The axes, on which the occupancy for each size of block is drawn."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("KernelOccupancy.plot() needs matplotlib: pip install matplotlib") from error
    device = device if isinstance(device, Device) else Device(device)
    properties = device.properties
    shared = dynamic_shared_memory if callable(dynamic_shared_memory) else lambda _: dynamic_shared_memory
    warp, most = properties.warp_size, properties.max_threads_per_multiprocessor
    sizes = range(warp, properties.max_threads_per_block + 1, warp)
    percents = [
        occupancy.max_active_blocks_per_multiprocessor(size, shared(size), device=device) * size * 100 / most
        for size in sizes
    ]
    best = occupancy.max_potential_block_size(dynamic_shared_memory, 0, device=device).max_block_size
    if axes is None:
        axes = matplotlib.pyplot.figure().add_subplot()
    axes.plot(list(sizes), percents, drawstyle="steps-mid")
    axes.axvline(best, linestyle="--", label=f"the driver's choice: {best} threads")
    axes.set_xlabel("threads in a block")
    axes.set_ylabel("occupancy (%)")
    axes.set_ylim(0, 105)
    axes.set_title(name)
    axes.legend()
    return axes
