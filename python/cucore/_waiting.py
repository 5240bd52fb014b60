"""Waiting for events without blocking a thread that has other work: futures, and ``await event``.

One thread of its own asks the driver about every event that is waited for. It is a daemon, so it keeps no process from
ending, and no Python runs on a thread of the driver. When the process ends it is stopped, so that the events it was
asking about are released; futures that are not done then are cancelled.
"""

import atexit
import os
import threading
from concurrent.futures import Future
from time import sleep

_SHORTEST, _LONGEST = 20e-6, 1e-3  # seconds between two rounds of questions

_condition = threading.Condition()
_pending = []
_thread = None
_ending = False


class _Awaited(Future):
    """What an event loop waits for. One that still runs at the end is a daemon thread's: it sleeps on, where a
    cancellation would make it print a traceback."""


@atexit.register
def _stop():
    global _ending
    with _condition:
        _ending = True
        _condition.notify()
    if _thread is not None:
        _thread.join()
    for _, promise in _pending:
        if not isinstance(promise, _Awaited):
            promise.cancel()
    _pending.clear()
    _ending = False  # a later exit handler may wait too


def _forget():
    """In a forked child: the thread does not exist, and the lock would never be released."""
    global _condition, _thread
    _condition = threading.Condition()
    _pending.clear()
    _thread = None


os.register_at_fork(after_in_child=_forget)


def future(event):
    """A Future that is done when the work before the event's last record is."""
    return _promised(event, Future())


def _promised(event, promise):
    global _thread
    if _answer(event, promise):
        return promise
    with _condition:
        _pending.append((event, promise))
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=_ask, name="cucore events", daemon=True)
            _thread.start()
        _condition.notify()
    return promise


def awaited(event):
    """The iterator of ``await event``."""
    from asyncio import wrap_future

    promise = _promised(event, _Awaited())
    if promise.done():
        promise.result()
        return iter(())
    return wrap_future(promise).__await__()


def awaited_stream(stream):
    """The iterator of ``await stream``: its work so far."""
    return awaited(stream.record())


def _answer(event, promise):
    """Whether there is an answer; if so, the future has it."""
    if promise.cancelled():
        return True
    try:
        if not event.is_done:
            return False
    except Exception as error:
        if promise.set_running_or_notify_cancel():
            promise.set_exception(error)
        return True
    if promise.set_running_or_notify_cancel():
        promise.set_result(None)
    return True


def _ask():
    pause = _SHORTEST
    while True:
        with _condition:
            while not _pending and not _ending:
                pause = _SHORTEST
                _condition.wait()
            if _ending:
                return
            asked = list(_pending)
        answered = {id(promise) for event, promise in asked if _answer(event, promise)}
        del asked
        if answered:
            pause = _SHORTEST
            with _condition:
                _pending[:] = [entry for entry in _pending if id(entry[1]) not in answered]
        sleep(pause)
        pause = min(2 * pause, _LONGEST)
