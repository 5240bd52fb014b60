"""Functions that pickles refer to: plain ones, so that pickle and cloudpickle find them by their path."""

from cucore import _seam
from cucore._device import unpickled as device  # noqa: F401

_deserialize = _seam.ObjectCode.deserialize


def object_code(data, symbol_mapping=None):
    """The ObjectCode whose ``serialize()`` gave ``data``; not loaded. Bad bytes raise ValueError. Its mapping is shown
    as ``symbol_mapping``, if that is given: the data keep no order."""
    code = _deserialize(data)
    if symbol_mapping is not None:
        code._show_mapping(symbol_mapping)
    return code
