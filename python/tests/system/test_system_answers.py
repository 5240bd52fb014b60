"""cucore.system on answers that no device of the tests gives: fans, links, events, numbers of a newer driver.

`plays` puts functions of Python in the place of NVML's; they fill what the caller points at and return NVML's code.
"""

import ctypes

import pytest

import cucore
from cucore import system
from cucore.system import _nvml, typing

NOT_SUPPORTED, IS_LOST, TIMEOUT, PERMISSION, NOT_FOUND, RESET_REQUIRED = 3, 15, 10, 4, 6, 16


@pytest.fixture
def first():
    return cucore.Device(0).to_system_device()


@pytest.fixture
def plays(monkeypatch):
    def play(name, function):
        monkeypatch.setitem(_nvml._functions, name, function)

    return play


def puts(*values):
    """A function that puts values at the last places of its arguments."""

    def put(*arguments):
        for place, value in zip(arguments[-len(values) :], values):
            place._obj.value = value
        return 0

    return put


def fills(**fields):
    """A function that fills the struct at its last argument."""

    def fill(*arguments):
        for name, value in fields.items():
            setattr(arguments[-1]._obj, name, value)
        return 0

    return fill


def test_fans_are_read_and_set(plays, first):
    set_to = []
    plays("nvmlDeviceGetNumFans", puts(2))
    plays("nvmlDeviceGetFanSpeed_v2", lambda device, fan, speed: puts(40 + fan.value)(speed))
    plays("nvmlDeviceGetTargetFanSpeed", lambda device, fan, speed: puts(50 + fan.value)(speed))
    plays("nvmlDeviceGetMinMaxFanSpeed", puts(30, 100))
    plays("nvmlDeviceGetFanControlPolicy_v2", lambda device, fan, policy: puts(fan.value)(policy))
    plays("nvmlDeviceGetFanSpeedRPM", fills(speed=1000))
    plays("nvmlDeviceSetFanSpeed_v2", lambda device, fan, speed: set_to.append((fan.value, speed.value)) or 0)
    plays("nvmlDeviceSetDefaultFanSpeed_v2", lambda device, fan: PERMISSION)
    fan = first.get_fan(1)
    assert (fan.speed, fan.target_speed, fan.min_max_speed, fan.speed_rpm) == (41, 51, (30, 100), 1000)
    assert (first.get_fan().control_policy, fan.control_policy) == ("temperature_controlled", "manual")
    fan.speed = 70
    assert set_to == [(1, 70)]
    with pytest.raises(system.NoPermissionError, match="SetDefaultFanSpeed_v2 on <FanInfo 1 of .*\nhint: run as"):
        fan.set_default_speed()
    with pytest.raises(ValueError, match="has no fan 2: there are from 0 to 1"):
        first.get_fan(2)
    with pytest.raises(TypeError, match="speed must be an int"):
        fan.speed = "fast"


def test_links_have_versions(plays, first):
    def fields(device, count, values):
        values[0].valueType, values[0].value.uiVal = 1, 2
        return 0

    plays("nvmlDeviceGetFieldValues", fields)
    plays("nvmlDeviceGetNvLinkState", lambda device, link, state: puts(link.value)(state))
    plays("nvmlDeviceGetNvLinkVersion", puts(5))
    assert first.get_nvlink_count() == 2
    assert [(link.state, link.version) for link in first.get_nvlinks()] == [(False, (3, 1)), (True, (3, 1))]
    with pytest.raises(ValueError, match="has no NVLink 2"):
        first.get_nvlink(2)
    plays("nvmlDeviceGetNvLinkVersion", puts(99))
    with pytest.raises(RuntimeError, match="NVML answers 99 for the version of <NvlinkInfo 1"):
        _ = first.get_nvlink(1).version


def test_values_have_every_type(plays, first):
    wanted = [1.5, 7, 1 << 40, 1 << 63, -5, -2, 4660]

    def fields(device, count, values):
        assert count == len(wanted) + 2
        for number, (part, value) in enumerate(zip(("d", "ui", "ul", "ull", "sll", "si", "us"), wanted)):
            values[number].valueType = number
            setattr(values[number].value, f"{part}Val", value)
        values[count - 2].valueType = 9
        values[count - 1].nvmlReturn = IS_LOST
        return 0

    plays("nvmlDeviceGetFieldValues", fields)
    values = first.get_field_values([*range(1, 8), (8, 3), 9])
    assert [value.value for value in values[:7]] == wanted
    assert values[7].scope_id == 3
    with pytest.raises(RuntimeError, match="a type that cucore does not know: 9"):
        _ = values[7].value
    with pytest.raises(system.GpuIsLostError):
        values.validate()


def test_words_stand_for_bits_and_those_of_a_newer_driver_are_left_out(plays, first):
    plays("nvmlDeviceGetCurrentClocksEventReasons", puts(0x45 | 1 << 40))
    assert first.current_clock_event_reasons == ["gpu_idle", "sw_power_cap", "hw_thermal_slowdown"]
    plays("nvmlDeviceGetSupportedClocksEventReasons", puts(0x600))
    assert first.supported_clock_event_reasons == ["board_limit", "reliability"]
    plays("nvmlDeviceGetSupportedEventTypes", puts(0x8108))
    assert first.get_supported_event_types() == ["xid_critical_error", "mig_config_change", "gpu_recovery_action"]
    plays("nvmlDeviceGetCoolerInfo", fills(signalType=2, target=0b11110))
    assert first.cooler == ("variable", ["gpu", "memory", "power_supply"])
    plays("nvmlDeviceGetCoolerInfo", fills(signalType=0, target=1))
    assert first.cooler == (None, ["none"])


def test_numbers_of_a_newer_driver_are_unknown_or_named(plays, first):
    plays("nvmlDeviceGetBrand", puts(2))
    assert first.brand == "Tesla"
    plays("nvmlDeviceGetBrand", puts(77))
    assert first.brand == "Unknown"
    plays("nvmlDeviceGetArchitecture", puts(77))
    assert first.arch is typing.DeviceArch.UNKNOWN
    plays("nvmlDeviceGetAddressingMode", fills(value=1))
    assert first.addressing_mode == "hmm"
    plays("nvmlDeviceGetAddressingMode", fills(value=0))
    assert first.addressing_mode is None
    plays("nvmlDeviceGetPerformanceState", puts(32))
    assert first.performance_state is None
    plays("nvmlDeviceGetP2PStatus", puts(1))
    assert system.get_p2p_status(first, first, "pci") == "chipset not supported"
    plays("nvmlDeviceGetP2PStatus", puts(77))
    assert system.get_p2p_status(first, first, "pci") == "unknown"
    plays("nvmlDeviceGetTopologyCommonAncestor", puts(35))
    with pytest.raises(RuntimeError, match="NVML answers 35 for the topology level"):
        system.get_topology_common_ancestor(first, first)


def test_the_parts_of_the_bus_address(plays, first):
    plays(
        "nvmlDeviceGetPciInfoExt",
        fills(domain=2, bus=0x81, device=3, pciDeviceId=0x233510DE, pciSubSystemId=0x18BE10DE, baseClass=3, subClass=2),
    )
    info = first.pci_info
    assert (info.vendor_id, info.device_id, info.subsystem_id) == (0x10DE, 0x2335, 0x18BE10DE)
    assert (info.domain, info.bus, info.device, info.base_class, info.sub_class) == (2, 0x81, 3, 3, 2)
    plays("nvmlDeviceGetPciInfoExt", lambda device, info: 2)
    with pytest.raises(RuntimeError, match="is on no PCI bus"):
        _ = first.pci_info
    plays("nvmlDeviceGetPciInfoExt", lambda device, info: NOT_SUPPORTED)
    with pytest.raises(system.NotSupportedError):
        _ = first.pci_bus_id


def test_throughput_is_of_one_direction(plays, first):
    plays("nvmlDeviceGetPcieThroughput", lambda device, direction, rate: puts(10 + direction.value)(rate))
    assert (first.pci_info.tx_throughput, first.pci_info.rx_throughput) == (10, 11)


def test_clocks_are_asked_by_their_numbers(plays, first):
    def offsets(device, offset):
        assert (offset._obj.type, offset._obj.pstate, offset._obj.version) == (2, 3, 0x1000018)
        return fills(clockOffsetMHz=-100, minClockOffsetMHz=-200, maxClockOffsetMHz=300)(offset)

    plays("nvmlDeviceGetClockOffsets", offsets)
    plays("nvmlDeviceGetClock", lambda device, kind, which, speed: puts(10 * kind.value + which.value)(speed))
    plays("nvmlDeviceGetMinMaxClockOfPState", lambda device, kind, state, *both: puts(state.value, 99)(*both))
    clock = first.get_clock("memory")
    found = clock.get_offsets(3)
    assert (found.clock_offset_mhz, found.min_offset_mhz, found.max_offset_mhz) == (-100, -200, 300)
    assert (clock.get_current_mhz(), clock.get_current_mhz("customer_boost_max")) == (20, 23)
    assert clock.get_min_max_clock_of_pstate_mhz(4) == (4, 99)
    plays("nvmlDeviceGetAutoBoostedClocksEnabled", puts(1, 0))
    assert first.is_auto_boosted_clocks_enabled == (True, False)


def test_performance_states_end_where_the_unknown_begin(plays, first):
    def states(device, places, size):
        places[:] = [0, 2, 8] + [32] * (size.value // 4 - 3)
        return 0

    plays("nvmlDeviceGetSupportedPerformanceStates", states)
    assert first.supported_pstates == [0, 2, 8]


def test_a_process_is_named_after_the_processes_were_listed(plays, first):
    asked = []

    def processes(device, count, room):
        asked.append("processes")
        return NOT_SUPPORTED  # of a device that cannot list them, and does not matter

    def name(process, text, size):
        asked.append(process.value)
        text.value = b"/usr/bin/python"
        return 0

    plays("nvmlDeviceGetComputeRunningProcesses_v3", processes)
    plays("nvmlSystemGetProcessName", name)
    assert system.get_process_name(77) == "/usr/bin/python"
    assert asked == ["processes"] * system.get_num_devices() + [77]


def test_modes_are_read_and_set(plays, first):
    asked = []
    plays("nvmlDeviceGetPersistenceMode", puts(1))
    plays("nvmlDeviceSetPersistenceMode", lambda device, mode: asked.append(mode.value) or 0)
    assert first.is_persistence_mode_enabled is True
    first.is_persistence_mode_enabled = False
    first.is_persistence_mode_enabled = 5
    assert asked == [0, 1]
    plays("nvmlDeviceGetDisplayMode", puts(1))
    plays("nvmlDeviceGetDisplayActive", puts(0))
    plays("nvmlDeviceGetC2cModeInfoV", fills(isC2cEnabled=1))
    plays("nvmlDeviceGetRepairStatus", fills(channelRepairPending=0, tpcRepairPending=1))
    assert (first.is_display_connected, first.is_display_active, first.is_c2c_enabled) == (True, False, True)
    assert first.repair_status == (False, True)
    plays("nvmlDeviceGetSerial", lambda device, text, size: setattr(text, "value", b"1320221") or 0)
    plays("nvmlDeviceGetNumaNodeId", puts(3))
    assert (first.serial, first.numa_node_id) == ("1320221", 3)


def test_numbers_of_the_memory_and_engines_keep_their_places(plays, first):
    plays("nvmlDeviceGetMemoryInfo_v2", fills(total=10, reserved=1, free=7, used=2))
    plays("nvmlDeviceGetBAR1MemoryInfo", fills(total=30, free=20, used=10))
    plays("nvmlDeviceGetUtilizationRates", fills(gpu=5, memory=6))
    assert first.memory_info._asdict() == {"total": 10, "reserved": 1, "free": 7, "used": 2}
    assert first.bar1_memory_info._asdict() == {"total": 30, "free": 20, "used": 10, "reserved": 0}
    assert first.utilization == (5, 6)
    plays("nvmlDeviceGetAttributes_v2", fills())
    names = first.attributes._fields
    plays("nvmlDeviceGetAttributes_v2", fills(**{name: number for number, name in enumerate(names)}))
    assert tuple(first.attributes) == tuple(range(len(names)))


def test_sensors_of_a_target(plays, first):
    def settings(device, index, found):
        assert index.value == 15
        found._obj.count = 2
        found._obj.sensor[0] = (1, -10, 90, 40, 1)
        found._obj.sensor[1] = (77, 0, 0, 0, 77)
        return 0

    plays("nvmlDeviceGetThermalSettings", settings)
    sensors = first.temperature.get_thermal_settings("all")
    assert sensors == (("gpu_internal", -10, 90, 40, "gpu"), ("unknown", 0, 0, 0, "none"))


def test_thresholds_that_moved_warn_from_ada_on(plays, first, recwarn):
    plays("nvmlDeviceGetTemperatureThreshold", lambda device, which, degrees: puts(90 + which.value)(degrees))
    plays("nvmlDeviceGetArchitecture", puts(7))
    assert first.temperature.get_threshold("gpu_max") == 93
    plays("nvmlDeviceGetArchitecture", puts(8))
    assert first.temperature.get_threshold("acoustic_max") == 96
    assert not recwarn.list
    with pytest.warns(DeprecationWarning, match="FieldId.DEV_TEMPERATURE_GPU_MAX_TLIMIT"):
        first.temperature.get_threshold("gpu_max")


def test_the_inforom_is_read(plays, first):
    def text(words):
        def put(*arguments):
            arguments[-2].value = words
            return 0

        return put

    plays("nvmlDeviceGetInforomVersion", lambda device, part, *place: text(b"5.%d" % part.value)(*place))
    plays("nvmlDeviceGetInforomImageVersion", text(b"G520"))
    plays("nvmlDeviceGetBoardPartNumber", text(b"900-21010"))
    plays("nvmlDeviceGetInforomConfigurationChecksum", puts(0xDEADBEEF))
    plays("nvmlDeviceGetLastBBXFlushTime", puts(1234567890, 55))
    plays("nvmlDeviceValidateInforom", lambda device: 14)
    inforom = first.inforom
    assert [inforom.get_version(part) for part in typing.InforomObject] == ["5.0", "5.1", "5.2", "5.3"]
    assert (inforom.image_version, inforom.board_part_number) == ("G520", "900-21010")
    assert (inforom.configuration_checksum, inforom.bbx_flush_time) == (0xDEADBEEF, (1234567890, 55))
    with pytest.raises(system.CorruptedInforomError, match="nvmlDeviceValidateInforom on <InforomInfo of"):
        inforom.validate()


def test_mig_devices_are_parts_of_a_device(plays, first):
    address = first._handle
    plays("nvmlDeviceGetMaxMigDeviceCount", puts(7))
    plays("nvmlDeviceGetMigMode", puts(1, 0))
    found = {4: puts(address)}
    plays("nvmlDeviceGetMigDeviceHandleByIndex", lambda device, i, part: found.get(i.value, lambda _: NOT_FOUND)(part))
    plays("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", puts(address))
    assert (first.mig.mode, first.mig.pending_mode, first.mig.device_count) == (True, False, 7)
    (part,) = first.mig.get_all_devices()
    assert part == first and "part 4 of" in repr(part) and part.mig.parent == first
    with pytest.raises(system.NotFoundError, match="on part 0 of <system.Device"):
        first.mig.get_device_by_index(0)
    asked = []
    plays("nvmlDeviceSetMigMode", lambda device, mode, status: asked.append(mode.value) or 0)
    first.mig.mode = True
    plays("nvmlDeviceSetMigMode", puts(RESET_REQUIRED))
    with pytest.warns(RuntimeWarning, match="will change, but not yet: NVML_ERROR_RESET_REQUIRED"):
        first.mig.mode = False
    assert asked == [1]


def test_processes_of_mig_devices_have_instances(plays, first):
    def processes(device, count, room):
        if room is None:
            count._obj.value = 1
            return 7  # of insufficient size
        room[0] = (11, 4096, 1, 2)
        count._obj.value = 1
        return 0

    plays("nvmlDeviceGetComputeRunningProcesses_v3", processes)
    plays("nvmlDeviceIsMigDeviceHandle", puts(1))
    (process,) = first.compute_running_processes
    assert (process.pid, process.used_gpu_memory) == (11, 4096)
    assert (process.gpu_instance_id, process.compute_instance_id) == (1, 2)


def test_an_event_says_what_happened(plays, first):
    def happens(kind):
        def wait(events, data, milliseconds):
            data._obj.device, data._obj.eventType, data._obj.eventData = first._handle, kind, 79
            return 0

        return wait

    plays("nvmlEventSetCreate", puts(1))
    plays("nvmlEventSetFree", lambda events: 0)
    plays("nvmlDeviceRegisterEvents", lambda device, bits, events: 0 if bits.value == 0xC else NOT_SUPPORTED)
    plays("nvmlEventSetWait_v2", happens(8))
    events = first.register_events(["xid_critical_error", typing.EventType.PSTATE])
    event = events.wait()
    assert event.device is first
    assert (event.device, event.event_type, event.event_data) == (first, "xid_critical_error", 79)
    assert (event.gpu_instance_id, event.compute_instance_id) == (0, 0)
    plays("nvmlEventSetWait_v2", happens(4))
    event = events.wait(timeout_ms=None)
    with pytest.raises(ValueError, match="only an event of type xid_critical_error has event_data; this one is pstate"):
        _ = event.event_data
    plays("nvmlEventSetWait_v2", happens(64))
    with pytest.raises(RuntimeError, match="NVML answers 64 for event_type"):
        _ = events.wait().event_type
    plays("nvmlEventSetWait_v2", lambda *arguments: IS_LOST)
    with pytest.raises(system.GpuIsLostError):
        events.wait()
    with pytest.raises(system.NotSupportedError, match="nvmlDeviceRegisterEvents on <DeviceEvents of"):
        first.register_events("clock")


def test_a_long_wait_is_many_short_ones_so_that_signals_are_seen(plays, first):
    waited = []

    def wait(events, data, milliseconds):
        waited.append(milliseconds.value)
        if len(waited) < 5:
            return TIMEOUT
        data._obj.device = first._handle
        return 0

    plays("nvmlEventSetCreate", puts(1))
    plays("nvmlEventSetFree", lambda events: 0)
    plays("nvmlDeviceRegisterEvents", lambda device, bits, events: 0)
    plays("nvmlEventSetWait_v2", wait)
    first.register_events("pstate").wait(timeout_ms=None)
    assert len(waited) == 5 and max(waited) <= 1000


def test_events_of_the_system_name_a_device(plays, first):
    place = first.pci_info
    number = place.domain << 16 | place.bus << 8 | place.device << 3

    def wait(request):
        request._obj.data[0] = (2, number)
        request._obj.numEvent = 1
        assert request._obj.dataSize == 3
        return 0

    plays("nvmlSystemEventSetCreate", fills(set=1))
    plays("nvmlSystemEventSetFree", fills())
    plays("nvmlSystemRegisterEvents", fills())
    plays("nvmlSystemEventSetWait", wait)
    (event,) = system.register_events("bind").wait(timeout_ms=4, buffer_size=3)
    assert event.event_type == "bind" and event.gpu_id == number and event.device == first


def test_what_cannot_be_freed_is_a_warning(plays, first):
    plays("nvmlEventSetCreate", puts(1))
    plays("nvmlDeviceRegisterEvents", lambda device, bits, events: 0)
    plays("nvmlEventSetFree", lambda events: 999)
    events = first.register_events("pstate")
    with pytest.warns(cucore.CUDAWarning, match="nvmlEventSetFree"):
        del events


def test_a_set_of_processors_that_does_not_fit_is_asked_again(plays, first):
    def affinity(device, words, bits, scope):
        if words.value < 64:
            return 7
        bits[40] = 5
        return 0

    plays("nvmlDeviceGetCpuAffinityWithinScope", affinity)
    width = 8 * ctypes.sizeof(ctypes.c_ulong)
    assert first.get_cpu_affinity("socket") == [40 * width, 40 * width + 2]


def test_a_cuda_device_that_is_not_shown_is_a_runtime_error(plays, first):
    def uuid(device, text, size):
        text.value = b"GPU-00000000-0000-0000-0000-000000000000"
        return 0

    plays("nvmlDeviceGetUUID", uuid)
    with pytest.raises(RuntimeError, match="CUDA shows no device with the UUID 0000.*CUDA_VISIBLE_DEVICES"):
        first.to_cuda_device()
    plays("nvmlDeviceGetHandleByUUID", lambda uuid, device: NOT_FOUND)
    with pytest.raises(RuntimeError, match="NVML shows no device with the UUID"):
        cucore.Device(0).to_system_device()
