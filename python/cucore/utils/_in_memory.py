"""InMemoryProgramCache: compiled code of this process, least recently used first to go."""

import threading
from collections import OrderedDict

from cucore.utils._resource import RecordCache, key_bytes


def check_cap(max_size_bytes):
    """A cap is a positive number of bytes, or None for none."""
    if max_size_bytes is not None and max_size_bytes <= 0:
        raise ValueError(f"max_size_bytes must be positive or None, not {max_size_bytes}")
    return max_size_bytes


class InMemoryProgramCache(RecordCache):
    """Compiled code in memory; with ``max_size_bytes``, the least recently used entries go when the sum passes it."""

    def __init__(self, *, max_size_bytes=None):
        self._cap = check_cap(max_size_bytes)
        self._records = OrderedDict()
        self._size = 0
        self._lock = threading.RLock()

    def get_record(self, key):
        name = key if type(key) is bytes else key_bytes(key)
        # Each of these two is one step for other threads, and between them an entry may go: no lock is needed.
        record = self._records.get(name)
        if record is not None:
            try:
                self._records.move_to_end(name)
            except KeyError:  # evicted meanwhile
                pass
        return record

    def set_record(self, key, record):
        name = key if type(key) is bytes else key_bytes(key)
        with self._lock:
            before = self._records.pop(name, None)
            self._size += len(record.data) - (0 if before is None else len(before.data))
            self._records[name] = record
            while self._cap is not None and self._size > self._cap and self._records:
                _, evicted = self._records.popitem(last=False)
                self._size -= len(evicted.data)

    def __delitem__(self, key):
        with self._lock:
            self._size -= len(self._records.pop(key_bytes(key)).data)

    def __len__(self):
        with self._lock:
            return len(self._records)

    def clear(self):
        with self._lock:
            self._records.clear()
            self._size = 0

    def __repr__(self):
        return f"<InMemoryProgramCache entries={len(self)}>"
