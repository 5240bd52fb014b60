"""Buffers: what they tell, copies, fills, foreign memory, and what a closed one does."""

from common import each, lines

PROPERTIES = """handle size device_id is_closed is_device_accessible is_host_accessible is_managed is_mapped memory_resource
owner ipc_descriptor"""
PLAIN = "size device_id is_closed is_device_accessible is_host_accessible is_managed is_mapped owner"
KINDS = ["buffer", "host", "foreign", "owned", "empty", "of_managed"]
WRONG = ["None", "5", "'x'", "object()", "device", "b'abc'", "np.zeros(4)"]
METHODS = """close() copy_to(stream=stream) copy_from(buffer,stream=stream) fill(1,stream=stream) set_deallocation_stream(stream)
__dlpack__() __dlpack_device__() __hash__()"""
FILLS = """0 1 255 256 -1 1.5 True None 'a' b'a' b'ab' b'abc' b'abcd' b'' bytearray(b'ab') memoryview(b'ab') np.uint8(3) np.int32(3)
np.float32(1) np.zeros(4,'u1') np.zeros(2,'i4') [1] (1,) 2**70 np.uint16(65535) np.int8(-1) ctypes.c_int(5) array_of_two"""

BEHAVIOURS = [
    *each("kind({kind}.{name})", kind=KINDS, name=PROPERTIES),
    *each("{kind}.{name}", kind=KINDS, name=PLAIN),
    *each("buffer.{name} = 5", name=PROPERTIES),
    *each("gone().{name}", name=PROPERTIES),
    *each("kind(gone().{method})", method=METHODS),
    *each("{done}(gone())", done="bool repr str copy.copy len"),
    *each("{done}(buffer)", done="copy.copy copy.deepcopy len iter bool callable int float list bytes"),
    *each("{kind}.__dlpack_device__()", kind=KINDS),
    *each("kind({kind}.__dlpack__())", kind=KINDS),
    *each(
        "kind(buffer.__dlpack__({arguments}))",
        arguments=[
            "stream=None",
            "stream=-1",
            "stream=1",
            "stream=0",
            "stream=2",
            "stream=stream",
            "stream='x'",
            "max_version=(1, 0)",
            "max_version=(0, 8)",
            "max_version=None",
            "max_version=5",
            "dl_device=(2, 0)",
            "dl_device=(1, 0)",
            "dl_device=None",
            "copy=True",
            "copy=False",
            "copy=None",
            "None",
            "none=1",
        ],
    ),
    *each(
        "kind(host.__dlpack__({arguments}))",
        arguments=[
            "stream=None",
            "stream=-1",
            "dl_device=(1, 0)",
            "dl_device=(3, 0)",
            "copy=False",
            "max_version=(1, 1)",
        ],
    ),
    *each("buffer.fill({value}, stream=stream)", value=FILLS),
    *each(
        "host.fill({value}, stream=stream); stream.sync(); View.from_any_interface(host, -1).shape",
        value=["1", "b'ab'", "b'abc'", "-5"],
    ),
    *each("small.fill({value}, stream=stream)", value=["1", "b'ab'", "b'abcd'", "np.int32(3)"]),
    *each(
        "buffer.fill({arguments})",
        arguments=[
            "1",
            "stream=stream",
            "1, stream",
            "1, stream=None",
            "1, stream=5",
            "value=1, stream=stream",
            "1, stream=core.LEGACY_DEFAULT_STREAM",
            "1, stream=gone_stream",
            "1, 2, stream=stream",
        ],
    ),
    *each(
        "buffer.copy_to({arguments})",
        arguments=[
            "other, stream=stream",
            "stream=stream",
            "None, stream=stream",
            "dst=other, stream=stream",
            "other",
            "small, stream=stream",
            "bigger, stream=stream",
            "host, stream=stream",
            "5, stream=stream",
            "stream, stream=stream",
            "other, stream=None",
            "other, stream=5",
            "other, stream",
            "other, stream=stream, options=None",
            "other, stream=stream, options=5",
            "other, stream=stream, options={}",
            "other, stream=stream, options=utils.CopyOptions()",
            "other, stream=stream, options=utils.CopyOptions('any')",
            "other, stream=stream, options={'src_access_order': 'any'}",
            "buffer, stream=stream",
            "gone(), stream=stream",
            "foreign, stream=stream",
            "other, stream=gone_stream",
        ],
    ),
    *each(
        "buffer.copy_from({arguments})",
        arguments=[
            "other, stream=stream",
            "stream=stream",
            "None, stream=stream",
            "src=other, stream=stream",
            "other",
            "small, stream=stream",
            "bigger, stream=stream",
            "host, stream=stream",
            "5, stream=stream",
            "other, stream=None",
            "other, stream=5",
            "other, stream",
            "other, stream=stream, options=None",
            "other, stream=stream, options=5",
            "other, stream=stream, options=utils.CopyOptions()",
            "gone(), stream=stream",
            "empty, stream=stream",
        ],
    ),
    *each(
        "kind(buffer.copy_to({arguments}).{name})",
        arguments=["stream=stream", "other, stream=stream"],
        name="size memory_resource device_id",
    ),
    *each(
        "core.Buffer.from_handle({arguments}).{name}",
        arguments=[
            "0, 0",
            "0, 16",
            "None, 0",
            "address, 16",
            "ptr=address, size=16",
            "address, 16, None",
            "address, 16, mr=None",
            "address, 16, Counting()",
            "address, 16, mr=Counting()",
            "address, 16, owner=5",
            "buffer.handle, 256",
            "address, 16, mr=Counting(), stream=stream",
        ],
        name="size is_closed owner memory_resource device_id is_device_accessible is_host_accessible",
    ),
    *each(
        "core.Buffer.from_handle({arguments})",
        arguments=[
            "",
            "address",
            "'x', 16",
            "address, -1",
            "address, 'x'",
            "address, 1.5",
            "address, 16, 5",
            "address, 16, resource, 5",
            "-1, 16",
            "2**70, 16",
            "1.5, 16",
            "address, 16, owner=5, stream=stream",
            "address, 16, stream=5",
            "address, 16, None, None, stream",
            "address, None",
            "b'', 16",
        ],
    ),
    *each(
        "buffer {operator} {other}",
        operator="== != <",
        other=["buffer", "other", "None", "5", "foreign", "int(buffer.handle)"],
    ),
    *each("hash({one}) == hash({other})", one=["buffer", "empty"], other=["buffer", "other", "empty"]),
    *each(
        "buffer.set_deallocation_stream({wrong})",
        wrong=[
            *WRONG,
            "",
            "stream",
            "stream=stream",
            "core.LEGACY_DEFAULT_STREAM",
            "gone_stream",
            "device.create_stream().create_graph_builder()",
        ],
    ),
    *each(
        "make().close({arguments})",
        arguments=[
            "",
            "None",
            "stream",
            "stream=stream",
            "5",
            "'x'",
            "stream, 1",
            "core.LEGACY_DEFAULT_STREAM",
            "stream=None",
            "device",
            "gone_stream",
        ],
    ),
    *each(
        "core.Buffer.from_ipc_descriptor({arguments})",
        arguments=[
            "",
            "resource",
            "resource, 5",
            "resource, None",
            "resource, b'x', stream=stream",
            "5, 5, stream=stream",
        ],
    ),
    *lines("""
        core.Buffer()
        core.Buffer(5)
        core.Buffer(address, 16)
        core.Buffer.__new__(core.Buffer)
        shape(repr(buffer)).replace("#", "")[:8]
        shape(repr(host))[:8]
        buffer.none
        buffer.none = 1
        buffer.memory_resource is resource
        buffer.memory_resource == resource
        host.memory_resource is pinned
        foreign.memory_resource
        owned.owner
        owned.owner == "owner"
        buffer.handle == buffer.handle
        int(buffer.handle) % 256
        int(buffer.handle) == buffer.handle
        int(empty.handle) == 0
        {buffer: 1}[buffer]
        pickle.dumps(buffer)
        weakref.ref(buffer)() is buffer
        in_thread(lambda: buffer.size)
        in_thread(lambda: buffer.fill(1, stream=stream))
        in_thread(lambda: buffer.copy_to(other, stream=stream).size)
        in_thread(lambda: resource.allocate(16, stream=stream).size)
        in_thread(lambda: make().close())
        dies(lambda: make())
        one = make(); two = one; one.close(); two.is_closed
        closed(closed(make())).is_closed
        one = make(); one.close(stream); one.close(stream); one.is_closed
        isinstance(buffer, core.ManagedBuffer)
        isinstance(of_managed, core.ManagedBuffer)
        issubclass(core.ManagedBuffer, core.Buffer)
        issubclass(type("Mine", (core.Buffer,), {}), core.Buffer)
        type("Mine", (core.Buffer,), {}).from_handle(address, 16)
        core.Buffer.from_handle(address, 16) == core.Buffer.from_handle(address, 16)
        hash(core.Buffer.from_handle(address, 16)) == hash(core.Buffer.from_handle(address, 16))
        core.Buffer.from_handle(address, 16, mr=Counting()).memory_resource.freed
        mr = Counting(); core.Buffer.from_handle(address, 16, mr=mr).close(); mr.freed
        mr = Counting(); core.Buffer.from_handle(address, 16, mr=mr).close(stream); mr.freed
        mr = Counting(); one = core.Buffer.from_handle(address, 16, mr=mr); one.close(); one.close(); mr.freed
        mr = Counting(); core.Buffer.from_handle(address, 16, mr=mr); gc.collect(); mr.freed
        mr = Counting(); one = core.Buffer.from_handle(address, 16, mr=mr, stream=stream); one.close(); mr.streams
        mr = Counting(); one = core.Buffer.from_handle(address, 16, mr=mr); one.set_deallocation_stream(stream); one.close(); mr.streams
        mr = Counting(); core.Buffer.from_handle(address, 16, mr=mr).device_id
        mr = Counting(); core.Buffer.from_handle(address, 16, mr=mr).is_host_accessible
        mr = Counting(); core.Buffer.from_handle(address, 16, mr=mr).is_device_accessible
        mr = Counting(); mr.allocate(16, stream=stream).memory_resource is mr
        Failing().allocate(16, stream=stream)
        core.Buffer.from_handle(address, 16, mr=Failing()).close()
        np.from_dlpack(host).shape
        np.from_dlpack(host).dtype
        np.from_dlpack(host).nbytes
        np.from_dlpack(host).flags.writeable
        np.from_dlpack(buffer)
        host.fill(7, stream=stream); stream.sync(); np.from_dlpack(host)[:3]
        host.fill(b"ab", stream=stream); stream.sync(); np.from_dlpack(host)[:4]
        host.fill(np.int32(5), stream=stream); stream.sync(); np.from_dlpack(host)[:5]
        host.fill(-1, stream=stream); stream.sync(); np.from_dlpack(host)[:3]
        buffer.fill(9, stream=stream); buffer.copy_to(host, stream=stream); stream.sync(); np.from_dlpack(host)[-2:]
        host.copy_from(buffer, stream=stream); stream.sync(); np.from_dlpack(host)[0]
        one = buffer.copy_to(stream=stream); one.memory_resource is resource
        one = host.copy_to(stream=stream); one.memory_resource is pinned
        foreign.copy_to(stream=stream)
        hasattr(buffer, "__enter__")
        hasattr(buffer, "__cuda_array_interface__")
        hasattr(buffer, "__len__")
    """),
]


def names(shared):
    core, stream, resource, pinned, device = shared.core, shared.stream, shared.resource, shared.pinned, shared.device
    kept = resource.allocate(256, stream=stream)
    address = int(kept.handle)

    class Counting(core.MemoryResource):
        """A resource that is written in Python, over memory that is kept here."""

        def __init__(self):
            self.freed, self.streams = [], []

        def allocate(self, size, *, stream=None):
            return core.Buffer.from_handle(address, size, self)

        def deallocate(self, ptr, size, *, stream=None):
            self.freed.append((int(ptr) == address, size))
            self.streams.append(type(stream).__name__)

        is_device_accessible = property(lambda self: True)
        is_host_accessible = property(lambda self: False)
        device_id = property(lambda self: 0)

    class Failing(Counting):
        def allocate(self, size, *, stream=None):
            raise KeyError("none left")

        def deallocate(self, ptr, size, *, stream=None):
            raise KeyError("not mine")

    def make():
        return resource.allocate(64, stream=stream)

    def gone():
        return shared.closed(make())

    sized = {"other": 256, "small": 16, "bigger": 512, "empty": 0}
    made = {name: resource.allocate(size, stream=stream) for name, size in sized.items()}
    managed = core.ManagedMemoryResource()
    stream.sync()
    return {
        **made,
        "kept": kept,
        "address": address,
        "make": make,
        "gone": gone,
        "Counting": Counting,
        "Failing": Failing,
        "host": pinned.allocate(256),
        "foreign": core.Buffer.from_handle(address, 256),
        "owned": core.Buffer.from_handle(address, 256, owner="owner"),
        "of_managed": managed.allocate(256, stream=stream),
        "array_of_two": (shared.ctypes.c_char * 2)(),
        "gone_stream": shared.closed(device.create_stream()),
    }
