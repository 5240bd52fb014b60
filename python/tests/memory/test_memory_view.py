"""StridedMemoryView: views of NumPy arrays, of buffers and of what has __cuda_array_interface__, and their exports."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from conftest import compile_cubin

import cucore
from cucore.utils import StridedMemoryView, args_viewable_as_strided_memory

SUM_ROWS = """
extern "C" __global__ void sum_rows(const float* from, long long row, long long column, int columns, float* out) {
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += from[threadIdx.x * row + i * column];
  out[threadIdx.x] = sum;
}
"""


class CudaArray:
    """What has nothing but __cuda_array_interface__."""

    def __init__(self, buffer, shape=(2, 3), **fields):
        described = {"version": 3, "shape": shape, "typestr": "<f4", "data": (int(buffer.handle), False)}
        self.__cuda_array_interface__ = described | fields


class Tensor:
    """What PyTorch's tensors show: both protocols, strides spelt out, and nothing while gradients are recorded."""

    def __init__(self, buffer, shape=(2, 3), requires_grad=False, **fields):
        self.interface, self.requires_grad = CudaArray(buffer, shape, version=2, **fields), requires_grad
        self.buffer, self.shape = buffer, shape

    def detach(self):
        strides = self.interface.__cuda_array_interface__.get("strides")
        fields = {} if strides is None else {"strides": strides}
        return Tensor(self.buffer, self.shape, **fields)

    @property
    def __cuda_array_interface__(self):
        if self.requires_grad:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad")
        return self.interface.__cuda_array_interface__

    def __dlpack_device__(self):
        return self.buffer.__dlpack_device__()

    def __dlpack__(self, **keywords):
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        strides = self.interface.__cuda_array_interface__.get("strides")
        elements = strides and tuple(stride // 4 for stride in strides)
        view = StridedMemoryView.from_buffer(self.buffer, self.shape, elements, dtype="f4")
        return view.__dlpack__(**keywords)


class Producer:
    """What has nothing but DLPack: that of an array, or of a device's memory, and it notes what it is asked for."""

    def __init__(self, exporter, device=None):
        self.exporter, self.device, self.asked = exporter, device, []

    def __dlpack_device__(self):
        return self.device or self.exporter.__dlpack_device__()

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        return self.exporter.__dlpack__(**keywords | {"stream": None})


@pytest.fixture
def array():
    return np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def buffer(device, stream):
    made = device.allocate(256, stream=stream)
    stream.sync()
    return made


@pytest.mark.parametrize("stream_ptr", [-1, 0])
@pytest.mark.parametrize("index", [np.s_[:], np.s_[::2, 1:], np.s_[::-1], np.s_[1, 2:2]])
def test_a_view_by_dlpack_says_what_the_array_is_and_gives_it_back(array, index, stream_ptr):
    part = array[index]
    view = StridedMemoryView.from_dlpack(part, stream_ptr)
    assert view.shape == part.shape and view.dtype == part.dtype and view.size == part.size
    assert view.strides == tuple(stride // 4 for stride in part.strides)
    assert (view.device_id, view.is_device_accessible, view.readonly) == (-1, False, False)
    assert view.exporting_obj is part
    back = np.from_dlpack(view)
    np.testing.assert_array_equal(back, part)
    assert part.size == 0 or (view.ptr == part.ctypes.data and np.shares_memory(back, array))


def test_a_view_by_the_array_interface_keeps_negative_strides_and_byte_order(array):
    view = StridedMemoryView.from_array_interface(array[::-1, ::2])
    assert view.ptr == array[2:].ctypes.data and view.strides == (-4, 2) and view.device_id == 0
    np.testing.assert_array_equal(np.from_dlpack(view), array[::-1, ::2])
    swapped = StridedMemoryView.from_array_interface(array.astype(">f4"))
    assert swapped.dtype == ">f4" and swapped.strides is None
    with pytest.raises(BufferError, match="byte order"):
        swapped.__dlpack__()
    records = StridedMemoryView.from_array_interface(np.zeros(3, [("a", "i4"), ("b", "f4")]))
    assert records.dtype == "V8"
    with pytest.raises(BufferError, match="no type"):
        records.__dlpack__()


@pytest.mark.parametrize("name", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_types_come_through_dlpack_and_go_out_again(name):
    array = np.ones(5, name)
    view = StridedMemoryView.from_dlpack(array, -1)
    assert view.dtype == array.dtype
    back = np.from_dlpack(view)
    assert back.dtype == array.dtype and (back == array).all()


def test_an_array_that_is_read_only_stays_so(array):
    array.flags.writeable = False
    for view in (StridedMemoryView.from_dlpack(array, -1), StridedMemoryView.from_array_interface(array)):
        assert view.readonly and view.view(dtype="i4").readonly
        assert not np.from_dlpack(view).flags.writeable


def test_a_view_keeps_the_array_and_an_export_keeps_the_view():
    class Array(np.ndarray):
        pass

    array = np.arange(6).view(Array)
    alive = weakref.ref(array)
    view = StridedMemoryView.from_dlpack(array, -1)
    back = np.from_dlpack(view)
    del array, view
    gc.collect()
    assert alive() is not None and back.tolist() == [0, 1, 2, 3, 4, 5]
    del back
    gc.collect()
    assert alive() is None


def test_a_view_keeps_what_its_producer_made_for_it_alone():
    class Array(np.ndarray):
        pass

    class Temporary(Producer):
        def __dlpack__(self, **keywords):
            made = np.arange(6).view(Array)
            self.made = weakref.ref(made)
            return made.__dlpack__()

    producer = Temporary(None, (1, 0))
    view = StridedMemoryView.from_dlpack(producer, -1)
    assert producer.made() is not None
    view = view.view(dtype="u8")
    gc.collect()
    assert producer.made() is not None
    del view
    gc.collect()
    assert producer.made() is None


def test_a_capsule_that_nobody_takes_lets_the_view_go():
    class Array(np.ndarray):
        pass

    array = np.arange(6).view(Array)
    alive = weakref.ref(array)
    for version in (None, (1, 0)):
        StridedMemoryView.from_dlpack(array, -1).__dlpack__(max_version=version)
    del array
    gc.collect()
    assert alive() is None


def test_a_capsule_is_taken_once(array):
    class Stale(Producer):
        def __dlpack__(self, **keywords):
            return self.exporter

    capsule = array.__dlpack__()
    stale = Stale(capsule, (1, 0))
    StridedMemoryView.from_dlpack(stale, -1)
    with pytest.raises(BufferError, match="consumed"):
        StridedMemoryView.from_dlpack(stale, -1)


def test_a_producer_without_versions_is_asked_again_without(array):
    class Old(Producer):
        def __dlpack__(self, stream):
            return self.exporter.__dlpack__(stream=stream)

    assert StridedMemoryView.from_dlpack(Old(array), -1).shape == (3, 4)


@pytest.mark.parametrize("stream_ptr", [-1, 0])
def test_a_producer_of_host_memory_gets_no_stream(array, stream_ptr):
    producer = Producer(array)
    assert StridedMemoryView.from_dlpack(producer, stream_ptr).shape == (3, 4)
    assert producer.asked[-1]["stream"] is None
    with pytest.raises(BufferError, match="stream_ptr=None"):
        StridedMemoryView.from_dlpack(producer)


def test_a_producer_of_device_memory_gets_the_stream(buffer, stream):
    producer = Producer(buffer)
    for given, expected in ((stream.handle, stream.handle), (-1, -1), (0, None)):
        view = StridedMemoryView.from_dlpack(producer, given)
        assert producer.asked[-1] == {"stream": expected, "max_version": (1, 3)}
        assert (view.ptr, view.device_id, view.is_device_accessible) == (int(buffer.handle), buffer.device_id, True)
    with pytest.raises(BufferError, match="stream.handle"):
        StridedMemoryView.from_dlpack(producer)
    with pytest.raises(TypeError, match="pass stream.handle"):
        StridedMemoryView.from_dlpack(producer, stream)
    with pytest.raises(BufferError, match="device type 10"):
        StridedMemoryView.from_dlpack(Producer(buffer, (10, 0)), -1)


def test_pinned_memory_needs_no_stream_and_both_sides_reach_it(pinned):
    view = StridedMemoryView.from_dlpack(pinned.allocate(256), -1)
    assert view.is_device_accessible and view.__dlpack_device__() == (3, 0)


def test_a_cuda_array_is_viewed_as_it_describes_itself(buffer):
    view = StridedMemoryView.from_cuda_array_interface(CudaArray(buffer), -1)
    assert (view.ptr, view.shape, view.strides, view.dtype) == (int(buffer.handle), (2, 3), None, np.float32)
    assert (view.device_id, view.is_device_accessible, view.readonly) == (buffer.device_id, True, False)
    read_only = {"strides": (16, 4), "data": (int(buffer.handle), True)}
    strided = StridedMemoryView.from_any_interface(CudaArray(buffer, **read_only), -1)
    assert strided.strides == (4, 1) and strided.readonly
    empty = StridedMemoryView.from_cuda_array_interface(CudaArray(buffer, (0, 3), data=(0, False)), -1)
    assert empty.ptr == 0 and empty.size == 0 and empty.device_id == cucore.Device().device_id


BY_EVERY_PATH = pytest.mark.parametrize("way", ["from_cuda_array_interface", "from_dlpack", "from_any_interface"])


@BY_EVERY_PATH
@pytest.mark.parametrize(
    ("shape", "strides"),
    [((2, 3), (12, 4)), ((), ()), ((0, 3), (12, 4)), ((2, 2), (24, 8)), ((3, 2), (4, 12)), ((5,), None)],
    ids=["plain", "scalar", "empty", "sliced", "transposed", "compact"],
)
def test_a_tensor_of_pytorch_is_viewed_in_every_shape(buffer, way, shape, strides):
    view = getattr(StridedMemoryView, way)(Tensor(buffer, shape, strides=strides), -1)
    assert view.shape == shape and view.dtype == np.float32 and view.device_id == buffer.device_id
    assert view.size == 0 or view.ptr == int(buffer.handle)
    if strides:
        assert view.strides == tuple(stride // 4 for stride in strides)


@BY_EVERY_PATH
def test_a_tensor_that_records_gradients_is_viewed_as_its_memory_lies(buffer, way):
    tensor = Tensor(buffer, (2, 3), requires_grad=True)
    view = getattr(StridedMemoryView, way)(tensor, -1)
    assert view.exporting_obj is tensor and view.ptr == int(buffer.handle) and view.shape == (2, 3)


def test_a_cuda_array_of_version_2_names_no_stream(buffer, stream):
    StridedMemoryView.from_cuda_array_interface(CudaArray(buffer, version=2, stream=0), stream.handle)


def test_a_cuda_array_without_a_version_is_refused(buffer):
    nameless = CudaArray(buffer)
    del nameless.__cuda_array_interface__["version"]
    with pytest.raises(BufferError, match="version 0"):
        StridedMemoryView.from_cuda_array_interface(nameless, -1)


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"version": 1}, BufferError, "version 1"),
        ({"mask": object()}, BufferError, "mask"),
        ({"strides": (15, 4)}, ValueError, "multiple of 4"),
        ({"stream": 0}, BufferError, "stream 0"),
    ],
)
def test_a_cuda_array_that_cannot_be_viewed_is_refused(buffer, stream, fields, error, words):
    with pytest.raises(error, match=words):
        StridedMemoryView.from_cuda_array_interface(CudaArray(buffer, **fields), stream.handle)


def test_a_cuda_array_needs_a_stream_and_memory_that_a_device_reaches(buffer, array):
    with pytest.raises(BufferError, match="stream.handle"):
        StridedMemoryView.from_cuda_array_interface(CudaArray(buffer))
    with pytest.raises(BufferError, match="no device"):
        StridedMemoryView.from_cuda_array_interface(CudaArray(buffer, data=(array.ctypes.data, False)), -1)


def test_the_consumer_waits_for_the_stream_that_a_cuda_array_names(device, buffer, stream):
    other = device.create_stream()
    described = CudaArray(buffer, stream=int(other.handle))
    builder = other.create_graph_builder().begin_building()  # what waits for a stream that is captured is captured too
    StridedMemoryView.from_cuda_array_interface(described, -1)
    assert not stream.is_capturing
    StridedMemoryView.from_cuda_array_interface(described, stream.handle)
    assert stream.is_capturing
    other.wait(stream)
    builder.end_building()


def test_a_view_of_a_buffer_has_the_shape_that_is_given(buffer):
    view = StridedMemoryView.from_buffer(buffer, (4, 4), dtype=np.dtype("f4"))
    assert (view.shape, view.strides, view.dtype, view.exporting_obj) == ((4, 4), None, np.float32, buffer)
    bare = StridedMemoryView.from_buffer(buffer, (4, 4), (1, 4), itemsize=8, is_readonly=True)
    assert (bare.strides, bare.dtype, bare.readonly) == ((1, 4), None, True)
    with pytest.raises(BufferError, match="no dtype"):
        bare.__dlpack__()
    again = StridedMemoryView.from_dlpack(view, -1)
    assert again.shape == (4, 4) and again.strides == (4, 1) and again.__dlpack_device__() == (2, buffer.device_id)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shape": (4, 4)}, "itemsize or dtype"),
        ({"shape": (4, 4), "itemsize": 8, "dtype": "f4"}, "float32"),
        ({"shape": (4, 17), "itemsize": 4}, "needs 272 bytes, and the buffer has 256"),
        ({"shape": (4, 4), "strides": (-1, 4), "itemsize": 4}, "before the base address"),
    ],
)
def test_a_view_that_does_not_fit_its_buffer_is_refused(buffer, arguments, words):
    with pytest.raises(ValueError, match=words):
        StridedMemoryView.from_buffer(buffer, **arguments)


def test_a_view_of_a_closed_buffer_is_refused(buffer):
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        StridedMemoryView.from_buffer(buffer, (4,), itemsize=4)


def test_a_view_is_seen_in_another_layout_and_type(buffer):
    view = StridedMemoryView.from_buffer(buffer, (4, 4), dtype=np.dtype("f4"))
    assert view.view() is view
    assert view.view(dtype=np.dtype("i4")).dtype == np.int32
    part = view.view(view._layout[1:, 2])
    assert (part.shape, part.strides, part.ptr) == ((3,), (4,), view.ptr + 24)
    assert part.view(part._layout).ptr == part.ptr
    for layout, dtype in ((None, "i2"), (view._layout.repacked(8), None), (cucore.StridedLayout((99,), None, 4), None)):
        with pytest.raises(ValueError, match="bytes"):
            view.view(layout, dtype)


def test_a_kernel_reads_through_a_view_of_every_second_column(device, stream, pinned):
    columns = StridedMemoryView.from_buffer(pinned.allocate(48), (3, 4), dtype=np.dtype("f4"))
    cells = np.from_dlpack(columns)
    cells[:] = np.arange(12).reshape(3, 4)
    part = columns.view(columns._layout[:, 1::2])
    out = pinned.allocate(12)
    kernel = compile_cubin(SUM_ROWS).get_kernel("sum_rows")
    config = cucore.LaunchConfig(grid=1, block=3)
    for argument in (part.ptr, part):
        cucore.launch(stream, config, kernel, argument, *part.strides, part.shape[1], out)
        stream.sync()
        sums = np.from_dlpack(StridedMemoryView.from_buffer(out, (3,), dtype="f4"))
        assert sums.tolist() == cells[:, 1::2].sum(axis=1).tolist()
        sums[:] = 0


def test_decorated_arguments_are_viewed_on_the_stream_that_the_function_has(array, buffer, stream):
    @args_viewable_as_strided_memory((0, 1))
    def shapes(first, second, stream):
        assert first.has_dlpack and not second.has_dlpack and first.obj is array
        return first.view(-1).shape, second.view(stream.handle).shape

    assert shapes(array, CudaArray(buffer), stream) == ((3, 4), (2, 3))
    assert shapes.__name__ == "shapes"
    with pytest.raises(BufferError, match="int has neither"):
        shapes(3, array, stream)
    with pytest.raises(IndexError, match="none is at 1"):
        shapes(array, second=array, stream=stream)
    with pytest.raises(TypeError, match="tuple"):
        args_viewable_as_strided_memory(0)


def test_a_view_cannot_be_changed_copied_or_sent(array):
    view = StridedMemoryView.from_dlpack(array, -1)
    with pytest.raises(AttributeError, match="'ptr' is not writable"):
        view.ptr = 0
    with pytest.raises(TypeError, match="copied or pickled"):
        pickle.dumps(view)
    with pytest.raises(NotImplementedError, match="copy_from"):
        view.copy_from(view, None)
    with pytest.raises(BufferError, match="copy"):
        view.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="another device"):
        view.__dlpack__(dl_device=(2, 0))


def test_the_deprecated_constructor_warns_and_views(array):
    with pytest.warns(DeprecationWarning, match=r"from_dlpack\(\)"):
        view = StridedMemoryView(array, -1)
    assert view.shape == (3, 4) and view.exporting_obj is array and view.ptr == array.ctypes.data


def test_the_deprecated_constructor_names_the_way_that_fits_the_object(array, buffer):
    with pytest.warns(DeprecationWarning, match=r"from_dlpack\(\)"):
        StridedMemoryView(array, -1)
    with pytest.warns(DeprecationWarning, match=r"from_cuda_array_interface\(\)"):
        StridedMemoryView(CudaArray(buffer), -1)


def test_repr_of_a_view_without_a_dtype_says_that_it_has_none(buffer):
    assert "dtype=NoneType,\n" in repr(StridedMemoryView.from_buffer(buffer, (4,), itemsize=4))


def test_repr_says_where_and_what(array):
    text = repr(StridedMemoryView.from_dlpack(array, -1))
    assert text.startswith(f"StridedMemoryView(ptr={array.ctypes.data},\n                  shape=(3, 4),\n")
    assert "dtype=numpy.dtypes.Float32DType" in text and text.endswith("exporting_obj=numpy.ndarray)")
