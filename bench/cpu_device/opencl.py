"""The kernels of kernels.cl on PoCL, through the few functions of libOpenCL that this takes."""

import ctypes
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLATFORM = b"Portable Computing Language"
PLATFORM_NAME, DEVICE_TYPE_ALL, DEVICE_MAX_COMPUTE_UNITS = 0x0902, 0xFFFFFFFF, 0x1002
DEVICE_NAME, DRIVER_VERSION, BUILD_LOG, MEM_USE_HOST_PTR = 0x102B, 0x102D, 0x1183, 1 << 3

handle, uint, size = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t
# Of each function: what it returns, a status or something made, and what it takes.
FUNCTIONS = {
    "clGetPlatformIDs": (int, [uint, handle, handle]),
    "clGetPlatformInfo": (int, [handle, uint, size, handle, handle]),
    "clGetDeviceIDs": (int, [handle, ctypes.c_ulong, uint, handle, handle]),
    "clGetDeviceInfo": (int, [handle, uint, size, handle, handle]),
    "clCreateContext": (handle, [handle, uint, handle, handle, handle, handle]),
    "clCreateCommandQueue": (handle, [handle, handle, ctypes.c_ulong, handle]),
    "clCreateProgramWithSource": (handle, [handle, uint, handle, handle, handle]),
    "clBuildProgram": (int, [handle, uint, handle, ctypes.c_char_p, handle, handle]),
    "clGetProgramBuildInfo": (int, [handle, handle, uint, size, handle, handle]),
    "clCreateKernel": (handle, [handle, ctypes.c_char_p, handle]),
    "clSetKernelArg": (int, [handle, uint, size, handle]),
    "clCreateBuffer": (handle, [handle, ctypes.c_ulong, size, handle, handle]),
    "clReleaseMemObject": (int, [handle]),
    "clEnqueueNDRangeKernel": (int, [handle, handle, uint, handle, handle, handle, uint, handle, handle]),
    "clFinish": (int, [handle]),
}


class OpenCLError(Exception):
    pass


class Library:
    """libOpenCL with its functions as methods: they raise where the status is not 0, and return what they make."""

    def __init__(self):
        library = ctypes.CDLL("libOpenCL.so.1")
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.argtypes = arguments
            function.restype = ctypes.c_int if result is int else result
            setattr(self, name, self._checked(name, function, result is int))

    @staticmethod
    def _checked(name, function, gives_status):
        def call(*arguments):
            status = ctypes.c_int(0)
            if gives_status:
                status.value = made = function(*arguments)
            else:
                made = handle(function(*arguments, ctypes.byref(status)))
            if status.value != 0:
                raise OpenCLError(f"{name} failed with {status.value}")
            return made

        return call

    def text(self, function, *arguments):
        """What an Info function says in words."""
        needed = size()
        function(*arguments, 0, None, ctypes.byref(needed))
        text = ctypes.create_string_buffer(max(needed.value, 1))
        function(*arguments, needed.value, text, None)
        return text.value


def pocl_platform(cl):
    count = uint()
    cl.clGetPlatformIDs(0, None, ctypes.byref(count))
    platforms = (handle * count.value)()
    cl.clGetPlatformIDs(count, platforms, None)
    for platform in platforms:
        if cl.text(cl.clGetPlatformInfo, platform, PLATFORM_NAME) == PLATFORM:
            return handle(platform)
    raise OpenCLError("no platform of PoCL")


class PoCL:
    """A side of the bench; `name` says which PoCL it is. OSError or OpenCLError where there is none."""

    def __init__(self):
        cl = self._cl = Library()
        device = self._device = handle()
        cl.clGetDeviceIDs(pocl_platform(cl), DEVICE_TYPE_ALL, 1, ctypes.byref(device), None)
        units = uint()
        cl.clGetDeviceInfo(device, DEVICE_MAX_COMPUTE_UNITS, 4, ctypes.byref(units), None)
        name, version = (cl.text(cl.clGetDeviceInfo, device, key).decode() for key in (DEVICE_NAME, DRIVER_VERSION))
        self.name = f"PoCL {version}, {name}, {units.value} threads"
        self._context = cl.clCreateContext(None, 1, ctypes.byref(device), None, None)
        self._queue = cl.clCreateCommandQueue(self._context, device, 0)
        source = ctypes.c_char_p((HERE / "kernels.cl").read_bytes())
        self._program = cl.clCreateProgramWithSource(self._context, 1, ctypes.byref(source), None)
        try:
            cl.clBuildProgram(self._program, 1, ctypes.byref(device), b"", None, None)
        except OpenCLError as error:
            log = cl.text(cl.clGetProgramBuildInfo, self._program, device, BUILD_LOG).decode(errors="replace")
            raise OpenCLError(f"{error}: {log}") from None

    def prepare(self, problem, arrays, results):
        """A function that runs the problem once and waits for it; has run it once, which compiles."""
        cl, queue, buffers = self._cl, self._queue, Buffers(self._cl, self._context)
        steps = []
        for launch in problem.launches(*results):
            kernel = cl.clCreateKernel(self._program, launch.kernel.encode())
            for place, argument in enumerate([*launch.arguments, *problem.constants.values()]):
                value = buffers.of(argument) if hasattr(argument, "ctypes") else as_scalar(argument)
                cl.clSetKernelArg(kernel, place, ctypes.sizeof(value), ctypes.byref(value))
            grid = [*launch.grid, 1, 1][:3]
            block = [*launch.block, 1, 1][:3]
            items = (size * 3)(*(g * b for g, b in zip(grid, block, strict=True)))
            steps.append((kernel, items, (size * 3)(*block)))

        def run():
            for kernel, items, block in steps:
                cl.clEnqueueNDRangeKernel(queue, kernel, 3, None, items, block, 0, None, None)
            cl.clFinish(queue)

        run.buffers = buffers  # live as long as it
        run()
        return run


class Buffers:
    """Arrays as OpenCL's buffers. PoCL uses the array's own memory, so nothing is copied, mapped or unmapped."""

    def __init__(self, cl, context):
        self._cl, self._context, self._made = cl, context, {}

    def of(self, array):
        at = array.ctypes.data
        if at not in self._made:
            self._made[at] = self._cl.clCreateBuffer(self._context, MEM_USE_HOST_PTR, array.nbytes, at)
        return self._made[at]

    def __del__(self):
        for buffer in self._made.values():
            self._cl.clReleaseMemObject(buffer)


def as_scalar(number):
    return ctypes.c_float(number) if isinstance(number, float) else ctypes.c_int(number)
