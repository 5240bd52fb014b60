"""Arrays, textures and surfaces. What is compared exactly needs no more than the 9 bits a GPU filters with."""

import ctypes
import gc
import time
import weakref

import numpy as np
import pytest
from conftest import compile_cubin, launch_on_arrays

import cucore
from cucore import texture
from cucore.texture import (
    MipmappedArrayOptions,
    OpaqueArrayOptions,
    ResourceDescriptor,
    TextureObjectOptions,
)
from cucore.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

KERNELS = """
extern "C" __global__ void sample_1d(cudaTextureObject_t t, const float* x, float* out) {
  out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}
extern "C" __global__ void sample(cudaTextureObject_t t, const float* x, const float* y, float* out) {
  out[threadIdx.x] = tex2D<float>(t, x[threadIdx.x], y[threadIdx.x]);
}
extern "C" __global__ void sample_3d(cudaTextureObject_t t, const float* z, float* out) {
  out[threadIdx.x] = tex3D<float>(t, 1.5f, 0.5f, z[threadIdx.x]);
}
extern "C" __global__ void sample_bytes(cudaTextureObject_t t, unsigned* out) {
  const uchar4 v = tex2D<uchar4>(t, 1, 1);
  out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
}
extern "C" __global__ void sample_fractions(cudaTextureObject_t t, float* out) {
  const float4 v = tex2D<float4>(t, 1, 1);
  out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
}
extern "C" __global__ void fetch(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
extern "C" __global__ void sample_level(cudaTextureObject_t t, const float* level, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, level[threadIdx.x]);
}
extern "C" __global__ void paint(cudaSurfaceObject_t s) {
  surf2Dwrite(10.0f * threadIdx.y + threadIdx.x, s, threadIdx.x * 4, threadIdx.y);
}
"""


@pytest.fixture(scope="module")
def code():
    return compile_cubin(KERNELS)


@pytest.fixture
def image(device, stream):
    """8 wide, 4 high, the element at (x, y) is 10 y + x."""
    array = device.create_opaque_array(OpaqueArrayOptions((8, 4), "float32", 1, is_surface_load_store=True))
    array.copy_from(ramp(8, 4), stream=stream)
    return array


def ramp(width, height):
    return (10 * np.arange(height)[:, None] + np.arange(width)).astype(np.float32)


def texture_of(device, source, **options):
    return device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(source), options=options)


def run(code, stream, name, *arguments, count, dtype=np.float32):
    config = cucore.LaunchConfig(grid=1, block=count)
    return launch_on_arrays(stream, config, code.get_kernel(name), *arguments, np.zeros(count, dtype))[-1]


def page_locked(count):
    """Memory whose copies are asynchronous on every driver, and can be captured."""
    buffer = cucore.LegacyPinnedMemoryResource().allocate(4 * count)
    return np.frombuffer(memoryview(buffer), np.float32)


def read_back(array, stream):
    out = np.empty(array.shape[::-1], np.float32)
    assert array.copy_to(out, stream=stream) is out
    stream.sync()
    return out


@pytest.mark.parametrize("shape", [(8,), (8, 4), (8, 4, 3)])
def test_an_array_tells_what_it_is_and_gives_back_what_was_put_in(device, stream, shape):
    array = device.create_opaque_array(OpaqueArrayOptions(shape, np.float32, 2))
    assert (array.shape, array.format, array.num_channels) == (shape, ArrayFormatType.FLOAT32, 2)
    assert (array.element_bytes, array.size_bytes) == (8, 8 * int(np.prod(shape)))
    assert array.device is device and not array.is_surface_load_store and type(array.handle) is int
    values = np.random.default_rng(1).random((*shape[::-1], 2), np.float32)
    array.copy_from(values, stream=stream)
    out = np.empty_like(values)
    array.copy_to(out, stream=stream)
    stream.sync()
    assert np.array_equal(out, values)


@pytest.mark.parametrize("name", [member.value for member in ArrayFormatType])
def test_every_format_by_its_name_its_member_and_its_dtype(device, stream, name):
    for form in (name, ArrayFormatType(name), np.dtype(name), getattr(np, name)):
        assert OpaqueArrayOptions((4,), form, 1).format is ArrayFormatType(name)
    array = device.create_opaque_array({"shape": (5,), "format": name, "num_channels": 4})
    assert array.element_bytes == 4 * np.dtype(name).itemsize
    values = np.arange(20).astype(name)
    array.copy_from(values, stream=stream)
    out = np.empty_like(values)
    array.copy_to(out, stream=stream)
    stream.sync()
    assert np.array_equal(out, values)


@pytest.mark.parametrize("kind", ["device", "pinned", "pageable"])
def test_copies_take_buffers_of_every_kind_of_memory(device, stream, image, kind):
    host = np.zeros((4, 8), np.float32)
    if kind == "device":
        buffer = device.allocate(200, stream=stream)  # more than it takes
    elif kind == "pinned":
        buffer = cucore.LegacyPinnedMemoryResource().allocate(200)
    else:
        buffer = cucore.Buffer.from_handle(host.ctypes.data, host.nbytes, owner=host)
    assert image.copy_to(buffer, stream=stream) is buffer
    again = device.create_opaque_array(OpaqueArrayOptions((8, 4), "float32", 1))
    again.copy_from(buffer, stream=stream)
    assert np.array_equal(read_back(again, stream), ramp(8, 4))
    with pytest.raises(ValueError, match="smaller"):
        image.copy_from(cucore.Buffer.from_handle(host.ctypes.data, 127), stream=stream)


def test_copies_check_the_other_side(image, stream):
    with pytest.raises(ValueError, match="smaller"):
        image.copy_from(bytes(127), stream=stream)
    with pytest.raises(ValueError, match="contiguous"):
        image.copy_from(np.zeros(100, np.float32)[::2], stream=stream)
    with pytest.raises(TypeError, match="src must be a Buffer"):
        image.copy_from(3, stream=stream)
    with pytest.raises(BufferError, match="not writable"):
        image.copy_to(bytes(128), stream=stream)
    with pytest.raises(TypeError, match="stream"):
        image.copy_from(bytes(128), stream=None)
    with pytest.raises(TypeError):
        image.copy_to(bytearray(128))


def test_the_memory_of_a_copy_is_kept_until_the_copy_has_happened(device, image, recwarn):
    gc.collect()  # of earlier tests: what frees page-locked memory waits for the device, which the gate keeps
    stream, first = device.create_stream(), device.create_stream()
    gate = cucore.LegacyPinnedMemoryResource().allocate(4)
    gate.fill(0, stream=first)
    first.sync()
    stream.wait_value(gate, 1)
    values = page_locked(32).reshape(4, 8)
    values[:] = 3
    watch = weakref.ref(values)
    image.copy_from(values, stream=stream)
    del values
    gc.collect()
    kept = watch() is not None
    first.write_value(gate, 1)
    stream.sync()
    assert kept
    assert read_back(image, stream)[0, 0] == 3
    for _ in range(1000):  # dropped by this thread, some time after the driver has said so
        if watch() is None:
            break
        time.sleep(0.001)
    assert watch() is None
    assert not recwarn.list  # its end may call CUDA, as that of page-locked memory does


def test_points_and_addresses_outside(device, stream, code, image):
    x = np.array([0.5, 7.5, 8.5, -0.5, 3.5], np.float32)
    y = np.full(5, 1.5, np.float32)

    def sampled(**options):
        return run(code, stream, "sample", texture_of(device, image, **options), x, y, count=5).tolist()

    assert sampled() == [10, 17, 17, 10, 13]
    assert sampled(address_mode="border", border_color=(5, 0, 0, 0)) == [10, 17, 5, 5, 13]
    x /= 8
    y /= 4
    normalized = {"normalized_coords": True}
    assert sampled(address_mode=AddressModeType.WRAP, **normalized) == [10, 17, 10, 17, 13]
    assert sampled(address_mode=("mirror", "clamp"), **normalized) == [10, 17, 17, 10, 13]


def test_the_last_address_mode_is_for_the_axes_after_it(device, stream, code, image):
    x = np.array([8.5 / 8, 0.5 / 8], np.float32)
    y = np.array([0.5 / 4, 4.5 / 4], np.float32)

    def sampled(mode):
        made = texture_of(device, image, address_mode=mode, normalized_coords=True)
        return run(code, stream, "sample", made, x, y, count=2).tolist()

    assert sampled(["wrap"]) == sampled("wrap") == [0, 0]
    assert sampled(["wrap", "clamp"]) == [0, 30]
    assert sampled(["clamp", "wrap"]) == [7, 0]


def test_linear_filtering_is_a_mean_by_distance(device, stream, code, image):
    made = texture_of(device, image, filter_mode=FilterModeType.LINEAR)
    x = np.array([1.0, 1.25, 2.5], np.float32)
    y = np.array([0.5, 1.0, 2.25], np.float32)
    assert run(code, stream, "sample", made, x, y, count=3).tolist() == [0.5, 5.75, 19.5]


def test_one_and_three_dimensions(device, stream, code):
    row = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
    row.copy_from(np.array([1, 2, 4, 8], np.float32), stream=stream)
    made = texture_of(device, row, filter_mode="linear")
    assert run(code, stream, "sample_1d", made, np.array([0.5, 1.0, 3.0], np.float32), count=3).tolist() == [1, 1.5, 6]
    solid = device.create_opaque_array(OpaqueArrayOptions((2, 2, 3), "float32", 1))
    solid.copy_from(np.arange(12, dtype=np.float32), stream=stream)
    made = texture_of(device, solid)
    assert run(code, stream, "sample_3d", made, np.array([0.5, 1.5, 9], np.float32), count=3).tolist() == [1, 5, 9]


def test_integers_are_read_as_they_are_or_as_fractions(device, stream, code):
    array = device.create_opaque_array(OpaqueArrayOptions((2, 2), "uint8", 4))
    pixels = np.arange(16, dtype=np.uint8)
    pixels[12:] = [0, 51, 102, 255]
    array.copy_from(pixels, stream=stream)
    plain = texture_of(device, array)
    assert run(code, stream, "sample_bytes", plain, count=4, dtype=np.uint32).tolist() == [0, 51, 102, 255]
    fractions = texture_of(device, array, read_mode=ReadModeType.NORMALIZED_FLOAT)
    found = run(code, stream, "sample_fractions", fractions, count=4)
    assert np.allclose(found, [0, 0.2, 0.4, 1], atol=1e-6)
    linear = texture_of(device, array, read_mode="normalized_float", srgb=True)
    found = run(code, stream, "sample_fractions", linear, count=4)
    assert found[1] == pytest.approx(((0.2 + 0.055) / 1.055) ** 2.4, abs=0.01) and found[3] == 1


def test_linear_memory_is_fetched_by_index(device, stream, code):
    values = np.arange(64, dtype=np.float32)
    buffer = device.allocate(256, stream=stream)
    buffer.copy_from(cucore.Buffer.from_handle(values.ctypes.data, 256), stream=stream)
    all_of_it = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
    assert (all_of_it.kind, all_of_it.size_bytes, all_of_it.format) == ("linear", 256, ArrayFormatType.FLOAT32)
    assert all_of_it.num_channels == 1 and all_of_it.source is buffer
    assert (all_of_it.width, all_of_it.height, all_of_it.pitch_bytes) == (None, None, None)
    part = ResourceDescriptor.from_linear(buffer, format=np.float32, num_channels=1, size_bytes=8)
    # Addressing and filtering do not count.
    made = device.create_texture_object(resource=part, options={"filter_mode": "linear", "address_mode": "wrap"})
    assert run(code, stream, "fetch", made, count=4).tolist() == [0, 1, 0, 0]
    made = device.create_texture_object(resource=all_of_it)
    assert run(code, stream, "fetch", made, count=4).tolist() == [0, 1, 2, 3]


def test_pitched_memory_is_sampled_in_two_dimensions(device, stream, code):
    values = np.zeros((4, 128), np.float32)
    values[:, :8] = ramp(8, 4)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(cucore.Buffer.from_handle(values.ctypes.data, values.nbytes), stream=stream)
    rows = ResourceDescriptor.from_pitch2d(buffer, format="float32", num_channels=1, width=8, height=4, pitch_bytes=512)
    assert (rows.kind, rows.width, rows.height, rows.pitch_bytes, rows.size_bytes) == ("pitch2d", 8, 4, 512, None)
    made = device.create_texture_object(resource=rows, options={"filter_mode": "linear"})
    x, y = np.array([1.0, 9.5], np.float32), np.array([1.0, 3.5], np.float32)
    assert run(code, stream, "sample", made, x, y, count=2).tolist() == [5.5, 37]


def test_descriptors_of_buffers_are_checked(device, stream):
    buffer = device.allocate(4096, stream=stream)
    floats = {"format": "float32", "num_channels": 1}
    for size, words in ((0, "at least 1"), (2, "less than"), (6, "multiple"), (5000, "more than")):
        with pytest.raises(ValueError, match=words):
            ResourceDescriptor.from_linear(buffer, size_bytes=size, **floats)
    for width, height, pitch, words in (
        (0, 4, 512, "width"),
        (4, 0, 512, "height"),
        (200, 4, 512, "less than a row"),
        (16, 9, 512, "more than"),
        (2**62, 4, 512, "less than a row"),
        (1, 2**60, 512, "more than"),
    ):
        with pytest.raises(ValueError, match=words):
            ResourceDescriptor.from_pitch2d(buffer, width=width, height=height, pitch_bytes=pitch, **floats)
    with pytest.raises(ValueError, match="num_channels"):
        ResourceDescriptor.from_linear(buffer, format="float32", num_channels=3)
    with pytest.raises(ValueError, match="float64"):
        ResourceDescriptor.from_linear(buffer, format=np.float64, num_channels=1)
    for factory in (ResourceDescriptor.from_opaque_array, ResourceDescriptor.from_mipmapped_array):
        with pytest.raises(TypeError, match="not Buffer"):
            factory(buffer)
    with pytest.raises(TypeError, match="must be a Buffer"):
        ResourceDescriptor.from_linear(b"abcd", **floats)
    unaligned = ResourceDescriptor.from_pitch2d(buffer, width=1, height=2, pitch_bytes=6, **floats)
    with pytest.raises(cucore.CUDAError, match="texture_pitch_alignment"):
        device.create_texture_object(resource=unaligned)


def test_the_levels_of_a_mipmapped_array(device, stream, code):
    array = device.create_mipmapped_array(MipmappedArrayOptions((8, 4), "float32", 1, 4, is_surface_load_store=True))
    assert (array.shape, array.num_levels, array.num_channels) == ((8, 4), 4, 1)
    assert array.device is device and array.is_surface_load_store and array.format == "float32"
    levels = [array.get_level(i) for i in range(4)]
    assert [level.shape for level in levels] == [(8, 4), (4, 2), (2, 1), (1, 1)]
    assert levels[1].is_surface_load_store and array.get_level(0) == levels[0] != levels[1]
    for i, level in enumerate(levels):
        level.copy_from(np.full(level.shape, 10 * i, np.float32), stream=stream)
    for wrong in (-1, 4, 2**70):
        with pytest.raises(ValueError, match="0 to 3"):
            array.get_level(wrong)
    resource = ResourceDescriptor.from_mipmapped_array(array)
    assert resource.kind == "mipmapped_array" and resource.source is array and resource.format is None
    options = TextureObjectOptions(normalized_coords=True, max_mipmap_level_clamp=3)
    made = device.create_texture_object(resource=resource, options=options)
    which = np.array([0, 1, 2, 3, 9], np.float32)
    assert run(code, stream, "sample_level", made, which, count=5).tolist() == [0, 10, 20, 30, 30]
    options = TextureObjectOptions(
        normalized_coords=True, mipmap_filter_mode="linear", mipmap_level_bias=0.5, max_mipmap_level_clamp=3
    )
    made = device.create_texture_object(resource=resource, options=options)
    assert run(code, stream, "sample_level", made, np.array([0, 1.25], np.float32), count=2).tolist() == [5, 17.5]
    more = device.create_mipmapped_array(MipmappedArrayOptions((8, 4), "float32", 1, 5))
    assert more.num_levels == 5 and more.get_level(3).shape == (1, 1)
    with pytest.raises(cucore.CUDAError):  # the driver makes no more than there can be
        more.get_level(4)


def test_a_surface_writes_what_a_texture_reads(device, stream, code, image):
    surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(image))
    image.copy_from(np.zeros((4, 8), np.float32), stream=stream)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=(8, 4)), code.get_kernel("paint"), surface)
    assert np.array_equal(read_back(image, stream), ramp(8, 4))
    assert surface.device is device and surface.resource.source is image
    level = device.create_mipmapped_array(
        MipmappedArrayOptions((16, 8), "float32", 1, 2, is_surface_load_store=True)
    ).get_level(1)
    surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(level))
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=(8, 4)), code.get_kernel("paint"), surface.handle)
    assert np.array_equal(read_back(level, stream), ramp(8, 4))


def test_surfaces_are_of_arrays_made_for_them(device, stream):
    plain = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
    with pytest.raises(ValueError, match="is_surface_load_store"):
        device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(plain))
    buffer = device.allocate(4096, stream=stream)
    linear = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
    with pytest.raises(ValueError, match="a surface is of an OpaqueArray"):
        device.create_surface_object(resource=linear)
    for create in (device.create_surface_object, device.create_texture_object):
        with pytest.raises(TypeError, match="ResourceDescriptor"):
            create(resource=plain)


def test_options_of_arrays_are_checked(device):
    for shape, error in (((0,), ValueError), ((), ValueError), ((1, 2, 3, 4), ValueError), (4, TypeError)):
        with pytest.raises(error, match="shape"):
            OpaqueArrayOptions(shape, "float32", 1)
    assert OpaqueArrayOptions([4, 2], "float32", 1).shape == (4, 2)
    for form in ("float64", np.float64, np.dtype(">f4"), 3, None):
        with pytest.raises(ValueError, match="'uint8', 'uint16'"):
            OpaqueArrayOptions((4,), form, 1)
    for channels in (0, 3, True, "1"):
        with pytest.raises(ValueError, match="num_channels"):
            OpaqueArrayOptions((4,), "float32", channels)
    with pytest.raises(ValueError, match="num_levels"):
        MipmappedArrayOptions((4,), "float32", 1, 0)
    with pytest.raises(TypeError):
        device.create_opaque_array({"shape": (4,)})
    for create in (device.create_opaque_array, device.create_mipmapped_array):
        for wrong in (None, "float32"):
            with pytest.raises(TypeError, match="options must be"):
                create(wrong)
    with pytest.raises(cucore.CUDAError, match="cuArray3DCreate.*shape"):
        device.create_opaque_array(OpaqueArrayOptions((1 << 30, 1 << 30), "float32", 4))


def test_options_of_textures_are_checked(device, image):
    for name in ("filter_mode", "read_mode", "mipmap_filter_mode"):
        with pytest.raises(ValueError, match=f"{name} 'nearest'"):
            TextureObjectOptions(**{name: "nearest"})
    for options, error, words in (
        ({"address_mode": "x"}, ValueError, "'wrap', 'clamp'"),
        ({"address_mode": ()}, ValueError, "1 to 3"),
        ({"address_mode": ["wrap"] * 4}, ValueError, "1 to 3"),
        ({"address_mode": 3}, TypeError, "address_mode"),
        ({"border_color": (1, 2, 3)}, ValueError, "four"),
        ({"border_color": 3}, TypeError, "iterable"),
        ({"max_anisotropy": -1}, ValueError, "max_anisotropy"),
        ({"seamless_cubemap": True}, ValueError, "cubemap"),
    ):
        with pytest.raises(error, match=words):
            texture_of(device, image, **options)
    made = texture_of(device, image)
    assert made.options == TextureObjectOptions() and made.device is device and made.resource.kind == "array"
    for wrong in ("linear", 3):
        with pytest.raises(TypeError, match="TextureObjectOptions"):
            device.create_texture_object(resource=made.resource, options=wrong)


def test_what_uses_memory_keeps_it(device, stream, code):
    before = cucore.debug.live_handles()
    array = device.create_opaque_array(OpaqueArrayOptions((8, 4), "float32", 1))
    array.copy_from(ramp(8, 4), stream=stream)
    made = texture_of(device, array)
    array.close()
    assert array.handle == 0 and array.is_closed and array
    assert (array.shape, array.size_bytes, array.device) == ((8, 4), 128, device)
    half = np.array([0.5], np.float32)
    assert run(code, stream, "sample", made, half + 2, half, count=1).tolist() == [2]
    with pytest.raises(RuntimeError, match="has been closed"):
        array.copy_from(bytes(128), stream=stream)
    with pytest.raises(RuntimeError, match="has been closed"):
        ResourceDescriptor.from_opaque_array(array)
    with pytest.raises(RuntimeError, match="has been closed"):
        device.create_texture_object(resource=made.resource)
    levels = device.create_mipmapped_array(MipmappedArrayOptions((4, 4), "float32", 1, 3))
    level = levels.get_level(2)
    levels.close()
    level.copy_from(bytes(4), stream=stream)
    with pytest.raises(RuntimeError, match="has been closed"):
        levels.get_level(0)
    buffer = device.allocate(512, stream=stream)
    linear = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
    fetching = device.create_texture_object(resource=linear)
    buffer.close()
    run(code, stream, "fetch", fetching, count=4)
    made.close()
    made.close()
    assert (made.handle, made.resource) == (0, None) and made.options == TextureObjectOptions()
    with pytest.raises(RuntimeError, match="has been closed"):
        run(code, stream, "sample", made, half, half, count=1)
    del level, levels, linear, fetching, made, array, buffer
    gc.collect()
    after = cucore.debug.live_handles()
    assert all(after[kind] == before[kind] for kind in ("Array", "TextureObject", "SurfaceObject"))


def test_objects_follow_the_rules_of_all_owners(device, image):
    resource = ResourceDescriptor.from_opaque_array(image)
    with device.create_texture_object(resource=resource) as made:
        assert made and hash(made) == hash(made) and made == made
        assert weakref.ref(made)() is made and weakref.ref(resource)() is resource
        assert "TextureObject(handle=0x" in repr(made)
    assert made.is_closed and repr(made) == "TextureObject(handle=0x0)"
    with pytest.raises(RuntimeError, match="has been closed"):
        made.__enter__()
    assert repr(image) == "OpaqueArray(shape=(8, 4), format=FLOAT32, num_channels=1)" and "kind=" in repr(resource)
    for name in ("OpaqueArray", "MipmappedArray", "ResourceDescriptor", "TextureObject", "SurfaceObject"):
        cls = getattr(texture, name)
        assert cls.__module__ == "cucore.texture"
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            cls()


def test_options_that_lead_back_to_the_texture_are_collected(device, image):
    class Options(TextureObjectOptions):
        pass

    options = Options()
    made = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(image), options=options)
    options.back = made
    watch = weakref.ref(made)
    del options, made
    gc.collect()
    assert watch() is None


def test_arrays_are_made_in_the_devices_context_whatever_is_current(device, stream):
    context = device.context
    cucore._core._set_no_context()
    try:
        array = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
        assert cucore._core._current_context() is None
        array.copy_from(np.ones(4, np.float32), stream=cucore.LEGACY_DEFAULT_STREAM)
        array.close()
        assert cucore._core._current_context() is None
    finally:
        device.set_current(context)


def test_copies_can_be_captured(device):
    """With the driver's own calls: the copy is in the graph, and runs when that does."""
    driver = ctypes.CDLL(cucore.driver_info().path)
    stream = device.create_stream()
    handle = ctypes.c_void_p(int(stream.handle))
    array = device.create_opaque_array(OpaqueArrayOptions((4,), "float32", 1))
    array.copy_from(np.zeros(4, np.float32), stream=stream)
    values = page_locked(4)
    values[:] = np.arange(4)
    stream.sync()
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuStreamBeginCapture_v2(handle, 0) == 0
    array.copy_from(values, stream=stream)
    assert driver.cuStreamEndCapture(handle, ctypes.byref(graph)) == 0
    assert read_back(array, stream).tolist() == [0, 0, 0, 0]
    assert driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)) == 0
    values += 1
    assert driver.cuGraphLaunch(executable, handle) == 0
    assert read_back(array, stream).tolist() == [1, 2, 3, 4]
    driver.cuGraphExecDestroy(executable)
    driver.cuGraphDestroy(graph)
