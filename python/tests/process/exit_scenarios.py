"""The exit matrix: programs that end with live objects, in every way a process can end.

Each is a text for a process of its own, run after START. By default the exit status is 0, both outputs are empty, and
the CPU device finds nothing alive at exit (which it would write to stderr); Scenario's fields say otherwise.
"""

from dataclasses import dataclass, field

START = """
import atexit, gc, os, signal, sys, threading, time, weakref
import cucore
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell starts with it ignored
PTX = (b".version 7.0\\n.target sm_70\\n.address_size 64\\n"
       b".visible .entry k(.param .u64 p)\\n{\\n  ret;\\n}\\n.visible .global .u32 variable;\\n"
       b".visible .entry spin(.param .u64 flag)\\n{\\n  .reg .u64 %a; .reg .u32 %v; .reg .pred %p;\\n"
       b"  ld.param.u64 %a, [flag];\\nagain:\\n  ld.volatile.u32 %v, [%a];\\n  setp.eq.u32 %p, %v, 0;\\n"
       b"  @%p bra again;\\n  ret;\\n}\\n")
def make():
    global device, stream, event, buffer, pinned, code, kernel, config, pool, resource
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    event = stream.record(options={"timing_enabled": True})
    buffer = device.allocate(1 << 16, stream=stream)
    pinned = cucore.LegacyPinnedMemoryResource().allocate(64)
    resource = cucore.DeviceMemoryResource(device, cucore.DeviceMemoryResourceOptions())
    code = cucore.ObjectCode.from_ptx(PTX)
    kernel = code.get_kernel("k")
    config = cucore.LaunchConfig(grid=1, block=1)
    pool = cucore.EventPool(device)
    launch()
def launch():
    cucore.launch(stream, config, kernel, buffer)
def everything():
    return [device, stream, event, buffer, pinned, resource, code, kernel, config, pool, device.context]
"""


@dataclass
class Scenario:
    text: str
    status: int = 0
    stderr: str | None = ""  # None: the text is the scenario's own to check, in `stderr_ends`
    stderr_ends: str = ""
    stdout: str = ""
    made: bool = True  # START's objects are made first
    cpu_only: str = ""  # why NVIDIA's driver cannot pass it
    environment: dict = field(default_factory=dict)


# One object of each kind, alone, in each place where it can outlive the program's last line.
OBJECTS = {
    "a stream": "stream",
    "an event": "event",
    "a pooled event": "pool.get()",
    "an event pool": "pool",
    "the device's event pool": "device.event_pool",
    "a buffer": "buffer",
    "a pinned buffer": "pinned",
    "a memory resource of its own": "resource",
    "a buffer of a resource": "resource.allocate(64, stream=stream)",
    "loaded code": "code",
    "a kernel": "kernel",
    "a context": "device.context",
    "a green context": "device.partition([device.resources.sm.min_partition_size])[0]",
    "a green stream": "device.partition([device.resources.sm.min_partition_size])[0].create_stream()",
    "resources": "device.resources.sm",
    "a device": "device",
    "a timer": "stream.timer().__enter__()",
    "a timer with a time": "timer_with_a_time()",
    "a foreign stream": "device.create_stream(Foreign())",
    "a future": "stream.record().future()",
    "a buffer in the order of a foreign stream": "device.allocate(64, stream=device.create_stream(Foreign()))",
    "a launcher": "kernel.launcher(config)",
    "a launcher with a stream": "kernel[1, 1, 0, stream]",
    "a program": "cucore.Program('extern \"C\" __global__ void k() {}', 'c++')",
    "a linker": "cucore.Linker(code, options={'arch': 'sm_80'})",
    "a pinned pool": "cucore.PinnedMemoryResource()",
    "the properties of a device": "device.properties",
    "graphs, their nodes and callbacks": "graphs()",
}
PLACES = {
    "a global": "kept = {}",
    "a cycle": "class Holder: pass\nholder = Holder(); holder.me = holder; holder.kept = {}\ndel holder",
    "a default argument of a function of another module": "import string\nstring.kept = (lambda x={}: x)",
}
NAMES = "device stream event buffer pinned resource code kernel pool"
ALONE = """
class Foreign:
    def __cuda_stream__(self): return 0, int(stream.handle)
def timer_with_a_time():
    with stream.timer() as timer: pass
    timer.ms
    return timer
def graphs():
    definition = cucore.graph.GraphDefinition()
    node = definition.launch(config, kernel, buffer).memset(buffer, 0, 4).callback(time.time)
    condition = definition.create_condition()
    branch = node.record(event).if_then(condition)
    child = cucore.graph.GraphDefinition()
    child.memset(buffer, 0, 4)
    embedded = definition.embed(child)
    graph = definition.instantiate()
    graph[embedded].update(child)
    graph.launch(stream); stream.sync()
    return definition, node, condition, branch.then, graph, graph[next(iter(node.pred))], node.pred, child.clone()
"""
SCENARIOS = {
    f"{what} in {place}": Scenario(ALONE + text.format(expression) + f"\ndel {', '.join(NAMES.split())}\n")
    for what, expression in OBJECTS.items()
    for place, text in PLACES.items()
}

ENDINGS = {
    "the program falls off its end": Scenario(""),
    "sys.exit with a status": Scenario("sys.exit(5)", 5),
    "sys.exit with nothing": Scenario("sys.exit()"),
    "sys.exit with a text": Scenario("sys.exit('enough')", 1, stderr="enough\n"),
    "SystemExit from a function that holds objects": Scenario(
        """
def leave():
    mine = everything(); own = device.create_stream()
    raise SystemExit(4)
leave()
""",
        4,
    ),
    "os._exit": Scenario("os._exit(7)", 7),
    "os._exit while a kernel runs": Scenario(
        """
flag = memoryview(pinned).cast("I"); flag[0] = 0
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
os._exit(7)
""",
        7,
    ),
    "an uncaught exception": Scenario(
        "def f():\n    mine = everything()\n    raise KeyError('mine')\nf()", 1, None, "KeyError: 'mine'\n"
    ),
    "an uncaught exception that keeps everything in its traceback": Scenario("""
def inner(*held): raise ValueError('kept')
try: inner(*everything())
except ValueError as error: sys.last_value = error; kept = error
"""),
    "an uncaught CUDAError": Scenario(
        "device.allocate(1 << 50, stream=stream)",
        1,
        None,
        "or allocate less\n",
    ),
    "SIGINT in the program": Scenario(
        "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)", -2, None, "KeyboardInterrupt\n"
    ),
    "SIGINT that is caught": Scenario(
        """
try: os.kill(os.getpid(), signal.SIGINT); time.sleep(5)
except KeyboardInterrupt: sys.exit(9)
""",
        9,
    ),
    "SIGINT in a sync of unfinished work": Scenario(
        """
flag = memoryview(pinned).cast("I"); flag[0] = 0
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
def later():
    time.sleep(0.2); os.kill(os.getpid(), signal.SIGINT); time.sleep(0.1); flag[0] = 1
thread = threading.Thread(target=later)
try: thread.start(); stream.sync()
except KeyboardInterrupt: thread.join(); flag.release(); sys.exit(9)
""",
        9,
    ),
    "SIGINT in a sync with a timeout, which it ends": Scenario(
        """
flag = memoryview(pinned).cast("I"); flag[0] = 0
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
try:
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    stream.sync(timeout=60)
except KeyboardInterrupt: flag[0] = 1; flag.release(); sys.exit(9)
""",
        9,
    ),
    "SIGTERM": Scenario("os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)", -15),
    "work is pending": Scenario("for _ in range(50): launch()"),
    "closed in dependency order": Scenario("for x in (buffer, pinned, event, pool, stream, resource): x.close()"),
    "closed in a foolish order": Scenario(
        "pool.close(); resource.close(); stream.close(); buffer.close(); event.close(); del code, kernel"
    ),
    "closed twice": Scenario("for x in 2 * [buffer, pinned, event, pool, stream, resource]: x.close()"),
    "closed by with": Scenario("""
with device.create_stream() as s, device.allocate(64, stream=s) as b, pool.get() as e, pool: e.record(s)
"""),
    "with left by SystemExit": Scenario(
        """
with device.create_stream() as s, device.allocate(64, stream=s) as b: raise SystemExit(6)
""",
        6,
    ),
    "atexit uses everything": Scenario("""
def last(): launch(); stream.sync(); buffer.close(); stream.close(); event.close()
atexit.register(last)
"""),
    "atexit makes the first object": Scenario("atexit.register(make)", made=False),
    "atexit handler that raises": Scenario(
        "atexit.register(lambda held=everything(): 1 / 0)", 0, None, "ZeroDivisionError: division by zero\n"
    ),
    "everything in one cycle with the collector off": Scenario("""
class Holder: pass
holder = Holder(); holder.me = holder; holder.everything = everything(); holder.stream = stream; holder.buffer = buffer
gc.disable()
"""),
    "a cycle collected before the end": Scenario("""
class Holder: pass
def f():
    holder = Holder(); holder.me = holder; s = device.create_stream(); holder.stream = s
    return weakref.ref(s)
gone = f(); gc.collect(); assert gone() is None
"""),
    "finalizers that read handles": Scenario("""
class Last:
    def __del__(self):
        assert stream.handle is None or isinstance(stream.handle, int)
        event.handle; buffer.handle; kernel.handle; device.context.handle
keep = Last(); keep.cycle = keep
"""),
    "finalizers that launch": Scenario("""
class Last:
    def __init__(self): self.held = everything(); self.launch = cucore.launch
    def __del__(self):
        _, stream, _, buffer, _, _, _, kernel, config, *_ = self.held
        self.launch(stream, config, kernel, buffer); stream.sync()
keep = Last()
"""),
    "finalizers that raise": Scenario(
        """
class Raises:
    def __init__(self): self.held = everything()
    def __del__(self): raise ValueError('in a finalizer')
keep = Raises()
""",
        0,
        None,
        "ValueError: in a finalizer\n",
    ),
    "weakref callbacks that raise": Scenario(
        """
def callback(_): raise ValueError('in a callback')
ref = weakref.ref(event, callback)
del event
""",
        0,
        None,
        "ValueError: in a callback\n",
    ),
    "weakref.finalize that closes another": Scenario("""
weakref.finalize(stream, lambda: buffer.close()); weakref.finalize(buffer, lambda: None)
for x in everything(): weakref.finalize(x, int)
"""),
    "a finalizer that brings its object back": Scenario("""
class Phoenix(cucore.MemoryResource):
    is_device_accessible = False; is_host_accessible = True; device_id = -1
    def deallocate(self, ptr, size, *, stream): pass
    def __del__(self): globals()["back"] = self
keep = Phoenix(); del keep; assert back
"""),
    "the module is torn out": Scenario('sys.modules.pop("cucore"); sys.modules.pop("cucore._core"); del cucore'),
    "the package is imported anew": Scenario("""
for name in [n for n in sys.modules if n.startswith("cucore") and n != "cucore._core"]: del sys.modules[name]
import cucore as again
again.Device().set_current(); kept = again.Device().create_stream()
"""),
    "importlib.reload": Scenario("""
import importlib
importlib.reload(cucore); importlib.reload(sys.modules["cucore._waiting"]) if "cucore._waiting" in sys.modules else None
kept = cucore.Device().create_stream()
"""),
    "nothing but an import": Scenario("", made=False),
    "a device that was only asked": Scenario("d = cucore.Device(); d.name; d.properties.warp_size", made=False),
    "a device made current and no more": Scenario("cucore.Device().set_current()", made=False),
    "a generator that is not finished": Scenario("""
def generate():
    with device.create_stream() as s, device.allocate(64, stream=s):
        while True: yield s
kept = generate(); next(kept)
"""),
    "a resource written in Python is alive": Scenario("""
class Mine(cucore.MemoryResource):
    is_device_accessible = False; is_host_accessible = True; device_id = -1
    def deallocate(self, ptr, size, *, stream): pass
kept = cucore.Buffer.from_handle(4096, 16, mr=Mine(), stream=stream)
held = [kept]; held.append(held)
"""),
    "a foreign stream that knows its wrapper": Scenario("""
class Foreign:
    def __cuda_stream__(self): return 0, 2
foreign = Foreign(); foreign.wrapped = device.create_stream(foreign); foreign.held = everything()
gone = weakref.ref(foreign); del foreign; gc.collect(); assert gone() is None
"""),
    "dlpack exports are alive": Scenario("capsule = pinned.__dlpack__(); view = memoryview(pinned)"),
    "logging at exit": Scenario("""
import logging
logging.basicConfig(stream=sys.stdout)
class Last:
    def __del__(self): logging.getLogger().info(repr(stream))
keep = Last()
"""),
    "a graph's callback runs": Scenario(
        """
definition = cucore.graph.GraphDefinition()
running = threading.Event()
definition.callback(lambda: [running.set(), time.sleep(0.2)])
graph = definition.instantiate(); graph.launch(stream); running.wait()
""",
        environment={"CUCORE_CPU_REPORT_LEAKS": ""},  # the launch is alive
    ),
    "a graph knows a function that knows the graph": Scenario(
        """
definition = cucore.graph.GraphDefinition()
for i in range(100): definition.callback(lambda i=i: definition)
graph = definition.instantiate(); graph.launch(stream); stream.sync()
""",
        environment={"CUCORE_CPU_REPORT_LEAKS": ""},  # such a cycle stays
    ),
    "graphs that were dropped and whose payloads wait": Scenario("""
definition = cucore.graph.GraphDefinition()
for i in range(100): definition.memset(int(pinned.handle), 0, 4, dst_owner=object())
graph = definition.instantiate(); graph.launch(stream); stream.sync()
threading.Thread(target=definition.close).start(); graph.close()
"""),
    "atexit makes and runs a graph": Scenario("""
def last():
    with cucore.graph.GraphDefinition() as definition:
        definition.launch(config, kernel, buffer).callback(lambda: None)
        with definition.instantiate() as graph: graph.launch(stream); stream.sync()
atexit.register(last)
"""),
    "warnings are errors": Scenario("import warnings; warnings.simplefilter('error'); kept = everything()"),
    "optimised, with no site": Scenario("kept = everything()", environment={"PYTHONOPTIMIZE": "2"}),
    "development mode": Scenario("kept = everything()", environment={"PYTHONDEVMODE": "1"}),
    "malloc debugging": Scenario("kept = everything()", environment={"PYTHONMALLOC": "debug"}),
}
SCENARIOS |= ENDINGS
