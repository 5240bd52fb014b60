"""Values by number: ``Device.get_field_values``."""

from __future__ import annotations

from cucore.system import _numbers as numbers
from cucore.system import _nvml, _structs
from cucore.system._nvml_device import NvmlDevice
from cucore.system.exceptions import error_of
from cucore.system.typing import FieldId

_PARTS = tuple(name for name, _ in _structs.Value._fields_)


class FieldValue:
    """One value, and how it was got."""

    __slots__ = ("_device", "_field")

    def __init__(self, device: NvmlDevice, field: _structs.FieldValue):
        self._device = device
        self._field = field

    @property
    def field_id(self) -> FieldId | int:
        """Its number; an int if FieldId does not have it."""
        try:
            return FieldId(self._field.fieldId)
        except ValueError:
            return self._field.fieldId

    @property
    def scope_id(self) -> int:
        """What of the device it is of, for example which link."""
        return self._field.scopeId

    @property
    def timestamp(self) -> int:
        """When it was sampled, in microseconds since 1970."""
        return self._field.timestamp

    @property
    def latency_usec(self) -> int:
        """How long that took, in microseconds."""
        return self._field.latencyUsec

    @property
    def value(self) -> int | float:
        """The value. Raises the NvmlError that it has instead."""
        self._validate()
        field = self._field
        if field.valueType >= len(_PARTS):
            raise RuntimeError(f"NVML gives {self.field_id!r} a type that cucore does not know: {field.valueType}")
        return getattr(field.value, _PARTS[field.valueType])

    def _validate(self) -> None:
        code = self._field.nvmlReturn
        if code:
            raise error_of(code, "nvmlDeviceGetFieldValues", f"{self.field_id!r} of {self._device!r}")

    def __repr__(self):
        return f"<FieldValue {self.field_id!r} of {self._device!r}>"


class FieldValues(tuple[FieldValue, ...]):
    """The values in the order asked for."""

    __slots__ = ()

    def validate(self) -> None:
        """Raises the first NvmlError that one of them has."""
        for field in self:
            field._validate()

    def get_all_values(self) -> list[int | float]:
        """The bare values. Raises the first NvmlError that one of them has."""
        return [field.value for field in self]


def on_fields(device: NvmlDevice, name: str, field_ids: list[int | tuple[int, int]]) -> FieldValues:
    """Calls nvmlDeviceGetFieldValues, or the call that clears them."""
    if not isinstance(field_ids, list):
        raise TypeError(f"field_ids must be a list, not {type(field_ids).__name__}")
    fields = (_structs.FieldValue * len(field_ids))()
    for field, item in zip(fields, field_ids):
        if isinstance(item, tuple):
            if len(item) != 2:
                raise ValueError(f"a tuple in field_ids must be (field id, scope id), not {item!r}")
            item, scope = item
            field.scopeId = numbers.unsigned(scope, "a scope id in field_ids")
        elif not isinstance(item, int):
            raise ValueError(f"field_ids must have field ids, or tuples of one and a scope id; it has {item!r}")
        field.fieldId = numbers.unsigned(item, "a field id in field_ids")
    if fields:  # NVML refuses to be asked for nothing
        _nvml.call(name, device._pointer, len(field_ids), fields, on=device)
    return FieldValues(FieldValue(device, field) for field in fields)
