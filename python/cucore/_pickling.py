"""Functions that pickles refer to: plain ones, so that pickle and cloudpickle find them by their path."""

from cucore import _seam
from cucore._device import unpickled as device  # noqa: F401

_deserialize = _seam.ObjectCode.deserialize


def object_code(data):
    """The ObjectCode whose ``serialize()`` gave ``data``; not loaded. Bad bytes raise ValueError."""
    return _deserialize(data)
