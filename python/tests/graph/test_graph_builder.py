"""GraphBuilder: graphs by capture, from Python."""

import ctypes
import gc
import pickle
import threading
import weakref

import pytest
from graph_programs import ONE, at, kernel, memory, run  # noqa: F401

import cucore
from cucore import CUDAError, launch
from cucore.graph import GraphBuilder, GraphCompleteOptions, GraphDebugPrintOptions, GraphDefinition

# ruff: noqa: F811

MODES = ("global", "thread_local", "relaxed")


@pytest.fixture
def builder(device):
    builder = device.create_graph_builder()
    yield builder
    builder.close()


def add(where, buffer, index, value):
    launch(where, ONE, kernel("add"), at(buffer, index), value)


def invalidate(builder):
    with pytest.raises(CUDAError):
        builder.stream.sync()


@pytest.mark.parametrize("mode", MODES)
def test_builds_completes_and_runs(builder, stream, memory, mode):
    buffer, numbers = memory
    assert not builder.is_building
    assert builder.begin_building(mode) is builder
    assert builder.is_building
    add(builder, buffer, 0, 1)
    launch(builder, ONE, kernel("mul"), buffer, 5)
    assert builder.end_building() is builder
    assert not builder.is_building
    builder.stream.sync()
    assert numbers[0] == 0
    graph = builder.complete()
    run(graph, stream)
    assert numbers[0] == 5
    other = builder.complete(GraphCompleteOptions(upload_stream=stream))
    builder.close()
    run(graph, stream)
    run(other, stream)
    assert numbers[0] == 155


def test_captures_on_a_stream_of_the_users(stream, memory):
    buffer, numbers = memory
    builder = stream.create_graph_builder()
    assert builder.stream is stream
    assert builder.__cuda_stream__() == (0, int(stream.handle))
    with builder as entered:
        assert entered is builder
        assert stream.is_capturing
        add(stream, buffer, 0, 2)
    assert not stream.is_capturing
    run(builder.complete(), stream)
    assert numbers[0] == 2
    builder.close()
    assert stream
    stream.sync()


def test_goes_wherever_a_stream_goes(device, builder, stream, memory, pinned):
    buffer, numbers = memory
    source = device.allocate(256, stream=stream)
    source.fill(1, stream=stream)
    stream.sync()
    launcher = kernel("add").launcher(ONE)
    bound = kernel("mul")[1, 1, 0, builder]
    builder.begin_building()
    buffer.fill(0, stream=builder)
    buffer.copy_from(source, stream=builder)
    source.copy_to(buffer, stream=builder)
    buffer.fill(b"\3\0\0\0", stream=builder)
    launcher(builder, at(buffer, 0), 4)
    launcher.batch(builder, [(at(buffer, 1), 5), (at(buffer, 2), 6)])
    bound(at(buffer, 0), 10)
    scratch = cucore.GraphMemoryResource(device).allocate(64, stream=builder)
    scratch.fill(1, stream=builder)
    scratch.close(builder)
    event = device.create_event()
    event.record(builder)
    event.wait_on(builder)
    run(builder.end_building().complete(), stream)
    assert list(numbers[:4]) == [70, 8, 9, 3]
    source.close(builder)  # not capturing any more: freed in order
    assert device.create_stream(builder) == builder.stream
    stream.wait(builder)
    assert pinned.allocate(16, stream=builder).size == 16


def test_a_pool_is_refused(device, builder):
    if not device.properties.memory_pools_supported:
        pytest.skip("the device has no pools")
    builder.begin_building()
    with pytest.raises(RuntimeError, match="GraphMemoryResource"):
        device.allocate(16, stream=builder)
    assert builder.is_building


def test_closed_builders_are_no_streams(builder, memory):
    buffer, _ = memory
    builder.close()
    builder.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        builder.stream  # noqa: B018
    assert builder.is_closed and builder
    assert not builder.is_join_required
    for use in (
        lambda: add(builder, buffer, 0, 1),
        lambda: buffer.fill(0, stream=builder),
        builder.__cuda_stream__,
        builder.begin_building,
        builder.end_building,
        builder.complete,
        lambda: builder.is_building,
        lambda: builder.graph_definition,
        lambda: builder.debug_dot_print("x"),
        lambda: builder.split(2),
        builder.create_condition,
        lambda: builder.callback(print),
        lambda: GraphBuilder.join(builder, builder),
        lambda: builder.embed(builder),
    ):
        with pytest.raises(RuntimeError, match="has been closed"):
            use()


def test_cannot_be_made_copied_or_pickled(device, builder):
    with pytest.raises(NotImplementedError, match="create_graph_builder"):
        GraphBuilder()
    with pytest.raises(TypeError):
        pickle.dumps(builder)
    assert builder == builder
    assert builder != device.create_graph_builder()
    assert weakref.ref(builder)() is builder
    assert len({builder, builder}) == 1
    with pytest.raises(RuntimeError, match="has been closed"):
        stream = device.create_stream()
        stream.close()
        stream.create_graph_builder()


def test_calls_out_of_order(builder):
    with pytest.raises(RuntimeError, match="not building"):
        builder.end_building()
    with pytest.raises(RuntimeError, match="not finished building"):
        builder.complete()
    with pytest.raises(RuntimeError):
        _ = builder.graph_definition
    for mode, refused in (("fast", ValueError), (0, TypeError), (b"global", TypeError)):
        with pytest.raises(refused, match="mode must be"):
            builder.begin_building(mode)
    builder.begin_building()
    with pytest.raises(RuntimeError, match="building already"):
        builder.begin_building()
    with pytest.raises(RuntimeError, match="not finished building"):
        builder.complete()
    with pytest.raises(RuntimeError, match="not finished building"):
        builder.debug_dot_print("x")
    for count in (1, 0, -1):
        with pytest.raises(ValueError, match="split"):
            builder.split(count)
    builder.end_building()
    with pytest.raises(RuntimeError, match="Cannot resume"):
        builder.begin_building()
    with pytest.raises(TypeError):
        builder.complete(1)


def test_with_aborts_on_an_error(device, stream):
    builder = stream.create_graph_builder()
    with pytest.raises(KeyError), builder.begin_building("global"):
        assert builder.is_building
        raise KeyError
    assert builder.is_closed
    assert not stream.is_capturing
    with stream.create_graph_builder() as again:
        again.end_building()
    assert again.complete()


def test_splits_and_joins(builder, stream, memory):
    buffer, numbers = memory
    builder.begin_building()
    add(builder, buffer, 0, 1)
    first, left, right = builder.split(3)
    assert first is builder
    assert (first.is_join_required, left.is_join_required) == (False, True)
    assert left.is_building
    add(left, buffer, 1, 2)
    add(right, buffer, 2, 3)
    with pytest.raises(cucore.CUDAError, match="CAPTURE_UNMATCHED.*forked"):
        left.end_building()
    with pytest.raises(RuntimeError):
        _ = left.graph_definition
    same, deeper = left.split(2)
    add(deeper, buffer, 3, 4)
    assert GraphBuilder.join(deeper, same) is deeper
    stream_of_right = right.stream
    assert GraphBuilder.join(right, builder, deeper) is builder
    assert all(fork.is_closed for fork in (left, right, deeper))
    assert stream_of_right  # the user has it
    launch(builder, ONE, kernel("mul"), at(buffer, 2), 10)
    run(builder.end_building().complete(), stream)
    assert list(numbers[:4]) == [1, 2, 30, 4]


def test_join_checks_first(device, builder):
    other = device.create_graph_builder().begin_building()
    builder.begin_building()
    _, fork = builder.split(2)
    for wrong, error in (
        ((), ValueError),
        ((builder,), ValueError),
        ((builder, builder), ValueError),
        ((builder, fork, fork), ValueError),
        ((builder, other), ValueError),
        ((builder, fork, builder.stream), TypeError),
        ((builder, None), TypeError),
    ):
        with pytest.raises(error):
            GraphBuilder.join(*wrong)
    assert fork.is_building
    GraphBuilder.join(fork, builder)
    assert builder.end_building().complete()


def test_a_failed_join_closes_all_forks(device, builder, stream):
    builder.begin_building()
    strange = device.create_graph_builder().begin_building().split(2)
    _, left, right = builder.split(3)
    with pytest.raises(CUDAError):
        GraphBuilder.join(builder, left, strange[1], right)
    assert left.is_closed and strange[1].is_closed and right.is_closed and not builder.is_closed
    with pytest.raises(CUDAError):
        builder.end_building()
    stream.sync()


def test_invalidated_captures_can_be_ended(builder, stream):
    builder.begin_building()
    invalidate(builder)
    with pytest.raises(RuntimeError, match="invalidated"):
        _ = builder.is_building
    with pytest.raises(CUDAError) as caught:
        builder.end_building()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
    assert not builder.is_building
    with pytest.raises(RuntimeError, match="left no graph"):
        builder.complete()
    builder.stream.sync()


@pytest.mark.filterwarnings("error")
def test_dropped_builders_let_their_stream_go(stream, memory):
    buffer, numbers = memory
    for broken in (False, True):
        builder = stream.create_graph_builder().begin_building()
        fork = builder.split(2)[1]
        add(fork, buffer, 0, 1)
        if broken:
            invalidate(builder)
        del builder, fork
        gc.collect()
        assert not stream.is_capturing
    add(stream, buffer, 0, 1)
    stream.sync()
    assert numbers[0] == 1


def test_builders_in_cycles_are_collected(stream):
    builder = stream.create_graph_builder().begin_building()
    cycle = [builder]
    cycle.append(cycle)
    gone = weakref.ref(builder)
    del builder, cycle
    gc.collect()
    assert gone() is None
    assert not stream.is_capturing


def test_captures_that_another_thread_ends_are_over(builder, stream, memory):
    buffer, numbers = memory
    builder.begin_building("thread_local")
    errors = []

    def end():
        try:
            builder.end_building()
        except CUDAError as error:
            errors.append(error.name)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert errors == ["CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"]
    assert not builder.is_building
    with pytest.raises(RuntimeError, match="not building"):
        builder.end_building()
    add(stream, buffer, 0, 1)
    stream.sync()
    assert numbers[0] == 1


def test_the_definition_can_be_edited(builder, stream, memory):
    buffer, numbers = memory
    builder.begin_building()
    add(builder, buffer, 0, 1)
    definition = builder.end_building().graph_definition
    assert isinstance(definition, GraphDefinition)
    assert definition == builder.graph_definition
    (node,) = definition.nodes()
    node.launch(ONE, kernel("mul"), buffer, 7)
    run(builder.complete(), stream)
    assert numbers[0] == 7
    builder.close()
    assert len(definition) == 2


def test_an_executable_takes_new_parameters_from_a_builder(device, stream, memory):
    buffer, numbers = memory

    def build(value):
        builder = device.create_graph_builder().begin_building()
        add(builder, buffer, 0, value)
        return builder

    first, second = build(1).end_building(), build(10)
    graph = first.complete()
    with pytest.raises(ValueError, match="not finished building"):
        graph.update(second)
    graph.update(second.end_building())
    run(graph, stream)
    assert numbers[0] == 10
    second.close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.update(second)


def test_ended_builders_can_be_embedded(device, builder, stream, memory):
    buffer, numbers = memory
    child = device.create_graph_builder()
    with pytest.raises(ValueError, match="not building"):
        builder.embed(child)
    builder.begin_building()
    with pytest.raises(ValueError, match="not finished building"):
        builder.embed(child)
    for wrong, refused in ((None, ValueError), (builder.stream, TypeError), (1, TypeError)):
        with pytest.raises(refused):
            builder.embed(wrong)
    with child:
        add(child, buffer, 0, 3)
    builder.embed(child)
    builder.embed(child.graph_definition)
    child.close()
    run(builder.end_building().complete(), stream)
    assert numbers[0] == 6


def test_callbacks(builder, stream, memory):
    buffer, numbers = memory
    seen = []
    received = []
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    c_function = prototype(lambda data: received.append(ctypes.string_at(data, 3)))
    builder.begin_building()
    add(builder, buffer, 0, 1)
    builder.callback(lambda: seen.append(int(numbers[0])))
    launch(builder, ONE, kernel("mul"), buffer, 3)
    builder.callback(lambda: seen.append(int(numbers[0])))
    builder.callback(c_function, user_data=b"abc")
    del c_function
    for wrong in (None, 1, "f"):
        with pytest.raises(TypeError):
            builder.callback(wrong)
    with pytest.raises(ValueError, match="user_data"):
        builder.callback(print, user_data=b"x")
    graph = builder.end_building().complete()
    builder.close()
    gc.collect()
    run(graph, stream)
    assert seen == [1, 3]
    assert received == [b"abc"]


def test_dot(builder, memory, tmp_path):
    buffer, _ = memory
    with builder:
        add(builder, buffer, 0, 1)
    builder.debug_dot_print(tmp_path / "graph.dot", GraphDebugPrintOptions(verbose=True))
    builder.debug_dot_print(str(tmp_path / "plain.dot"), {"handles": True})
    assert "digraph" in (tmp_path / "graph.dot").read_text()
    assert "digraph" in (tmp_path / "plain.dot").read_text()


class TestConditions:
    @pytest.fixture(autouse=True)
    def needs_a_driver(self):
        if cucore.driver_info().version < 12080:
            pytest.skip("all kinds of conditional nodes came with CUDA 12.8")

    @pytest.mark.parametrize("value", [0, 1])
    def test_if_else(self, builder, stream, memory, value):
        buffer, numbers = memory
        builder.begin_building()
        condition = builder.create_condition()
        launch(builder, ONE, kernel("set"), condition, value)
        then, otherwise = builder.if_else(condition)
        for body, what in ((then, 1), (otherwise, 2)):
            with pytest.raises(RuntimeError):
                body.complete()
            with body:
                add(body, buffer, 0, what)
        with pytest.raises(CUDAError, match="INVALID_VALUE"):
            builder.if_then(condition)  # it has its node
        only = builder.if_then(builder.create_condition(1))
        only.graph_definition.launch(ONE, kernel("add"), at(buffer, 0), 10)  # filled without a capture
        add(builder, buffer, 1, 1)
        run(builder.end_building().complete(), stream)
        assert list(numbers[:2]) == [11 if value else 12, 1]
        with pytest.raises(RuntimeError, match="parent"):
            then.complete()

    def test_while(self, builder, stream, memory):
        buffer, numbers = memory
        numbers[0] = 4
        builder.begin_building()
        condition = builder.create_condition(default_value=1)
        body = builder.while_loop(condition)
        body.begin_building()
        _, fork = body.split(2)
        add(fork, buffer, 1, 1)
        GraphBuilder.join(body, fork)
        launch(body, ONE, kernel("countdown"), condition, buffer)
        body.end_building()
        run(builder.end_building().complete(), stream)
        assert list(numbers[:2]) == [0, 4]

    @pytest.mark.parametrize("value", [0, 2, 3])
    def test_switch(self, builder, stream, memory, value):
        buffer, numbers = memory
        builder.begin_building()
        cases = builder.switch(builder.create_condition(value), 3)
        assert isinstance(cases, tuple)
        for index, case in enumerate(cases):
            with case:
                add(case, buffer, index, 1)
        run(builder.end_building().complete(), stream)
        assert list(numbers[:3]) == [int(index == value) for index in range(3)]

    def test_wrong_arguments(self, builder):
        for add_node in (builder.if_then, builder.if_else, builder.while_loop, lambda c: builder.switch(c, 2)):
            for wrong in (None, 1, builder):
                with pytest.raises(TypeError, match="GraphCondition"):
                    add_node(wrong)
        with pytest.raises(RuntimeError, match="not building"):
            builder.create_condition()
        builder.begin_building()
        condition = builder.create_condition(0)
        with pytest.raises(CUDAError):
            builder.switch(condition, 0)

    def test_a_body_that_is_being_captured_keeps_its_parent(self, builder, memory):
        buffer, _ = memory
        builder.begin_building()
        body = builder.if_then(builder.create_condition(1)).begin_building()
        with pytest.raises(RuntimeError, match="still being captured"):
            builder.end_building()
        add(body, buffer, 0, 1)
        body.end_building()
        assert builder.end_building().complete()
