"""The structs of NVML's C interface that are read here. A test compares them with those of nvidia-ml-py."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    Union,
    c_char,
    c_double,
    c_int,
    c_longlong,
    c_uint,
    c_ulong,
    c_ulonglong,
    c_ushort,
    c_void_p,
)


def _uints(names: str) -> list[tuple[str, type[c_uint]]]:
    return [(name, c_uint) for name in names.split()]


class DriverBranchInfo(Structure):
    _fields_ = [("version", c_uint), ("branch", c_char * 80)]


class PciInfoExt(Structure):
    _fields_ = [
        *_uints("version domain bus device pciDeviceId pciSubSystemId baseClass subClass"),
        ("busId", c_char * 32),
    ]


class Memory(Structure):
    _number_ = 2
    _fields_ = [("version", c_uint), *((name, c_ulonglong) for name in ("total", "reserved", "free", "used"))]


class Bar1Memory(Structure):
    _fields_ = [(name, c_ulonglong) for name in ("total", "free", "used")]


class Utilization(Structure):
    _fields_ = _uints("gpu memory")


class ProcessInfo(Structure):
    _fields_ = [("pid", c_uint), ("usedGpuMemory", c_ulonglong), *_uints("gpuInstanceId computeInstanceId")]


class DeviceAttributes(Structure):
    _fields_ = [
        *_uints("multiprocessor_count shared_copy_engine_count shared_decoder_count shared_encoder_count"),
        *_uints("shared_jpeg_count shared_ofa_count gpu_instance_slice_count compute_instance_slice_count"),
        ("memory_size_mb", c_ulonglong),
    ]


class AddressingMode(Structure):
    _fields_ = _uints("version value")


class C2cModeInfo(Structure):
    _fields_ = _uints("isC2cEnabled")


class RepairStatus(Structure):
    _fields_ = _uints("version channelRepairPending tpcRepairPending")


class Temperature(Structure):
    _fields_ = [*_uints("version sensorType"), ("temperature", c_int)]


class MarginTemperature(Structure):
    _fields_ = [("version", c_uint), ("marginTemperature", c_int)]


class ThermalSensor(Structure):
    _fields_ = [(name, c_int) for name in ("controller", "defaultMinTemp", "defaultMaxTemp", "currentTemp", "target")]


class ThermalSettings(Structure):
    _fields_ = [("count", c_uint), ("sensor", ThermalSensor * 3)]


class ClockOffset(Structure):
    _fields_ = [
        *_uints("version type pstate"),
        *((name, c_int) for name in ("clockOffsetMHz", "minClockOffsetMHz", "maxClockOffsetMHz")),
    ]


class PstateUtilization(Structure):
    _fields_ = _uints("bIsPresent percentage incThreshold decThreshold")


class DynamicPstatesInfo(Structure):
    _fields_ = [("flags", c_uint), ("utilization", PstateUtilization * 8)]


class FanSpeedInfo(Structure):
    _fields_ = _uints("version fan speed")


class CoolerInfo(Structure):
    _fields_ = _uints("version index signalType target")


class Value(Union):
    """Its parts in the order of nvmlValueType_t."""

    _fields_ = [
        ("dVal", c_double),
        ("uiVal", c_uint),
        ("ulVal", c_ulong),
        ("ullVal", c_ulonglong),
        ("sllVal", c_longlong),
        ("siVal", c_int),
        ("usVal", c_ushort),
    ]


class FieldValue(Structure):
    _fields_ = [
        *_uints("fieldId scopeId"),
        ("timestamp", c_longlong),
        ("latencyUsec", c_longlong),
        *_uints("valueType nvmlReturn"),
        ("value", Value),
    ]


class EventData(Structure):
    _fields_ = [
        ("device", c_void_p),
        ("eventType", c_ulonglong),
        ("eventData", c_ulonglong),
        *_uints("gpuInstanceId computeInstanceId"),
    ]


class SystemEventSetRequest(Structure):
    """Of nvmlSystemEventSetCreate and nvmlSystemEventSetFree."""

    _fields_ = [("version", c_uint), ("set", c_void_p)]


class SystemRegisterEventRequest(Structure):
    _fields_ = [("version", c_uint), ("eventTypes", c_ulonglong), ("set", c_void_p)]


class SystemEventData(Structure):
    _fields_ = [("eventType", c_ulonglong), ("gpuId", c_uint)]


class SystemEventSetWaitRequest(Structure):
    _fields_ = [
        *_uints("version timeoutms"),
        ("set", c_void_p),
        ("data", POINTER(SystemEventData)),
        *_uints("dataSize numEvent"),
    ]
