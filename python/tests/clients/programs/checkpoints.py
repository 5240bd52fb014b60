"""A process is stopped and goes on, as the driver lets it."""

import os

from cuda.core import Device, checkpoint
from cuda.core.typing import ProcessStateType

device = Device()
device.set_current()
process = checkpoint.Process(os.getpid())
print(process.pid == os.getpid(), [str(state) for state in ProcessStateType])
for step in ("state", "lock", "checkpoint", "restore", "unlock", "restore_thread_id", "state"):
    try:
        value = getattr(process, step)
        value = value() if callable(value) else value
        print(step, value if isinstance(value, (str, type(None))) else type(value).__name__)
    except Exception as error:
        print(
            step,
            [
                kind.__name__
                for kind in type(error).__mro__
                if kind.__module__ == "builtins" or kind.__name__ == "CUDAError"
            ][0],
        )
for wrong in (
    lambda: checkpoint.Process("x"),
    lambda: checkpoint.Process(-1).state,
    lambda: checkpoint.Process(0),
    lambda: checkpoint.Process(True),
    lambda: checkpoint.Process(1 << 22).state,
    lambda: process.lock(timeout_ms=-1),
    lambda: process.restore(gpu_mapping={"x": 1}),
):
    try:
        print("taken", type(wrong()).__name__)
    except Exception as error:
        print(
            [
                kind.__name__
                for kind in type(error).__mro__
                if kind.__module__ == "builtins" or kind.__name__ == "CUDAError"
            ][0]
        )
