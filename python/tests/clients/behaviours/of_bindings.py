"""Handles beside cuda.bindings, which programs of the peer's use too: what it takes of them, and what is taken of it."""

from common import each, lines

HANDLES = {
    "stream.handle": "CUstream",
    "core.LEGACY_DEFAULT_STREAM.handle": "CUstream",
    "core.PER_THREAD_DEFAULT_STREAM.handle": "CUstream",
    "event.handle": "CUevent",
    "device.context.handle": "CUcontext",
    "kernel.handle": "CUkernel",
    "cubin.handle": "CUlibrary",
    "cubin.get_module()": "CUmodule",
    "resource.handle": "CUmemoryPool",
    "buffer.handle": "CUdeviceptr",
    "made.handle": "CUgraphExec",
    "definition.handle": "CUgraph",
    "node.handle": "CUgraphNode",
}
CALLS = """
    driver.cuStreamQuery(stream.handle)
    driver.cuStreamSynchronize(stream.handle)
    driver.cuStreamGetPriority(stream.handle)
    driver.cuStreamGetFlags(stream.handle)
    driver.cuStreamIsCapturing(stream.handle)
    driver.cuEventQuery(event.handle)
    driver.cuEventSynchronize(event.handle)
    driver.cuEventRecord(event.handle, stream.handle)
    driver.cuStreamWaitEvent(stream.handle, event.handle, 0)
    driver.cuCtxGetApiVersion(device.context.handle)
    driver.cuCtxPushCurrent(device.context.handle), driver.cuCtxPopCurrent()[0]
    driver.cuKernelGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.handle, 0)[0]
    driver.cuKernelGetFunction(kernel.handle)[0]
    driver.cuKernelGetName(kernel.handle)
    driver.cuLibraryGetKernel(cubin.handle, b'k')[0]
    driver.cuLibraryGetKernelCount(cubin.handle)
    driver.cuModuleGetFunction(cubin.get_module(), b'k')[0]
    driver.cuMemPoolGetAttribute(resource.handle, driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)[0]
    driver.cuMemPoolTrimTo(resource.handle, 0)
    driver.cuMemAllocFromPoolAsync(64, resource.handle, stream.handle)[0]
    driver.cuMemsetD8(buffer.handle, 1, 16)
    driver.cuMemsetD8Async(buffer.handle, 1, 16, stream.handle)
    driver.cuMemcpyDtoD(buffer.handle, other.handle, 16)
    driver.cuMemcpyAsync(buffer.handle, other.handle, 16, stream.handle)
    driver.cuMemcpyDtoH(host_array.ctypes.data, buffer.handle, 16)
    driver.cuPointerGetAttribute(driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer.handle)
    driver.cuGraphLaunch(made.handle, stream.handle)
    driver.cuGraphUpload(made.handle, stream.handle)
    driver.cuGraphGetNodes(definition.handle)[::2]
    driver.cuGraphNodeGetType(node.handle)
    driver.cuGraphAddEmptyNode(graph.GraphDefinition().handle, [], 0)[0]
    driver.cuGraphClone(definition.handle)[0]
    driver.cuGraphInstantiate(definition.handle, 0)[0]
    driver.cuLaunchKernel(driver.cuKernelGetFunction(none_.handle)[1], 1, 1, 1, 1, 1, 1, 0, stream.handle, 0, 0)
    driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(driver.cuKernelGetFunction(kernel.handle)[1], 32, 0)
    driver.cuDeviceGetName(64, device.device_id)[0]
    driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, device.device_id)
    driver.cuDevicePrimaryCtxGetState(int(device.device_id))
"""
# What programs do with a handle.
OPERATIONS = [
    "{handle} == {handle}",
    "{handle} != {handle}",
    "int({handle}) == int({handle})",
    "int({handle}) == {handle}",
    "{handle} == int({handle})",
    "isinstance({handle}, driver.{kind})",
    "isinstance({handle}, int)",
    "type({handle}).__name__",
    "hash({handle}) == hash({handle})",
    "{handle} == driver.{kind}(int({handle}))",
    "driver.{kind}(int({handle})) == {handle}",
    "driver.{kind}(int({handle})) != {handle}",
    "int(driver.{kind}({handle})) == int({handle})",
    "{handle} == None",
    "{handle} == 0",
    "bool({handle})",
    "{handle} in [{handle}]",
    "{handle} in {{{handle}}}",
    "{{{handle}: 1}}[{handle}]",
    "hasattr({handle}, 'getPtr')",
    "ctypes.c_void_p(int({handle})).value == int({handle})",
]

BEHAVIOURS = [
    *[operation.format(handle=handle, kind=kind) for handle, kind in HANDLES.items() for operation in OPERATIONS],
    *each("plain({call})", call=[line.strip() for line in CALLS.strip().splitlines()]),
    *each(
        "core.Stream.from_handle({handle}) == stream",
        handle=["int(stream.handle)", "stream.handle", "driver.CUstream(int(stream.handle))"],
    ),
    *each(
        "int(core.Stream.from_handle({handle}).handle)",
        handle=[
            "0",
            "1",
            "2",
            "driver.CUstream(0)",
            "driver.CU_STREAM_LEGACY",
            "driver.CUstream(driver.CU_STREAM_LEGACY)",
        ],
    ),
    *each(
        "core.Buffer.from_handle({handle}, 16).{name}",
        handle=[
            "int(buffer.handle)",
            "buffer.handle",
            "driver.CUdeviceptr(int(buffer.handle))",
            "np.uint64(int(buffer.handle))",
        ],
        name="size device_id is_device_accessible",
    ),
    *each(
        "core.Kernel.from_handle({handle}).num_arguments",
        handle=[
            "int(kernel.handle)",
            "driver.CUkernel(int(kernel.handle))",
            "driver.cuKernelGetFunction(kernel.handle)[1]",
            "int(driver.cuKernelGetFunction(kernel.handle)[1])",
            "driver.cuModuleGetFunction(cubin.get_module(), b'k')[1]",
            "int(driver.cuModuleGetFunction(cubin.get_module(), b'k')[1])",
        ],
    ),
    *each(
        "told({value})",
        value=[
            "driver.CUdeviceptr(int(out.handle))",
            "out.handle",
            "int(out.handle)",
            "out",
            "np.uint64(int(out.handle))",
            "np.intp(int(out.handle))",
            "ctypes.c_uint64(int(out.handle))",
            "ctypes.c_longlong(int(out.handle))",
            "ctypes.c_size_t(int(out.handle))",
            "ctypes.c_ulonglong(int(out.handle))",
        ],
    ),
    *each(
        "kind(kernel.occupancy.max_potential_block_size({callback}, 0))",
        callback=["0", "16", "1 << 20"],
    ),
    *lines("""
        s = device.create_stream(); h = s.handle; s.close(); kind(s.handle)
        s = device.create_stream(); s.close(); s.handle is None
        s = device.create_stream(); s.close(); int(s.handle)
        e = device.create_event(); e.close(); e.handle is None
        e = device.create_event(); e.close(); int(e.handle)
        b = resource.allocate(16, stream=stream); b.close(); int(b.handle)
        b = resource.allocate(16, stream=stream); b.close(); b.handle is None
        b = resource.allocate(16, stream=stream); b.close(); b.handle == 0
        b = resource.allocate(0, stream=stream); int(b.handle)
        r = core.DeviceMemoryResource(device, {}); r.close(); int(r.handle)
        r = core.DeviceMemoryResource(device, {}); r.close(); r.handle is None
        g = finished(); g.close(); g.handle is None
        g = finished(); g.close(); int(g.handle)
        p = core.Program(SOURCE, 'c++'); kind(p.handle)
        p = core.Program(SOURCE, 'c++'); int(p.handle) != 0
        p = core.Program(SOURCE, 'c++'); p.close(); int(p.handle)
        p = core.Program(SOURCE, 'c++'); p.close(); p.handle is None
        l = core.Linker(ptx); int(l.handle) != 0
        l = core.Linker(ptx); kind(l.handle)
        s = driver.cuStreamCreate(1)[1]; core.Stream.from_handle(int(s)).is_nonblocking
        s = driver.cuStreamCreateWithPriority(0, -1)[1]; core.Stream.from_handle(int(s)).priority
        s = driver.cuStreamCreate(0)[1]; t = core.Stream.from_handle(int(s)); t.close(); plain(driver.cuStreamQuery(s))
        s = driver.cuStreamCreate(0)[1]; t = core.Stream.from_handle(int(s)); core.launch(t, one, none_); t.sync()
        s = driver.cuStreamCreate(0)[1]; t = core.Stream.from_handle(int(s)); e = t.record(); e.sync(); e.is_done
        s = driver.cuStreamCreate(0)[1]; t = core.Stream.from_handle(int(s)); t.device.device_id, t.context == device.context
        s = driver.cuStreamCreate(0)[1]; t = core.Stream.from_handle(int(s)); t == core.Stream.from_handle(int(s))
        p = driver.cuMemAlloc(64)[1]; b = core.Buffer.from_handle(p, 64); b.fill(3, stream=stream); stream.sync(); plain(driver.cuMemFree(p))
        p = driver.cuMemAlloc(64)[1]; b = core.Buffer.from_handle(int(p), 64); b.is_host_accessible, b.is_device_accessible, b.device_id
        p = driver.cuMemAllocHost(64)[1]; b = core.Buffer.from_handle(int(p), 64); b.is_host_accessible, b.is_device_accessible
        p = driver.cuMemAllocManaged(64, 1)[1]; b = core.Buffer.from_handle(int(p), 64); b.is_host_accessible, b.is_managed
        p = driver.cuMemAllocAsync(64, stream.handle)[1]; b = core.Buffer.from_handle(int(p), 64, mr=core.DeviceMemoryResource(device)); b.close(stream)
        l = driver.cuLibraryLoadData(cubin.code, [], [], 0, [], [], 0)[1]; plain(driver.cuLibraryGetKernelCount(l))
        l = driver.cuLibraryLoadData(cubin.code, [], [], 0, [], [], 0)[1]; k = driver.cuLibraryGetKernel(l, b'none')[1]; core.launch(stream, one, core.Kernel.from_handle(int(k)))
        l = driver.cuLibraryLoadData(cubin.code, [], [], 0, [], [], 0)[1]; k = driver.cuLibraryGetKernel(l, b'many')[1]; core.Kernel.from_handle(int(k)).num_arguments
        l = driver.cuLibraryLoadData(cubin.code, [], [], 0, [], [], 0)[1]; k = driver.cuLibraryGetKernel(l, b'many')[1]; core.Kernel.from_handle(int(k)).attributes.max_threads_per_block > 0
        c = driver.cuCtxGetCurrent()[1]; int(c) == int(device.context.handle)
        driver.cuCtxSetCurrent(0); plain(driver.cuCtxGetCurrent()); device.set_current(); int(driver.cuCtxGetCurrent()[1]) != 0
        driver.cuCtxSetCurrent(device.context.handle)[0] == 0
        in_thread(lambda: int(driver.cuCtxGetCurrent()[1]))
        in_thread(lambda: device.set_current() or int(driver.cuCtxGetCurrent()[1]) == int(device.context.handle))
        in_thread(lambda: driver.cuCtxSetCurrent(primary) and core.Device().device_id)
        in_thread(lambda: driver.cuCtxSetCurrent(primary) and kind(core.Device().context))
        in_thread(lambda: driver.cuCtxSetCurrent(primary) and kind(core.Device().create_stream()))
        in_thread(lambda: driver.cuCtxSetCurrent(primary) and core.Device(0).sync())
        in_thread(lambda: driver.cuCtxSetCurrent(primary) and resource.allocate(16, stream=stream).size)
        in_thread(lambda: driver.cuCtxSetCurrent(primary) and core.launch(stream, one, none_))
        b = s = device.create_stream(); g = s.create_graph_builder().begin_building(); plain(driver.cuStreamIsCapturing(s.handle))
        s = device.create_stream(); g = s.create_graph_builder().begin_building(); core.launch(g, one, none_); g.end_building(); plain(driver.cuStreamIsCapturing(s.handle))
        kernel.attributes.num_regs == driver.cuKernelGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.handle, 0)[1]
        device.properties.warp_size == driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)[1]
        device.name == driver.cuDeviceGetName(256, 0)[1].split(bytes(1))[0].decode()
        device.pci_bus_id.lower() == driver.cuDeviceGetPCIBusId(13, 0)[1][:12].decode().lower()
        device.uuid.replace('-', '') == driver.cuDeviceGetUuid(0)[1].bytes.hex()
        core.system.get_num_devices() == driver.cuDeviceGetCount()[1]
    """),
    *each(
        "private.handle_return({given})",
        given=[
            *("(success,)", "(success, 5)", "(success, 5, 6)", "(success, None)", "driver.cuDeviceGetCount()"),
            *("(driver.CUresult.CUDA_ERROR_NOT_FOUND,)", "(driver.CUresult.CUDA_ERROR_INVALID_VALUE, 5)"),
            *("(runtime.cudaError_t.cudaSuccess, 5)", "(runtime.cudaError_t.cudaErrorInvalidValue,)"),
            *("(nvrtc.nvrtcResult.NVRTC_SUCCESS, 5)", "(nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION,)"),
            *("()", "(0,)", "(None,)", "5", "[success]", "None"),
        ],
    ),
    *each("private.{name} is {name}", name="driver nvrtc runtime"),
    "issubclass(private.NVRTCError, private.CUDAError)",
    "private.ComputeCapability(9, 0) == device.compute_capability",
    "type(device.compute_capability) is private.ComputeCapability",
]


def names(shared):
    import importlib

    from cuda.bindings import driver, nvrtc, runtime

    core, device, stream = shared.core, shared.device, shared.stream
    none_ = shared.cubin.get_kernel("none")
    definition = shared.graph.GraphDefinition()
    node = definition.empty()

    def plain(value):
        """What cuda.bindings returned, with codes as numbers."""
        if isinstance(value, (tuple, list)):
            return tuple(plain(item) for item in value)
        if value is None or isinstance(value, (bool, bytes, float)):
            return value
        return int(value) if isinstance(value, int) or hasattr(value, "value") else type(value).__name__

    def finished():
        builder = device.create_graph_builder().begin_building()
        core.launch(builder, shared.one, none_)
        return builder.end_building().complete()

    out = shared.pinned.allocate(8)

    def told(value):
        """Whether a kernel wrote where the argument says."""
        seen = shared.np.from_dlpack(out).view("i4")
        seen[:] = 0
        core.launch(stream, shared.one, shared.kernel, value)
        stream.sync()
        return seen.tolist()

    return dict(
        driver=driver,
        nvrtc=nvrtc,
        runtime=runtime,
        private=importlib.import_module(f"{core.__name__}._utils.cuda_utils"),
        success=driver.CUresult.CUDA_SUCCESS,
        none_=none_,
        definition=definition,
        node=node,
        made=finished(),
        finished=finished,
        plain=plain,
        event=stream.record(),
        other=shared.resource.allocate(256, stream=stream),
        host_array=shared.np.zeros(16, "u1"),
        out=out,
        told=told,
        primary=int(device.context.handle),
    )
