"""The errors of NVML, one class for each of its codes.

All are CUDAErrors: ``code`` (or ``status``), ``name``, ``call`` and ``hint`` say what failed and what to do.
"""

from __future__ import annotations

import builtins

from cucore._errors import CUDAError

__all__ = [
    "AlreadyInitializedError",
    "ArgumentVersionMismatchError",
    "CorruptedInforomError",
    "DeprecatedError",
    "DriverNotLoadedError",
    "FreqNotSupportedError",
    "FunctionNotFoundError",
    "GpuIsLostError",
    "GpuNotFoundError",
    "InUseError",
    "InsufficientPowerError",
    "InsufficientResourcesError",
    "InsufficientSizeError",
    "InvalidArgumentError",
    "InvalidStateError",
    "IrqIssueError",
    "LibRmVersionMismatchError",
    "LibraryNotFoundError",
    "NoDataError",
    "NoPermissionError",
    "NotFoundError",
    "NotReadyError",
    "NotSupportedError",
    "NvmlError",
    "OperatingSystemError",
    "ResetRequiredError",
    "ResetTypeNotSupportedError",
    "UninitializedError",
    "UnknownError",
    "VgpuEccNotSupportedError",
]  # MemoryError and TimeoutError, which a star import would put over the builtins, are those of the builtins as well

_classes: dict[int, type[NvmlError]] = {}


class NvmlError(CUDAError):
    """An NVML call failed. ``NvmlError(status)`` is the error of that code without a call.

    Attributes:
        status: NVML's number for the error, the same as ``code``.
    """

    def __init__(self, status: int, message: str | None = None):
        known = _classes.get(status, UnknownError)
        super().__init__(known._text if message is None else message)
        self.status = self.code = status
        self.name = known._name
        self.hint = known._hint

    def __reduce__(self):
        return type(self), (self.status, str(self)), self.__dict__

    _name = ""
    _text = ""
    _hint = ""


def error_of(code: int, call: str, what: str) -> NvmlError:
    """The error of NVML's ``code``, which ``call`` answered about ``what``, an object in words."""
    known = _classes.get(code, UnknownError)
    error = known(code, f"{known._name}: {known._text} ({call} on {what}, code {code})\nhint: {known._hint}")
    error.call = call
    return error


def _of(code: int, name: str, text: str, hint: str):
    """Makes a class that of ``code``. ``text`` begins with NVML's own words for it."""

    def register(cls):
        cls._name, cls._text, cls._hint = f"NVML_ERROR_{name}", text, hint
        cls.__doc__ = f"{cls._name}: {text}."
        cls.__module__ = "cucore.system"
        _classes[code] = cls
        return cls

    return register


_ASK_ROOT = "run as root, or let an administrator allow it"
_UPDATE = "install a newer driver"
_RELOAD = "restart the machine, or reload the driver after an update"


@_of(1, "UNINITIALIZED", "Uninitialized", "this is an error of cucore's; please report it")
class UninitializedError(NvmlError): ...


@_of(
    2,
    "INVALID_ARGUMENT",
    "Invalid Argument: an argument of the call is outside its allowed range, or not for this device",
    "get_num_devices() tells how many devices there are; what is for MIG devices needs one",
)
class InvalidArgumentError(NvmlError): ...


@_of(
    3,
    "NOT_SUPPORTED",
    "Not Supported: this device or its driver does not have what was asked",
    "catch cucore.system.NotSupportedError where devices differ; the CPU device has no board, fans or power supply",
)
class NotSupportedError(NvmlError): ...


@_of(4, "NO_PERMISSION", "Insufficient Permissions: this user may not do that", _ASK_ROOT)
class NoPermissionError(NvmlError): ...


@_of(5, "ALREADY_INITIALIZED", "Already Initialized", "register what was asked for once")
class AlreadyInitializedError(NvmlError): ...


@_of(
    6,
    "NOT_FOUND",
    "Not Found: there is nothing with this number or name",
    "Device.get_all_devices() shows the devices; NVML knows only processes that use one",
)
class NotFoundError(NvmlError): ...


@_of(
    7,
    "INSUFFICIENT_SIZE",
    "Insufficient Size: the answer does not fit",
    "ask again: there is more than there was a moment ago",
)
class InsufficientSizeError(NvmlError): ...


@_of(8, "INSUFFICIENT_POWER", "Insufficient External Power", "connect the power cables of the device")
class InsufficientPowerError(NvmlError): ...


@_of(
    9,
    "DRIVER_NOT_LOADED",
    "Driver Not Loaded: the kernel module of the driver is not there",
    "load it: modprobe nvidia",
)
class DriverNotLoadedError(NvmlError): ...


@_of(
    10, "TIMEOUT", "Timeout: nothing happened in the time given", "wait again, or longer; timeout_ms=None has no limit"
)
class NvmlTimeoutError(NvmlError, builtins.TimeoutError): ...


@_of(11, "IRQ_ISSUE", "Interrupt Request Issue: the kernel found a problem with the device's interrupts", _RELOAD)
class IrqIssueError(NvmlError): ...


@_of(
    12,
    "LIBRARY_NOT_FOUND",
    "NVML Shared Library Not Found",
    "install a GPU driver, or set CUCORE_DEVICE=cpu to ask about the CPU device",
)
class LibraryNotFoundError(NvmlError): ...


@_of(13, "FUNCTION_NOT_FOUND", "Function Not Found: the driver is older than this call", _UPDATE)
class FunctionNotFoundError(NvmlError): ...


@_of(14, "CORRUPTED_INFOROM", "Corrupted infoROM", "have the device serviced")
class CorruptedInforomError(NvmlError): ...


@_of(
    15,
    "GPU_IS_LOST",
    "GPU is lost: it fell off the bus, or cannot be reached",
    "restart the machine; see its kernel log",
)
class GpuIsLostError(NvmlError): ...


@_of(16, "RESET_REQUIRED", "GPU requires restart", "reset it: nvidia-smi --gpu-reset")
class ResetRequiredError(NvmlError): ...


@_of(
    17,
    "OPERATING_SYSTEM",
    "Blocked by the operating system",
    "see whether a container or control group keeps the device from this process",
)
class OperatingSystemError(NvmlError): ...


@_of(18, "LIB_RM_VERSION_MISMATCH", "Driver/library version mismatch", _RELOAD)
class LibRmVersionMismatchError(NvmlError): ...


@_of(19, "IN_USE", "In use by another client", "end the processes that use the device")
class InUseError(NvmlError): ...


@_of(20, "MEMORY", "Insufficient Memory", "free memory of the host")
class NvmlMemoryError(NvmlError, builtins.MemoryError): ...


@_of(21, "NO_DATA", "No data", "ask again later")
class NoDataError(NvmlError): ...


@_of(22, "VGPU_ECC_NOT_SUPPORTED", "ECC is not available with vGPU", "switch ECC off for virtual GPUs")
class VgpuEccNotSupportedError(NvmlError): ...


@_of(23, "INSUFFICIENT_RESOURCES", "Insufficient resources", "end other users of the device")
class InsufficientResourcesError(NvmlError): ...


@_of(24, "FREQ_NOT_SUPPORTED", "Frequency not supported", "choose one that nvidia-smi -q -d SUPPORTED_CLOCKS shows")
class FreqNotSupportedError(NvmlError): ...


@_of(25, "ARGUMENT_VERSION_MISMATCH", "Argument version mismatch: the driver knows another form of the call", _UPDATE)
class ArgumentVersionMismatchError(NvmlError): ...


@_of(26, "DEPRECATED", "Deprecated: the driver does not have this call any more", "see its release notes")
class DeprecatedError(NvmlError): ...


@_of(27, "NOT_READY", "Not ready", "ask again later")
class NotReadyError(NvmlError): ...


@_of(28, "GPU_NOT_FOUND", "GPU not found", "Device.get_all_devices() shows the devices")
class GpuNotFoundError(NvmlError): ...


@_of(29, "INVALID_STATE", "Invalid state", "see in which state the device is: nvidia-smi -q")
class InvalidStateError(NvmlError): ...


@_of(30, "RESET_TYPE_NOT_SUPPORTED", "Reset type not supported", "reset it in another way")
class ResetTypeNotSupportedError(NvmlError): ...


@_of(999, "UNKNOWN", "Unknown Error", "see the kernel log of the machine")
class UnknownError(NvmlError): ...


NvmlError.__module__ = "cucore.system"
MemoryError = NvmlMemoryError
TimeoutError = NvmlTimeoutError
