"""The driver's entries as functions that raise, for programs that measure it with nothing in between."""

import ctypes


class Driver:
    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")

    def counts(self):
        compiled = ctypes.c_size_t()
        self._library.cucore_cpu_kernel_counts(ctypes.byref(compiled), None)
        return compiled.value

    def __getattr__(self, name):
        function = getattr(self._library, name)

        def call(*arguments):
            result = function(*arguments)
            if result != 0:
                raise RuntimeError(f"{name}: {result}")

        return call
