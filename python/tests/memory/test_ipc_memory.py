"""Memory between processes: pools and buffers go through multiprocessing, are the same memory there, and are let go."""

import os
import pickle
import subprocess
import sys
import uuid

import pytest
from conftest import run_python

import cucore

PROGRAM = '''
import gc, multiprocessing, os, pickle, signal, sys
import cucore

SIZE = 4096


def contents(buffer, stream):
    kept = cucore.LegacyPinnedMemoryResource().allocate(buffer.size)
    buffer.copy_to(kept, stream=stream)
    stream.sync()
    return bytes(memoryview(kept))


def use(buffer, value, stream):
    """What is in it, which must be one byte all over; then it is filled."""
    (found,) = set(contents(buffer, stream))
    buffer.fill(value, stream=stream)
    stream.sync()
    return found


def consumer(kind, resource, first, queue, answers):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    answers.put((type(resource).__name__, resource.is_mapped, resource.is_ipc_enabled, str(resource.uuid)))
    try:
        resource.allocate(8, stream=stream)
    except TypeError as error:
        answers.put("mapped" in str(error))
    answers.put((first.is_mapped, first.memory_resource is resource, use(first, 2, stream)))
    second = queue.get()
    answers.put((second.memory_resource is resource, use(second, 4, stream)))

    # The same buffer twice, from a descriptor: one mapping, that lasts until both are closed.
    descriptor, data = queue.get()
    once = cucore.Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    again = pickle.loads(data)
    once.close()
    answers.put((again.size == descriptor.size, again.ipc_descriptor == descriptor, use(again, 6, stream)))
    again.close()

    # A handle: what is registered already; without that a new one, that can be registered.
    handle = queue.get()
    arguments = (handle,) if kind == "PinnedMemoryResource" else (device, handle)
    same = type(resource).from_allocation_handle(*arguments) is resource
    bare = type(resource).from_allocation_handle(*arguments[:-1], int(handle))
    answers.put((same, bare.uuid is None, bare.is_mapped, handle.uuid == resource.uuid))
    bare.close(), handle.close()

    queue.get()
    first.close(stream), second.close(), resource.close()
    answers.put((first.is_closed, resource.is_closed))


def victim(buffer, pipe):
    cucore.Device().set_current()
    pipe.send(use(buffer, 8, cucore.Device().create_stream()))
    signal.pause()


def owner(kind, pipe):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    resource = make(kind, device)
    buffer = resource.allocate(SIZE, stream=stream)
    buffer.fill(9, stream=stream)
    stream.sync()
    pipe.send(buffer)
    signal.pause()


def make(kind, device):
    options = {"ipc_enabled": True}
    return cucore.PinnedMemoryResource(options) if kind == "PinnedMemoryResource" else \\
        cucore.DeviceMemoryResource(device, options)


def main(kind):
    queue, answers = multiprocessing.Queue(), multiprocessing.Queue()
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    resource = make(kind, device)
    def filled(value):
        buffer = resource.allocate(SIZE, stream=stream)
        buffer.fill(value, stream=stream)
        stream.sync()
        return buffer
    first, second, third = filled(1), filled(3), filled(5)
    child = multiprocessing.Process(target=consumer, args=(kind, resource, first, queue, answers), daemon=True)
    child.start()
    answer = lambda: answers.get(timeout=90)
    print(answer() == (kind, True, True, str(resource.uuid)), answer(), answer())
    queue.put(second)
    print(answer())
    queue.put((third.ipc_descriptor, pickle.dumps(third)))
    print(answer())
    queue.put(resource.allocation_handle)
    print(answer())
    resource.close()  # buffers keep the pool, and other processes theirs
    print([use(buffer, 7, stream) for buffer in (first, second, third)])
    resource = make(kind, device)
    fourth = filled(1)
    queue.put(None)
    print(answer())
    child.join()
    print(child.exitcode)

    # Whoever is killed, the others go on. (One that is killed may leave a queue locked, but not a pipe.)
    here, there = multiprocessing.Pipe()
    def answer():
        assert here.poll(90)
        return here.recv()
    child = multiprocessing.Process(target=victim, args=(fourth, there), daemon=True)
    child.start()
    print(answer())
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    print(child.exitcode, use(fourth, 1, stream), use(filled(6), 1, stream))
    child = multiprocessing.Process(target=owner, args=(kind, there), daemon=True)
    child.start()
    orphan = answer()
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    print(child.exitcode, orphan.is_mapped, use(orphan, 1, stream), repr(orphan).endswith("is_mapped=True>"))
    del orphan
    gc.collect()
    stream.sync()


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    main(sys.argv[1])
'''

KINDS = ("DeviceMemoryResource", "PinnedMemoryResource")


def require(device, kind):
    able = device.properties.mempool_supported_handle_types & 1
    if not (able if kind == "DeviceMemoryResource" else device.properties.host_numa_memory_pools_supported):
        pytest.skip("the device has no such pools that processes can share")


@pytest.fixture(params=KINDS)
def resource(request, device):
    require(device, request.param)
    options = {"ipc_enabled": True}
    if request.param == "PinnedMemoryResource":
        return cucore.PinnedMemoryResource(options)
    return cucore.DeviceMemoryResource(device, options)


def imported(resource, handle):
    if isinstance(resource, cucore.PinnedMemoryResource):
        return type(resource).from_allocation_handle(handle)
    return type(resource).from_allocation_handle(resource.device_id, handle)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("kind", KINDS)
def test_processes_share_pools_and_buffers_and_survive_each_other(device, kind, method, tmp_path):
    require(device, kind)
    program = tmp_path / "program.py"  # multiprocessing imports it again in the child
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program, kind, method], capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "True True (True, True, 1)",
        "(True, 3)",
        "(True, True, 5)",
        "(True, True, True, True)",
        "[2, 4, 6]",
        "(True, True)",
        "0",
        "1",
        "-9 8 6",
        "-9 True 9 True",
    ]


def test_a_forked_child_cannot_use_what_was_sent_and_is_told_to_spawn(device, tmp_path):
    require(device, "DeviceMemoryResource")
    program = tmp_path / "program.py"
    program.write_text("""
import multiprocessing, warnings
import cucore

def child(resource, answers):
    for use in (lambda: cucore.Device().create_stream(), lambda: resource.attributes.used_mem_current):
        try:
            use()
        except cucore.CUDAError as error:
            answers.put("spawn" in str(error))

if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    device = cucore.Device()
    device.set_current()
    resource = cucore.DeviceMemoryResource(device, {"ipc_enabled": True})
    answers = multiprocessing.Queue()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            multiprocessing.reduction.ForkingPickler.dumps(resource)
        process = multiprocessing.Process(target=child, args=(resource, answers))
        process.start()
    said = [str(each.message) for each in caught if each.category is UserWarning]
    print(len(said), "spawn" in said[0])
    print(answers.get(timeout=90), answers.get(timeout=90))
    process.join()
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("1 True\nTrue True\n", "")


def test_a_pool_that_is_shared_has_a_handle_and_a_uuid_of_its_own(resource):
    handle = resource.allocation_handle
    assert resource.is_ipc_enabled and not resource.is_mapped and resource.is_handle_owned
    assert handle is resource.allocation_handle and isinstance(handle, cucore.IPCAllocationHandle)
    assert isinstance(resource.uuid, uuid.UUID) and resource.uuid == handle.uuid == resource.uuid
    assert int(handle) == handle.handle and os.fstat(handle.handle) and not handle.is_closed
    with pytest.raises(TypeError, match="multiprocessing"):
        pickle.dumps(handle)
    file = handle.handle
    handle.close(), handle.close()
    assert (handle.handle, handle.is_closed) == (-1, True)
    with pytest.raises(OSError):
        os.fstat(file)
    with pytest.raises(ValueError, match="closed"):
        int(handle)
    with pytest.raises(ValueError, match="closed"):
        imported(resource, handle)


def test_the_handle_closes_its_file_with_the_last_that_has_it(device):
    require(device, "DeviceMemoryResource")
    resource = cucore.DeviceMemoryResource(device, {"ipc_enabled": True})
    with resource.allocation_handle as handle:
        file = handle.handle
        resource.close()
        os.fstat(file)
    with pytest.raises(OSError):
        os.fstat(file)


def test_pickle_names_a_registered_resource(resource):
    data = pickle.dumps(resource)
    with pytest.raises(RuntimeError, match=f"{resource.uuid} was not found.*multiprocessing"):
        pickle.loads(data)
    with pytest.raises(ValueError, match="is the pool"):
        resource.register(uuid.uuid4())
    with pytest.raises(TypeError, match="UUID"):
        resource.register("name")
    assert resource.register(resource.uuid) is resource
    assert pickle.loads(data) is resource is type(resource).from_registry(resource.uuid)
    other = cucore.DeviceMemoryResource(0, {"ipc_enabled": True})
    assert other.register(resource.uuid) is resource
    assert imported(resource, resource.allocation_handle) is resource
    wrong = {cucore.DeviceMemoryResource: cucore.PinnedMemoryResource}.get(type(resource), cucore.DeviceMemoryResource)
    with pytest.raises(TypeError, match=f"registered as {type(resource).__name__}"):
        wrong.from_allocation_handle(*([0] * (wrong is cucore.DeviceMemoryResource)), resource.allocation_handle)
    resource.close()
    with pytest.raises(RuntimeError, match="was not found"):
        pickle.loads(data)


def test_the_registry_keeps_nothing_alive(device):
    require(device, "DeviceMemoryResource")
    resource = cucore.DeviceMemoryResource(device, {"ipc_enabled": True})
    name = resource.register(resource.uuid).uuid
    del resource
    with pytest.raises(RuntimeError, match="was not found"):
        cucore.DeviceMemoryResource.from_registry(name)


def test_a_descriptor_of_a_buffer_pickles_and_is_the_same_each_time(resource, stream):
    buffer = resource.allocate(100, stream=stream)
    descriptor = buffer.ipc_descriptor
    assert descriptor is buffer.ipc_descriptor and descriptor.size == 100 and not buffer.is_mapped
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor
    assert len({descriptor, pickle.loads(pickle.dumps(descriptor))}) == 1
    assert descriptor != resource.allocate(100, stream=stream).ipc_descriptor
    with pytest.raises(cucore.CUDAError, match="(?s)cuMemPoolImportPointer.*use the buffer itself"):
        cucore.Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = buffer.ipc_descriptor
    with pytest.raises(ValueError, match="no memory to share"):
        _ = resource.allocate(0, stream=stream).ipc_descriptor


def test_what_is_not_shared_says_how_it_could_be(device, stream, resource):
    descriptor = resource.allocate(8, stream=stream).ipc_descriptor
    plain = cucore.DeviceMemoryResource(device)
    assert (plain.uuid, plain.is_ipc_enabled, plain.is_mapped) == (None, False, False)
    buffer = plain.allocate(8, stream=stream)
    legacy = cucore.LegacyPinnedMemoryResource()
    for refused in (
        lambda: plain.allocation_handle,
        lambda: plain.register(uuid.uuid4()),
        lambda: pickle.dumps(plain),
        lambda: buffer.ipc_descriptor,
        lambda: pickle.dumps(buffer),
        lambda: legacy.allocate(8).ipc_descriptor,
        lambda: cucore.Buffer.from_handle(1, 1).ipc_descriptor,
        lambda: cucore.Buffer.from_ipc_descriptor(plain, descriptor, stream=stream),
        lambda: cucore.Buffer.from_ipc_descriptor(legacy, descriptor, stream=stream),
    ):
        with pytest.raises(RuntimeError, match="not IPC-enabled(.|\n)*ipc_enabled"):
            refused()


def test_wrong_arguments_of_sharing(resource, stream):
    from cucore import _ipc_memory

    descriptor = resource.allocate(8, stream=stream).ipc_descriptor
    for refused, error, text in (
        (lambda: imported(resource, -1), OSError, "Bad file"),
        (lambda: imported(resource, 9999), OSError, "Bad file"),
        (lambda: imported(resource, "1"), TypeError, "IPCAllocationHandle"),
        (lambda: cucore.IPCAllocationHandle(), RuntimeError, "directly"),
        (lambda: cucore.IPCBufferDescriptor(), RuntimeError, "directly"),
        (lambda: cucore.Buffer.from_ipc_descriptor(resource, 5, stream=stream), TypeError, "IPCBufferDescriptor"),
        (lambda: cucore.Buffer.from_ipc_descriptor(resource, descriptor, stream=None), TypeError, "stream"),
        (
            lambda: cucore.Buffer.from_ipc_descriptor(resource, _ipc_memory.descriptor(b"short", 8), stream=stream),
            ValueError,
            "64 bytes, not 5",
        ),
    ):
        with pytest.raises(error, match=text):
            refused()
    reader, writer = os.pipe()
    with pytest.raises(cucore.CUDAError, match="(?s)cuMemPoolImportFromShareableHandle.*file descriptor"):
        imported(resource, reader)
    os.close(reader), os.close(writer)  # they were the caller's all the time


def test_sharing_is_learnt_only_when_it_is_asked_for():
    done = run_python("""
        import sys, cucore
        device = cucore.Device()
        device.set_current()
        resource = cucore.DeviceMemoryResource(device, {"ipc_enabled": False})
        resource.allocate(8, stream=device.default_stream).close()
        print(resource.uuid, "multiprocessing" in sys.modules)
        """)
    assert (done.stdout, done.stderr) == ("None False\n", "")
