"""GraphMemoryResource: memory that graphs allocate. The captures are the driver's own, by its C functions."""

import ctypes
import gc
import pickle

import pytest

import cucore
from cucore import GraphMemoryResource


class Capture:
    """A capture of `stream`, and launches of what it was."""

    def __init__(self, stream):
        self.driver = ctypes.CDLL(cucore.driver_info().path)
        self.stream = stream
        self.handle = ctypes.c_void_p(int(stream.handle))
        self.graph, self.executable = ctypes.c_void_p(), ctypes.c_void_p()

    def __enter__(self):
        assert self.driver.cuStreamBeginCapture_v2(self.handle, 2) == 0
        return self

    def __exit__(self, *exception):
        self.code = self.driver.cuStreamEndCapture(self.handle, ctypes.byref(self.graph))

    def launch(self):
        if not self.executable:
            create = self.driver.cuGraphInstantiateWithFlags
            assert create(ctypes.byref(self.executable), self.graph, ctypes.c_ulonglong(0)) == 0
        return self.driver.cuGraphLaunch(self.executable, self.handle)

    def destroy(self):
        if self.executable:
            assert self.driver.cuGraphExecDestroy(self.executable) == 0
        assert self.driver.cuGraphDestroy(self.graph) == 0


@pytest.fixture
def memory(device):
    if not device.properties.memory_pools_supported:
        pytest.skip("the device has no pools")
    resource = GraphMemoryResource(device)
    yield resource
    gc.collect()
    resource.trim()


def test_there_is_one_for_each_device(device):
    assert GraphMemoryResource(device) is GraphMemoryResource(0) is GraphMemoryResource(device_id=0)
    assert isinstance(GraphMemoryResource(0), cucore.MemoryResource)
    with pytest.raises(TypeError):
        GraphMemoryResource("0")
    with pytest.raises(TypeError):
        GraphMemoryResource(None)


def test_what_it_says_of_itself(memory):
    assert memory.is_device_accessible
    assert not memory.is_host_accessible
    assert not memory.is_managed
    assert memory.device_id == 0
    assert repr(memory) == "<GraphMemoryResource device_id=0>"
    memory.close()
    assert memory.device_id == 0
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(memory)


def test_needs_a_capture(memory, stream):
    with pytest.raises(RuntimeError, match="non-capturing stream"):
        memory.allocate(64, stream=stream)
    with pytest.raises(TypeError, match="stream is required"):
        memory.allocate(64, stream=None)


def test_refuses_an_invalidated_capture(memory, device, stream):
    with Capture(stream) as capture:
        with pytest.raises(cucore.CUDAError):
            stream.sync()
        with pytest.raises(RuntimeError, match="invalidated"):
            memory.allocate(64, stream=stream)
        with pytest.raises(RuntimeError, match="capturing"):
            device.allocate(64, stream=stream)
    assert capture.code != 0


def test_memory_closed_while_capturing_is_the_graphs_own(memory, pinned, stream):
    seen = pinned.allocate(64)
    with Capture(stream) as capture:
        buffer = memory.allocate(64, stream=stream)
        assert buffer.size == 64
        assert int(buffer.handle) != 0
        assert buffer.memory_resource is memory
        buffer.fill(7, stream=stream)
        seen.copy_from(buffer, stream=stream)
        buffer.close()
    assert capture.code == 0
    for _ in range(2):
        seen.fill(0, stream=stream)
        assert capture.launch() == 0
        stream.sync()
        assert bytes(memoryview(seen)) == b"\x07" * 64
    capture.destroy()


def test_memory_that_a_launch_left_is_freed_by_its_buffer(memory, pinned, stream):
    seen = pinned.allocate(64)
    with Capture(stream) as capture:
        buffer = memory.allocate(64, stream=stream)
        buffer.fill(9, stream=stream)
    address = int(buffer.handle)
    assert capture.launch() == 0
    seen.copy_from(buffer, stream=stream)
    stream.sync()
    assert bytes(memoryview(seen)) == b"\x09" * 64
    assert memory.attributes.used_mem_current > 0
    buffer.close(stream)
    stream.sync()
    assert capture.launch() == 0  # what the launch before left has been freed
    memory.deallocate(address, 64, stream=stream)
    stream.sync()
    capture.destroy()


def test_nothing_of_nothing(memory, stream):
    with Capture(stream) as capture:
        buffer = memory.allocate(0, stream=stream)
        assert (int(buffer.handle), buffer.size) == (0, 0)
        buffer.close()
    assert capture.code == 0
    capture.destroy()


def test_attributes(memory, stream):
    attributes = memory.attributes
    with Capture(stream) as capture:
        memory.allocate(1 << 20, stream=stream).close()
    assert capture.launch() == 0
    stream.sync()
    assert attributes.used_mem_high >= 1 << 20
    assert attributes.reserved_mem_high >= attributes.reserved_mem_current
    capture.destroy()
    memory.trim()
    attributes.used_mem_high = 0
    attributes.reserved_mem_high = 0
    assert attributes.used_mem_high == attributes.used_mem_current
    assert attributes.reserved_mem_high == attributes.reserved_mem_current
    for value, refused in ((1, AttributeError), (-1, AttributeError), (None, TypeError), ("0", TypeError)):
        with pytest.raises(refused, match="assign"):
            attributes.used_mem_high = value
        with pytest.raises(refused, match="assign"):
            attributes.reserved_mem_high = value
    for name in ("reserved_mem_current", "used_mem_current"):
        with pytest.raises(AttributeError):
            setattr(attributes, name, 0)
    assert "used_mem_high=0" in repr(attributes)
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        type(attributes)()
