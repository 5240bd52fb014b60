# A client of the driver: graphs as NVIDIA's cuda.core makes them, by capture and node by node.
import ctypes
import os
import pathlib
import tempfile

import numpy as np
from checked import checked
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.graph import GraphCompleteOptions, GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
source = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);
extern "C" __global__ void add(int* p, int v) { atomicAdd(p, v); }
extern "C" __global__ void set(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
extern "C" __global__ void countdown(cudaGraphConditionalHandle h, int* p) {
  int left = atomicSub(p, 1) - 1;
  cudaGraphSetConditional(h, left > 0);
}
"""
plain = 'extern "C" __global__ void add(int* p, int v) { atomicAdd(p, v); }'
code = Program(plain, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
add = code.get_kernel("add")
pinned = LegacyPinnedMemoryResource()
host = pinned.allocate(64)
numbers = np.from_dlpack(host).view(np.int32)
numbers[:] = 0
one = LaunchConfig(grid=1, block=1)


def capture_runs_later():
    numbers[0] = 0
    builder = device.create_graph_builder().begin_building()
    launch(builder, one, add, host.handle, 1)
    launch(builder, one, add, host.handle, 2)
    graph = builder.end_building().complete()
    stream.sync()
    assert numbers[0] == 0
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert numbers[0] == 9, numbers[0]


def forks_join():
    numbers[0] = 0
    first = device.create_graph_builder().begin_building()
    launch(first, one, add, host.handle, 1)
    left, right = first.split(2)
    launch(left, one, add, host.handle, 10)
    launch(right, one, add, host.handle, 100)
    joined = type(first).join(left, right)
    launch(joined, one, add, host.handle, 1000)
    graph = joined.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 1111, numbers[0]


def updates_replace_parameters():
    numbers[0] = 0

    def built(value):
        builder = device.create_graph_builder().begin_building()
        launch(builder, one, add, host.handle, value)
        return builder.end_building()

    graph = built(1).complete()
    graph.launch(stream)
    graph.update(built(5))
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 6, numbers[0]


def embeds_and_calls_back():
    numbers[0] = 0
    calls = []
    child = device.create_graph_builder().begin_building()
    launch(child, one, add, host.handle, 7)
    child.end_building()
    parent = device.create_graph_builder().begin_building()
    parent.embed(child)
    parent.callback(lambda: calls.append(int(numbers[0])))
    graph = parent.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert calls == [7], calls


def explicit_nodes():
    numbers[:] = 0
    definition = GraphDefinition()
    first = definition.launch(one, add, host.handle, 3)
    fill = first.memset(host.handle + 4, 0xAB, 4)
    copy = fill.memcpy(host.handle + 8, host.handle + 4, 4)
    event = device.create_event()
    copy.record(event)
    assert len(definition.nodes()) == 4 and len(definition.edges()) == 3
    assert copy.type is not None and copy.size == 4 and fill.width == 4
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 3 and numbers.view(np.uint32)[2] == 0xABABABAB, numbers
    assert event.is_done
    view = graph[first]
    view.update(config=one, kernel=add, args=(host.handle, 40))
    graph[fill].disable()
    numbers[1] = 0
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 43 and numbers[1] == 0 and not graph[fill].is_enabled


def allocation_nodes():
    definition = GraphDefinition()
    allocation = definition.allocate(1024)
    fill = allocation.memset(allocation.dptr, 1, 1024)
    copy = fill.memcpy(host.handle, allocation.dptr, 4)
    copy.deallocate(allocation.dptr)
    graph = definition.instantiate()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert numbers[0] == 0x01010101, hex(numbers[0])


def captured_memory():
    from cuda.core import GraphMemoryResource

    resource = GraphMemoryResource(device)
    builder = device.create_graph_builder().begin_building()
    buffer = resource.allocate(256, stream=builder)
    buffer.fill(2, stream=builder)
    host_part = type(buffer).from_handle(host.handle, 64)
    small = type(buffer).from_handle(buffer.handle, 64)
    host_part.copy_from(small, stream=builder)
    buffer.close(builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert numbers[3] == 0x02020202
    resource.trim()  # until then a graph keeps its memory, on an H100 too
    assert resource.attributes.used_mem_current == 0


def dot_file():
    definition = GraphDefinition()
    definition.launch(one, add, host.handle, 3).empty() if hasattr(definition, "nothing") else None
    definition.launch(one, add, host.handle, 3)
    path = os.path.join(tempfile.mkdtemp(), "graph.dot")
    definition.debug_dot_print(path)
    assert "digraph" in pathlib.Path(path).read_text()


def conditions():
    options = ProgramOptions(arch=f"sm_{device.arch}")
    module = Program(source, "c++", options=options).compile("cubin")
    set_value, countdown, add_more = (module.get_kernel(n) for n in ("set", "countdown", "add"))
    numbers[:] = 0
    definition = GraphDefinition()
    condition = definition.create_condition(default_value=0)
    node = definition.launch(one, set_value, condition, 1).if_then(condition)
    node.then.launch(one, add_more, host.handle, 5)
    definition.instantiate().launch(stream)
    stream.sync()
    assert numbers[0] == 5, numbers[0]

    numbers[0], numbers[1] = 0, 4
    builder = device.create_graph_builder().begin_building()
    again = builder.create_condition(default_value=1)
    body = builder.while_loop(again).begin_building()
    launch(body, one, add_more, host.handle, 1)
    launch(body, one, countdown, again, host.handle + 4)
    body.end_building()
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 4, numbers[0]


def options_are_taken():
    builder = device.create_graph_builder().begin_building()
    launch(builder, one, add, host.handle, 1)
    builder.end_building()
    builder.complete(GraphCompleteOptions(upload_stream=stream)).launch(stream)
    builder.complete(GraphCompleteOptions(use_node_priority=True)).upload(stream)
    stream.sync()


def c_callbacks():
    seen = []
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    function = prototype(lambda data: seen.append(ctypes.string_at(data, 3)))
    definition = GraphDefinition()
    definition.callback(function, user_data=b"abc")
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert seen == [b"abc"], seen


for part in (
    capture_runs_later,
    forks_join,
    updates_replace_parameters,
    embeds_and_calls_back,
    explicit_nodes,
    allocation_nodes,
    captured_memory,
    dot_file,
    conditions,
    options_are_taken,
    c_callbacks,
):
    checked(part.__name__, part)
