"""Managed buffers, and copies, prefetches and discards of many buffers at once."""

from common import each, lines, rows

LOCATIONS = [
    "device",
    "core.Host()",
    "core.Host(0)",
    "core.Host(is_numa_current=True)",
    "0",
    "-1",
    "None",
    "'device'",
    "core.Device(1)",
    "5.5",
    "core.Host(99)",
    "typing.ManagedMemoryLocationType.DEVICE",
]
COPY = """
src_access_order  | 'stream' | 'during_api_call' | 'any' | 'none' | None | 5 | utils.MemcpySrcAccessOrder.ANY | 'STREAM' | ''
overlap_mode      | 'default' | 'prefer_overlap_with_compute' | 'none' | None | 5 | utils.MemcpyOverlapMode.DEFAULT
src_location_hint | None | device | core.Host() | core.Host(0) | 5 | 'x' | core.Device(1) | core.Host(is_numa_current=True)
dst_location_hint | None | device | core.Host() | core.Host(0) | 5 | 'x'
"""
PROPERTIES = "accessed_by preferred_location read_mostly"

BEHAVIOURS = [
    *each("kind(managed().{name})", name=PROPERTIES),
    *each(
        "managed().{name}",
        name=[
            "preferred_location",
            "read_mostly",
            "is_managed",
            "is_host_accessible",
            "is_device_accessible",
            "device_id",
        ],
    ),
    *each("m = managed(); m.preferred_location = {location}; m.preferred_location", location=LOCATIONS),
    *each("m = managed(); m.read_mostly = {value}; m.read_mostly", value="True False 1 0 None 'x'"),
    *each(
        "m = managed(); m.accessed_by = {value}; len(m.accessed_by)",
        value=[
            "[]",
            "[device]",
            "[core.Host()]",
            "[device, core.Host()]",
            "{device}",
            "device",
            "None",
            "5",
            "[5]",
            "[0]",
            "[core.Device(1)]",
        ],
    ),
    *each(
        "m = managed(); {call}",
        call=[
            "m.accessed_by.add(device); device in m.accessed_by",
            "m.accessed_by.add(core.Host()); core.Host() in m.accessed_by",
            "m.accessed_by.add(5)",
            "m.accessed_by.discard(device); len(m.accessed_by)",
            "m.accessed_by.remove(device)",
            "m.accessed_by == set()",
            "m.accessed_by.add(device); m.accessed_by == {device}",
            "m.accessed_by.add(device); list(m.accessed_by)",
            "m.accessed_by.add(device); m.accessed_by.clear(); len(m.accessed_by)",
            "m.accessed_by |= {device}; len(m.accessed_by)",
            "m.accessed_by is m.accessed_by",
            "repr(m.accessed_by) != ''",
        ],
    ),
    *each(
        "m = managed(); m.prefetch({arguments})",
        arguments=[
            "",
            "device, stream=stream",
            "core.Host(), stream=stream",
            "device",
            "device, stream",
            "None, stream=stream",
            "5, stream=stream",
            "0, stream=stream",
            "'x', stream=stream",
            "core.Host(0), stream=stream",
            "core.Host(is_numa_current=True), stream=stream",
            "device, stream=None",
            "device, stream=5",
            "location=device, stream=stream",
            "core.Device(1), stream=stream",
        ],
    ),
    *each(
        "m = managed(); m.discard({arguments})",
        arguments=["", "stream=stream", "stream", "stream=None", "stream=5", "device, stream=stream"],
    ),
    *each(
        "m = managed(); m.discard_prefetch({arguments})",
        arguments=[
            "",
            "device, stream=stream",
            "core.Host(), stream=stream",
            "device",
            "None, stream=stream",
            "5, stream=stream",
            "device, stream=None",
        ],
    ),
    *each(
        "kind(gone().{name})",
        name=[
            "accessed_by",
            "preferred_location",
            "read_mostly",
            "prefetch(device, stream=stream)",
            "discard(stream=stream)",
            "discard_prefetch(device, stream=stream)",
            "size",
            "is_managed",
            "is_closed",
        ],
    ),
    *each(
        "core.ManagedBuffer.from_handle({arguments}).{name}",
        arguments=["address, 256", "0, 0", "address, 256, None", "address, 256, owner=5", "ptr=address, size=256"],
        name="size is_managed owner memory_resource",
    ),
    *each("core.ManagedBuffer({arguments})", arguments=["", "5"]),
    *rows("utils.CopyOptions({name}={value}).{name}", COPY),
    *rows("buffer.copy_to(other, stream=stream, options=utils.CopyOptions({name}={value}))", COPY),
    *rows("buffer.copy_to(other, stream=stream, options={'{name}': {value}})", COPY),
    *each("{call}(utils.CopyOptions())", call="repr bool len dataclasses.asdict dataclasses.is_dataclass copy.copy"),
    *each(
        "utils.copy_batch({arguments})",
        arguments=[
            "",
            "stream",
            "stream, [buffer]",
            "stream, [buffer], [other]",
            "stream, [buffer, other], [third, fourth]",
            "stream, [], []",
            "stream, [buffer], []",
            "stream, [buffer], [other, third]",
            "stream, buffer, other",
            "stream, (buffer,), (other,)",
            "None, [buffer], [other]",
            "5, [buffer], [other]",
            "stream, [5], [other]",
            "stream, [None], [other]",
            "stream, [buffer], [small]",
            "stream, [small], [buffer]",
            "stream, [gone()], [other]",
            "stream=stream, srcs=[buffer], dsts=[other]",
            "stream, [buffer], [other], options=None",
            "stream, [buffer], [other], options=utils.CopyOptions()",
            "stream, [buffer], [other], options=[utils.CopyOptions()]",
            "stream, [buffer], [other], options=[]",
            "stream, [buffer], [other], options=5",
            "stream, [buffer], [other], options={}",
            "stream, [buffer], [other], options={'src_access_order': 'any'}",
            "stream, [buffer], [other], options=utils.CopyOptions('any')",
            "stream, [buffer, third], [other, fourth], options=[utils.CopyOptions('any'), utils.CopyOptions()]",
            "stream, [buffer], [host]",
            "stream, [host], [buffer]",
            "core.LEGACY_DEFAULT_STREAM, [buffer], [other]",
            "stream, [buffer], [other], None",
            "stream, iter([buffer]), iter([other])",
            "device.create_graph_builder().begin_building(), [buffer], [other]",
            "stream, [buffer], [buffer]",
            "stream, [empty], [empty]",
        ],
    ),
    *each(
        "utils.prefetch_batch({arguments})",
        arguments=[
            "",
            "stream, [managed()], device",
            "stream, [managed()], [device]",
            "stream, [managed(), managed()], device",
            "stream, [managed(), managed()], [device, core.Host()]",
            "stream, [managed()], []",
            "stream, [], device",
            "stream, [], []",
            "stream, [buffer], device",
            "stream, [5], device",
            "stream, [managed()], None",
            "stream, [managed()], 5",
            "stream, [managed()], 'x'",
            "None, [managed()], device",
            "5, [managed()], device",
            "stream=stream, buffers=[managed()], locations=device",
            "stream, managed(), device",
            "stream, [gone()], device",
            "stream, [managed()], core.Host(0)",
            "stream, (managed(),), (device,)",
            "stream, [managed(), managed()], [device]",
        ],
    ),
    *each(
        "utils.discard_batch({arguments})",
        arguments=[
            "",
            "stream, [managed()]",
            "stream, []",
            "stream, [buffer]",
            "stream, [5]",
            "None, [managed()]",
            "stream=stream, buffers=[managed()]",
            "stream, managed()",
            "stream, [gone()]",
            "stream, (managed(), managed())",
        ],
    ),
    *each(
        "utils.discard_prefetch_batch({arguments})",
        arguments=[
            "",
            "stream, [managed()], device",
            "stream, [managed()], [device]",
            "stream, [], device",
            "stream, [buffer], device",
            "stream, [managed()], None",
            "None, [managed()], device",
            "stream, [managed(), managed()], [device, core.Host()]",
            "stream, [managed()], []",
        ],
    ),
    *lines("""
        [one.name for one in dataclasses.fields(utils.CopyOptions)]
        utils.CopyOptions() == utils.CopyOptions()
        utils.CopyOptions("any") == utils.CopyOptions()
        utils.CopyOptions(none=1)
        hash(utils.CopyOptions()) == hash(utils.CopyOptions())
        utils.CopyOptions("any", device).src_location_hint
        options = utils.CopyOptions(); options.overlap_mode = "default"; options.overlap_mode
        options = utils.CopyOptions(); options.none = 5
        m = managed(); m.fill(5, stream=stream); stream.sync(); np.from_dlpack(m)[:3]
        m = managed(); m.__dlpack_device__()
        m = managed(); m.memory_resource.is_managed
        m = managed(); m == m
        m = managed(); isinstance(m, core.Buffer)
        m = managed(); kind(m)
        m = managed(); closed(m).is_closed
        m = managed(); m.close(stream); m.is_closed
        m = managed(); View.from_any_interface(m, -1).is_device_accessible
        m = managed(); core.launch(stream, one, kernel, m); stream.sync(); np.from_dlpack(m)[:4]
        buffer.copy_from(other, stream=stream, options=utils.CopyOptions(src_location_hint=5))
        buffer.copy_from(other, stream=stream, options=utils.CopyOptions(dst_location_hint='x'))
        buffer.copy_from(other, stream=stream, options=utils.CopyOptions('any', device, core.Host()))
        utils.copy_batch(stream, [buffer], [other], options=utils.CopyOptions(src_location_hint=5))
        utils.copy_batch(stream, [buffer], [other]) is None
        buffer.fill(3, stream=stream); utils.copy_batch(stream, [buffer], [host]); stream.sync(); np.from_dlpack(host)[:3]
    """),
]


def names(shared):
    resource, stream = shared.resource, shared.stream
    pool = shared.core.ManagedMemoryResource()
    kept = pool.allocate(256, stream=stream)

    def managed():
        return pool.allocate(256, stream=stream)

    sized = {"other": 256, "third": 256, "fourth": 256, "small": 16, "empty": 0}
    return {
        **{name: resource.allocate(size, stream=stream) for name, size in sized.items()},
        "managed": managed,
        "gone": lambda: shared.closed(managed()),
        "kept": kept,
        "address": int(kept.handle),
        "host": shared.pinned.allocate(256),
    }
