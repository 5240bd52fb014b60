"""GraphDefinition: what is in it, views of one graph, conditions, options, clones, and the errors of instantiation."""

import ast
import copy
import pickle
import weakref
from pathlib import Path

import pytest
from graph_programs import ONE, at, kernel, memory, run  # noqa: F401

import cucore
from cucore import graph as g
from cucore.typing import GraphConditionalType


def test_an_empty_definition(device):
    definition = g.GraphDefinition()
    assert repr(definition) == f"<GraphDefinition handle={int(definition.handle):#x}>" and int(definition.handle)
    assert type(definition.handle).__name__ == "CUgraph"
    assert definition.nodes() == set() and definition.edges() == set() and len(definition) == 0
    assert not definition.is_closed and definition.is_valid
    assert definition == definition and definition != g.GraphDefinition() and definition != 5
    assert weakref.ref(definition)() is definition


def test_nodes_and_edges_are_the_objects_that_were_made(device, memory):  # noqa: F811
    buffer, _ = memory
    definition = g.GraphDefinition()
    first = definition.launch(ONE, kernel("add"), buffer, 1)
    second = first.memset(buffer, 0, 4)
    third = definition.join(first, second)
    assert definition.nodes() == {first, second, third} and len(definition) == 3
    assert {id(node) for node in definition.nodes()} == {id(first), id(second), id(third)}
    assert definition.edges() == {(first, second), (first, third), (second, third)}
    assert all(isinstance(edge, tuple) for edge in definition.edges())
    (root,) = definition.root_nodes
    (leaf,) = definition.leaf_nodes
    assert root is first and leaf is third
    assert first in definition and g.GraphDefinition().empty() not in definition and 5 not in definition


def test_iteration_is_in_an_order_in_which_the_nodes_could_run(device):
    definition = g.GraphDefinition()
    nodes = [definition.empty() for _ in range(12)]
    for i in (7, 3, 11, 0):
        nodes[i].succ.update(nodes[(i + 5) % 12], nodes[(i + 2) % 12])
    order = list(definition)
    assert set(order) == set(nodes) and len(order) == 12
    assert all(order.index(a) < order.index(b) for a, b in definition.edges())


def test_a_graph_runs_what_its_definition_says(stream, memory):  # noqa: F811
    buffer, numbers = memory
    definition = g.GraphDefinition()
    definition.launch(ONE, kernel("add"), buffer, 2).launch(ONE, kernel("mul"), buffer, 3).memcpy(
        at(buffer, 1), buffer, 4
    )
    graph = definition.instantiate()
    assert numbers[0] == 0
    run(graph, stream, 2)
    assert numbers[0] == 24 and numbers[1] == 24


def test_a_graph_does_not_know_what_becomes_of_its_definition(stream, memory):  # noqa: F811
    buffer, numbers = memory
    definition = g.GraphDefinition()
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    graph = definition.instantiate()
    node.update(args=(buffer, 10))
    node.destroy()
    del definition, node
    run(graph, stream)
    assert numbers[0] == 1


def test_views_of_one_graph_are_equal(device):
    definition = g.GraphDefinition()
    node = definition.empty()
    assert node.graph == definition and hash(node.graph) == hash(definition)
    child = g.GraphDefinition()
    child.empty()
    embedded = definition.embed(child)
    assert embedded.child_graph == embedded.child_graph != child
    (inner,) = embedded.child_graph.nodes()
    assert inner.graph == embedded.child_graph and inner in embedded.child_graph and inner not in definition


def test_a_view_keeps_the_whole_hierarchy(device):
    child = g.GraphDefinition()
    child.empty()
    definition = g.GraphDefinition()
    inner = definition.embed(child).child_graph
    del definition, child
    (node,) = inner.nodes()
    assert node.is_valid and len(inner) == 1
    del inner
    assert node.graph.nodes() == {node}


def test_destroying_its_node_invalidates_a_child_graph_and_all_below(device):
    innermost = g.GraphDefinition()
    innermost.empty()
    middle = g.GraphDefinition()
    middle.embed(innermost)
    definition = g.GraphDefinition()
    owner = definition.embed(middle)
    child = owner.child_graph
    (below,) = child.nodes()
    bottom = below.child_graph
    (leaf,) = bottom.nodes()
    hashes = hash(child), hash(bottom), hash(leaf)
    owner.destroy()
    assert (hash(child), hash(bottom), hash(leaf)) == hashes and child == child and bottom == bottom
    assert int(child.handle) == 0 and int(bottom.handle) == 0
    assert not child.is_valid and not bottom.is_valid
    assert not leaf.is_valid and not below.is_valid and leaf.handle is None
    assert "0x0" in repr(child)
    for use in (child.nodes, child.edges, child.empty, child.instantiate, bottom.empty, child.create_condition):
        with pytest.raises(RuntimeError, match="no longer valid"):
            use()
    assert not any(node.handle == leaf.handle for node in definition.nodes())


def test_a_clone_goes_its_own_way(stream, memory):  # noqa: F811
    buffer, numbers = memory
    definition = g.GraphDefinition()
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    twin = definition.clone()
    node.update(args=(buffer, 100))
    assert twin != definition and len(twin) == 1 and node not in twin
    (copied,) = twin.nodes()
    assert isinstance(copied, g.KernelNode) and copied.kernel == kernel("add")
    del node, copied
    definition.close()
    run(twin.instantiate(), stream)
    assert numbers[0] == 1


def test_a_closed_definition_says_so(device):
    definition = g.GraphDefinition()
    definition.empty()
    before = hash(definition)
    definition.close()
    definition.close()
    assert definition.is_closed and definition and hash(definition) == before and int(definition.handle) == 0
    assert "GraphDefinition" in repr(definition)
    for use in (definition.nodes, definition.edges, definition.empty, definition.instantiate, definition.clone):
        with pytest.raises(RuntimeError, match="has been closed"):
            use()
    with g.GraphDefinition() as other:
        other.empty()
    assert other.is_closed


def test_conditions(stream, memory):  # noqa: F811
    buffer, numbers = memory
    definition = g.GraphDefinition()
    condition = definition.create_condition(default_value=0)
    other = definition.create_condition()
    assert isinstance(condition.handle, int) and condition != other and condition != 5
    assert condition == condition and hash(condition) == hash(condition)
    assert repr(condition) == f"<GraphCondition handle={condition.handle:#x}>"
    node = definition.launch(ONE, kernel("set"), condition, 1).if_else(condition)
    assert node.condition == condition and node.cond_type is GraphConditionalType.IF
    node.then.launch(ONE, kernel("add"), buffer, 5)
    node.else_.launch(ONE, kernel("add"), buffer, 50)
    definition.switch(other, 3).branches[0].empty()
    run(definition.instantiate(), stream)
    assert numbers[0] == 5


def test_a_while_loop_and_a_switch(stream, memory):  # noqa: F811
    buffer, numbers = memory
    numbers[1] = 4
    definition = g.GraphDefinition()
    again, which = definition.create_condition(1), definition.create_condition(2)
    loop = definition.while_loop(again)
    loop.body.launch(ONE, kernel("add"), buffer, 1).launch(ONE, kernel("countdown"), again, at(buffer, 1))
    cases = loop.switch(which, 4)
    for i, branch in enumerate(cases.branches):
        branch.launch(ONE, kernel("add"), at(buffer, 2), 10**i)
    run(definition.instantiate(), stream)
    assert list(numbers[:3]) == [4, 0, 100]


def test_conditions_belong_to_their_graph(device):
    definition, stranger = g.GraphDefinition(), g.GraphDefinition()
    condition = stranger.create_condition()
    with pytest.raises(cucore.CUDAError):
        definition.if_then(condition)
    with pytest.raises(cucore.CUDAError):
        stranger.switch(condition, 0)
    for add in (definition.if_then, definition.if_else, definition.while_loop):
        with pytest.raises(TypeError, match="GraphCondition"):
            add(1)
    assert len(definition) == 0 and len(stranger) == 0


def test_instantiation_names_what_is_wrong(device):
    definition = g.GraphDefinition()
    first = definition.empty()
    second = definition.join(first)
    first.pred.add(second)
    with pytest.raises(RuntimeError, match="cycle"):
        definition.instantiate()
    unused = g.GraphDefinition()
    unused.create_condition()
    with pytest.raises(RuntimeError, match="condition"):
        unused.instantiate()


def test_options_are_a_dataclass_a_dict_or_none(stream):
    definition = g.GraphDefinition()
    definition.empty()
    options = g.GraphCompleteOptions()
    assert repr(options) == (
        "GraphCompleteOptions(auto_free_on_launch=False, upload_stream=None, device_launch=False, "
        "use_node_priority=False)"
    )
    for given in (options, None, {}, {"auto_free_on_launch": True}, g.GraphCompleteOptions(upload_stream=stream)):
        run(definition.instantiate(given), stream)
    with pytest.raises(TypeError, match="GraphCompleteOptions"):
        definition.instantiate(5)
    with pytest.raises(TypeError, match="nonsense"):
        definition.instantiate({"nonsense": True})
    with pytest.raises(TypeError, match="[Ss]tream"):
        definition.instantiate({"upload_stream": 5})


def test_the_dot_file(device, tmp_path):
    definition = g.GraphDefinition()
    definition.empty()
    path = tmp_path / "graph.dot"
    for options in (None, g.GraphDebugPrintOptions(verbose=True), {"handles": True, "extra_topo_info": True}):
        definition.debug_dot_print(path if options is None else str(path), options)
        assert "digraph" in Path(path).read_text()
        path.unlink()
    with pytest.raises(TypeError, match="GraphDebugPrintOptions"):
        definition.debug_dot_print(path, 5)
    with pytest.raises(TypeError):
        definition.debug_dot_print(5)
    with pytest.raises(TypeError, match="nonsense"):
        definition.debug_dot_print(path, {"nonsense": True})
    fields = vars(g.GraphDebugPrintOptions())
    assert len(fields) == 16 and not any(fields.values())


def test_what_cannot_be_made_or_pickled(device):
    classes = [value for name in g.__all__ if isinstance(value := getattr(g, name), type)]
    others = [c for c in classes if c not in (g.GraphDefinition, g.GraphCompleteOptions, g.GraphDebugPrintOptions)]
    of_no_graph = [c for c in others if c is g.GraphCondition or issubclass(c, g.GraphNode)]
    assert len(of_no_graph) == 17 and len(others) >= 26
    for cls in others:
        if cls in of_no_graph:
            assert type(cls()) is cls
            continue
        with pytest.raises(NotImplementedError if cls.__name__ == "GraphBuilder" else RuntimeError):
            cls()
    definition = g.GraphDefinition()
    node = definition.launch(ONE, kernel("add"), 0, 1)
    graph = definition.instantiate()
    for thing in (definition, node, graph, graph[node], node.pred, definition.create_condition()):
        assert weakref.ref(thing)() is thing
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(thing)
        if not isinstance(thing, g.GraphCondition):
            with pytest.raises(TypeError):
                copy.deepcopy(thing)


def test_copies_of_a_condition_and_of_neighbours_stand_for_the_same(device):
    definition = g.GraphDefinition()
    condition = definition.create_condition()
    assert copy.copy(condition) is condition
    assert copy.deepcopy([condition]) == [condition]
    first = definition.empty()
    after = first.join()
    copied = copy.copy(after.pred)
    assert copied == {first}
    copied.clear()
    assert not first.succ


def test_stubs_name_what_there_is():
    tree = ast.parse(Path(g.__file__).with_suffix(".pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert set(g.__all__) - {"GraphBuilder"} <= set(stubs)
    for name, stub in stubs.items():
        for member in stub.body if not name.startswith("_") else ():
            if isinstance(member, ast.FunctionDef):
                assert hasattr(getattr(g, name), member.name), f"{name}.{member.name} is in the stubs only"


def test_names_are_in_the_submodule_only():
    assert cucore.graph is g
    for name in g.__all__:
        assert getattr(g, name).__module__ == "cucore.graph", name
        assert not hasattr(cucore, name)


def test_the_body_of_a_conditional_node_is_one_object(device):
    definition = g.GraphDefinition()
    loop = definition.while_loop(definition.create_condition(0))
    assert loop.body is loop.body and loop.body in loop.branches
    either = definition.if_else(definition.create_condition(0))
    assert either.then is either.then and either.else_ is either.else_ and either.then != either.else_
    loop.body.close()
    loop.body.empty()  # another object of the same graph
    assert len(loop.body.nodes()) == 1
