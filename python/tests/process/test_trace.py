"""CUCORE_TRACE: a timeline of every driver call and of the device, as Chrome trace JSON."""

import json

import pytest
from conftest import run_python

PROGRAM = """
    import os, signal, sys, threading
    import cucore

    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    source = 'extern "C" __global__ void fill(int* out, int n) { for (int i = 0; i < n; ++i) out[i] = i; }'
    cubin = cucore.Program(source, "c++", {"arch": f"sm_{device.arch}"}).compile("cubin")
    kernel = cubin.get_kernel("fill")
    config = cucore.LaunchConfig(grid=(2, 3), block=64)
    first = device.allocate(4096, stream=stream)
    second = device.allocate(4096, stream=stream)
    for _ in range(3):
        cucore.launch(stream, config, kernel, first, 1000)
    first.copy_to(second, stream=stream)
    event = stream.record()
    stream.sync()
"""


def read(path):
    """The events of a trace; one that was cut off lacks its end, as Perfetto allows."""
    text = path.read_text()
    return json.loads(text if text.endswith("]\n") else text.rstrip().rstrip(",") + "]")


def run_traced(tmp_path, source, path=None):
    path = path or tmp_path / "trace.json"
    process = run_python(source, env={"CUCORE_TRACE": str(path)})
    return process, path


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    process, path = run_traced(tmp_path_factory.mktemp("trace"), PROGRAM)
    assert (process.returncode, process.stderr) == (0, "")
    assert path.read_text().endswith("]\n")
    return read(path)


def named(events, name, category="driver"):
    return [event for event in events if event["name"] == name and event["cat"] == category]


def test_driver_calls_are_slices_of_their_thread(events):
    calls = [event for event in events if event["cat"] == "driver"]
    assert {"cuInit", "cuLibraryLoadData", "cuStreamCreateWithPriority", "cuStreamSynchronize"} <= {
        call["name"] for call in calls
    }
    assert len({(call["pid"], call["tid"]) for call in calls}) == 1
    assert all(call["ph"] == "X" and call["dur"] >= 0 for call in calls)
    ends = [call["ts"] + call["dur"] for call in calls]
    assert ends == sorted(ends)


def test_a_launch_tells_the_kernel_its_shape_and_its_stream(events):
    launches = named(events, "cuLaunchKernelEx")
    assert len(launches) == 3
    arguments = launches[0]["args"]
    assert (arguments["kernel"], arguments["grid"], arguments["block"]) == ("fill", "2,3,1", "64,1,1")
    assert 0 < arguments["occupancy_percent"] <= 100
    created = named(events, "cuStreamCreateWithPriority")[0]["args"]["stream"]
    assert arguments["stream"] == created


def test_the_device_has_a_lane_for_each_stream(events):
    kernels = named(events, "fill", "device")
    copies = named(events, "Memcpy", "device")
    marks = named(events, "event", "device")
    assert (len(kernels), len(copies), len(marks)) == (3, 1, 1)
    assert len({(e["pid"], e["tid"]) for e in kernels + copies + marks}) == 1
    assert copies[0]["args"]["size"] == 4096
    starts = [e["ts"] for e in kernels + copies + marks]
    assert starts == sorted(starts)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert (
        names[kernels[0]["pid"], kernels[0]["tid"]]
        == "stream " + named(events, "cuLaunchKernelEx")[0]["args"]["stream"]
    )
    assert events[-1]["args"]["spans_not_measured"] == 0


def test_device_time_lies_between_the_launch_and_the_wait(events):
    launch = named(events, "cuLaunchKernelEx")[0]
    wait = named(events, "cuStreamSynchronize")[-1]
    slack = 2000.0  # microseconds: how well two clocks are tied together on a busy machine
    for kernel in named(events, "fill", "device"):
        assert launch["ts"] - slack <= kernel["ts"]
        assert kernel["ts"] + kernel["dur"] <= wait["ts"] + wait["dur"] + slack


def test_arrows_lead_from_launches_to_the_device(events):
    begins = {e["id"] for e in events if e["ph"] == "s"}
    ends = {e["id"] for e in events if e["ph"] == "f"}
    assert begins == ends and len(begins) == 4
    at = {(e["ph"], e["id"]): e["ts"] for e in events if e["ph"] in "sf"}
    assert all(at["s", each] < at["f", each] for each in begins), "viewers turn an arrow around that leads back in time"
    starts = {e["ts"] for e in events if e["cat"] == "device"}
    assert {at["f", each] for each in ends} <= starts


def test_a_failed_call_tells_its_result(tmp_path):
    _, path = run_traced(
        tmp_path,
        PROGRAM
        + """
    try:
        cubin.get_kernel("missing")
    except Exception:
        pass
""",
    )
    failed = [e for e in named(read(path), "cuLibraryGetKernel") if e["args"].get("name") == "missing"]
    assert [e["args"]["result"] for e in failed] == ["CUDA_ERROR_NOT_FOUND"]


def test_calls_of_many_threads_are_all_there(tmp_path):
    process, path = run_traced(
        tmp_path,
        PROGRAM
        + """
    def work():
        device.set_current()
        own = device.create_stream()
        for _ in range(50):
            cucore.launch(own, config, kernel, first, 10)
        own.sync()
    threads = [threading.Thread(target=work, name=f"worker {n}") for n in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
""",
    )
    assert (process.returncode, process.stderr) == (0, "")
    events = read(path)
    launches = named(events, "cuLaunchKernelEx")
    assert len(launches) == 3 + 8 * 50
    assert len({e["tid"] for e in launches}) == 9
    assert len(named(events, "fill", "device")) + events[-1]["args"]["spans_not_measured"] == 3 + 8 * 50


def test_a_killed_process_leaves_what_it_did(tmp_path):
    process, path = run_traced(tmp_path, PROGRAM + "    os.kill(os.getpid(), signal.SIGKILL)\n")
    assert process.returncode == -9
    events = read(path)
    assert len(named(events, "cuLaunchKernelEx")) == 3
    assert named(events, "cuStreamSynchronize")


def test_capturing_is_left_alone(tmp_path):
    _, path = run_traced(
        tmp_path,
        PROGRAM
        + """
    import ctypes
    before = cucore.driver_info()
    driver = ctypes.CDLL(before.path)
    handle = ctypes.c_void_p(int(stream.handle))
    assert driver.cuStreamBeginCapture_v2(handle, 0) == 0
    cucore.launch(stream, config, kernel, first, 10)
    graph, nodes = ctypes.c_void_p(), ctypes.c_size_t()
    assert driver.cuStreamEndCapture(handle, ctypes.byref(graph)) == 0
    assert driver.cuGraphGetNodes(graph, None, ctypes.byref(nodes)) == 0
    print(nodes.value)
""",
    )
    assert _.stdout.split() == ["1"], _.stderr
    assert len(named(read(path), "fill", "device")) == 3


def test_a_path_that_cannot_be_written_is_said_once(tmp_path):
    process, _ = run_traced(tmp_path, PROGRAM + "    print('done')\n", tmp_path / "missing" / "trace.json")
    assert (process.returncode, process.stdout) == (0, "done\n")
    assert process.stderr.count("CUCORE_TRACE") == 1
    assert "missing/trace.json: No such file or directory" in process.stderr


def test_a_child_of_fork_leaves_the_trace_to_its_parent(tmp_path):
    process, path = run_traced(
        tmp_path,
        PROGRAM
        + """
    child = os.fork()
    if child == 0:
        try:
            stream.sync()
        except Exception:
            pass
        os._exit(0)
    os.waitpid(child, 0)
    stream.sync()
""",
    )
    assert process.returncode == 0, process.stderr
    assert len({e["pid"] for e in read(path) if e["cat"] == "driver"}) == 1
