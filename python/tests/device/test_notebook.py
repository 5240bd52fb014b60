"""What objects show in notebooks, and the picture of a kernel's occupancy, with matplotlib and without."""

import sys
import types

import pytest


@pytest.fixture
def kernel(device, saxpy_code):
    return saxpy_code.get_kernel("saxpy<float>")


def test_a_kernel_shows_its_name_and_parameters_as_text(kernel):
    html = kernel._repr_html_()
    assert "<caption>Kernel</caption>" in html and "void saxpy&lt;float&gt;(float, float const*" in html
    assert f"<th>registers a thread</th><td>{kernel.attributes.num_regs}</td>" in html
    assert "<th>parameters</th><td>(float" in html
    assert "saxpy<float>" not in html


def test_a_stream_shows_where_it_is_also_while_it_captures_or_is_closed(device):
    stream = device.create_stream()
    html = stream._repr_html_()
    assert f"<td>{int(stream.handle):#x}</td>" in html and "<th>priority</th><td>0</td>" in html
    builder = stream.create_graph_builder().begin_building()
    assert "<caption>Stream</caption>" in stream._repr_html_()
    builder.end_building()
    stream.close()
    assert "<caption>Stream</caption>" in stream._repr_html_()


def test_a_timer_shows_what_it_has_timed_and_waits_for_nothing(device):
    stream = device.create_stream()
    timer = stream.timer()
    assert "<th>runs</th><td>0</td>" in timer._repr_html_() and "mean" not in timer._repr_html_()
    for _ in range(3):
        with timer:
            pass
    assert "<th>runs</th><td>3</td>" in timer._repr_html_()
    assert timer.ms >= 0  # waits for the end
    assert "<th>last</th>" in timer._repr_html_() and "not read" not in timer._repr_html_()


def test_occupancy_names_its_kernel(kernel):
    assert repr(kernel.occupancy).startswith("<KernelOccupancy of 'void saxpy<float>(float, ")


class Axes:
    def __init__(self):
        self.calls = {}

    def __getattr__(self, name):
        return lambda *arguments, **options: self.calls.setdefault(name, []).append((arguments, options))


def test_the_occupancy_is_drawn_for_each_size_of_block(kernel, device, monkeypatch):
    pyplot = types.ModuleType("matplotlib.pyplot")
    package = types.ModuleType("matplotlib")
    package.pyplot = pyplot
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    axes = Axes()
    assert kernel.occupancy.plot(axes=axes) is axes
    ((sizes, percents), _) = axes.calls["plot"][0]
    assert sizes[0] == 32 and sizes[-1] == device.properties.max_threads_per_block
    most = device.properties.max_threads_per_multiprocessor
    for size, percent in zip(sizes, percents, strict=True):
        blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(size, 0)
        assert percent == blocks * size * 100 / most
    ((best,), _) = axes.calls["axvline"][0]
    assert best == kernel.occupancy.max_potential_block_size(0, 0).max_block_size
    little = Axes()
    kernel.occupancy.plot(lambda size: size * 256, device=device.device_id, axes=little)
    assert sum(little.calls["plot"][0][0][1]) < sum(percents), "shared memory of blocks counts"


def test_without_matplotlib_it_says_what_to_install(kernel, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"KernelOccupancy.plot\(\) needs matplotlib: pip install matplotlib"):
        kernel.occupancy.plot()


def test_matplotlib_draws_it(kernel, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = kernel.occupancy.plot()
    assert axes.get_ylabel() == "occupancy (%)" and axes.get_title().startswith("void saxpy<float>")
    axes.figure.savefig(tmp_path / "occupancy.png")
    assert (tmp_path / "occupancy.png").stat().st_size > 1000
