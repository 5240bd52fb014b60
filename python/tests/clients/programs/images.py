"""An image is read through textures with filters and edges of several kinds, and written through a surface."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.texture import (
    MipmappedArrayOptions,
    OpaqueArrayOptions,
    ResourceDescriptor,
    TextureObjectOptions,
)

SOURCE = """
extern "C" __global__ void sample(cudaTextureObject_t image, float* out, float scale, float shift) {
  out[threadIdx.x] = tex2D<float>(image, threadIdx.x * scale + shift, 1.5f * scale);
}
extern "C" __global__ void level(cudaTextureObject_t image, float* out, float lod) {
  out[threadIdx.x] = tex2DLod<float>(image, (threadIdx.x + 0.5f) / 8, 0.5f, lod);
}
extern "C" __global__ void row(cudaTextureObject_t line, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(line, threadIdx.x);
}
extern "C" __global__ void bytes(cudaTextureObject_t image, float* out) {
  out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.5f, 0.5f);
}
extern "C" __global__ void draw(cudaSurfaceObject_t image) {
  surf2Dwrite<float>(100.f + threadIdx.x, image, threadIdx.x * 4, 1);
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
sample, level, row, byte, draw = (code.get_kernel(name) for name in ("sample", "level", "row", "bytes", "draw"))
host = LegacyPinnedMemoryResource()
out = host.allocate(4 * 12)
shown = np.from_dlpack(out).view(np.float32)
pixels = host.allocate(4 * 8 * 4)
np.from_dlpack(pixels).view(np.float32)[:] = np.arange(32)


def show(kernel, *arguments, threads=12):
    shown[:] = 0
    launch(stream, LaunchConfig(grid=1, block=threads), kernel, *arguments)
    stream.sync()
    return np.round(shown[:threads], 3).tolist()


array = device.create_opaque_array(
    OpaqueArrayOptions(shape=(8, 4), format="float32", num_channels=1, is_surface_load_store=True)
)
array.copy_from(pixels, stream=stream)
stream.sync()
print(array.shape, array.format, array.num_channels, array.element_bytes, array.size_bytes, array.is_surface_load_store)
resource = ResourceDescriptor.from_opaque_array(array)
for mode in ("clamp", "border", "wrap", "mirror"):
    for filtered in ("point", "linear"):
        normalized = mode in ("wrap", "mirror")
        options = TextureObjectOptions(
            address_mode=mode, filter_mode=filtered, normalized_coords=normalized, border_color=(5.0, 0, 0, 0)
        )
        texture = device.create_texture_object(resource=resource, options=options)
        print(
            mode,
            filtered,
            show(
                sample,
                np.uint64(texture.handle),
                out,
                np.float32(0.125 if normalized else 1),
                np.float32(-0.2 if normalized else -1.25),
            ),
        )
        texture.close()
surface = device.create_surface_object(resource=resource)
launch(stream, LaunchConfig(grid=1, block=8), draw, np.uint64(surface.handle))
back = host.allocate(4 * 32)
array.copy_to(back, stream=stream)
stream.sync()
print(np.from_dlpack(back).view(np.float32)[8:17].tolist(), surface.resource is resource)
levels = device.create_mipmapped_array(
    MipmappedArrayOptions(shape=(8, 4), format=np.dtype("float32"), num_channels=1, num_levels=3)
)
for number in range(levels.num_levels):
    one = levels.get_level(number)
    filled = host.allocate(one.size_bytes)
    np.from_dlpack(filled).view(np.float32)[:] = 10 * number
    one.copy_from(filled, stream=stream)
    print(number, one.shape)
stream.sync()
pyramid = ResourceDescriptor.from_mipmapped_array(levels)
texture = device.create_texture_object(
    resource=pyramid,
    options=TextureObjectOptions(normalized_coords=True, mipmap_filter_mode="linear", max_mipmap_level_clamp=2),
)
print([show(level, np.uint64(texture.handle), out, np.float32(lod), threads=2) for lod in (0, 0.5, 1, 1.75, 5)])
linear = device.allocate(4 * 12, stream=stream)
linear.fill(np.float32(2.5).tobytes(), stream=stream)
lines = ResourceDescriptor.from_linear(linear, format="float32", num_channels=1)
of_row = device.create_texture_object(resource=lines)
print(lines.kind, lines.size_bytes, lines.format, show(row, np.uint64(of_row.handle), out))
pitched = device.allocate(512 * 2, stream=stream)
pitched.fill(51, stream=stream)
rows = ResourceDescriptor.from_pitch2d(pitched, format="uint8", num_channels=1, width=16, height=2, pitch_bytes=512)
print(rows.kind, rows.width, rows.height, rows.pitch_bytes)
of_rows = device.create_texture_object(resource=rows, options=TextureObjectOptions(read_mode="normalized_float"))
print(show(byte, np.uint64(of_rows.handle), out, threads=3))
for wrong in (
    lambda: device.create_texture_object(resource=rows, options=TextureObjectOptions(filter_mode="none")),
    lambda: device.create_texture_object(resource=5),
    lambda: device.create_surface_object(resource=pyramid),
    lambda: OpaqueArrayOptions(shape=(0,), format="float32", num_channels=1),
    lambda: OpaqueArrayOptions(shape=(8,), format="float64", num_channels=1),
    lambda: OpaqueArrayOptions(shape=(8,), format="float32", num_channels=3),
    lambda: ResourceDescriptor.from_linear(linear, format="float32", num_channels=1, size_bytes=1 << 20),
    lambda: levels.get_level(3),
    lambda: TextureObjectOptions(address_mode=("wrap", "x")),
    lambda: device.create_texture_object(resource=resource, options=TextureObjectOptions(border_color=(1, 2))),
):
    try:
        print("taken", type(wrong()).__name__)
    except Exception as error:
        print(
            [
                kind.__name__
                for kind in type(error).__mro__
                if kind in (ValueError, TypeError, RuntimeError, IndexError) or kind.__name__ == "CUDAError"
            ][:1]
        )
