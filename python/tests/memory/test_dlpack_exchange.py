"""DLPack's C exchange API of StridedMemoryView, called as a library in C calls it, and what __dlpack__() refuses."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

from cucore.utils import StridedMemoryView


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]

    def told(self):
        numbers = [tuple(of[: self.ndim]) if of else None for of in (self.shape, self.strides)]
        return (self.device_type, self.device_id), (self.code, self.bits, self.lanes), *numbers


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [
    ("version", Version),
    ("context", ctypes.c_void_p),
    ("deleter", Deleter),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
]
SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
MANAGED, TENSOR, INT = ctypes.POINTER(Managed), ctypes.POINTER(Tensor), ctypes.c_int


class Exchange(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.PYFUNCTYPE(INT, TENSOR, ctypes.POINTER(MANAGED), ctypes.c_void_p, SetError)),
        ("managed_from_object", ctypes.PYFUNCTYPE(INT, ctypes.py_object, ctypes.POINTER(MANAGED))),
        ("object_from_managed", ctypes.PYFUNCTYPE(INT, MANAGED, ctypes.POINTER(ctypes.py_object))),
        ("tensor_from_object", ctypes.PYFUNCTYPE(INT, ctypes.py_object, TENSOR)),
        ("current_stream", ctypes.PYFUNCTYPE(INT, INT, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))),
    ]


@pytest.fixture
def exchange():
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = StridedMemoryView.__dlpack_c_exchange_api__
    return Exchange.from_address(pointer_of(capsule, b"dlpack_exchange_api"))


def managed_of(exchange, view):
    managed = MANAGED()
    assert exchange.managed_from_object(view, ctypes.byref(managed)) == 0
    return managed


def view_of(exchange, managed):
    made = ctypes.py_object()
    assert exchange.object_from_managed(managed, ctypes.byref(made)) == 0
    view = made.value
    ctypes.pythonapi.Py_DecRef(made)  # the reference that the call gave
    return view


ARRAYS = [
    np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2],
    np.frombuffer(b"12345678", dtype=np.int16),  # read-only
    np.array(5.0),
    np.ones(3, bool),
    np.ones((2, 2), np.complex64),
    np.ones(3, np.float16),
    np.zeros((0, 3)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_a_view_goes_through_c_and_comes_back(exchange, array):
    assert (exchange.version.major, exchange.version.minor, exchange.previous) == (1, 3, None)
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    managed = managed_of(exchange, view)
    assert managed.contents.version.major == 1 and managed.contents.flags == (0 if array.flags.writeable else 1)
    tensor = Tensor()
    assert exchange.tensor_from_object(view, ctypes.byref(tensor)) == 0
    assert tensor.told() == managed.contents.tensor.told()
    assert tensor.told()[:2] == ((1, 0), (managed.contents.tensor.code, 8 * array.itemsize, 1))
    assert (tensor.data or 0) == (array.ctypes.data if array.size else 0)
    again = view_of(exchange, managed)
    assert type(again) is StridedMemoryView and again.dtype == array.dtype and again.readonly == view.readonly
    assert again.shape == array.shape and again.size == array.size
    assert np.array_equal(np.from_dlpack(again), array)


def test_a_tensor_of_c_keeps_the_view_until_it_is_deleted(exchange):
    class Array(np.ndarray):
        pass

    def gone():
        gc.collect()
        return alive() is None

    array = np.arange(6).view(Array)
    alive = weakref.ref(array)
    managed = managed_of(exchange, StridedMemoryView.from_any_interface(array, stream_ptr=-1))
    del array
    assert not gone()
    managed.contents.deleter(managed)
    assert gone()
    array = np.arange(6).view(Array)
    alive = weakref.ref(array)
    view = view_of(exchange, managed_of(exchange, StridedMemoryView.from_any_interface(array, stream_ptr=-1)))
    del array
    assert not gone() and view.shape == (6,)
    del view
    assert gone()


def test_memory_of_a_device_is_told_of_and_has_no_current_stream(exchange, device, stream):
    view = StridedMemoryView.from_buffer(device.allocate(64, stream=stream), (4, 4), dtype=np.dtype(np.float32))
    tensor = Tensor()
    assert exchange.tensor_from_object(view, ctypes.byref(tensor)) == 0
    assert tensor.told() == ((2, device.device_id), (2, 32, 1), (4, 4), (4, 1)) and tensor.data == view.ptr
    again = view_of(exchange, managed_of(exchange, view))
    assert again.ptr == view.ptr and again.is_device_accessible and again.device_id == device.device_id
    for device_type in (1, 2):
        current = ctypes.c_void_p(7)
        assert exchange.current_stream(device_type, 0, ctypes.byref(current)) == 0 and current.value is None


REFUSED = [np.arange(4, dtype=">i4"), np.zeros(4, [("a", "i4"), ("b", "f4")]), np.zeros(3, "M8[s]"), np.zeros(3, "S3")]


@pytest.mark.parametrize("array", REFUSED, ids=lambda array: str(array.dtype))
def test_what_dlpack_has_no_type_for_is_refused(exchange, array):
    view = StridedMemoryView.from_array_interface(array)
    for call in (
        lambda: exchange.managed_from_object(view, ctypes.byref(MANAGED())),
        lambda: exchange.tensor_from_object(view, ctypes.byref(Tensor())),
        lambda: view.__dlpack__(max_version=(1, 0)),
        lambda: np.from_dlpack(view),
    ):
        with pytest.raises(BufferError):
            call()


def test_what_is_no_view_and_a_new_tensor_are_refused(exchange):
    for call in (
        lambda: exchange.managed_from_object(5, ctypes.byref(MANAGED())),
        lambda: exchange.tensor_from_object("view", ctypes.byref(Tensor())),
    ):
        with pytest.raises(TypeError, match="StridedMemoryView"):
            call()
    said = []
    report = SetError(lambda context, kind, message: said.append(kind))
    with pytest.raises(NotImplementedError):
        exchange.allocate(ctypes.byref(Tensor()), ctypes.byref(MANAGED()), None, report)
    assert said == [b"NotImplementedError"]


def test_arguments_of_other_types_and_copies_are_refused(pinned):
    for exporter in (pinned.allocate(16), StridedMemoryView.from_array_interface(np.arange(4))):
        for arguments, error in (
            ({"max_version": 5}, TypeError),
            ({"max_version": [1, 0]}, TypeError),
            ({"max_version": ("a", 1)}, TypeError),
            ({"max_version": (1, 2, 3)}, BufferError),
            ({"copy": 5}, TypeError),
            ({"copy": True}, BufferError),
            ({"dl_device": 5}, TypeError),
            ({"dl_device": (2, 7)}, BufferError),
            ({"stream": "x"}, TypeError),
        ):
            with pytest.raises(error):
                exporter.__dlpack__(**arguments)
