"""StridedLayout: what tuples, slices and defaults of Python mean; the arithmetic has tests in C++."""

import numpy as np
import pytest

from cucore import StridedLayout


def test_strides_that_were_not_given_stay_none():
    layout = StridedLayout((2, 3), None, 4)
    assert (layout.shape, layout.strides, layout.strides_in_bytes) == ((2, 3), None, None)
    assert layout.stride_order == (0, 1)
    assert layout != StridedLayout((2, 3), (3, 1), 4)
    assert StridedLayout((2, 3), (12, 4), 4, divide_strides=True) == StridedLayout((2, 3), (3, 1), 4)
    assert repr(layout[1:]) == "StridedLayout(shape=(1, 3), strides=(3, 1), itemsize=4, slice_offset=3)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(layout)


@pytest.mark.parametrize("order", ["C", "F", (1, 2, 0), (-1, 0, 1)])
def test_dense_layouts_are_numpys(order):
    axes = {"C": (0, 1, 2), "F": (2, 1, 0)}.get(order, order)
    like = np.empty([(2, 3, 4)[axis] for axis in axes], np.float32).transpose(np.argsort(np.mod(axes, 3)))
    layout = StridedLayout.dense((2, 3, 4), 4, order)
    assert layout.strides_in_bytes == like.strides
    assert layout.is_contiguous_c == like.flags.c_contiguous and layout.is_contiguous_f == like.flags.f_contiguous


def test_a_layout_that_is_right_already_is_itself():
    layout = StridedLayout((2, 3), (1, 2), 4)
    assert layout.to_dense() is layout
    assert layout.to_dense("F") is layout
    assert StridedLayout.dense_like(layout) is layout
    assert layout.to_dense("C").strides == (3, 1)
    assert layout[1:].to_dense().slice_offset == 0


@pytest.mark.parametrize(
    "index",
    [
        1,
        -1,
        slice(1, 3),
        slice(None, None, -2),
        slice(5, 2),
        (slice(None, None, -1), 2),
        (0, slice(7, 0, -3)),
        (-4, -8),
    ],
)
def test_slices_are_numpys(index):
    array = np.arange(32, dtype=np.float32).reshape(4, 8)
    layout = StridedLayout(array.shape, None, 4)[index]
    sliced = array[index]
    assert layout.shape == sliced.shape
    if sliced.size:
        assert layout.slice_offset == sliced.flat[0]
        assert layout.offset_bounds == (sliced.min(), sliced.max())


def test_what_is_no_index_is_refused():
    layout = StridedLayout((4, 8), None, 4)
    for index in (..., None, "a", 1.5, (0, ...)):
        with pytest.raises(TypeError):
            layout[index]
    for index in (4, -5, (0, 8), (0, 0, 0), slice(None, None, 0)):
        with pytest.raises(ValueError):
            layout[index]


def test_errors_are_pythons():
    with pytest.raises(OverflowError):
        StridedLayout((2**62, 4), None, 4)
    with pytest.raises(ValueError, match="divisible"):
        StridedLayout((2, 3), (13, 4), 4, True)
    with pytest.raises(ValueError, match="stride_order"):
        StridedLayout.dense((2, 3), 4, "A")
    with pytest.raises(ValueError):
        StridedLayout.dense((2, 3), 4, (0, 0))
    with pytest.raises(ValueError, match="min_offset is -2"):
        StridedLayout((2, 3), (3, -1), 4).required_size_in_bytes()


def test_axes_come_and_go():
    layout = StridedLayout((2, 3), None, 4)
    assert layout.unsqueezed(0).shape == (1, 2, 3)
    assert layout.unsqueezed((0, 2)).strides == (6, 3, 3, 1)
    assert layout.permuted((1, 0)).strides == (1, 3)
    assert layout.broadcast_to((5, 2, 3)).strides == (0, 3, 1)
    assert layout.flattened().shape == layout.reshaped((-1,)).shape == (6,)
    assert layout.flattened(mask=0).shape == (2, 3)
    assert layout.repacked(12).shape == (2, 1) and layout.repacked(12, keep_dim=False).shape == (2,)
    assert layout.max_compatible_itemsize() == 4
    assert (layout.min_offset, layout.max_offset, layout.required_size_in_bytes()) == (0, 5, 24)


def test_the_name_in_cuda_core_is_kept():
    from cucore._layout import _StridedLayout

    assert _StridedLayout is StridedLayout
