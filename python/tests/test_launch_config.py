"""LaunchConfig is a checked value that needs no driver."""

import numpy as np
import pytest

import cucore


def test_dimensions_are_padded():
    config = cucore.LaunchConfig(grid=4, block=(8, 2))
    assert (config.grid, config.cluster, config.block) == ((4, 1, 1), None, (8, 2, 1))
    assert (config.shmem_size, config.is_cooperative) == (0, False)
    assert cucore.LaunchConfig((1, 2, 3), None, ()).block == (1, 1, 1)
    assert cucore.LaunchConfig(grid=[1, 2], block=np.int64(5)).block == (5, 1, 1)


def test_cluster_is_the_second_parameter():
    config = cucore.LaunchConfig(8, 2, 32, 1024, True)
    assert (config.grid, config.cluster, config.block) == ((8, 1, 1), (2, 1, 1), (32, 1, 1))
    assert (config.shmem_size, config.is_cooperative) == (1024, True)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"grid": 1}, {"block": 1},
     {"grid": 0, "block": 1}, {"grid": 1, "block": -1}, {"grid": (1, 1, 1, 1), "block": 1},
     {"grid": "1", "block": 1}, {"grid": 1.0, "block": 1}, {"grid": (1, "2"), "block": 1}, {"grid": 2**32, "block": 1},
     {"grid": 2**70, "block": 1}, {"grid": 1, "block": 1, "cluster": 0}, {"grid": 1, "block": 1, "shmem_size": -1}],
)  # fmt: skip
def test_bad_values_are_refused(arguments):
    with pytest.raises(ValueError):
        cucore.LaunchConfig(**arguments)


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
    for field, value in (("grid", 0), ("block", "x"), ("shmem_size", -1), ("grid", None)):
        with pytest.raises((ValueError, TypeError)):
            setattr(config, field, value)


def test_equal_configs_hash_and_show_alike():
    one, two = cucore.LaunchConfig(grid=1, block=2), cucore.LaunchConfig(grid=(1, 1), block=(2,))
    assert one == two and hash(one) == hash(two) and one != cucore.LaunchConfig(grid=2, block=2) and one != 5
    assert repr(one) == (
        "LaunchConfig(grid=(1, 1, 1), cluster=None, block=(2, 1, 1), shmem_size=0, is_cooperative=False)"
    )
