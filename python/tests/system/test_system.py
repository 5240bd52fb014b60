"""cucore.system: what NVML tells of the devices of the driver in use."""

import ctypes
import os
import pickle
import re
import sys
import threading
from pathlib import Path

import pytest
from conftest import run_python

import cucore
from cucore import system
from cucore.system import _numbers, _nvml, _structs, exceptions

IS_CPU = cucore.driver_info().kind == "cpu"


@pytest.fixture
def first():
    """The device of NVML's that is CUDA's first, which need not be NVML's first."""
    return cucore.Device(0).to_system_device()


def answer_or_not_supported(ask):
    try:
        return ask()
    except system.NotSupportedError as error:
        assert error.code == 3 and error.name == "NVML_ERROR_NOT_SUPPORTED" and error.call and error.hint
        return None


def test_versions_are_tuples_of_ints():
    assert system.get_user_mode_driver_version() == divmod(cucore.driver_info().version // 10, 100)
    for version in (system.get_kernel_mode_driver_version(), system.get_nvml_version()):
        assert len(version) >= 2 and all(type(number) is int for number in version)
    assert re.fullmatch(r"r\d+\w*", system.get_driver_branch())  # which need not begin as the version does


def test_devices_are_those_of_cuda():
    assert system.get_num_devices() == system.Device.get_device_count() >= len(cucore.Device.get_all_devices())
    shown = {device.uuid_without_prefix for device in system.Device.get_all_devices()}
    for device in cucore.Device.get_all_devices():
        twin = device.to_system_device()
        assert twin.uuid_without_prefix == device.uuid
        assert twin.to_cuda_device() == device
        assert twin.cuda_compute_capability == device.compute_capability
        assert twin.name == device.name
        assert twin.mig.is_mig_device or device.uuid in shown


def test_a_device_is_found_by_each_of_its_names(first):
    for device in (
        system.Device(index=first.index),
        system.Device(uuid=first.uuid),
        system.Device(uuid=first.uuid.encode()),
        system.Device(pci_bus_id=first.pci_bus_id),
        system.Device(pci_bus_id=first.pci_bus_id.encode()),
        pickle.loads(pickle.dumps(first)),
    ):
        assert device == first and hash(device) == hash(first) and device.index == first.index
    assert first != 3
    assert "uuid=" in repr(first) and "index=0" in repr(system.Device(index=0))


def test_a_device_needs_one_name():
    for arguments in ({}, {"index": 0, "uuid": "x"}, {"index": None}):
        with pytest.raises(ValueError, match="one of index, uuid and pci_bus_id"):
            system.Device(**arguments)
    with pytest.raises(TypeError):
        system.Device(0)
    with pytest.raises(TypeError, match="uuid must be a str or bytes, not int"):
        system.Device(uuid=5)
    with pytest.raises(TypeError, match="index must be an int, not str"):
        system.Device(index="0")
    with pytest.raises(OverflowError, match="index must be 0 to"):
        system.Device(index=-1)


def test_what_is_not_there_is_an_error_that_names_call_object_and_code():
    with pytest.raises(system.NotFoundError) as caught:
        system.Device(uuid="GPU-00000000-0000-0000-0000-000000000000")
    error = caught.value
    assert (error.status, error.code, error.name) == (6, 6, "NVML_ERROR_NOT_FOUND")
    assert error.call == "nvmlDeviceGetHandleByUUID" and error.hint in str(error)
    assert "nvmlDeviceGetHandleByUUID on <system.Device uuid='GPU-0000" in str(error) and "code 6" in str(error)
    with pytest.raises(system.InvalidArgumentError, match="GetHandleByIndex_v2 on <system.Device index=9999>"):
        system.Device(index=9999)


def test_errors_are_cudas_and_of_the_builtins_and_survive_pickling():
    assert issubclass(system.NvmlError, cucore.CUDAError)
    assert issubclass(system.TimeoutError, TimeoutError) and issubclass(system.MemoryError, MemoryError)
    for cls, status in ((system.TimeoutError, 10), (system.NvmlError, 3), (system.NotSupportedError, 3)):
        error = pickle.loads(pickle.dumps(cls(status)))
        assert type(error) is cls and error.status == error.code == status and str(error) == str(cls(status))
    assert str(system.NvmlError(3)).startswith("Not Supported") and str(system.NvmlError(12345)) == "Unknown Error"


def test_a_star_import_leaves_the_builtins_alone():
    names = {}
    exec("from cucore.system import *", names)
    assert "NotSupportedError" in names and "TimeoutError" not in names and "MemoryError" not in names
    for name in system.__all__:
        assert getattr(system, name) is not None


PROPERTIES = [name for name in dir(system.Device) if isinstance(getattr(system.Device, name), property)]


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_property_is_an_answer_or_not_supported(first, name):
    answer_or_not_supported(lambda: getattr(first, name))


@pytest.mark.parametrize("part", ["inforom", "mig", "pci_info", "temperature"])
def test_every_property_of_a_part_is_an_answer_or_not_supported(first, part):
    part = getattr(first, part)
    for name in dir(type(part)):
        if isinstance(getattr(type(part), name), property):
            try:
                answer_or_not_supported(lambda name=name: getattr(part, name))
            except system.InvalidArgumentError:
                assert name == "parent"  # which only MIG devices have
            except system.NotReadyError:
                assert name == "bbx_flush_time"


def test_memory_adds_up(first):
    memory = first.memory_info
    assert memory.total == memory.free + memory.used + memory.reserved > 0
    bar1 = answer_or_not_supported(lambda: first.bar1_memory_info)
    assert bar1 is None or (bar1.total >= bar1.free and bar1.reserved == 0)


def test_the_place_on_the_bus_is_that_of_cuda(first):
    info = first.pci_info
    assert info.bus_id == first.pci_bus_id and info.bus_id.lower().endswith(cucore.Device(0).pci_bus_id.lower()[-10:])
    domain, bus, rest = info.bus_id.split(":")
    assert (info.domain, info.bus, info.device) == (int(domain, 16), int(bus, 16), int(rest.split(".")[0], 16))


def test_architectures_compare(first):
    assert first.arch >= system.typing.DeviceArch.VOLTA
    assert str(system.typing.DeviceArch.ADA) == repr(system.typing.DeviceArch.ADA) == "<DeviceArch.ADA: 8>"


def test_affinity_is_lists_of_numbers(first):
    for scope in system.typing.AffinityScope:
        assert answer_or_not_supported(lambda scope=scope: first.get_cpu_affinity(scope)) != []
    processors = first.get_cpu_affinity()
    assert set(processors) <= set(range(os.sysconf("SC_NPROCESSORS_CONF")))
    assert first in list(system.Device.get_all_devices_with_cpu_affinity(processors[0]))
    assert list(system.Device.get_all_devices_with_cpu_affinity(1 << 20)) == [] or not IS_CPU
    answer_or_not_supported(first.get_memory_affinity)
    with pytest.raises(
        ValueError, match="'nowhere' is not a member of AffinityScope; it must be one of 'node', 'socket'"
    ):
        first.get_cpu_affinity("nowhere")


def test_setting_the_affinity_is_of_the_calling_thread(first):
    before = os.sched_getaffinity(0)

    def bind():
        first.set_cpu_affinity()
        first.clear_cpu_affinity()

    thread = threading.Thread(target=bind)
    thread.start()
    thread.join()
    assert os.sched_getaffinity(0) == before


def test_clocks_answer_in_every_form(first):
    clock = first.get_clock("sm")
    assert clock.get_current_mhz() > 0 and clock.get_max_mhz() > 0
    limits = answer_or_not_supported(lambda: clock.get_min_max_clock_of_pstate_mhz(first.supported_pstates[0]))
    assert limits is None or limits[0] <= limits[1]
    with pytest.raises(ValueError, match="pstate must be 0 .fastest. to 15, not 16"):
        clock.get_offsets(16)
    with pytest.raises(ValueError, match="clock_type 'wall' is not a member of ClockType"):
        first.get_clock("wall")
    with pytest.raises(ValueError, match="clock_id 'best' is not a member of ClockId"):
        clock.get_current_mhz("best")
    assert first.performance_state in first.supported_pstates


def test_fans_and_links_beyond_those_there_are_errors(first):
    fans = answer_or_not_supported(lambda: first.num_fans) or 0
    with pytest.raises((ValueError, system.NotSupportedError)):
        first.get_fan(fans)
    links = answer_or_not_supported(first.get_nvlink_count) or 0
    with pytest.raises((ValueError, system.NotSupportedError)):
        first.get_nvlink(links)
    assert links == 0 or len(list(first.get_nvlinks())) == links
    with pytest.warns(DeprecationWarning, match="get_nvlink_count"):
        assert system.NvlinkInfo.max_links == 18


def test_values_by_number_have_errors_of_their_own(first):
    values = first.get_field_values([system.typing.FieldId.DEV_NVLINK_LINK_COUNT, 0, (91, 0)])
    assert len(values) == 3 and values[0].field_id is system.typing.FieldId.DEV_NVLINK_LINK_COUNT
    assert values[1].field_id == 0
    with pytest.raises(system.NvmlError, match=r"nvmlDeviceGetFieldValues on 0 of <system.Device uuid="):
        _ = values[1].value
    with pytest.raises(system.NvmlError):
        values.validate()
    with pytest.raises(system.NvmlError):
        values.get_all_values()
    empty = first.get_field_values([])
    empty.validate()
    assert len(empty) == 0 and empty.get_all_values() == []
    first.clear_field_values([])
    for wrong, error in (((1,), TypeError), (["a"], ValueError), ([(1, 2, 3)], ValueError), ([-1], OverflowError)):
        with pytest.raises(error, match="field_ids"):
            first.get_field_values(wrong)


def test_a_process_that_uses_a_device_is_listed_by_its_name(device, first):
    processes = first.compute_running_processes
    if IS_CPU:
        assert os.getpid() in [process.pid for process in processes]
        name = system.get_process_name(os.getpid())
        assert Path(name).resolve() == Path(sys.executable).resolve()
    for process in processes:
        assert process.used_gpu_memory >= 0
        if not first.mig.is_mig_device:
            with pytest.raises(system.NotSupportedError, match="which is not a MIG device"):
                _ = process.gpu_instance_id
    with pytest.raises(system.NotFoundError, match="nvmlSystemGetProcessName on process 4194304999"):
        system.get_process_name(4194304999)
    with pytest.raises(OverflowError, match="pid"):
        system.get_process_name(-1)


def test_two_devices_are_compared(first):
    ancestor = answer_or_not_supported(lambda: system.get_topology_common_ancestor(first, first))
    assert ancestor is None or ancestor in system.typing.GpuTopologyLevel
    status = answer_or_not_supported(lambda: system.get_p2p_status(first, first, "read"))
    assert status is None or status in system.typing.GpuP2PStatus
    with pytest.raises(TypeError, match="device2 must be a cucore.system.Device, not Device"):
        system.get_p2p_status(first, cucore.Device(0), "read")
    with pytest.raises(ValueError, match="is not a member of GpuP2PCapsIndex"):
        system.get_p2p_status(first, first, "telepathy")
    for near in answer_or_not_supported(lambda: list(first.get_topology_nearest_gpus("system"))) or []:
        assert near != first and near.uuid


def test_waiting_for_events_ends_when_the_time_is_up(first):
    assert set(first.get_supported_event_types()) <= set(system.typing.EventType)
    events = answer_or_not_supported(lambda: first.register_events(["xid_critical_error"]))
    if events is None:
        pytest.skip("this device tells of no errors")
    for timeout in (0, 5, 250):
        with pytest.raises(system.TimeoutError):
            events.wait(timeout_ms=timeout)
    with pytest.raises(OverflowError, match="timeout_ms"):
        events.wait(-1)


def test_what_is_no_event_is_refused(first):
    for register, name in ((first.register_events, "EventType"), (system.register_events, "SystemEventType")):
        for wrong in (("bind",), None, 8):
            with pytest.raises(TypeError, match="events must be"):
                register(wrong)
        with pytest.raises(ValueError, match=f"'nope' is not a member of {name}"):
            register("nope")


def test_events_of_the_system_end_when_the_time_is_up():
    done = run_python(
        """
        from cucore import system
        try:
            events = system.register_events(["bind", "unbind"])
        except system.NotSupportedError:
            raise SystemExit
        for size in (1, 4):
            try:
                print(events.wait(timeout_ms=5, buffer_size=size))
            except system.TimeoutError as error:
                assert "nvmlSystemEventSetWait" in str(error)
        try:
            events.wait(buffer_size=0)
        except ValueError:
            print("ok")
        """
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_an_event_set_at_the_end_of_a_process_says_nothing(first):
    done = run_python(
        """
        from cucore import system
        device = next(iter(system.Device.get_all_devices()))
        try:
            events = device.register_events("xid_critical_error")
        except system.NotSupportedError:
            pass
        """
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_asking_opens_no_driver_so_that_a_process_may_fork():
    done = run_python(
        """
        import os
        import cucore
        from cucore import system
        uuid = system.Device(index=0).uuid
        assert system.get_num_devices() >= 1
        assert not cucore._core._driver_opened()
        started = []
        start = system._nvml._start
        system._nvml._start = lambda library: started.append(library) or start(library)
        assert system.Device(index=0).uuid == uuid and started == []
        child = os.fork()
        if child == 0:
            alive = system.Device(index=0).uuid == uuid and cucore.Device(0).name
            os._exit(0 if alive and len(started) == 1 else 1)  # NVML is initialised anew in it
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert done.returncode == 0, done.stderr


def test_importing_opens_nothing():
    done = run_python(
        """
        import sys
        from cucore import system
        assert "libnvidia-ml" not in open("/proc/self/maps").read()
        assert system.typing.FieldId.DEV_ENERGY == 191
        """
    )
    assert done.returncode == 0, done.stderr


def test_without_a_library_the_driver_is_asked_or_the_places_are_named():
    done = run_python(
        """
        import cucore
        from cucore.system import _nvml
        class Places:
            management_library_places = staticmethod(lambda: ["/nowhere/libnvidia-ml.so.1"])
        _nvml._seam = Places
        from cucore import system
        version = cucore.driver_info().version
        assert system.get_user_mode_driver_version() == (version // 1000, version % 1000 // 10)
        assert system.get_num_devices() == len(cucore.Device.get_all_devices())
        try:
            system.Device(index=0)
        except system.LibraryNotFoundError as error:
            assert "/nowhere/libnvidia-ml.so.1" in str(error) and error.status == 12 and error.hint in str(error)
        else:
            raise AssertionError
        """
    )
    assert done.returncode == 0, done.stderr


def test_a_library_without_devices_makes_way_for_the_next(monkeypatch):
    class Library:
        def __init__(self, name, devices, code=0):
            self._name, self.devices, self.code = name, devices, code

        def nvmlInit_v2(self):
            return self.code

        def nvmlDeviceGetCount_v2(self, count):
            count._obj.value = self.devices
            return 0

    def opened(*libraries):
        class Core:
            @staticmethod
            def management_library_places():
                return [library._name for library in libraries]

        monkeypatch.setattr(_nvml, "_seam", Core)
        monkeypatch.setattr(ctypes, "CDLL", lambda name: next(each for each in libraries if each._name == name))
        return _nvml._open()._name

    assert opened(Library("gpu", 1), Library("cpu", 1)) == "gpu"
    assert opened(Library("gpu", 0), Library("cpu", 1)) == "cpu"
    assert opened(Library("gpu", 1, code=9), Library("cpu", 1)) == "cpu"
    assert opened(Library("gpu", 0)) == "gpu"
    with pytest.raises(system.DriverNotLoadedError, match="nvmlInit_v2 on gpu"):
        opened(Library("gpu", 1, code=9))


def test_threads_ask_at_once(first):
    failures = []

    def ask():
        try:
            for _ in range(20):
                assert system.Device(uuid=first.uuid).memory_info.total == first.memory_info.total
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def places_of(struct):
    fields = [getattr(struct, field[0]) for field in struct._fields_]
    return [(field.offset, field.size) for field in fields]


def test_structs_are_those_of_nvidia_ml_py():
    pynvml = pytest.importorskip("pynvml")
    theirs = {
        _structs.PciInfoExt: "nvmlPciInfoExt_v1_t",
        _structs.Memory: "c_nvmlMemory_v2_t",
        _structs.Bar1Memory: "c_nvmlBAR1Memory_t",
        _structs.Utilization: "c_nvmlUtilization_t",
        _structs.ProcessInfo: "c_nvmlProcessInfo_v2_t",
        _structs.DeviceAttributes: "c_nvmlDeviceAttributes",
        _structs.AddressingMode: "c_nvmlDeviceAddressingMode_v1_t",
        _structs.C2cModeInfo: "c_nvmlC2cModeInfo_v1_t",
        _structs.RepairStatus: "c_nvmlRepairStatus_v1_t",
        _structs.Temperature: "c_nvmlTemperature_v1_t",
        _structs.MarginTemperature: "c_nvmlMarginTemperature_v1_t",
        _structs.ThermalSettings: "c_nvmlGpuThermalSettings_t",
        _structs.ClockOffset: "c_nvmlClockOffset_t",
        _structs.DynamicPstatesInfo: "c_nvmlGpuDynamicPstatesInfo_t",
        _structs.FanSpeedInfo: "c_nvmlFanSpeedInfo_t",
        _structs.CoolerInfo: "c_nvmlCoolerInfo_t",
        _structs.FieldValue: "c_nvmlFieldValue_t",
        _structs.EventData: "c_nvmlEventData_t",
        _structs.SystemEventSetRequest: "c_nvmlSystemEventSetCreateRequest_v1_t",
        _structs.SystemRegisterEventRequest: "c_nvmlSystemRegisterEventRequest_v1_t",
        _structs.SystemEventData: "c_nvmlSystemEventData_v1_t",
        _structs.SystemEventSetWaitRequest: "c_nvmlSystemEventSetWaitRequest_v1_t",
    }
    compared = 0
    for own, name in theirs.items():
        other = getattr(pynvml, name, None)
        if other is None:  # of a newer version of it
            continue
        compared += 1
        assert ctypes.sizeof(own) == ctypes.sizeof(other), name
        assert places_of(own) == places_of(other), name
    assert compared > 12


def test_numbers_are_those_of_nvidia_ml_py():
    pynvml = pytest.importorskip("pynvml")
    compared = 0
    for prefix, words in {
        "NVML_AFFINITY_SCOPE_": _numbers.AFFINITY_SCOPES,
        "NVML_CLOCK_ID_": _numbers.CLOCK_IDS,
        "NVML_CLOCK_": _numbers.CLOCK_TYPES,
        "NVML_INFOROM_": _numbers.INFOROM_OBJECTS,
        "NVML_TEMPERATURE_THRESHOLD_": _numbers.TEMPERATURE_THRESHOLDS,
        "NVML_THERMAL_COOLER_TARGET_": _numbers.COOLER_TARGETS,
        "NVML_THERMAL_TARGET_": _numbers.THERMAL_TARGETS,
        "NVML_TOPOLOGY_": _numbers.TOPOLOGY_LEVELS,
        "NVML_DEVICE_ARCH_": {arch: arch.value for arch in system.typing.DeviceArch},
        "NVML_FI_": {field: field.value for field in system.typing.FieldId},
        "nvmlClocksEventReason": _numbers.CLOCKS_EVENT_REASONS,
        "nvmlEventType": _numbers.EVENT_TYPES,
        "NVML_DEVICE_ADDRESSING_MODE_": inverse(_numbers.ADDRESSING_MODES_BY_NUMBER),
        "NVML_P2P_STATUS_": inverse(_numbers.P2P_STATUS_BY_NUMBER),
        "NVML_THERMAL_CONTROLLER_": inverse(_numbers.THERMAL_CONTROLLERS_BY_NUMBER),
        "NVML_THERMAL_COOLER_SIGNAL_": inverse(_numbers.COOLER_CONTROLS_BY_NUMBER),
    }.items():
        for word, number in words.items():
            name = word.name if prefix.isupper() else word.name.title().replace("_", "").replace("Pstate", "PState")
            if hasattr(pynvml, prefix + name):
                compared += 1
                assert getattr(pynvml, prefix + name) == number, prefix + name
    assert compared > 300
    for status, cls in exceptions._classes.items():
        assert getattr(pynvml, cls._name) == status


def inverse(words):
    return {word: number for number, word in words.items()}


def test_calls_that_the_driver_is_too_old_for_say_so():
    with pytest.raises(system.FunctionNotFoundError, match="the driver is older than this call"):
        _nvml.call("nvmlNobodyHasThis", on="the system")
