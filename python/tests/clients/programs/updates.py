"""A graph is changed after it was made: by its nodes, by another graph, and in its branches."""

import ctypes

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.graph import GraphBuilder, GraphDebugPrintOptions, GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
code = Program(
    'extern "C" __global__ void put(int* x, int v) { *x = v; }'
    'extern "C" __global__ void add(int* x, int v) { atomicAdd(x, v); }',
    "c++",
    ProgramOptions(arch=f"sm_{device.arch}"),
).compile("cubin")
put, add = code.get_kernel("put"), code.get_kernel("add")
one = LaunchConfig(grid=1, block=1)
pinned = LegacyPinnedMemoryResource()
memory, other = pinned.allocate(64), pinned.allocate(64)
values = np.from_dlpack(memory).view(np.int32)
told = []


def run(graph):
    graph.launch(stream)
    stream.sync()
    return int(values[0]), int(values[1])


definition = GraphDefinition()
clear = definition.memset(memory, 0, 64)
left = clear.launch(one, add, memory, 5)
right = clear.launch(one, add, memory, 7)
both = definition.join(left, right)
called = both.callback(lambda: told.append(len(told)))
copied = called.memcpy(int(memory.handle) + 4, memory, 4)
graph = definition.instantiate()
print(run(graph), told, len(definition.nodes()), len(definition.edges()))
left.update(args=(memory, 50))
print(run(graph), run(definition.instantiate()))
graph.update(definition)
print(run(graph))
view = graph[left]
view.update(config=one, kernel=add, args=(memory, 500))
print(type(view).__name__, run(graph), view.is_enabled)
view.disable()
print(run(graph), view.is_enabled)
view.enable()
print(run(graph), [node in definition.nodes() for node in (clear, left, right, both, called, copied)])
print(left.pred == {clear}, set(clear.succ) == {left, right}, right in both.pred, len(copied.succ))
both.pred.discard(right)
right.destroy()
print(right.is_valid, len(definition.nodes()), run(definition.instantiate()))
outer = GraphDefinition()
inner = outer.embed(definition)
print(len(inner.child_graph.nodes()), run(outer.instantiate()), inner.child_graph == definition)

builder = device.create_graph_builder().begin_building()
launch(builder, one, put, memory, 1)
first, second = builder.split(2)
launch(first, one, add, memory, 10)
launch(second, one, add, memory, 100)
joined = GraphBuilder.join(first, second)
joined.callback(lambda: told.append("joined"))
print(joined.is_join_required, joined.is_building, builder.is_building)
captured = joined.end_building().complete()
print(run(captured), told[-1])
again = device.create_graph_builder().begin_building()
launch(again, one, put, memory, 3)
try:
    captured.update(again.end_building())
    print("updated")
except Exception as error:
    print("not updated", type(error).__name__)
print(run(again.complete()))
c_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
kept = []
c_function = c_type(lambda pointer: kept.append(pointer))
plain = GraphDefinition()
plain.callback(c_function, user_data=None)
run(plain.instantiate())
print(kept)
for wrong in (
    lambda: left.pred.add(5),
    lambda: definition.join(5),
    lambda: graph[5],
    lambda: right.launch(one, put, memory, 1),
    lambda: left.update(kernel=put),
    lambda: builder.begin_building(),
    lambda: builder.complete(),
    lambda: definition.memset(memory, b"123", 4),
    lambda: graph.update(5),
    lambda: definition.embed(5),
    lambda: device.create_graph_builder().end_building(),
    lambda: definition.memcpy(memory, other, -1),
    lambda: device.create_graph_builder().begin_building("x"),
):
    try:
        print("taken", type(wrong()).__name__)
    except Exception as error:
        print(
            [
                kind.__name__
                for kind in type(error).__mro__
                if kind.__module__ == "builtins" or kind.__name__ == "CUDAError"
            ][0]
        )
print(GraphDebugPrintOptions(verbose=True).verbose, GraphDebugPrintOptions().handles)
