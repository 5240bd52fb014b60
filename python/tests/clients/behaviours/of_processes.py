"""What another process makes of memory, pools and events that are sent to it: each is looked at there, once for all
snippets."""

import functools
import importlib
import multiprocessing
import re

import common
from common import each

LOOKS = {
    "pool": [
        "is_ipc_enabled",
        "is_mapped",
        "is_closed",
        "is_handle_owned",
        "device_id",
        "is_device_accessible",
        "is_host_accessible",
        "is_managed",
        "peer_accessible_by",
    ]
    + [
        "type(x)",
        "x.attributes.used_mem_current",
        "type(x.uuid)",
        "x.allocate(16, stream=stream)",
        "type(x.allocation_handle).__name__",
        "hash(x) == hash(x)",
        "x == type(x).from_registry(x.uuid)",
        "type(x).from_registry(x.uuid) is x",
        "x.register(x.uuid) is x",
        "type(x).from_allocation_handle(core.Device(), x.allocation_handle) is x",
        "type(x).from_allocation_handle(core.Device(), x.allocation_handle).uuid == x.uuid",
        "core.Buffer.from_ipc_descriptor(x, sent, stream=stream).size",
        "b = core.Buffer.from_ipc_descriptor(x, sent, stream=stream); b.memory_resource is x, b.is_mapped, b.owner",
        "b = core.Buffer.from_ipc_descriptor(x, sent, stream=stream); b.is_device_accessible, b.is_host_accessible",
        "b = core.Buffer.from_ipc_descriptor(x, sent, stream=stream); b.ipc_descriptor.size, type(b.__reduce__())",
        "b = core.Buffer.from_ipc_descriptor(x, sent, stream=stream); b.__dlpack_device__()",
        "b = core.Buffer.from_ipc_descriptor(x, sent, stream=stream); b.close(); b.close(); b.is_closed, b.size",
        "b, c = (core.Buffer.from_ipc_descriptor(x, sent, stream=stream) for _ in 'bc'); b.handle == c.handle, b == c",
        "core.Buffer.from_ipc_descriptor(x, sent)",
        "x.close(); x.is_closed",
        "x.close(); x.allocate(16, stream=stream)",
    ],
    "host_pool": [
        "is_ipc_enabled",
        "is_mapped",
        "is_handle_owned",
        "device_id",
        "is_device_accessible",
        "is_host_accessible",
    ]
    + ["type(x)", "x.allocate(16, stream=stream)", "core.Buffer.from_ipc_descriptor(x, sent, stream=stream).size"],
    "buffer": [
        "size",
        "is_mapped",
        "is_closed",
        "device_id",
        "is_device_accessible",
        "is_host_accessible",
        "is_managed",
        "owner",
    ]
    + [
        "type(x)",
        "x.memory_resource.is_mapped, type(x.memory_resource)",
        "x.fill(9, stream=stream); stream.sync()",
        "x.copy_to(core.LegacyPinnedMemoryResource().allocate(64), stream=stream).size",
        "x.ipc_descriptor.size",
        "x.close(stream); x.is_closed",
    ],
    "event": ["is_ipc_enabled", "is_timing_enabled", "is_blocking_sync", "is_closed", "is_done", "device", "context"]
    + [
        "type(x)",
        "x.sync()",
        "stream.wait(x)",
        "stream.record(x)",
        "x - x",
        "x - stream.record(options={'timing_enabled': True})",
        "x.ipc_descriptor == sent",
        "hash(x) == hash(x), x == x",
        "x == core.Event.from_ipc_descriptor(sent)",
        "x.close(); x.close(); x.is_closed",
    ],
}
NOT_SENT = {  # by plain pickle, and to a process
    "thing": [
        "pool",
        "plain",
        "buffer",
        "block",
        "event",
        "plain_event",
        "stream",
        "kernel",
        "cubin",
        "device",
        "ended",
        "program",
        "linker",
        "pinned",
        "managed_pool",
        "context",
        "legacy",
        "one",
        "host",
        "descriptor",
        "handle",
    ],
    "way": ["dumps", "to_process"],
}

BEHAVIOURS = [
    *(f"seen_there({kind!r}, {look!r})" for kind, looks in LOOKS.items() for look in looks),
    *each("raised(lambda: {way}({thing}))", **NOT_SENT),
]


def look(package, connection):
    """In the other process: the outcomes of the looks at what is received there."""
    core = importlib.import_module(package)
    device = core.Device()
    device.set_current()
    while (message := connection.recv()) is not None:
        expression, x, sent = message
        names = {"core": core, "device": device, "stream": device.create_stream(), "x": x, "sent": sent}
        *statements, last = [f"x.{expression}"] if expression.isidentifier() else expression.split("; ")
        try:
            exec("; ".join(statements), names)
            told = common.shown(eval(last, names))
        except Exception as error:
            told = f"raises {common.kind_of_error(error)}"
        connection.send(told)


def names(shared):
    core, device, stream = shared.core, shared.device, shared.stream
    spawning = multiprocessing.get_context("spawn")

    @functools.cache
    def process():
        here, there = spawning.Pipe()
        package = re.sub(r"\.cu1\d", "", core.__name__)
        spawning.Process(target=look, args=(package, there), daemon=True).start()
        there.close()
        return here

    def pool():
        return core.DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 22})

    kept = []

    def sent(kind):
        """Something new of that kind, and what else goes with it."""
        if kind == "event":
            event = stream.record(options={"ipc_enabled": True})
            stream.sync()
            kept.append(event)
            return event, event.ipc_descriptor
        of = pool() if kind != "host_pool" else core.PinnedMemoryResource({"ipc_enabled": True, "max_size": 1 << 22})
        block = of.allocate(64, stream=stream)
        stream.sync()
        kept.append(block)
        return (block if kind == "buffer" else of), block.ipc_descriptor

    def seen_there(kind, expression):
        connection = process()
        connection.send((expression, *sent(kind)))
        return connection.recv()

    def to_process(thing):
        here, there = spawning.Pipe()
        there.send(thing)

    def linker():
        return core.Linker(shared.ptx)

    shared_pool = pool()
    return {
        "seen_there": seen_there,
        "dumps": shared.pickle.dumps,
        "to_process": to_process,
        "pool": shared_pool,
        "plain": core.DeviceMemoryResource(device, {}),
        "block": shared_pool.allocate(64, stream=stream),
        "event": stream.record(options={"ipc_enabled": True}),
        "plain_event": stream.record(),
        "ended": shared.graph.GraphDefinition().instantiate(),
        "program": core.Program(shared.SOURCE, "c++", {"arch": shared.arch}),
        "linker": linker(),
        "managed_pool": core.ManagedMemoryResource(),
        "context": device.context,
        "legacy": core.LEGACY_DEFAULT_STREAM,
        "host": core.Host(),
        "descriptor": shared_pool.allocate(64, stream=stream).ipc_descriptor,
        "handle": shared_pool.allocation_handle,
    }
