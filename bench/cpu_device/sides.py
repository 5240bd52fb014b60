"""Two sides of the bench, straightforward C++ and the CPU device (the third is opencl.py). A side's `prepare` gives a
function that runs a problem on its own copies of the results and waits for it, and has run it once: what is compiled
at the first run is then compiled.
"""

import ctypes
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Reference:
    def __init__(self, library):
        self._library = ctypes.CDLL(str(library))

    def prepare(self, problem, arrays, results):
        name, *arguments = problem.call(*results)
        function = getattr(self._library, name)
        converted = [ctypes.c_void_p(a.ctypes.data) if hasattr(a, "ctypes") else a for a in arguments]

        def run():
            function(*converted)

        run()
        return run


def compile_kernels(cucore):
    """kernels.cu as what `Device` loads."""
    options = cucore.ProgramOptions(arch=f"sm_{cucore.Device().arch}", std="c++17")
    return cucore.Program((HERE / "kernels.cu").read_text(), "c++", options).compile("cubin").code


class Device:
    """Kernels on the CPU device, compiled for the processor `march` (CUCORE_CPU_MARCH)."""

    def __init__(self, cucore, kernels, march):
        self._cucore = cucore
        self._march = march
        device = cucore.Device()
        device.set_current()
        self._stream = device.create_stream()
        self._code = cucore.ObjectCode.from_cubin(kernels)

    def prepare(self, problem, arrays, results):
        steps = []
        for launch in problem.launches(*results):
            arguments = [arrays.buffer(a) if hasattr(a, "ctypes") else a for a in launch.arguments]
            config = self._cucore.LaunchConfig(grid=launch.grid, block=launch.block)
            steps.append((self._code.get_kernel(launch.kernel).launcher(config), arguments))
        for name, values in problem.constants.items():
            self._code.get_global(name).copy_from(arrays.buffer(values), stream=self._stream)

        def run():
            for launcher, arguments in steps:
                launcher(self._stream, *arguments)
            self._stream.sync()

        os.environ["CUCORE_CPU_MARCH"] = self._march
        run()
        del os.environ["CUCORE_CPU_MARCH"]
        return run
