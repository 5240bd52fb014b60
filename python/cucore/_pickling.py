"""What pickles name: plain functions, so that pickle and cloudpickle find them by their path."""

from cucore import _core

_deserialize = _core.ObjectCode.deserialize


def object_code(data):
    """The ObjectCode whose ``serialize()`` gave ``data``; not loaded. Bad bytes raise ValueError."""
    return _deserialize(data)


def device(ordinal):
    """The Device of the loading thread."""
    from cucore._device import Device

    return Device(ordinal)
