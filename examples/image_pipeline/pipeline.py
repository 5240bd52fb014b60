"""The pipeline itself: what is launched, on what. Knows nothing of compiling, files or processes."""

import numpy as np
import reference

import cucore

TILE = 32
RADIUS = reference.RADIUS
BLUR_ROWS = {t: f"blur_rows<{t}, {RADIUS}, {TILE}>" for t in ("float", "uchar4")}
BLUR_COLUMNS = {t: f"blur_columns<{t}, {RADIUS}>" for t in ("float", "uchar4")}
NAMES = [*BLUR_ROWS.values(), *BLUR_COLUMNS.values(), "sobel<float>", "statistics<uchar4>"]
REPEATS = 5


class Arrays:
    """Device copies of NumPy arrays: up through pinned memory, and back the same way."""

    def __init__(self, device, stream):
        self.device, self.stream = device, stream
        self.pinned = cucore.LegacyPinnedMemoryResource()

    def upload(self, array):
        array = np.ascontiguousarray(array)
        with self.pinned.allocate(array.nbytes) as staging:
            np.from_dlpack(staging).view(np.uint8)[:] = array.view(np.uint8).ravel()
            buffer = self.device.allocate(array.nbytes, stream=self.stream)
            buffer.copy_from(staging, stream=self.stream)
            self.stream.sync()
        return buffer

    def empty(self, shape, dtype):
        return self.device.allocate(int(np.prod(shape)) * np.dtype(dtype).itemsize, stream=self.stream)

    def download(self, buffer, shape, dtype):
        with self.pinned.allocate(buffer.size) as staging:
            buffer.copy_to(staging, stream=self.stream)
            self.stream.sync()
            return np.from_dlpack(staging).view(dtype).reshape(shape).copy()


def run(code, rgba, gray):
    """Runs every kernel of `code` (an ObjectCode). Returns (results, timings): timings are (name, ms, bytes moved)."""
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    arrays = Arrays(device, stream)
    height, width = gray.shape
    weights = arrays.upload(reference.weights())
    timings = []

    def timed(name, moved, config, kernel, *args):
        cucore.launch(stream, config, kernel, *args)  # the first launch is not timed: it may compile
        start = device.create_event({"timing_enabled": True})
        end = device.create_event({"timing_enabled": True})
        start.record(stream)
        for _ in range(REPEATS):
            cucore.launch(stream, config, kernel, *args)
        stream.record(end)
        end.sync()
        timings.append((name, (end - start) / REPEATS, moved))

    results = {}
    block = (TILE, 8)
    grid = (-(-width // TILE), -(-height // 8))
    plain = cucore.LaunchConfig(grid=grid, block=block)

    for pixel, image, dtype, sum_bytes in (("float", gray, np.float32, 4), ("uchar4", rgba, np.uint8, 16)):
        source, middle, target = (
            arrays.upload(image),
            arrays.empty(image.shape, dtype),
            arrays.empty(image.shape, dtype),
        )
        shared = block[1] * (TILE + 2 * RADIUS) * sum_bytes
        tiled = cucore.LaunchConfig(grid=grid, block=block, shmem_size=shared)
        moved = 2 * image.nbytes
        timed(f"blur rows {pixel}", moved, tiled, code.get_kernel(BLUR_ROWS[pixel]), middle, source, weights, width,
              height)  # fmt: skip
        timed(f"blur columns {pixel}", moved, plain, code.get_kernel(BLUR_COLUMNS[pixel]), target, middle, weights,
              width, height)  # fmt: skip
        results[f"blur_{pixel}"] = arrays.download(target, image.shape, dtype)
        if pixel == "float":
            edges = arrays.empty(image.shape, np.float32)
            timed("sobel float", moved, plain, code.get_kernel("sobel<float>"), edges, target, width, height)
            results["sobel"] = arrays.download(edges, image.shape, np.float32)
        else:
            total, bins = arrays.empty((1,), np.float64), arrays.empty((256,), np.uint32)
            kernel = code.get_kernel("statistics<uchar4>")
            config = cucore.LaunchConfig(grid=32, block=256)
            arguments = (total, bins, source, width * height)
            total.fill(0, stream=stream)
            bins.fill(0, stream=stream)
            timed("statistics uchar4", image.nbytes, config, kernel, *arguments)
            total.fill(0, stream=stream)  # the timed launches added up: once more, from zero
            bins.fill(0, stream=stream)
            cucore.launch(stream, config, kernel, *arguments)
            results["mean"] = float(arrays.download(total, (1,), np.float64)[0]) / (width * height)
            results["bins"] = arrays.download(bins, (256,), np.uint32)
    return results, timings
