"""Virtual memory resources and their options."""

from common import each, lines, rows

FIELDS = """
allocation_type  | 'pinned' | 'managed' | 'none' | None | 5 | typing.VirtualMemoryAllocationType.PINNED
location_type    | 'device' | 'host' | 'host_numa' | 'host_numa_current' | 'none' | None | typing.VirtualMemoryLocationType.DEVICE
handle_type      | 'posix_fd' | 'win32_kmt' | 'fabric' | 'none' | None | typing.VirtualMemoryHandleType.POSIX_FD
granularity      | 'minimum' | 'recommended' | 'none' | None | typing.VirtualMemoryGranularityType.MINIMUM
self_access      | 'rw' | 'r' | 'none' | None | typing.VirtualMemoryAccessType.READ
peer_access      | 'rw' | 'r' | 'none' | None
gpu_direct_rdma  | True | False | None | 1
addr_hint        | 0 | 1 << 40 | None | -1 | 'x'
addr_align       | None | 0 | 1 << 21 | -1 | 'x'
peers            | () | (1,) | [1] | [core.Device(1)] | None | 5
"""
BEHAVIOURS = [
    *rows("core.VirtualMemoryResourceOptions({name}={value}).{name}", FIELDS),
    *rows("kind(core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions({name}={value})))", FIELDS),
    *rows(
        "core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions({name}={value})).allocate(4096).size > 0",
        FIELDS,
    ),
    *each(
        "core.VirtualMemoryResource({arguments})",
        arguments=[
            "",
            "None",
            "0",
            "99",
            "-1",
            "'x'",
            "device",
            "device, None",
            "device, {}",
            "device, 5",
            "device_id=device",
            "device, config=core.VirtualMemoryResourceOptions()",
            "device, {'granularity': 'minimum'}",
            "device, 1, 2",
            "core.Device(1)",
            "device, {'none': 1}",
        ],
    ),
    *each("virtual.{name}", name="device_id is_device_accessible is_host_accessible is_managed none device config"),
    *each("virtual.{name} = 5", name="device_id is_device_accessible is_host_accessible is_managed"),
    *each(
        "virtual.allocate({arguments}).size",
        arguments=[
            "1",
            "4096",
            "1 << 21",
            "(1 << 21) + 1",
            "4096, stream=None",
            "4096, stream=stream",
            "4096, stream=5",
            "4096, stream",
            "'x'",
            "None",
            "1.5",
            "-1",
            "size=4096",
            "1 << 50",
        ],
    ),
    *each(
        "virtual.allocate(4096).{name}",
        name="device_id is_device_accessible is_host_accessible is_managed is_mapped owner is_closed",
    ),
    *each(
        "b = virtual.allocate(4096); {call}",
        call=[
            "b.close(); b.is_closed",
            "b.close(stream); b.is_closed",
            "b.close(); b.close()",
            "b.fill(1, stream=stream); stream.sync()",
            "c = b.copy_to(stream=stream); stream.sync(); c.size",
            "b.memory_resource is virtual",
            "virtual.modify_allocation(b, 8192).size",
            "virtual.modify_allocation(b, 1 << 23).size",
            "virtual.modify_allocation(b, 1 << 23) is b",
            "virtual.modify_allocation(b, 16).size",
            "virtual.modify_allocation(b, 0)",
            "virtual.modify_allocation(b, -1)",
            "virtual.modify_allocation(b, 'x')",
            "virtual.modify_allocation(b)",
            "virtual.modify_allocation(b, 8192, None).size",
            "virtual.modify_allocation(b, 8192, config=core.VirtualMemoryResourceOptions()).size",
            "virtual.modify_allocation(closed(b), 8192)",
            "virtual.modify_allocation(buf=b, new_size=8192).size",
            "virtual.modify_allocation(b, 1 << 23, core.VirtualMemoryResourceOptions(self_access='r')).size",
            "virtual.deallocate(int(b.handle), b.size)",
        ],
    ),
    *lines("""
        v = fresh(); v.modify_allocation(v.allocate(4096), 8192, 5)
        v = fresh(); b = v.allocate(4096); c = v.modify_allocation(b, (1 << 21) + 1); c.size, b.size, b.is_closed, c is b
        v = fresh(); b = v.allocate(4096); c = v.modify_allocation(b, 1 << 23); b.close(); c.size, c.is_closed
        v = fresh(); b = v.allocate(1 << 21); c = v.modify_allocation(b, (1 << 21) + 1); c.size, v.modify_allocation(c, 5) is c
        kind(core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_align=3)))
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_align=3)).allocate(16)
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_align=-1)).allocate(16)
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_align=1 << 23)).allocate(16).size
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(addr_hint=5)).allocate(16)
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(peers=(5,))).allocate(16)
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(peers=(1,))).allocate(16).size
        core.VirtualMemoryResource(device, core.VirtualMemoryResourceOptions(self_access=None)).is_device_accessible
    """),
    *each("virtual.modify_allocation({wrong}, 8192)", wrong=["buffer", "None", "5", "'x'"]),
    *each(
        "{call}(core.VirtualMemoryResourceOptions())",
        call="repr hash bool len dataclasses.asdict dataclasses.is_dataclass copy.copy",
    ),
    *lines("""
        [one.name for one in dataclasses.fields(core.VirtualMemoryResourceOptions)]
        core.VirtualMemoryResourceOptions() == core.VirtualMemoryResourceOptions()
        core.VirtualMemoryResourceOptions(none=1)
        core.VirtualMemoryResourceOptions("pinned", "device").location_type
        options = core.VirtualMemoryResourceOptions(); options.granularity = "minimum"; options.granularity
        dataclasses.replace(core.VirtualMemoryResourceOptions(), self_access="r").self_access
        virtual == virtual
        virtual == core.VirtualMemoryResource(device)
        hash(virtual) == hash(virtual)
        weakref.ref(virtual)() is virtual
        in_thread(lambda: virtual.device_id)
        dies(lambda: core.VirtualMemoryResource(device))
    """),
]


def names(shared):
    def fresh():  # where options may stay that cannot be
        return shared.core.VirtualMemoryResource(shared.device)

    return {"virtual": fresh(), "fresh": fresh}
