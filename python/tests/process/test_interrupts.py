"""Ctrl-C while the host waits for a kernel that does not end. On a GPU nothing ends such a kernel but its process."""

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


@pytest.mark.parametrize("wait", ["stream.sync()", "mark.sync()"])
def test_a_wait_without_one_ends_when_the_watchdog_ends_the_kernel(wait):
    done = run_python(
        ENDLESS + CTRL_C + f"try:\n    {wait}\nexcept KeyboardInterrupt:\n    print('interrupted')\n",
        env={"CUCORE_CPU_TIMEOUT": "1"},
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


def test_the_error_is_raised_where_no_signal_came():
    done = run_python(
        ENDLESS + "try:\n    stream.sync()\nexcept cucore.CUDAError as error:\n    print(error)\n",
        env={"CUCORE_CPU_TIMEOUT": "0.3"},
    )
    assert done.returncode == 0 and done.stdout.startswith("CUDA_ERROR_LAUNCH_TIMEOUT"), done.stderr
