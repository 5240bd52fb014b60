"""What every public call of cuda.core costs, of cucore and of NVIDIA's cuda.core in turns in one process.

Usage: call_costs.py [--rounds N] [--only TEXT]
A row is a property read or a call of a public class, made many times in a loop. Both packages take turns on one driver,
so that what the machine does meanwhile happens to both; the numbers are medians over the rounds. A row is `slower` if
cucore takes over 5 % and 10 ns more in at least three of four rounds. Ends with the public methods that have no row.
"""

import argparse
import importlib
import statistics
import sys
import time
from types import SimpleNamespace

import numpy
from timed_loops import kernel_ptx, timed

SECONDS = 1e-3  # that one measurement takes at least
MOST_LOOPS = 4096
SOURCE = 'extern "C" __global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }'


def objects(package):
    """What the statements below name: one object of each public class, all on one device."""
    core = importlib.import_module(package)
    graph, utils = (importlib.import_module(f"{package}.{name}") for name in ("graph", "utils"))
    device = core.Device()
    device.set_current()
    stream, other = device.create_stream(), device.create_stream()
    event = stream.record()
    config = core.LaunchConfig(grid=1, block=1)
    code = core.ObjectCode.from_ptx(kernel_ptx(3).encode())
    kernel = code.get_kernel("empty")
    launch16 = core.ObjectCode.from_ptx(kernel_ptx(16).encode()).get_kernel("empty")
    launch0 = core.ObjectCode.from_ptx(kernel_ptx(0).encode()).get_kernel("empty")
    pool = core.DeviceMemoryResource(device)
    buffer, second = pool.allocate(4096, stream=stream), pool.allocate(4096, stream=stream)
    pinned = core.LegacyPinnedMemoryResource()
    host = pinned.allocate(4096)
    options = core.ProgramOptions(arch=f"sm_{device.arch}")
    program = core.Program(SOURCE, "c++", options)
    definition = graph.GraphDefinition()
    root = definition.empty()
    launched = root.launch(config, kernel, 0, 0, 0)
    filled = root.memset(buffer, 0, 4096)
    copied = root.memcpy(second, buffer, 4096)
    called = root.callback(int)
    recorded, waited = root.record(event), root.wait(event)
    allocated = root.allocate(64)
    freed = allocated.deallocate(allocated.dptr)
    executable = definition.instantiate()
    child = graph.GraphDefinition()
    child.empty()
    array = numpy.zeros(256, numpy.float32)
    return SimpleNamespace(
        core=core,
        graph=graph,
        utils=utils,
        device=device,
        context=device.context,
        stream=stream,
        other=other,
        event=event,
        config=config,
        code=code,
        ptx=kernel_ptx(3).encode(),
        kernel=kernel,
        launch0=launch0,
        launch16=launch16,
        occupancy=kernel.occupancy,
        attributes=kernel.attributes,
        device_properties=device.properties,
        pool=pool,
        pool_attributes=pool.attributes,
        graph_memory=core.GraphMemoryResource(device),
        virtual=core.VirtualMemoryResource(device),
        buffer=buffer,
        second=second,
        pinned=pinned,
        host=host,
        options=options,
        linker_options=core.LinkerOptions(arch=f"sm_{device.arch}"),
        program=program,
        definition=definition,
        child=child,
        root=root,
        launched=launched,
        filled=filled,
        copied=copied,
        called=called,
        recorded=recorded,
        waited=waited,
        allocated=allocated,
        freed=freed,
        executable=executable,
        view=utils.StridedMemoryView.from_any_interface(array, -1),
        array=array,
        cache=utils.InMemoryProgramCache(),
        key=b"a key of a program's",
    )


# Objects above whose every public property is read.
READ = (
    "device",
    "context",
    "stream",
    "event",
    "config",
    "code",
    "kernel",
    "occupancy",
    "attributes",
    "device_properties",
    "pool",
    "pool_attributes",
    "graph_memory",
    "virtual",
    "buffer",
    "host",
    "pinned",
    "program",
    "launched",
    "filled",
    "copied",
    "called",
    "recorded",
    "waited",
    "allocated",
    "freed",
    "definition",
    "executable",
    "view",
)

# What is called: name of the row -> statement over the names of objects().
CALLS = {
    "Device()": "core.Device()",
    "Device.get_all_devices": "core.Device.get_all_devices()",
    "Device.set_current": "device.set_current()",
    "Device.sync": "device.sync()",
    "Device.allocate, Buffer.close": "device.allocate(4096, stream=stream).close(stream)",
    "Device.can_access_peer": "device.can_access_peer(device)",
    "Device.create_stream, Stream.close": "device.create_stream().close()",
    "Device.create_event, Event.close": "device.create_event().close()",
    "Device.create_graph_builder, GraphBuilder.close": "device.create_graph_builder().close()",
    "Device == Device": "device == device",
    "hash(Device)": "hash(device)",
    "Stream.record(event)": "stream.record(event)",
    "Stream.record()": "stream.record()",
    "Stream.wait(event)": "stream.wait(event)",
    "Stream.wait(stream)": "stream.wait(other)",
    "Stream.sync, idle": "stream.sync()",
    "Stream.from_handle": "core.Stream.from_handle(int(stream.handle))",
    "Stream == Stream": "stream == other",
    "hash(Stream)": "hash(stream)",
    "Event.sync, done": "event.sync()",
    "Event == Event": "event == event",
    "LaunchConfig()": "core.LaunchConfig(grid=(1, 2, 3), block=64, shmem_size=128)",
    "launch, 0 arguments": "core.launch(stream, config, launch0)",
    "launch, 3 arguments": "core.launch(stream, config, kernel, 0, 0, 0)",
    "launch, 16 arguments": "core.launch(stream, config, launch16, " + "0, " * 16 + ")",
    "launch, a Buffer": "core.launch(stream, config, kernel, buffer, 0, 0)",
    "launch, NumPy scalars": "core.launch(stream, config, kernel, array[0], array[1], 0)",
    "ObjectCode.from_ptx": "core.ObjectCode.from_ptx(ptx)",
    "ObjectCode.get_kernel": "code.get_kernel('empty')",
    "ObjectCode.from_ptx, get_kernel, unload": "core.ObjectCode.from_ptx(ptx).get_kernel('empty')",
    "Kernel.from_handle": "core.Kernel.from_handle(int(kernel.handle))",
    "Occupancy.max_active_blocks_per_multiprocessor": "occupancy.max_active_blocks_per_multiprocessor(128, 0)",
    "Occupancy.max_potential_block_size": "occupancy.max_potential_block_size(0, 1024)",
    "DeviceMemoryResource.allocate, Buffer.close": "pool.allocate(4096, stream=stream).close(stream)",
    "LegacyPinnedMemoryResource.allocate, Buffer.close": "pinned.allocate(4096).close()",
    "VirtualMemoryResource.allocate, Buffer.close": "virtual.allocate(4096).close()",
    "Buffer.copy_to": "buffer.copy_to(second, stream=stream)",
    "Buffer.copy_from": "buffer.copy_from(second, stream=stream)",
    "Buffer.copy_to, from the device": "buffer.copy_to(host, stream=stream)",
    "Buffer.fill": "buffer.fill(0, stream=stream)",
    "Buffer.from_handle": "core.Buffer.from_handle(buffer.handle, 16, owner=buffer)",
    "Buffer.__dlpack__": "buffer.__dlpack__()",
    "Buffer.__dlpack_device__": "buffer.__dlpack_device__()",
    "ProgramOptions()": "core.ProgramOptions(std='c++17', debug=True)",
    "ProgramOptions.as_bytes": "options.as_bytes('nvrtc')",
    "LinkerOptions()": "core.LinkerOptions(arch='sm_80')",
    "LinkerOptions.as_bytes": "linker_options.as_bytes()",
    "Program()": "core.Program('', 'c++').close()",
    "Program(), compile": "core.Program('', 'c++', options).compile('ptx')",
    "GraphDefinition()": "graph.GraphDefinition()",
    "GraphDefinition.empty": "graph.GraphDefinition().empty()",
    "GraphDefinition.launch": "graph.GraphDefinition().launch(config, kernel, 0, 0, 0)",
    "GraphDefinition.memset": "graph.GraphDefinition().memset(buffer, 0, 64)",
    "GraphDefinition.memcpy": "graph.GraphDefinition().memcpy(second, buffer, 64)",
    "GraphDefinition.callback": "graph.GraphDefinition().callback(int)",
    "GraphDefinition.record": "graph.GraphDefinition().record(event)",
    "GraphDefinition.wait": "graph.GraphDefinition().wait(event)",
    "GraphDefinition.allocate": "graph.GraphDefinition().allocate(64)",
    "GraphDefinition.embed": "graph.GraphDefinition().embed(child)",
    "GraphDefinition.nodes": "definition.nodes()",
    "GraphDefinition.edges": "definition.edges()",
    "GraphDefinition.instantiate": "graph.GraphDefinition().instantiate()",
    "GraphDefinition.create_condition": "graph.GraphDefinition().create_condition(default_value=1)",
    "Graph.upload": "executable.upload(stream)",
    "Graph.launch": "executable.launch(stream)",
    "Graph.update": "executable.update(definition)",
    "GraphBuilder, captured": (
        "it = device.create_graph_builder().begin_building(); core.launch(it, config, launch0); it.end_building()"
    ),
    "StridedMemoryView.from_any_interface": "utils.StridedMemoryView.from_any_interface(array, stream_ptr=-1)",
    "StridedMemoryView.from_dlpack": "utils.StridedMemoryView.from_dlpack(array, stream_ptr=-1)",
    "StridedMemoryView.from_array_interface": "utils.StridedMemoryView.from_array_interface(array)",
    "StridedMemoryView.from_buffer": "utils.StridedMemoryView.from_buffer(buffer, (64,), dtype=array.dtype)",
    "StridedMemoryView.view": "view.view((16, 16))",
    "InMemoryProgramCache.get": "cache.get(key)",
    "InMemoryProgramCache, set": "cache[key] = code",
}


def readings(package, things):
    """(row, statement) of every public property of the objects in READ."""
    for name in READ:
        thing = getattr(things, name)
        for attribute in sorted(dir(type(thing))):
            if attribute.startswith("_") or callable(getattr(type(thing), attribute)):
                continue
            yield f"{type(thing).__name__}.{attribute}", f"{name}.{attribute}"


def loops_for(run):
    loops = 1
    while loops < MOST_LOOPS and run(loops) < SECONDS:
        loops *= 2
    return loops


def refusal(things, statement):
    try:
        exec(statement, vars(things).copy())
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"
    return None


def compared(row, statement, sides, rounds):
    """The row's line, and whether cucore is slower."""
    refused = [(who, refusal(things, statement)) for who, things in sides.items()]
    if any(said for _, said in refused):
        return f"  {row:<58}not timed: " + "; ".join(f"{who}: {said}" for who, said in refused if said), False
    runs = {}
    for who, things in sides.items():
        runs[who] = timed(things.stream.sync, statement, **vars(things))
    loops = min(loops_for(run) for run in runs.values())
    took = {who: [] for who in runs}
    for _ in range(rounds):
        for who, run in runs.items():
            took[who].append(run(loops) / loops * 1e9)
    ours, theirs = took.values()
    more = [a > 1.05 * b and a > b + 10 for a, b in zip(ours, theirs, strict=True)]
    slower = sum(more) >= 0.75 * rounds
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    numbers = f"{statistics.median(ours):12.0f}{statistics.median(theirs):12.0f}{ratio:8.2f}"
    return f"  {row:<58}{numbers}{'  slower' if slower else ''}", slower


def methods_without_a_row(things):
    """Public methods of the objects' classes that no statement calls."""
    said = " ".join(CALLS.values())
    for name in sorted(vars(things)):
        thing = getattr(things, name)
        if not type(thing).__module__.startswith("cuda."):
            continue
        for attribute in sorted(dir(type(thing))):
            is_method = not attribute.startswith("_") and callable(getattr(type(thing), attribute))
            if is_method and f".{attribute}(" not in said:
                yield f"{type(thing).__name__}.{attribute}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="rows that contain this")
    arguments = parser.parse_args()
    start = time.monotonic()
    sides = {package: objects(package) for package in ("cucore", "cuda.core")}
    print("Every public call, in turns in one process (medians of ns a call)")
    print(f"  {'call':<58}{'cucore':>12}{'cuda.core':>12}{'ratio':>8}")
    rows = dict(readings("cuda.core", sides["cuda.core"])) | CALLS
    slower = []
    for row, statement in rows.items():
        if arguments.only in row:
            line, worse = compared(row, statement, sides, arguments.rounds)
            print(line, flush=True)
            slower += [row] if worse else []
    print(f"{len(rows)} rows, {len(slower)} slower: {', '.join(slower) or 'none'} ({time.monotonic() - start:.0f} s)")
    print("Methods without a row:", ", ".join(sorted(set(methods_without_a_row(sides["cuda.core"])))))


if __name__ == "__main__":
    sys.exit(main())
