"""What NVML tells of the machine."""

from common import each, lines

PROPERTIES = """
addressing_mode arch attributes bar1_memory_info brand compute_running_processes cooler cuda_compute_capability
current_clock_event_reasons dynamic_pstates_info index inforom is_auto_boosted_clocks_enabled is_c2c_enabled
is_display_active is_display_connected is_persistence_mode_enabled memory_info mig minor_number module_id name num_fans
numa_node_id pci_bus_id pci_info performance_state repair_status serial supported_clock_event_reasons supported_pstates
temperature utilization uuid uuid_without_prefix
"""
SAME = "name uuid uuid_without_prefix pci_bus_id index brand cuda_compute_capability minor_number num_fans"
CALLS = """
get_clock('sm') get_clock('none') get_clock(5) get_clock('graphics') get_cpu_affinity() get_cpu_affinity('socket')
get_cpu_affinity('none') get_fan() get_fan(99) get_field_values([1]) get_field_values([]) get_field_values(5)
get_memory_affinity() get_memory_affinity('none') get_nvlink(0) get_nvlink(99) get_nvlink('x') get_nvlink_count()
get_supported_event_types()
clear_field_values([1]) clear_field_values(5) register_events('pstate') register_events([]) register_events('none')
register_events(5) to_cuda_device() none
"""
PARTS = """
attributes.compute_instance_slice_count attributes.gpu_instance_slice_count attributes.memory_size_mb
attributes.multiprocessor_count attributes.shared_copy_engine_count attributes.shared_decoder_count
attributes.shared_encoder_count attributes.shared_jpeg_count attributes.shared_ofa_count attributes.none
inforom.bbx_flush_time inforom.board_part_number inforom.configuration_checksum inforom.get_version('oem')
inforom.get_version('none') inforom.get_version() inforom.image_version inforom.validate() mig.device_count
mig.is_mig_device mig.mode mig.parent mig.pending_mode mig.get_device_by_index(0) mig.get_device_by_index(-1)
mig.get_device_by_index('x') mig.get_all_devices()==5 pci_info.base_class pci_info.current_link_generation
pci_info.current_link_width pci_info.max_link_generation pci_info.max_link_width pci_info.replay_counter
pci_info.rx_throughput pci_info.sub_class pci_info.subsystem_id pci_info.tx_throughput
repair_status.channel_repair_pending repair_status.tpc_repair_pending temperature.get_sensor()
temperature.get_sensor('gpu') temperature.get_thermal_settings(0) temperature.get_thermal_settings('none')
temperature.get_threshold('gpu_max') temperature.get_threshold('none') temperature.get_threshold(5) temperature.margin
get_nvlink(0).state get_nvlink(0).version get_nvlink(0).none brand
"""
ERRORS = """
AlreadyInitializedError ArgumentVersionMismatchError CorruptedInforomError DeprecatedError DriverNotLoadedError
FreqNotSupportedError FunctionNotFoundError GpuIsLostError GpuNotFoundError InUseError InsufficientPowerError
InsufficientResourcesError InsufficientSizeError InvalidArgumentError InvalidStateError IrqIssueError
LibRmVersionMismatchError LibraryNotFoundError MemoryError NoDataError NoPermissionError NotFoundError NotReadyError
NotSupportedError OperatingSystemError ResetRequiredError ResetTypeNotSupportedError TimeoutError UninitializedError
UnknownError VgpuEccNotSupportedError
"""

OF_THE_SYSTEM = [
    *each(
        "kind(system.{call})",
        call="get_driver_branch() get_kernel_mode_driver_version() get_num_devices() get_nvml_version() get_process_name(os.getpid()) get_user_mode_driver_version()",
    ),
    *each(
        "system.{call}",
        call="get_num_devices() get_user_mode_driver_version() get_kernel_mode_driver_version() get_process_name(-1) get_process_name('x') get_process_name(2**22+5) get_process_name() get_num_devices(1) get_driver_branch(1) get_nvml_version(1) get_user_mode_driver_version(1) none",
    ),
    *lines("""
        system.TYPE_CHECKING
        kind(system.CUDA_BINDINGS_NVML_IS_COMPATIBLE)
        len(system.get_user_mode_driver_version())
        len(system.get_nvml_version()) > 0
        in_thread(lambda: system.get_num_devices())
        system.typing is not None
    """),
]

OF_DEVICES = [
    *each("kind(first.{name})", name=PROPERTIES),
    *each("first.{name} = 5", name=PROPERTIES),
    *each("first.{name}", name=SAME),
    *each("kind(first.{call})", call=CALLS),
    *each(
        "system.Device({arguments}).index",
        arguments=[
            "index=0",
            "index=1",
            "index=99",
            "index=-1",
            "index='x'",
            "",
            "0",
            "uuid=first.uuid",
            "uuid='x'",
            "pci_bus_id=first.pci_bus_id",
            "pci_bus_id='x'",
            "index=0, uuid=first.uuid",
            "none=1",
            "index=None",
            "index=1.5",
            "uuid=5",
        ],
    ),
    *each("kind(system.{error}(1))", error=ERRORS),
    *each("issubclass(system.{error}, system.NvmlError)", error=ERRORS),
    *each("[one.__name__ for one in system.{error}.__mro__ if one.__module__ == 'builtins'][-3:]", error=ERRORS),
    *each(
        "{call}",
        call=[
            "system.get_p2p_status(first, first, 'read')",
            "system.get_p2p_status(first, second, 'read')",
            "system.get_p2p_status(first, second, 'none')",
            "system.get_p2p_status(first, 5, 'read')",
            "system.get_p2p_status(first)",
            "system.get_topology_common_ancestor(first, second)",
            "system.get_topology_common_ancestor(first, first)",
            "system.get_topology_common_ancestor(first, 5)",
            "kind(system.register_events('bind'))",
            "kind(system.register_events([]))",
            "kind(system.register_events('none'))",
            "kind(system.register_events(5))",
        ],
    ),
    *each("first.memory_info.{name} >= 0", name="free total used reserved"),
    *each("first.bar1_memory_info.{name} >= 0", name="free total used"),
    *each("first.pci_info.{name}", name="bus domain device vendor_id device_id bus_id link_generation none"),
    *each("first.utilization.{name} >= 0", name="gpu memory"),
    *each("first.{part}", part=PARTS),
    *each(
        "int(system.typing.DeviceArch.{name})",
        name="ADA AMPERE BLACKWELL HOPPER KEPLER MAXWELL PASCAL TURING VOLTA UNKNOWN",
    ),
    *lines("""
        len(list(system.Device.get_all_devices())) == system.get_num_devices()
        system.Device.get_device_count() == system.get_num_devices()
        len(list(system.Device.get_all_devices_with_cpu_affinity(0))) >= 0
        system.Device.get_all_devices_with_cpu_affinity("x")
        first.to_cuda_device() == device
        first.to_cuda_device() is device
        device.to_system_device().index == device.device_id
        kind(device.to_system_device())
        device.to_system_device().uuid.endswith(device.uuid)
        first.uuid_without_prefix == device.uuid
        first.name == device.name
        first.pci_bus_id == device.pci_bus_id
        first.cuda_compute_capability == tuple(device.compute_capability)
        first.compute_running_processes != None
        bool(first)
        len(first)
        copy.copy(first)
        pickle.loads(pickle.dumps(first)).index, pickle.loads(pickle.dumps(first)).uuid == first.uuid
        len(list(first.get_nvlinks()))
        len(list(first.get_topology_nearest_gpus('single')))
        list(first.get_topology_nearest_gpus('none'))
        first.set_cpu_affinity()
        first.clear_cpu_affinity()
        system.NvlinkInfo.max_links
        type(system.NvlinkInfo).max_links is None
        int(first.arch)
        system.NvlinkInfo.state is None
        system.NvlinkInfo.version is None
        first.none
        first.none = 1
        in_thread(lambda: system.Device(index=0).name)
        issubclass(system.NvmlError, Exception)
        kind(system.NvmlError(1))
        system.NvmlError(1).args
        system.NvmlError()
        system.NvlinkInfo()
        sorted(one for one in dir(system.typing.DeviceArch) if one.isupper())
        [int(getattr(system.typing.DeviceArch, one)) for one in sorted(dir(system.typing.DeviceArch)) if one.isupper()]
        [(one, int(getattr(system.typing.FieldId, one))) for one in sorted(system.typing.FieldId.__members__)]
        system.typing.FieldId(1).name
        system.typing.FieldId(99999)
    """),
]

BEHAVIOURS = [*OF_THE_SYSTEM, *OF_DEVICES]


def names(shared):
    last = shared.system.get_num_devices() - 1
    return {"first": shared.system.Device(index=0), "second": shared.system.Device(index=min(1, last))}
