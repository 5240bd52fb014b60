"""The counts of a SharedStore for those who watch services: Prometheus' text, OpenTelemetry's instruments."""

from dataclasses import asdict

from cucore.stores._shared import SharedStore


def prometheus(shared: SharedStore) -> str:
    """The counts in the text format of Prometheus."""
    lines = []
    for name, value in asdict(shared.stats).items():
        lines += [f"# TYPE cucore_store_{name}_total counter", f"cucore_store_{name}_total {value}"]
    return "\n".join(lines) + "\n"


def opentelemetry(shared: SharedStore, meter: object = None, attributes: dict | None = None) -> None:
    """Shows the counts to OpenTelemetry, as observable counters ``cucore.store.NAME`` of ``meter``.

    meter: an ``opentelemetry.metrics.Meter``; None: the one called ``cucore`` of the process's provider.
    attributes: go with every value, such as a name for each of several stores.
    ImportError: the package ``opentelemetry-api`` is not installed.
    """
    from opentelemetry import metrics

    meter = meter or metrics.get_meter("cucore")
    for name in asdict(shared.stats):

        def observe(_, name=name):
            return [metrics.Observation(getattr(shared.stats, name), attributes)]

        unit = {"bytes_in": "By", "bytes_out": "By", "seconds": "s"}.get(name, "1")
        meter.create_observable_counter(f"cucore.store.{name}", [observe], unit=unit)
