"""Events and their options."""

from common import each, lines

PROPERTIES = "handle context device is_blocking_sync is_closed is_done is_ipc_enabled is_timing_enabled ipc_descriptor"
FIELDS = "blocking_sync ipc_enabled timing_enabled"
VALUES = ["True", "False", "None", "1", "0", "'x'", "''", "[]", "1.5"]

BEHAVIOURS = [
    *each("kind(event.{name})", name=PROPERTIES),
    *each(
        "event.{name}", name="is_blocking_sync is_closed is_done is_ipc_enabled is_timing_enabled device ipc_descriptor"
    ),
    *each(
        "timed.{name}", name="is_blocking_sync is_closed is_done is_ipc_enabled is_timing_enabled device ipc_descriptor"
    ),
    *each("event.{name} = 5", name=PROPERTIES),
    *each("closed(device.create_event()).{name}", name=PROPERTIES + " sync() close()"),
    *each("closed(stream.record()).{name}", name=PROPERTIES + " sync() close()"),
    *each("{done}(closed(device.create_event()))", done="bool repr str copy.copy"),
    *each(
        "{done}(event)", done="copy.copy copy.deepcopy pickle.dumps len iter bool callable int float list str.upper abs"
    ),
    *each("core.EventOptions({field}={value}).{field}", field=FIELDS, value=VALUES),
    *each("device.create_event({{field!r}: {value}}).is_{field}", field=[*FIELDS.split()[::2]], value=VALUES),
    *each("device.create_event({'ipc_enabled': {value}}).is_ipc_enabled", value=["False", "None", "0", "''"]),
    *each(
        "event {operator} {other}",
        operator="== != - < +",
        other=["event", "timed", "None", "5", "stream", "closed(stream.record())"],
    ),
    *each("timed - {other}", other=["timed", "None", "5", "stream", "event", "unrecorded", "closed(stream.record())"]),
    *each("{other} - timed", other=["None", "5", "stream", "event", "unrecorded"]),
    *each(
        "core.EventOptions({one}) {operator} core.EventOptions({other})",
        operator="== != <",
        one=["", "True, True"],
        other=["", "True, True", "True"],
    ),
    *each(
        "{done}(core.EventOptions(True, True))",
        done="hash dataclasses.asdict dataclasses.astuple iter len bool copy.copy",
    ),
    *each(
        "device.create_event({wrong})",
        wrong=[
            "core.StreamOptions()",
            "'x'",
            "5",
            "[1]",
            "{'none': 1}",
            "{1: 1}",
            "none=1",
            "1, 2",
            "options=None",
            "options={}",
        ],
    ),
    *each("core.Event.from_ipc_descriptor({wrong})", wrong=["None", "5", "b'x'", "event", "", "'x'"]),
    *lines("""
        [one.name for one in dataclasses.fields(core.EventOptions)]
        dataclasses.is_dataclass(core.EventOptions)
        core.EventOptions(True, True, True, True)
        core.EventOptions(none=1)
        options = core.EventOptions(); options.timing_enabled = True; options.timing_enabled
        options = core.EventOptions(); options.none = 5
        shape(repr(core.EventOptions()))
        dataclasses.replace(core.EventOptions(), blocking_sync=True).blocking_sync
        core.Event()
        core.Event(5)
        core.Event.__new__(core.Event)
        event.none
        event.none = 1
        shape(repr(event))
        hash(event) == hash(event)
        {event: 1}[event]
        event.handle == event.handle
        int(event.handle) != 0
        event.context == device.context
        event.context is event.context
        event.device == device
        event.device is device
        event.sync() is None
        event.sync(5)
        event.close(5)
        closed(closed(device.create_event())).is_closed
        timed.sync(); kind(timed - timed)
        timed.sync(); timed - timed
        timed.sync(); later.sync(); later - timed >= 0
        timed.sync(); later.sync(); timed - later <= 0
        device.create_event().is_done
        unrecorded.sync()
        unrecorded.is_done
        unrecorded - unrecorded
        timed.sync(); timed - closed(stream.record(options={"timing_enabled": True}))
        core.Device(1).create_event().device == device
        one = device.create_event(); two = device.create_event(); one == two
        one = device.create_event(); two = device.create_event(); hash(one) == hash(two)
        one = device.create_event(); handle = int(one.handle); one.close(); int(one.handle) in (0, handle)
        in_thread(lambda: event.sync())
        in_thread(lambda: event.is_done)
        in_thread(lambda: device.create_event())
        in_thread(lambda: event.device.device_id)
        dies(lambda: device.create_event())
        contextual(device.create_event())
        hasattr(event, "__await__")
        device.create_event({"ipc_enabled": True, "timing_enabled": True})
        device.create_event({"blocking_sync": True, "timing_enabled": True}).is_blocking_sync
        stream.record(options={"blocking_sync": True}).is_blocking_sync
        stream.record(options=core.EventOptions(ipc_enabled=True, timing_enabled=True))
        issubclass(type("Mine", (core.Event,), {}), core.Event)
        weakref.ref(event)() is event
    """),
]


def names(shared):
    stream, timing = shared.stream, {"timing_enabled": True}
    made = {"event": stream.record(), "timed": stream.record(options=timing), "later": stream.record(options=timing)}
    stream.sync()
    return {**made, "unrecorded": shared.device.create_event(timing)}
