"""While other code captures a stream: what cucore makes and lets go of elsewhere neither is refused nor spoils it."""

import pytest
from conftest import run_python

MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "during",
    [
        "device.memory_resource",
        "buffer.close()",
        "del buffer, resource; gc.collect()",
        "device.create_event().close()",
        "device.create_event({'timing_enabled': True})",
        "device.create_stream()",
        "device.create_stream(options={'priority': 0})",
        "device.event_pool.get()",
        "event.is_timing_enabled; hash(event); repr(event); repr(stream); repr(device.context)",
        "stream.device; stream.context; stream.priority; stream.is_nonblocking; stream.id",
        "stream.wait(stream.record(event)); event.record(stream)",
    ],
)
def test_a_capture_survives(mode, during):
    done = run_python(f"""
        import ctypes, gc, cucore
        device = cucore.Device(); device.set_current()
        stream, other = device.create_stream(), device.create_stream()
        event = device.create_event()
        resource = cucore.DeviceMemoryResource(device, cucore.DeviceMemoryResourceOptions())
        buffer = resource.allocate(4096, stream=other); other.sync()
        driver, handle, graph = ctypes.CDLL(cucore.driver_info().path), int(stream.handle), ctypes.c_void_p()
        assert not stream.is_capturing
        assert driver.cuStreamBeginCapture_v2(ctypes.c_void_p(handle), {MODES[mode]}) == 0
        assert stream.is_capturing
        {during}
        assert stream.is_capturing
        print(driver.cuStreamEndCapture(ctypes.c_void_p(handle), ctypes.byref(graph)))
        driver.cuGraphDestroy(graph)
        stream.sync()
        """)
    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)


@pytest.mark.parametrize("mode", MODES)
def test_waiting_for_a_capturing_stream_is_refused(mode):
    done = run_python(f"""
        import ctypes, cucore
        device = cucore.Device(); device.set_current()
        stream = device.create_stream()
        driver, handle, graph = ctypes.CDLL(cucore.driver_info().path), int(stream.handle), ctypes.c_void_p()
        assert driver.cuStreamBeginCapture_v2(ctypes.c_void_p(handle), {MODES[mode]}) == 0
        try:
            stream.sync()
        except cucore.CUDAError as error:
            print(error.name, "captur" in str(error))
        driver.cuStreamEndCapture(ctypes.c_void_p(handle), ctypes.byref(graph))
        stream.sync()  # and the stream is a stream again
        """)
    assert (done.stdout, done.stderr) == ("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED True\n", "")
