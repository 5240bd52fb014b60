# A client of the driver: cuda.core with two devices (CUCORE_CPU_DEVICES=2).

from checked import checked
from cuda.core import Device, DeviceMemoryResource, DeviceMemoryResourceOptions, LegacyPinnedMemoryResource

first, second = Device(0), Device(1)


def they_differ():
    assert len(Device.get_all_devices()) == 2
    assert first != second and first.uuid != second.uuid
    assert first.can_access_peer(second) and second.can_access_peer(first)


def pools_grant_access():
    first.set_current()
    pool = DeviceMemoryResource(first, DeviceMemoryResourceOptions())
    assert pool.peer_accessible_by == set()
    pool.peer_accessible_by = [1]
    assert pool.peer_accessible_by == {second}
    pool.peer_accessible_by = []
    assert pool.peer_accessible_by == set()


def copies_between_them():
    buffers = []
    for device in (first, second):
        device.set_current()
        stream = device.create_stream()
        buffers.append((device.allocate(64, stream=stream), stream))
    (a, a_stream), (b, b_stream) = buffers
    a.fill(4, stream=a_stream)
    a_stream.sync()
    b.copy_from(a, stream=b_stream)
    back = LegacyPinnedMemoryResource().allocate(64)
    b.copy_to(back, stream=b_stream)
    b_stream.sync()
    assert a.device_id == 0 and b.device_id == 1
    assert b_stream.device == second and a_stream.device == first


for part in (they_differ, pools_grant_access, copies_between_them):
    checked(part.__name__, part)
