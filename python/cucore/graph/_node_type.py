"""What nodes do, as the driver numbers it."""

import enum
from sys import modules as _modules


class CUgraphNodeType(enum.IntEnum):
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


_members = {}  # of each enumeration that was used, by number


def node_type(number):
    """The member of that number; of cuda.bindings' own enumeration where a program has imported that."""
    bindings = _modules.get("cuda.bindings.driver")
    used = bindings.CUgraphNodeType if bindings else CUgraphNodeType
    try:
        return _members[used][number]
    except KeyError:
        _members[used] = {int(member): member for member in used}
        return used(number)
