"""Halves a number in a graph until it is 1: the kernel sets the condition of the loop it is in."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.graph import GraphCompleteOptions, GraphDefinition

SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void halve(cudaGraphConditionalHandle goes_on, int* number, int* steps) {
  *number = *number % 2 ? 3 * *number + 1 : *number / 2;
  ++*steps;
  cudaGraphSetConditional(goes_on, *number != 1);
}
extern "C" __global__ void choose(cudaGraphConditionalHandle branch, int* number) {
  cudaGraphSetConditional(branch, *number % 3);
}
extern "C" __global__ void put(int* out, int value) { *out = value; }
"""
device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
halve, choose, put = (code.get_kernel(name) for name in ("halve", "choose", "put"))
one = LaunchConfig(grid=1, block=1)
memory = LegacyPinnedMemoryResource().allocate(16)
values = np.from_dlpack(memory).view(np.int32)
number, steps, out = (int(memory.handle) + 4 * place for place in range(3))

# By capturing streams.
builder = device.create_graph_builder().begin_building()
condition = builder.create_condition(default_value=1)
body = builder.while_loop(condition)
body.begin_building()
launch(body, one, halve, condition, number, steps)
body.end_building()
graph = builder.end_building().complete(options=GraphCompleteOptions(auto_free_on_launch=True))
for begin in (6, 7, 27):
    values[:2] = begin, 0
    graph.upload(stream)
    graph.launch(stream)
    stream.sync()
    print(begin, values[:2].tolist())
builder.close()

# The same, and a switch, by nodes.
definition = GraphDefinition()
goes_on = definition.create_condition(default_value=1)
loop = definition.while_loop(goes_on)
inner = loop.body.launch(one, halve, goes_on, number, steps)
branch = definition.create_condition(default_value=0)
chosen = loop.launch(one, choose, branch, steps)
switch = chosen.switch(branch, 3)
for case, graph_of_case in enumerate(switch.branches):
    graph_of_case.launch(one, put, out, np.int32(10 + case))
last = switch.if_else(definition.create_condition(default_value=0))
last.then.launch(one, put, out, -1)
print(len(last.else_.nodes()), last.cond_type, loop.cond_type, switch.cond_type)
executable = definition.instantiate()
for begin in (6, 7, 9):
    values[:3] = begin, 0, 0
    executable.launch(stream)
    stream.sync()
    print(begin, values[:3].tolist())
print(
    len(definition.nodes()),
    len(definition.edges()),
    [type(node).__name__ for node in sorted(definition.nodes(), key=lambda node: type(node).__name__)],
)
print(type(inner).__name__, inner.graph == loop.body, inner in loop.body.nodes(), loop.condition == goes_on)
