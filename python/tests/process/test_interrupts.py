"""Ctrl-C while the host waits for a kernel that does not end, and leaving the interpreter behind one. On a GPU nothing
ends such a kernel but its process."""

import pytest
from conftest import run_python
from exit_scenarios import START

ENDLESS = (
    START
    + """
make()
flag = device.allocate(4, stream=stream)
flag.fill(0, stream=stream)
mark = device.create_event()
cucore.launch(stream, config, code.get_kernel("spin"), flag)
stream.record(mark)
"""
)
CTRL_C = "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"


@pytest.fixture(autouse=True)
def only_on_the_cpu_device():
    import cucore

    if cucore.driver_info().kind != "cpu":
        pytest.skip("an endless kernel would keep the GPU")


@pytest.mark.parametrize("wait", ["stream.sync(timeout=60)", "mark.sync(timeout=60)"])
def test_a_wait_with_a_timeout_ends_at_once_and_other_streams_go_on(wait):
    done = run_python(
        ENDLESS
        + CTRL_C
        + f"""
try:
    {wait}
except KeyboardInterrupt:
    other = device.create_stream()
    cucore.launch(other, config, kernel, buffer)
    other.sync()
    print("interrupted", flush=True)
    os._exit(0)
"""
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


SOON = {"CUCORE_CPU_INTERRUPT": "0.1", "CUCORE_CPU_REPORT": "stderr"}


@pytest.mark.parametrize("wait", ["stream.sync()", "mark.sync()", "device.sync()"])
def test_a_wait_without_one_ends_the_kernel(wait):
    done = run_python(
        ENDLESS
        + CTRL_C
        + f"""
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted")
try:
    stream.sync()
except cucore.CUDAStickyError as error:
    print(error.name)
""",
        env=SOON,
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\nCUDA_ERROR_LAUNCH_TIMEOUT\n"), done.stderr
    assert "kernel spin" in done.stderr and "block (0,0,0)" in done.stderr and " at PTX line " in done.stderr
    assert "was ended by Ctrl-C" in done.stderr


def test_a_kernel_that_ends_in_time_is_left_alone():
    done = run_python(
        ENDLESS.replace("device.allocate(4, stream=stream)", "cucore.LegacyPinnedMemoryResource().allocate(4)")
        + CTRL_C
        + """
def end_it():
    time.sleep(0.6)
    memoryview(flag).cast("B")[0] = 1
threading.Thread(target=end_it).start()
try:
    stream.sync()
except KeyboardInterrupt:
    launch()
    stream.sync()
    print("interrupted")
""",
        env={"CUCORE_CPU_INTERRUPT": "100"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_a_thread_that_waits_is_left_to_the_main_thread_until_the_second_time():
    done = run_python(
        ENDLESS
        + """
def wait():
    try:
        stream.sync()
    except cucore.CUDAStickyError as error:
        print(error.name)
waiting = threading.Thread(target=wait)
waiting.start()
for again in (True, False):
    try:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    except KeyboardInterrupt:
        waiting.join(0.5 if again else None)
        print(waiting.is_alive())
""",
        env=SOON,
    )
    assert (done.returncode, done.stdout) == (0, "True\nCUDA_ERROR_LAUNCH_TIMEOUT\nFalse\n"), done.stderr


def test_the_watchdog_ends_what_ctrl_c_may_not():
    done = run_python(
        ENDLESS + CTRL_C + "try:\n    stream.sync()\nexcept KeyboardInterrupt:\n    print('interrupted')\n",
        env={"CUCORE_CPU_TIMEOUT": "1", "CUCORE_CPU_INTERRUPT": "never", "CUCORE_CPU_REPORT": "stderr"},
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n") and "CUCORE_CPU_TIMEOUT=1" in done.stderr


@pytest.mark.parametrize("leave", ["sys.exit(3)", "raise SystemExit(3)", "del stream, mark, event, pool; sys.exit(3)"])
def test_the_interpreter_leaves_behind_an_endless_kernel(leave):
    done = run_python(ENDLESS + leave, env=SOON)
    assert done.returncode == 3, done.stderr
    assert "the interpreter, which is leaving" in done.stderr or not done.stderr


def test_the_error_is_raised_where_no_signal_came():
    done = run_python(
        ENDLESS + "try:\n    stream.sync()\nexcept cucore.CUDAError as error:\n    print(error)\n",
        env={"CUCORE_CPU_TIMEOUT": "0.3"},
    )
    assert done.returncode == 0 and done.stdout.startswith("CUDA_ERROR_LAUNCH_TIMEOUT"), done.stderr
