"""Python benchmarks, by pyperf: each operation through cucore, as the bare driver call in a C loop in the same process,
and through NVIDIA's cuda.core where that is installed and runs on the same driver. Names are OPERATION/WHO."""

import ctypes
import sys

import pyperf
from timed_loops import kernel_ptx, timed


def operations(core, stream, device):
    """(name, pyperf time function) for a module with cuda.core's names: cucore or cuda.core."""
    sync = stream.sync
    config = core.LaunchConfig(grid=1, block=1)
    for count in (0, 3, 16):
        code = core.ObjectCode.from_ptx(kernel_ptx(count).encode())
        kernel = code.get_kernel("empty")
        arguments = "".join(", zero" for _ in range(count))
        launch = timed(
            sync,
            f"launch(stream, config, kernel{arguments})",
            launch=core.launch,
            stream=stream,
            config=config,
            kernel=kernel,
            zero=0,
        )
        yield f"launch, {count} arguments", launch
    yield "event record", timed(sync, "stream.record(event)", stream=stream, event=device.create_event())
    yield "event create and destroy", timed(sync, "device.create_event()", device=device)
    yield "stream create and destroy", timed(sync, "device.create_stream()", device=device)
    yield "Device()", timed(sync, "Device()", Device=core.Device)
    yield "allocate and free", timed(sync, "device.allocate(4096, stream=stream)", device=device, stream=stream)


def bare_operations(loops_library, driver_path, core, stream, device):
    """(name, pyperf time function) for the bare driver calls on the same stream."""
    library = ctypes.CDLL(loops_library)
    path, handle = driver_path.encode(), ctypes.c_void_p(int(stream.handle))
    for name in ("launch", "event_record", "event_create", "stream_create", "allocate", "current_context"):
        getattr(library, f"bare_{name}").restype = ctypes.c_double
    for count in (0, 3, 16):
        code = core.ObjectCode.from_ptx(kernel_ptx(count).encode())
        kernel = ctypes.c_void_p(int(code.get_kernel("empty").handle))
        yield (
            f"launch, {count} arguments",
            lambda loops, k=kernel, n=count, _code=code: library.bare_launch(path, handle, k, n, ctypes.c_long(loops)),
        )
    event = device.create_event()
    event_handle = ctypes.c_void_p(int(event.handle))
    yield (
        "event record",
        lambda loops, _event=event: library.bare_event_record(path, handle, event_handle, ctypes.c_long(loops)),
    )
    for name, function in (
        ("event create and destroy", library.bare_event_create),
        ("Device()", library.bare_current_context),
        ("stream create and destroy", library.bare_stream_create),
        ("allocate and free", library.bare_allocate),
    ):
        yield name, lambda loops, f=function: f(path, handle, ctypes.c_long(loops))


def pool_operations(device):
    """An event from the pool and back, beside a list that is popped and appended to."""
    name = "event pool get and put"
    yield f"{name}/bare", timed(device.sync, "free.append(free.pop())", free=[device.create_event()])
    yield f"{name}/cucore", timed(device.sync, "pool.put(pool.get())", pool=device.event_pool)


def main():
    arguments_added = lambda command, arguments: command.extend(["--loops-library", arguments.loops_library])  # noqa: E731
    runner = pyperf.Runner(processes=2, values=5, warmups=1, add_cmdline_args=arguments_added)
    runner.argparser.add_argument("--loops-library", required=True)
    arguments = runner.parse_args()

    import cucore

    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    driver_path = cucore.driver_info().path
    for name, function in bare_operations(arguments.loops_library, driver_path, cucore, stream, device):
        runner.bench_time_func(f"{name}/bare", function)
    for name, function in operations(cucore, stream, device):
        runner.bench_time_func(f"{name}/cucore", function)
    for name, function in pool_operations(device):
        runner.bench_time_func(name, function)
    if cucore.driver_info().kind == "gpu":
        try:
            import cuda.core as peer
        except ImportError:
            return
        peer_device = peer.Device()
        peer_device.set_current()
        peer_stream = peer_device.create_stream()
        for name, function in operations(peer, peer_stream, peer_device):
            runner.bench_time_func(f"{name}/cuda.core", function)
        runner.bench_command("import/cuda.core", [sys.executable, "-c", "import cuda.core"])
    runner.bench_command("import/bare", [sys.executable, "-c", "pass"])
    runner.bench_command("import/cucore", [sys.executable, "-c", "import cucore"])


if __name__ == "__main__":
    main()
