"""The options of instantiating a graph and of printing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cucore._errors import AttributeTypeError
from cucore._options import accept


@dataclass
class GraphCompleteOptions:
    """How a graph is instantiated.

    auto_free_on_launch: free what the launch before allocated and did not free.
    upload_stream: place the graph's resources on the device now, on this Stream (or GraphBuilder).
    device_launch: kernels may launch the graph; excludes auto_free_on_launch.
    use_node_priority: run nodes with the priorities of their launch attributes, not the stream's.
    """

    auto_free_on_launch: bool = False
    upload_stream: Any = None
    device_launch: bool = False
    use_node_priority: bool = False


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


def complete_options(options):
    """``options`` of instantiate() and complete()."""
    return accept(GraphCompleteOptions, options or None, error=AttributeTypeError)


def debug_print_options(options):
    """``options`` of debug_dot_print()."""
    return accept(GraphDebugPrintOptions, options, error=AttributeTypeError)
