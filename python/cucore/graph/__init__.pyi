# Made by tools/make_stubs.py from the package and from python/signatures/graph.pyi; not to be edited.

"""Graphs: operations and the order between them, made executable and launched as one.

``GraphDefinition`` is built node by node; ``instantiate()`` makes a ``Graph`` of it. Names and behaviour are those of
``cuda.core.graph`` 1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSet
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import Any, Literal, TypeVar

from cucore import Buffer, Device, Event, Kernel, LaunchConfig, Stream
from cucore.typing import GraphConditionalType, GraphMemoryType, IsStreamType

_Self = TypeVar("_Self")

class ExecutableGraphNode:
    """A node of a definition as it is in an executable graph."""

class Graph:
    """An executable graph, launched as one. GraphDefinition.instantiate() and GraphBuilder.complete() make one."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUgraphExec); 0 when closed."""
    def launch(self, stream: Stream | IsStreamType) -> None:
        """Runs it after the work submitted to `stream` so far. Launches of one Graph run one after the other."""
    def upload(self, stream: Stream | IsStreamType) -> None:
        """Brings what launches need to the device beforehand; runs nothing."""
    def update(self, source: GraphDefinition | GraphBuilder) -> None:
        """Takes all parameters from a GraphDefinition of the same topology, and what they keep alive. Refused, it
        raises CUDAError with the reason, and is as before."""
    def try_update(self, source: GraphDefinition | GraphBuilder) -> GraphUpdateResult:
        """As update(), but says whether it worked: a GraphUpdateResult, true or false, with the reason and the node."""
    def update_nodes(self, updates: Mapping[GraphNode, Mapping[str, Any]]) -> None:
        """Updates many nodes: a dict of the keywords of graph[node].update() for each node. If one is refused, those
        before it stay updated."""
    @property
    def last_callback_error(self) -> RuntimeError | None:
        """What a callback of this graph, or of another made from the same definition, raised last: a RuntimeError that
        names it; None if none did. The exception itself went to sys.unraisablehook."""
    def close(self) -> None:
        """Destroys the graph; launches on their way finish and keep what they use. Closing twice is allowed."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __getitem__(self, node: GraphNode) -> Any: ...

class GraphBuilder:
    """Builds a graph by capture: what is given to it, wherever a Stream can be given, is recorded instead of run.
    Device.create_graph_builder() and Stream.create_graph_builder() make one."""
    @property
    def stream(self) -> Stream:
        """The Stream that captures."""
    @property
    def is_join_required(self) -> bool:
        """Whether it is from split(), and so is to be joined."""
    @property
    def is_building(self) -> bool:
        """Whether it captures now; the driver is asked."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    def begin_building(self, mode: Literal["relaxed", "global", "thread_local"] = "relaxed") -> GraphBuilder:
        """Begins the capture, and returns this builder. Calls that could disturb it are refused in the whole process
        ('global'), in this thread ('thread_local') or nowhere ('relaxed')."""
    def end_building(self) -> GraphBuilder:
        """Ends the capture, and returns this builder."""
    def complete(self, options: GraphCompleteOptions | dict[str, Any] | None = None) -> Graph:
        """A Graph of what was captured, as often as wanted. `options` are GraphCompleteOptions."""
    @property
    def graph_definition(self) -> GraphDefinition:
        """The graph as a GraphDefinition, before a body's capture and after any; it outlives the builder."""
    def debug_dot_print(
        self, path: str | bytes | PathLike[str], options: GraphDebugPrintOptions | dict[str, Any] | None = None
    ) -> None:
        """Writes the ended graph in the DOT language. `options` are GraphDebugPrintOptions."""
    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """This builder and `count` - 1 more, which go on beside it from here, as a tuple."""
    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """Lets the first that is not forked, or else the first, wait for the others, closes those, and returns it."""
    def embed(self, child: GraphBuilder | GraphDefinition) -> None:
        """Adds a clone of an ended builder's graph, or of a GraphDefinition, as one node."""
    def callback(self, fn: Any, *, user_data: Any = None) -> None:
        """Adds a call of `fn` in a thread of the driver's, where it must not use CUDA. `user_data` is the argument of a
        C function: an address, or bytes, which are copied."""
    def close(self) -> None:
        """Ends a capture that this builder began, and drops it. Closing twice is allowed."""
    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A GraphCondition for conditional nodes of this graph; with a default it is set to that at each launch."""
    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """A builder of what runs if the condition is not 0."""
    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """Builders of what runs if the condition is not 0, and if it is."""
    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """A builder of what runs again and again while the condition is not 0."""
    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """Builders of what runs if the condition is 0, 1, ...; nothing does if it is `count` or more."""
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def __enter__(self) -> GraphBuilder: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

@dataclass
class GraphCompleteOptions:
    """How a graph is instantiated.

    auto_free_on_launch: free what the launch before allocated and did not free.
    upload_stream: place the graph's resources on the device now, on this Stream (or GraphBuilder).
    device_launch: kernels may launch the graph; excludes auto_free_on_launch.
    use_node_priority: run nodes with the priorities of their launch attributes, not the stream's.
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | GraphBuilder | None = None
    device_launch: bool = False
    use_node_priority: bool = False

class GraphCondition:
    """A value that kernels set and conditional nodes read. It is passed to a kernel as an argument
    (cudaGraphConditionalHandle)."""
    @property
    def handle(self) -> int:
        """The driver's number of it."""

@dataclass
class GraphDebugPrintOptions:
    """What ``debug_dot_print`` writes besides the nodes and edges; ``verbose`` is all of it."""

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False

class GraphDefinition:
    """Operations and the order between them, to be instantiated as a Graph and launched as one. Iterates over its nodes
    in an order in which they could run."""
    def launch(self, config: LaunchConfig | dict[str, Any], kernel: Kernel, *args: Any) -> KernelNode:
        """Adds a KernelNode. The kernel and the arguments, of a Buffer its allocation, are kept alive."""
    def memcpy(
        self,
        dst: Buffer | int,
        src: Buffer | int,
        size: int,
        *,
        dst_owner: object | None = None,
        src_owner: object | None = None,
    ) -> MemcpyNode:
        """Adds a MemcpyNode of `size` bytes. `dst` and `src` are Buffers, whose allocations are kept alive, or
        addresses, which keep nothing but the owner given with them."""
    def memset(
        self,
        dst: Buffer | int,
        value: Any,
        width: int,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: object | None = None,
    ) -> MemsetNode:
        """Adds a MemsetNode: `height` rows of `width` elements, `pitch` bytes apart. `value` is an int (one byte) or
        has 1, 2 or 4 bytes."""
    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: GraphMemoryType | str = "device",
        peer_access: Iterable[Device | int] | None = None,
    ) -> AllocNode:
        """Adds an AllocNode. `memory_type` is a GraphMemoryType; `peer_access` lists devices that may use it too."""
    def deallocate(self, dptr: int) -> FreeNode:
        """Adds a FreeNode for the address of an AllocNode."""
    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Adds a ChildGraphNode: a clone of another GraphDefinition as one node."""
    def record(self, event: Event) -> EventRecordNode:
        """Adds an EventRecordNode."""
    def wait(self, event: Event) -> EventWaitNode:
        """Adds an EventWaitNode."""
    def callback(self, fn: Callable[[], object] | Any, *, user_data: Any = None) -> HostCallbackNode:
        """Adds a HostCallbackNode. `fn` is called with nothing on a thread of the driver's, and must not call CUDA;
        what it raises goes to sys.unraisablehook. A C function of ctypes, void (*)(void *), gets `user_data`: an
        address, or bytes, which are copied."""
    def if_then(self, condition: GraphCondition) -> IfNode:
        """Adds an IfNode, whose body runs if the condition is not 0."""
    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Adds an IfElseNode: one body runs if the condition is not 0, the other if it is."""
    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Adds a WhileNode, whose body runs again while the condition is not 0."""
    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Adds a SwitchNode of `count` bodies, of which the one with the condition's number runs, if there is one."""
    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Adds an EmptyNode that depends on this node and all given."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def is_valid(self) -> bool:
        """Whether the graph is there: neither closed nor gone with the node that owned it."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUgraph); 0 when closed, or when the node that owned the graph was destroyed."""
    def empty(self) -> EmptyNode:
        """Adds an EmptyNode that depends on nothing."""
    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A GraphCondition for conditional nodes of this graph; with a default it is set to that at each launch."""
    def nodes(self) -> set[GraphNode]:
        """The set of all nodes; each is the same object as before, as long as somebody refers to that."""
    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """The set of all pairs (from, to)."""
    @property
    def root_nodes(self) -> set[GraphNode]:
        """The nodes that depend on nothing."""
    @property
    def leaf_nodes(self) -> set[GraphNode]:
        """The nodes that nothing depends on."""
    def instantiate(self, options: GraphCompleteOptions | dict[str, Any] | None = None) -> Graph:
        """A Graph, independent of this definition from then on. `options` are GraphCompleteOptions."""
    def debug_dot_print(
        self, path: str | bytes | PathLike[str], options: GraphDebugPrintOptions | dict[str, Any] | None = None
    ) -> None:
        """Writes the graph in the DOT language. `options` are GraphDebugPrintOptions."""
    def clone(self) -> GraphDefinition:
        """A definition of its own with the same nodes, edges and what they keep alive."""
    def close(self) -> None:
        """Drops this view; the graph goes with the last view or node of its hierarchy. Closing twice is allowed."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __iter__(self) -> Iterator[GraphNode]: ...
    def __contains__(self, node: object) -> bool: ...

class GraphNode:
    """An operation in a graph. Methods that add nodes add ones that depend on this one."""
    def launch(self, config: LaunchConfig | dict[str, Any], kernel: Kernel, *args: Any) -> KernelNode:
        """Adds a KernelNode. The kernel and the arguments, of a Buffer its allocation, are kept alive."""
    def memcpy(
        self,
        dst: Buffer | int,
        src: Buffer | int,
        size: int,
        *,
        dst_owner: object | None = None,
        src_owner: object | None = None,
    ) -> MemcpyNode:
        """Adds a MemcpyNode of `size` bytes. `dst` and `src` are Buffers, whose allocations are kept alive, or
        addresses, which keep nothing but the owner given with them."""
    def memset(
        self,
        dst: Buffer | int,
        value: Any,
        width: int,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: object | None = None,
    ) -> MemsetNode:
        """Adds a MemsetNode: `height` rows of `width` elements, `pitch` bytes apart. `value` is an int (one byte) or
        has 1, 2 or 4 bytes."""
    def allocate(
        self,
        size: int,
        *,
        device: Device | int | None = None,
        memory_type: GraphMemoryType | str = "device",
        peer_access: Iterable[Device | int] | None = None,
    ) -> AllocNode:
        """Adds an AllocNode. `memory_type` is a GraphMemoryType; `peer_access` lists devices that may use it too."""
    def deallocate(self, dptr: int) -> FreeNode:
        """Adds a FreeNode for the address of an AllocNode."""
    def embed(self, child: GraphDefinition) -> ChildGraphNode:
        """Adds a ChildGraphNode: a clone of another GraphDefinition as one node."""
    def record(self, event: Event) -> EventRecordNode:
        """Adds an EventRecordNode."""
    def wait(self, event: Event) -> EventWaitNode:
        """Adds an EventWaitNode."""
    def callback(self, fn: Callable[[], object] | Any, *, user_data: Any = None) -> HostCallbackNode:
        """Adds a HostCallbackNode. `fn` is called with nothing on a thread of the driver's, and must not call CUDA;
        what it raises goes to sys.unraisablehook. A C function of ctypes, void (*)(void *), gets `user_data`: an
        address, or bytes, which are copied."""
    def if_then(self, condition: GraphCondition) -> IfNode:
        """Adds an IfNode, whose body runs if the condition is not 0."""
    def if_else(self, condition: GraphCondition) -> IfElseNode:
        """Adds an IfElseNode: one body runs if the condition is not 0, the other if it is."""
    def while_loop(self, condition: GraphCondition) -> WhileNode:
        """Adds a WhileNode, whose body runs again while the condition is not 0."""
    def switch(self, condition: GraphCondition, count: int) -> SwitchNode:
        """Adds a SwitchNode of `count` bodies, of which the one with the condition's number runs, if there is one."""
    def join(self, *nodes: GraphNode) -> EmptyNode:
        """Adds an EmptyNode that depends on this node and all given."""
    @property
    def is_valid(self) -> bool:
        """False once it was destroyed, by itself or with a node above it."""
    @property
    def graph(self) -> GraphDefinition:
        """The GraphDefinition it is, or was, in."""
    @property
    def type(self) -> CUgraphNodeType | None:
        """What it does, as the driver's CUgraphNodeType; None once it is destroyed."""
    @property
    def handle(self) -> int | None:
        """The driver's handle (CUgraphNode); None once it is destroyed."""
    def destroy(self) -> None:
        """Removes the node and its edges. Twice is allowed."""
    @property
    def pred(self) -> AdjacencySet:
        """The nodes it depends on: a set that can be changed, and assigned."""
    @pred.setter
    def pred(self, nodes: Iterable[GraphNode]) -> None: ...
    @property
    def succ(self) -> AdjacencySet:
        """The nodes that depend on it: a set that can be changed, and assigned."""
    @succ.setter
    def succ(self, nodes: Iterable[GraphNode]) -> None: ...

class CUgraphNodeType:
    """``node.type``; equals the enumeration of the same name in cuda.bindings."""

    CU_GRAPH_NODE_TYPE_KERNEL = 0
    CU_GRAPH_NODE_TYPE_MEMCPY = 1
    CU_GRAPH_NODE_TYPE_MEMSET = 2
    CU_GRAPH_NODE_TYPE_HOST = 3
    CU_GRAPH_NODE_TYPE_GRAPH = 4
    CU_GRAPH_NODE_TYPE_EMPTY = 5
    CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6
    CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9
    CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10
    CU_GRAPH_NODE_TYPE_MEM_FREE = 11
    CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12
    CU_GRAPH_NODE_TYPE_CONDITIONAL = 13

class GraphUpdateResult:
    """The result of an update: true if it was made. ``reason`` is the driver's name for why not, ``node`` the node of
    the source that does not fit, if the driver names one."""

    node: GraphNode | None
    reason: str
    def __bool__(self) -> bool: ...

class AdjacencySet(MutableSet[GraphNode]):
    """``node.pred`` or ``node.succ``: asks the driver whenever it is read, and changes edges whenever it is written.

    Operators that make a new set make a plain ``set``. What changes several edges is one call of the driver.
    """
    def add(self, node: GraphNode) -> None:
        """Adds an edge, unless it is there."""
    def discard(self, node: GraphNode) -> None:
        """Removes an edge, if it is there."""
    def clear(self) -> None:
        """Removes all edges on this side."""
    def update(self, *others: GraphNode | Iterable[GraphNode]) -> None:
        """Adds edges for nodes, or for iterables of nodes."""
    def __contains__(self, node: object) -> bool: ...
    def __iter__(self) -> Iterator[GraphNode]: ...
    def __len__(self) -> int: ...

class AllocNode(GraphNode):
    """An allocation, whose address is known from the start."""
    @property
    def dptr(self) -> int:
        """The address."""
    @property
    def bytesize(self) -> int:
        """How many bytes there are."""
    @property
    def device_id(self) -> int:
        """The ordinal of the device whose memory it is."""
    @property
    def memory_type(self) -> str:
        """ "device", "host" or "managed"."""
    @property
    def peer_access(self) -> tuple[int, ...]:
        """The ordinals of further devices that may use it."""

class ChildGraphNode(GraphNode):
    """Another graph as one node."""
    @property
    def child_graph(self) -> GraphDefinition:
        """The embedded clone."""
    def update(self, child: GraphDefinition) -> None:
        """Puts a clone of another definition in its place; views of the old one end."""

class ConditionalNode(GraphNode):
    """Graphs that run as a condition says."""
    @property
    def condition(self) -> GraphCondition | None:
        """The GraphCondition; None if the driver cannot tell."""
    @property
    def cond_type(self) -> GraphConditionalType | None:
        """A GraphConditionalType; None if the driver cannot tell."""
    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """The bodies as a tuple of GraphDefinitions, to add nodes to."""

class EmptyNode(GraphNode):
    """A node that does nothing: what joins others."""

class EventRecordNode(GraphNode):
    """The record of an event."""
    @property
    def event(self) -> Event:
        """The Event."""
    def update(self, event: Event) -> None:
        """Another event, for graphs instantiated from now on."""

class EventWaitNode(GraphNode):
    """A wait for an event."""
    @property
    def event(self) -> Event:
        """The Event."""
    def update(self, event: Event) -> None:
        """Another event, for graphs instantiated from now on."""

class ExecutableChildGraphNode(ExecutableGraphNode):
    """An embedded graph."""
    def update(self, child: GraphDefinition) -> None:
        """Takes the parameters of a GraphDefinition of the same topology."""

class ExecutableEventRecordNode(ExecutableGraphNode):
    """The record of an event."""
    def update(self, event: Event) -> None:
        """Records another event."""

class ExecutableEventWaitNode(ExecutableGraphNode):
    """A wait for an event."""
    def update(self, event: Event) -> None:
        """Waits for another event."""

class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A host callback."""
    def update(self, fn: Callable[[], object] | Any, *, user_data: Any = None) -> None:
        """Calls another function."""

class ExecutableKernelNode(ExecutableGraphNode):
    """A kernel launch."""
    @property
    def is_enabled(self) -> bool:
        """Whether it does something; a disabled node is an empty one, with its edges."""
    def enable(self) -> None:
        """Lets it do again what it is for."""
    def disable(self) -> None:
        """Makes it an empty node."""
    def update(
        self,
        *,
        config: LaunchConfig | dict[str, Any] | None = None,
        kernel: Kernel | None = None,
        args: Iterable[Any] | None = None,
    ) -> None:
        """Replaces the launch. Another kernel needs its arguments, ``args=()`` for none. The config's cluster,
        cooperative and other attributes are those of the node."""

class ExecutableMemcpyNode(ExecutableGraphNode):
    """A copy."""
    @property
    def is_enabled(self) -> bool:
        """Whether it does something; a disabled node is an empty one, with its edges."""
    def enable(self) -> None:
        """Lets it do again what it is for."""
    def disable(self) -> None:
        """Makes it an empty node."""
    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner: object | None = None,
        src_owner: object | None = None,
    ) -> None:
        """Replaces the copy, in the current context."""

class ExecutableMemsetNode(ExecutableGraphNode):
    """A fill."""
    @property
    def is_enabled(self) -> bool:
        """Whether it does something; a disabled node is an empty one, with its edges."""
    def enable(self) -> None:
        """Lets it do again what it is for."""
    def disable(self) -> None:
        """Makes it an empty node."""
    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        value: Any = None,
        width: int | None = None,
        height: int | None = None,
        pitch: int | None = None,
        dst_owner: object | None = None,
    ) -> None:
        """Replaces the fill, in the current context; ``height`` is 1 and ``pitch`` 0 unless an update named them."""

class FreeNode(GraphNode):
    """The end of an allocation."""
    @property
    def dptr(self) -> int:
        """The address that is freed."""

class HostCallbackNode(GraphNode):
    """A function that the driver calls."""
    @property
    def callback(self) -> Callable[[], object] | None:
        """The callable; None for a C function."""
    def update(self, fn: Callable[[], object] | Any, *, user_data: Any = None) -> None:
        """Another function, for graphs instantiated from now on."""
    def destroy(self) -> None:
        """Takes the node out of the graph. It goes on telling its callback."""

class KernelNode(GraphNode):
    """A kernel launch."""
    @property
    def grid(self) -> tuple[int, int, int]:
        """As in its LaunchConfig: blocks, or clusters if there are clusters."""
    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block."""
    @property
    def shmem_size(self) -> int:
        """Bytes of dynamic shared memory."""
    @property
    def kernel(self) -> Kernel:
        """The Kernel."""
    @property
    def config(self) -> LaunchConfig:
        """All of its LaunchConfig."""
    def update(
        self,
        *,
        config: LaunchConfig | dict[str, Any] | None = None,
        kernel: Kernel | None = None,
        args: Iterable[Any] | None = None,
    ) -> None:
        """Changes what is given, for graphs instantiated from now on. Another kernel needs `args`."""

class MemcpyNode(GraphNode):
    """A copy."""
    @property
    def dst(self) -> int:
        """The address."""
    @property
    def src(self) -> int:
        """The address."""
    @property
    def size(self) -> int:
        """Bytes."""
    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner: object | None = None,
        src_owner: object | None = None,
    ) -> None:
        """Changes what is given, for graphs instantiated from now on; the rest stays, with what keeps it alive."""

class MemsetNode(GraphNode):
    """A fill."""
    @property
    def dptr(self) -> int:
        """The address."""
    @property
    def value(self) -> int:
        """What it fills with, as a number of `element_size` bytes."""
    @property
    def element_size(self) -> int:
        """1, 2 or 4."""
    @property
    def width(self) -> int:
        """Elements in a row."""
    @property
    def height(self) -> int:
        """Rows."""
    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        value: Any = None,
        width: int | None = None,
        height: int | None = None,
        pitch: int | None = None,
        dst_owner: object | None = None,
    ) -> None:
        """Changes what is given, for graphs instantiated from now on; the rest stays, with what keeps it alive."""

class IfElseNode(ConditionalNode):
    """One graph that runs if the condition is not 0, else another."""
    @property
    def then(self) -> GraphDefinition:
        """What runs if it is not 0."""
    @property
    def else_(self) -> GraphDefinition:
        """What runs if it is 0."""

class IfNode(ConditionalNode):
    """A graph that runs if the condition is not 0."""
    @property
    def then(self) -> GraphDefinition:
        """Its body."""

class SwitchNode(ConditionalNode):
    """The graph whose number the condition is runs."""

class WhileNode(ConditionalNode):
    """A graph that runs while the condition is not 0."""
    @property
    def body(self) -> GraphDefinition:
        """Its body."""
