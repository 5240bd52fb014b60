"""TensorMapDescriptor: what it is made from, what is refused, and copies (TMA) by one that is a kernel's argument."""

import gc
import weakref

import numpy as np
import pytest
from conftest import compile_cubin

import cucore
from cucore import (
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapInterleave,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from cucore.utils import StridedMemoryView

# Copies the box of 4 lines of 8 at (x, y) of the tensor to `out`.
BOX = r"""
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void box(const __grid_constant__ Map map, float* out, int x, int y) {
  __shared__ __align__(128) float cells[32];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(cells), bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(bar));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(at), "l"(&map), "r"(x), "r"(y), "r"(bar) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}"
               ::"r"(bar) : "memory");
  out[threadIdx.x] = cells[threadIdx.x];
}
"""
SHAPE = (16, 64)


@pytest.fixture
def memory(device, pinned):
    if device.compute_capability < (9, 0):
        pytest.skip("tensor maps need compute capability 9.0")
    return pinned.allocate(4 * 16 * 64)


@pytest.fixture
def view(memory):
    made = StridedMemoryView.from_buffer(memory, SHAPE, dtype=np.dtype("f4"))
    np.from_dlpack(made)[:] = np.arange(16 * 64).reshape(SHAPE)
    return made


def copied(stream, pinned, descriptor, x, y):
    out = pinned.allocate(128)
    kernel = compile_cubin(BOX).get_kernel("box")
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=32), kernel, descriptor, out, x, y)
    stream.sync()
    return np.frombuffer(memoryview(out), np.float32)[:32].reshape(4, 8).copy()


def test_a_kernel_copies_boxes_by_a_descriptor_and_elsewhere_once_the_address_is_replaced(stream, pinned, view):
    tensor = np.from_dlpack(view)
    descriptor = view.as_tensor_map((4, 8))
    np.testing.assert_array_equal(copied(stream, pinned, descriptor, 16, 3), tensor[3:7, 16:24])
    outside = copied(stream, pinned, descriptor, 60, 14)
    np.testing.assert_array_equal(outside[:2, :4], tensor[14:, 60:])
    assert not outside[2:].any() and not outside[:, 4:].any()

    other = StridedMemoryView.from_buffer(pinned.allocate(4 * 16 * 64), SHAPE, dtype=np.dtype("f4"))
    np.from_dlpack(other)[:] = 5
    descriptor.replace_address(other)
    assert (copied(stream, pinned, descriptor, 16, 3) == 5).all()


def test_a_descriptor_of_a_part_begins_there_and_fills_with_what_is_asked_for(stream, pinned, view):
    part = view.view(view._layout[2:, 32:])
    descriptor = part.as_tensor_map((4, 8), oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA)
    np.testing.assert_array_equal(copied(stream, pinned, descriptor, 8, 1), np.from_dlpack(view)[3:7, 40:48])
    assert np.isnan(copied(stream, pinned, descriptor, 32, 0)).all()


def test_a_descriptor_says_what_it_is(device, view):
    descriptor = view.as_tensor_map((4, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    assert repr(descriptor) == "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
    assert descriptor.device == device
    options = TensorMapDescriptorOptions((4, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    for same in (options, {"box_dim": (4, 32), "swizzle": TensorMapSwizzle.SWIZZLE_128B}):
        assert view.as_tensor_map(options=same).__kernel_argument__() == descriptor.__kernel_argument__()
    for given in (TensorMapDataType.INT32, np.dtype("i4"), "int32"):
        assert "dtype=INT32" in repr(view.as_tensor_map((4, 8), data_type=given))


def test_a_map_over_bytes_counts_elements_of_its_data_type(stream, pinned, memory, view):
    tensor = np.from_dlpack(view)
    plain = StridedMemoryView.from_any_interface(memory, -1)
    assert plain.shape == (4096,)
    flat = plain.as_tensor_map(box_dim=(64,), data_type=TensorMapDataType.FLOAT32)
    assert repr(flat) == "TensorMapDescriptor(tiled, rank=1, dtype=FLOAT32, swizzle=NONE)"
    typed = StridedMemoryView.from_buffer(memory, (1024,), dtype=np.dtype("f4"))
    same = typed.as_tensor_map((64,)).__kernel_argument__()
    options = TensorMapDescriptorOptions(box_dim=(64,), data_type="f4")
    assert options.data_type == np.float32
    assert flat.__kernel_argument__() == same  # no element lies beyond the memory
    assert plain.as_tensor_map(options=options).__kernel_argument__() == same
    assert plain.as_tensor_map(options={"box_dim": [64], "data_type": np.float32}).__kernel_argument__() == same

    for bytes_of in ({"dtype": np.dtype("u1")}, {"itemsize": 1}):
        rows = StridedMemoryView.from_buffer(memory, SHAPE, **bytes_of)
        descriptor = rows.as_tensor_map((4, 8), data_type=np.float32)
        np.testing.assert_array_equal(copied(stream, pinned, descriptor, 16, 3), tensor[3:7, 16:24])
    longer = StridedMemoryView.from_buffer(memory, (32, 64), (64, 1), dtype=np.dtype("u1"))
    outside = copied(stream, pinned, longer.as_tensor_map((4, 8), data_type=np.float32), 0, 14)
    np.testing.assert_array_equal(outside[:2], tensor[14:, :8])
    assert not outside[2:].any()


def test_a_map_over_bytes_whose_rows_are_longer_than_the_memory_is_refused(memory):
    wide = StridedMemoryView.from_buffer(memory, (1, 4096), dtype=np.dtype("u1"))
    with pytest.raises(ValueError, match="needs 16384 bytes"):
        wide.as_tensor_map((1, 16), data_type=np.float32)


def test_a_map_over_bytes_takes_the_address_of_a_buffer(device, stream, pinned, memory, view):
    descriptor = view.as_tensor_map((4, 8))
    other = pinned.allocate(4 * 16 * 64)
    np.from_dlpack(StridedMemoryView.from_buffer(other, SHAPE, dtype=np.dtype("f4")))[:] = 7
    descriptor.replace_address(other)
    assert (copied(stream, pinned, descriptor, 0, 0) == 7).all() and descriptor.device == device
    with pytest.raises(BufferError):
        descriptor.replace_address(None)


def test_options_may_be_beside_choices_that_choose_nothing(view):
    assert view.as_tensor_map(options={"box_dim": (4, 8)}, swizzle=TensorMapSwizzle.NONE)
    with pytest.raises(TypeError, match="not both"):
        view.as_tensor_map(options={"box_dim": (4, 8)}, swizzle=TensorMapSwizzle.SWIZZLE_32B)


def test_a_descriptor_keeps_the_memory_it_is_of_and_lets_it_go_for_another(view, pinned):
    def made():
        buffer = pinned.allocate(4 * 16 * 64)
        return weakref.ref(buffer), StridedMemoryView.from_buffer(buffer, SHAPE, dtype=np.dtype("f4"))

    alive, own = made()
    descriptor = own.as_tensor_map((4, 8))
    del own
    gc.collect()
    assert alive() is not None
    descriptor.replace_address(view)
    gc.collect()
    assert alive() is None


def test_columns_of_pixels_have_a_descriptor_too(memory):
    pixels = StridedMemoryView.from_buffer(memory, (2, 8, 16), dtype=np.dtype("f4"))
    assert repr(TensorMapDescriptor.im2col(pixels, (0,), (0,), 16, 4)).startswith("TensorMapDescriptor(im2col, rank=3")
    with pytest.raises(ValueError, match="pixel_box_lower_corner must have 1 elements, not 2"):
        TensorMapDescriptor.im2col(pixels, (0, 0), (0,), 16, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, TypeError, "needs box_dim or options"),
        ({"box_dim": (4, 8), "options": {"box_dim": (4, 8)}}, TypeError, "not both"),
        ({"box_dim": (4, 8.0)}, TypeError, r"box_dim\[1\] must be an int"),
        ({"box_dim": (4, 8), "swizzle": TensorMapInterleave.NONE}, TypeError, "must be a TensorMapSwizzle"),
        ({"box_dim": (4, 8), "swizzle": 1}, TypeError, "must be a TensorMapSwizzle"),
        ({"box_dim": (4, 8), "data_type": "i1"}, ValueError, "no elements of dtype int8"),
        ({"box_dim": (4, 8), "data_type": "f8"}, ValueError, "elements of 4 bytes"),
        ({"box_dim": (4,)}, ValueError, "box_dim must have 2 elements, not 1"),
        ({"box_dim": (4, 257)}, ValueError, "from 1 to 256, not 257"),
    ],
)
def test_what_cannot_be_a_tensor_map_is_refused(view, arguments, error, words):
    with pytest.raises(error, match=words):
        view.as_tensor_map(**arguments)


def test_memory_that_a_map_cannot_be_of_is_refused(view, memory):
    with pytest.raises(ValueError, match="not accessible from a device"):
        StridedMemoryView.from_dlpack(np.zeros((4, 8), np.float32), -1).as_tensor_map((4, 8))
    with pytest.raises(ValueError, match="give data_type"):
        StridedMemoryView.from_buffer(memory, SHAPE, itemsize=4).as_tensor_map((4, 8))
    aside = view.view(view._layout[:, 1:])
    with pytest.raises(ValueError, match="aligned to 16 bytes"):
        aside.as_tensor_map((4, 8))
    descriptor = view.as_tensor_map((4, 8))
    before = descriptor.__kernel_argument__()
    with pytest.raises(ValueError, match="aligned to 16 bytes"):
        descriptor.replace_address(aside)
    assert descriptor.__kernel_argument__() == before


def test_a_descriptor_is_made_by_views_only():
    with pytest.raises(RuntimeError, match="as_tensor_map"):
        TensorMapDescriptor()


def test_wide_columns_are_encoded(memory):
    from cucore._tensor_map import TensorMapIm2ColWideMode

    pixels = StridedMemoryView.from_buffer(memory, (2, 8, 64), dtype=np.dtype("f4"))
    for mode in TensorMapIm2ColWideMode:
        # Also where no kernel has a use for them, as on an H100.
        made = TensorMapDescriptor._from_im2col_wide(pixels, 0, 0, 16, 4, mode=mode)
        assert repr(made).startswith("TensorMapDescriptor(im2col_wide, rank=3")
    with pytest.raises(TypeError, match="mode"):
        TensorMapDescriptor._from_im2col_wide(pixels, 0, 0, 16, 4, mode=5)
    for wrong in ((0, 0, 999, 4), (0, 0, 16, 0), (2**40, 0, 16, 4)):
        with pytest.raises(ValueError):
            TensorMapDescriptor._from_im2col_wide(pixels, *wrong)
