"""Tensor maps: their options, and maps of views."""

from common import each, lines

MEMBERS = {
    "interleave": "NONE INTERLEAVE_16B INTERLEAVE_32B",
    "swizzle": "NONE SWIZZLE_32B SWIZZLE_64B SWIZZLE_128B",
    "l2_promotion": "NONE L2_64B L2_128B L2_256B",
    "oob_fill": "NONE NAN_REQUEST_ZERO_FMA",
}
DEFAULTS = "interleave swizzle l2_promotion oob_fill"
BOXES = [
    "(16,)",
    "[16]",
    "(300,)",
    "(0,)",
    "(-1,)",
    "()",
    "(16, 16)",
    "16",
    "None",
    "'x'",
    "(16.0,)",
    "(True,)",
    "(64,)",
    "(1,)",
    "(257,)",
    "(256,)",
    "(np.int32(16),)",
]
TYPES = [
    "None",
    "np.float32",
    "'f4'",
    "np.dtype('f4')",
    "'float32'",
    "np.int32",
    "np.uint8",
    "np.float64",
    "np.complex64",
    "'none'",
    "5",
    "np.float16",
    "np.bool_",
    "'FLOAT32'",
]
DATA_TYPES = "UINT8 UINT16 UINT32 INT32 UINT64 INT64 FLOAT16 FLOAT32 FLOAT64 BFLOAT16 FLOAT32_FTZ TFLOAT32 TFLOAT32_FTZ"

BEHAVIOURS = [
    *[
        snippet
        for field, members in MEMBERS.items()
        for snippet in each("kinds[{field!r}].{member}", field=[field], member=members)
    ],
    *each("core.TensorMapDescriptorOptions({box}).box_dim", box=BOXES),
    *each(
        "core.TensorMapDescriptorOptions((16,), {strides}).element_strides",
        strides=["(1,)", "[1]", "(2,)", "None", "1", "(0,)", "(1, 1)", "'x'", "(-1,)", "(9,)", "(1.5,)"],
    ),
    *each("core.TensorMapDescriptorOptions((16,), data_type={type}).data_type", type=TYPES),
    *each("core.TensorMapDescriptorOptions((16,)).{field}.{what}", field=DEFAULTS, what="name value"),
    *each(
        "core.TensorMapDescriptorOptions((16,), {field}={value}).{field}", field=DEFAULTS, value="None 'NONE' 0 1 'x'"
    ),
    *each(
        "options = core.TensorMapDescriptorOptions((16,)); type(options.{field})[{name!r}].value",
        field=["interleave"],
        name="NONE INTERLEAVE_16B INTERLEAVE_32B",
    ),
    *each(
        "options = core.TensorMapDescriptorOptions((16,)); sorted(type(options.{field}).__members__)", field=DEFAULTS
    ),
    *each(
        "options = core.TensorMapDescriptorOptions((16,)); [one.value for one in type(options.{field})]", field=DEFAULTS
    ),
    *each("options = core.TensorMapDescriptorOptions((16,)); options.{field} = 5", field=DEFAULTS + " box_dim none"),
    *each(
        "{call}(core.TensorMapDescriptorOptions((16,)))",
        call="hash bool len dataclasses.asdict dataclasses.is_dataclass repr",
    ),
    *each("floats.as_tensor_map({box})", box=BOXES),
    *each("floats.as_tensor_map(box_dim={box})", box=BOXES[:3]),
    *each("floats.as_tensor_map((16,), data_type={type})", type=TYPES),
    *each("bytes_of.as_tensor_map((16,), data_type={type})", type=TYPES),
    *each(
        "bytes_of.as_tensor_map((16,), element_strides={strides}, data_type='f4')",
        strides=["(1,)", "None", "(2,)", "(9,)", "1", "(1, 1)", "(0,)"],
    ),
    *each("matrix.as_tensor_map({box})", box=["(4, 4)", "(4,)", "(2, 4)", "(4, 2)", "(4, 4, 4)", "(4, 1)", "(1, 4)"]),
    *each(
        "matrix.as_tensor_map((4, 4), {field}=kinds['{field}']['{member}'])",
        field=["swizzle"],
        member="NONE SWIZZLE_32B SWIZZLE_64B SWIZZLE_128B",
    ),
    *each(
        "matrix.as_tensor_map((4, 4), {field}=kinds['{field}']['{member}'])",
        field=["interleave"],
        member="NONE INTERLEAVE_16B INTERLEAVE_32B",
    ),
    *each(
        "matrix.as_tensor_map((4, 4), {field}=kinds['{field}']['{member}'])",
        field=["l2_promotion"],
        member="NONE L2_64B L2_128B L2_256B",
    ),
    *each(
        "matrix.as_tensor_map((4, 4), {field}=kinds['{field}']['{member}'])",
        field=["oob_fill"],
        member="NONE NAN_REQUEST_ZERO_FMA",
    ),
    *each("matrix.as_tensor_map((4, 4), {field}={value})", field=DEFAULTS, value="None 5 'NONE' 'x'"),
    *each(
        "matrix.as_tensor_map({arguments})",
        arguments=[
            "",
            "options=core.TensorMapDescriptorOptions((4, 4))",
            "options={'box_dim': (4, 4)}",
            "options={}",
            "options=5",
            "options=None",
            "(4, 4), options=core.TensorMapDescriptorOptions((4, 4))",
            "options={'box_dim': (4, 4), 'none': 1}",
            "options={'box_dim': (4, 4), 'data_type': 'f4'}",
            "(4, 4), options=None",
            "options=core.TensorMapDescriptorOptions((4, 4)), data_type='f4'",
            "(4, 4), (1, 1)",
            "(4, 4), none=1",
        ],
    ),
    *each(
        "{thing}.as_tensor_map({box})",
        thing=["transposed", "odd", "host", "of_array", "doubles", "complexes", "View()"],
        box=["(4, 4)"],
    ),
    *each("made.{name}", name="device none"),
    *each(
        "made.replace_address({tensor})",
        tensor=[
            "other_matrix",
            "matrix",
            "floats",
            "buffer",
            "None",
            "5",
            "",
            "np.zeros((4, 4), 'f4')",
            "tensor=matrix",
            "odd",
            "host",
            "int(buffer.handle)",
            "doubles",
        ],
    ),
    *each("made.{name} = 5", name="device"),
    *each("{done}(made)", done="copy.copy copy.deepcopy len iter bool callable int pickle.dumps"),
    *lines("""
        [one.name for one in dataclasses.fields(core.TensorMapDescriptorOptions)]
        core.TensorMapDescriptorOptions()
        core.TensorMapDescriptorOptions((16,), none=1)
        core.TensorMapDescriptorOptions(box_dim=(16,)).box_dim
        core.TensorMapDescriptorOptions((16,)) == core.TensorMapDescriptorOptions((16,))
        core.TensorMapDescriptorOptions((16,)) == core.TensorMapDescriptorOptions((17,))
        core.TensorMapDescriptor()
        core.TensorMapDescriptor(5)
        core.TensorMapDescriptor.__new__(core.TensorMapDescriptor)
        made == made
        hash(made) == hash(made)
        shape(repr(made))
        shape(repr(floats.as_tensor_map((16,))))
        made.device == device
        weakref.ref(made)() is made
        dies(lambda: matrix.as_tensor_map((4, 4)))
        core.launch(stream, one, none_, made)
        in_thread(lambda: matrix.as_tensor_map((4, 4)))
        in_thread(lambda: core.Device(0).set_current() or kind(matrix.as_tensor_map((4, 4))))
    """),
]


def names(shared):
    view, np, stream, resource = shared.View, shared.np, shared.stream, shared.resource
    single = np.dtype("f4")
    options = shared.core.TensorMapDescriptorOptions((16,))
    matrix = view.from_buffer(shared.buffer, (4, 4), dtype=single)
    return {
        "kinds": {field: type(getattr(options, field)) for field in DEFAULTS.split()},
        "bytes_of": view.from_any_interface(shared.buffer, -1),
        "floats": view.from_buffer(shared.buffer, (64,), dtype=single),
        "matrix": matrix,
        "other_matrix": view.from_buffer(resource.allocate(256, stream=stream), (4, 4), dtype=single),
        "transposed": view.from_buffer(shared.buffer, (4, 4), (1, 4), dtype=single),
        "odd": view.from_buffer(shared.buffer, (4, 3), dtype=single),
        "host": view.from_any_interface(shared.pinned.allocate(64), -1),
        "of_array": view.from_array_interface(np.zeros((4, 4), "f4")),
        "doubles": view.from_buffer(shared.buffer, (4, 4), dtype=np.dtype("f8")),
        "complexes": view.from_buffer(shared.buffer, (4, 4), dtype=np.dtype("c8")),
        "made": matrix.as_tensor_map((4, 4)),
        "none_": shared.cubin.get_kernel("none"),
    }
