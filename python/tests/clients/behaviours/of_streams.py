"""Streams and their options."""

from common import each, lines

PROPERTIES = "handle is_nonblocking priority context device is_closed resources"
THINGS = [
    "stream",
    "core.LEGACY_DEFAULT_STREAM",
    "core.PER_THREAD_DEFAULT_STREAM",
    "device.default_stream",
    "foreign",
    "given",
]
WRONG = ["None", "5", "'x'", "object()", "device", "[]", "core.EventOptions()", "buffer", "0.5", "b''"]

BEHAVIOURS = [
    *each("kind({thing}.{name})", thing=THINGS, name=PROPERTIES),
    *each("{thing}.{name}", thing=THINGS, name="is_nonblocking priority is_closed device"),
    *each("{thing}.{name} = 5", thing=["stream"], name=PROPERTIES),
    *each("shape(repr({thing}))", thing=THINGS[:4]),
    *each(
        "{thing}.{method}",
        thing=THINGS,
        method=[
            "sync()",
            "record()",
            "wait(stream)",
            "wait(stream.record())",
            "create_graph_builder()",
            "__cuda_stream__()[0]",
            "wait({thing})",
        ],
    ),
    *each("{one} == {other}", one=THINGS, other=[*THINGS, "None", "5", "int(stream.handle)"]),
    *each("hash({one}) == hash({other})", one=THINGS, other=THINGS),
    *each("{one} in {stream, core.LEGACY_DEFAULT_STREAM}", one=THINGS),
    *each(
        "closed(device.create_stream()).{name}",
        name=PROPERTIES + " sync() record() close() create_graph_builder() wait(stream) __cuda_stream__()",
    ),
    *each("{done}(closed(device.create_stream()))", done="bool repr str type copy.copy contextual"),
    *each("{done}(stream)", done="copy.copy copy.deepcopy len iter bool callable int float list weakref.ref"),
    *each("stream.wait({wrong})", wrong=WRONG),
    *each("stream.record({wrong})", wrong=WRONG),
    *each(
        "stream.record(options={wrong})",
        wrong=[*WRONG, "{}", "{'timing_enabled': True}", "{'none': 1}", "core.EventOptions(True)"],
    ),
    *each(
        "core.Stream.from_handle({wrong})",
        wrong=[*WRONG, "0", "1", "2", "int(stream.handle)", "stream.handle", "-1", "2**70", "True"],
    ),
    *each(
        "core.StreamOptions({field}={value}).{field}",
        field="nonblocking priority",
        value=["True", "False", "None", "1", "0", "-1", "'x'", "1.5", "99"],
    ),
    *each(
        "device.create_stream(options={{field!r}: {value}}).{got}",
        field=["nonblocking"],
        got=["is_nonblocking"],
        value=["True", "False", "None", "1", "0", "'x'", "[]"],
    ),
    *each(
        "device.create_stream(options={{field!r}: {value}}).{got}",
        field=["priority"],
        got=["priority"],
        value=["0", "-1", "-5", "1", "-99", "99", "None", "'x'", "1.0", "True"],
    ),
    *each(
        "device.create_stream({options}).{got}",
        got="is_nonblocking priority device",
        options=[
            "",
            "None",
            "options=None",
            "None, None",
            "options={}",
            "options=core.StreamOptions()",
            "options=core.StreamOptions(nonblocking=False)",
            "options=core.StreamOptions(True, -1)",
            "obj=foreign",
            "given",
            "obj=stream",
        ],
    ),
    *each(
        "device.create_stream({wrong})",
        wrong=[
            "foreign, core.StreamOptions()",
            "foreign, {}",
            "foreign, None",
            "tuple_, None",
            "old_tuple",
            "no_tuple",
            "late",
            "negative",
            "five",
            "options='x'",
            "none=1",
            "core.StreamOptions()",
            "1, 2, 3",
            "options=core.EventOptions()",
        ],
    ),
    *each(
        "core.StreamOptions({one}) {operator} core.StreamOptions({other})",
        operator="== != <",
        one=["", "True, 1"],
        other=["", "True, 1", "False"],
    ),
    *each(
        "{done}(core.StreamOptions(True, -1))",
        done="hash repr copy.copy dataclasses.asdict dataclasses.astuple iter len bool",
    ),
    *lines("""
        [one.name for one in dataclasses.fields(core.StreamOptions)]
        dataclasses.is_dataclass(core.StreamOptions)
        core.StreamOptions(True, -1, 5)
        core.StreamOptions(none=1)
        options = core.StreamOptions(); options.priority = 5; options.priority
        options = core.StreamOptions(); options.none = 5
        options = core.StreamOptions(); options.nonblocking = "x"; options.nonblocking
        copy.copy(core.StreamOptions(True, -1)) == core.StreamOptions(True, -1)
        dataclasses.replace(core.StreamOptions(), priority=-1).priority
        shape(repr(core.StreamOptions()))
        core.Stream()
        core.Stream(5)
        core.Stream.__init__(stream)
        core.Stream.__new__(core.Stream)
        issubclass(type("Mine", (core.Stream,), {}), core.Stream)
        stream.none
        stream.none = 1
        stream < stream
        stream.handle == stream.handle
        int(stream.handle) == stream.handle.__int__()
        int(core.LEGACY_DEFAULT_STREAM.handle)
        int(core.PER_THREAD_DEFAULT_STREAM.handle)
        int(device.default_stream.handle)
        len(stream.__cuda_stream__())
        stream.__cuda_stream__()[1] == int(stream.handle)
        core.LEGACY_DEFAULT_STREAM.__cuda_stream__()
        stream.context == device.context
        stream.context is stream.context
        stream.device == device
        stream.device is device
        core.Stream.from_handle(int(stream.handle)) == stream
        core.Stream.from_handle(int(stream.handle)).priority
        core.Stream.from_handle(handle=int(stream.handle)).is_nonblocking
        core.Stream.from_handle()
        closed(core.Stream.from_handle(int(stream.handle))).is_closed
        stream.wait(stream=stream)
        stream.wait()
        stream.wait(event_or_stream=stream.record())
        stream.wait(foreign)
        stream.wait(core.Device(1).default_stream)
        stream.wait(closed(device.create_stream()))
        stream.wait(closed(stream.record()))
        stream.record(stream.record()) is not None
        event = device.create_event(); stream.record(event) is event
        event = device.create_event(); stream.record(event=event, options={"timing_enabled": True}).is_timing_enabled
        stream.record(closed(device.create_event()))
        stream.record(None, None)
        stream.record(None, core.EventOptions(timing_enabled=True)).is_timing_enabled
        stream.record(1, 2, 3)
        stream.sync(5)
        stream.close(5)
        stream.create_graph_builder(5)
        closed(closed(device.create_stream())).is_closed
        contextual(device.create_stream())
        pickle.dumps(stream)[:0]
        pickle.loads(pickle.dumps(core.StreamOptions(True, -1))) == core.StreamOptions(True, -1)
        core.LEGACY_DEFAULT_STREAM.sync()
        one = device.create_stream(); handle = int(one.handle); one.close(); int(one.handle) in (0, handle)
        one = device.create_stream(); two = device.create_stream(); one == two
        one = device.create_stream(); two = copy.copy(one)
        with_ = device.create_stream(); with_.__enter__() is with_
        hasattr(stream, "__enter__")
        in_thread(lambda: stream.sync())
        in_thread(lambda: stream.record().sync())
        in_thread(lambda: core.LEGACY_DEFAULT_STREAM.sync())
        in_thread(lambda: stream.device.device_id)
        dies(lambda: device.create_stream())
        dies(lambda: device.create_stream().record())
        stream.resources.sm.sm_count > 0
        kind(stream.resources)
        device.create_stream(tuple_).is_nonblocking
        device.create_stream(foreign) == stream
        int(device.create_stream(foreign).handle) == int(stream.handle)
        int(device.create_stream(stream).handle) == int(stream.handle)
        closed(device.create_stream(foreign)).is_closed
        device.create_stream(foreign).close(); stream.sync()
    """),
]


class Gives:
    """What has a stream for others to use."""

    def __init__(self, given):
        self.given = given

    def __cuda_stream__(self):
        return self.given() if callable(self.given) else self.given


def names(shared):
    handle = int(shared.stream.handle)
    foreign = Gives((0, handle))
    return {
        "foreign": shared.device.create_stream(foreign),
        "given": shared.core.Stream.from_handle(handle),
        "tuple_": Gives((0, handle)),
        "old_tuple": Gives((1, handle)),
        "no_tuple": Gives(handle),
        "late": Gives(lambda: 1 / 0),
        "negative": Gives((-1, handle)),
        "five": Gives((0, "x")),
    }
