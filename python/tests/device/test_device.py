"""Devices are one object per thread; contexts are made by set_current and by nothing else."""

import re
import threading

import pytest
from conftest import run_python

import cucore


def in_thread(function):
    """The result of a function run in another thread."""
    results = []

    def work():
        try:
            results.append(function())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return results[0]


def test_one_object_per_device_and_thread(device):
    assert cucore.Device(device.device_id) is device
    assert cucore.Device(device) is device
    assert cucore.Device() is device
    other = in_thread(lambda: cucore.Device(0))
    assert other is not cucore.Device(0)
    assert other == cucore.Device(0) and hash(other) == hash(cucore.Device(0))
    assert device != 0 and device != "Device"


def test_all_devices_are_the_singletons():
    devices = cucore.Device.get_all_devices()
    assert isinstance(devices, tuple) and devices
    assert all(cucore.Device(i) is d for i, d in enumerate(devices))


@pytest.mark.parametrize(
    ("device_id", "expected"),
    [
        (-1, ValueError),
        (10**4, ValueError),
        (10**30, OverflowError),
        ("0", TypeError),
        (10000.5, ValueError),
        (2.0**31, OverflowError),
        (b"0", TypeError),
    ],
)
def test_devices_that_are_not_there(device, device_id, expected):
    with pytest.raises(expected):
        cucore.Device(device_id)
    with pytest.raises(expected):
        device.can_access_peer(device_id)
    with pytest.raises(expected):
        cucore.EventPool(device_id)


def test_none_is_the_current_device(device):
    assert cucore.Device(None) is device and device.can_access_peer(None) is True


def test_a_float_is_cut_off(device, stream):
    assert cucore.Device(0.0) is device and device.can_access_peer(0.0) is True
    assert device.allocate(64 / 2, stream=stream).size == 32
    assert device.allocate(32.75, stream=stream).size == 32
    for wrong, error in ((float("inf"), OverflowError), (float("nan"), ValueError), ("32", TypeError)):
        with pytest.raises(error):
            device.allocate(wrong, stream=stream)


def test_a_device_is_hashed_by_its_uuid(device):
    assert hash(device) == hash(device.uuid)
    assert device.__eq__(0) is NotImplemented and device != int(device)


def test_making_a_device_makes_no_context():
    done = run_python("""
        import cucore
        device = cucore.Device(0)
        device.name, device.uuid, device.arch, device.properties.warp_size
        assert cucore._core._current_context() is None
        device.set_current()
        assert cucore._core._current_context() is not None
        print("ok")
        """)
    assert done.stdout == "ok\n", done.stderr


def test_a_device_must_be_made_current_in_each_thread(device):
    def uses():
        fresh = cucore.Device(0)
        messages = []
        for use in (
            lambda: fresh.context,
            fresh.create_stream,
            fresh.create_event,
            fresh.sync,
            lambda: fresh.allocate(4, stream=fresh.default_stream),
        ):
            with pytest.raises(cucore.CUDAError) as caught:
                use()
            messages.append(str(caught.value))
        fresh.set_current()
        fresh.create_stream().close()
        return messages

    messages = in_thread(uses)
    assert all("not yet initialized" in message for message in messages), messages


def test_identity_of_a_device(device):
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", device.uuid)
    assert re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", device.pci_bus_id)
    assert device.name and f"<Device {device.device_id} ({device.name})>" == repr(device)
    assert int(device) == device.device_id
    with pytest.raises(TypeError):
        range(10)[device]
    major, minor = device.compute_capability
    assert device.compute_capability >= (7, 0)
    assert device.compute_capability.major == major and device.arch == f"{major}{minor}"
    assert device.total_memory > 2**20
    assert device.can_access_peer(device) and device.can_access_peer(0)


def test_properties_cover_every_attribute(device):
    properties = device.properties
    assert device.properties is properties
    names = list(properties)
    assert len(names) == 143 and set(names) == {n for n in dir(type(properties)) if n[0] != "_"}
    assert f", multiprocessor_count={properties.multiprocessor_count}, " in repr(properties)
    assert f"<td>{device.uuid}</td>" in device._repr_html_()
    for name in names:
        value = getattr(properties, name)
        assert type(value) in (int, bool), name
    assert properties.warp_size == 32
    assert properties.max_threads_per_block >= 1024
    assert properties.multiprocessor_count >= 1
    assert type(properties.unified_addressing) is bool
    assert (properties.compute_capability_major, properties.compute_capability_minor) == device.compute_capability
    with pytest.raises(AttributeError):
        properties.warp_size = 1
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        type(properties)()


def test_set_current_returns_what_was_current(device):
    assert device.set_current() is None
    context = device.context
    assert device.set_current(context) is context
    assert device.context is context
    with pytest.raises(TypeError):
        device.set_current("context")


def test_a_context_of_no_current_one_can_be_set(device):
    context = device.context

    def work():
        fresh = cucore.Device(0)
        assert fresh.set_current(context) is None
        return fresh.context is context

    assert in_thread(work) is True


def test_contexts_compare_by_handle_and_do_not_close_while_current(device):
    context = device.context
    stream = device.create_stream()
    assert stream.context == context and hash(stream.context) == hash(context)
    assert context != 5 and not context.is_green and context.device is device
    assert type(context.handle).__name__ == "CUcontext"
    assert re.fullmatch(rf"<Context handle=0x[0-9a-f]+ device={device.device_id}>", repr(context))
    with pytest.raises(RuntimeError, match="while it is current"):
        context.close()
    assert not context.is_closed
    with pytest.raises(RuntimeError):
        context.create_stream()
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        cucore.Context()


def test_a_context_closed_elsewhere_is_closed(device):
    wrapper = device.create_stream().context
    assert in_thread(wrapper.close) is None
    assert wrapper.is_closed and wrapper and wrapper.handle is None and not wrapper.is_green
    assert "closed" in repr(wrapper)
    wrapper.close()
    assert not device.context.is_closed  # another reference to the same context


def test_a_device_whose_context_was_closed_is_made_current_again(device):
    def work():
        fresh = cucore.Device(0)
        fresh.set_current()
        closed = fresh.context
        in_thread(closed.close)
        for use in (lambda: fresh.context, fresh.create_stream, fresh.create_event, fresh.sync):
            with pytest.raises(RuntimeError, match=r"has been closed: call set_current\(\) again"):
                use()
        with fresh.current() as context:
            assert not context.is_closed and context == device.context
        fresh.set_current()
        fresh.create_stream().close()
        return fresh.context is not closed and closed.is_closed

    assert in_thread(work) is True


def test_the_default_stream_follows_the_environment(device, monkeypatch):
    name = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"
    monkeypatch.delenv(name, raising=False)
    assert device.default_stream is cucore.LEGACY_DEFAULT_STREAM
    for value in ("1", "2x", " 07", "-1", "+3"):
        monkeypatch.setenv(name, value)
        assert device.default_stream is cucore.PER_THREAD_DEFAULT_STREAM, value
    for value in ("0", "x", "", "00", "0x1", "- 1", "\N{SUPERSCRIPT TWO}"):
        monkeypatch.setenv(name, value)
        assert device.default_stream is cucore.LEGACY_DEFAULT_STREAM, value


def test_memory_resource_is_lazy_and_settable(device):
    before = device.memory_resource
    assert isinstance(before, cucore.MemoryResource) and device.memory_resource is before
    try:
        other = cucore.LegacyPinnedMemoryResource()
        device.memory_resource = other
        assert device.memory_resource is other
        assert device.allocate(8, stream=device.default_stream).memory_resource is other
        with pytest.raises(TypeError):
            device.memory_resource = "pool"
    finally:
        device.memory_resource = before


def test_a_memory_resource_is_set_for_this_threads_device_only(device):
    before, other = device.memory_resource, cucore.LegacyPinnedMemoryResource()
    try:
        device.memory_resource = other
        assert in_thread(lambda: cucore.Device(0).memory_resource) is not other
    finally:
        device.memory_resource = before


def test_a_context_that_cannot_be_current_leaves_the_one_that_was(device):
    if cucore.driver_info().kind != "cpu":
        pytest.skip("NVIDIA's driver reads through a handle that it does not know")
    with pytest.raises(cucore.CUDAError):
        device.set_current(cucore.Context.from_handle(0x1234560))
    assert cucore._core._current_context() == device.context
    closed = device.create_stream().context
    in_thread(closed.close)
    for use in (lambda: device.set_current(closed), closed.__enter__, closed.current().__enter__, lambda: closed.device,
                closed.create_stream):  # fmt: skip
        with pytest.raises(RuntimeError, match="has been closed"):
            use()
    assert cucore._core._current_context() == device.context
    device.create_stream().sync()


def test_driver_info_says_which_driver(device):
    info = cucore.driver_info()
    assert info.kind in ("cpu", "gpu") and info.version >= 12000 and info.path
    assert cucore.driver_available()


def test_the_devices_of_a_thread_go_with_it(device):
    import gc
    import weakref

    def work():
        fresh = cucore.Device(0)
        fresh.set_current()
        return weakref.ref(fresh), fresh.create_stream()

    gone, stream = in_thread(work)
    gc.collect()
    assert gone() is None
    stream.sync()  # objects made there stay valid elsewhere
    assert stream.device is device


def test_a_forked_child_is_told_to_spawn():
    done = run_python("""
        import os, warnings, cucore
        warnings.simplefilter("ignore")  # about fork, of cucore and of Python 3.12
        device = cucore.Device()
        device.set_current()
        stream = device.create_stream()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                device.create_stream()
            except cucore.CUDAError as error:
                status = 0 if "spawn" in str(error) or "fork" in str(error) else 2
            del stream
            os._exit(status)
        _, status = os.waitpid(child, 0)
        stream.sync()
        print("child", os.waitstatus_to_exitcode(status))
        """)
    assert (done.stdout, done.stderr) == ("child 0\n", "")
