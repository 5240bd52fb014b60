"""LaunchConfig is a checked value that needs no driver."""

import numpy as np
import pytest

import cucore


def test_dimensions_are_padded():
    config = cucore.LaunchConfig(grid=4, block=(8, 2))
    assert (config.grid, config.cluster, config.block) == ((4, 1, 1), None, (8, 2, 1))
    assert (config.shmem_size, config.is_cooperative) == (0, False)
    assert cucore.LaunchConfig((1, 2, 3), None, ()).block == (1, 1, 1)
    assert cucore.LaunchConfig(grid=(np.uint8(1), 2), block=np.int64(5)).block == (5, 1, 1)
    assert cucore.LaunchConfig(grid=True, block=1).grid[0] is True


def test_cluster_is_the_second_parameter():
    config = cucore.LaunchConfig(8, 2, 32, 1024, True)
    assert (config.grid, config.cluster, config.block) == ((8, 1, 1), (2, 1, 1), (32, 1, 1))
    assert (config.shmem_size, config.is_cooperative) == (1024, True)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"grid": 1}, {"block": 1},
     {"grid": 0, "block": 1}, {"grid": 1, "block": -1}, {"grid": (1, 1, 1, 1), "block": 1},
     {"grid": "1", "block": 1}, {"grid": 1.0, "block": 1}, {"grid": (1, "2"), "block": 1}, {"grid": [1], "block": 1},
     {"grid": 1, "block": 1, "cluster": 0}],
)  # fmt: skip
def test_bad_values_are_refused(arguments):
    with pytest.raises(ValueError):
        cucore.LaunchConfig(**arguments)


@pytest.mark.parametrize("field", ["grid", "block", "cluster"])
@pytest.mark.parametrize("value", [2**32, 2**70])
def test_what_no_launch_can_hold_is_refused_by_launches(device, field, value):
    config = cucore.LaunchConfig(**{"grid": 1, "block": 1, field: value})
    assert getattr(config, field) == (value, 1, 1) and f"{field}=({value}, 1, 1)" in repr(config)
    assert config == cucore.LaunchConfig(**{"grid": 1, "block": 1, field: (value,)}) and config != cucore.LaunchConfig(
        1, 1, 1
    )
    assert hash(config) == hash(cucore.LaunchConfig(**{"grid": 1, "block": 1, field: value}))
    refused_by_launches(device, config, OverflowError, f"{field} cannot be .* below 2")
    setattr(config, field, (1, 1, 1))
    assert config == cucore.LaunchConfig(**{"grid": 1, "block": 1, field: 1})


def refused_by_launches(device, config, error, match):
    """By each call that takes a config."""
    stream = device.create_stream()
    kernel = cucore.Program('extern "C" __global__ void k() {}', "c++").compile("cubin").get_kernel("k")
    node = cucore.graph.GraphDefinition().launch(cucore.LaunchConfig(grid=1, block=1), kernel)
    for call in (
        lambda: cucore.launch(stream, config, kernel),
        lambda: cucore.graph.GraphDefinition().launch(config, kernel),
        lambda: node.update(config=config),
        lambda: kernel.launcher(config),
        lambda: kernel.occupancy.max_active_clusters(config, stream=stream),
        lambda: kernel.occupancy.max_potential_cluster_size(config, stream=stream),
    ):
        with pytest.raises(error, match=match):
            call()


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("grid", None, TypeError),
        ("grid", ("x", 1, 1), TypeError),
        ("block", (1, 1, 1, 1), ValueError),
        ("grid", (0, 1, 1), cucore.CUDAError),
        ("grid", (-1, 1, 1), OverflowError),
        ("shmem_size", -1, cucore.CUDAError),
    ],
)
def test_what_is_assigned_is_looked_at_by_launches(device, field, value, error):
    config = cucore.LaunchConfig(grid=1, block=1)
    setattr(config, field, value)
    assert getattr(config, field) == value and f"{field}={value!r}" in repr(config) and hash(config) == hash(config)
    config.is_cooperative = True
    assert getattr(config, field) == value and config.is_cooperative
    refused_by_launches(device, config, error, f"{field} cannot be ")


def test_the_message_names_field_and_rule():
    with pytest.raises(ValueError, match=r"grid must be >= 1"):
        cucore.LaunchConfig(grid=(1, 0), block=1)


def test_setting_a_field_checks_it():
    config = cucore.LaunchConfig(grid=1, block=1)
    config.grid, config.block, config.shmem_size, config.is_cooperative = (2, 2), 64, 16, 1
    config.cluster = (1, 2)
    assert config == cucore.LaunchConfig((2, 2), (1, 2), 64, 16, True)
    config.cluster = None
    assert config.cluster is None
    with pytest.raises(AttributeError):
        config.gird = 5
    for field, value in (("grid", 0), ("block", "x"), ("shmem_size", "x"), ("grid", [1]), ("grid", (object(),))):
        with pytest.raises((ValueError, TypeError)):
            setattr(config, field, value)
    for value in (2**31, -(2**31) - 1):
        with pytest.raises(OverflowError):
            config.shmem_size = value


def test_equal_configs_hash_and_show_alike():
    one, two = cucore.LaunchConfig(grid=1, block=2), cucore.LaunchConfig(grid=(1, 1), block=(2,))
    assert one == two and hash(one) == hash(two) and one != cucore.LaunchConfig(grid=2, block=2) and one != 5
    assert repr(one) == (
        "LaunchConfig(grid=(1, 1, 1), cluster=None, block=(2, 1, 1), shmem_size=0, is_cooperative=False, "
        "programmatic_stream_serialization=False)"
    )


def test_every_launch_attribute_has_a_field(device):
    event = device.create_event()
    fields = {
        "programmatic_stream_serialization": True,
        "priority": -1,
        "preferred_cluster": (4, 1, 1),
        "cluster_scheduling_policy": "spread",
        "programmatic_event": (event, True),
        "launch_completion_event": event,
        "memory_sync_domain": "remote",
        "memory_sync_domain_map": (0, 2),
        "preferred_shared_memory_carveout": 50,
        "access_policy_window": cucore.AccessPolicyWindow(0x1000, 4096, 0.5, "persisting", "streaming"),
    }
    plain = cucore.LaunchConfig(grid=1, cluster=2, block=1)
    config = cucore.LaunchConfig(grid=1, cluster=2, block=1, **fields)
    for name, value in fields.items():
        assert getattr(config, name) == value, name
        assert name not in repr(plain) or name == "programmatic_stream_serialization"
        assert f", {name}=" in repr(config)
        changed = cucore.LaunchConfig(grid=1, cluster=2, block=1)
        setattr(changed, name, value)
        assert changed != plain and getattr(changed, name) == value
        assert hash(changed) == hash(cucore.LaunchConfig(grid=1, cluster=2, block=1, **{name: value}))
        setattr(changed, name, getattr(plain, name))
        assert changed == plain and hash(changed) == hash(plain)
    assert cucore.LaunchConfig(grid=1, block=1, programmatic_event=event).programmatic_event == (event, False)
    window = cucore.LaunchConfig(grid=1, block=1, access_policy_window={"base_ptr": 16, "num_bytes": 8})
    assert window.access_policy_window == (16, 8, 1.0, "persisting", "normal")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("cluster_scheduling_policy", "fast", ValueError),
        ("memory_sync_domain", 1, ValueError),
        ("memory_sync_domain_map", (1,), ValueError),
        ("memory_sync_domain_map", (1, 256), ValueError),
        ("programmatic_event", 5, TypeError),
        ("programmatic_event", (1, 2, 3), ValueError),
        ("launch_completion_event", "event", TypeError),
        ("preferred_shared_memory_carveout", 101, ValueError),
        ("preferred_shared_memory_carveout", 2**40, ValueError),
        ("preferred_cluster", (0, 1), ValueError),
        ("preferred_cluster", 3, ValueError),
        ("priority", "high", TypeError),
        ("access_policy_window", 5, TypeError),
        ("access_policy_window", (0, 1, 2.0), ValueError),
        ("access_policy_window", (0, 1, 0.5, "sometimes"), ValueError),
        ("access_policy_window", (0, 1, 0.5, "normal", "persisting"), ValueError),
    ],
)
def test_a_launch_attribute_out_of_its_range_is_refused_when_it_is_set(field, value, expected):
    with pytest.raises(expected, match=field.split("_")[0]) if expected is ValueError else pytest.raises(expected):
        cucore.LaunchConfig(grid=1, cluster=2, block=1, **{field: value})
    config = cucore.LaunchConfig(grid=1, cluster=2, block=1)
    before = hash(config)
    with pytest.raises(expected):
        setattr(config, field, value)
    assert hash(config) == before


def test_a_closed_event_is_refused(device):
    event = device.create_event()
    event.close()
    with pytest.raises(ValueError, match="has been closed"):
        cucore.LaunchConfig(grid=1, block=1, launch_completion_event=event)
