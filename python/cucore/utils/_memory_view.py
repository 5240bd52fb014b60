"""Views of other libraries' arrays: StridedMemoryView."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING

from cucore._device import Device
from cucore._errors import AttributeTypeError, AttributeValueError, TypeValueError
from cucore._seam import (
    Buffer,
    Stream,
    StridedLayout,
    check_bounds,
    check_dlpack_request,
    check_itemsize,
    dlpack_exchange_api,
    export_dlpack,
    layout_of_tensor,
    new_layout,
    new_view,
    set_view_class,
    view_by_any,
    view_by_dlpack,
    view_of_buffer,
    view_of_capsule,
)

if TYPE_CHECKING:
    import numpy

    from cucore._tensor_map import TensorMapDescriptor, TensorMapDescriptorOptions

# As DLPack numbers them.
_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_CODE_OF_KIND = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_KIND_OF_CODE = {code: kind for kind, code in _CODE_OF_KIND.items()}
_BFLOAT = 4
_WIDTHS = {"i": (8, 16, 32, 64), "u": (8, 16, 32, 64), "f": (16, 32, 64), "c": (64, 128), "b": (8,)}
_NO_ORDERING = -1
_KEPT = ("_shape", "_strides", "_size", "_dtype")  # what the properties of these names gave
_ATTRIBUTES = ("ptr", "device_id", "is_device_accessible", "readonly", "exporting_obj")


def _stream_number(stream_ptr):
    if stream_ptr is None:
        return None
    if not hasattr(stream_ptr, "__int__") and not hasattr(stream_ptr, "__index__"):
        raise TypeError(f"stream_ptr must be an int, not {type(stream_ptr).__name__}: pass stream.handle")
    return int(stream_ptr)


def _required_stream(stream_ptr):
    number = _stream_number(stream_ptr)
    if number is None:
        raise BufferError(
            "stream_ptr=None does not say which stream uses the memory: pass stream.handle, or -1 for no ordering"
        )
    return number


def _as_dtype(value):
    """A NumPy dtype."""
    global _as_dtype
    import numpy

    _as_dtype = numpy.dtype
    return numpy.dtype(value)


def _dtype_of_buffer(value):
    """A NumPy dtype, or what names one. AttributeTypeError: it does not."""
    try:
        return _as_dtype(value)
    except TypeError as wrong:
        raise AttributeTypeError(f"dtype {value!r} is no dtype of NumPy's: {wrong}") from None


@functools.cache
def _dtype_of_dlpack(code, bits, lanes):
    import numpy

    if lanes != 1:
        raise NotImplementedError(f"a DLPack tensor of vectors ({lanes} lanes) has no NumPy dtype")
    if (code, bits) == (_BFLOAT, 16):
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            raise NotImplementedError("the dtype of a bfloat16 tensor needs the package ml_dtypes") from None
        return numpy.dtype(bfloat16)
    kind = _KIND_OF_CODE.get(code)
    if kind is None or bits not in _WIDTHS[kind]:
        raise TypeError(f"a DLPack tensor of type code {code} with {bits} bits has no NumPy dtype")
    return numpy.dtype(f"{kind}{bits // 8}")


def _dlpack_of_dtype(dtype):
    """Its code and bits."""
    if dtype is None:
        raise BufferError("the view has no dtype: give one with view(dtype=...)")
    if not dtype.isnative:
        raise BufferError(f"DLPack has no types of the other byte order, such as {dtype.str}")
    bits = 8 * dtype.itemsize
    if bits not in _WIDTHS.get(dtype.kind, ()):
        raise BufferError(f"DLPack has no type for {dtype}")
    return _CODE_OF_KIND[dtype.kind], bits


def _read_interface(name, interface, oldest):
    """Address, whether it is read-only, dtype and layout of a dict of the array interface, NumPy's or CUDA's."""
    if not isinstance(interface, dict):
        error = AttributeTypeError if interface is None else TypeError
        raise error(f"{name} must be a dict, not {type(interface).__name__}")
    version = interface.get("version", 0)
    if version < oldest:
        raise BufferError(f"{name} is of version {version}: version {oldest} or later is needed")
    if interface.get("mask") is not None:
        raise BufferError(f"{name} has a mask, which a view does not")
    if interface.get("data") is None:
        raise TypeError(f"{name} has no data pointer")
    address, readonly = interface["data"]
    dtype = _as_dtype(interface["typestr"])
    layout = new_layout(interface["shape"], interface.get("strides"), dtype.itemsize, True)  # strides in bytes
    return address or 0, bool(readonly), dtype, layout


def _detached(obj):
    """``obj``; a tensor of PyTorch that records gradients, which it does not export, as one that does not."""
    return obj.detach() if getattr(obj, "requires_grad", False) is True else obj


def _device_of_address(address):
    if not address:  # an empty array: its location is not known
        return Device().device_id
    memory = Buffer.from_handle(address, 1)
    if not memory.is_device_accessible:
        raise BufferError("__cuda_array_interface__ names memory that no device can access")
    return memory.device_id


def _require_view(other):
    if not isinstance(other, StridedMemoryView):
        raise TypeError(f"other must be a StridedMemoryView, not {type(other).__name__}")


class StridedMemoryView:
    """Memory of another object as a strided array: address, shape, strides and dtype. Nothing is copied.

    Made by the class methods ``from_*``, or by :func:`args_viewable_as_strided_memory`. Where they take ``stream_ptr``,
    it is the address of the stream that is going to use the memory (``stream.handle``): what the producer has under
    way comes before later work on that stream. ``-1`` leaves the order to the caller. A view is immutable, so any
    thread may read it; it keeps the object that it views.
    """

    __slots__ = ("_base", "_device", "_layout", "_tensor", "_typed", *_KEPT, *_ATTRIBUTES)
    __dlpack_c_exchange_api__ = dlpack_exchange_api  # what it asks: _of_capsule, _exported

    def __init__(self, obj: object = None, stream_ptr: int | None = None) -> None:
        make = StridedMemoryView._maker(obj) if obj is not None else StridedMemoryView._empty
        instead = make.__name__ if obj is not None else "from_any_interface"
        warnings.warn(
            f"StridedMemoryView(obj, stream_ptr) is deprecated: use StridedMemoryView.{instead}()",
            DeprecationWarning,
            stacklevel=2,
        )
        made = make(obj, stream_ptr)
        for name in StridedMemoryView.__slots__:
            if name not in _KEPT and (name != "_layout" or obj is not None):
                object.__setattr__(self, name, getattr(made, name))

    @classmethod
    def _make(cls, owner, base, layout, dtype, device, *, device_id, readonly, tensor=None):
        """``dtype``: a NumPy dtype, None, or what DLPack says of it. ``device``: as ``__dlpack_device__`` gives it."""
        return new_view(cls, owner, base, layout, dtype, device, device_id, readonly, tensor)

    @classmethod
    def _empty(cls, obj, stream_ptr):
        """Of nothing, which the deprecated constructor makes."""
        return cls._make(None, 0, None, None, (_CPU, 0), device_id=0, readonly=False)

    def __getattr__(self, name):  # asked for what is not there: the layout of a tensor, at first, or of an empty one
        if name == "_layout":
            if self._tensor is None:
                raise ValueError("an empty StridedMemoryView has no layout: make one of an object, by a from_ method")
            layout = layout_of_tensor(self._tensor)
            object.__setattr__(self, "_layout", layout)
            return layout
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name, value):
        raise AttributeError(f"a StridedMemoryView cannot be changed: {name!r} is not writable")

    def __delattr__(self, name):
        raise AttributeError(f"a StridedMemoryView cannot be changed: {name!r} cannot be deleted")

    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view of what has ``__dlpack__`` and ``__dlpack_device__``.

        The producer gets ``stream_ptr``, which only memory that both the host and devices reach can do without.
        BufferError: it is None for other memory, or the memory is of another kind of device. ValueError: elements that
        are no whole bytes.
        """
        return view_by_dlpack(cls, obj, stream_ptr)

    @classmethod
    def _of_capsule(cls, capsule, owner=None):
        return view_of_capsule(cls, capsule, owner)

    @classmethod
    def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view of what has ``__cuda_array_interface__``, version 2 (PyTorch's) or later and without a mask.

        If it names a stream, an event orders that one before ``stream_ptr``. BufferError: ``stream_ptr`` is None, an
        older version, a mask, memory that no device reaches. ValueError: strides that are no whole elements.
        """
        interface = _detached(obj).__cuda_array_interface__
        address, readonly, dtype, layout = _read_interface("__cuda_array_interface__", interface, 2)
        consumer = _required_stream(stream_ptr)  # before anything asks the driver
        device_id = _device_of_address(address)
        producer = interface.get("stream") if interface["version"] >= 3 else None  # older versions do not order
        if producer is not None and consumer != _NO_ORDERING:
            if producer <= 0:
                raise BufferError(
                    f"__cuda_array_interface__ names the stream {producer}: 1 is the legacy default stream"
                )
            if producer != consumer:
                Stream.from_handle(consumer).wait(Stream.from_handle(producer))
        return cls._make(obj, address, layout, dtype, (_CUDA, device_id), device_id=device_id, readonly=readonly)

    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """A view of what has ``__array_interface__``, such as a NumPy array: memory of the host, ``device_id`` is 0.

        BufferError: a version before 3, a mask, no data pointer.
        """
        address, readonly, dtype, layout = _read_interface("__array_interface__", obj.__array_interface__, 3)
        return new_view(cls, obj, address, layout, dtype, (_CPU, 0), 0, readonly, None)

    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """By DLPack if ``obj`` has it, else by ``__cuda_array_interface__``. BufferError: it has neither."""
        return view_by_any(cls, obj, stream_ptr)

    @classmethod
    def _maker(cls, obj):
        return cls.from_dlpack if has_dlpack(obj) else cls.from_cuda_array_interface

    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        *,
        itemsize: int | None = None,
        dtype: numpy.dtype | None = None,
        is_readonly: bool = False,
    ) -> StridedMemoryView:
        """A view of a Buffer. ``strides`` are in elements. Nothing is ordered: that is up to the caller.

        ValueError: neither ``itemsize`` nor ``dtype``, or two that disagree; the buffer has a memory resource and is
        too small, or elements lie before it. RuntimeError: it has been closed.
        """
        if not isinstance(buffer, Buffer):
            raise AttributeTypeError(f"from_buffer() takes a Buffer, not {type(buffer).__name__}")
        if dtype is not None:
            given, dtype = dtype, _as_dtype(dtype) if itemsize is None else _dtype_of_buffer(dtype)
            if itemsize is None:
                itemsize = dtype.itemsize
            elif dtype.itemsize != itemsize and given is not dtype:  # in cuda.core it is no dtype
                raise AttributeValueError(f"elements of {itemsize} bytes cannot be of dtype {dtype}")
        if itemsize is None:
            raise ValueError("from_buffer() needs itemsize or dtype")
        if isinstance(itemsize, int):
            if itemsize >= 2**63:
                raise OverflowError(f"itemsize={itemsize} does not fit into 64 bits")
        elif isinstance(itemsize, (float, Device)):
            itemsize = int(itemsize)
        try:
            layout = new_layout(shape, strides, itemsize, False)
        except TypeError:
            if not isinstance(shape, tuple) or float not in map(type, shape):
                raise
            # Floats, which cuda.core cuts off.
            shape = tuple(int(extent) if isinstance(extent, float) else extent for extent in shape)
            layout = StridedLayout(shape, strides, itemsize)
        except ValueError as wrong:
            if strides is None or isinstance(strides, tuple):
                raise
            raise TypeValueError(str(wrong)) from None  # cuda.core takes tuples only
        return view_of_buffer(cls, buffer, layout, dtype, is_readonly)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._layout.shape

    @property
    def strides(self) -> tuple[int, ...] | None:
        """In elements; None for C order that was not spelt out."""
        return self._layout.strides

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._layout.volume

    @property
    def dtype(self) -> numpy.dtype | None:
        """None if none was given. NotImplementedError: vectors, or bfloat16 without ml_dtypes. TypeError: unknown."""
        return _dtype_of_dlpack(*self._typed) if isinstance(self._typed, tuple) else self._typed

    def view(self, layout: StridedLayout | None = None, dtype: numpy.dtype | None = None) -> StridedMemoryView:
        """The same memory in another layout or as another dtype; itself if neither is given.

        ValueError: the sizes of an element disagree, or the layout goes beyond a Buffer that has a memory resource.
        """
        if layout is None and dtype is None:
            return self
        if layout is None:
            layout = self._layout
        elif not isinstance(layout, StridedLayout):
            raise TypeError(f"layout must be a StridedLayout, not {type(layout).__name__}")
        dtype = self._typed if dtype is None else _as_dtype(dtype)
        check_itemsize(_dtype_of_dlpack(*dtype) if isinstance(dtype, tuple) else dtype, layout)
        if isinstance(self.exporting_obj, Buffer):
            check_bounds(self.exporting_obj, layout)
        return type(self)._make(
            self.exporting_obj,
            self._base,
            layout,
            dtype,
            self._device,
            device_id=self.device_id,
            readonly=self.readonly,
            tensor=self._tensor,
        )

    def as_tensor_map(
        self,
        box_dim: tuple[int, ...] | None = None,
        *,
        options: TensorMapDescriptorOptions | None = None,
        element_strides: tuple[int, ...] | None = None,
        data_type: object = None,
        interleave: object = None,
        swizzle: object = None,
        l2_promotion: object = None,
        oob_fill: object = None,
    ) -> TensorMapDescriptor:
        """A tiled TensorMapDescriptor of it: see TensorMapDescriptor.tiled()."""
        from cucore._tensor_map import TensorMapDescriptor

        return TensorMapDescriptor.tiled(
            self,
            box_dim,
            options=options,
            element_strides=element_strides,
            data_type=data_type,
            interleave=interleave,
            swizzle=swizzle,
            l2_promotion=l2_promotion,
            oob_fill=oob_fill,
        )

    def copy_from(
        self, other: StridedMemoryView, stream: Stream, allocator: object = None, blocking: bool | None = None
    ) -> None:
        """Not implemented, as in cuda.core."""
        _require_view(other)
        raise NotImplementedError(
            "copy_from() of strided views is not supported: use Buffer.copy_from() for whole buffers"
        )

    def copy_to(
        self,
        other: StridedMemoryView,
        stream: Stream | None = None,
        allocator: object = None,
        blocking: bool | None = None,
    ) -> None:
        """Not implemented, as in cuda.core."""
        _require_view(other)
        raise NotImplementedError("copy_to() of strided views is not supported: use Buffer.copy_to() for whole buffers")

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A DLPack capsule, which keeps this view. ``stream`` is ignored, the caller orders.

        BufferError: DLPack has no such dtype, another device, a copy.
        """
        check_dlpack_request(stream, dl_device, copy)
        if dl_device is not None and dl_device != self._device:
            raise BufferError("exporting to another device (dl_device) is not supported")
        return export_dlpack(self, *self._exported(), self.readonly, max_version)

    def _exported(self):
        """What a DLPack tensor of it says: address, layout, device, and its type's code and bits."""
        return self.ptr, self._layout, self._device, _dlpack_of_dtype(self.dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __reduce__(self):
        raise TypeError("a StridedMemoryView cannot be copied or pickled: it is the address of another object's memory")

    def __repr__(self) -> str:
        exporter, dtype = type(self.exporting_obj), type(self.dtype)
        lines = {
            "ptr": self.ptr,
            "shape": self.shape,
            "strides": self.strides,
            "itemsize": self._layout.itemsize,
            "dtype": "NoneType" if self.dtype is None else f"{dtype.__module__}.{dtype.__qualname__}",
            "device_id": self.device_id,
            "is_device_accessible": self.is_device_accessible,
            "readonly": self.readonly,
            "exporting_obj": f"{exporter.__module__}.{exporter.__qualname__}",
        }
        separator = ",\n" + " " * len("StridedMemoryView(")
        return f"StridedMemoryView({separator.join(f'{name}={value}' for name, value in lines.items())})"


set_view_class(StridedMemoryView, {name.removeprefix("_"): name for name in _KEPT})


def has_dlpack(obj):
    """Whether DLPack or CUDA's array interface is to be used."""
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        return True
    if hasattr(_detached(obj), "__cuda_array_interface__"):
        return False
    raise BufferError(f"{type(obj).__name__} has neither DLPack nor __cuda_array_interface__: it cannot be viewed")
