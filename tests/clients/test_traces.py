"""CUCORE_TRACE with programs that know nothing of cucore: their calls, kernels, copies, compiles and NVTX ranges."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_driver_clients import driver_folder

CLIENT = """
import ctypes, os, signal, sys
cuda = ctypes.CDLL("libcuda.so.1")
def ok(code): assert code == 0, code
ptx = b'''.version 7.8
.target sm_80
.address_size 64
.visible .entry _Z4fillPi(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1; ret;
}'''
size = ctypes.c_size_t(1 << 20)
context, module, function, out, stream = (ctypes.c_void_p() for _ in range(5))
def begin():
    ok(cuda.cuInit(0))
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    ok(cuda.cuCtxSetCurrent(context))
    ok(cuda.cuModuleLoadData(ctypes.byref(module), ptx))
    ok(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"_Z4fillPi"))
    ok(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    ok(cuda.cuMemAlloc_v2(ctypes.byref(out), size))
def launch(times=3):
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(out))
    for _ in range(times):
        ok(cuda.cuLaunchKernel(function, 100, 1, 1, 64, 1, 1, 0, stream, arguments, None))
    ok(cuda.cuStreamSynchronize(stream))
def work():
    begin()
    ok(cuda.cuMemsetD8Async(out, 0, size, stream))
    launch()
    host = ctypes.create_string_buffer(size.value)
    ok(cuda.cuMemcpyDtoH_v2(host, out, size))
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"none") == 500
"""


@pytest.fixture
def trace(tmp_path):
    """Runs a program with a trace. Gives the finished process, and the events of the file, cut off or not."""
    folder = driver_folder()
    if folder is None:
        pytest.skip("the CPU device is not built")

    def run(program, python=sys.executable, **environment):
        path = tmp_path / "trace.json"
        done = subprocess.run(
            [python, "-c", CLIENT + program],
            env={
                **os.environ,
                "CUCORE_TRACE": str(path),
                "CUCORE_CPU_CACHE": "0",
                "CUCORE_DEVICE": "cpu",
                "LD_LIBRARY_PATH": str(folder),
                "NVTX_INJECTION64_PATH": str(folder / "libcuda.so.1"),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        text = path.read_text() if path.exists() else "[]\n"
        return done, json.loads(text if text.endswith("]\n") else text.rstrip().rstrip(",") + "]")

    return run


def named(events, name, category):
    return [each for each in events if each["name"] == name and each["cat"] == category]


def names_of_rows(events):
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}


@pytest.mark.parametrize("form", ["scalar", "vector"])
def test_a_driver_client_leaves_calls_and_what_the_device_did(trace, form):
    done, events = trace("work()", CUCORE_CPU_FORM=form)
    assert (done.returncode, done.stderr) == (0, "")
    calls = [each["name"] for each in events if each["cat"] == "driver"]
    for name in ("cuInit", "cuModuleLoadDataEx", "cuMemAlloc", "cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyDtoH"):
        assert name in calls
    assert all(name.startswith("cu") for name in calls)
    kernels = named(events, "fill(int*)", "device")
    assert len(kernels) == 3
    facts = kernels[0]["args"]
    assert (facts["kernel"], facts["grid"], facts["block"]) == ("fill(int*)", "100,1,1", "64,1,1")
    assert (facts["form"], facts["occupancy_percent"], facts["shared_bytes"]) == (form, 100, 0)
    assert [each["args"]["size"] for each in named(events, "MemsetD8", "device")] == [1 << 20]
    assert [each["args"]["size"] for each in named(events, "MemcpyDtoH", "device")] == [1 << 20]
    assert len(named(events, "compile fill(int*)", "compile")) == 1
    failed = [each["args"]["result"] for each in events if "result" in each.get("args", {})]
    assert failed == ["CUDA_ERROR_NOT_FOUND"]
    rows = names_of_rows(events)
    assert rows[kernels[0]["pid"], kernels[0]["tid"]] == "stream " + facts["stream"]
    assert "default stream" in rows.values()
    assert events[-1]["name"] == "exit"


def test_work_begins_after_its_call_and_ends_before_the_wait(trace):
    _, events = trace("begin(); launch()")
    calls, kernels = named(events, "cuLaunchKernel", "driver"), named(events, "fill(int*)", "device")
    (wait,) = named(events, "cuStreamSynchronize", "driver")
    for call, kernel in zip(calls, kernels, strict=True):
        assert call["ts"] <= kernel["ts"] and kernel["ts"] + kernel["dur"] <= wait["ts"] + wait["dur"]
    begins = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "f"}
    assert begins.keys() == ends.keys() and all(begins[each] <= ends[each] for each in begins)


GRAPH = """
work()
ok(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"_Z4fillPi"))
graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
ok(cuda.cuStreamBeginCapture_v2(stream, 0))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(out))
for _ in range(2):
    ok(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, None))
ok(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
ok(cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
ok(cuda.cuGraphLaunch(executable, stream))
ok(cuda.cuStreamSynchronize(stream))
"""


def test_kernels_of_a_graph_lie_within_its_launch(trace):
    done, events = trace(GRAPH)
    assert done.returncode == 0, done.stderr
    (whole,) = named(events, "GraphLaunch", "device")
    inside = [each for each in named(events, "fill(int*)", "device") if each["args"]["grid"] == "1,1,1"]
    assert len(inside) == 2
    for each in inside:
        assert (each["pid"], each["tid"]) == (whole["pid"], whole["tid"])
        assert whole["ts"] <= each["ts"] and each["ts"] + each["dur"] <= whole["ts"] + whole["dur"]


def test_a_killed_process_leaves_what_it_did(trace):
    done, events = trace("begin(); launch(); os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -9
    assert len(named(events, "fill(int*)", "device")) == 3


def test_a_forked_child_writes_nothing_and_one_that_starts_afresh_a_file_of_its_own(trace, tmp_path):
    done, events = trace(
        """
work()
child = os.fork()
if child == 0:
    cuda.cuCtxSynchronize()
    os._exit(0)
os.waitpid(child, 0)
import subprocess
subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"], check=True)
"""
    )
    assert done.returncode == 0, done.stderr
    assert len({each["pid"] for each in events if each["cat"] == "driver"}) == 1
    (other,) = tmp_path.glob("trace.json.*")
    assert [each["name"] for each in json.loads(other.read_text()) if each["cat"] == "driver"] == ["cuInit"]


def test_a_file_that_cannot_be_opened_is_said_once(trace):
    done, events = trace("work()", CUCORE_TRACE="/nowhere/trace.json")
    assert (done.returncode, events) == (0, [])
    assert done.stderr.count("CUCORE_TRACE") == 1 and "/nowhere/trace.json: No such file" in done.stderr


BOTH = """
import cucore
device = cucore.Device()
device.set_current()
own = device.create_stream()
source = 'extern "C" __global__ void mine(int* x) { x[threadIdx.x] = 1; }'
kernel = cucore.Program(source, "c++", {"arch": "sm_90"}).compile("ptx").get_kernel("mine")
buffer = device.allocate(4096, stream=own)
for _ in range(5):
    cucore.launch(own, cucore.LaunchConfig(grid=1, block=32), kernel, buffer)
own.sync()
work()
"""


def test_where_cucore_writes_too_no_event_is_doubled_and_none_missing(trace):
    """Another client in the same process, with work that cucore knows nothing of."""
    if importlib.util.find_spec("cucore") is None:
        pytest.skip("the package is not installed")
    driver = driver_folder() / "libcuda.so.1"
    done, events = trace(BOTH, CUCORE_CPU_DRIVER=str(driver))
    if "NVRTC" in done.stderr:
        pytest.skip("no NVRTC")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(named(events, "mine", "device")) == 5 and len(named(events, "cuLaunchKernelEx", "driver")) == 5
    assert len(named(events, "fill(int*)", "device")) == 3 and len(named(events, "cuLaunchKernel", "driver")) == 3
    assert len(named(events, "compile mine", "compile")) == 1
    assert len(named(events, "cuLibraryLoadData", "driver")) == 1
    assert sum(name == "cuStreamSynchronize" for name in (e["name"] for e in events if e["cat"] == "driver")) >= 2
    assert events[-1]["args"]["spans_not_measured"] == 0
    ids = [each["id"] for each in events if each["ph"] == "f"]
    assert len(ids) == len(set(ids))


NVTX = """
# As NVTX's header in a program does it: tables of function pointers, which the tool fills.
Function = ctypes.CFUNCTYPE(None)
class Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("table", ctypes.c_void_p)]
modules = {1: [ctypes.c_void_p() for _ in range(16)], 5: [ctypes.c_void_p() for _ in range(16)]}
tables = {m: (ctypes.c_void_p * 16)(*(ctypes.addressof(each) for each in slots)) for m, slots in modules.items()}
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))
def function_table(module, table, size):
    if module not in tables: return 0
    table[0], size[0] = ctypes.addressof(tables[module]), 16
    return 1
callbacks = Callbacks(ctypes.sizeof(Callbacks), ctypes.cast(function_table, ctypes.c_void_p))
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint)
def export_table(which): return ctypes.addressof(callbacks) if which == 1 else None
tool = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
assert tool.InitializeInjectionNvtx2(export_table) == 1
def call(module, index, result, *arguments):
    kinds = [type(each) for each in arguments]
    return ctypes.CFUNCTYPE(result, *kinds)(modules[module][index].value)(*arguments)
text, wide = ctypes.c_char_p, ctypes.c_wchar_p
assert call(1, 9, ctypes.c_int, text(b"outer")) == 0
assert call(1, 10, ctypes.c_int, wide("inn\\u00e9r \\U0001F600")) == 1
work()
assert call(1, 11, ctypes.c_int) == 1 and call(1, 11, ctypes.c_int) == 0 and call(1, 11, ctypes.c_int) == -1
call(1, 2, None, text(b"a mark \\xff"))
first = call(1, 5, ctypes.c_uint64, text(b"long"))
call(1, 7, None, ctypes.c_uint64(first)); call(1, 7, None, ctypes.c_uint64(999))
"""


def test_nvtx_ranges_are_in_the_trace(trace):
    done, events = trace(NVTX)
    assert (done.returncode, done.stderr) == (0, "")
    ranges = [each for each in events if each["cat"] == "nvtx"]
    assert [(each["ph"], each["name"]) for each in ranges] == [
        ("B", "outer"),
        ("B", "innér \U0001f600"),
        ("E", ""),
        ("E", ""),
        ("i", "a mark ?"),
        ("b", "long"),
        ("e", "long"),
    ]
    (call,) = named(events, "cuInit", "driver")
    assert {(each["pid"], each["tid"]) for each in ranges} == {(call["pid"], call["tid"])}
    assert ranges[1]["ts"] <= call["ts"] <= ranges[2]["ts"]


def test_without_a_trace_nvtx_has_no_tool(trace):
    done, events = trace(NVTX.replace("== 1\ndef call", "== 0\nsys.exit(3)\ndef call"), CUCORE_TRACE="")
    assert (done.returncode, done.stderr, events) == (3, "", [])


def test_the_nvtx_package_is_a_client(trace):
    pytest.importorskip("nvtx")
    done, events = trace(
        """
import nvtx
@nvtx.annotate("step", domain="mine", category="training")
def step(): work()
step()
with nvtx.annotate("plain", payload=7): nvtx.mark("here")
nvtx.end_range(nvtx.start_range("long"))
"""
    )
    assert done.returncode == 0, done.stderr
    assert [(e["ph"], e["name"]) for e in events if e["cat"] == "nvtx"] == [
        ("B", "step"),
        ("E", ""),
        ("B", "plain"),
        ("i", "here"),
        ("E", ""),
        ("b", "long"),
        ("e", "long"),
    ]
    assert named(events, "step", "nvtx")[0]["args"] == {"domain": "mine", "category": "training"}
    assert named(events, "plain", "nvtx")[0]["args"]["payload"] == 7


HEADER = Path("nvtx3/nvToolsExt.h")
C_CLIENT = r"""
#include <nvtx3/nvToolsExt.h>
int main() {
  nvtxRangePushA("outer");
  nvtxEventAttributes_t each = {};
  each.version = NVTX_VERSION;
  each.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  each.messageType = NVTX_MESSAGE_TYPE_ASCII;
  each.message.ascii = "inner";
  nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  nvtxDomainRangePushEx(domain, &each);
  nvtxDomainRangePop(domain);
  nvtxRangePop();
}
"""


def test_a_c_program_with_nvidias_header_is_a_client(trace, tmp_path):
    homes = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
    folder = next((Path(each) / "include" for each in homes if (Path(each) / "include" / HEADER).exists()), None)
    if folder is None:
        pytest.skip("NVTX's headers are not here")
    (tmp_path / "client.c").write_text(C_CLIENT.replace("= {}", "= {0}"))
    command = ["cc", "-I", folder, "client.c", "-o", "client", "-ldl"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done, events = trace(f"import subprocess; subprocess.run({str(tmp_path / 'client')!r}, check=True)")
    assert done.returncode == 0, done.stderr
    ranges = [(e["ph"], e["name"]) for e in events if e["cat"] == "nvtx"]
    assert ranges == [("B", "outer"), ("B", "inner"), ("E", ""), ("E", "")]
