"""Graph, the executable: launches, updates as a whole and node by node, options, callbacks' errors, and its end."""

import sys

import numpy as np
import pytest
from graph_programs import ONE, at, kernel, memory, run  # noqa: F401

import cucore
from cucore import graph as g

# ruff: noqa: F811


@pytest.fixture
def definition(device):
    return g.GraphDefinition()


def test_a_graph_runs_in_stream_order(definition, memory, stream):
    buffer, numbers = memory
    definition.launch(ONE, kernel("add"), buffer, 1)
    graph = definition.instantiate()
    assert isinstance(graph, g.Graph) and type(graph.handle).__name__ == "CUgraphExec" and int(graph.handle)
    graph.upload(stream)
    stream.sync()
    assert numbers[0] == 0
    for _ in range(3):
        graph.launch(stream)
        cucore.launch(stream, ONE, kernel("mul"), buffer, 2)
    stream.sync()
    assert numbers[0] == 14
    assert definition.instantiate() != graph and graph == graph and hash(graph)


def test_what_a_graph_is_launched_on(definition, stream):
    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    definition.empty()
    graph = definition.instantiate()
    with pytest.warns(DeprecationWarning):
        graph.launch(Foreign())
    for wrong in (None, 5, "stream"):
        with pytest.raises(TypeError):
            graph.launch(wrong)
        with pytest.raises(TypeError):
            graph.upload(wrong)
    closed = cucore.Device().create_stream()
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.launch(closed)


def test_a_closed_graph_says_so(definition, stream):
    node = definition.launch(ONE, kernel("add"), 0, 1)
    graph = definition.instantiate()
    view = graph[node]
    assert not graph.is_closed
    before = hash(graph)
    graph.close()
    graph.close()
    assert graph.is_closed and graph and int(graph.handle) == 0 and hash(graph) == before and graph == graph
    uses = (
        lambda: graph.launch(stream),
        lambda: graph.upload(stream),
        lambda: graph.update(definition),
        lambda: graph.try_update(definition),
        lambda: view.is_enabled,
        view.disable,
    )
    for use in uses:
        with pytest.raises(RuntimeError, match="has been closed"):
            use()
    with pytest.raises(RuntimeError, match="has been closed"):
        graph[node]
    with definition.instantiate() as other:
        pass
    assert other.is_closed


def test_whole_updates(definition, memory, stream):
    buffer, numbers = memory
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    graph = definition.instantiate()
    node.update(args=(buffer, 5))
    graph.update(definition)
    run(graph, stream)
    assert numbers[0] == 5
    other = g.GraphDefinition()
    other.launch(ONE, kernel("add"), buffer, 7).join()
    with pytest.raises(cucore.CUDAError, match="TOPOLOGY_CHANGED"):
        graph.update(other)
    assert not graph.try_update(other) and graph.try_update(definition)
    run(graph, stream)
    assert numbers[0] == 10
    for wrong in (5, None, node, graph):
        with pytest.raises(TypeError, match="GraphDefinition"):
            graph.update(wrong)


def test_a_refused_update_names_the_node(definition, memory):
    buffer, _ = memory
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    graph = definition.instantiate()
    other = g.GraphDefinition()
    changed = other.memset(buffer, 0, 4)
    result = graph.try_update(other)
    assert not result and result.node in (None, changed) and "_ERROR" in result.reason
    assert graph[node].is_enabled


def test_updates_of_kernel_nodes(definition, memory, stream):
    buffer, numbers = memory
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    graph = definition.instantiate()
    view = graph[node]
    assert type(view) is g.ExecutableKernelNode and isinstance(view, g.ExecutableGraphNode)
    assert repr(view) == f"<ExecutableKernelNode graph={int(graph.handle):#x} node={int(node.handle):#x}>"
    view.update(config=ONE, kernel=kernel("add"), args=(buffer, 10))
    run(graph, stream)
    run(definition.instantiate(), stream)
    assert numbers[0] == 11
    view.update(args=(buffer, 100))  # the rest stays as it is known
    run(graph, stream)
    assert numbers[0] == 111
    with pytest.raises(ValueError, match="args"):
        view.update(kernel=kernel("mul"))
    with pytest.raises(TypeError):
        view.update(config=ONE, kernel=kernel("add"), args=(buffer,))
    view.update(kernel=kernel("store"), args=(at(buffer, 1),))
    run(graph, stream)
    assert numbers[0] == 111 and numbers[1] == 101


def test_updates_of_memory_nodes(definition, memory, stream):
    buffer, numbers = memory
    fill = definition.memset(buffer, 1, 4)
    copied = fill.memcpy(at(buffer, 1), buffer, 4)
    graph = definition.instantiate()
    assert type(graph[fill]) is g.ExecutableMemsetNode and type(graph[copied]) is g.ExecutableMemcpyNode
    graph[fill].update(dst=buffer, value=np.int32(9), width=1)
    graph[copied].update(dst=at(buffer, 2), src=buffer, size=4)
    run(graph, stream)
    assert list(numbers[:3]) == [9, 0, 9]
    graph[fill].update(value=b"\x05\0\0\0")
    run(graph, stream)
    assert list(numbers[:3]) == [5, 0, 5]
    assert fill.value == 1 and copied.dst == at(buffer, 1)


def test_many_nodes_are_updated_in_one_call(definition, memory, stream):
    buffer, numbers = memory
    calls = []
    added = definition.launch(ONE, kernel("add"), buffer, 1)
    filled = added.memset(at(buffer, 1), 1, 4)
    called = filled.callback(calls.clear)
    graph = definition.instantiate()
    graph.update_nodes(
        {
            added: {"config": ONE, "kernel": kernel("add"), "args": (buffer, 3)},
            filled: {"dst": at(buffer, 2), "value": 2, "width": 1},
            called: {"fn": lambda: calls.append(1)},
        }
    )
    with pytest.raises(TypeError, match="EmptyNode"):
        graph.update_nodes({added: {"args": (buffer, 50)}, definition.empty(): {}})
    run(graph, stream)
    assert list(numbers[:3]) == [3, 0, 2] and calls == [1]


def test_nodes_are_switched_off_and_on(definition, memory, stream):
    buffer, numbers = memory
    nodes = [definition.launch(ONE, kernel("add"), buffer, 1)]
    nodes += [nodes[0].memset(at(buffer, 1), 1, 4), nodes[0].memcpy(at(buffer, 2), buffer, 4)]
    graph = definition.instantiate()
    for node in nodes:
        assert graph[node].is_enabled
        graph[node].disable()
        assert not graph[node].is_enabled
    run(graph, stream)
    assert not numbers.any()
    for node in nodes:
        graph[node].enable()
    run(graph, stream)
    assert list(numbers[:3]) == [1, 0x01010101, 1]


def test_updates_of_events_children_and_callbacks(definition, device, memory, stream):
    buffer, numbers = memory
    child, other = g.GraphDefinition(), g.GraphDefinition()
    child.launch(ONE, kernel("add"), buffer, 1)
    other.launch(ONE, kernel("add"), buffer, 10)
    calls = []
    first, second = device.create_event(), device.create_event()
    embedded = definition.embed(child)
    recorded = embedded.record(first)
    waited = recorded.wait(first)
    called = waited.callback(lambda: calls.append(1))
    graph = definition.instantiate()
    classes = {
        embedded: g.ExecutableChildGraphNode,
        recorded: g.ExecutableEventRecordNode,
        waited: g.ExecutableEventWaitNode,
        called: g.ExecutableHostCallbackNode,
    }
    for node, cls in classes.items():
        assert type(graph[node]) is cls and not hasattr(graph[node], "disable")
    graph[embedded].update(other)
    graph[recorded].update(second)
    graph[waited].update(second)
    graph[called].update(lambda: calls.append(2))
    run(graph, stream)
    assert calls == [2] and numbers[0] == 10
    for node, wrong in ((embedded, 5), (recorded, 5), (waited, None), (called, 5)):
        with pytest.raises(TypeError):
            graph[node].update(wrong)


def test_nodes_without_a_view(definition, memory):
    buffer, _ = memory
    empty = definition.empty()
    node = definition.memset(buffer, 0, 4)
    graph = definition.instantiate()
    with pytest.raises(TypeError, match="EmptyNode"):
        graph[empty]
    for wrong in (5, None, definition):
        with pytest.raises(TypeError):
            graph[wrong]
    view = graph[node]
    stranger = g.GraphDefinition().memset(buffer, 0, 4)
    with pytest.raises(cucore.CUDAError):
        graph[stranger].disable()
    node.destroy()
    with pytest.raises(RuntimeError, match="destroyed"):
        graph[node]
    with pytest.raises(RuntimeError, match="destroyed"):
        view.disable()


def test_what_a_callback_raises_goes_to_the_hook_and_is_on_the_graph(definition, memory, stream, monkeypatch):
    buffer, numbers = memory
    seen = []

    def fails():
        raise ValueError("out of luck")

    definition.callback(fails).launch(ONE, kernel("add"), buffer, 1)
    graph = definition.instantiate()
    assert graph.last_callback_error is None
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(str(args.exc_value)))
    run(graph, stream)
    assert seen == ["out of luck"] and numbers[0] == 1
    assert str(graph.last_callback_error) == "ValueError: out of luck"


def test_auto_free(definition, stream):
    node = definition.allocate(1 << 16)
    graph = definition.instantiate({"auto_free_on_launch": True})
    run(graph, stream, 3)
    last = g.GraphDefinition()
    last.deallocate(node.dptr)  # what the last launch allocated
    run(last.instantiate(), stream)
    graph.close()
    cucore.GraphMemoryResource(0).trim()
    assert cucore.GraphMemoryResource(0).attributes.used_mem_current == 0
