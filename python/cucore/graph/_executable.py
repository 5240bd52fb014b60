"""Views of an executable graph's nodes: ``graph[node]``.

A view is a pairing of a Graph and a node of its definition. It changes the parameters of launches from now on and
leaves the definition alone. An update replaces all parameters; a keyword may be left out once this graph's parameters
of the node are known, because an update has named them all.
"""

from weakref import WeakKeyDictionary

from cucore import _seam


class GraphUpdateResult:
    """The result of an update: true if it was made. ``reason`` is the driver's name for why not, ``node`` the node of
    the source that does not fit, if the driver names one."""

    __slots__ = ("_succeeded", "node", "reason")

    def __init__(self, succeeded, reason, node):
        self._succeeded = succeeded
        self.reason = reason
        self.node = node

    def __bool__(self):
        return self._succeeded

    def __repr__(self):
        return f"GraphUpdateResult(reason={self.reason!r}, node={self.node!r})"


class ExecutableGraphNode:
    """A node of a definition as it is in an executable graph."""

    __slots__ = ("_graph", "_node", "__weakref__")

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} cannot be instantiated directly: use graph[node]")

    def __repr__(self):
        node = self._node.handle
        return f"<{type(self).__name__} graph={int(self._graph.handle or 0):#x} node={int(node or 0):#x}>"

    def __reduce__(self):
        raise TypeError("a view of a graph's node is driver state of this process: pickle cannot save it")

    def _require_usable(self):
        if self._graph.is_closed:
            raise RuntimeError("the Graph has been closed")
        if not self._node.is_valid:
            raise RuntimeError("the node has been destroyed")


class _Switchable(ExecutableGraphNode):
    __slots__ = ()

    @property
    def is_enabled(self):
        """Whether it does something; a disabled node is an empty one, with its edges."""
        self._require_usable()
        return self._graph._is_enabled(self._node)

    def enable(self):
        """Lets it do again what it is for."""
        self._require_usable()
        self._graph._set_enabled(self._node, True)

    def disable(self):
        """Makes it an empty node."""
        self._require_usable()
        self._graph._set_enabled(self._node, False)

    def _filled(self, given):
        """``given``, with omitted values (None) taken from the last update."""
        last = self._last()
        missing = [name for name, value in given.items() if value is None and not name.endswith("_owner")]
        if missing and last is None:
            raise TypeError(
                f"{type(self).__name__}.update() lacks {', '.join(missing)}: the first update of a node must give "
                "all of its parameters"
            )
        filled = dict(given)
        for name in missing:
            filled[name] = last[name]
            if f"{name}_owner" in last and given.get(f"{name}_owner") is None:
                filled[f"{name}_owner"] = last[f"{name}_owner"]
        return filled

    def _last(self):
        known = self._graph._known_parameters
        return None if known is None else known.get(self._node)

    def _remember(self, parameters):
        if self._graph._known_parameters is None:
            self._graph._known_parameters = WeakKeyDictionary()
        self._graph._known_parameters[self._node] = parameters


class ExecutableKernelNode(_Switchable):
    """A kernel launch."""

    __slots__ = ()

    def update(self, *, config=None, kernel=None, args=None):
        """Replaces the launch. Another kernel needs its arguments, ``args=()`` for none. The config's cluster,
        cooperative and other attributes are those of the node."""
        if kernel is not None and args is None:
            raise ValueError("another kernel needs its arguments: give args too")
        new = self._filled({"config": config, "kernel": kernel, "args": args})
        self._require_usable()
        self._graph._update_kernel(self._node, new["config"], new["kernel"], new["args"])
        self._remember(new)


class ExecutableMemcpyNode(_Switchable):
    """A copy."""

    __slots__ = ()

    def update(self, *, dst=None, src=None, size=None, dst_owner=None, src_owner=None):
        """Replaces the copy, in the current context."""
        given = {"dst": dst, "src": src, "size": size, "dst_owner": dst_owner, "src_owner": src_owner}
        _refuse_lone_owners(given)
        new = self._filled(given)
        self._require_usable()
        self._graph._update_memcpy(self._node, new["dst"], new["src"], new["size"], new["dst_owner"], new["src_owner"])
        self._remember(new)


class ExecutableMemsetNode(_Switchable):
    """A fill."""

    __slots__ = ()

    def update(self, *, dst=None, value=None, width=None, height=None, pitch=None, dst_owner=None):
        """Replaces the fill, in the current context; ``height`` is 1 and ``pitch`` 0 unless an update named them."""
        if self._last() is None:
            height, pitch = 1 if height is None else height, 0 if pitch is None else pitch
        given = {"dst": dst, "value": value, "width": width, "height": height, "pitch": pitch, "dst_owner": dst_owner}
        _refuse_lone_owners(given)
        new = self._filled(given)
        self._require_usable()
        self._graph._update_memset(
            self._node, new["dst"], new["value"], new["width"], new["height"], new["pitch"], new["dst_owner"]
        )
        self._remember(new)


class ExecutableChildGraphNode(ExecutableGraphNode):
    """An embedded graph."""

    __slots__ = ()

    def update(self, child):
        """Takes the parameters of a GraphDefinition of the same topology."""
        self._require_usable()
        self._graph._update_child(self._node, child)


class ExecutableEventRecordNode(ExecutableGraphNode):
    """The record of an event."""

    __slots__ = ()

    def update(self, event):
        """Records another event."""
        self._require_usable()
        self._graph._update_event(self._node, event)


class ExecutableEventWaitNode(ExecutableGraphNode):
    """A wait for an event."""

    __slots__ = ()

    def update(self, event):
        """Waits for another event."""
        self._require_usable()
        self._graph._update_event(self._node, event)


class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A host callback."""

    __slots__ = ()

    def update(self, fn, *, user_data=None):
        """Calls another function."""
        self._require_usable()
        self._graph._update_callback(self._node, fn, user_data)


_VIEWS = {
    _seam.KernelNode: ExecutableKernelNode,
    _seam.MemcpyNode: ExecutableMemcpyNode,
    _seam.MemsetNode: ExecutableMemsetNode,
    _seam.ChildGraphNode: ExecutableChildGraphNode,
    _seam.EventRecordNode: ExecutableEventRecordNode,
    _seam.EventWaitNode: ExecutableEventWaitNode,
    _seam.HostCallbackNode: ExecutableHostCallbackNode,
}


def _refuse_lone_owners(given):
    for name in ("dst", "src"):
        if given.get(f"{name}_owner") is not None and given[name] is None:
            raise ValueError(f"{name}_owner is the owner of an address: give {name} too")


def view(graph, node):
    """``graph[node]``."""
    if not isinstance(node, _seam.GraphNode):
        raise TypeError(f"a Graph is indexed with a GraphNode of its definition, not {type(node).__name__}")
    cls = _VIEWS.get(type(node))
    if cls is None:
        raise TypeError(f"{type(node).__name__} has no parameters that an executable graph could replace")
    if graph.is_closed:
        raise RuntimeError("the Graph has been closed")
    if not node.is_valid:
        raise RuntimeError("the node has been destroyed")
    made = object.__new__(cls)
    made._graph = graph
    made._node = node
    return made


def update_nodes(graph, updates):
    """``graph.update_nodes(updates)``: a node that has no view is refused before anything is changed."""
    views = [(view(graph, node), parameters) for node, parameters in dict(updates).items()]
    for made, parameters in views:
        made.update(**parameters)
