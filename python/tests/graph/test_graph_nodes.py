"""Nodes of explicit graphs: what each kind tells of itself, its updates, its neighbours, and its end."""

import ctypes
import functools
from collections.abc import MutableSet

import numpy as np
import pytest
from graph_programs import ONE, at, kernel, memory, run  # noqa: F401

import cucore
from cucore import graph as g
from cucore.typing import GraphConditionalType, GraphMemoryType

# ruff: noqa: F811


@pytest.fixture
def definition(device):
    return g.GraphDefinition()


def shape(node, **fields):
    """The repr that a node should have."""
    text = f"<{type(node).__name__} handle={int(node.handle):#x}"
    return text + "".join(f" {name}={value}" for name, value in fields.items()) + ">"


def test_what_nodes_have_in_common(definition):
    node = definition.empty()
    assert isinstance(node, g.EmptyNode) and isinstance(node, g.GraphNode)
    assert repr(node) == shape(node) and type(node.handle).__name__ == "CUgraphNode"
    assert node.type.name == "CU_GRAPH_NODE_TYPE_EMPTY" and node.type == 5
    assert node.graph == definition and node.is_valid
    assert node == node and node != definition.empty() and node != 5 and {node: 1}[node] == 1


def test_kernel_nodes(definition, memory, stream):
    buffer, numbers = memory
    config = cucore.LaunchConfig(grid=(2, 1, 1), block=3, shmem_size=16)
    node = definition.launch(config, kernel("store"), buffer)
    assert isinstance(node, g.KernelNode) and repr(node) == shape(node, kernel=f"{int(kernel('store').handle):#x}")
    assert (node.grid, node.block, node.shmem_size) == ((2, 1, 1), (3, 1, 1), 16)
    assert node.kernel == kernel("store") and node.config == config and node.type == 0
    run(definition.instantiate(), stream)
    assert numbers[0] == 302
    node.update(config=ONE)
    assert node.config == ONE and node.kernel == kernel("store")
    run(definition.instantiate(), stream)
    assert numbers[0] == 101
    with pytest.raises(ValueError, match="args"):
        node.update(kernel=kernel("add"))
    node.update(kernel=kernel("add"), args=(buffer, 7))
    node.update()
    assert node.kernel == kernel("add")
    run(definition.instantiate(), stream)
    assert numbers[0] == 108


def test_arguments_of_kernel_nodes_are_those_of_launch(definition, memory):
    buffer, _ = memory
    for arguments in ((), (buffer,), (buffer, 1, 2)):
        with pytest.raises(TypeError, match="add"):
            definition.launch(ONE, kernel("add"), *arguments)
    with pytest.raises(OverflowError):
        definition.launch(ONE, kernel("add"), buffer, 1 << 40)
    with pytest.raises(TypeError, match="[Kk]ernel"):
        definition.launch(ONE, 5, buffer, 1)
    with pytest.raises((TypeError, ValueError), match="config"):
        definition.launch(None, kernel("add"), buffer, 1)
    node = definition.launch({"grid": 1, "block": 1}, kernel("add"), buffer, np.int32(1))
    with pytest.raises(TypeError):
        node.update(args=5)
    with pytest.raises(TypeError):
        node.update(ONE)
    assert len(definition) == 1


def test_cooperative_kernel_nodes_keep_their_config(definition, memory, stream):
    buffer, numbers = memory
    config = cucore.LaunchConfig(grid=2, block=1, is_cooperative=True)
    node = definition.launch(config, kernel("store"), buffer)
    assert node.config == config
    graph = definition.instantiate()
    run(graph, stream)
    assert numbers[0] == 102
    graph[node].update(
        config=cucore.LaunchConfig(grid=1, block=2, is_cooperative=True), kernel=kernel("store"), args=(buffer,)
    )
    run(graph, stream)
    assert numbers[0] == 201 and node.config == config


@pytest.mark.parametrize(
    ("value", "size", "number"),
    [(0xAB, 1, 0xAB), (True, 1, 1), (b"\x01\x02", 2, 0x201), (np.int32(-5), 4, 2**32 - 5), (np.int8(-1), 1, 255)],
)
def test_memset_nodes(definition, memory, stream, value, size, number):
    buffer, numbers = memory
    node = definition.memset(buffer, value, 4)
    assert isinstance(node, g.MemsetNode)
    assert (node.dptr, node.value, node.element_size, node.width, node.height) == (buffer.handle, number, size, 4, 1)
    assert repr(node) == shape(node, dptr=f"{buffer.handle:#x}", value=number)
    run(definition.instantiate(), stream)
    filled = numbers.view(np.dtype(f"u{size}"))
    assert list(filled[:5]) == [number] * 4 + [0]


def test_memset_nodes_of_rows(definition, memory, stream):
    buffer, numbers = memory
    node = definition.memset(at(buffer, 1), b"\x07\0\0\0", 2, 3, 16)
    assert (node.width, node.height, node.pitch) == (2, 3, 16)
    run(definition.instantiate(), stream)
    assert list(numbers[:12]) == [0, 7, 7, 0] * 3
    node.update(value=1, width=4)
    assert (node.value, node.element_size, node.width, node.height, node.pitch) == (1, 1, 4, 3, 16)
    node.update(dst=buffer, height=1)
    node.update()
    assert node.dptr == buffer.handle and node.height == 1
    run(definition.instantiate(), stream)
    assert numbers[0] == 0x01010101


def test_fill_values_that_are_none(definition, memory):
    buffer, _ = memory
    for value, error in (
        (256, OverflowError),
        (-1, OverflowError),
        (b"123", ValueError),
        (b"", ValueError),
        ("a", TypeError),
        (1.5, TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            definition.memset(buffer, value, 1)
    assert len(definition) == 0


def test_memcpy_nodes(definition, memory, device, stream):
    buffer, numbers = memory
    numbers[0] = 77
    there = device.allocate(64, stream=stream)
    stream.sync()
    node = definition.memcpy(there, buffer, 16)
    assert isinstance(node, g.MemcpyNode) and (node.dst, node.src, node.size) == (there.handle, buffer.handle, 16)
    assert repr(node) == shape(node, dst=f"{there.handle:#x}(D)", src=f"{buffer.handle:#x}(H)", size=16)
    back = node.memcpy(at(buffer, 4), int(there.handle), 4)
    assert back.pred == {node}
    run(definition.instantiate(), stream)
    assert numbers[4] == 77
    back.update(dst=at(buffer, 8), size=8)
    assert (back.dst, back.src, back.size) == (at(buffer, 8), there.handle, 8)
    back.update()
    run(definition.instantiate(), stream)
    assert numbers[8] == 77
    for size in ("4", None):
        with pytest.raises(TypeError):
            definition.memcpy(buffer, buffer, size)
    assert definition.memcpy(there, buffer, 1.5).size == 1


def test_owners_go_with_raw_addresses(definition, memory, pinned):
    buffer, _ = memory
    closed = pinned.allocate(8)
    closed.close()
    with pytest.raises(ValueError, match="dst_owner"):
        definition.memcpy(buffer, buffer, 4, dst_owner=object())
    with pytest.raises(ValueError, match="src_owner"):
        definition.memcpy(buffer, buffer, 4, src_owner=object())
    with pytest.raises(ValueError, match="dst_owner"):
        definition.memset(buffer, 0, 4, dst_owner=object())
    for operands in ({"dst": closed, "src": buffer}, {"dst": buffer, "src": closed}):
        with pytest.raises(RuntimeError, match="closed"):
            definition.memcpy(size=4, **operands)
    with pytest.raises(RuntimeError, match="closed"):
        definition.memset(at(buffer, 0), 0, 4, dst_owner=closed)
    for operand in ("x", None):
        with pytest.raises(TypeError):
            definition.memset(operand, 0, 4)
    assert len(definition) == 0
    node = definition.memcpy(at(buffer, 0), at(buffer, 1), 4, dst_owner=object(), src_owner=buffer)
    with pytest.raises(ValueError, match="dst_owner"):
        node.update(dst_owner=object())
    with pytest.raises(ValueError, match="src_owner"):
        node.update(dst=buffer, src_owner=object())
    node.update(src=at(buffer, 2), src_owner=object())
    assert node.src == at(buffer, 2)


def test_allocation_and_free_nodes(definition, memory, device, stream):
    buffer, numbers = memory
    node = definition.allocate(1024)
    assert isinstance(node, g.AllocNode) and node.bytesize == 1024 and node.device_id == device.device_id
    assert node.memory_type == "device" and node.peer_access == () and node.dptr != 0
    assert repr(node) == shape(node, dptr=f"{node.dptr:#x}", size=1024)
    last = node.memset(node.dptr, 1, 1024).memcpy(buffer, node.dptr, 4).deallocate(node.dptr)
    assert isinstance(last, g.FreeNode) and last.dptr == node.dptr
    assert repr(last) == shape(last, dptr=f"{node.dptr:#x}")
    run(definition.instantiate(), stream, 2)
    assert numbers[0] == 0x01010101
    with pytest.raises(cucore.CUDAError):  # a driver's rule: no node leaves a graph that allocates
        last.destroy()
    assert last.is_valid and len(definition) == 4


def test_where_allocation_nodes_allocate(definition, device):
    assert definition.allocate(64, device=device, peer_access=[]).device_id == device.device_id
    assert definition.allocate(64, device=device.device_id, memory_type=GraphMemoryType.DEVICE).memory_type == "device"
    with pytest.raises(ValueError, match="GraphMemoryType"):
        definition.allocate(64, memory_type="shared")
    with pytest.raises(TypeError):
        definition.allocate(64, device="first")
    with pytest.raises(TypeError):
        definition.allocate("many")
    with pytest.raises(cucore.CUDAError):
        definition.deallocate(0)
    assert len(definition) == 2


def test_event_nodes(definition, device, stream):
    first = device.create_event({"blocking_sync": True})
    second = device.create_event()
    node = definition.record(first)
    waiting = node.wait(first)
    assert isinstance(node, g.EventRecordNode) and isinstance(waiting, g.EventWaitNode)
    for each in (node, waiting):
        assert each.event == first and each.event.is_blocking_sync and not each.event.is_timing_enabled
        assert repr(each) == shape(each, event=f"{int(first.handle):#x}")
        each.update(second)
        assert each.event == second and not each.event.is_blocking_sync
        with pytest.raises(TypeError):
            each.update(5)
        with pytest.raises(TypeError):
            each.update(None)
    second.close()
    assert node.event.context == device.context  # the graph keeps it, with all that is known of it
    run(definition.instantiate(), stream)
    closed = device.create_event()
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        definition.record(closed)
    assert len(definition) == 2


def test_child_graph_nodes(definition, memory, stream):
    buffer, numbers = memory
    child, other = g.GraphDefinition(), g.GraphDefinition()
    child.launch(ONE, kernel("add"), buffer, 1)
    other.launch(ONE, kernel("add"), buffer, 10)
    node = definition.embed(child)
    assert isinstance(node, g.ChildGraphNode) and node.child_graph != child
    assert repr(node) == shape(node, child=f"{int(node.child_graph.handle):#x}")
    before = node.child_graph
    (inner,) = before.nodes()
    node.update(other)
    assert node.child_graph != before and not inner.is_valid
    with pytest.raises(RuntimeError, match="no longer valid"):
        before.nodes()
    run(definition.instantiate(), stream)
    assert numbers[0] == 10
    with pytest.raises(TypeError, match="GraphDefinition"):
        definition.embed(5)
    with pytest.raises((ValueError, RuntimeError, cucore.CUDAError)):
        node.update(definition)
    assert node.is_valid and len(definition) == 1


def test_conditional_nodes(definition):
    conditions = [definition.create_condition() for _ in range(4)]
    nodes = (
        definition.if_then(conditions[0]),
        definition.if_else(conditions[1]),
        definition.while_loop(conditions[2]),
        definition.switch(conditions[3], 3),
    )
    classes = (g.IfNode, g.IfElseNode, g.WhileNode, g.SwitchNode)
    kinds = (GraphConditionalType.IF, GraphConditionalType.IF, GraphConditionalType.WHILE, GraphConditionalType.SWITCH)
    for node, cls, kind, condition, count in zip(nodes, classes, kinds, conditions, (1, 2, 1, 3), strict=True):
        assert type(node) is cls and isinstance(node, g.ConditionalNode)
        assert node.cond_type is kind and node.condition == condition and len(node.branches) == count
        assert isinstance(node.branches, tuple) and all(isinstance(b, g.GraphDefinition) for b in node.branches)
        assert repr(node) == shape(node, condition=f"{condition.handle:#x}")
    if_then, if_else, loop, _ = nodes
    assert (if_then.then,) == if_then.branches and (if_else.then, if_else.else_) == if_else.branches
    assert (loop.body,) == loop.branches
    (body_node,) = {loop.body.empty()}
    assert loop.body.nodes() == {body_node} and body_node.graph == loop.body != definition


def named():
    pass


def test_callback_nodes_name_their_function(definition):
    for function, text in ((named, "named"), (lambda: None, "<lambda>"), (dict, "dict")):
        node = definition.callback(function)
        assert isinstance(node, g.HostCallbackNode) and node.callback is function
        assert repr(node) == shape(node, callback=text)
    assert definition.callback(functools.partial(named)).callback.func is named
    c_function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
    node = definition.callback(c_function, user_data=b"abc")
    address = ctypes.cast(c_function, ctypes.c_void_p).value
    assert node.callback is None and repr(node) == shape(node, cfunc=f"{address:#x}")
    node.update(named)
    assert node.callback is named


def test_callbacks_run_and_may_be_replaced(definition, stream):
    calls = []
    node = definition.callback(lambda: calls.append("old"))
    graph = definition.instantiate()
    node.update(lambda: calls.append("new"))
    run(graph, stream)
    run(definition.instantiate(), stream)
    assert calls == ["old", "new"]


def test_c_callbacks_get_their_data(definition, stream):
    seen = []
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    data = bytearray(b"abc")
    node = definition.callback(prototype(lambda p: seen.append(ctypes.string_at(p, 3))), user_data=data)
    data[:] = b"xyz"  # a copy was taken
    # `callback` of such a node is its function: an empty node comes between.
    node = node.join().callback(prototype(seen.append), user_data=0x1234)
    for nothing in (None, b"", 0):
        node = node.join().callback(prototype(seen.append), user_data=nothing)
    run(definition.instantiate(), stream)
    assert seen == [b"abc", 0x1234, None, None, None]


def test_callbacks_that_are_none(definition):
    integer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda p: 0)
    bare = ctypes.CFUNCTYPE(None)(lambda: None)
    undeclared = ctypes.CDLL(None).free
    for function in (integer, bare, undeclared, 5, None, "name"):
        with pytest.raises(TypeError):
            definition.callback(function)
    with pytest.raises(ValueError, match="user_data"):
        definition.callback(named, user_data=5)
    good = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: None)
    for data in ("text", 1.5):
        with pytest.raises(TypeError):
            definition.callback(good, user_data=data)
    assert len(definition) == 0


def test_neighbours_are_live_sets(definition):
    a, b, c, d = (definition.empty() for _ in range(4))
    view = d.pred
    assert isinstance(view, MutableSet) and view == set() and len(view) == 0 and not view
    view.add(a)
    view.add(a)
    assert view == {a} and a in view and b not in view and 5 not in view and list(view) == [a] and d in a.succ
    assert repr(view) == "{" + repr(a) + "}"
    view.update(b, [c])
    assert len(view) == 3 and view >= {a, b}
    assert view & {a, b} == {a, b} and type(view & {a}) is set and type(view | {d}) is set
    assert view - {a} == {b, c} and view ^ {a, d} == {b, c, d}
    view.discard(a)
    view.discard(a)
    for no_node in (5, None):
        with pytest.raises(TypeError):
            view.discard(no_node)
    assert view == {b, c} and a.succ == set()
    view -= {b}
    view |= {a}
    assert d.pred == {a, c}
    with pytest.raises(KeyError):
        view.remove(b)
    view.remove(c)
    view.clear()
    view.clear()
    assert definition.edges() == set()
    with pytest.raises(TypeError):
        hash(view)
    with pytest.raises(KeyError):
        view.pop()


def test_neighbours_are_assigned(definition):
    a, b, c, d = (definition.empty() for _ in range(4))
    d.pred = {a, b}
    d.pred = [b, c]
    assert d.pred == {b, c} and a.succ == set()
    a.succ = (node for node in (b, c))
    assert definition.edges() == {(b, d), (c, d), (a, b), (a, c)}
    d.pred |= {a}
    assert d.pred == {a, b, c}
    a.succ = a.succ
    a.succ = ()
    assert d.pred == {b, c}


def test_a_failed_assignment_changes_nothing(definition):
    a, b, d = (definition.empty() for _ in range(3))
    stranger = g.GraphDefinition().empty()
    gone = definition.empty()
    gone.destroy()
    d.pred = {a}
    for wrong, error in (({b, stranger}, cucore.CUDAError), ({b, d}, cucore.CUDAError), ({b, 5}, TypeError)):
        with pytest.raises(error):
            d.pred = wrong
        assert d.pred == {a}
        with pytest.raises(ValueError if stranger in wrong else error):
            d.pred.update(wrong)
        assert d.pred >= {a} and not {stranger, d} & set(d.pred)
        d.pred = {a}
    for add in (d.pred.add, d.succ.add):
        with pytest.raises((cucore.CUDAError, RuntimeError)):
            add(gone)
        with pytest.raises(ValueError, match="another graph"):
            add(stranger)
        with pytest.raises(cucore.CUDAError):
            add(d)
        with pytest.raises(TypeError):
            add(5)
    with pytest.raises(TypeError):
        d.pred = 5
    assert definition.edges() == {(a, d)}


def test_join_waits_for_all(definition):
    a, b, c = (definition.empty() for _ in range(3))
    assert definition.join(a, b).pred == {a, b} and a.join(b, c).pred == {a, b, c} and a.join().pred == {a}
    assert definition.join().pred == set() and definition.join(a, a).pred == {a}
    with pytest.raises(TypeError):
        definition.join(5)
    with pytest.raises(TypeError):
        a.join(None)


def test_a_destroyed_node_keeps_what_it_was(definition, memory):
    buffer, _ = memory
    first = definition.launch(ONE, kernel("add"), buffer, 1)
    node = first.memset(buffer, b"\x01\x02", 2, 2, 32)
    copied = node.memcpy(at(buffer, 8), buffer, 4)
    before = hash(node)
    node.destroy()
    node.destroy()
    assert not node.is_valid and node.handle is None and node.type is None
    assert (node.value, node.width, node.height, node.pitch, node.dptr) == (0x201, 2, 2, 32, buffer.handle)
    assert node == node and hash(node) == before and node not in definition.nodes() and node not in definition
    assert "0x0" in repr(node) and repr(node).startswith("<MemsetNode")
    assert node.pred == set() and node.succ == set() and first.succ == set() and copied.pred == set()
    assert node.graph == definition
    for use in (node.join, node.update, lambda: node.memset(buffer, 0, 1), lambda: node.pred.add(first)):
        with pytest.raises((RuntimeError, cucore.CUDAError)):
            use()
    with pytest.raises(RuntimeError):
        node.update(value=1)
    with pytest.raises((RuntimeError, cucore.CUDAError)):
        node.succ = {first}
    first.destroy()
    assert first.kernel == kernel("add") and first.grid == (1, 1, 1) and first.config == ONE
    copied.destroy()
    assert (copied.dst, copied.src, copied.size) == (at(buffer, 8), buffer.handle, 4)
    assert len(definition) == 0


def test_the_address_of_a_destroyed_node_used_again_is_another_node(definition):
    old = [definition.empty() for _ in range(8)]
    for node in old:
        node.destroy()
    new = [definition.empty() for _ in range(8)]
    assert definition.nodes() == set(new) and not any(node.is_valid for node in old)
    assert not set(old) & set(new)


def test_refused_nodes_leave_nothing_behind(definition, memory):
    buffer, _ = memory
    parent = g.GraphDefinition()
    parent.embed(definition)
    definition.allocate(64)
    with pytest.raises(cucore.CUDAError):
        parent.embed(definition)  # a driver's rule: allocations cannot be cloned
    assert len(parent) == 1
    with pytest.raises(cucore.CUDAError):
        parent.memcpy(buffer, buffer, 0)
    assert len(parent) == 1


def test_what_a_node_says_follows_its_updates(device, stream):
    definition = g.GraphDefinition()
    buffer = device.allocate(64, stream=stream)
    fill = definition.memset(buffer, 1, 16)
    assert (fill.value, fill.width, fill.dptr) == (1, 16, buffer.handle) and fill.width is fill.width
    fill.update(value=2, width=8)
    assert (fill.value, fill.width, fill.dptr) == (2, 8, buffer.handle)
    with pytest.raises(TypeError):
        fill.update(width="x")
    assert (fill.value, fill.width) == (2, 8)
    fill.destroy()
    assert (fill.value, fill.width, fill.is_valid) == (2, 8, False)
