"""The live set behind ``DeviceMemoryResource.peer_accessible_by``."""

from collections.abc import MutableSet

from cucore._device import Device


class PeerAccess(MutableSet):
    """The other devices whose kernels may read and write a pool's memory.

    Takes Devices and ordinals; the pool's own device is ignored everywhere. Each change is one call of the driver, none
    if nothing changes, and additions are checked before anything is applied.
    """

    __slots__ = ("_resource",)

    def __init__(self, resource):
        self._resource = resource

    @classmethod
    def _from_iterable(cls, devices):
        return set(devices)

    def _ordinals(self, devices):
        own = self._resource.device_id
        return {Device(device).device_id for device in devices} - {own}

    def _known(self, devices):
        """The ordinals of those that there are: what cannot be in the set needs no device."""
        return {ordinal for device in devices for ordinal in self._ordinal(device)}

    def _ordinal(self, device):
        try:
            return self._ordinals([device])
        except (ValueError, OverflowError):
            return set()

    def _now(self):
        return set(self._resource._peers())

    def _set(self, ordinals):
        if ordinals != self._now():
            self._resource._set_peers(sorted(ordinals))

    def __contains__(self, device):
        try:
            return bool(self._ordinal(device) & self._now())
        except TypeError:
            return False

    def __iter__(self):
        return (Device(ordinal) for ordinal in sorted(self._now()))

    def __len__(self):
        return len(self._now())

    def assign(self, devices):
        """Makes the set exactly ``devices``."""
        self._set(self._ordinals(devices))

    def add(self, device):
        self.update([device])

    def discard(self, device):
        try:
            self._set(self._now() - self._ordinal(device))
        except TypeError:
            return

    def clear(self):
        self._set(set())

    def update(self, *others):
        self._set(self._now().union(*(self._ordinals(other) for other in others)))

    def difference_update(self, *others):
        self._set(self._now().difference(*(self._known(other) for other in others)))

    def intersection_update(self, *others):
        self._set(self._now().intersection(*(self._known(other) for other in others)))

    def symmetric_difference_update(self, other):
        self._set(self._now() ^ self._ordinals(other))

    def __ior__(self, other):
        self.update(other)
        return self

    def __iand__(self, other):
        self.intersection_update(other)
        return self

    def __isub__(self, other):
        self.difference_update(other)
        return self

    def __ixor__(self, other):
        self.symmetric_difference_update(other)
        return self

    def __repr__(self):
        return f"PeerAccess({sorted(self._now())})"
