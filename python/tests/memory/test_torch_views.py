"""Views of PyTorch's tensors, where it is installed: every shape by every path, there and back."""

import numpy as np
import pytest

from cucore.utils import StridedMemoryView, args_viewable_as_strided_memory

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

MATRIX = torch.arange(24, dtype=torch.float32).reshape(4, 6)
NUMBERS = [
    *(torch.float16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint8, torch.bool, torch.complex64, torch.complex128),
]
SHAPES = {
    "plain": MATRIX,
    "empty": torch.zeros(0),
    "empty rows": torch.zeros(0, 3),
    "empty columns": torch.zeros(3, 0),
    "scalar": torch.tensor(5.0),
    "rows": MATRIX[1:3],
    "columns": MATRIX[:, ::2],
    "transposed": MATRIX.T,
    "broadcast": torch.ones(3, 1).expand(3, 4),
    "offset": torch.arange(10)[3:],
    "five axes": torch.zeros(1, 2, 3, 4, 5),
    "channels last": torch.zeros(1, 2, 3, 4).to(memory_format=torch.channels_last),
}
TENSORS = {**SHAPES, **{str(dtype): torch.ones(3).to(dtype) for dtype in NUMBERS}}


@args_viewable_as_strided_memory((0,))
def viewed(proxy):
    return proxy.view(-1)


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_viewed_by_every_path_and_comes_back(name):
    tensor = TENSORS[name]
    from_dlpack, from_any = StridedMemoryView.from_dlpack, StridedMemoryView.from_any_interface
    for view in (from_dlpack(tensor, -1), from_any(tensor, -1), viewed(tensor)):
        assert view.shape == tuple(tensor.shape) and view.size == tensor.numel() and not view.is_device_accessible
        assert str(view.dtype) == str(tensor.dtype).removeprefix("torch.") and not view.readonly
        assert view.ptr == tensor.data_ptr() and view.exporting_obj is tensor
        if tensor.numel():
            assert (view.strides or ()) == tensor.stride()
        back = torch.from_dlpack(view)
        assert back.dtype == tensor.dtype and torch.equal(back, tensor) and back.data_ptr() == tensor.data_ptr()
        assert np.array_equal(np.from_dlpack(view), tensor.numpy())


def test_a_tensor_that_requires_gradients_is_viewed_as_it_is():
    for tensor in (torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)[1:]):
        view = StridedMemoryView.from_any_interface(tensor, -1)
        assert view.ptr == tensor.data_ptr() and not torch.from_dlpack(view).requires_grad


def test_bfloat16_keeps_its_type_on_the_way():
    tensor = torch.ones(3, dtype=torch.bfloat16)
    view = StridedMemoryView.from_dlpack(tensor, -1)
    assert view.shape == (3,) and view.ptr == tensor.data_ptr()
    try:
        assert view.dtype.itemsize == 2
    except NotImplementedError as error:
        assert "ml_dtypes" in str(error)


@pytest.mark.parametrize("tensor", [torch.eye(3).to_sparse(), torch.ones(3, device="meta")], ids=["sparse", "meta"])
def test_what_has_no_memory_is_refused(tensor):
    with pytest.raises((BufferError, RuntimeError, NotImplementedError, ValueError)):
        StridedMemoryView.from_dlpack(tensor, -1)
