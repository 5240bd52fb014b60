"""The parts of a ``system.Device``: snapshots of numbers, and its clocks, fans, temperatures, links and InfoROM."""

from __future__ import annotations

import warnings
from ctypes import byref, c_ulong
from typing import Any, NamedTuple

from cucore.system import _numbers as numbers
from cucore.system import _nvml, _structs
from cucore.system._nvml_device import NvmlDevice
from cucore.system.exceptions import InsufficientSizeError, error_of
from cucore.system.typing import (
    AffinityScope,
    ClockId,
    ClockType,
    CoolerControl,
    CoolerTarget,
    DeviceArch,
    FanControlPolicy,
    InforomObject,
    TemperatureThresholds,
    ThermalController,
    ThermalTarget,
)

_MOST_PSTATES = 16
_MOST_WORDS = 1 << 12  # of 64 processors each: more than any kernel of today has


class MemoryInfo(NamedTuple):
    """Memory of a device, in bytes."""

    total: int
    reserved: int
    free: int
    used: int


class BAR1MemoryInfo(NamedTuple):
    """The part of a device's memory that others on the bus can reach, in bytes. None of it is ``reserved``."""

    total: int
    free: int
    used: int
    reserved: int = 0


class Utilization(NamedTuple):
    """Per cent of the last sample period in which kernels ran, and in which memory was read or written."""

    gpu: int
    memory: int


class DeviceAttributes(NamedTuple):
    """What a device, or a MIG instance, has of each engine."""

    multiprocessor_count: int
    shared_copy_engine_count: int
    shared_decoder_count: int
    shared_encoder_count: int
    shared_jpeg_count: int
    shared_ofa_count: int
    gpu_instance_slice_count: int
    compute_instance_slice_count: int
    memory_size_mb: int


class RepairStatus(NamedTuple):
    """Whether the device waits for a reset to repair memory channels, or texture processing clusters."""

    channel_repair_pending: bool
    tpc_repair_pending: bool


class CoolerInfo(NamedTuple):
    """How the cooler is controlled, None if that is not known, and what it cools."""

    signal_type: CoolerControl | None
    target: list[CoolerTarget]


class ClockOffsets(NamedTuple):
    """How far a clock is set off its own speed, and how far it may be, in MHz."""

    clock_offset_mhz: int
    min_offset_mhz: int
    max_offset_mhz: int


class GpuDynamicPstatesUtilization(NamedTuple):
    """How busy a part of the device was in the last second in per cent, and at which the performance state changes."""

    is_present: bool
    percentage: int
    inc_threshold: int
    dec_threshold: int


class GpuDynamicPstatesInfo(tuple[GpuDynamicPstatesUtilization, ...]):
    """A GpuDynamicPstatesUtilization for each of: graphics, frame buffer, video, bus, and four that are not named."""

    __slots__ = ()


class ThermalSensor(NamedTuple):
    """A sensor: temperatures in degrees Celsius."""

    controller: ThermalController
    default_min_temp: int
    default_max_temp: int
    current_temp: int
    target: ThermalTarget


class ThermalSettings(tuple[ThermalSensor, ...]):
    """The sensors of a target."""

    __slots__ = ()


class ProcessInfo:
    """A process that uses a device."""

    __slots__ = ("_device", "_info")

    def __init__(self, device: NvmlDevice, info: _structs.ProcessInfo):
        self._device = device
        self._info = info

    @property
    def pid(self) -> int:
        """Its number."""
        return self._info.pid

    @property
    def used_gpu_memory(self) -> int:
        """Bytes of device memory; 2**64 - 1 if the driver does not know."""
        return self._info.usedGpuMemory

    @property
    def gpu_instance_id(self) -> int:
        """The GPU instance; NotSupportedError on a device that is not a MIG device."""
        return self._instance("gpu_instance_id", self._info.gpuInstanceId)

    @property
    def compute_instance_id(self) -> int:
        """The compute instance; NotSupportedError on a device that is not a MIG device."""
        return self._instance("compute_instance_id", self._info.computeInstanceId)

    def _instance(self, what: str, number: int) -> int:
        if not self._device._uint("nvmlDeviceIsMigDeviceHandle"):
            raise error_of(_nvml.NOT_SUPPORTED, what, f"a process of {self._device}, which is not a MIG device")
        return number

    def __repr__(self):
        return f"<ProcessInfo pid={self.pid}>"


class Part:
    """A part of a device, which is asked each time."""

    __slots__ = ("_device",)

    def __init__(self, device: NvmlDevice):
        self._device = device

    def _uint(self, name: str, *arguments: Any) -> int:
        return _nvml.get_uint(name, self._device._pointer, *arguments, on=self)

    def _call(self, name: str, *arguments: Any) -> None:
        _nvml.call(name, self._device._pointer, *arguments, on=self)

    def __repr__(self):
        return f"<{type(self).__name__} of {self._device!r}>"


class ClockInfo(Part):
    """A clock of a device; speeds are in MHz."""

    __slots__ = ("_type",)

    def __init__(self, device: NvmlDevice, clock_type: ClockType | str):
        super().__init__(device)
        self._type = numbers.number_of(numbers.CLOCK_TYPES, clock_type, "clock_type")

    def get_current_mhz(self, clock_id: ClockId | str = ClockId.CURRENT) -> int:
        """Its speed now, or the highest that a customer may set."""
        which = numbers.number_of(numbers.CLOCK_IDS, clock_id, "clock_id")
        return self._uint("nvmlDeviceGetClock", _nvml.uint(self._type), _nvml.uint(which))

    def get_max_mhz(self) -> int:
        """Its highest speed."""
        return self._uint("nvmlDeviceGetMaxClockInfo", _nvml.uint(self._type))

    def get_max_customer_boost_mhz(self) -> int:
        """The highest speed that a customer may set."""
        return self._uint("nvmlDeviceGetMaxCustomerBoostClock", _nvml.uint(self._type))

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """Its lowest and highest speed in a performance state, 0 to 15."""
        least, state = _nvml.uint(), _nvml.uint(_pstate(pstate))
        most = self._uint("nvmlDeviceGetMinMaxClockOfPState", _nvml.uint(self._type), state, byref(least))
        return least.value, most

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """Its offsets in a performance state, 0 to 15."""
        offset = _nvml.get_versioned(
            _structs.ClockOffset,
            "nvmlDeviceGetClockOffsets",
            self._device._pointer,
            on=self,
            type=self._type,
            pstate=_pstate(pstate),
        )
        return ClockOffsets(offset.clockOffsetMHz, offset.minClockOffsetMHz, offset.maxClockOffsetMHz)

    def __repr__(self):
        return f"<ClockInfo {list(ClockType)[self._type]} of {self._device!r}>"


def _pstate(value: Any) -> int:
    if isinstance(value, int) and not 0 <= value < _MOST_PSTATES:
        raise ValueError(f"pstate must be 0 (fastest) to {_MOST_PSTATES - 1}, not {value}")
    return numbers.unsigned(value, "pstate")


class FanInfo(Part):
    """A fan of a device. Speeds are in per cent of the highest that noise allows, and may exceed 100."""

    __slots__ = ("_fan",)

    def __init__(self, device: NvmlDevice, fan: int):
        super().__init__(device)
        self._fan = _nvml.uint(fan)

    @property
    def speed(self) -> int:
        """The speed it is meant to have; what is set stays until set_default_speed()."""
        return self._uint("nvmlDeviceGetFanSpeed_v2", self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        self._call("nvmlDeviceSetFanSpeed_v2", self._fan, _nvml.uint(numbers.unsigned(speed, "speed")))

    @property
    def speed_rpm(self) -> int:
        """The speed it is meant to have, in rotations per minute."""
        pointer, fan = self._device._pointer, self._fan.value
        return _nvml.get_versioned(_structs.FanSpeedInfo, "nvmlDeviceGetFanSpeedRPM", pointer, on=self, fan=fan).speed

    @property
    def target_speed(self) -> int:
        """The speed that the driver brings it to."""
        return self._uint("nvmlDeviceGetTargetFanSpeed", self._fan)

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """The lowest and the highest speed of all fans of the device."""
        least = _nvml.uint()
        most = self._uint("nvmlDeviceGetMinMaxFanSpeed", byref(least))
        return least.value, most

    @property
    def control_policy(self) -> FanControlPolicy:
        """Who sets its speed."""
        number = self._uint("nvmlDeviceGetFanControlPolicy_v2", self._fan)
        return numbers.word_of(numbers.FAN_POLICIES_BY_NUMBER, number, "control_policy")

    def set_default_speed(self) -> None:
        """Lets the driver set its speed again."""
        self._call("nvmlDeviceSetDefaultFanSpeed_v2", self._fan)

    def __repr__(self):
        return f"<FanInfo {self._fan.value} of {self._device!r}>"


def in_range(value: Any, count: int, what: str, device: NvmlDevice) -> int:
    """``value`` as an index below ``count``. Raises TypeError, or ValueError."""
    if isinstance(value, int) and not 0 <= value < count:
        there = f"from 0 to {count - 1}" if count else "none at all"
        raise ValueError(f"{device!r} has no {what} {value}: there are {there}")
    return numbers.unsigned(value, what)


_OLD_THRESHOLDS = {
    TemperatureThresholds.SHUTDOWN: "DEV_TEMPERATURE_SHUTDOWN_TLIMIT",
    TemperatureThresholds.SLOWDOWN: "DEV_TEMPERATURE_SLOWDOWN_TLIMIT",
    TemperatureThresholds.MEM_MAX: "DEV_TEMPERATURE_MEM_MAX_TLIMIT",
    TemperatureThresholds.GPU_MAX: "DEV_TEMPERATURE_GPU_MAX_TLIMIT",
}


class Temperature(Part):
    """The temperatures of a device, in degrees Celsius."""

    __slots__ = ()

    def get_sensor(self) -> int:
        """The temperature of the GPU."""
        pointer = self._device._pointer
        return _nvml.get_versioned(_structs.Temperature, "nvmlDeviceGetTemperatureV", pointer, on=self).temperature

    def get_threshold(self, threshold_type: TemperatureThresholds | str) -> int:
        """A temperature at which something happens. From Ada on NVML's way to shutdown, slowdown, mem_max and gpu_max
        is get_field_values(), which says how far they are; asking here is a DeprecationWarning."""
        number = numbers.number_of(numbers.TEMPERATURE_THRESHOLDS, threshold_type, "threshold_type")
        field = _OLD_THRESHOLDS.get(TemperatureThresholds(threshold_type))
        if field is not None and self._device._uint("nvmlDeviceGetArchitecture") >= DeviceArch.ADA:
            warnings.warn(
                f"from Ada on, NVML gives this threshold as FieldId.{field}: use Device.get_field_values()",
                DeprecationWarning,
                stacklevel=2,
            )
        return self._uint("nvmlDeviceGetTemperatureThreshold", _nvml.uint(number))

    @property
    def margin(self) -> int:
        """How far it is to the nearest temperature that slows the device down."""
        pointer = self._device._pointer
        margin = _nvml.get_versioned(_structs.MarginTemperature, "nvmlDeviceGetMarginTemperature", pointer, on=self)
        return margin.marginTemperature

    def get_thermal_settings(self, sensor_index: ThermalTarget | str) -> ThermalSettings:
        """The sensors of a target. A target of a newer driver is NONE, such a controller UNKNOWN."""
        index = numbers.number_of(numbers.THERMAL_TARGETS, sensor_index, "sensor_index")
        arguments = (self._device._pointer, _nvml.uint(index))
        settings = _nvml.get(_structs.ThermalSettings, "nvmlDeviceGetThermalSettings", *arguments, on=self)
        return ThermalSettings(
            ThermalSensor(
                numbers.THERMAL_CONTROLLERS_BY_NUMBER.get(sensor.controller, ThermalController.UNKNOWN),
                sensor.defaultMinTemp,
                sensor.defaultMaxTemp,
                sensor.currentTemp,
                numbers.THERMAL_TARGETS_BY_NUMBER.get(sensor.target, ThermalTarget.NONE),
            )
            for sensor in settings.sensor[: settings.count]
        )


class InforomInfo(Part):
    """The InfoROM of a board, which keeps its identity and configuration."""

    __slots__ = ()

    def get_version(self, inforom: InforomObject | str) -> str:
        """The version of a part of it."""
        number = numbers.number_of(numbers.INFOROM_OBJECTS, inforom, "inforom")
        return self._text("nvmlDeviceGetInforomVersion", _nvml.uint(number))

    @property
    def image_version(self) -> str:
        """The version of all of it."""
        return self._text("nvmlDeviceGetInforomImageVersion")

    @property
    def board_part_number(self) -> str:
        """The part number of the board."""
        return self._text("nvmlDeviceGetBoardPartNumber")

    @property
    def configuration_checksum(self) -> int:
        """The same for two devices of the same configuration."""
        return self._uint("nvmlDeviceGetInforomConfigurationChecksum")

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """When its black box was last written, and how long that took in microseconds."""
        time = _nvml.ulonglong()
        arguments = (self._device._pointer, byref(time))
        duration = _nvml.get(c_ulong, "nvmlDeviceGetLastBBXFlushTime", *arguments, on=self)
        return time.value, duration.value

    def validate(self) -> None:
        """Reads it and compares its checksums; CorruptedInforomError if they differ."""
        self._call("nvmlDeviceValidateInforom")

    def _text(self, name: str, *arguments: Any) -> str:
        return _nvml.get_text(name, self._device._pointer, *arguments, on=self)


class _NvlinkInfoMeta(type):
    @property
    def max_links(cls) -> int:
        """The most links that NVML's header foresees. Deprecated: Device.get_nvlink_count() counts those there are."""
        warnings.warn(
            "max_links is deprecated: use Device.get_nvlink_count(), which says how many links the device has",
            DeprecationWarning,
            stacklevel=2,
        )
        return 18


class NvlinkInfo(Part, metaclass=_NvlinkInfoMeta):
    """An NVLink of a device."""

    __slots__ = ("_link",)

    def __init__(self, device: NvmlDevice, link: int):
        super().__init__(device)
        self._link = _nvml.uint(numbers.unsigned(link, "link"))

    @property
    def version(self) -> tuple[int, int]:
        """(major, minor)."""
        number = self._uint("nvmlDeviceGetNvLinkVersion", self._link)
        version = numbers.NVLINK_VERSIONS.get(number)
        if version is None:
            raise RuntimeError(
                f"NVML answers {number} for the version of {self!r}, which this version of cucore does not know"
            )
        return version

    @property
    def state(self) -> bool:
        """Whether it is active."""
        return bool(self._uint("nvmlDeviceGetNvLinkState", self._link))

    def __repr__(self):
        return f"<NvlinkInfo {self._link.value} of {self._device!r}>"


class PciInfo(Part):
    """Where a device is on the bus, and its link there."""

    __slots__ = ("_info",)

    def __init__(self, device: NvmlDevice, info: _structs.PciInfoExt):
        super().__init__(device)
        self._info = info

    bus = property(lambda self: self._info.bus, doc="The bus, 0 to 255.")
    bus_id = property(lambda self: self._info.busId.decode(), doc="domain:bus:device.function.")
    device = property(lambda self: self._info.device, doc="The number on the bus, 0 to 31.")
    domain = property(lambda self: self._info.domain, doc="The domain of the bus.")
    vendor_id = property(lambda self: self._info.pciDeviceId & 0xFFFF, doc="The vendor; 0x10de is NVIDIA.")
    device_id = property(lambda self: self._info.pciDeviceId >> 16, doc="The vendor's number of the device.")
    subsystem_id = property(lambda self: self._info.pciSubSystemId, doc="The maker of the board and its number of it.")
    base_class = property(lambda self: self._info.baseClass, doc="The class of devices, 8 bits.")
    sub_class = property(lambda self: self._info.subClass, doc="The subclass, 8 bits.")

    def _link(name, what):
        return property(lambda self: self._uint(name), doc=what)

    link_generation = _link("nvmlDeviceGetMaxPcieLinkGeneration", "The newest PCIe that device and system have.")
    max_link_generation = _link("nvmlDeviceGetGpuMaxPcieLinkGeneration", "The newest PCIe that the device has.")
    current_link_generation = _link("nvmlDeviceGetCurrPcieLinkGeneration", "The PCIe in use.")
    max_link_width = _link("nvmlDeviceGetMaxPcieLinkWidth", "The most lanes of device and system.")
    current_link_width = _link("nvmlDeviceGetCurrPcieLinkWidth", "The lanes in use.")
    replay_counter = _link("nvmlDeviceGetPcieReplayCounter", "How often something was sent again.")
    del _link

    @property
    def tx_throughput(self) -> int:
        """What the device sent in the last 20 ms, in KB/s."""
        return self._uint("nvmlDeviceGetPcieThroughput", _nvml.uint(0))

    @property
    def rx_throughput(self) -> int:
        """What the device received in the last 20 ms, in KB/s."""
        return self._uint("nvmlDeviceGetPcieThroughput", _nvml.uint(1))


def get_affinity(device: NvmlDevice, name: str, scope: AffinityScope | str) -> list[int]:
    """The bits of a set of processors or nodes."""
    number = numbers.number_of(numbers.AFFINITY_SCOPES, scope, "scope")
    words = 16
    while True:
        bits = (c_ulong * words)()
        try:
            _nvml.call(name, device._pointer, _nvml.uint(words), bits, _nvml.uint(number), on=device)
        except InsufficientSizeError:
            if words >= _MOST_WORDS:
                raise
            words *= 4
        else:
            every = int.from_bytes(bytes(bits), "little")
            return [bit for bit in range(every.bit_length()) if every >> bit & 1]
