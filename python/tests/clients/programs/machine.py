"""What the management library says of each device."""

import os

from cuda.core import Device as CudaDevice
from cuda.core import system
from cuda.core.system import typing

print(system.get_num_devices() == CudaDevice.get_all_devices().__len__(), type(system.get_driver_branch()).__name__)
print(
    len(system.get_user_mode_driver_version()),
    len(system.get_kernel_mode_driver_version()),
    len(system.get_nvml_version()),
)
devices = list(system.Device.get_all_devices())
for device in devices:
    cuda = device.to_cuda_device()
    print(
        device.index == cuda.device_id,
        device.name == cuda.name,
        device.uuid_without_prefix == cuda.uuid,
        device.pci_bus_id == cuda.pci_bus_id,
    )
    memory = device.memory_info
    print(
        memory.total >= memory.used,
        memory.total >= memory.free,
        sorted(
            name for name in dir(memory) if not name.startswith("_") and name in ("free", "total", "used", "reserved")
        ),
    )
    bar = device.bar1_memory_info
    print(bar.total >= bar.used, bar.free >= 0)
    pci = device.pci_info
    print(pci.bus_id == device.pci_bus_id or len(pci.bus_id) > 0, pci.bus >= 0, pci.domain >= 0, pci.vendor_id > 0)
    print(device.arch, device.brand, device.cuda_compute_capability == tuple(cuda.compute_capability))
    for name in (
        "serial",
        "utilization",
        "temperature",
        "cooler",
        "mig",
        "inforom",
        "performance_state",
        "num_fans",
        "is_c2c_enabled",
        "addressing_mode",
        "numa_node_id",
        "module_id",
        "minor_number",
        "supported_pstates",
        "current_clock_event_reasons",
        "is_persistence_mode_enabled",
        "is_display_active",
        "repair_status",
        "attributes",
        "dynamic_pstates_info",
        "compute_running_processes",
    ):
        try:
            value = getattr(device, name)
            print(name, value if isinstance(value, (int, str, bool, type(None))) else type(value).__name__)
        except Exception as error:
            print(
                name,
                [
                    kind.__name__
                    for kind in type(error).__mro__
                    if kind.__name__ in ("NvmlError", "RuntimeError", "ValueError", "TypeError")
                ][:1],
                type(error).__name__,
            )
    for clock in typing.ClockType:
        try:
            info = device.get_clock(clock)
            for name in ("get_current_mhz", "get_max_mhz", "get_offsets", "get_min_max_clock_of_pstate"):
                try:
                    value = getattr(info, name)() if name != "get_min_max_clock_of_pstate" else getattr(info, name)(0)
                    print(clock, name, type(value).__name__)
                except Exception as error:
                    print(clock, name, type(error).__name__)
        except Exception as error:
            print(clock, type(error).__name__)
    try:
        print(
            [
                value.field_id
                for value in device.get_field_values(
                    [typing.FieldId.DEV_POWER_INSTANT if hasattr(typing.FieldId, "DEV_POWER_INSTANT") else 1]
                )
            ]
        )
    except Exception as error:
        print(type(error).__name__)
    print([str(kind) for kind in device.get_supported_event_types()] if True else "")
if len(devices) > 1:
    print(
        system.get_topology_common_ancestor(devices[0], devices[1]),
        system.get_p2p_status(devices[0], devices[1], "read"),
    )
    print([one.index for one in devices[0].get_topology_nearest_gpus("system")])
try:
    events = devices[0].register_events("pstate")
    try:
        print(type(events).__name__, events.wait(timeout_ms=1))
    except Exception as error:
        print(type(error).__name__, isinstance(error, system.NvmlError))
except Exception as error:
    print("events", type(error).__name__)
try:
    print(type(system.get_process_name(os.getpid())).__name__)
except Exception as error:
    print(type(error).__name__)
print(CudaDevice(0).to_system_device().index)
