"""The seam between the package and its extension ``cucore._core``: all names that either takes from the other.

The package imports names of the extension from here, and nothing else imports the extension. The extension imports
nothing of the package: it asks ``find`` for the names in ``PLACES`` (those of bindings/package.def), each once, when
it first needs it, so that a module is loaded by those alone who use it.
"""

import sys

from cucore import _core
from cucore._core import (  # noqa: F401
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Context,
    DeviceMemoryResource,
    DeviceResources,
    Event,
    EventPool,
    GraphBuilder,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    Launcher,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryResource,
    MipmappedArray,
    ObjectCode,
    OpaqueArray,
    PinnedMemoryResource,
    ProgramCache,
    ResourceDescriptor,
    SMResource,
    Stream,
    StridedLayout,
    SurfaceObject,
    TextureObject,
    VirtualMemoryResource,
    WorkqueueResource,
    __version__,
    discard_batch,
    discard_prefetch_batch,
    driver_available,
    driver_info,
    launch,
    prefetch_batch,
    toolkit_info,
)

# Functions of the extension for the package alone.
CoreLinker = _core._Linker
PoolMemoryResource = _core._PoolMemoryResource
CoreProgram = _core._Program
SynchronousMemoryResource = _core._SynchronousMemoryResource
CoreTensorMap = _core._TensorMap
check_stream = _core._check_stream
checkpoint_checkpoint = _core._checkpoint_checkpoint
checkpoint_lock = _core._checkpoint_lock
checkpoint_restore = _core._checkpoint_restore
checkpoint_restore_thread_id = _core._checkpoint_restore_thread_id
checkpoint_state = _core._checkpoint_state
checkpoint_unlock = _core._checkpoint_unlock
compile_key = _core._compile_key
copy_batch = _core._copy_batch
create_graph_builder = _core._create_graph_builder
create_green_context = _core._create_green_context
create_mipmapped_array = _core._create_mipmapped_array
create_opaque_array = _core._create_opaque_array
create_surface_object = _core._create_surface_object
create_texture_object = _core._create_texture_object
current_context = _core._current_context
current_device = _core._current_device
default_stream_is_per_thread = _core._default_stream_is_per_thread
device_can_access_peer = _core._device_can_access_peer
device_compute_capability = _core._device_compute_capability
device_count = _core._device_count
device_event_pool = _core._device_event_pool
device_from_pci_bus_id = _core._device_from_pci_bus_id
device_from_uuid = _core._device_from_uuid
device_memory_info = _core._device_memory_info
device_name = _core._device_name
device_pci_bus_id = _core._device_pci_bus_id
device_priority_range = _core._device_priority_range
device_properties = _core._device_properties
device_resources = _core._device_resources
device_total_memory = _core._device_total_memory
device_uuid = _core._device_uuid
devices_of_this_thread = _core._devices_of_this_thread
driver_opened = _core._driver_opened
export_buffer = _core._export_buffer
export_dlpack = _core._export_dlpack
check_dlpack_request = _core._check_dlpack_request
dlpack_exchange_api = _core._dlpack_exchange_api
export_ipc_event = _core._export_ipc_event
export_pool = _core._export_pool
ignored_linker_options = _core._ignored_linker_options
import_pool = _core._import_pool
linker_backend = _core._linker_backend
linker_flags = _core._linker_flags
live_handles = _core._live_handles
management_library_places = _core._management_library_places
nvrtc_flags = _core._nvrtc_flags
nvrtc_version = _core._nvrtc_version
nvvm_flags = _core._nvvm_flags
open_driver_version = _core._open_driver_version
open_ipc_buffer = _core._open_ipc_buffer
open_ipc_event = _core._open_ipc_event
parse_diagnostics = _core._parse_diagnostics
parse_kernel_statistics = _core._parse_kernel_statistics
primary_context = _core._primary_context
register_gl_buffer = _core._register_gl_buffer
register_gl_image = _core._register_gl_image
resource_of_array = _core._resource_of_array
resource_of_mipmapped_array = _core._resource_of_mipmapped_array
resource_of_row = _core._resource_of_row
resource_of_rows = _core._resource_of_rows
known_devices = _core._known_devices
set_program_class = _core._set_program_class
keep_property = _core._keep_property
set_device_class = _core._set_device_class
set_view_class = _core._set_view_class
new_layout = _core._new_layout
new_view = _core._new_view
layout_of_tensor = _core._layout_of_tensor
as_view = _core._as_view
view_by_any = _core._view_by_any
view_by_dlpack = _core._view_by_dlpack
view_of_buffer = _core._view_of_buffer
view_of_capsule = _core._view_of_capsule
check_bounds = _core._check_bounds
check_itemsize = _core._check_itemsize
set_no_context = _core._set_no_context
set_toolkit_search_paths = _core._set_toolkit_search_paths
stream_from_protocol = _core._stream_from_protocol

# Names of the extension that its _bind_graphs() makes, which only programs with graphs need.
_OF_GRAPHS = (
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "FreeNode",
    "Graph",
    "GraphCondition",
    "GraphDefinition",
    "GraphNode",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
)


def __getattr__(name):
    if name not in _OF_GRAPHS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _core._bind_graphs(_core)
    globals().update((each, getattr(_core, each)) for each in _OF_GRAPHS)
    return globals()[name]


# What the extension takes from the package: its name there, and module.name here.
PLACES = {
    "AccessPolicyWindow": "_tuples.AccessPolicyWindow",
    "AccessedBy": "_managed.AccessedBy",
    "AdjacencySet": "graph._adjacency.AdjacencySet",
    "ArrayFormatType": "typing.ArrayFormatType",
    "AssertionTypeError": "_errors.AssertionTypeError",
    "AttributeTypeError": "_errors.AttributeTypeError",
    "CUDAError": "_errors.CUDAError",
    "CUDAInvalidArgumentError": "_errors.CUDAInvalidArgumentError",
    "CUDAInvalidContextError": "_errors.CUDAInvalidContextError",
    "CUDAInvalidValueError": "_errors.CUDAInvalidValueError",
    "CUDANotReadyError": "_errors.CUDANotReadyError",
    "CUDAOutOfMemoryError": "_errors.CUDAOutOfMemoryError",
    "CUDAStickyError": "_errors.CUDAStickyError",
    "CUDAWarning": "_errors.CUDAWarning",
    "CUcontext": "_handles.CUcontext",
    "CUevent": "_handles.CUevent",
    "CUgraph": "_handles.CUgraph",
    "CUgraphExec": "_handles.CUgraphExec",
    "CUgraphNode": "_handles.CUgraphNode",
    "CUgraphNodeType": "graph._node_type.node_type",
    "CUkernel": "_handles.CUkernel",
    "CUlibrary": "_handles.CUlibrary",
    "CUmemoryPool": "_handles.CUmemoryPool",
    "CUmodule": "_handles.CUmodule",
    "CUstream": "_handles.CUstream",
    "CurrentScope": "_device.CurrentScope",
    "Device": "_device.Device",
    "DeviceMemoryResourceOptions": "_options.DeviceMemoryResourceOptions",
    "Diagnostic": "_tuples.Diagnostic",
    "DriverInfo": "_tuples.DriverInfo",
    "EventOptions": "_options.EventOptions",
    "GraphConditionalType": "typing.GraphConditionalType",
    "GraphUpdateResult": "graph._executable.GraphUpdateResult",
    "Host": "_host.Host",
    "KernelParameter": "_tuples.KernelParameter",
    "KernelSignature": "_tuples.KernelSignature",
    "KernelStatistics": "_tuples.KernelStatistics",
    "ManagedMemoryLocationType": "typing.ManagedMemoryLocationType",
    "ManagedMemoryResourceOptions": "_options.ManagedMemoryResourceOptions",
    "MaxPotentialBlockSizeOccupancyResult": "_tuples.MaxPotentialBlockSizeOccupancyResult",
    "NVRTCError": "_errors.NVRTCError",
    "NVVMError": "_errors.NVVMError",
    "NvJitLinkError": "_errors.NvJitLinkError",
    "PCHStatusType": "typing.PCHStatusType",
    "ParamInfo": "_tuples.ParamInfo",
    "PeerAccess": "_peers.PeerAccess",
    "RuntimeTypeError": "_errors.RuntimeTypeError",
    "RuntimeValueError": "_errors.RuntimeValueError",
    "StridedMemoryView": "utils._memory_view.StridedMemoryView",
    "PinnedMemoryResourceOptions": "_options.PinnedMemoryResourceOptions",
    "ArchiveImport": "_tuples.ArchiveImport",
    "ProgramCacheEntry": "_tuples.ProgramCacheEntry",
    "ProgramCacheStats": "_tuples.ProgramCacheStats",
    "Timer": "_timing.Timer",
    "ToolkitInfo": "_tuples.ToolkitInfo",
    "RuntimeForkedError": "_errors.RuntimeForkedError",
    "RuntimeInvalidatedError": "_errors.RuntimeInvalidatedError",
    "TypeValueError": "_errors.TypeValueError",
    "ToolkitLibrary": "_tuples.ToolkitLibrary",
    "UnsupportedOptionError": "_errors.UnsupportedOptionError",
    "CUDAInvalidImageError": "_errors.CUDAInvalidImageError",
    "CUDAUnknownParametersError": "_errors.CUDAUnknownParametersError",
    "ValueTypeError": "_errors.ValueTypeError",
    "VirtualMemoryResourceOptions": "_options.VirtualMemoryResourceOptions",
    "WorkqueueSharingScopeType": "typing.WorkqueueSharingScopeType",
    "accept_options": "_options.accept",
    "address_of_c_function": "graph._callbacks.c_function",
    "allocation_handle": "_ipc_memory.allocation_handle",
    "assign_accessed_by": "_managed.assign",
    "assign_neighbours": "graph._adjacency.assign",
    "await_event": "_waiting.awaited",
    "await_stream": "_waiting.awaited_stream",
    "buffer_descriptor": "_ipc_memory.buffer_descriptor",
    "complete_options": "graph._options.complete_options",
    "configure_workqueue": "_resources.configure",
    "copy_batch": "utils._batch.copy_batch",
    "debug_print_options": "graph._options.debug_print_options",
    "event_descriptor": "_ipc.event_descriptor",
    "future_of_event": "_waiting.future",
    "import_pool": "_ipc_memory.import_pool",
    "inputs_of_compile": "_program.inputs_of_compile",
    "kernel_html": "_notebook.kernel_html",
    "open_buffer": "_ipc_memory.open_buffer",
    "open_event": "_ipc.open_event",
    "plot_occupancy": "_occupancy.plot_occupancy",
    "pool_uuid": "_ipc_memory.pool_uuid",
    "preferred_location": "_managed.preferred_location",
    "reduce_buffer": "_ipc_memory.reduce_buffer",
    "reduce_pool": "_ipc_memory.reduce_pool",
    "register_pool": "_ipc_memory.register",
    "registered_pool": "_ipc_memory.from_registry",
    "shared_store": "_cache_store.shared_store",
    "split_evenly": "_resources.split_evenly",
    "split_fractions": "_resources.split_fractions",
    "split_multiprocessors": "_resources.split",
    "stream_html": "_notebook.stream_html",
    "stream_in": "_device.stream_in",
    "texture_memory_of_array": "texture._from_opaque_array",
    "texture_memory_of_mipmapped_array": "texture._from_mipmapped_array",
    "texture_memory_of_row": "texture._from_linear",
    "texture_memory_of_rows": "texture._from_pitch2d",
    "unpickle_object_code": "_pickling.object_code",
    "update_nodes": "graph._executable.update_nodes",
    "view_of_node": "graph._executable.view",
    "warn_without_concurrent_access": "_managed.warn_without_concurrent_access",
}

# What a module of the package takes from one that imports it, since each of the two gives the other: Device has
# to_system_device(), and what that gives has to_cuda_device().
ABOVE = {"SystemDevice": "system._device.Device"}

# The places of what the extension may need when nothing can be imported any more.
_NEEDED_TO_THE_END = ("_device.Device", "_errors.", "_handles.")


def find(name):
    """What has this name in ``PLACES`` or ``ABOVE``; its module is imported if need be."""
    module, _, attribute = f"cucore.{PLACES.get(name) or ABOVE[name]}".rpartition(".")
    __import__(module)
    return getattr(sys.modules[module], attribute)


def find_now():
    """Makes the extension find now what it needs until the end of the process."""
    _core._find_now([name for name, place in PLACES.items() if place.startswith(_NEEDED_TO_THE_END)])


def _signature_of(called):
    from cucore._signatures import signature_of  # which needs a parser, so only when it is asked for

    return signature_of(called)


def _tell_signatures():
    method = vars(_core.Stream)["wait"]
    for called in (_core._connect, method, method.__get__(0), _core.Stream):
        _core._set_signature(type(called), property(_signature_of))


_core._connect(find, PLACES)
_tell_signatures()
