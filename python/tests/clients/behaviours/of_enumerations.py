"""Enumerations: each member's name, value and string, and how they are looked up."""

from common import each, lines

MEMBERS = """
AddressModeType WRAP CLAMP MIRROR BORDER
ArrayFormatType UINT8 UINT16 UINT32 INT8 INT16 INT32 FLOAT16 FLOAT32
CompilerBackendType NVRTC NVVM NVJITLINK DRIVER
FilterModeType POINT LINEAR
GraphConditionalType IF WHILE SWITCH
GraphMemoryType DEVICE HOST MANAGED
ManagedMemoryLocationType DEVICE HOST HOST_NUMA
ObjectCodeFormatType PTX CUBIN LTOIR FATBIN OBJECT LIBRARY
PCHStatusType CREATED NOT_ATTEMPTED FAILED
ReadModeType ELEMENT_TYPE NORMALIZED_FLOAT
SourceCodeType CXX PTX NVVM
VirtualMemoryAccessType READ_WRITE READ
VirtualMemoryAllocationType PINNED MANAGED
VirtualMemoryGranularityType MINIMUM RECOMMENDED
VirtualMemoryHandleType POSIX_FD WIN32_KMT FABRIC
VirtualMemoryLocationType DEVICE HOST HOST_NUMA HOST_NUMA_CURRENT
WorkqueueSharingScopeType DEVICE_CTX GREEN_CTX_BALANCED
"""

OF_SYSTEM = """
AddressingMode HMM ATS
AffinityScope NODE SOCKET
ClockId CURRENT CUSTOMER_BOOST_MAX
ClockType GRAPHICS SM MEMORY VIDEO
ClocksEventReasons NONE GPU_IDLE APPLICATIONS_CLOCKS_SETTING SW_POWER_CAP HW_SLOWDOWN SYNC_BOOST SW_THERMAL_SLOWDOWN
ClocksEventReasons HW_THERMAL_SLOWDOWN HW_POWER_BRAKE_SLOWDOWN DISPLAY_CLOCK_SETTING BOARD_LIMIT RELIABILITY
CoolerControl TOGGLE VARIABLE
CoolerTarget NONE GPU MEMORY POWER_SUPPLY
EventType NONE SINGLE_BIT_ECC_ERROR DOUBLE_BIT_ECC_ERROR PSTATE XID_CRITICAL_ERROR CLOCK POWER_SOURCE_CHANGE
EventType MIG_CONFIG_CHANGE SINGLE_BIT_ECC_ERROR_STORM DRAM_RETIREMENT_EVENT DRAM_RETIREMENT_FAILURE
EventType NON_FATAL_POISON_ERROR FATAL_POISON_ERROR GPU_UNAVAILABLE_ERROR GPU_RECOVERY_ACTION
FanControlPolicy TEMPERATURE_CONTROLLED MANUAL
GpuP2PCapsIndex READ WRITE NVLINK ATOMICS PCI PROP UNKNOWN
GpuP2PStatus OK CHIPSET_NOT_SUPPORTED GPU_NOT_SUPPORTED IOH_TOPOLOGY_NOT_SUPPORTED DISABLED_BY_REGKEY NOT_SUPPORTED
GpuP2PStatus UNKNOWN
GpuTopologyLevel INTERNAL SINGLE MULTIPLE HOSTBRIDGE NODE SYSTEM
InforomObject OEM ECC POWER DEN
SystemEventType UNBIND BIND
TemperatureThresholds SHUTDOWN SLOWDOWN MEM_MAX GPU_MAX ACOUSTIC_MIN ACOUSTIC_CURR ACOUSTIC_MAX GPS_CURR
ThermalController GPU_INTERNAL ADM1032 ADT7461 MAX6649 MAX1617 LM99 LM89 LM64 G781 ADT7473 SBMAX6649 VBIOSEVT OS
ThermalController NVSYSCON_CANOAS NVSYSCON_E551 MAX6649R ADT7473S UNKNOWN
ThermalTarget NONE GPU MEMORY POWER_SUPPLY BOARD VCD_BOARD VCD_INLET VCD_OUTLET ALL
"""

TABLE = [line.split() for line in lines(MEMBERS)]
TABLE_OF_SYSTEM = [line.split() for line in lines(OF_SYSTEM)]

BEHAVIOURS = [
    *(f"typing.{kind}.{member}" for kind, *members in TABLE for member in members),
    *each("list(typing.{kind})", kind=[row[0] for row in TABLE]),
    *each("sorted(typing.{kind}.__members__)", kind=[row[0] for row in TABLE]),
    *each("[str(one) for one in typing.{kind}]", kind=[row[0] for row in TABLE]),
    *each("[one.upper() for one in typing.{kind}]", kind=[row[0] for row in TABLE]),
    *each("[typing.{kind}(one.value) is one for one in typing.{kind}]", kind=[row[0] for row in TABLE]),
    *each("typing.{kind}('none such')", kind=[row[0] for row in TABLE]),
    *each("[pickle.loads(pickle.dumps(one)) is one for one in typing.{kind}]", kind=[row[0] for row in TABLE]),
    *each("[one in {one.value: 1} for one in typing.{kind}]", kind=[row[0] for row in TABLE]),
    *(f"system.typing.{kind}.{member}" for kind, *members in TABLE_OF_SYSTEM for member in members),
    *each("list(system.typing.{kind})", kind=[row[0] for row in TABLE_OF_SYSTEM]),
    *each("[repr(one) for one in system.typing.{kind}]", kind=[row[0] for row in TABLE_OF_SYSTEM]),
    *each("[hash(one) == hash(one.value) for one in system.typing.{kind}]", kind=[row[0] for row in TABLE_OF_SYSTEM]),
    *each("system.typing.{kind}('none such')", kind=[row[0] for row in TABLE_OF_SYSTEM]),
    *each("system.typing.{kind}(0)", kind=[row[0] for row in TABLE_OF_SYSTEM]),
    *lines("""
        typing.ProcessStateType.__args__
        str(typing.ProcessStateType).replace("typing.", "")
        typing.DevicePointerType == typing.DevicePointerType
        isinstance(5, typing.DevicePointerType)
        isinstance(None, typing.DevicePointerType)
        isinstance("5", typing.DevicePointerType)
        typing.DeviceResourcesType is not None
        isinstance(stream, typing.IsStreamType)
        isinstance(object(), typing.IsStreamType)
        issubclass(core.Stream, typing.IsStreamType)
        isinstance(core.LEGACY_DEFAULT_STREAM, typing.IsStreamType)
        typing.IsStreamType()
        typing.TYPE_CHECKING
        list(utils.MemcpyOverlapMode)
        utils.MemcpyOverlapMode.DEFAULT
        utils.MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE
        utils.MemcpyOverlapMode("DEFAULT")
        list(utils.MemcpySrcAccessOrder)
        utils.MemcpySrcAccessOrder.STREAM
        utils.MemcpySrcAccessOrder.DURING_API_CALL
        utils.MemcpySrcAccessOrder.ANY
        utils.MemcpySrcAccessOrder("any")
    """),
]


def names(shared):
    return {}
