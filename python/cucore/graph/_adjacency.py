"""The neighbours of a node as a set that writes through to the graph."""

from __future__ import annotations

from collections.abc import Iterable, MutableSet

from cucore._seam import GraphNode


class AdjacencySet(MutableSet):
    """``node.pred`` or ``node.succ``: asks the driver whenever it is read, and changes edges whenever it is written.

    Operators that make a new set make a plain ``set``. What changes several edges is one call of the driver.
    """

    __slots__ = ("_node", "_incoming", "__weakref__")

    def __init__(self, node, incoming):
        self._node = node
        self._incoming = incoming

    @classmethod
    def _from_iterable(cls, nodes):
        return set(nodes)

    def _read(self):
        return self._node._pred() if self._incoming else self._node._succ()

    def _change(self, removed, added):
        if removed or added:
            self._node._change_edges(self._incoming, list(removed), list(added))

    def __iter__(self):
        return iter(self._read())

    def __len__(self):
        return len(self._read())

    def __contains__(self, node):
        return isinstance(node, GraphNode) and node in self._read()

    def __repr__(self):
        return "{" + ", ".join(map(repr, self._read())) + "}"

    def __copy__(self):
        return type(self)(self._node, self._incoming)

    def __reduce__(self):
        raise TypeError("the neighbours of a graph's node are driver state of this process: pickle cannot save them")

    def add(self, node):
        """Adds an edge, unless it is there."""
        self._add_all([_node(node)])

    def discard(self, node):
        """Removes an edge, if it is there."""
        if _node(node) in self:
            self._change([node], [])

    def clear(self):
        """Removes all edges on this side."""
        self._change(self._read(), [])

    def update(self, *others):
        """Adds edges for nodes, or for iterables of nodes."""
        nodes = []
        for other in others:
            nodes.extend([other] if isinstance(other, GraphNode) else _nodes(other))
        self._add_all(nodes)

    def _add_all(self, nodes):
        for node in nodes:
            if node.is_valid and self._node.is_valid and node.graph != self._node.graph:
                raise ValueError(f"{node!r} belongs to another graph: an edge connects nodes of one graph")
        present = set(self._read())
        self._change([], dict.fromkeys(node for node in nodes if node not in present))

    def __ior__(self, nodes):
        self._add_all(_nodes(nodes))
        return self

    def __isub__(self, nodes):
        removed = set(nodes)
        self._change([node for node in self._read() if node in removed], [])
        return self

    def __iand__(self, nodes):
        kept = set(nodes)
        self._change([node for node in self._read() if node not in kept], [])
        return self

    def __ixor__(self, nodes):
        given = dict.fromkeys(_nodes(nodes))
        present = self._read()
        self._change([node for node in present if node in given], [node for node in given if node not in present])
        return self


def assign(node, incoming, nodes):
    """``node.pred = nodes``: changes what differs; if that fails, what was changed is changed back."""
    wanted = dict.fromkeys(_nodes(nodes))
    present = AdjacencySet(node, incoming)._read()
    AdjacencySet(node, incoming)._change(
        [old for old in present if old not in wanted], [new for new in wanted if new not in set(present)]
    )


def _nodes(nodes):
    if not isinstance(nodes, Iterable):
        raise TypeError(f"expected an iterable of GraphNodes, not {type(nodes).__name__}")
    return [_node(node) for node in nodes]


def _node(node):
    if not isinstance(node, GraphNode):
        raise TypeError(f"a neighbour must be a GraphNode, not {type(node).__name__}")
    return node
