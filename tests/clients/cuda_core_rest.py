"""NVIDIA's cuda.core: what the other programs here leave out, such as branches of graphs, their nodes, resources of
textures, tensor maps, views of memory, and what goes through the run-time library."""

import os
import tempfile

import cuda.bindings
import numpy as np
from checked import checked, refuses
from cuda.core import (
    Buffer,
    ContextOptions,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    SMResourceOptions,
    WorkqueueResourceOptions,
    checkpoint,
    launch,
    system,
)
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions, GraphDefinition
from cuda.core.texture import MipmappedArrayOptions, ResourceDescriptor, TextureObjectOptions
from cuda.core.utils import CopyOptions, StridedMemoryView, args_viewable_as_strided_memory

BINDINGS = tuple(map(int, cuda.bindings.__version__.split(".")[:2]))
device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
one = LaunchConfig(grid=1, block=1)

SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);
extern "C" __global__ void choose(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, value);
}
extern "C" __global__ void put(int* out, int value) { *out = value; }
extern "C" __global__ void fetch(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}
extern "C" __global__ void sample(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 1.0f);
}
"""
options = ProgramOptions(arch=f"sm_{device.arch}")
module = Program(SOURCE, "c++", options=options).compile("cubin")
choose, put, fetch, sample = (module.get_kernel(each) for each in ("choose", "put", "fetch", "sample"))
host = pinned.allocate(1024)
numbers = np.from_dlpack(host).view(np.int32)
floats = numbers.view(np.float32)


def through_the_run_time_library():
    device.sync()
    assert len(device.pci_bus_id) == 12 and device.pci_bus_id.startswith("0000:")


def systems():
    assert system.get_num_devices() == len(Device.get_all_devices()) == 1
    version = system.get_user_mode_driver_version()
    assert version == (13, 5), version


def branches_of_definitions():
    numbers[:] = 0
    definition = GraphDefinition()
    condition = definition.create_condition(default_value=0)
    branch = definition.launch(one, choose, condition, 0).if_else(condition)
    branch.then.launch(one, put, host.handle, 1)
    branch.else_.launch(one, put, host.handle, 2)
    assert len(branch.branches) == 2
    definition.instantiate().launch(stream)
    stream.sync()
    assert numbers[0] == 2, numbers[0]
    definition = GraphDefinition()
    condition = definition.create_condition(default_value=0)
    cases = definition.launch(one, choose, condition, 2).switch(condition, 4)
    for index, body in enumerate(cases.branches):
        body.launch(one, put, host.handle + 4, 10 + index)
    definition.instantiate().launch(stream)
    stream.sync()
    assert numbers[1] == 12, numbers[1]


def branches_of_builders():
    numbers[:] = 0
    builder = device.create_graph_builder().begin_building()
    assert builder.is_building and not builder.is_join_required
    condition = builder.create_condition(default_value=0)
    launch(builder, one, choose, condition, 1)
    then, otherwise = builder.if_else(condition)
    for value, body in ((1, then), (2, otherwise)):
        launch(body.begin_building(), one, put, host.handle, value)
        body.end_building()
    which = builder.create_condition(default_value=1)
    for index, body in enumerate(builder.switch(which, 3)):
        launch(body.begin_building(), one, put, host.handle + 4, 20 + index)
        body.end_building()
    graph = builder.end_building().complete()
    assert builder.graph_definition.is_valid
    graph.launch(stream)
    stream.sync()
    assert (numbers[0], numbers[1]) == (1, 21), numbers[:2]


def nodes_know_their_neighbours():
    definition = GraphDefinition()
    first = definition.launch(one, put, host.handle, 1)
    last = first.launch(one, put, host.handle, 2)
    event = device.create_event()
    recorded = last.record(event)
    definition.join(first, definition.empty())
    assert first in last.pred and last in first.succ and recorded.is_valid
    before = len(definition.nodes())
    recorded.destroy()
    assert not recorded.is_valid and len(definition.nodes()) == before - 1
    memset = definition.memset(host, 7, 16)
    assert memset.element_size == 1
    copied = memset.memcpy(host.handle + 64, host.handle, 16)
    assert copied.src == host.handle and copied.dst == host.handle + 64
    child = GraphDefinition()
    child.launch(one, put, host.handle + 4, 5)
    assert len(definition.embed(child).child_graph.nodes()) == 1
    definition.instantiate(GraphCompleteOptions(auto_free_on_launch=True)).launch(stream)
    stream.sync()
    path = os.path.join(tempfile.mkdtemp(), "graph.dot")
    definition.debug_dot_print(path, GraphDebugPrintOptions(verbose=True, handles=True))
    assert os.path.getsize(path) > 0


def nodes_of_executable_graphs():
    numbers[:] = 0
    definition = GraphDefinition()
    node = definition.launch(one, put, host.handle, 3)
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 3
    allocated = definition.allocate(256)
    assert allocated.bytesize == 256 and allocated.dptr != 0
    allocated.deallocate(allocated.dptr)
    definition.instantiate().launch(stream)
    stream.sync()
    assert node.kernel == put


def textures():
    there = device.memory_resource.allocate(64 * 4, stream=stream)
    source = pinned.allocate(there.size)
    np.from_dlpack(source).view(np.float32)[:] = np.arange(64)
    there.copy_from(source, stream=stream)
    floats[:64] = 0
    linear = ResourceDescriptor.from_linear(there, format="float32", num_channels=1)
    texture = device.create_texture_object(resource=linear, options=TextureObjectOptions())
    launch(stream, LaunchConfig(grid=1, block=64), fetch, int(texture.handle), host.handle)
    stream.sync()
    assert (floats[:64] == np.arange(64)).all()
    texture.close()


def pitched_and_mipmapped_textures():
    pitch = device.properties.texture_pitch_alignment
    pitch = -(-64 // pitch) * pitch
    there = device.memory_resource.allocate(pitch * 4, stream=stream)
    source = pinned.allocate(there.size)
    rows = np.from_dlpack(source).view(np.float32).reshape(4, pitch // 4)
    rows[:] = np.arange(4)[:, None]
    there.copy_from(source, stream=stream)
    shape = {"width": 16, "height": 4, "pitch_bytes": pitch}
    resource = ResourceDescriptor.from_pitch2d(there, format="float32", num_channels=1, **shape)
    assert resource.pitch_bytes == pitch
    texture = device.create_texture_object(resource=resource, options=TextureObjectOptions(filter_mode="linear"))
    launch(stream, LaunchConfig(grid=1, block=16), sample, int(texture.handle), host.handle)
    stream.sync()
    assert (floats[:16] == 0.5).all(), floats[:16]
    array = device.create_mipmapped_array(MipmappedArrayOptions((16, 8), "float32", 1, num_levels=3))
    levels = [array.get_level(each) for each in range(3)]
    assert [each.shape for each in levels] == [(16, 8), (8, 4), (4, 2)]
    mipmapped = ResourceDescriptor.from_mipmapped_array(array)
    device.create_texture_object(resource=mipmapped, options=TextureObjectOptions(mipmap_filter_mode="linear")).close()


def work_queues():
    """From CUDA 13.1 on, which the driver knows and older bindings do not."""
    if BINDINGS < (13, 1):
        refuses(RuntimeError, lambda: device.resources.workqueue, "13.1")
        return
    queues = device.resources.workqueue
    assert queues.concurrency_limit > 0 and queues.device is device
    queues.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced", concurrency_limit=2))
    groups, _ = device.resources.sm.split(SMResourceOptions(count=1))
    context = device.create_context(ContextOptions(resources=[groups[0], queues]))
    assert context.resources.workqueue.concurrency_limit == 2
    own = context.create_stream()
    assert own.resources.sm.sm_count == groups[0].sm_count
    own.close()
    context.close()


def nodes_are_known_again():
    """A conditional node from the list of a graph's nodes, by calls of CUDA 13.2."""
    definition = GraphDefinition()
    condition = definition.create_condition(default_value=1)
    definition.switch(condition, 3)
    (node,) = definition.nodes()
    if BINDINGS >= (13, 2):
        assert node.cond_type == "switch" and len(node.branches) == 3


def copies_that_read_at_once():
    if BINDINGS < (13, 2):
        return
    numbers[:4] = 3
    there = device.allocate(16, stream=stream)
    part = Buffer.from_handle(host.handle, 16, owner=host)
    there.copy_from(part, stream=stream, options=CopyOptions(src_access_order="during_api_call"))
    numbers[:4] = 5
    there.copy_to(part, stream=stream, options=CopyOptions(src_access_order="any"))
    stream.sync()
    assert (numbers[:4] == 3).all()


def shared_memory_resources():
    if not device.properties.handle_type_posix_file_descriptor_supported:
        return
    mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 20, ipc_enabled=True))
    other = DeviceMemoryResource.from_allocation_handle(device, mr.allocation_handle)
    assert other.is_mapped
    mine = mr.allocate(256, stream=stream)
    theirs = Buffer.from_ipc_descriptor(other, mine.ipc_descriptor, stream=stream)
    numbers[:4] = 0
    mine.fill(7, stream=stream)
    host_part = pinned.allocate(256)
    theirs.copy_to(host_part, stream=stream)
    stream.sync()
    assert (np.from_dlpack(host_part).view(np.uint8) == 7).all()
    theirs.close(stream)
    mine.set_deallocation_stream(stream)
    mine.close()
    event = stream.record(options=EventOptions(ipc_enabled=True, blocking_sync=True))
    stream.sync()
    assert event.is_done and event.ipc_descriptor


def tensor_maps():
    if device.compute_capability < (9, 0):
        return
    memory = [device.memory_resource.allocate(64 * 64 * 4, stream=stream) for _ in range(2)]
    view, other = (StridedMemoryView.from_buffer(each, (64, 64), dtype=np.dtype(np.float32)) for each in memory)
    made = [view.as_tensor_map((16, 16)) for _ in range(20)]  # at addresses of every kind that Python gives
    made[0].replace_address(other)
    refuses(Exception, lambda: view.as_tensor_map((512, 16)))


def views_of_memory():
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    view = StridedMemoryView.from_any_interface(values, stream_ptr=-1)
    assert view.shape == (3, 4) and not view.is_device_accessible and not view.readonly
    assert view.ptr == values.ctypes.data and view.exporting_obj is values
    there = device.memory_resource.allocate(values.nbytes, stream=stream)
    seen = StridedMemoryView.from_buffer(there, (3, 4), dtype=np.dtype(np.float32))
    assert seen.ptr == there.handle and seen.is_device_accessible
    again = StridedMemoryView.from_dlpack(there, stream_ptr=-1)
    assert again.ptr == there.handle

    @args_viewable_as_strided_memory((0,))
    def shape_of(array):
        return array.view(-1).shape

    assert shape_of(values) == (3, 4)


def linkers():
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    linked = Linker(
        ObjectCode.from_ptx((head + ".extern .func f();\n.visible .entry k() { call f; ret; }").encode()),
        ObjectCode.from_ptx((head + ".visible .func f() { ret; }").encode()),
        options=LinkerOptions(arch=f"sm_{device.arch}", verbose=True),
    )
    kernel = linked.link("cubin").get_kernel("k")
    linked.get_info_log(), linked.get_error_log()
    assert not linked.get_error_log()
    launch(stream, one, kernel)
    stream.sync()
    assert Linker.which_backend() in ("nvJitLink", "nvjitlink", "driver")


def checkpoints():
    refuses(Exception, lambda: checkpoint.Process(os.getpid()).state)


for part in (
    through_the_run_time_library,
    systems,
    branches_of_definitions,
    branches_of_builders,
    nodes_know_their_neighbours,
    nodes_of_executable_graphs,
    textures,
    pitched_and_mipmapped_textures,
    work_queues,
    nodes_are_known_again,
    copies_that_read_at_once,
    shared_memory_resources,
    tensor_maps,
    views_of_memory,
    linkers,
    checkpoints,
):
    checked(part.__name__, part)
