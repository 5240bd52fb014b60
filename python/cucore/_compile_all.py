"""compile_all: many Programs compiled side by side, with progress, every error told, and an end at Ctrl-C."""

import builtins
import concurrent.futures
import contextlib
import logging
import os
import sys
import time

from cucore._errors import NVRTCError
from cucore._program import Program, inputs_of_compile

_log = logging.getLogger("cucore.compile")
_POLL = 0.05  # seconds between two looks at compiles that are to end: a cancel reaches those alone that have begun

_Group = getattr(builtins, "ExceptionGroup", None)
if _Group is None:  # Python 3.10: one that holds them in the same way

    class _Group(Exception):
        def __init__(self, message, exceptions):
            super().__init__(message, exceptions)

        def __str__(self):
            return f"{self.args[0]} ({len(self.args[1])} sub-exceptions)"


class CompileErrors(_Group):
    """What compile_all raises when programs could not be compiled: an ExceptionGroup, where Python has that (3.11)."""

    _indices = _results = ()

    @property
    def exceptions(self):
        """The errors, in the order of the programs."""
        return tuple(self.args[1])

    @property
    def indices(self):
        """Which of the programs each error belongs to."""
        return self._indices

    @property
    def results(self):
        """What compile_all would have returned, with None for those that failed."""
        return self._results

    def derive(self, exceptions):
        """What ``except*`` and ``split`` make of a part: a plain group."""
        return _Group(self.args[0], exceptions)


class _Line:
    """Progress as one line on a terminal, where there is no tqdm; nothing elsewhere."""

    def __init__(self, total, desc, **_):
        self._total, self._what, self._done = total, desc, 0
        self._out = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
        self.update(0)

    def update(self, count):
        self._done += count
        if self._out is not None:
            self._out.write(f"\r{self._what}: {self._done} of {self._total}")
            self._out.flush()

    def close(self):
        if self._out is not None:
            self._out.write("\n")


class _Nothing:
    def update(self, count):
        pass

    def close(self):
        pass


def _bar(progress, total):
    if not progress:
        return _Nothing()
    if progress is not True:
        return progress(total=total, desc="compile", unit="program")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total, "compile")
    return tqdm(total=total, desc="compile", unit="program", disable=None)  # None: shown on a terminal only


def _job(item):
    """(program, name expressions), checked, of what the caller lists."""
    program, names = item if isinstance(item, tuple) and len(item) == 2 else (item, ())
    if not isinstance(program, Program):
        raise TypeError(
            f"programs must be Programs, or pairs of a Program and its name expressions, not {type(item).__name__}"
        )
    return program, names


def _compile(program, target_type, names, cache):
    begin = time.perf_counter()
    try:
        code = program.compile(target_type, names, cache=cache)
    except Exception as error:
        _log.debug("%s: failed: %s", program._options.name, error)
        raise
    report = program._report
    _log.debug("%s: %.0f ms, cache: %s", code.name, 1e3 * (time.perf_counter() - begin), report["cache"])
    return code


def compile_all(programs, target_type="cubin", *, workers=None, cache=None, progress=False):
    """Compiles many Programs in parallel; returns their ObjectCodes in the order of ``programs``.

    Args:
        programs: Programs, or pairs of a Program and its name expressions.
        target_type: what to make of each, as for ``Program.compile``.
        workers: how many compile at the same time; None: as many as the process has CPU cores.
        cache: as for ``Program.compile``.
        progress: True shows a bar on a terminal (tqdm's where that is installed, else a line); a class such as
            ``tqdm.notebook.tqdm`` is called with total, desc and unit, and told with ``update(1)`` and ``close()``.

    Every program is compiled, also when others fail; then CompileErrors has all errors. Ctrl-C, and any other exception
    that reaches the waiting thread, ends the compiles that run, as ``Program.cancel`` does, and starts no more.
    What is done is logged, at level DEBUG, by the logger ``cucore.compile``.
    """
    jobs = [_job(item) for item in programs]
    for program, names in jobs:
        with contextlib.suppress(NVRTCError):  # of options: told with the errors of the others
            inputs_of_compile(program, target_type, names)
    if workers is None:
        workers = len(os.sched_getaffinity(0))
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers={workers!r}: must be an int of at least 1, or None")
    if not jobs:
        return []
    bar = _bar(progress, len(jobs))
    pool = concurrent.futures.ThreadPoolExecutor(min(workers, len(jobs)), "cucore-compile")
    futures = []
    try:
        futures += [pool.submit(_compile, program, target_type, names, cache) for program, names in jobs]
        for _ in concurrent.futures.as_completed(futures):
            bar.update(1)
    except BaseException:
        for future in futures:
            future.cancel()
        while concurrent.futures.wait(futures, _POLL).not_done:
            for (program, _), future in zip(jobs, futures, strict=False):
                if future.running():
                    program.cancel()
        raise
    finally:
        pool.shutdown()
        bar.close()
    return _results(futures)


def _results(futures):
    failed = [(i, future.exception()) for i, future in enumerate(futures) if future.exception() is not None]
    _log.info("%d programs compiled, %d failed", len(futures) - len(failed), len(failed))
    results = [None if future.exception() is not None else future.result() for future in futures]
    if not failed:
        return results
    error = CompileErrors(
        f"{len(failed)} of {len(futures)} programs could not be compiled", [error for _, error in failed]
    )
    error._indices = tuple(index for index, _ in failed)
    error._results = results
    raise error


__all__ = ["CompileErrors", "compile_all"]
for _class in (CompileErrors, compile_all):
    _class.__module__ = "cucore"
del _class
