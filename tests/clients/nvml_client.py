# A client of NVML: nvidia-ml-py asking about two CPU devices, and cuda.bindings saying what the driver says of them.
import ctypes
import os
import pathlib
import time

import pynvml
from checked import checked
from cuda.bindings import driver


def ok(answer):
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer[0]
    return answer[1] if len(answer) == 2 else answer[1:]


def code_of(function, *arguments):
    try:
        function(*arguments)
    except pynvml.NVMLError as error:
        return error.value
    return pynvml.NVML_SUCCESS


def before_init_nothing_is_known():
    library = ctypes.CDLL("libnvidia-ml.so.1")
    count = ctypes.c_uint(7)
    assert library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == pynvml.NVML_ERROR_UNINITIALIZED
    assert library.nvmlDeviceGetPowerUsage(None, None) == pynvml.NVML_ERROR_UNINITIALIZED
    assert library.nvmlShutdown() == pynvml.NVML_ERROR_UNINITIALIZED
    assert count.value == 7
    assert "libcuda.so" not in pathlib.Path("/proc/self/maps").read_text()  # NVML does not load the driver


def versions():
    assert pynvml.nvmlSystemGetCudaDriverVersion() == 13050
    branch = pynvml.nvmlSystemGetDriverVersion().split(".")[0]
    assert branch == "615" and pynvml.nvmlSystemGetNVMLVersion().split(".")[:2] == ["13", branch]
    assert pynvml.nvmlSystemGetDriverBranch().branch == "r615_00"


def handles():
    assert pynvml.nvmlDeviceGetCount() == 2
    for index in range(2):
        device = pynvml.nvmlDeviceGetHandleByIndex(index)
        uuid, bus = pynvml.nvmlDeviceGetUUID(device), pynvml.nvmlDeviceGetPciInfo(device)
        raw = bytes.fromhex(uuid.removeprefix("GPU-").replace("-", ""))
        for other in (
            pynvml.nvmlDeviceGetHandleByUUID(uuid),
            pynvml.nvmlDeviceGetHandleByUUIDV(uuid, pynvml.NVML_UUID_TYPE_ASCII),
            pynvml.nvmlDeviceGetHandleByUUIDV(raw, pynvml.NVML_UUID_TYPE_BINARY),
            pynvml.nvmlDeviceGetHandleByPciBusId(bus.busId),
            pynvml.nvmlDeviceGetHandleByPciBusId(bus.busIdLegacy.lower()),
        ):
            assert pynvml.nvmlDeviceGetIndex(other) == index
            assert ctypes.addressof(other.contents) == ctypes.addressof(device.contents)


def what_is_not_there():
    assert code_of(pynvml.nvmlDeviceGetHandleByIndex, 2) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    assert code_of(pynvml.nvmlDeviceGetHandleByUUID, "GPU-0") == pynvml.NVML_ERROR_NOT_FOUND
    assert code_of(pynvml.nvmlDeviceGetHandleByPciBusId, "0000:77:00.0") == pynvml.NVML_ERROR_NOT_FOUND
    assert code_of(pynvml.nvmlDeviceGetHandleByPciBusId, "nonsense") == pynvml.NVML_ERROR_INVALID_ARGUMENT
    wild = ctypes.cast(ctypes.create_string_buffer(64), pynvml.c_nvmlDevice_t)
    assert code_of(pynvml.nvmlDeviceGetName, wild) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    short = ctypes.create_string_buffer(4)
    name = pynvml.nvmlLib.nvmlDeviceGetName
    assert name(device, short, ctypes.c_uint(4)) == pynvml.NVML_ERROR_INSUFFICIENT_SIZE
    wrong = pynvml.c_nvmlMemory_v2_t(version=1)
    memory = pynvml.nvmlLib.nvmlDeviceGetMemoryInfo_v2
    assert memory(device, ctypes.byref(wrong)) == pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH


def the_driver_says_the_same():
    ok(driver.cuInit(0))
    assert ok(driver.cuDeviceGetCount()) == pynvml.nvmlDeviceGetCount()
    assert ok(driver.cuDriverGetVersion()) == pynvml.nvmlSystemGetCudaDriverVersion_v2()
    for index in range(2):
        ordinal, device = ok(driver.cuDeviceGet(index)), pynvml.nvmlDeviceGetHandleByIndex(index)
        assert ok(driver.cuDeviceGetName(96, ordinal)).split(b"\0")[0].decode() == pynvml.nvmlDeviceGetName(device)
        assert bytes(ok(driver.cuDeviceGetUuid(ordinal)).bytes).hex() == (
            pynvml.nvmlDeviceGetUUID(device).removeprefix("GPU-").replace("-", "")
        )
        bus = ok(driver.cuDeviceGetPCIBusId(16, ordinal)).split(b"\0")[0].decode()
        assert pynvml.nvmlDeviceGetPciInfo(device).busIdLegacy.lower() == bus.lower()
        assert ok(driver.cuDeviceTotalMem(ordinal)) == pynvml.nvmlDeviceGetMemoryInfo(device).total
        major, minor = (
            ok(driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, name), ordinal))
            for name in (
                "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
                "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
            )
        )
        assert (major, minor) == pynvml.nvmlDeviceGetCudaComputeCapability(device)
        attribute = driver.CUdevice_attribute
        attributes = pynvml.nvmlDeviceGetAttributes_v2(device)
        assert attributes.memorySizeMB == ok(driver.cuDeviceTotalMem(ordinal)) >> 20
        for there, here in (
            (attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, attributes.multiprocessorCount),
            (attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000 * pynvml.nvmlDeviceGetMaxClockInfo(device, 1)),
            (attribute.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000 * pynvml.nvmlDeviceGetMaxClockInfo(device, 2)),
            (attribute.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, pynvml.nvmlDeviceGetMemoryBusWidth(device)),
        ):
            assert ok(driver.cuDeviceGetAttribute(there, ordinal)) == here
        ats = ok(
            driver.cuDeviceGetAttribute(
                attribute.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, ordinal
            )
        )
        assert ats == (pynvml.nvmlDeviceGetAddressingMode(device) == pynvml.NVML_DEVICE_ADDRESSING_MODE_ATS)


def memory_and_load():
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    for memory in (
        pynvml.nvmlDeviceGetMemoryInfo(device),
        pynvml.nvmlDeviceGetMemoryInfo(device, pynvml.nvmlMemory_v2),
    ):
        assert 0 < memory.free <= memory.total and memory.used == memory.total - memory.free
    load = pynvml.nvmlDeviceGetUtilizationRates(device)
    assert 0 <= load.gpu <= 100 and load.memory == 0


def what_follows_from_the_host():
    first, second = (pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    cores = os.cpu_count()
    words = pynvml.nvmlDeviceGetCpuAffinity(first, cores // 64 + 1)
    assert sum(int(word).bit_count() for word in words) == cores
    assert list(pynvml.nvmlDeviceGetMemoryAffinity(first, 1, pynvml.NVML_AFFINITY_SCOPE_NODE)) == [1]
    allowed = os.sched_getaffinity(0)
    pynvml.nvmlDeviceSetCpuAffinity(first)
    assert os.sched_getaffinity(0) >= allowed
    os.sched_setaffinity(0, allowed)
    bar = pynvml.nvmlDeviceGetBAR1MemoryInfo(first)
    assert bar.bar1Total == pynvml.nvmlDeviceGetMemoryInfo(first).total == bar.bar1Free + bar.bar1Used
    name = pynvml.nvmlSystemGetProcessName(os.getpid())
    assert "python" in name, name
    assert code_of(pynvml.nvmlSystemGetProcessName, 2**31) == pynvml.NVML_ERROR_NOT_FOUND


def what_is_not_there_is_off_or_none():
    device = pynvml.nvmlDeviceGetHandleByIndex(1)
    for state in (
        pynvml.nvmlDeviceGetPersistenceMode,
        pynvml.nvmlDeviceGetDisplayActive,
        pynvml.nvmlDeviceGetBrand,
        pynvml.nvmlDeviceGetAccountingMode,
        pynvml.nvmlDeviceGetVirtualizationMode,
        pynvml.nvmlDeviceGetModuleId,
        pynvml.nvmlDeviceGetNumFans,
        pynvml.nvmlDeviceGetPcieReplayCounter,
        pynvml.nvmlDeviceGetCurrentClocksThrottleReasons,
    ):
        assert state(device) == 0, state
    assert pynvml.nvmlDeviceGetMigMode(device) == [0, 0]
    assert code_of(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, device, 0) == pynvml.NVML_ERROR_NOT_FOUND
    assert pynvml.nvmlDeviceGetC2cModeInfoV(device).isC2cEnabled == 0
    assert pynvml.nvmlDeviceGetRepairStatus(device) == [0, 0]
    for engine in (pynvml.nvmlDeviceGetEncoderUtilization, pynvml.nvmlDeviceGetDecoderUtilization):
        assert engine(device) == [0, 0]
    for direction in (pynvml.NVML_PCIE_UTIL_TX_BYTES, pynvml.NVML_PCIE_UTIL_RX_BYTES):
        assert pynvml.nvmlDeviceGetPcieThroughput(device, direction) == 0
    assert pynvml.nvmlDeviceGetCurrPcieLinkWidth(device) <= pynvml.nvmlDeviceGetMaxPcieLinkWidth(device)
    assert pynvml.nvmlDeviceGetCurrPcieLinkGeneration(device) <= pynvml.nvmlDeviceGetMaxPcieLinkGeneration(device)
    assert pynvml.nvmlDeviceGetGraphicsRunningProcesses(device) == []


def clocks_and_temperature():
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    assert pynvml.nvmlDeviceGetPerformanceState(device) == pynvml.NVML_PSTATE_0
    assert pynvml.nvmlDeviceGetSupportedPerformanceStates(device) == [pynvml.NVML_PSTATE_0]
    for clock in (pynvml.NVML_CLOCK_GRAPHICS, pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM, pynvml.NVML_CLOCK_VIDEO):
        highest = pynvml.nvmlDeviceGetMaxClockInfo(device, clock)
        assert 0 < pynvml.nvmlDeviceGetClockInfo(device, clock) <= highest
        assert 0 < pynvml.nvmlDeviceGetClock(device, clock, pynvml.NVML_CLOCK_ID_CURRENT) <= highest
        assert pynvml.nvmlDeviceGetMinMaxClockOfPState(device, clock, pynvml.NVML_PSTATE_0)[1] == highest
    assert code_of(pynvml.nvmlDeviceGetClockInfo, device, 4) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    offset = pynvml.c_nvmlClockOffset_t(version=pynvml.nvmlClockOffset_v1, clockOffsetMHz=7)
    pynvml.nvmlDeviceGetClockOffsets(device, ctypes.byref(offset))
    assert offset.minClockOffsetMHz == offset.clockOffsetMHz == offset.maxClockOffsetMHz == 0
    assert 0 <= pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU) < 150
    assert 0 <= pynvml.nvmlDeviceGetTemperatureV(device, pynvml.NVML_TEMPERATURE_GPU) < 150
    shares = pynvml.nvmlDeviceGetDynamicPstatesInfo(device).utilization
    assert [each.bIsPresent for each in shares] == [1] + [0] * 7 and shares[0].percentage <= 100


def temperatures_have_limits():
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    now = pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU)
    highest, slow, shut = (
        pynvml.nvmlDeviceGetTemperatureThreshold(device, each)
        for each in (
            pynvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX,
            pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN,
            pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN,
        )
    )
    assert 0 < highest < slow < shut
    assert pynvml.nvmlDeviceGetTemperatureThreshold(device, pynvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX) == highest
    for code, which in ((pynvml.NVML_ERROR_NOT_SUPPORTED, 4), (pynvml.NVML_ERROR_INVALID_ARGUMENT, 8)):
        assert code_of(pynvml.nvmlDeviceGetTemperatureThreshold, device, which) == code
    assert abs(pynvml.nvmlDeviceGetMarginTemperature(device) - (slow - now)) <= 20
    for sensor in (0, pynvml.NVML_THERMAL_TARGET_ALL):
        settings = pynvml.c_nvmlGpuThermalSettings_t()
        pynvml.nvmlDeviceGetThermalSettings(device, sensor, settings)
        first = settings.sensor[0]
        assert settings.count == 1 and first.target == pynvml.NVML_THERMAL_TARGET_GPU
        assert first.defaultMinTemp == 0 and first.defaultMaxTemp == highest and 0 <= first.currentTemp < 150
    other = pynvml.nvmlDeviceGetThermalSettings(device, 1)[0]
    assert (other.controller, other.target, other.currentTemp) == (0, pynvml.NVML_THERMAL_TARGET_NONE, 0)
    limits = pynvml.nvmlDeviceGetFieldValues(device, list(range(193, 197)))
    assert {each.valueType for each in limits} == {pynvml.NVML_VALUE_TYPE_SIGNED_INT}
    assert [each.value.siVal for each in limits] == [highest - shut, highest - slow, 0, 0]


def processes_that_loaded_the_driver_are_listed():
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    ok(driver.cuInit(0))
    for running in (pynvml.nvmlDeviceGetComputeRunningProcesses, pynvml.nvmlDeviceGetComputeRunningProcesses_v2):
        found = [each for each in running(device) if each.pid == os.getpid()]
        assert len(found) == 1 and found[0].usedGpuMemory is None, found


def events_never_come():
    device, events = pynvml.nvmlDeviceGetHandleByIndex(0), pynvml.nvmlEventSetCreate()
    types = pynvml.nvmlDeviceGetSupportedEventTypes(device)
    for some in (0, pynvml.nvmlEventTypeXidCriticalError, types):
        pynvml.nvmlDeviceRegisterEvents(device, some, events)
    assert code_of(pynvml.nvmlDeviceRegisterEvents, device, 1 << 40, events) == pynvml.NVML_ERROR_NOT_SUPPORTED
    began = time.monotonic()
    assert code_of(pynvml.nvmlEventSetWait_v2, events, 50) == pynvml.NVML_ERROR_TIMEOUT
    assert time.monotonic() - began >= 0.05
    pynvml.nvmlEventSetFree(events)
    assert code_of(pynvml.nvmlEventSetFree, events) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    assert code_of(pynvml.nvmlEventSetWait_v2, events, 0) == pynvml.NVML_ERROR_INVALID_ARGUMENT

    library = pynvml.nvmlLib
    made = pynvml.c_nvmlSystemEventSetCreateRequest_v1_t()
    assert library.nvmlSystemEventSetCreate(ctypes.byref(made)) == pynvml.NVML_SUCCESS
    wanted, wait = pynvml.c_nvmlSystemRegisterEventRequest_v1_t(), pynvml.c_nvmlSystemEventSetWaitRequest_v1_t()
    wanted.set = wait.set = made.set
    wanted.eventTypes = pynvml.nvmlSystemEventTypeGpuDriverBind | pynvml.nvmlSystemEventTypeGpuDriverUnbind
    wait.timeoutms, wait.numEvent = 1, 9
    assert library.nvmlSystemRegisterEvents(ctypes.byref(wanted)) == pynvml.NVML_SUCCESS
    none = pynvml.c_nvmlSystemRegisterEventRequest_v1_t()
    none.set = made.set
    assert library.nvmlSystemRegisterEvents(ctypes.byref(none)) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    assert library.nvmlSystemEventSetWait(ctypes.byref(wait)) == pynvml.NVML_ERROR_TIMEOUT and wait.numEvent == 0
    freed = pynvml.c_nvmlSystemEventSetFreeRequest_v1_t()
    freed.set = made.set
    assert library.nvmlSystemEventSetFree(ctypes.byref(freed)) == pynvml.NVML_SUCCESS
    assert library.nvmlSystemEventSetWait(ctypes.byref(wait)) == pynvml.NVML_ERROR_INVALID_ARGUMENT


def devices_of_one_host_are_near():
    first, second = (pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    assert pynvml.nvmlDeviceGetTopologyCommonAncestor(first, second) == pynvml.NVML_TOPOLOGY_INTERNAL
    near = pynvml.nvmlDeviceGetTopologyNearestGpus(first, pynvml.NVML_TOPOLOGY_INTERNAL)
    assert [pynvml.nvmlDeviceGetIndex(each) for each in near] == [1]
    assert len(pynvml.nvmlDeviceGetTopologyNearestGpus(first, pynvml.NVML_TOPOLOGY_SINGLE)) == 0
    assert len(pynvml.nvmlSystemGetTopologyGpuSet(0)) == 2
    assert len(pynvml.nvmlSystemGetTopologyGpuSet(100000)) == 0
    for what, answer in ((1, pynvml.NVML_P2P_STATUS_OK), (2, pynvml.NVML_P2P_STATUS_NOT_SUPPORTED)):
        assert pynvml.nvmlDeviceGetP2PStatus(first, second, what) == answer


def values_say_of_themselves_whether_they_are_there():
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    asked = [pynvml.NVML_FI_DEV_NVLINK_LINK_COUNT, pynvml.NVML_FI_DEV_POWER_AVERAGE]
    links, power = pynvml.nvmlDeviceGetFieldValues(device, asked)
    assert links.nvmlReturn == pynvml.NVML_SUCCESS and links.value.uiVal == 0
    assert power.nvmlReturn == pynvml.NVML_ERROR_NOT_SUPPORTED
    sent, lost, unknown = pynvml.nvmlDeviceGetFieldValues(device, [197, 183, 99999])  # over a bus that is not there
    assert sent.nvmlReturn == lost.nvmlReturn == pynvml.NVML_SUCCESS and sent.value.uiVal == lost.value.uiVal == 0
    assert unknown.nvmlReturn == pynvml.NVML_ERROR_INVALID_ARGUMENT
    assert time.time_ns() // 1000 >= sent.timestamp > 10**15  # microseconds since 1970


def every_other_call_is_not_supported():
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    for call in (pynvml.nvmlDeviceGetPowerUsage, pynvml.nvmlDeviceGetFanSpeed, pynvml.nvmlDeviceGetSerial):
        assert code_of(call, device) == pynvml.NVML_ERROR_NOT_SUPPORTED, call
    text = pathlib.Path(pynvml.__file__).read_text()
    missing = [part.split('"')[0] for part in text.split('_nvmlGetFunctionPointer("')[1:]]
    missing = [name for name in missing if not hasattr(pynvml.nvmlLib, name)]
    assert not missing, missing
    assert pynvml.nvmlDeviceGetArchitecture(device) == pynvml.NVML_DEVICE_ARCH_HOPPER


def errors_have_texts():
    assert pynvml.nvmlErrorString(pynvml.NVML_ERROR_NOT_SUPPORTED) == "Not Supported"
    assert pynvml.nvmlErrorString(424242) == "Unknown Error"


def inits_are_counted():
    pynvml.nvmlInit()
    pynvml.nvmlShutdown()
    assert pynvml.nvmlDeviceGetCount() == 2
    pynvml.nvmlShutdown()
    assert code_of(pynvml.nvmlDeviceGetCount) == pynvml.NVML_ERROR_UNINITIALIZED
    pynvml.nvmlInit()


def a_forked_child_may_ask():
    child = os.fork()
    if child == 0:
        os._exit(0 if pynvml.nvmlDeviceGetCount() == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    checked("before_init_nothing_is_known", before_init_nothing_is_known)
    pynvml.nvmlInit()
    for part in (
        versions,
        handles,
        what_is_not_there,
        memory_and_load,
        what_follows_from_the_host,
        what_is_not_there_is_off_or_none,
        clocks_and_temperature,
        temperatures_have_limits,
        events_never_come,
        devices_of_one_host_are_near,
        values_say_of_themselves_whether_they_are_there,
        every_other_call_is_not_supported,
        errors_have_texts,
        a_forked_child_may_ask,
        the_driver_says_the_same,
        processes_that_loaded_the_driver_are_listed,
        inits_are_counted,
    ):
        checked(part.__name__, part)
