"""Code by reference: where both ends have a store, an ObjectCode goes from process to process as a name in it.

A reference is the name of an entry, which is the SHA-256 of ``ObjectCode.serialize()``: whatever the store gives, only
those bytes can come of it. It is sent once the store has said that it has them; small code, and code that the store
did not take in time, goes as bytes. Pickles find this by copyreg, which pickle, cloudpickle (Ray), multiprocessing and
mpi4py all ask first, as ``cucore.dask`` does.

A receiver cannot ask the sender back: none of these protocols has a way. So nothing is sent by reference unless someone
has said that the peers have the store, and a receiver whose store is late looks again for half a minute.
"""

import copyreg
import hashlib
import threading
import time

from cucore import _pickling
from cucore._cache_settings import named_store
from cucore._seam import ObjectCode
from cucore.stores._shared import shared_store

KIND = "object code"
ENDING = ".code"
LEAST_BYTES = 64 * 1024
PATIENCE = 30.0  # seconds for which a receiver asks its store
ONE_CALL = 10.0
POLL = 0.02, 1.0  # seconds between looks for what the store does not show yet: at first, and at most
MOST_KNOWN = 4096


class MissingCode(LookupError):
    """Code that came by reference cannot be had from this process's store; says what to do."""


class _Sending:
    def __init__(self, store, least_bytes):
        self.store = store
        self.least_bytes = least_bytes
        self.known = set()  # names that this process has stored

    def put(self, name, data):
        """Whether the store has it now. What another has stored is not relied on: it may be damaged."""
        if not (name in self.known and self.store.has(name)):
            if not self.store.keep(name, data, KIND):
                self.store._count(sent_whole=1)
                return False
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known.add(name)
        self.store._count(sent=1)
        return True


_lock = threading.Lock()
_sending = None  # a _Sending
_receiving = None  # the SharedStore of receive_from()
_opened = None  # (what $CUCORE_CACHE_STORE was, the SharedStore that it named)


class send_by_reference:  # noqa: N801 - it is called as a function, and may be the subject of `with`
    """From now on, or until the end of the ``with`` block, this process sends code by reference, in whatever thread it
    is pickled: whoever unpickles it must have the same store, by $CUCORE_CACHE_STORE or ``receive_from``, and know the
    key that signs. Pickles that are kept in files need the store as long as they live.

    store: a SharedStore or what ``open_store`` takes; None is $CUCORE_CACHE_STORE. This process receives from it, too.
    least_bytes: what is smaller goes as bytes. $CUCORE_SEND_BY_REFERENCE=1 is the same for a whole process.
    """

    def __init__(self, store: object = None, *, least_bytes: int = LEAST_BYTES):
        global _sending, _receiving
        opened = _configured() if store is None else shared_store(store)
        if opened is None:
            raise ValueError("send_by_reference: there is no store: give one, or set CUCORE_CACHE_STORE")
        with _lock:
            self._before = _sending, _receiving, copyreg.dispatch_table.get(ObjectCode)
            _sending, _receiving = _Sending(opened, least_bytes), opened
            copyreg.pickle(ObjectCode, reduced)
        self.store = opened

    def __enter__(self):
        return self.store

    def __exit__(self, *_):
        global _sending, _receiving
        with _lock:
            _sending, _receiving, reducer = self._before
            if reducer is None:
                copyreg.dispatch_table.pop(ObjectCode, None)
            else:
                copyreg.pickle(ObjectCode, reducer)


def receive_from(store: object) -> None:
    """The store from which this process takes code that comes by reference; None: that of $CUCORE_CACHE_STORE."""
    global _receiving
    _receiving = None if store is None else shared_store(store)


def _configured():
    """The store that the environment names, opened once; None if it names none."""
    global _opened
    named = named_store()
    if named is None:
        return None
    with _lock:
        if _opened is None or _opened[0] != named:
            _opened = named, shared_store(None)
        return _opened[1]


def reduced(code):
    """What pickle gets of an ObjectCode."""
    make, arguments = code.__reduce__()
    data, *mapping = arguments
    sending = _sending
    if sending is None or len(data) < sending.least_bytes:
        return make, arguments
    name = _name_of(data)
    if not sending.put(name, data):
        return make, arguments
    return object_code, (name, len(data), code.name, *mapping)


def _name_of(data):
    return hashlib.sha256(data).hexdigest() + ENDING


def object_code(name, size, called, symbol_mapping=None):
    """What a pickle refers to: as ``_pickling.object_code``, of what the store has under that name."""
    return _pickling.object_code(_received(name, size, called), symbol_mapping)


def _received(name, size, called):
    """The bytes of a reference. Raises MissingCode."""
    what = f"ObjectCode {called!r} ({size} bytes) came by reference to a store"
    store = _receiving or _configured()
    if store is None:
        raise MissingCode(
            f"{what}, and this process has none: set CUCORE_CACHE_STORE and CUCORE_CACHE_KEYS as the sender has them "
            "or call cucore.stores.receive_from(), or send the bytes: without send_by_reference, or with no "
            "CUCORE_SEND_BY_REFERENCE in the environment"
        )
    give_up = time.monotonic() + PATIENCE
    pause = POLL[0]
    while True:
        rejected = store.stats.rejected
        try:
            data = store.fetch(name, KIND, min(ONE_CALL, PATIENCE))
            why = "has it not" if store.stats.rejected == rejected else "has an entry that is not to be trusted"
        except TimeoutError as error:
            data, why = None, f"cannot be asked: {error}"
        if data is not None and _name_of(data) == name:
            store._count(received=1)
            return data
        if time.monotonic() > give_up:
            raise MissingCode(
                f"{what}, and {store!r} {why}, after {PATIENCE:g} s (entry {name}): if it is another store than the "
                "sender's, or has other keys, set CUCORE_CACHE_STORE and CUCORE_CACHE_KEYS; if the entry was removed, "
                "send the code again"
            )
        time.sleep(pause)
        pause = min(2 * pause, POLL[1])
