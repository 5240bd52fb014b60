"""What is sent through pools of processes: by every way of a pool, alone and within other things, and back again."""

import concurrent.futures
import functools
import importlib
import multiprocessing
import multiprocessing.reduction
import re

import common
from common import each, rows

WAYS = "apply apply_async map imap imap_unordered starmap submit queue"
# What is sent | what is asked of it there
THERE = """
pool | type(x) | x.is_mapped, x.is_ipc_enabled, x.is_closed | x.device_id | x == x, hash(x) == hash(x)
pool | x.allocate(16, stream=stream) | x is type(x).from_registry(x.uuid)
host_pool | type(x) | x.is_mapped, x.is_host_accessible | x.numa_id
buffer | type(x) | x.size, x.is_mapped, x.is_closed, x.owner | x.memory_resource.is_mapped | x.close(); x.size
buffer | x.fill(7, stream=stream); stream.sync() | bytes(host_copy(x))[:4] | x.ipc_descriptor.size
event | type(x) | x.is_done, x.is_ipc_enabled, x.is_timing_enabled | x.sync() | stream.wait(x) | x.device, x.context
pair | type(x[0]), type(x[1]) | x[1].memory_resource is x[0] | x[1].memory_resource == x[0]
twice | x[0] is x[1], x[0] == x[1] | x[0].handle == x[1].handle
both | x[0] is x[1], x[0].memory_resource is x[1].memory_resource | x[0].handle == x[1].handle
mapping | sorted(x), type(x['b']).__name__ | x['b'].size
cubin | type(x) | x.code_type, x.name | x.get_kernel('k').num_arguments | x.symbol_mapping == {}
device | x.device_id | x is core.Device(0) | type(x)
config | type(x) | x.grid
options | type(x).__name__ | x.arch is None
host | type(x) | x.numa_id | x is core.Host()
descriptor | type(x).__name__ | x.size
handle | type(x).__name__
stream | x
plain_event | x
kernel | x
program | x
definition | x
view | x
"""
# Not events, which the process that made them cannot open: a pool would wait for ever.
BACK = """
buffer | type(y) | y.size, y.is_mapped | y == x | y is x
pool | type(y) | y.is_mapped | y is x | y == x
cubin | y.code == x.code | y.name == x.name
device | y is x
host | y is x
"""

kept = []  # to the end: a pool that is collected warns, in whatever snippet runs then

BEHAVIOURS = [
    *rows("there({way!r}, {name!r}, {value!r})", THERE, way="apply"),
    *each("there({way!r}, {name!r}, {value!r})", way=WAYS, name=["buffer"], value=["type(x)", "x.is_mapped, x.size"]),
    *each("there({way!r}, {name!r}, {value!r})", way=WAYS, name="event pool", value=["type(x)"]),
    *each("there({way!r}, {name!r}, 'x')", way=WAYS, name=["stream", "kernel"]),
    *rows("back({name!r}, {value!r})", BACK),
]


def look(package, expression, x):
    """In the other process: the outcome of the look at what is received there."""
    core = importlib.import_module(package)
    device = core.Device()
    device.set_current()
    stream = device.create_stream()

    def host_copy(buffer):
        copied = core.LegacyPinnedMemoryResource().allocate(buffer.size)
        buffer.copy_to(copied, stream=stream)
        stream.sync()
        return importlib.import_module("numpy").from_dlpack(copied)

    names = {"core": core, "device": device, "stream": stream, "host_copy": host_copy, "x": x}
    *statements, last = expression.split("; ")
    try:
        exec("; ".join(statements), names)
        return common.shown(eval(last, names))
    except Exception as error:
        return f"raises {common.kind_of_error(error)}"


def echo(package, x):
    importlib.import_module(package).Device().set_current()
    return x


def serve(asked, told):
    """The process at the other end of a queue."""
    while (message := asked.get()) is not None:
        told.put(look(*message))


def names(shared):
    core, device, stream = shared.core, shared.device, shared.stream
    spawning = multiprocessing.get_context("spawn")
    package = re.sub(r"\.cu1\d", "", core.__name__)

    @functools.cache
    def pool():
        kept.append(spawning.Pool(1))
        return kept[-1]

    @functools.cache
    def executor():
        kept.append(concurrent.futures.ProcessPoolExecutor(1, mp_context=spawning))
        return kept[-1]

    @functools.cache
    def queues():
        asked, told = spawning.Queue(), spawning.Queue()
        spawning.Process(target=serve, args=(asked, told), daemon=True).start()
        return asked, told

    def ask_queue(expression, x):
        asked, told = queues()
        shared.pickle.dumps(multiprocessing.reduction.ForkingPickler.dumps((expression, x)))  # a queue only prints
        asked.put((package, expression, x))
        return told.get(timeout=60)

    ways = {
        "apply": lambda e, x: pool().apply(look, (package, e, x)),
        "apply_async": lambda e, x: pool().apply_async(look, (package, e, x)).get(60),
        "map": lambda e, x: pool().map(functools.partial(look, package, e), [x])[0],
        "imap": lambda e, x: next(pool().imap(functools.partial(look, package, e), [x])),
        "imap_unordered": lambda e, x: next(pool().imap_unordered(functools.partial(look, package, e), [x])),
        "starmap": lambda e, x: pool().starmap(look, [(package, e, x)])[0],
        "submit": lambda e, x: executor().submit(look, package, e, x).result(60),
        "queue": ask_queue,
    }
    of_device = core.DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 22})
    of_host = core.PinnedMemoryResource({"ipc_enabled": True, "max_size": 1 << 22})
    first, second = (of_device.allocate(64, stream=stream) for _ in range(2))
    first.fill(5, stream=stream)
    event = stream.record(options={"ipc_enabled": True})
    stream.sync()
    sent = {
        "pool": of_device,
        "host_pool": of_host,
        "buffer": first,
        "event": event,
        "pair": (of_device, first),
        "twice": (first, first),
        "both": (first, second),
        "mapping": {"a": 1, "b": first},
        "cubin": shared.cubin,
        "device": device,
        "config": shared.one,
        "options": core.ProgramOptions(arch="sm_90"),
        "host": core.Host(),
        "descriptor": first.ipc_descriptor,
        "handle": of_device.allocation_handle,
        "stream": stream,
        "plain_event": stream.record(),
        "kernel": shared.kernel,
        "program": core.Program(shared.SOURCE, "c++", core.ProgramOptions(arch=shared.arch)),
        "definition": shared.graph.GraphDefinition(),
        "view": shared.View.from_dlpack(shared.np.zeros(4), -1),
    }

    def there(way, kind, expression):
        return ways[way](expression, sent[kind])

    def back(kind, expression):
        x = sent[kind]
        return eval(expression, {"x": x, "y": pool().apply(echo, (package, x))})

    return {"there": there, "back": back}
