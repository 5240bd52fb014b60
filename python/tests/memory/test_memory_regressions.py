"""What users of such libraries have met with memory: exports that outlive a close(), hashes that change, sizes above
2 GiB, zero bytes everywhere, frees from any thread, and drivers that are old or absent."""

import gc
import os
import threading
import warnings

import numpy as np
import pytest
from conftest import build_stand_in, run_python

import cucore
from cucore.utils import CopyOptions


def resources(device):
    """One of each kind that the device has."""
    yield cucore.LegacyPinnedMemoryResource()
    yield cucore.ManagedMemoryResource({"pooled": False})
    if device.properties.memory_pools_supported:
        yield cucore.DeviceMemoryResource(device)
        yield cucore.DeviceMemoryResource(device, {})
        yield cucore.PinnedMemoryResource({})
        yield cucore.ManagedMemoryResource({})
    if device.properties.virtual_memory_management_supported:
        yield cucore.VirtualMemoryResource(device)


@pytest.mark.parametrize("export", [memoryview, np.from_dlpack, lambda b: b.__dlpack__(max_version=(1, 0))])
def test_close_frees_nothing_that_is_exported(device, stream, export):
    resource = cucore.PinnedMemoryResource({})
    buffer = resource.allocate(4096, stream=stream)
    buffer.fill(7, stream=stream)
    stream.sync()
    exported = export(buffer)
    buffer.close()
    stream.sync()
    assert buffer.is_closed and resource.attributes.used_mem_current >= 4096
    if type(exported).__name__ != "PyCapsule":
        assert exported[4095] == 7
    del exported
    gc.collect()
    stream.sync()
    assert resource.attributes.used_mem_current == 0


def test_a_closed_buffer_keeps_its_hash(device, stream):
    buffer, other = device.allocate(64, stream=stream), device.allocate(64, stream=stream)
    kept = {buffer: 1, other: 2}
    before = hash(buffer)
    buffer.close()
    other.close()
    assert hash(buffer) == before and kept[buffer] == 1 and kept[other] == 2 and buffer != other


def test_dlpack_to_the_buffer_s_own_device(device, stream, pinned):
    for buffer in (device.allocate(64, stream=stream), pinned.allocate(64)):
        assert type(buffer.__dlpack__(dl_device=buffer.__dlpack_device__())).__name__ == "PyCapsule"
        with pytest.raises(BufferError, match="dl_device"):
            buffer.__dlpack__(dl_device=(1, 0))


def test_the_cuda_array_interface_of_a_buffer(device, stream):
    buffer = device.allocate(64, stream=stream)
    assert buffer.__cuda_array_interface__ == {
        "version": 3,
        "shape": (64,),
        "typestr": "|u1",
        "data": (buffer.handle, False),
        "strides": None,
        "stream": None,
    }
    values = np.zeros(4, np.uint8)
    assert not hasattr(cucore.Buffer.from_handle(values.ctypes.data, 4, owner=values), "__cuda_array_interface__")
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.__cuda_array_interface__  # noqa: B018


def test_copies_take_options(device, stream, pinned):
    source, target = pinned.allocate(64), pinned.allocate(64)
    memoryview(source)[:] = b"\5" * 64
    at_once = CopyOptions(src_access_order="during_api_call")
    assert source.copy_to(target, stream=stream, options=at_once) is target
    memoryview(source)[:] = bytes(64)  # it was read during the call
    stream.sync()
    assert bytes(memoryview(target)) == b"\5" * 64
    source.copy_from(target, stream=stream, options=CopyOptions(src_access_order="any"))
    copy = source.copy_to(stream=stream, options=at_once)
    stream.sync()
    assert bytes(memoryview(copy)) == b"\5" * 64
    with pytest.raises(ValueError, match="sizes"):
        source.copy_to(pinned.allocate(32), stream=stream, options=at_once)
    with pytest.raises(TypeError, match="legacy default stream"):
        source.copy_to(target, stream=cucore.LEGACY_DEFAULT_STREAM, options=at_once)
    with pytest.raises(TypeError, match="src must be a Buffer"):
        source.copy_from(b"x", stream=stream)


def test_nothing_can_be_allocated_copied_and_filled_everywhere(device, stream):
    for resource in resources(device):
        buffer, other = resource.allocate(0, stream=stream), resource.allocate(0, stream=stream)
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
        buffer.fill(1, stream=stream)
        buffer.copy_to(other, stream=stream)
        buffer.copy_from(other, stream=stream)
        buffer.close(stream)
        buffer.close()


def test_pools_may_be_larger_than_two_gibibytes(device, stream):
    resource = cucore.DeviceMemoryResource(device, {"max_size": 5 << 30})
    resource.allocate(64, stream=stream).close()


def test_out_of_memory_keeps_its_code(device, stream):
    with pytest.raises(cucore.CUDAOutOfMemoryError) as raised:
        device.memory_resource.allocate(1 << 50, stream=stream)
    assert raised.value.name == "CUDA_ERROR_OUT_OF_MEMORY"


def test_buffers_are_freed_in_a_thread_that_has_no_context(device, stream):
    with warnings.catch_warnings():
        warnings.simplefilter("error", cucore.CUDAWarning)
        for resource in resources(device):
            buffers = [resource.allocate(4096, stream=on) for on in (stream, cucore.LEGACY_DEFAULT_STREAM)]
            thread = threading.Thread(target=buffers.clear)
            thread.start()
            thread.join()
        gc.collect()


HOST_ONLY = """
    import cucore
    class Host(cucore.MemoryResource):
        is_device_accessible, is_host_accessible, device_id = False, True, -1
        def allocate(self, size, *, stream): return cucore.Buffer.from_handle(4096, size, mr=self)
        def deallocate(self, ptr, size, *, stream): print("freed", ptr, size, type(stream).__name__)
    host = Host()
    buffer = host.allocate(16, stream=None)
    print(buffer.is_device_accessible, buffer.is_host_accessible, buffer.device_id, buffer.is_managed)
    buffer.close()
    host.allocate(8, stream=None)
    print(cucore.driver_available())
"""


def test_a_resource_of_the_host_needs_no_driver():
    done = run_python(HOST_ONLY, env={"CUCORE_DEVICE": "cpu", "CUCORE_CPU_DRIVER": "/nowhere/libcuda.so.1"})
    assert done.stdout.splitlines() == [
        "False True -1 False",
        "freed 4096 16 Stream",
        "freed 4096 8 Stream",
        "False",
    ], done.stdout + done.stderr


OLD_DRIVER = """
    import cucore
    from cucore.utils import CopyOptions, copy_batch, discard_batch, prefetch_batch
    def refusal(call):
        try:
            return call()
        except Exception as error:
            return type(error).__name__
    device = cucore.Device(); device.set_current(); stream = device.create_stream()
    print(refusal(lambda: cucore.ManagedMemoryResource()))
    managed = cucore.ManagedMemoryResource({"pooled": False}).allocate(4096, stream=stream)
    managed.read_mostly = True
    managed.preferred_location = cucore.Host()
    managed.prefetch(device, stream=stream)
    prefetch_batch(stream, [managed], cucore.Host())
    stream.sync()
    print(managed.read_mostly, managed.preferred_location, managed.last_prefetch_location)
    print(refusal(lambda: managed.discard(stream=stream)), refusal(lambda: discard_batch(stream, [managed])))
    print(refusal(lambda: managed.discard_prefetch(device, stream=stream)))
    other = device.allocate(4096, stream=stream)
    managed.fill(3, stream=stream)
    copy_batch(stream, [managed], [other], options=CopyOptions(overlap_mode="prefer_overlap_with_compute"))
    managed.fill(4, stream=stream)
    other.copy_to(managed, stream=stream, options=CopyOptions())
    stream.sync()
    print(memoryview(managed)[4095])
    print(refusal(lambda: copy_batch(stream, [managed], [other], options=CopyOptions("during_api_call"))))
"""


def test_a_driver_before_cuda_13_does_what_it_can_and_names_what_it_cannot(tmp_path):
    driver = build_stand_in("driver_of_12_3.c", tmp_path / "libdriver_of_12_3.so")
    done = run_python(
        OLD_DRIVER,
        env={
            "CUCORE_DEVICE": "cpu",
            "CUCORE_CPU_DRIVER": str(driver),
            "NEWER_DRIVER": os.path.realpath(cucore.driver_info().path),
        },
    )
    assert done.stdout.splitlines() == [
        "RuntimeError",
        "True Host() Host()",
        "NotImplementedError NotImplementedError",
        "NotImplementedError",
        "3",
        "RuntimeError",
    ], done.stdout + done.stderr
