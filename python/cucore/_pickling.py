"""Functions that pickles refer to: plain ones, so that pickle and cloudpickle find them by their path."""

import copyreg

from cucore import _seam
from cucore._cache_store import sends_by_reference
from cucore._device import unpickled as device  # noqa: F401

_deserialize = _seam.ObjectCode.deserialize


def object_code(data, symbol_mapping=None):
    """The ObjectCode whose ``serialize()`` gave ``data``; not loaded. Bad bytes raise ValueError. Its mapping is shown
    as ``symbol_mapping``, if that is given: the data keep no order."""
    code = _deserialize(data)
    if symbol_mapping is not None:
        code._show_mapping(symbol_mapping)
    return code


def object_code_from_store(name, size, called, symbol_mapping=None):
    """The same where the data are in a store that sender and receiver share."""
    from cucore.stores import _references

    return object_code(_references.received(name, size, called), symbol_mapping)


def _reduced_first(code):
    """Of the first ObjectCode that is pickled where the environment says that code goes by reference."""
    from cucore.stores import _references

    _references.send_by_reference()
    return _references.reduced(code)


if sends_by_reference():
    copyreg.pickle(_seam.ObjectCode, _reduced_first)
