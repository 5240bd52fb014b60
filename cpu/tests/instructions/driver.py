"""The few driver calls that an instruction test needs, over any libcuda, through ctypes alone."""

import ctypes
from ctypes import byref, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

COMPUTE_MAJOR, COMPUTE_MINOR = 75, 76
INFO_LOG, INFO_LOG_SIZE, ERROR_LOG, ERROR_LOG_SIZE = 3, 4, 5, 6
ARENA = 1 << 18


class DriverError(Exception):
    """A driver call that failed: the call, its CUresult and the log if it wrote one."""

    def __init__(self, call, code, name, log=""):
        super().__init__(f"{call}: {name} ({code})" + (f": {log.strip()}" if log.strip() else ""))
        self.call, self.code = call, code


class Driver:
    """Device 0 of one libcuda with its primary context current, and two buffers for the rows."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.call("cuInit", c_uint(0))
        self.device, self.context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(self.device), c_int(0))
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)
        self.inputs, self.outputs = c_uint64(), c_uint64()
        self.call("cuMemAlloc_v2", byref(self.inputs), c_size_t(ARENA))
        self.call("cuMemAlloc_v2", byref(self.outputs), c_size_t(ARENA))

    def error_name(self, code):
        name = c_char_p()
        self.library.cuGetErrorName(c_int(code), byref(name))
        return name.value.decode() if name.value else "unknown error"

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise DriverError(name, code, self.error_name(code))

    def attribute(self, which):
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), c_int(which), self.device)
        return value.value

    def identity(self):
        name, version = (c_char * 100)(), c_int()
        self.call("cuDeviceGetName", name, c_int(100), self.device)
        self.call("cuDriverGetVersion", byref(version))
        compute = f"{self.attribute(COMPUTE_MAJOR)}.{self.attribute(COMPUTE_MINOR)}"
        return {"device": name.value.decode(), "compute": compute, "driver": version.value}

    def load(self, ptx):
        """A module from PTX text; a failure carries the driver's error log."""
        size = 8192
        logs = [(c_char * size)(), (c_char * size)()]
        options = (c_int * 4)(INFO_LOG, INFO_LOG_SIZE, ERROR_LOG, ERROR_LOG_SIZE)
        values = (c_void_p * 4)(ctypes.addressof(logs[0]), size, ctypes.addressof(logs[1]), size)
        module = c_void_p()
        code = self.library.cuModuleLoadDataEx(byref(module), c_char_p(ptx), c_uint(4), options, values)
        if code:
            raise DriverError("cuModuleLoadDataEx", code, self.error_name(code), logs[1].value.decode(errors="replace"))
        return module

    def launch(self, module, grid, block, shared, parameters):
        """Launches `test(in, out[, structure])` and waits for it."""
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), module, c_char_p(b"test"))
        boxes = [self.inputs, self.outputs]
        if parameters:
            boxes.append((c_char * len(parameters)).from_buffer_copy(parameters))
        addresses = (c_void_p * len(boxes))(*(ctypes.addressof(box) for box in boxes))
        self.call(
            "cuLaunchKernel",
            function,
            *(c_uint(n) for n in (*grid, *block)),
            c_uint(shared),
            c_void_p(0),
            addresses,
            c_void_p(0),
        )
        self.call("cuCtxSynchronize")

    def run(self, ptx, job):
        """Runs one kernel over its rows and returns the output memory."""
        module = self.load(ptx)
        size = job["out_bytes"]
        data = bytes.fromhex(job["inputs"])
        if max(size, len(data)) > ARENA:
            raise ValueError(f"a table of {max(size, len(data))} bytes does not fit the {ARENA}-byte buffers")
        if data:
            self.call("cuMemcpyHtoD_v2", self.inputs, c_char_p(data), c_size_t(len(data)))
        self.call("cuMemsetD8_v2", self.outputs, ctypes.c_ubyte(job["fill"]), c_size_t(size))
        self.launch(module, job["grid"], job["block"], job["shared"], bytes.fromhex(job["params"]))
        result = (c_char * size)()
        self.call("cuMemcpyDtoH_v2", result, self.outputs, c_size_t(size))
        self.call("cuModuleUnload", module)
        return result.raw
