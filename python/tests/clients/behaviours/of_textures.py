"""Arrays, textures and surfaces."""

from common import each, lines

A = "a = array(); "
OF_ARRAYS = "device element_bytes format handle is_closed is_surface_load_store num_channels shape size_bytes"
OF_MIPMAPS = "device format handle is_closed is_surface_load_store num_channels num_levels shape"
OF_OBJECTS = "device handle is_closed resource"
OF_RESOURCES = "format height kind num_channels pitch_bytes size_bytes source width"
SHAPES = [
    "(8,)",
    "(8, 4)",
    "(8, 4, 2)",
    "(0,)",
    "(8, 0)",
    "()",
    "(-1,)",
    "8",
    "[8, 4]",
    "None",
    "'x'",
    "(8, 4, 2, 1)",
    "(1.5,)",
    "(2**20,)",
    "(1 << 30,)",
]
FORMATS = [
    "'float32'",
    "'FLOAT32'",
    "'uint8'",
    "'uint16'",
    "'uint32'",
    "'int8'",
    "'int16'",
    "'int32'",
    "'float16'",
    "'none'",
    "None",
    "5",
    "typing.ArrayFormatType.FLOAT32",
    "np.float32",
    "np.dtype('f4')",
    "'f4'",
]
CHANNELS = ["1", "2", "3", "4", "0", "-1", "None", "'x'", "1.0", "True"]
TEXTURE = """
address_mode      | 'wrap' | 'clamp' | 'mirror' | 'border' | 'CLAMP' | 'none' | None | 5 | ('wrap', 'clamp') | ['wrap'] | typing.AddressModeType.WRAP | () | ('wrap',) * 4
filter_mode       | 'point' | 'linear' | 'none' | None | 5 | typing.FilterModeType.LINEAR
read_mode         | 'element_type' | 'normalized_float' | 'none' | None | 5 | typing.ReadModeType.ELEMENT_TYPE
mipmap_filter_mode | 'point' | 'linear' | 'none' | None
normalized_coords | True | False | None | 1 | 'x'
srgb              | True | False | None | 1
disable_trilinear_optimization | True | False | None
seamless_cubemap  | True | False | None
border_color      | (0, 0, 0, 0) | None | 5 | (1, 2) | [1, 2, 3, 4] | 'x' | (1.5, 0, 0, 0) | ()
max_anisotropy    | 0 | 16 | -1 | None | 'x' | 1.5 | 1000
max_mipmap_level_clamp | 1.5 | 0 | None | 'x'
min_mipmap_level_clamp | 1.5 | 0 | None | 'x'
mipmap_level_bias | 1.5 | 0 | None | 'x'
"""

BEHAVIOURS = [
    *each("kind(array().{name})", name=OF_ARRAYS),
    *each(
        "array().{name}",
        name="device element_bytes format is_closed is_surface_load_store num_channels shape size_bytes",
    ),
    *each("array().{name} = 5", name=OF_ARRAYS),
    *each("kind(closed(array()).{name})", name=OF_ARRAYS + " close()"),
    *each("kind(closed(array()).{name})", name=["copy_from(data, stream=stream)", "copy_to(data, stream=stream)"]),
    *each(
        "device.create_opaque_array(texture.OpaqueArrayOptions({shape}, 'float32', 1)).{name}",
        shape=SHAPES,
        name="shape size_bytes",
    ),
    *each(
        "device.create_opaque_array(texture.OpaqueArrayOptions((8, 4), {format}, 1)).{name}",
        format=FORMATS,
        name="format element_bytes",
    ),
    *each(
        "device.create_opaque_array(texture.OpaqueArrayOptions((8, 4), 'float32', {channels})).num_channels",
        channels=CHANNELS,
    ),
    *each(
        "device.create_opaque_array(texture.OpaqueArrayOptions((8, 4), 'float32', 1, {flag})).is_surface_load_store",
        flag="True False None 1 'x'",
    ),
    *each("texture.OpaqueArrayOptions({shape}, 'float32', 1).shape", shape=SHAPES),
    *each("texture.OpaqueArrayOptions((8, 4), {format}, 1).format", format=FORMATS),
    *each("texture.OpaqueArrayOptions((8, 4), 'float32', {channels}).num_channels", channels=CHANNELS),
    *each(
        "texture.OpaqueArrayOptions({arguments})",
        arguments=[
            "",
            "(8,)",
            "(8,), 'float32'",
            "(8,), 'float32', 1, True, 5",
            "shape=(8,), format='float32', num_channels=1",
            "none=1",
            "(8,), 'float32', 1, is_surface_load_store=True",
        ],
    ),
    *each(
        "device.create_opaque_array({options})",
        options=[
            "{'shape': (8,), 'format': 'float32', 'num_channels': 1}",
            "options=texture.OpaqueArrayOptions((8,), 'float32', 1)",
            "texture.MipmappedArrayOptions((8,), 'float32', 1, 1)",
            "{}",
            "shape=(8,)",
            "[]",
        ],
    ),
    *each("kind(mipmap().{name})", name=OF_MIPMAPS),
    *each("mipmap().{name}", name="device format is_closed is_surface_load_store num_channels num_levels shape"),
    *each("mipmap().{name} = 5", name=OF_MIPMAPS),
    *each("kind(closed(mipmap()).{name})", name=OF_MIPMAPS + " close() get_level(0)"),
    *each("mipmap().get_level({level}).shape", level="0 1 2 3 99 -1 'x' None 1.5 level=1"),
    *each(
        "mipmap().get_level(1).{name}",
        name="format num_channels is_surface_load_store is_closed size_bytes element_bytes device",
    ),
    *each(
        "device.create_mipmapped_array(texture.MipmappedArrayOptions({shape}, 'float32', 1, {levels})).{name}",
        shape=["(8,)", "(8, 4)", "(8, 4, 2)"],
        levels="1 2 0 -1 99 None 'x'",
        name="num_levels shape",
    ),
    *each(
        "texture.MipmappedArrayOptions({arguments})",
        arguments=[
            "",
            "(8,), 'float32', 1",
            "(8,), 'float32', 1, 1, True, 5",
            "(8,), 'none', 1, 1",
            "(), 'float32', 1, 1",
            "(8,), 'float32', 3, 1",
            "shape=(8,), format='float32', num_channels=1, num_levels=2",
        ],
    ),
    *each(
        "a = array(); a.copy_from({arguments})",
        arguments=[
            "data, stream=stream",
            "data",
            "data, stream",
            "None, stream=stream",
            "5, stream=stream",
            "b'x' * 128, stream=stream",
            "b'x' * 5, stream=stream",
            "buffer, stream=stream",
            "small, stream=stream",
            "exact, stream=stream",
            "data, stream=None",
            "data, stream=5",
            "data.astype('f8'), stream=stream",
            "data.T, stream=stream",
            "data[:2], stream=stream",
            "array(), stream=stream",
            "src=data, stream=stream",
            "bytearray(128), stream=stream",
            "view, stream=stream",
            "data[:, ::2], stream=stream",
        ],
    ),
    *each(
        "a = array(); a.copy_to({arguments})",
        arguments=[
            "data, stream=stream",
            "data",
            "None, stream=stream",
            "5, stream=stream",
            "b'x' * 128, stream=stream",
            "bytearray(128), stream=stream",
            "bytearray(5), stream=stream",
            "buffer, stream=stream",
            "small, stream=stream",
            "exact, stream=stream",
            "data, stream=None",
            "frozen, stream=stream",
            "dst=data, stream=stream",
            "stream=stream",
        ],
    ),
    *lines("""
        a = array(); a.copy_from(np.arange(32, dtype="f4").reshape(4, 8), stream=stream); out = np.zeros((4, 8), "f4"); a.copy_to(out, stream=stream); stream.sync(); out
        a = array(); a.copy_from(data, stream=stream) is None
        a = array(); a.copy_to(data, stream=stream) is None
        a = array(); a.copy_to(data, stream=stream) is data
        a = array(); a == a
        a = array(); hash(a) == hash(a)
        a = array(); shape(repr(a))
        a = array(); copy.copy(a)
        a = array(); pickle.dumps(a)
        a = array(); bool(a)
        a = array(); len(a)
        a = array(); a.none
        a = array(); weakref.ref(a)() is a
        a = mipmap(); shape(repr(a))
        a = mipmap(); a == a
        a = mipmap(); hash(a) == hash(a)
        contextual(array())
        contextual(mipmap())
        dies(array)
        dies(mipmap)
        a = mipmap(); level = a.get_level(0); del a; level.shape
        a = mipmap(); level = a.get_level(0); a.close(); level.is_closed
        a = mipmap(); closed(a.get_level(0)).is_closed
        texture.OpaqueArray()
        texture.MipmappedArray()
        texture.TextureObject()
        texture.SurfaceObject()
        texture.ResourceDescriptor()
        in_thread(lambda: array().shape)
        in_thread(lambda: core.Device(0).set_current() or array().shape)
    """),
    *each(
        "texture.ResourceDescriptor.from_opaque_array(array()).{name}",
        name="format height kind num_channels pitch_bytes size_bytes width",
    ),
    *each(
        "texture.ResourceDescriptor.from_mipmapped_array(mipmap()).{name}",
        name="format height kind num_channels pitch_bytes size_bytes width",
    ),
    *each(
        "texture.ResourceDescriptor.from_linear(buffer, format='float32', num_channels=1).{name}",
        name="format height kind num_channels pitch_bytes size_bytes width",
    ),
    *each(
        "texture.ResourceDescriptor.from_pitch2d(buffer, format='float32', num_channels=1, width=8, height=2, pitch_bytes=32).{name}",
        name="format height kind num_channels pitch_bytes size_bytes width",
    ),
    *each("kind(texture.ResourceDescriptor.from_opaque_array(array()).{name})", name=OF_RESOURCES),
    *each("texture.ResourceDescriptor.from_opaque_array(array()).{name} = 5", name=OF_RESOURCES),
    *each(
        "texture.ResourceDescriptor.from_opaque_array({wrong})",
        wrong=["", "None", "5", "buffer", "mipmap()", "closed(array())", "array=array()"],
    ),
    *each(
        "texture.ResourceDescriptor.from_mipmapped_array({wrong})",
        wrong=["", "None", "5", "buffer", "array()", "closed(mipmap())"],
    ),
    *each(
        "texture.ResourceDescriptor.from_linear({arguments}).size_bytes",
        arguments=[
            "",
            "buffer",
            "buffer, format='float32'",
            "buffer, format='float32', num_channels=1",
            "buffer, format='none', num_channels=1",
            "buffer, format='float32', num_channels=3",
            "buffer, format='float32', num_channels=1, size_bytes=64",
            "buffer, format='float32', num_channels=1, size_bytes=1000",
            "buffer, format='float32', num_channels=1, size_bytes=0",
            "buffer, format='float32', num_channels=1, size_bytes=-1",
            "None, format='float32', num_channels=1",
            "5, format='float32', num_channels=1",
            "closed_buffer(), format='float32', num_channels=1",
            "buffer, 'float32', 1",
            "host, format='uint8', num_channels=1",
            "buffer, format='float32', num_channels=1, size_bytes='x'",
        ],
    ),
    *each(
        "texture.ResourceDescriptor.from_pitch2d(buffer, format='float32', num_channels=1, {arguments}).pitch_bytes",
        arguments=[
            "width=8, height=2, pitch_bytes=32",
            "width=8, height=2, pitch_bytes=16",
            "width=0, height=2, pitch_bytes=32",
            "width=8, height=0, pitch_bytes=32",
            "width=8, height=1000, pitch_bytes=32",
            "width=8, height=2, pitch_bytes=33",
            "width=8, height=2",
            "width=-1, height=2, pitch_bytes=32",
            "width='x', height=2, pitch_bytes=32",
            "width=8, height=2, pitch_bytes=512",
        ],
    ),
    *each(
        "texture.ResourceDescriptor.from_pitch2d({arguments})",
        arguments=[
            "",
            "None, format='float32', num_channels=1, width=8, height=2, pitch_bytes=32",
            "buffer, format='none', num_channels=1, width=8, height=2, pitch_bytes=32",
        ],
    ),
    *lines("""
        r = resource_(); r == r
        r = resource_(); hash(r) == hash(r)
        r = resource_(); shape(repr(r))
        r = resource_(); copy.copy(r)
        a = array(); texture.ResourceDescriptor.from_opaque_array(a).source is a
        texture.ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1).source is buffer
        t = device.create_texture_object(resource=resource_()); kind(t)
        t = device.create_texture_object(resource=resource_()); shape(repr(t))
        t = device.create_texture_object(resource=resource_()); t == t
        t = device.create_texture_object(resource=resource_()); hash(t) == hash(t)
        t = device.create_texture_object(resource=resource_()); t.options
        t = device.create_texture_object(resource=resource_()); t.options.filter_mode
        t = device.create_texture_object(resource=resource_()); int(t.handle) == t.handle
        t = device.create_texture_object(resource=resource_()); t.handle != 0
        t = device.create_texture_object(resource=resource_()); copy.copy(t)
        t = device.create_texture_object(resource=resource_()); t.none
        contextual(device.create_texture_object(resource=resource_()))
        dies(lambda: device.create_texture_object(resource=resource_()))
        s = device.create_surface_object(resource=surface_resource()); shape(repr(s))
        s = device.create_surface_object(resource=surface_resource()); s == s
        s = device.create_surface_object(resource=surface_resource()); s.handle != 0
        s = device.create_surface_object(resource=resource_())
        contextual(device.create_surface_object(resource=surface_resource()))
    """),
    *each("kind(device.create_texture_object(resource=resource_()).{name})", name=OF_OBJECTS + " options close()"),
    *each("device.create_texture_object(resource=resource_()).{name}", name="device is_closed"),
    *each("device.create_texture_object(resource=resource_()).{name} = 5", name=OF_OBJECTS + " options"),
    *each(
        "kind(closed(device.create_texture_object(resource=resource_())).{name})", name=OF_OBJECTS + " options close()"
    ),
    *each("kind(device.create_surface_object(resource=surface_resource()).{name})", name=OF_OBJECTS + " close()"),
    *each(
        "kind(closed(device.create_surface_object(resource=surface_resource())).{name})", name=OF_OBJECTS + " close()"
    ),
    *each(
        "device.create_surface_object({arguments})",
        arguments=[
            "",
            "surface_resource()",
            "resource=array()",
            "resource=texture.ResourceDescriptor.from_mipmapped_array(mipmap())",
            "resource=texture.ResourceDescriptor.from_linear(buffer, format='float32', num_channels=1)",
        ],
    ),
    *each(
        "device.create_texture_object({arguments})",
        arguments=[
            "resource_()",
            "resource=array()",
            "resource=resource_(), options=None",
            "resource=resource_(), options={}",
            "resource=resource_(), options=5",
            "resource=resource_(), options={'filter_mode': 'linear'}",
            "resource=resource_(), options={'none': 1}",
            "resource=texture.ResourceDescriptor.from_mipmapped_array(mipmap())",
            "resource=texture.ResourceDescriptor.from_linear(buffer, format='float32', num_channels=1)",
            "resource=texture.ResourceDescriptor.from_pitch2d(buffer, format='float32', num_channels=1, width=8, height=2, pitch_bytes=32)",
            "resource=int_resource(), options=texture.TextureObjectOptions(filter_mode='linear')",
            "resource=int_resource(), options=texture.TextureObjectOptions(read_mode='normalized_float')",
            "resource=resource_(), options=texture.TextureObjectOptions(read_mode='normalized_float')",
        ],
    ),
    *[
        snippet
        for line in lines(TEXTURE)
        for name, *values in [[word.strip() for word in line.split("|")]]
        for value in values
        for snippet in (
            f"texture.TextureObjectOptions({name}={value}).{name}",
            f"kind(device.create_texture_object(resource=resource_(), options=texture.TextureObjectOptions({name}={value})))",
        )
    ],
    *each(
        "{call}(texture.TextureObjectOptions())",
        call="repr hash dataclasses.asdict copy.copy bool len dataclasses.is_dataclass",
    ),
    *each(
        "[one.name for one in dataclasses.fields(texture.{options})]",
        options="TextureObjectOptions OpaqueArrayOptions MipmappedArrayOptions",
    ),
    *each(
        "texture.MipmappedArrayOptions((8,), 'float32', 2, 3).{field}",
        field="shape format num_channels num_levels is_surface_load_store",
    ),
    *each("texture.OpaqueArrayOptions((8,), 'float32', 2, {store}).is_surface_load_store", store="True False None 1"),
    *each(
        "core.GraphicsResource.{call}",
        call=[
            "from_gl_buffer(0)",
            "from_gl_buffer('x')",
            "from_gl_buffer()",
            "from_gl_buffer(1, flags='none')",
            "from_gl_buffer(1, flags=5)",
            "from_gl_image(0, 0)",
            "from_gl_image('x', 0)",
            "from_gl_image(1)",
            "from_gl_image(1, 0, flags='none')",
        ],
    ),
    *each("callable(core.GraphicsResource.{name})", name="close from_gl_buffer from_gl_image map unmap"),
    *each("core.GraphicsResource.{name} is not None", name="handle is_closed is_mapped resource_handle"),
    *each("core.GraphicsResource({arguments})", arguments=["", "5"]),
    *each(
        "texture.OpaqueArrayOptions((8,), 'float32', 1) {operator} texture.OpaqueArrayOptions({other})",
        operator="== !=",
        other=["(8,), 'float32', 1", "(9,), 'float32', 1"],
    ),
    *each("{call}(texture.OpaqueArrayOptions((8,), 'float32', 1))", call="repr hash dataclasses.asdict"),
    *each("{call}(texture.MipmappedArrayOptions((8,), 'float32', 1, 2))", call="repr hash dataclasses.asdict"),
    *each(
        "options = texture.{options}; options.{field} = 5",
        options=["TextureObjectOptions()"],
        field="srgb max_anisotropy filter_mode none",
    ),
    *each(
        "options = texture.OpaqueArrayOptions((8,), 'float32', 1); options.{field} = 5",
        field="shape format num_channels none",
    ),
]


def names(shared):
    device, texture, np = shared.device, shared.texture, shared.np

    def array(format="float32", store=False):
        return device.create_opaque_array(texture.OpaqueArrayOptions((8, 4), format, 1, store))

    frozen = np.zeros((4, 8), "f4")
    frozen.flags.writeable = False
    described = texture.ResourceDescriptor.from_opaque_array
    return {
        "array": array,
        "mipmap": lambda: device.create_mipmapped_array(texture.MipmappedArrayOptions((8, 4), "float32", 1, 3)),
        "resource_": lambda: described(array()),
        "int_resource": lambda: described(array("uint8")),
        "surface_resource": lambda: described(array(store=True)),
        "data": np.zeros((4, 8), "f4"),
        "frozen": frozen,
        "small": shared.resource.allocate(16, stream=shared.stream),
        "exact": shared.resource.allocate(128, stream=shared.stream),
        "host": shared.pinned.allocate(256),
        "view": shared.View.from_any_interface(shared.buffer, -1),
        "closed_buffer": lambda: shared.closed(shared.resource.allocate(16, stream=shared.stream)),
    }
