"""The warning about fork(), whose children cannot use CUDA: given when it happens, once per process."""

import os

from cucore._seam import driver_opened

_said = False


def warn(text, stacklevel):
    """A UserWarning, if it is the first of this process."""
    global _said
    if _said:
        return
    _said = True
    import warnings

    warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)


def warn_of_start_method(stacklevel):
    """Warns where multiprocessing would send driver state to children made by fork."""
    import multiprocessing

    if multiprocessing.get_start_method(allow_none=True) in (None, "fork"):
        warn(
            "CUDA does not work in a child made by fork: call multiprocessing.set_start_method('spawn') first",
            stacklevel + 1,
        )


def _before_fork():
    if driver_opened():
        warn(
            "this process uses CUDA, which does not work in a child made by fork: start the child with spawn instead, "
            "e.g. multiprocessing.set_start_method('spawn'), or fork before the first CUDA call",
            stacklevel=2,
        )


os.register_at_fork(before=_before_fork)
