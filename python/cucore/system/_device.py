"""Device: what NVML knows of a device, without CUDA."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref
from typing import Any

from cucore._device import Device as CudaDevice
from cucore._errors import CUDAError
from cucore.system import _numbers as numbers
from cucore.system import _nvml, _parts, _structs
from cucore.system._events import DeviceEvents
from cucore.system._fields import FieldValues, on_fields
from cucore.system._mig import MigInfo
from cucore.system._nvml_device import NvmlDevice
from cucore.system.exceptions import InvalidArgumentError, NotFoundError
from cucore.system.typing import (
    AddressingMode,
    AffinityScope,
    ClocksEventReasons,
    ClockType,
    DeviceArch,
    EventType,
    GpuTopologyLevel,
)

_PREFIXES = ("GPU-", "MIG-")
_UNKNOWN_PSTATE = 32


class Device(NvmlDevice):
    """A device that NVML shows: by its NVML index, its UUID (with the prefix GPU- or MIG-) or its place on the PCI bus.

    Neither CUDA nor a context is made, and CUDA_VISIBLE_DEVICES does not count; so an index need not be that of
    cucore.Device. What a device does not have raises NotSupportedError.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        index: int | None = None,
        uuid: bytes | str | None = None,
        pci_bus_id: bytes | str | None = None,
    ):
        given = {"index": index, "uuid": uuid, "pci_bus_id": pci_bus_id}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError(f"pass one of index, uuid and pci_bus_id, not {' and '.join(given) or 'none'}")
        ((name, value),) = given.items()
        self._arguments = f"{name}={value!r}"
        if name == "index":
            call, argument = "nvmlDeviceGetHandleByIndex_v2", _nvml.uint(numbers.unsigned(index, "index"))
        else:
            call = "nvmlDeviceGetHandleByUUID" if name == "uuid" else "nvmlDeviceGetHandleByPciBusId_v2"
            argument = ctypes.c_char_p(_bytes(value, name))
        self._pointer = _nvml.get(ctypes.c_void_p, call, argument, on=self)

    @classmethod
    def _of_cuda_uuid(cls, uuid: str) -> Device:
        """The device, or the MIG device, that CUDA gives this UUID. Raises RuntimeError."""
        for prefix in _PREFIXES:
            try:
                return cls(uuid=prefix + uuid)
            except NotFoundError:
                continue
        raise RuntimeError(f"NVML shows no device with the UUID {uuid}: it may be kept from this container")

    @classmethod
    def get_device_count(cls) -> int:
        """How many devices there are, without MIG devices."""
        return _nvml.get_uint("nvmlDeviceGetCount_v2", on="the system")

    @classmethod
    def get_all_devices(cls) -> Iterator[Device]:
        """All devices, by their index."""
        return (cls(index=index) for index in range(cls.get_device_count()))

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> Iterator[Device]:
        """The devices that this processor is near to. Linux only."""
        cpu = _nvml.uint(numbers.unsigned(cpu_index, "cpu_index"))
        what = f"processor {cpu.value}"
        return cls._list(what, "nvmlSystemGetTopologyGpuSet", cpu, on=what)

    @classmethod
    def _list(cls, what: str, name: str, *arguments: Any, on: object) -> Iterator[Device]:
        found = _nvml.get_list(ctypes.c_void_p, name, *arguments, on=on)
        return (cls._at(address, f"{i} of those near to {what}") for i, address in enumerate(found))

    # ---- identity ---------------------------------------------------------------------------------------------------

    @property
    def index(self) -> int:
        """NVML's index; after a restart it may be another device's."""
        return self._uint("nvmlDeviceGetIndex")

    @property
    def uuid(self) -> str:
        """The UUID, with the prefix GPU- or MIG-."""
        return self._text("nvmlDeviceGetUUID")

    @property
    def uuid_without_prefix(self) -> str:
        """The UUID as CUDA has it: cucore.Device.uuid."""
        uuid = self.uuid
        return uuid[4:] if uuid.startswith(_PREFIXES) else uuid

    @property
    def pci_bus_id(self) -> str:
        """Its place on the bus: domain:bus:device.function."""
        return self.pci_info.bus_id

    @property
    def name(self) -> str:
        """The product's name."""
        return self._text("nvmlDeviceGetName")

    @property
    def brand(self) -> str:
        """The product's line, "Unknown" for one of a newer driver."""
        number = self._uint("nvmlDeviceGetBrand")
        return numbers.BRANDS[number] if number < len(numbers.BRANDS) else numbers.BRANDS[0]

    @property
    def serial(self) -> str:
        """The serial number of the board."""
        return self._text("nvmlDeviceGetSerial")

    @property
    def module_id(self) -> int:
        """Its number on the baseboard, 0 where there is none."""
        return self._uint("nvmlDeviceGetModuleId")

    @property
    def minor_number(self) -> int:
        """The number in /dev/nvidiaN. Linux only."""
        return self._uint("nvmlDeviceGetMinorNumber")

    @property
    def numa_node_id(self) -> int:
        """The device's own NUMA node, on systems where devices are nodes."""
        return self._uint("nvmlDeviceGetNumaNodeId")

    @property
    def arch(self) -> DeviceArch:
        """The architecture, UNKNOWN for one of a newer driver."""
        number = self._uint("nvmlDeviceGetArchitecture")
        try:
            return DeviceArch(number)
        except ValueError:
            return DeviceArch.UNKNOWN

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """(major, minor)."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        _nvml.call("nvmlDeviceGetCudaComputeCapability", self._pointer, byref(major), byref(minor), on=self)
        return major.value, minor.value

    @property
    def addressing_mode(self) -> AddressingMode | None:
        """How it reads memory of the host that was allocated without CUDA; None if it does not."""
        mode = self._versioned(_structs.AddressingMode, "nvmlDeviceGetAddressingMode")
        return numbers.ADDRESSING_MODES_BY_NUMBER.get(mode.value)

    @property
    def pci_info(self) -> _parts.PciInfo:
        """Its place and link on the PCI bus. RuntimeError for a device without one, as MIG devices are."""
        try:
            return _parts.PciInfo(self, self._versioned(_structs.PciInfoExt, "nvmlDeviceGetPciInfoExt"))
        except InvalidArgumentError as error:
            raise RuntimeError(f"{self!r} is on no PCI bus: ask mig.parent about a MIG device's") from error

    def to_cuda_device(self) -> CudaDevice:
        """The device for CUDA, by its UUID. RuntimeError if CUDA does not show it: a device divided by MIG, or one
        that CUDA_VISIBLE_DEVICES hides."""
        uuid = self.uuid_without_prefix
        try:
            return CudaDevice.from_uuid(uuid)
        except (CUDAError, ValueError) as error:
            raise RuntimeError(
                f"CUDA shows no device with the UUID {uuid} of {self!r}: CUDA_VISIBLE_DEVICES may hide it, "
                "CUCORE_DEVICE may choose another driver, or MIG divides it, and its parts are in mig.get_all_devices()"
            ) from error

    # ---- modes ------------------------------------------------------------------------------------------------------

    @property
    def is_c2c_enabled(self) -> bool:
        """Whether it has a link from chip to chip, and uses it."""
        return bool(self._struct(_structs.C2cModeInfo, "nvmlDeviceGetC2cModeInfoV").isC2cEnabled)

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """Whether the driver stays loaded with no user. Setting it needs root. Linux only."""
        return bool(self._uint("nvmlDeviceGetPersistenceMode"))

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        _nvml.call("nvmlDeviceSetPersistenceMode", self._pointer, _nvml.uint(bool(enabled)), on=self)

    @property
    def is_display_connected(self) -> bool:
        """Whether a monitor is connected."""
        return bool(self._uint("nvmlDeviceGetDisplayMode"))

    @property
    def is_display_active(self) -> bool:
        """Whether something draws a screen with it, on a monitor or not."""
        return bool(self._uint("nvmlDeviceGetDisplayActive"))

    @property
    def mig(self) -> MigInfo[Device]:
        """The parts it is divided into, or is one of."""
        return MigInfo(self)

    @property
    def repair_status(self) -> _parts.RepairStatus:
        """Whether it waits for a reset to be repaired."""
        status = self._versioned(_structs.RepairStatus, "nvmlDeviceGetRepairStatus")
        return _parts.RepairStatus(bool(status.channelRepairPending), bool(status.tpcRepairPending))

    # ---- affinity and topology --------------------------------------------------------------------------------------

    def get_cpu_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """The processors that are near to it. Linux only."""
        return _parts.get_affinity(self, "nvmlDeviceGetCpuAffinityWithinScope", scope)

    def get_memory_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """The NUMA nodes that are near to it. Linux only."""
        return _parts.get_affinity(self, "nvmlDeviceGetMemoryAffinity", scope)

    def set_cpu_affinity(self) -> None:
        """Binds the calling thread to the processors that are near to it. Linux only."""
        _nvml.call("nvmlDeviceSetCpuAffinity", self._pointer, on=self)

    def clear_cpu_affinity(self) -> None:
        """Lets the calling thread run on all processors. Linux only."""
        _nvml.call("nvmlDeviceClearCpuAffinity", self._pointer, on=self)

    def get_topology_nearest_gpus(self, level: GpuTopologyLevel | str) -> Iterator[Device]:
        """The devices that are as near to it as ``level`` says. Linux only."""
        number = numbers.number_of(numbers.TOPOLOGY_LEVELS, level, "level")
        arguments = (self._pointer, _nvml.uint(number))
        yield from self._list(repr(self), "nvmlDeviceGetTopologyNearestGpus", *arguments, on=self)

    def get_nvlink_count(self) -> int:
        """How many NVLinks it has."""
        return int(self.get_field_values([numbers.NVLINK_COUNT])[0].value)

    def get_nvlink(self, link: int) -> _parts.NvlinkInfo:
        """An NVLink; ValueError if it does not have that one."""
        return _parts.NvlinkInfo(self, _parts.in_range(link, self.get_nvlink_count(), "NVLink", self))

    def get_nvlinks(self) -> Iterator[_parts.NvlinkInfo]:
        """All its NVLinks."""
        return (_parts.NvlinkInfo(self, link) for link in range(self.get_nvlink_count()))

    # ---- clocks and load --------------------------------------------------------------------------------------------

    def get_clock(self, clock_type: ClockType | str) -> _parts.ClockInfo:
        """One of its clocks."""
        return _parts.ClockInfo(self, clock_type)

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Whether clocks rise by themselves, and whether they do so by default."""
        now = _nvml.uint()
        default = _nvml.get_uint("nvmlDeviceGetAutoBoostedClocksEnabled", self._pointer, byref(now), on=self)
        return bool(now.value), bool(default)

    @property
    def current_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """Why clocks are below their highest speed now. Reasons of a newer driver are left out."""
        return self._reasons("nvmlDeviceGetCurrentClocksEventReasons")

    @property
    def supported_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """The reasons that it can report. Reasons of a newer driver are left out."""
        return self._reasons("nvmlDeviceGetSupportedClocksEventReasons")

    def _reasons(self, name: str) -> list[ClocksEventReasons]:
        return numbers.words_of_bits(numbers.CLOCKS_EVENT_REASONS, self._struct(_nvml.ulonglong, name).value)

    @property
    def performance_state(self) -> int | None:
        """0 (fastest) to 15, None if it is not known."""
        state = self._uint("nvmlDeviceGetPerformanceState")
        return None if state == _UNKNOWN_PSTATE else state

    @property
    def supported_pstates(self) -> list[int]:
        """The performance states that it has."""
        states = (_nvml.uint * 16)()
        size = _nvml.uint(ctypes.sizeof(states))  # in bytes
        _nvml.call("nvmlDeviceGetSupportedPerformanceStates", self._pointer, states, size, on=self)
        return [state for state in states if state != _UNKNOWN_PSTATE]

    @property
    def dynamic_pstates_info(self) -> _parts.GpuDynamicPstatesInfo:
        """How busy its parts are."""
        info = self._struct(_structs.DynamicPstatesInfo, "nvmlDeviceGetDynamicPstatesInfo")
        return _parts.GpuDynamicPstatesInfo(
            _parts.GpuDynamicPstatesUtilization(
                bool(each.bIsPresent), each.percentage, each.incThreshold, each.decThreshold
            )
            for each in info.utilization
        )

    @property
    def utilization(self) -> _parts.Utilization:
        """How busy it is."""
        rates = self._struct(_structs.Utilization, "nvmlDeviceGetUtilizationRates")
        return _parts.Utilization(rates.gpu, rates.memory)

    # ---- cooling ----------------------------------------------------------------------------------------------------

    @property
    def temperature(self) -> _parts.Temperature:
        """Its temperatures."""
        return _parts.Temperature(self)

    @property
    def cooler(self) -> _parts.CoolerInfo:
        """Its cooler."""
        info = self._versioned(_structs.CoolerInfo, "nvmlDeviceGetCoolerInfo")
        targets = numbers.words_of_bits(numbers.COOLER_TARGETS, info.target)
        return _parts.CoolerInfo(numbers.COOLER_CONTROLS_BY_NUMBER.get(info.signalType), targets)

    @property
    def num_fans(self) -> int:
        """How many fans it has."""
        return self._uint("nvmlDeviceGetNumFans")

    def get_fan(self, fan: int = 0) -> _parts.FanInfo:
        """A fan; ValueError if it does not have that one."""
        return _parts.FanInfo(self, _parts.in_range(fan, self.num_fans, "fan", self))

    # ---- memory and processes ---------------------------------------------------------------------------------------

    @property
    def memory_info(self) -> _parts.MemoryInfo:
        """Its memory."""
        info = self._versioned(_structs.Memory, "nvmlDeviceGetMemoryInfo_v2")
        return _parts.MemoryInfo(info.total, info.reserved, info.free, info.used)

    @property
    def bar1_memory_info(self) -> _parts.BAR1MemoryInfo:
        """The part of its memory that others on the bus can reach."""
        info = self._struct(_structs.Bar1Memory, "nvmlDeviceGetBAR1MemoryInfo")
        return _parts.BAR1MemoryInfo(info.total, info.free, info.used)

    @property
    def attributes(self) -> _parts.DeviceAttributes:
        """What it has of each engine. Linux only."""
        found = self._struct(_structs.DeviceAttributes, "nvmlDeviceGetAttributes_v2")
        return _parts.DeviceAttributes(*(getattr(found, name) for name in _parts.DeviceAttributes._fields))

    @property
    def compute_running_processes(self) -> list[_parts.ProcessInfo]:
        """The processes that have a CUDA context on it."""
        name = "nvmlDeviceGetComputeRunningProcesses_v3"
        found = _nvml.get_list(_structs.ProcessInfo, name, self._pointer, on=self, spare=4)
        return [_parts.ProcessInfo(self, info) for info in found]

    @property
    def inforom(self) -> _parts.InforomInfo:
        """The InfoROM of its board."""
        return _parts.InforomInfo(self)

    # ---- values by number, events -----------------------------------------------------------------------------------

    def get_field_values(self, field_ids: list[int | tuple[int, int]]) -> FieldValues:
        """Values by their FieldId, or by (FieldId, scope). Each may have an error instead, which reading it raises."""
        return on_fields(self, "nvmlDeviceGetFieldValues", field_ids)

    def clear_field_values(self, field_ids: list[int | tuple[int, int]]) -> None:
        """Sets counters to 0. What cannot be cleared stays as it is."""
        on_fields(self, "nvmlDeviceClearFieldValues", field_ids)

    def get_supported_event_types(self) -> list[EventType]:
        """What register_events() takes. Linux only."""
        bits = self._struct(_nvml.ulonglong, "nvmlDeviceGetSupportedEventTypes").value
        return numbers.words_of_bits(numbers.EVENT_TYPES, bits)

    def register_events(self, events: EventType | str | list[EventType | str]) -> DeviceEvents[Device]:
        """Waits from now on for an event, or a list of them: DeviceEvents.wait() gets them. NotSupportedError if the
        device cannot report one of them. Linux only."""
        return DeviceEvents(self, events)

    def __reduce__(self):
        return _by_uuid, (self.uuid,)


def _by_uuid(uuid: str) -> Device:
    return Device(uuid=uuid)


def _bytes(value: Any, what: str) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"{what} must be a str or bytes, not {type(value).__name__}")


Device.__module__ = "cucore.system"
