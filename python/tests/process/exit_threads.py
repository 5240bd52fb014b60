"""The exit matrix, where threads are: programs that end while others launch, compile, wait, or have ended before."""

from exit_scenarios import Scenario

IN_THREAD = """
def everything_of_a_thread():
    d = cucore.Device(); d.set_current()
    s = d.create_stream(); b = d.allocate(4096, stream=s)
    k = cucore.ObjectCode.from_ptx(PTX).get_kernel("k"); c = cucore.LaunchConfig(grid=1, block=1)
    return d, s, b, k, c
"""

SPINNING = """
def spinning(spin=None):
    d = cucore.Device(); d.set_current(); s = d.create_stream()
    flag = cucore.LegacyPinnedMemoryResource().allocate(64); memoryview(flag)[:] = bytes(64)
    spin = spin or cucore.ObjectCode.from_ptx(PTX).get_kernel("spin")
    cucore.launch(s, cucore.LaunchConfig(grid=1, block=1), spin, flag)
    return s, flag
"""

COMPILE = """
KERNEL = 'extern "C" __global__ void k%d(float* p) { for (int j = 0; j < 64; ++j) p[j] = sinf(p[j] * %d) / p[0]; }'
SLOW = "".join(KERNEL % (i, i) for i in range(300))
ready = threading.Event()
def compile_for_ever(target):
    while True: program = cucore.Program(SLOW, "c++", {"arch": "sm_80"}); ready.set(); program.compile(target)
"""

# CPython ends a daemon thread wherever it is, or lets it sleep, and frees neither its frames nor the program's globals
# that they refer to: those objects are left to the end of the process, and are not counted.
DAEMON = {"made": False, "environment": {"CUCORE_CPU_REPORT_LEAKS": ""}}
THREADS = {
    "an exception in a thread": Scenario(
        IN_THREAD
        + """
def work():
    mine = everything_of_a_thread()
    raise KeyError('in a thread')
thread = threading.Thread(target=work); thread.start(); thread.join()
""",
        0,
        None,
        "KeyError: 'in a thread'\n",
    ),
    "sys.exit in a thread": Scenario(
        IN_THREAD
        + """
def work():
    d, s, b, k, c = everything_of_a_thread(); cucore.launch(s, c, k, b); sys.exit(3)
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    ),
    "a daemon thread is launching": Scenario(
        IN_THREAD
        + """
ready = threading.Event()
def work():
    d, s, b, k, c = everything_of_a_thread()
    while True: cucore.launch(s, c, k, b); s.sync(); ready.set()
threading.Thread(target=work, daemon=True).start(); ready.wait()
""",
        **DAEMON,
    ),
    "a daemon thread is creating and dropping": Scenario(
        """
ready = threading.Event()
def work():
    d = cucore.Device(); d.set_current()
    while True: s = d.create_stream(); d.allocate(4096, stream=s); s.record(); ready.set()
threading.Thread(target=work, daemon=True).start(); ready.wait()
""",
        **DAEMON,
    ),
    "several daemon threads with a pool": Scenario(
        """
ready = threading.Barrier(4)
def work():
    d = cucore.Device(); d.set_current(); s = d.create_stream(); p = cucore.EventPool(d); ready.wait()
    while True:
        with p.get() as e: e.record(s); e.sync()
for _ in range(3): threading.Thread(target=work, daemon=True).start()
ready.wait()
""",
        **DAEMON,
    ),
    "a daemon thread waits for work that never ends": Scenario(
        SPINNING
        + """
ready = threading.Event()
def work():
    s, flag = spinning()
    ready.set(); s.sync()
threading.Thread(target=work, daemon=True).start(); ready.wait(); time.sleep(0.1)
""",
        cpu_only="NVIDIA's driver waits at exit for kernels that run",
        **DAEMON,
    ),
    "a daemon thread is compiling": Scenario(
        COMPILE
        + """
threading.Thread(target=lambda: compile_for_ever("ptx"), daemon=True).start(); ready.wait(); time.sleep(0.2)
""",
        **DAEMON,
    ),
    "a daemon thread is opening the compiler": Scenario(
        COMPILE
        + """
threading.Thread(target=lambda: compile_for_ever("ptx"), daemon=True).start(); ready.wait()
""",
        **DAEMON,
    ),
    "daemon threads compile and link, and the program dies of an exception": Scenario(
        COMPILE
        + """
for target in 2 * ["cubin"]: threading.Thread(target=compile_for_ever, args=[target], daemon=True).start()
def link():
    while True: cucore.Linker(cucore.ObjectCode.from_ptx(PTX), options={"arch": "sm_80"}).link("cubin")
threading.Thread(target=link, daemon=True).start(); ready.wait(); time.sleep(0.3)
raise KeyError("mine")
""",
        1,
        None,
        "KeyError: 'mine'\n",
        **DAEMON,
    ),
    "a daemon thread loads and launches new code": Scenario(
        """
ready = threading.Event()
def work():
    d = cucore.Device(); d.set_current(); s = d.create_stream(); b = d.allocate(1 << 16, stream=s)
    config = cucore.LaunchConfig(grid=1, block=1); i = 0
    while True:
        body = "".join(f"  st.global.u32 [%a + {4 * (i + j)}], {i};\\n" for j in range(100)); i += 1
        ptx = PTX[: PTX.index(b".visible")] + (".visible .entry k(.param .u64 p) {\\n  .reg .u64 %a;\\n"
              f"  ld.param.u64 %a, [p];\\n{body}  ret;\\n}}\\n").encode()
        cucore.launch(s, config, cucore.ObjectCode.from_ptx(ptx).get_kernel("k"), b); s.sync(); ready.set()
threading.Thread(target=work, daemon=True).start(); ready.wait()
""",
        **DAEMON,
    ),
    "atexit compiles, which nothing did before": Scenario(
        COMPILE + "atexit.register(lambda: cucore.Program(KERNEL % (1, 1), 'c++', {'arch': 'sm_80'}).compile('ptx'))\n"
    ),
    "os._exit while a daemon thread compiles": Scenario(
        COMPILE
        + """
threading.Thread(target=lambda: compile_for_ever("cubin"), daemon=True).start(); ready.wait(); time.sleep(0.1)
os._exit(7)
""",
        7,
        **DAEMON,
    ),
    "a daemon thread waits for a future": Scenario(
        IN_THREAD
        + """
ready = threading.Event()
def work():
    d, s, b, k, c = everything_of_a_thread(); flag = cucore.LegacyPinnedMemoryResource().allocate(64)
    memoryview(flag)[:] = bytes(64)
    cucore.launch(s, c, cucore.ObjectCode.from_ptx(PTX).get_kernel("spin"), flag)
    future = s.record().future(); ready.set()
    try: future.result()
    except BaseException as error: assert type(error).__name__ == "CancelledError"  # as the program ends
threading.Thread(target=work, daemon=True).start(); ready.wait(); time.sleep(0.05)
""",
        cpu_only="NVIDIA's driver waits at exit for kernels that run",
        **DAEMON,
    ),
    "a daemon thread sleeps with objects": Scenario(
        IN_THREAD
        + """
ready = threading.Event()
def work(): mine = everything_of_a_thread(); ready.set(); threading.Event().wait()
threading.Thread(target=work, daemon=True).start(); ready.wait()
""",
        **DAEMON,
    ),
    "a thread that is not a daemon outlives main": Scenario("""
def work(): time.sleep(0.2); d = cucore.Device(); d.set_current(); d.create_stream().sync()
threading.Thread(target=work).start()
"""),
    "objects of a thread that has ended": Scenario(
        IN_THREAD
        + """
kept = []
thread = threading.Thread(target=lambda: kept.append(everything_of_a_thread())); thread.start(); thread.join()
"""
    ),
    "objects dropped in another thread": Scenario("""
box = [everything()]
del device, stream, event, buffer, pinned, resource, code, kernel, config, pool
thread = threading.Thread(target=box.clear); thread.start(); thread.join()
"""),
    "thread-local objects": Scenario("""
local = threading.local(); local.kept = everything()
def work(): cucore.Device().set_current(); local.kept = cucore.Device().create_stream()
thread = threading.Thread(target=work); thread.start(); thread.join()
"""),
    "a thread pool": Scenario("""
from concurrent.futures import ThreadPoolExecutor
def work(i): d = cucore.Device(); d.set_current(); return d.create_stream()
pool_of_threads = ThreadPoolExecutor(4); kept = list(pool_of_threads.map(work, range(8)))
"""),
    "asyncio: a task that waits": Scenario("""
import asyncio
async def main():
    await stream.record(); await stream
    async with stream.timer() as timer: launch()
    assert await timer >= 0
asyncio.run(main())
"""),
    "asyncio: the loop ends before the event": Scenario("""
import asyncio
flag = memoryview(pinned).cast("I"); flag[0] = 0
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
async def wait(): await stream.record()
async def main():
    try: await asyncio.wait_for(wait(), 0.1)
    except asyncio.TimeoutError: pass
asyncio.run(main()); flag[0] = 1; stream.sync(); flag.release(); time.sleep(0.05)
"""),
    "asyncio: sys.exit while an event is awaited": Scenario(
        """
import asyncio
flag = memoryview(pinned).cast("I"); flag[0] = 0
def last(): flag[0] = 1; stream.sync(); flag.release()
atexit.register(last)
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
async def wait(): await stream.record()
async def main():
    waits = [asyncio.ensure_future(wait()) for _ in range(4)]
    await asyncio.sleep(0.05); sys.exit(8)
asyncio.run(main())
""",
        8,
    ),
    "asyncio: SIGINT while an event is awaited": Scenario(
        """
import asyncio
flag = memoryview(pinned).cast("I"); flag[0] = 0
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
async def main():
    asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT); await stream.record()
try: asyncio.run(main())
except KeyboardInterrupt: flag[0] = 1; stream.sync(); flag.release(); sys.exit(9)
""",
        9,
    ),
    "asyncio: a loop in a daemon thread waits for an event": Scenario(
        SPINNING
        + """
import asyncio
ready = threading.Event()
def work():
    s, flag = spinning()
    async def main(): event = s.record(); ready.set(); await event
    asyncio.run(main())
threading.Thread(target=work, daemon=True).start(); ready.wait(); time.sleep(0.05)
""",
        cpu_only="NVIDIA's driver waits at exit for kernels that run",
        **DAEMON,
    ),
    "futures of work that is not done": Scenario("""
flag = memoryview(pinned).cast("I"); flag[0] = 0
cucore.launch(stream, config, code.get_kernel("spin"), pinned)
def last(): assert all(f.cancelled() for f in kept); flag[0] = 1; device.create_event().future().result(); stream.sync()
atexit.register(last)
kept = [stream.record().future() for _ in range(8)]
"""),
}
