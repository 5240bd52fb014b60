"""What graphs keep alive and for how long, where it is released, and callbacks between threads."""

import gc
import threading
import time
import weakref

import pytest
from graph_programs import ONE, at, kernel, memory, run  # noqa: F401

import cucore
from cucore import graph as g

# ruff: noqa: F811


@pytest.fixture
def definition(device):
    return g.GraphDefinition()


@pytest.fixture
def resource(device):
    return cucore.DeviceMemoryResource(device, cucore.DeviceMemoryResourceOptions())


class Owner:
    """Something that can be kept, and knows where it ended."""

    ended_in = None

    def __init__(self, address=0):
        self.address = address

    def __kernel_argument__(self):
        return self.address

    def __del__(self):
        Owner.ended_in = threading.current_thread()


def comes_true(condition):
    """What a driver lets go of may come back a little later."""
    for _ in range(2000):
        if condition():
            return True
        time.sleep(0.001)
    return False


def gone(*references):
    gc.collect()
    return comes_true(lambda: all(reference() is None for reference in references))


def test_arguments_live_as_long_as_the_definition_or_a_graph(definition, memory, stream):
    buffer, numbers = memory
    owner = Owner(at(buffer, 0))
    kept = weakref.ref(owner)
    node = definition.launch(ONE, kernel("add"), owner, 1)
    del owner
    graph = definition.instantiate()
    node.destroy()
    del node
    definition.close()
    assert kept() is not None
    run(graph, stream)
    assert numbers[0] == 1
    graph.close()
    assert gone(kept)
    assert Owner.ended_in is threading.main_thread()


def test_a_buffer_that_a_kernel_takes_stays_an_object_as_long_as_the_graph(definition, pinned, stream):
    buffer = pinned.allocate(4, stream=stream)
    kept = weakref.ref(buffer)
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    del buffer
    gc.collect()
    assert kept() is not None
    graph = definition.instantiate()
    node.destroy()
    del node
    definition.close()
    gc.collect()
    assert kept() is not None
    graph.close()
    assert gone(kept)


def test_a_replaced_argument_goes_when_nobody_runs_it_any_more(definition, memory, stream):
    buffer, _ = memory
    first, second = Owner(at(buffer, 0)), Owner(at(buffer, 1))
    node = definition.launch(ONE, kernel("add"), first, 1)
    graph = definition.instantiate()
    node.update(args=(second, 1))
    references = weakref.ref(first), weakref.ref(second)
    del first, second
    assert not any(reference() is None for reference in references)
    graph.update(definition)
    stream.sync()
    assert gone(references[0]) and references[1]() is not None
    del definition, node, graph


def test_omitted_keywords_keep_their_owners(definition, memory):
    buffer, _ = memory
    owner, other = Owner(), Owner()
    kept, replaced = weakref.ref(owner), weakref.ref(other)
    node = definition.memcpy(at(buffer, 0), at(buffer, 4), 8, dst_owner=owner, src_owner=other)
    del owner, other
    node.update(size=4)
    assert kept() is not None and replaced() is not None
    node.update(src=at(buffer, 6))
    assert gone(replaced) and kept() is not None
    node.destroy()
    assert gone(kept)


def test_a_closed_buffer_is_freed_when_the_graph_has_gone(definition, resource, memory, stream):
    _, numbers = memory
    target = resource.allocate(256, stream=stream)
    source = resource.allocate(256, stream=stream)
    argument = resource.allocate(256, stream=stream)
    stream.sync()
    used = resource.attributes.used_mem_current
    node = definition.memset(target, 0, 64).memcpy(target, source, 16)
    node.launch(ONE, kernel("add"), argument, 1)
    for buffer in (target, source, argument):
        buffer.close()
    stream.sync()
    assert resource.attributes.used_mem_current == used
    graph = definition.instantiate()
    del node
    definition.close()
    run(graph, stream)
    assert resource.attributes.used_mem_current == used
    graph.close()
    assert comes_true(lambda: [stream.sync(), resource.attributes.used_mem_current == 0][-1])


def test_updates_of_an_executable_keep_what_they_name(definition, memory, stream):
    buffer, numbers = memory
    node = definition.launch(ONE, kernel("add"), buffer, 1)
    fill = node.memset(buffer, 0, 4)
    graph = definition.instantiate()
    owners = [Owner(at(buffer, i)) for i in range(3)]
    references = [weakref.ref(owner) for owner in owners]
    for owner in owners[:2]:
        graph[node].update(config=ONE, kernel=kernel("add"), args=(owner, 1))
    graph[fill].update(dst=at(buffer, 5), value=0, width=1, dst_owner=owners[2])
    del owner, owners
    gc.collect()
    assert all(reference() is not None for reference in references)
    failed = Owner()
    refused = weakref.ref(failed)
    with pytest.raises(TypeError):
        graph[node].update(config=ONE, kernel=kernel("add"), args=(failed,))
    del failed
    assert gone(refused)
    run(graph, stream)
    assert numbers[1] == 1
    graph.update(definition)
    stream.sync()
    assert gone(*references)


def test_callbacks_live_as_long_as_the_graph(definition, stream):
    calls = []

    def function():
        calls.append(threading.current_thread() is threading.main_thread())

    kept = weakref.ref(function)
    node = definition.callback(function)
    del function
    graph = definition.instantiate()
    node.destroy()
    del node
    definition.close()
    run(graph, stream, 3)
    assert calls == [False] * 3 and kept() is not None
    graph.close()
    assert gone(kept)


def test_a_running_launch_keeps_what_it_needs(definition, memory, stream):
    buffer, numbers = memory
    started, go_on, done = threading.Event(), threading.Event(), []
    node = definition.callback(lambda: [started.set(), go_on.wait(20)])
    node.join().callback(lambda: done.append(1)).launch(ONE, kernel("add"), Owner(at(buffer, 0)), 1)
    del node
    graph = definition.instantiate()
    graph.launch(stream)
    assert started.wait(20)
    graph.close()
    definition.close()
    del graph
    gc.collect()
    go_on.set()
    stream.sync()
    assert done == [1] and numbers[0] == 1


def test_many_payloads_are_all_released(definition, memory):
    """More than the interpreter's queue of pending calls has room for, and never on a thread of the driver's."""
    buffer, _ = memory
    threads, references = set(), []
    for _ in range(300):
        owner = Owner()
        references.append(weakref.ref(owner, lambda _: threads.add(threading.current_thread())))
        definition.memset(at(buffer, 0), 0, 4, dst_owner=owner)
        del owner
    dropper = threading.Thread(target=definition.close)
    dropper.start()
    dropper.join()
    assert gone(*references) and threads <= {threading.main_thread(), dropper}


def test_nodes_are_the_same_objects_while_somebody_has_them(definition):
    node = definition.empty()
    address, number = int(node.handle), hash(node)
    (again,) = definition.nodes()
    assert again is node
    reference = weakref.ref(node)
    del node, again
    gc.collect()
    assert reference() is None
    (later,) = definition.nodes()
    assert int(later.handle) == address and hash(later) == number and isinstance(later, g.EmptyNode)
    followed = definition.join(later)
    assert next(iter(followed.pred)) is later and next(iter(later.succ)) is followed


def test_nodes_read_back_know_all_that_they_were(definition, device, memory):
    buffer, _ = memory
    config = cucore.LaunchConfig(grid=2, block=4)
    event = device.create_event({"blocking_sync": True})

    def function():
        pass

    definition.launch(config, kernel("add"), buffer, 1)
    definition.memset(buffer, b"\x01\0\0\0", 2)
    definition.memcpy(buffer, at(buffer, 8), 12)
    definition.record(event)
    definition.callback(function)
    definition.if_then(definition.create_condition())
    gc.collect()
    nodes = {type(node): node for node in definition.nodes()}
    assert nodes[g.KernelNode].config == config and nodes[g.KernelNode].kernel == kernel("add")
    assert (nodes[g.MemsetNode].value, nodes[g.MemsetNode].element_size, nodes[g.MemsetNode].width) == (1, 4, 2)
    assert (nodes[g.MemcpyNode].src, nodes[g.MemcpyNode].size) == (at(buffer, 8), 12)
    assert nodes[g.EventRecordNode].event.is_blocking_sync and nodes[g.EventRecordNode].event == event
    assert nodes[g.HostCallbackNode].callback is function
    assert isinstance(nodes.get(g.IfNode) or nodes[g.ConditionalNode], g.ConditionalNode)


def test_threads_build_and_run_graphs_of_their_own(device, memory):
    buffer, numbers = memory
    failures = []

    def work(index):
        try:
            mine = cucore.Device()
            mine.set_current()
            with mine.create_stream() as stream:
                for _ in range(10):
                    calls = []
                    definition = g.GraphDefinition()
                    node = definition.launch(ONE, kernel("add"), at(buffer, index), 1)
                    node.callback(lambda calls=calls: calls.append(1))
                    run(definition.instantiate(), stream, 2)
                    assert calls == [1, 1]
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and list(numbers[:4]) == [20] * 4
