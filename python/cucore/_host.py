"""Host: the host as a place for memory."""

import operator
import threading


class Host:
    """The host as a place for memory: ``Host()`` is any of its NUMA nodes, ``Host(numa_id=n)`` one of them, and
    ``Host.numa_current()`` that of the calling thread. There is one object of each."""

    __slots__ = ("__weakref__", "_is_numa_current", "_numa_id")
    _all = {}
    _making = threading.Lock()

    def __new__(cls, numa_id=None, *, is_numa_current=False):
        if numa_id is not None:
            if is_numa_current:
                raise ValueError("a Host has a numa_id or is_numa_current, not both")
            numa_id = _node(numa_id)
        key = (cls, numa_id, bool(is_numa_current))
        with cls._making:
            host = cls._all.get(key)
            if host is None:
                host = object.__new__(cls)
                _, host._numa_id, host._is_numa_current = key
                cls._all[key] = host
        return host

    @classmethod
    def numa_current(cls):
        """The NUMA node that the calling thread runs on."""
        return cls(is_numa_current=True)

    @property
    def numa_id(self):
        """The NUMA node, or None."""
        return self._numa_id

    @property
    def is_numa_current(self):
        """Whether it is the calling thread's NUMA node."""
        return self._is_numa_current

    def __repr__(self):
        if self._is_numa_current:
            return "Host.numa_current()"
        return "Host()" if self._numa_id is None else f"Host(numa_id={self._numa_id})"

    def __reduce__(self):
        return _restored, (self._numa_id, self._is_numa_current, type(self))


def _node(numa_id):
    try:
        node = -1 if isinstance(numa_id, bool) else operator.index(numa_id)
    except TypeError:
        node = -1
    if node < 0:
        raise ValueError(f"numa_id must be an int of 0 or more, not {numa_id!r}")
    return node


def _restored(numa_id, is_numa_current, kind=Host):
    return kind(numa_id, is_numa_current=is_numa_current)


Host.__module__ = "cucore"
