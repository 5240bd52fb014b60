"""Devices, contexts and host locations."""

from common import each, lines

PLAIN = "device_id name pci_bus_id uuid arch compute_capability"
METHODS = """sync() default_stream memory_resource context create_stream() create_event() create_graph_builder() properties
resources allocate(16,stream=stream) can_access_peer(0) can_access_peer(device) to_system_device()"""

BEHAVIOURS = [
    *each("kind(device.{name})", name=PLAIN),
    *each("device.{name} == core.Device(0).{name}", name=PLAIN),
    *each("device.{name} = 5; device.{name}", name=PLAIN + " properties context default_stream"),
    *each("kind(device.{name})", name=METHODS),
    *each("kind(in_thread(lambda: core.Device().{name}))", name=METHODS + " " + PLAIN),
    *each("in_thread(lambda: core.Device(0).set_current() or type(core.Device(0).{name}).__name__)", name=METHODS),
    *each("in_thread(lambda: core.Device(0).{name})", name=METHODS.replace("allocate(16,stream=stream)", "")),
    *each(
        "core.Device({wrong})", wrong=["-1", "99", "'0'", "0.0", "True", "False", "None", "np.int32(0)", "b'0'", "[0]"]
    ),
    *each(
        "core.Device({good}).device_id", good=["0", "1", "device", "device_id=0", "device_id=None", "", "np.int64(1)"]
    ),
    *each("core.Device({one}) is core.Device({other})", one="0 device", other="0 1 device core.Device(1)"),
    *each(
        "device {operator} {other}",
        operator="== != < in",
        other=["device", "0", "core.Device(1)", "[0]", "[device]", "None"],
    ),
    *each("device.can_access_peer({other})", other="0 1 -1 99 device core.Device(1) None 'x' 1.0 True np.int32(1)"),
    *each("core.Device(1).can_access_peer({other})", other="0 1 device"),
    *each("device.set_current({wrong})", wrong="5 'x' device stream None"),
    *each("device.create_stream({wrong})", wrong="5 'x' device stream None object() 0 [] {}"),
    *each(
        "device.create_event({wrong})",
        wrong=["5", "'x'", "device", "None", "{'blocking_sync':1}", "{'none':1}", "[]", "{}"],
    ),
    *each("device.allocate({size}, stream=stream).size", size="0 1 -1 1.0 'x' None True 2**70 1<<20 np.int32(16)"),
    *each(
        "device.allocate(16, stream={other})",
        other=["None", "5", "device", "core.LEGACY_DEFAULT_STREAM", "'x'", "object()", "stream.handle"],
    ),
    *each(
        "device.{name}({wrong})",
        name="create_mipmapped_array create_opaque_array create_context",
        wrong="5 None 'x' {} stream",
    ),
    *each(
        "device.{name}(resource={wrong})", name="create_surface_object create_texture_object", wrong="5 None 'x' buffer"
    ),
    *each(
        "kind(device.{name}({more}))",
        name="create_texture_object create_surface_object create_stream",
        more=["", "1, 2, 3"],
    ),
    *each(
        "core.Host({arguments}).{name}",
        name="numa_id is_numa_current",
        arguments=["", "0", "1", "numa_id=3", "is_numa_current=True", "None"],
    ),
    *each(
        "core.Host({arguments})",
        arguments=[
            "-1",
            "'x'",
            "1.5",
            "True",
            "0, is_numa_current=True",
            "2**40",
            "0, True",
            "is_numa_current=5",
            "[]",
        ],
    ),
    *each(
        "core.Host({one}) {operator} core.Host({other})",
        operator="== is",
        one=["", "1", "is_numa_current=True"],
        other=["", "1", "2", "is_numa_current=True"],
    ),
    *each("core.Host({one}) == {other}", one=["", "1"], other="None 1 device"),
    *each("repr(core.Host({one}))", one=["", "1", "is_numa_current=True"]),
    *each("hash(core.Host({one})) == hash(core.Host({one}))", one=["", "1", "is_numa_current=True"]),
    *each("shape(repr({thing}))", thing=["device", "core.Device(1)", "device.context"]),
    *each("{done}(device)", done="copy.copy copy.deepcopy str.join len iter bool callable contextual int"),
    *each("device.context.{name}", name="is_closed is_green handle!=0 create_stream() resources close()"),
    *each("kind(device.context.{name})", name="is_closed is_green resources"),
    *each("core.Device(1).context.{name}", name="is_closed is_green"),
    *lines("""
        core.Device.get_all_devices()
        [one.device_id for one in core.Device.get_all_devices()]
        core.Device.get_all_devices()[0] is device
        core.Device.get_all_devices(1)
        device.get_all_devices()[0] == device
        copy.copy(device) is device
        copy.deepcopy(device) is device
        weakref.ref(device)() is device
        device.none = 1
        del device.name
        hash(device) == hash(core.Device(0))
        {device: 1}[core.Device(0)]
        sorted([device, core.Device(1)])
        pickle.loads(pickle.dumps(device)) == device
        len(device.uuid)
        device.uuid.lower() == device.uuid
        device.arch == "".join(map(str, device.compute_capability))
        device.arch.isdigit()
        device.compute_capability[0] == device.compute_capability.major
        device.compute_capability.minor >= 0
        device.compute_capability._fields
        device.compute_capability >= (7, 0)
        kind(device.compute_capability)
        device.name == str(device.name)
        device.pci_bus_id.count(":")
        device.default_stream is device.default_stream
        device.default_stream == core.LEGACY_DEFAULT_STREAM
        device.default_stream == device.default_stream
        device.memory_resource is device.memory_resource
        device.memory_resource == core.Device(0).memory_resource
        device.memory_resource = resource; device.memory_resource is resource
        device.memory_resource = 5; device.memory_resource
        device.memory_resource = None
        device.memory_resource = pinned; device.memory_resource is pinned
        device.memory_resource = resource; device.allocate(16, stream=stream).memory_resource is resource
        device.set_current() is None
        device.set_current(ctx=None)
        core.Device(1).set_current(); core.Device().device_id
        device.set_current(); core.Device().device_id
        old = device.set_current(device.context); kind(old)
        device.set_current(device.context).handle == device.context.handle
        core.Device(1).set_current(device.context)
        in_thread(lambda: core.Device().device_id)
        in_thread(lambda: (core.Device(1).set_current(), core.Device().device_id)[1])
        device.context == device.context
        device.context is device.context
        hash(device.context) == hash(device.context)
        device.context == core.Device(1).context
        device.context == None
        device.context == stream.context
        device.context != stream.context
        int(device.context.handle) == int(stream.context.handle)
        core.Context()
        core.Context(1)
        core.DeviceResources()
        device.context.none
        device.context.create_stream().device == device
        device.context.create_stream({"nonblocking": True}).is_nonblocking
        device.context.create_stream(5)
        device.context.create_stream(options=core.StreamOptions(priority=0)).priority
        weakref.ref(device.context)() is None
        core.ContextOptions()
        core.ContextOptions(resources=None).resources
        core.ContextOptions(resources=5).resources
        core.ContextOptions([5]).resources
        core.ContextOptions(5) == core.ContextOptions(5)
        shape(repr(core.ContextOptions(5)))
        device.create_context(core.ContextOptions(None))
        device.create_context(core.ContextOptions([5]))
        device.create_context(core.ContextOptions([]))
        device.create_context({"resources": []})
        device.to_system_device() is None
        device.create_opaque_array()
        device.create_texture_object()
        core.Host.numa_current().is_numa_current
        core.Host.numa_current().numa_id
        core.Host.numa_current() == core.Host(is_numa_current=True)
        core.Host.numa_current(1)
        core.Host() is core.Host()
        core.Host(1) is core.Host(1)
        core.Host().none = 1
        core.Host().numa_id = 1
        pickle.loads(pickle.dumps(core.Host(1))) == core.Host(1)
        copy.copy(core.Host(1)) == core.Host(1)
        core.Host(1) < core.Host(2)
        {core.Host(1), core.Host(1)} == {core.Host(1)}
        issubclass(core.Host, core.Device)
        device.properties is device.properties
        device.properties == device.properties
        device.properties.none
        device.properties.warp_size
        device.properties.warp_size = 5
        core.Device(1).properties.warp_size
        in_thread(lambda: core.Device(0).properties.warp_size)
    """),
]


def names(shared):
    return {}
