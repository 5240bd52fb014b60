"""Memory resources, their options and their attributes."""

import uuid

from common import each, lines

POOLS = ["resource", "pinned_pool", "managed_pool", "default_pool"]
RESOURCES = [*POOLS, "pinned", "virtual", "graph_memory"]
PROPERTIES = "device_id is_device_accessible is_host_accessible is_managed"
OF_POOLS = "handle is_closed is_handle_owned is_ipc_enabled is_mapped uuid attributes"
MORE = "allocation_handle peer_accessible_by numa_id preferred_location"
COUNTERS = "used_mem_current used_mem_high reserved_mem_current reserved_mem_high"
FLAGS = "reuse_allow_internal_dependencies reuse_allow_opportunistic reuse_follow_event_dependencies release_threshold"
OPTIONS = ["DeviceMemoryResourceOptions", "PinnedMemoryResourceOptions", "ManagedMemoryResourceOptions"]
VALUES = ["True", "False", "None", "0", "1", "-1", "1 << 20", "2**70", "'x'", "''", "1.5", "'device'"]
MAKERS = ["core.DeviceMemoryResource(device", "core.PinnedMemoryResource(", "core.ManagedMemoryResource("]
WRONG = ["None", "5", "'x'", "object()", "stream", "[]"]

BEHAVIOURS = [
    *each("{thing}.{name}", thing=RESOURCES, name=PROPERTIES),
    *each("kind({thing}.{name})", thing=POOLS, name=OF_POOLS),
    *each("{thing}.{name}", thing=POOLS, name="is_closed is_handle_owned is_ipc_enabled is_mapped uuid"),
    *each("{thing}.{name}", thing=POOLS, name=MORE),
    *each("{thing}.{name} = 5", thing=["resource", "managed_pool"], name=PROPERTIES + " " + OF_POOLS),
    *each(
        "{thing}.allocate({size}, stream=stream).size",
        thing=RESOURCES[:-1],
        size="0 1 255 -1 1.5 'x' None True np.int64(64)",
    ),
    *each(
        "{thing}.allocate({arguments})",
        thing=RESOURCES[:-1],
        arguments=[
            "16",
            "16, stream",
            "16, stream=None",
            "16, stream=5",
            "16, stream=device",
            "stream=stream",
            "size=16, stream=stream",
            "16, stream=core.LEGACY_DEFAULT_STREAM",
            "16, stream=gone_stream",
            "2**60, stream=stream",
            "2**70, stream=stream",
        ],
    ),
    *each(
        "{thing}.allocate(16, stream=stream).{name}",
        thing=RESOURCES[:-1],
        name="device_id is_device_accessible is_host_accessible is_managed is_mapped owner",
    ),
    *each("{thing}.allocate(16, stream=stream).memory_resource is {thing}", thing=RESOURCES[:-1]),
    *each(
        "{thing}.deallocate({arguments})",
        thing=["resource", "pinned", "virtual", "managed_pool"],
        arguments=[
            "",
            "0",
            "0, 16",
            "5, 16, stream=5",
            "'x', 16, stream=stream",
            "0, 0, stream=None",
            "0, 'x', stream=stream",
        ],
    ),
    *each(
        "kind({thing}.{name})",
        thing=["gone_pool", "gone_managed"],
        name=PROPERTIES + " " + OF_POOLS + " close() allocate(16,stream=stream)",
    ),
    *each(
        "{thing}.attributes.{name} >= 0",
        thing=["resource", "pinned_pool", "managed_pool", "graph_memory"],
        name=COUNTERS,
    ),
    *each("kind(resource.attributes.{name})", name=FLAGS + " " + COUNTERS),
    *each("{thing}.attributes.{name}", thing=["plain_pool", "pinned_pool"], name=FLAGS),
    *each("resource.attributes.{name} = 5", name=COUNTERS + " " + FLAGS),
    *each("resource.attributes.{name} = {value}", name=COUNTERS + " " + FLAGS, value="0 'x'"),
    *each("resource.attributes.{name} = {value}; kind(resource.attributes.{name})", name=FLAGS, value="0 True"),
    *each("graph_memory.attributes.{name} = {value}", name=COUNTERS, value="0 5 'x'"),
    *each("{done}(resource)", done="copy.copy copy.deepcopy len iter bool callable int"),
    *each("{one} == {other}", one=RESOURCES, other=RESOURCES),
    *each("hash({one}) == hash({one})", one=RESOURCES),
    *each("shape(repr({one}))", one=RESOURCES),
    *each("shape(repr({one}.attributes)).replace('#', '')[:24]", one=["resource", "pinned_pool", "graph_memory"]),
    *each(
        "core.{options}({field}={value}).{field}",
        options=["DeviceMemoryResourceOptions"],
        field="ipc_enabled max_size",
        value=VALUES,
    ),
    *each(
        "core.{options}({field}={value}).{field}",
        options=["PinnedMemoryResourceOptions"],
        field="ipc_enabled max_size numa_id",
        value=VALUES,
    ),
    *each(
        "core.{options}({field}={value}).{field}",
        options=["ManagedMemoryResourceOptions"],
        field="preferred_location preferred_location_type",
        value=VALUES,
    ),
    *each("[one.name for one in dataclasses.fields(core.{options})]", options=OPTIONS),
    *each("core.{options}() == core.{options}()", options=OPTIONS),
    *each("core.{options}(1, 2, 3, 4, 5)", options=OPTIONS),
    *each("hash(core.{options}())", options=OPTIONS),
    *each("shape(repr(core.{options}()))", options=OPTIONS),
    *each("core.{options}(none=1)", options=OPTIONS),
    *each("options = core.{options}(); options.none = 1", options=OPTIONS),
    *each(
        "{maker}{options})",
        maker=["core.DeviceMemoryResource(device"],
        options=[
            "",
            ", None",
            ", {}",
            ", 5",
            ", 'x'",
            ", options=None",
            ", {'max_size': 1 << 20}",
            ", {'none': 1}",
            ", core.PinnedMemoryResourceOptions()",
            ", core.DeviceMemoryResourceOptions(max_size=1 << 20)",
            ", {'max_size': 'x'}",
            ", {'max_size': -1}",
            ", 1, 2",
        ],
    ),
    *each(
        "core.DeviceMemoryResource({wrong})",
        wrong=["", "None", "-1", "99", "'x'", "1.5", "stream", "0", "1", "core.Device(1)", "device_id=0", "True"],
    ),
    *each("core.DeviceMemoryResource({wrong}).device_id", wrong=["0", "1", "device", "core.Device(1)"]),
    *each("core.DeviceMemoryResource({wrong}).is_handle_owned", wrong=["0", "device, {}", "device, {'max_size': 0}"]),
    *each(
        "core.PinnedMemoryResource({options})",
        options=[
            "",
            "None",
            "{}",
            "5",
            "'x'",
            "options=None",
            "{'max_size': 1 << 20}",
            "{'none': 1}",
            "core.DeviceMemoryResourceOptions()",
            "{'numa_id': 0}",
            "{'numa_id': 99}",
            "{'numa_id': -1}",
            "{'numa_id': 'x'}",
            "1, 2",
        ],
    ),
    *each(
        "core.PinnedMemoryResource({options}).{name}",
        options=["", "{}", "{'numa_id': 0}"],
        name="numa_id is_handle_owned device_id is_ipc_enabled",
    ),
    *each(
        "core.ManagedMemoryResource({options})",
        options=[
            "",
            "None",
            "{}",
            "5",
            "'x'",
            "options=None",
            "{'none': 1}",
            "core.DeviceMemoryResourceOptions()",
            "{'preferred_location': 0}",
            "{'preferred_location': -1}",
            "{'preferred_location': 99}",
            "{'preferred_location': 'x'}",
            "{'preferred_location': 0, 'preferred_location_type': 'device'}",
            "{'preferred_location_type': 'device'}",
            "{'preferred_location_type': 'host'}",
            "{'preferred_location': 0, 'preferred_location_type': 'host'}",
            "{'preferred_location': 0, 'preferred_location_type': 'host_numa'}",
            "{'preferred_location_type': 'host_numa'}",
            "{'preferred_location_type': 'none'}",
            "{'preferred_location': None}",
            "{'preferred_location': device}",
            "1, 2",
        ],
    ),
    *each(
        "core.ManagedMemoryResource({options}).preferred_location",
        options=[
            "",
            "{}",
            "{'preferred_location': 0}",
            "{'preferred_location': -1}",
            "{'preferred_location': 1, 'preferred_location_type': 'device'}",
            "{'preferred_location_type': 'host'}",
            "{'preferred_location': 0, 'preferred_location_type': 'host_numa'}",
        ],
    ),
    *each(
        "core.ManagedMemoryResource({options}).{name}",
        options=["", "{'preferred_location': 0}"],
        name="device_id is_handle_owned",
    ),
    *each(
        "core.GraphMemoryResource({wrong})",
        wrong=["", "None", "-1", "99", "'x'", "1.5", "stream", "0", "device", "device_id=device", "0, 1"],
    ),
    *each(
        "graph_memory.{method}",
        method=[
            "trim()",
            "close()",
            "deallocate(0, 0, stream=stream)",
            "allocate(16, stream=stream)",
            "allocate(16)",
            "trim(5)",
            "none",
        ],
    ),
    *each("core.LegacyPinnedMemoryResource({wrong})", wrong=["1", "none=1", "None"]),
    *each(
        "pinned.{call}",
        call=[
            "allocate(16).size",
            "allocate(0).size",
            "allocate(16, stream=None).size",
            "allocate(-1)",
            "allocate(16).is_host_accessible",
            "allocate('x')",
            "allocate()",
            "deallocate(0, 0)",
            "close()",
            "handle",
            "attributes",
            "is_closed",
        ],
    ),
    *each(
        "peered.peer_accessible_by = {value}; sorted(str(one) for one in peered.peer_accessible_by)",
        value=["[]", "[1]", "[core.Device(1)]", "[0]", "{1}", "(1, 1)", "()"],
    ),
    *each(
        "peered.peer_accessible_by = {value}",
        value=["5", "None", "'x'", "[99]", "['x']", "[-1]", "[None]", "1", "[1.5]"],
    ),
    *each(
        "core.DeviceMemoryResource.{name}({arguments})",
        name="from_registry from_allocation_handle",
        arguments=["", "5", "None", "device, None", "device, 'x'", "uuid4()"],
    ),
    *each(
        "core.PinnedMemoryResource.{name}({arguments})",
        name="from_registry from_allocation_handle",
        arguments=["", "5.5", "None", "'x'", "uuid4()"],
    ),
    *each(
        "{thing}.register({arguments})",
        thing=["resource", "pinned_pool"],
        arguments=["", "5", "None", "uuid4()", "'x'"],
    ),
    *lines("""
        core.MemoryResource()
        core.MemoryResource().device_id
        core.MemoryResource().is_managed
        core.MemoryResource().is_device_accessible
        core.MemoryResource().is_host_accessible
        core.MemoryResource().allocate(16, stream=stream)
        core.MemoryResource().deallocate(0, 16, stream=stream)
        type("Mine", (core.MemoryResource,), {})().device_id
        type("Mine", (core.MemoryResource,), {})().allocate(16, stream=stream)
        type("Mine", (core.MemoryResource,), {})().is_managed
        type("Mine", (core.DeviceMemoryResource,), {})(device).device_id
        issubclass(core.DeviceMemoryResource, core.MemoryResource)
        issubclass(core.PinnedMemoryResource, core.MemoryResource)
        issubclass(core.ManagedMemoryResource, core.MemoryResource)
        issubclass(core.GraphMemoryResource, core.MemoryResource)
        issubclass(core.LegacyPinnedMemoryResource, core.MemoryResource)
        issubclass(core.VirtualMemoryResource, core.MemoryResource)
        core.GraphMemoryResource(0) is core.GraphMemoryResource(0)
        core.GraphMemoryResource(0) is core.GraphMemoryResource(device)
        core.DeviceMemoryResource(0) == core.DeviceMemoryResource(0)
        int(core.DeviceMemoryResource(0).handle) == int(core.DeviceMemoryResource(0).handle)
        closed(core.DeviceMemoryResource(0)).is_closed
        core.DeviceMemoryResource(0).allocate(16, stream=stream).size
        resource.attributes is resource.attributes
        resource.attributes.none
        resource.attributes = 5
        plain_pool.close(5)
        closed(closed(core.DeviceMemoryResource(device, {}))).is_closed
        one = core.DeviceMemoryResource(device, {}); kept = one.allocate(16, stream=stream); one.close(); kept.is_closed
        one = core.DeviceMemoryResource(device, {}); kept = one.allocate(16, stream=stream); one.close(); kept.close(); kept.is_closed
        one = core.DeviceMemoryResource(device, {}); kept = one.allocate(16, stream=stream); del one; kept.memory_resource.device_id
        one = core.DeviceMemoryResource(device, {}); one.allocate(16, stream=stream); one.attributes.used_mem_high
        one = core.DeviceMemoryResource(device, {"max_size": 1 << 22}); one.allocate(1 << 30, stream=stream)
        one = core.DeviceMemoryResource(device, {}); two = one.allocate(16, stream=stream); one.attributes.used_mem_current >= 16
        dies(lambda: core.DeviceMemoryResource(device, {}))
        in_thread(lambda: resource.device_id)
        in_thread(lambda: core.DeviceMemoryResource(0).device_id)
        in_thread(lambda: core.LegacyPinnedMemoryResource().allocate(16).size)
        in_thread(lambda: core.Device(0).set_current() or core.DeviceMemoryResource(0, {}).device_id)
        weakref.ref(resource)() is resource
        contextual(core.DeviceMemoryResource(device, {}))
        len(pickle.dumps(resource)) > 0
        core.Device(1).memory_resource.device_id
        core.Device(1).memory_resource == device.memory_resource
        peered.peer_accessible_by is peered.peer_accessible_by
        kind(peered.peer_accessible_by)
        peered.peer_accessible_by = [1]; 1 in peered.peer_accessible_by
        peered.peer_accessible_by = [1]; core.Device(1) in peered.peer_accessible_by
        peered.peer_accessible_by = [1]; len(peered.peer_accessible_by)
        peered.peer_accessible_by = [1]; list(peered.peer_accessible_by)
        peered.peer_accessible_by = [1]; peered.peer_accessible_by == {core.Device(1)}
        peered.peer_accessible_by = []; peered.peer_accessible_by == set()
        peered.peer_accessible_by.add(core.Device(1)); len(peered.peer_accessible_by)
        peered.peer_accessible_by.discard(core.Device(1)); len(peered.peer_accessible_by)
        peered.peer_accessible_by.add(5)
        peered.peer_accessible_by.clear() is None
        peered.peer_accessible_by.difference_update([]) is None
        peered.peer_accessible_by.symmetric_difference_update([]) is None
        peered.peer_accessible_by.remove(core.Device(1))
        peered.peer_accessible_by.add(1); peered.peer_accessible_by.clear(); len(peered.peer_accessible_by)
        peered.peer_accessible_by |= {core.Device(1)}; len(peered.peer_accessible_by)
        peered.peer_accessible_by.update([1]); len(peered.peer_accessible_by)
        peered.peer_accessible_by.update([]); len(peered.peer_accessible_by)
        peered.peer_accessible_by.update(5)
        peered.peer_accessible_by.intersection_update([1]); len(peered.peer_accessible_by)
        peered.peer_accessible_by.intersection_update([]); len(peered.peer_accessible_by)
        peered.peer_accessible_by = [1]; peered.peer_accessible_by.difference_update([1]); len(peered.peer_accessible_by)
        peered.peer_accessible_by = [1]; peered.peer_accessible_by.symmetric_difference_update([1]); len(peered.peer_accessible_by)
        sorted(map(str, peered.peer_accessible_by))
    """),
]


def names(shared):
    core, device, closed = shared.core, shared.device, shared.closed

    def pool():
        return core.DeviceMemoryResource(device, {"max_size": 1 << 24})

    return {
        "pinned_pool": core.PinnedMemoryResource({"max_size": 1 << 24}),
        "managed_pool": core.ManagedMemoryResource({"preferred_location": 0}),
        "default_pool": core.DeviceMemoryResource(device),
        "plain_pool": pool(),
        "peered": pool(),
        "gone_pool": closed(pool()),
        "gone_managed": closed(core.ManagedMemoryResource({"preferred_location": 0})),
        "virtual": core.VirtualMemoryResource(device),
        "graph_memory": core.GraphMemoryResource(device),
        "gone_stream": closed(device.create_stream()),
        "uuid4": uuid.uuid4,
    }
