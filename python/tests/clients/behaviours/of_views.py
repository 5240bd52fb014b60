"""Strided memory views: from each interface, what they tell, views of views, copies, and the decorator."""

from common import each, lines

PROPERTIES = "device_id dtype exporting_obj is_device_accessible ptr readonly shape size strides"
PLAIN = "device_id dtype is_device_accessible readonly shape size strides"
ARRAYS = """
np.zeros(4)
np.zeros((2,3),'f4')
np.zeros((2,3),'f4').T
np.zeros((4,4),'i2')[::2]
np.zeros((4,4),'i2')[:,1:3]
np.zeros(4)[::-1]
np.zeros(())
np.zeros(0)
np.zeros((0,3))
np.zeros((2,3),order='F')
np.zeros(3,'?')
np.zeros(3,'c8')
np.zeros(3,'f2')
np.zeros(3,'u8')
np.zeros(3,'>f4')
np.zeros(3,'S4')
np.zeros(3,'M8[s]')
np.zeros(3,[('a','i4')])
np.zeros(3,object)
np.broadcast_to(np.zeros(3),(2,3))
frozen
"""
SOURCES = [
    "array",
    "frozen",
    "buffer",
    "host",
    "cai",
    "cai2",
    "5",
    "None",
    "'x'",
    "b'x'",
    "object()",
    "[1]",
    "view",
    "bytearray(4)",
    "stream",
    "core.Buffer.from_handle(0, 0)",
]
STREAMS = [
    "",
    ", -1",
    ", None",
    ", 0",
    ", 1",
    ", 2",
    ", int(stream.handle)",
    ", stream",
    ", 'x'",
    ", stream_ptr=-1",
    ", -2",
]
FROM_BUFFER = """
(4,), itemsize=4
(4,), dtype=np.dtype('f4')
(4,)
(4,), itemsize=4, dtype=np.dtype('f4')
(4,), itemsize=2, dtype=np.dtype('f4')
(4, 4), dtype=np.dtype('f4')
(4, 4), (4, 1), dtype=np.dtype('f4')
(4, 4), (1, 4), dtype=np.dtype('f4')
(4, 4), strides=(4, 1), dtype=np.dtype('f4')
(4, 4), (4,), dtype=np.dtype('f4')
(4, 4), (100, 1), dtype=np.dtype('f4')
(4, 4), (-4, 1), dtype=np.dtype('f4')
(1000,), dtype=np.dtype('f4')
(), dtype=np.dtype('f4')
(0,), dtype=np.dtype('f4')
(-1,), dtype=np.dtype('f4')
4, dtype=np.dtype('f4')
[4], dtype=np.dtype('f4')
'x', dtype=np.dtype('f4')
None, dtype=np.dtype('f4')
(4,), dtype='f4'
(4,), dtype=np.float32
(4,), dtype=5
(4,), itemsize=3
(4,), itemsize=0
(4,), itemsize=-1
(4,), itemsize='x'
(4,), dtype=np.dtype('f4'), is_readonly=True
(4,), dtype=np.dtype('f4'), is_readonly=None
(4,), None, 4
(1.5,), itemsize=4
(4,), dtype=None, itemsize=4
shape=(4,), itemsize=4
"""

BEHAVIOURS = [
    *[
        snippet
        for array in lines(ARRAYS)
        for snippet in each(
            "View.from_{way}({array}{stream}).{name}", way=["array_interface"], stream=[""], array=[array], name=PLAIN
        )
    ],
    *[
        snippet
        for array in lines(ARRAYS)
        for snippet in each(
            "View.from_{way}({array}, -1).{name}", way=["dlpack"], array=[array], name="dtype shape strides readonly"
        )
    ],
    *[
        snippet
        for array in lines(ARRAYS)
        for snippet in each("View.from_any_interface({array}, -1).{name}", array=[array], name="shape size")
    ],
    *each("kind(View.from_any_interface({source}{stream}))", source=SOURCES, stream=STREAMS[1:3]),
    *each("kind(View.from_dlpack({source}{stream}))", source=SOURCES[:6], stream=STREAMS),
    *each("kind(View.from_cuda_array_interface({source}{stream}))", source=["cai", "cai2"], stream=STREAMS),
    *each("kind(View.from_cuda_array_interface({source}, -1))", source=SOURCES),
    *each("kind(View.from_array_interface({source}))", source=SOURCES),
    *each(
        "View.from_cuda_array_interface(Gives(__cuda_array_interface__={**whole, {change}}), -1).{name}",
        change=[
            "'version': 3",
            "'version': 2",
            "'version': 1",
            "'version': 0",
            "'strides': None",
            "'strides': (4,)",
            "'strides': (8,)",
            "'strides': (-4,)",
            "'shape': ()",
            "'shape': (0,)",
            "'shape': [4]",
            "'typestr': '<f8'",
            "'typestr': '|u1'",
            "'typestr': '>f4'",
            "'typestr': 'x'",
            "'data': (0, False)",
            "'data': (address, True)",
            "'data': None",
            "'mask': 5",
            "'stream': 1",
            "'stream': None",
            "'stream': 0",
            "'descr': [('', '<f4')]",
        ],
        name="shape dtype readonly",
    ),
    *each(
        "View.from_{way}(Gives({given}){stream})",
        way="array_interface",
        stream=[""],
        given=[
            "__array_interface__={}",
            "__array_interface__=None",
            "__array_interface__=5",
            "__array_interface__={'version': 2}",
            "none=1",
        ],
    ),
    *each(
        "View({arguments}).shape",
        arguments=[
            "array, -1",
            "array",
            "array, stream_ptr=-1",
            "",
            "None, -1",
            "buffer, -1",
            "cai, -1",
            "5, -1",
            "host, -1",
            "view, -1",
        ],
    ),
    *each("kind(View().{name})", name=PROPERTIES),
    *each(
        "View.from_buffer(buffer, {arguments}).{name}",
        arguments=lines(FROM_BUFFER),
        name="shape strides dtype size readonly",
    ),
    *each(
        "View.from_buffer({buffer}, (4,), itemsize=1)",
        buffer=["None", "5", "array", "closed_buffer()", "host", "cai", "''", "view"],
    ),
    *each(
        "View.from_buffer({buffer}, (4,), itemsize=4).{name}",
        buffer="buffer host of_managed",
        name="device_id is_device_accessible readonly",
    ),
    *each("{thing}.{name} = 5", thing=["view"], name=PROPERTIES),
    *each("kind({thing}.{name})", thing=["view", "of_array", "of_cai"], name=PROPERTIES),
    *each("{done}(view)", done="copy.copy copy.deepcopy len iter bool callable int pickle.dumps"),
    *each(
        "view.view({arguments}).{name}",
        arguments=[
            "",
            "None",
            "dtype=np.dtype('f4')",
            "dtype=np.dtype('u1')",
            "dtype=None",
            "None, np.dtype('f4')",
            "dtype='f4'",
            "5",
            "layout=5",
            "dtype=np.dtype('f8')",
            "dtype=5",
        ],
        name="shape dtype",
    ),
    *each(
        "matrix.view({arguments}).{name}",
        arguments=["", "dtype=np.dtype('f4')", "dtype=np.dtype('i4')", "dtype=np.dtype('u1')", "dtype=np.dtype('f8')"],
        name="shape dtype strides",
    ),
    *each(
        "matrix.copy_from({arguments})",
        arguments=[
            "matrix, stream",
            "matrix2, stream",
            "matrix2",
            "None, stream",
            "5, stream",
            "array, stream",
            "other=matrix2, stream=stream",
            "matrix2, 5",
            "of_array, stream",
            "View.from_array_interface(np.zeros((4, 4), 'f4')), stream",
            "matrix2, stream, None",
            "matrix2, stream, None, True",
            "matrix2, stream, blocking=True",
            "matrix2, stream, blocking=False",
            "matrix2, stream, allocator=None",
            "transposed, stream",
            "doubles, stream",
            "matrix2, None",
        ],
    ),
    *each(
        "matrix.copy_to({arguments})",
        arguments=[
            "matrix2, stream",
            "matrix2",
            "None, stream",
            "5, stream",
            "other=matrix2, stream=stream",
            "matrix2, None",
            "host_matrix, stream",
            "host_matrix, stream, blocking=True",
            "frozen_matrix, stream",
            "doubles, stream",
            "transposed, stream",
        ],
    ),
    *lines("""
        kept = np.zeros(4); View.from_array_interface(kept).exporting_obj is kept
        kept = np.zeros(4); View.from_any_interface(kept, -1).exporting_obj is kept
        kept = np.zeros(4); View.from_dlpack(kept, -1).exporting_obj is kept
        kept = np.zeros(4); View.from_array_interface(kept).ptr == kept.ctypes.data
        view.exporting_obj is buffer
        view.ptr == int(buffer.handle)
        of_cai.ptr == address
        view == view
        hash(view) == hash(view)
        view == View.from_any_interface(buffer, -1)
        shape(repr(view))
        shape(repr(matrix))
        shape(repr(View.from_array_interface(np.zeros((2, 3), "f4"))))
        shape(repr(View.from_array_interface(np.zeros((2, 3), "f4").T)))
        view.none
        utils.StridedMemoryView is View
        view.none = 1
        weakref.ref(view)() is view
        dies(lambda: View.from_array_interface(np.zeros(4)))
        View.from_any_interface(Gives(__dlpack__=None), -1)
        View.from_any_interface(Gives(__cuda_array_interface__=whole), -1).shape
        View.from_any_interface(buffer)
        View.from_any_interface(cai)
        View.from_any_interface()
        View.from_dlpack()
        View.from_dlpack(array, -1).dtype
        View.from_dlpack(view, -1).shape
        np.from_dlpack(View.from_array_interface(array)).shape
        np.from_dlpack(host_matrix).shape
        np.from_dlpack(matrix)
        view.__dlpack_device__()
        host_matrix.__dlpack_device__()
        kind(view.__dlpack__())
        kind(view.__dlpack__(stream=-1))
        kind(view.__dlpack__(max_version=(1, 0)))
        kind(view.__dlpack__(copy=True))
        kind(host_matrix.__dlpack__())
        kind(host_matrix.__dlpack__(dl_device=(1, 0)))
        kind(View.from_array_interface(frozen).__dlpack__())
        kind(View.from_array_interface(frozen).__dlpack__(max_version=(1, 0)))
        View.from_array_interface(array).__array_interface__["shape"]
        view.__cuda_array_interface__["shape"]
        in_thread(lambda: View.from_array_interface(array).shape)
        in_thread(lambda: View.from_any_interface(buffer, -1).shape)
        in_thread(lambda: view.shape)
        host_matrix.copy_from(matrix, stream); stream.sync()
        matrix.copy_from(host_matrix, stream); stream.sync()
        issubclass(type("Mine", (View,), {}), View)
        type("Mine", (View,), {}).from_array_interface(array).shape
        utils.args_viewable_as_strided_memory((0,))(lambda x: kind(x))(5)
        utils.args_viewable_as_strided_memory((0,))(lambda x: kind(x))(array)
        utils.args_viewable_as_strided_memory((0,))(lambda x: x.view(-1).shape)(array)
        utils.args_viewable_as_strided_memory((0,))(lambda x: kind(x.view(-1)))(buffer)
        utils.args_viewable_as_strided_memory((0, 1))(lambda x, y: (kind(x), kind(y)))(array, array)
        utils.args_viewable_as_strided_memory((1,))(lambda x, y: kind(x))(5, array)
        utils.args_viewable_as_strided_memory((5,))(lambda x: kind(x))(array)
        utils.args_viewable_as_strided_memory(())(lambda x: kind(x))(array)
        utils.args_viewable_as_strided_memory(0)(lambda x: kind(x))(array)
        utils.args_viewable_as_strided_memory([0])(lambda x: kind(x))(array)
        utils.args_viewable_as_strided_memory()
        utils.args_viewable_as_strided_memory((0,))(5)
        utils.args_viewable_as_strided_memory(arg_indices=(0,))(lambda x: kind(x))(array)
        utils.args_viewable_as_strided_memory((0,))(named).__name__
        utils.args_viewable_as_strided_memory((0,))(named).__doc__
        utils.args_viewable_as_strided_memory((0,))(lambda x, y=1: y)(array, y=2)
    """),
]


def names(shared):
    np, view, stream, resource = shared.np, shared.View, shared.stream, shared.resource
    address = int(shared.buffer.handle)
    whole = {"version": 3, "shape": (4,), "typestr": "<f4", "data": (address, False), "strides": None}

    class Gives:
        """An object with the attributes that are given."""

        def __init__(self, **given):
            self.__dict__.update(given)

    def named(x):
        """What it says."""

    array, frozen = np.zeros((2, 3), "f4"), np.zeros(4)
    frozen.flags.writeable = False
    single, double = np.dtype("f4"), np.dtype("f8")
    host = shared.pinned.allocate(256)
    frozen_matrix = np.zeros((4, 4), "f4")
    frozen_matrix.flags.writeable = False
    cai = Gives(__cuda_array_interface__=whole)
    return {
        "array": array,
        "frozen": frozen,
        "address": address,
        "whole": whole,
        "Gives": Gives,
        "named": named,
        "host": host,
        "cai": cai,
        "cai2": Gives(__cuda_array_interface__={**whole, "version": 2}),
        "view": view.from_any_interface(shared.buffer, -1),
        "of_array": view.from_array_interface(array),
        "of_cai": view.from_cuda_array_interface(cai, -1),
        "of_managed": shared.core.ManagedMemoryResource().allocate(256, stream=stream),
        "matrix": view.from_buffer(shared.buffer, (4, 4), dtype=single),
        "matrix2": view.from_buffer(resource.allocate(256, stream=stream), (4, 4), dtype=single),
        "transposed": view.from_buffer(resource.allocate(256, stream=stream), (4, 4), (1, 4), dtype=single),
        "doubles": view.from_buffer(resource.allocate(256, stream=stream), (4, 4), dtype=double),
        "host_matrix": view.from_array_interface(np.from_dlpack(host)[:64].view(single).reshape(4, 4)),
        "frozen_matrix": view.from_array_interface(frozen_matrix),
        "closed_buffer": lambda: shared.closed(resource.allocate(16, stream=stream)),
    }
