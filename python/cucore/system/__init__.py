"""NVIDIA's management library (NVML): devices, drivers and processes, without initialising CUDA.

    for device in system.Device.get_all_devices():
        print(device.name, device.memory_info.free, device.temperature.get_sensor())

The library is opened at the first call, not by the import, and stays the same then: that of the driver in use, if CUDA
has been used by then; else that of GPUs, or of the CPU device where CUCORE_DEVICE chooses it or there is no GPU. Where
there is no library at all, get_user_mode_driver_version() and get_num_devices() ask the driver; everything else raises
LibraryNotFoundError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as TYPE_CHECKING  # which cuda.core shows too

from cucore import _seam
from cucore.system import _numbers as numbers
from cucore.system import _nvml, _structs, exceptions
from cucore.system import typing as typing
from cucore.system._device import Device
from cucore.system._parts import NvlinkInfo
from cucore.system._system_events import RegisteredSystemEvents
from cucore.system.exceptions import *  # noqa: F403
from cucore.system.exceptions import LibraryNotFoundError, NvmlError
from cucore.system.exceptions import MemoryError as MemoryError
from cucore.system.exceptions import NvmlMemoryError as NvmlMemoryError
from cucore.system.exceptions import NvmlTimeoutError as NvmlTimeoutError
from cucore.system.exceptions import TimeoutError as TimeoutError
from cucore.system.typing import GpuP2PCapsIndex, GpuP2PStatus, GpuTopologyLevel, SystemEventType

CUDA_BINDINGS_NVML_IS_COMPATIBLE = True
"""Whether all of this module is there. It always is: nothing depends on the version of cuda.bindings."""

__all__ = [
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "Device",
    "NvlinkInfo",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_p2p_status",
    "get_process_name",
    "get_topology_common_ancestor",
    "get_user_mode_driver_version",
    "register_events",
    *exceptions.__all__,
]

_SYSTEM = "the system"


def get_user_mode_driver_version() -> tuple[int, int]:
    """The CUDA version of the driver: (major, minor)."""
    try:
        version = int(_nvml.get(_nvml.uint, "nvmlSystemGetCudaDriverVersion_v2", on=_SYSTEM).value)
    except LibraryNotFoundError:
        version = _seam.driver_info().version
    return version // 1000, version % 1000 // 10


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """The version of the driver itself, for example (580, 65, 6); two numbers on WSL."""
    return _numbers_in(_nvml.get_text("nvmlSystemGetDriverVersion", on=_SYSTEM))


def get_nvml_version() -> tuple[int, ...]:
    """The version of NVML: that of CUDA's interface, and of the driver."""
    return _numbers_in(_nvml.get_text("nvmlSystemGetNVMLVersion", on=_SYSTEM))


def get_driver_branch() -> str:
    """The branch that the driver's version is of, for example "r580_00"."""
    info = _nvml.versioned(_structs.DriverBranchInfo)
    size = _nvml.uint(_structs.DriverBranchInfo.branch.size)
    _nvml.call("nvmlSystemGetDriverBranch", _nvml.byref(info), size, on=_SYSTEM)
    return info.branch.decode()


def get_num_devices() -> int:
    """How many devices there are; CUDA_VISIBLE_DEVICES does not count."""
    try:
        return Device.get_device_count()
    except LibraryNotFoundError:
        return _seam.device_count()


def get_process_name(pid: int) -> str:
    """The name of a process that uses a device; NotFoundError for one that NVML does not know."""
    number = numbers.unsigned(pid, "pid")
    for device in Device.get_all_devices():  # NVML knows the processes that it has listed
        try:
            _ = device.compute_running_processes
        except NvmlError:
            continue
    return _nvml.get_text("nvmlSystemGetProcessName", _nvml.uint(number), on=f"process {number}", size=4096)


def get_topology_common_ancestor(device1: Device, device2: Device) -> GpuTopologyLevel:
    """What the path between two devices goes through. Linux only."""
    level = _of_two("nvmlDeviceGetTopologyCommonAncestor", device1, device2)
    return numbers.word_of(numbers.TOPOLOGY_LEVELS_BY_NUMBER, level, "the topology level")


def get_p2p_status(device1: Device, device2: Device, index: GpuP2PCapsIndex | str) -> GpuP2PStatus:
    """Whether two devices support what ``index`` names. An answer that only newer drivers give is UNKNOWN."""
    number = numbers.number_of(numbers.P2P_CAPS, index, "index")
    status = _of_two("nvmlDeviceGetP2PStatus", device1, device2, _nvml.uint(number))
    return numbers.P2P_STATUS_BY_NUMBER.get(status, GpuP2PStatus.UNKNOWN)


def register_events(events: SystemEventType | str | list[SystemEventType | str]) -> RegisteredSystemEvents:
    """Waits from now on for drivers that leave devices or take them: RegisteredSystemEvents.wait() gets the events. A
    driver may take only one registration of a process. Linux only."""
    return RegisteredSystemEvents(events)


def _of_two(name: str, device1: Device, device2: Device, *arguments) -> int:
    for what, device in (("device1", device1), ("device2", device2)):
        if not isinstance(device, Device):
            raise TypeError(f"{what} must be a cucore.system.Device, not {type(device).__name__}")
    return _nvml.get_uint(name, device1._pointer, device2._pointer, *arguments, on=f"{device1!r} and {device2!r}")


def _numbers_in(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
