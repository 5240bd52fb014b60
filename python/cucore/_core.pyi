# Made by tools/make_stubs.py; not to be edited.
from typing import Any

import cucore
import cucore.graph
import cucore.texture
import cucore.utils

AllocNode = cucore.graph.AllocNode
Buffer = cucore.Buffer
ChildGraphNode = cucore.graph.ChildGraphNode
ConditionalNode = cucore.graph.ConditionalNode
Context = cucore.Context
DeviceMemoryResource = cucore.DeviceMemoryResource
DeviceResources = cucore.DeviceResources
EmptyNode = cucore.graph.EmptyNode
Event = cucore.Event
EventPool = cucore.EventPool
EventRecordNode = cucore.graph.EventRecordNode
EventWaitNode = cucore.graph.EventWaitNode
FreeNode = cucore.graph.FreeNode
Graph = cucore.graph.Graph
GraphBuilder = cucore.graph.GraphBuilder
GraphCondition = cucore.graph.GraphCondition
GraphDefinition = cucore.graph.GraphDefinition
GraphMemoryResource = cucore.GraphMemoryResource
GraphNode = cucore.graph.GraphNode
HostCallbackNode = cucore.graph.HostCallbackNode
IfElseNode = cucore.graph.IfElseNode
IfNode = cucore.graph.IfNode
Kernel = cucore.Kernel
KernelNode = cucore.graph.KernelNode
LEGACY_DEFAULT_STREAM = cucore.LEGACY_DEFAULT_STREAM
LaunchConfig = cucore.LaunchConfig
Launcher = cucore.Launcher
LegacyPinnedMemoryResource = cucore.LegacyPinnedMemoryResource
ManagedBuffer = cucore.ManagedBuffer
ManagedMemoryResource = cucore.ManagedMemoryResource
MemcpyNode = cucore.graph.MemcpyNode
MemoryResource = cucore.MemoryResource
MemsetNode = cucore.graph.MemsetNode
MipmappedArray = cucore.texture.MipmappedArray
ObjectCode = cucore.ObjectCode
OpaqueArray = cucore.texture.OpaqueArray
PER_THREAD_DEFAULT_STREAM = cucore.PER_THREAD_DEFAULT_STREAM
PinnedMemoryResource = cucore.PinnedMemoryResource
ProgramCache = cucore.ProgramCache
ResourceDescriptor = cucore.texture.ResourceDescriptor
SMResource = cucore.SMResource
Stream = cucore.Stream
StridedLayout = cucore.StridedLayout
SurfaceObject = cucore.texture.SurfaceObject
SwitchNode = cucore.graph.SwitchNode
TextureObject = cucore.texture.TextureObject
VirtualMemoryResource = cucore.VirtualMemoryResource
WhileNode = cucore.graph.WhileNode
WorkqueueResource = cucore.WorkqueueResource
__version__ = cucore.__version__
discard_batch = cucore.utils.discard_batch
discard_prefetch_batch = cucore.utils.discard_prefetch_batch
driver_available = cucore.driver_available
driver_info = cucore.driver_info
launch = cucore.launch
prefetch_batch = cucore.utils.prefetch_batch
toolkit_info = cucore.toolkit_info

def __getattr__(name: str) -> Any: ...
