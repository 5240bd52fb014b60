"""Every argument of public calls: good ones with one of them replaced by something else, left out, or misnamed."""

from common import each, lines

# A call a line, then its arguments by name. What the call changes it makes itself.
CALLS = """
    make().close | stream=stream
    make().copy_from | src=buffer | stream=stream | options=None
    make().copy_to | dst=other | stream=stream | options=None
    make().fill | value=1 | stream=stream
    make().set_deallocation_stream | stream=stream
    core.Buffer.from_handle | ptr=address | size=16 | mr=None | owner=None | stream=None
    core.Buffer.from_ipc_descriptor | mr=resource | ipc_descriptor=None | stream=stream
    context().create_stream | options=None
    device.allocate | size=16 | stream=stream
    device.can_access_peer | peer=device
    device.create_event | options=None
    device.create_stream | obj=None | options=None
    device.create_opaque_array | options=array_options
    device.create_mipmapped_array | options=levels_options
    device.create_texture_object | resource=texels | options=None
    device.create_surface_object | resource=surface_texels
    resource.allocate | size=16 | stream=stream
    pinned.allocate | size=16 | stream=stream
    virtual.allocate | size=16 | stream=stream
    graph_memory.allocate | size=16 | stream=stream
    core.Stream.from_handle | handle=number
    core.Event.from_ipc_descriptor | ipc_descriptor=None
    core.Kernel.from_handle | handle=kernel_number | mod=cubin
    core.ObjectCode.from_ptx | module=ptx.code | name='n' | symbol_mapping=None
    core.ObjectCode.from_cubin | module=cubin.code | name='n' | symbol_mapping=None
    cubin.get_kernel | name='k'
    kernel.occupancy.max_active_blocks_per_multiprocessor | block_size=32 | dynamic_shared_memory_size=0
    kernel.occupancy.max_potential_block_size | dynamic_shared_memory_needed=0 | block_size_limit=0
    kernel.occupancy.available_dynamic_shared_memory_per_block | num_blocks_per_multiprocessor=1 | block_size=32
    kernel.occupancy.max_potential_cluster_size | config=one | stream=stream
    kernel.occupancy.max_active_clusters | config=one | stream=stream
    core.LaunchConfig | grid=1 | cluster=None | block=1 | shmem_size=0 | is_cooperative=False
    core.Program | code=SOURCE | code_type='c++' | options=None
    core.Program(SOURCE, 'c++', {'arch': arch}).compile | target_type='ptx' | name_expressions=() | logs=None | cache=None
    core.ProgramOptions(arch='sm_90').as_bytes | backend='nvrtc' | target_type='ptx'
    core.LinkerOptions(arch='sm_90').as_bytes | backend='nvjitlink'
    core.Linker(ptx).link | target_type='cubin'
    core.DeviceMemoryResource | device_id=device | options=None
    core.PinnedMemoryResource | options=None
    core.ManagedMemoryResource | options=None
    core.GraphMemoryResource | device_id=device
    core.VirtualMemoryResource | device_id=device | config=None
    core.DeviceMemoryResource.from_registry | uuid=None
    core.Host | numa_id=0
    stream.record | event=None | options=None
    stream.wait | event_or_stream=event
    ended().complete | options=None
    building().begin_building | mode='relaxed'
    started().callback | fn=called | user_data=None
    started().create_condition | default_value=0
    started().embed | child=ended()
    made.update | source=ended()
    made.upload | stream=stream
    made.launch | stream=stream
    definition().allocate | size=16 | device=None | memory_type='device' | peer_access=None
    definition().memset | dst=buffer | value=0 | width=16 | height=1 | pitch=0 | dst_owner=None
    definition().memcpy | dst=buffer | src=other | size=16 | dst_owner=None | src_owner=None
    definition().callback | fn=called | user_data=None
    definition().record | event=event
    definition().wait | event=event
    definition().embed | child=definition()
    definition().deallocate | dptr=number
    definition().create_condition | default_value=0
    definition().instantiate | options=None
    copies().update | dst=buffer | src=other | size=16
    fills().update | dst=buffer | value=0 | width=16 | height=1 | pitch=0
    arrays().copy_from | src=buffer | stream=stream
    arrays().copy_to | dst=buffer | stream=stream
    texture.ResourceDescriptor.from_linear | buffer=buffer | format='float32' | num_channels=1 | size_bytes=None
    texture.ResourceDescriptor.from_opaque_array | array=arrays()
    View.from_dlpack | obj=buffer | stream_ptr=-1
    View.from_any_interface | obj=buffer | stream_ptr=-1
    View.from_buffer | buffer=buffer | shape=(4,) | strides=None | itemsize=4 | dtype=None | is_readonly=False
    View.from_buffer(buffer, (4,), itemsize=4).view | layout=None | dtype=None
    utils.copy_batch | stream=stream | srcs=[buffer] | dsts=[other] | options=None
    utils.prefetch_batch | stream=stream | buffers=[managed()] | locations=device
    utils.discard_batch | stream=stream | buffers=[managed()]
    managed().prefetch | location=device | stream=stream
    managed().discard | stream=stream
    utils.InMemoryProgramCache | max_size_bytes=None
    cache().get | key='k' | default=None
"""
OTHERS = [
    "None",
    "5",
    "-1",
    "2**70",
    "1.5",
    "True",
    "'x'",
    "''",
    "b'x'",
    "bytearray(4)",
    "()",
    "[]",
    "{}",
    "object()",
    "int",
    "device",
    "stream",
    "buffer",
    "event",
    "kernel",
    "ptx",
    "one",
    "ended()",
    "building()",
    "gone_buffer()",
    "gone_stream()",
    "gone_event()",
    "gives",
    "np.int32(1)",
    "np.zeros(4)",
    "Whole()",
    "core.StreamOptions()",
    "core.LEGACY_DEFAULT_STREAM",
    "core.Device(1)",
    "core.Device(1).create_stream()",
    "core.Host()",
    "context()",
]


def of_call(line):
    """The snippets of a line of CALLS."""
    call, *arguments = [part.strip() for part in line.split(" | ")]
    pairs = [argument.split("=", 1) for argument in arguments]
    for index, (name, good) in enumerate(pairs):
        for value in [good, *OTHERS]:
            given = [f"{other}={value if place == index else right}" for place, (other, right) in enumerate(pairs)]
            yield f"kind({call}({', '.join(given)}))"
        rest = [f"{other}={right}" for place, (other, right) in enumerate(pairs) if place != index]
        yield f"kind({call}({', '.join(rest)}))"
        yield f"kind({call}({', '.join([*rest, f'{name}_={good}'])}))"
    by_name = ", ".join(f"{name}={good}" for name, good in pairs)
    yield f"kind({call}({by_name}, none=1))"
    for count in range(len(pairs) + 2):
        yield (
            f"kind({call}({', '.join([good for _, good in pairs] + ['None'])}))"
            if count > len(pairs)
            else (f"kind({call}({', '.join(good for _, good in pairs[:count])}))")
        )


# Numbers that a driver of a GPU follows as if they were of kernels: the process ends.
NO_KERNELS = [f"kind(core.Kernel.from_handle(handle={number}, mod=cubin))" for number in ("5", "True")]

BEHAVIOURS = [
    *(snippet for line in lines(CALLS) for snippet in of_call(line) if snippet not in NO_KERNELS),
    *each("kind(core.launch({stream}, one, none_))", stream=OTHERS),
    *each("kind(core.launch(stream, {config}, none_))", config=OTHERS),
    *each("kind(core.launch(stream, one, {kernel}))", kernel=OTHERS),
    *each("kind(definition().launch({config}, none_))", config=OTHERS),
    *each("kind(definition().launch(one, {kernel}))", kernel=OTHERS),
    *each("kind(definition().join({node}))", node=[*OTHERS, "definition().empty()"]),
    *each("kind(core.Linker({part}))", part=OTHERS),
    *each("kind(core.Linker(ptx, options={value}))", value=OTHERS),
    *each("device.memory_resource = {value}", value=[one for one in OTHERS if one != "resource"]),
    *each("device.set_current({value})", value=[one for one in OTHERS if one not in ("None", "context()")]),
    *each("kind(core.Device({value}))", value=OTHERS),
    *each("kind(started().split({count}))", count=[one for one in OTHERS if one != "2**70"]),  # the peer tries
    *each("buffer == {value}", value=OTHERS),
    *each("stream == {value}", value=OTHERS),
    *each("event == {value}", value=OTHERS),
    *each("kernel == {value}", value=OTHERS),
    *each("device == {value}", value=OTHERS),
    *each("one == {value}", value=OTHERS),
    *each("device.context == {value}", value=OTHERS),
    *each("definition() == {value}", value=OTHERS),
    *each("definition().empty() == {value}", value=OTHERS),
]


class Gives:
    """A stream of somebody else's."""

    def __init__(self, number):
        self.number = number

    def __cuda_stream__(self):
        return 0, self.number


class Whole:
    """A number that is no int."""

    def __index__(self):
        return 4


def names(shared):
    core, graph, texture, device, stream = shared.core, shared.graph, shared.texture, shared.device, shared.stream
    none_ = shared.cubin.get_kernel("none")

    def building():
        return device.create_graph_builder()

    def started():
        return building().begin_building()

    def ended():
        builder = started()
        core.launch(builder, shared.one, none_)
        return builder.end_building()

    def gone(thing):
        thing.close()
        return thing

    def arrays(**more):
        return device.create_opaque_array(texture.OpaqueArrayOptions((64,), "float32", 1, **more))

    managed_pool = core.ManagedMemoryResource({})
    made = dict(none_=none_, building=building, started=started, ended=ended, arrays=arrays, Whole=Whole)
    made.update(
        made=ended().complete(),
        definition=graph.GraphDefinition,
        copies=lambda: graph.GraphDefinition().memcpy(shared.buffer, made["other"], 16),
        fills=lambda: graph.GraphDefinition().memset(shared.buffer, 0, 16),
        make=lambda: shared.resource.allocate(256, stream=stream),
        other=shared.resource.allocate(256, stream=stream),
        address=int(shared.buffer.handle),
        number=int(stream.handle),
        kernel_number=int(shared.kernel.handle),
        context=lambda: device.context,
        gone_buffer=lambda: gone(made["make"]()),
        gone_stream=lambda: gone(device.create_stream()),
        gone_event=lambda: gone(device.create_event()),
        gives=Gives(int(stream.handle)),
        event=device.create_event(),
        called=lambda: None,
        virtual=core.VirtualMemoryResource(device),
        graph_memory=core.GraphMemoryResource(device),
        managed=lambda: managed_pool.allocate(4096, stream=stream),
        cache=shared.utils.InMemoryProgramCache,
        array_options=texture.OpaqueArrayOptions((64,), "float32", 1),
        levels_options=texture.MipmappedArrayOptions((64,), "float32", 1, 2),
        texels=texture.ResourceDescriptor.from_opaque_array(arrays()),
        surface_texels=texture.ResourceDescriptor.from_opaque_array(arrays(is_surface_load_store=True)),
    )
    return made
