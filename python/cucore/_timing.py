"""Timer: how long work on a stream takes on the device."""

import functools
import inspect

from cucore import _seam
from cucore._errors import CUDAError

_UNREAD = 64  # pairs of events kept before finished ones are read


class Timer:
    """Times what is submitted to a stream: as a context manager, as a decorator, with and without asyncio.

    ::

        with stream.timer() as timer:
            launch(stream, config, kernel, *args)
        timer.ms                      # waits for the end, the first time it is read


        async with stream.timer() as timer:
            launch(stream, config, kernel, *args)
        await timer                   # the same number, without blocking the event loop

        @timer                        # every call is timed; timer.times has them all
        def step(): ...

    Entering records an event, leaving records another; neither waits. The events come from the device's pool and go
    back when their time is read. A timer may be entered again and again, but not while it is entered. An exception in
    the block passes on; what was submitted until then is timed. One thread at a time.
    """

    __slots__ = ("__weakref__", "_start", "_stream", "_times", "_unread")

    def __init__(self, stream):
        self._stream = stream
        self._start = None
        self._unread = []
        self._times = []

    def __enter__(self):
        if self._start is not None:
            raise RuntimeError("the timer is running: leave its block before it is entered again")
        if len(self._unread) >= _UNREAD:
            self._read_finished()
        start = _timing_event(self._stream)
        try:
            start.record(self._stream)
        except BaseException:
            start.close()
            raise
        self._start = start
        return self

    def __exit__(self, kind, error, traceback):
        start, self._start = self._start, None
        try:
            end = _timing_event(self._stream)
            end.record(self._stream)
        except (CUDAError, RuntimeError):
            start.close()
            if kind is None:
                raise
            return  # the block's own exception matters more
        self._unread.append((start, end))

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, traceback):
        self.__exit__(kind, error, traceback)

    def __call__(self, function):
        """A decorator: every call of ``function`` (also of a coroutine function) is a run of this timer."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def timed(*args, **kwargs):
                with self:
                    return await function(*args, **kwargs)
        else:

            @functools.wraps(function)
            def timed(*args, **kwargs):
                with self:
                    return function(*args, **kwargs)

        timed.timer = self
        return timed

    def __await__(self):
        self._refuse_without_run()
        if self._unread:
            yield from self._unread[-1][1].__await__()
        return self.ms

    @property
    def ms(self):
        """Milliseconds of the last run; waits for its end."""
        self._refuse_without_run()
        return self.times[-1]

    @property
    def times(self):
        """Milliseconds of every run, in order, as a list; waits for the end of the last."""
        while self._unread:
            start, end = self._unread[0]
            end.sync()
            self._take(start, end)
        return list(self._times)

    @property
    def is_done(self):
        """Whether the last run has completed, so that reading its time does not wait."""
        self._refuse_without_run()
        return not self._unread or self._unread[-1][1].is_done

    def _refuse_without_run(self):
        if not self._unread and not self._times:
            what = "the block it times has not been left" if self._start is not None else "it has not timed anything"
            raise RuntimeError(f"the timer has no time yet: {what}")

    def _read_finished(self):
        while self._unread and self._unread[0][1].is_done:
            self._take(*self._unread[0])

    def _take(self, start, end):
        """Reads the first unread pair and gives it back."""
        self._times.append(end - start)
        del self._unread[0]
        start.close()
        end.close()

    def __reduce__(self):
        raise TypeError("a Timer holds driver state of this process and cannot be copied or pickled")

    def __repr__(self):
        return f"<Timer of {self._stream!r}, {len(self._times) + len(self._unread)} runs>"

    def _repr_html_(self):
        from cucore._notebook import timer_html

        self._read_finished()  # showing it waits for nothing
        return timer_html(self._stream, self._times, len(self._unread))


def _timing_event(stream):
    context = stream.context
    if context.is_green:  # an event can be recorded only in its own context, and the pool is the primary one's
        return context._create_event(True, False, False)
    return _pool(stream).get({"timing_enabled": True})


def _pool(stream):
    device = stream.device
    if device._event_pool is None or device._event_pool.is_closed:
        device._event_pool = _seam.device_event_pool(device.device_id)
    return device._event_pool


Timer.__module__ = "cucore"
