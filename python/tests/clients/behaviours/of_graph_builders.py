"""Graphs that streams are captured into: builders and their branches, and graphs that are made and launched."""

from pathlib import Path

from common import each, lines

B = "b = device.create_graph_builder(); "
BUILDING = B + "b.begin_building(); "
ENDED = BUILDING + "core.launch(b, one, none_); b.end_building(); "
PROPERTIES = "graph_definition is_building is_closed is_join_required stream"
METHODS = [
    "begin_building()",
    "end_building()",
    "complete()",
    "callback(work)",
    "close()",
    "create_condition()",
    "debug_dot_print(path())",
    "embed(b)",
    "if_then(None)",
    "if_else(None)",
    "while_loop(None)",
    "switch(None, 2)",
    "split(2)",
    "sync()",
    "none",
]
STATES = [
    "",
    "b.begin_building(); ",
    "b.begin_building(); b.end_building(); ",
    "b.close(); ",
    "b.begin_building(); b.close(); ",
    "b.begin_building(); core.launch(b, one, none_); ",
]
DOT = """verbose runtime_types kernel_node_params memcpy_node_params memset_node_params host_node_params event_node_params
ext_semas_signal_node_params ext_semas_wait_node_params kernel_node_attributes handles mem_alloc_node_params
mem_free_node_params batch_mem_op_node_params extra_topo_info conditional_node_params"""
COMPLETE = "auto_free_on_launch device_launch use_node_priority"
EXECUTABLES = {
    "g.memset(buffer, 1, 4)": [
        "dst=buffer, value=2, width=4",
        "",
        "5",
        "value=2",
        "dst=buffer, value=2, width=8, height=1, pitch=0",
        "dst='x', value=2, width=4",
        "dst=buffer, value=b'abc', width=4",
    ],
    "g.memcpy(buffer, other, 16)": [
        "dst=buffer, src=other, size=8",
        "",
        "5",
        "size=8",
        "dst=None, src=other, size=8",
        "dst=other, src=buffer, size=16",
    ],
    "g.launch(one, kernel, buffer)": [
        "config=one, kernel=kernel, args=(other,)",
        "",
        "5",
        "args=(other,)",
        "config=one, kernel=kernel, args=5",
        "config=one, kernel=none_, args=()",
        "config=None, kernel=kernel, args=(other,)",
        "config=core.LaunchConfig(grid=2, block=2), kernel=kernel, args=[buffer]",
    ],
    "g.callback(work)": ["work", "", "5", "with_data, user_data=b'x'", "None", "fn=work"],
    "g.record(event)": ["event", "other_event", "", "5", "None", "event=event"],
    "g.wait(event)": ["event", "other_event", "", "5", "None"],
    "g.embed(small())": ["small()", "", "5", "None", "child=small()", "graph.GraphDefinition()"],
}
SWITCHED = list(EXECUTABLES)[:3]

BEHAVIOURS = [
    *[snippet for state in STATES for snippet in each(B + state + "kind(b.{name})", name=PROPERTIES)],
    *[
        snippet
        for state in STATES
        for snippet in each(B + state + "b.{name}", name="is_building is_closed is_join_required")
    ],
    *[snippet for state in STATES for snippet in each(B + state + "kind(b.{name})", name=METHODS)],
    *each(B + "b.{name} = 5", name=PROPERTIES),
    *each(
        B + "b.begin_building({mode}).is_building",
        mode=[
            "",
            "'relaxed'",
            "'global'",
            "'thread_local'",
            "'none'",
            "None",
            "5",
            "mode='relaxed'",
            "'RELAXED'",
            "''",
        ],
    ),
    *each(
        ENDED + "kind(b.complete({options}))",
        options=[
            "",
            "None",
            "{}",
            "5",
            "'x'",
            "graph.GraphCompleteOptions()",
            "options=None",
            "{'auto_free_on_launch': True}",
            "{'none': 1}",
            "graph.GraphCompleteOptions(upload_stream=stream)",
            "graph.GraphCompleteOptions(device_launch=True)",
            "graph.GraphCompleteOptions(use_node_priority=True)",
            "graph.GraphCompleteOptions(upload_stream=5)",
            "graph.GraphDebugPrintOptions()",
            "None, 5",
        ],
    ),
    *each(
        ENDED + "b.debug_dot_print({arguments})",
        arguments=[
            "",
            "5",
            "None",
            "path()",
            "path(), None",
            "path(), {}",
            "path(), 5",
            "path(), graph.GraphDebugPrintOptions()",
            "path(), graph.GraphDebugPrintOptions(verbose=True)",
            "path(), {'verbose': True}",
            "'/none/such/file.dot'",
            "Path(path())",
            "path().encode()",
        ],
    ),
    *each(
        "g = graph.GraphDefinition(); g.empty(); g.debug_dot_print({arguments})",
        arguments=[
            "",
            "5",
            "path()",
            "path(), graph.GraphDebugPrintOptions(verbose=True)",
            "'/none/such/file.dot'",
            "path(), {'handles': True}",
        ],
    ),
    *each(
        "g = graph.GraphDefinition(); g.empty(); kind(g.instantiate({options}))",
        options=[
            "",
            "None",
            "{}",
            "5",
            "graph.GraphCompleteOptions()",
            "options=None",
            "graph.GraphCompleteOptions(device_launch=True)",
            "graph.GraphCompleteOptions(upload_stream=stream)",
        ],
    ),
    *each(BUILDING + "len(b.split({count}))", count=["2", "1", "0", "-1", "'x'", "None", "3", "1.5", "", "count=2"]),
    *each(
        BUILDING + "one_, two = b.split(2); graph.GraphBuilder.join({given}).is_join_required",
        given=["one_, two", "two, one_", "one_", "", "one_, one_", "one_, None", "one_, 5", "[one_, two]"],
    ),
    *each(
        BUILDING + "b.callback({arguments})",
        arguments=[
            "",
            "work",
            "None",
            "5",
            "fn=work",
            "work, user_data=b'x'",
            "work, user_data=5",
            "with_data, user_data=b'x'",
            "c_function",
            "c_function, user_data=b'x'",
            "c_function, user_data=5",
            "work, 5",
        ],
    ),
    *each(
        BUILDING + "b.embed({child})",
        child=[
            "",
            "None",
            "5",
            "b",
            "ended()",
            "child=ended()",
            "small()",
            "ended().complete()",
            "device.create_graph_builder()",
        ],
    ),
    *each(
        BUILDING + "kind(b.create_condition({value}))",
        value=["", "0", "1", "None", "default_value=1", "-1", "'x'", "True", "1.5"],
    ),
    *each(
        BUILDING + "c = b.create_condition(); kind(b.{method})",
        method=[
            "if_then(c)",
            "if_else(c)",
            "while_loop(c)",
            "switch(c, 3)",
            "if_then(condition=c)",
            "if_then(5)",
            "if_else(None)",
            "while_loop('x')",
            "switch(c, 0)",
            "switch(c, -1)",
            "switch(c)",
            "switch(5, 2)",
        ],
    ),
    *each(
        BUILDING + "c = b.create_condition(); branch = b.if_then(c); {call}",
        call=[
            "branch.is_building",
            "branch.begin_building().is_building",
            "branch.is_join_required",
            "branch.is_closed",
            "branch.begin_building(); core.launch(branch, one, none_); branch.end_building(); b.end_building(); kind(b.complete())",
            "branch.complete()",
            "branch.stream == b.stream",
            "branch.begin_building(); branch.split(2)",
            "branch.close(); branch.is_closed",
            "b.end_building()",
        ],
    ),
    *each(
        "kind(made.{name})",
        name=[
            "handle",
            "is_closed",
            "launch(stream)",
            "upload(stream)",
            "update(small())",
            "update(ended())",
            "none",
        ],
    ),
    *each("made.{name} = 5", name="handle is_closed"),
    *each(
        "made.launch({arguments})",
        arguments=[
            "",
            "None",
            "5",
            "stream",
            "stream=stream",
            "core.LEGACY_DEFAULT_STREAM",
            "stream, 1",
            "closed(device.create_stream())",
            "device",
            "device.create_graph_builder()",
            "gives",
        ],
    ),
    *each(
        "made.upload({arguments})",
        arguments=["", "None", "5", "stream", "stream=stream", "core.LEGACY_DEFAULT_STREAM", "'x'"],
    ),
    *each(
        "made.update({source})",
        source=[
            "",
            "None",
            "5",
            "small()",
            "source=small()",
            "graph.GraphDefinition()",
            "ended()",
            "device.create_graph_builder()",
            "made",
            "closed(ended())",
            "building()",
        ],
    ),
    *each(
        "closed(small().instantiate()).{name}",
        name=["is_closed", "close()", "launch(stream)", "upload(stream)", "update(small())", "handle"],
    ),
    *each("{done}(made)", done="copy.copy copy.deepcopy len iter bool callable int pickle.dumps"),
    *each(
        "{done}(device.create_graph_builder())",
        done="copy.copy copy.deepcopy len iter bool callable int pickle.dumps contextual",
    ),
    *[
        snippet
        for made, updates in EXECUTABLES.items()
        for snippet in each("g = graph.GraphDefinition(); n = {made}; e = g.instantiate(); kind(e[n])", made=[made])
    ],
    *[
        snippet
        for made, updates in EXECUTABLES.items()
        for snippet in each(
            "g = graph.GraphDefinition(); n = {made}; e = g.instantiate(); e[n].update({update})",
            made=[made],
            update=updates,
        )
    ],
    *each(
        "g = graph.GraphDefinition(); n = {made}; e = g.instantiate(); {call}",
        made=list(EXECUTABLES),
        call=[
            "e[n] is e[n]",
            "e[n] == e[n]",
            "e[n].none",
            "shape(repr(e[n]))",
            "e.close(); e[n]",
            "x = e[n]; e.close(); x.update()",
            "e[5]",
            "e[None]",
            "e[small().empty()]",
            "n.destroy(); kind(e[n])",
        ],
    ),
    *each(
        "g = graph.GraphDefinition(); n = {made}; e = g.instantiate(); x = e[n]; {call}",
        made=SWITCHED,
        call=[
            "x.is_enabled",
            "x.disable(); x.is_enabled",
            "x.disable(); x.enable(); x.is_enabled",
            "x.is_enabled = False",
            "x.enable(5)",
            "x.disable(); e.launch(stream)",
            "x.is_enabled = 5",
        ],
    ),
    *each(
        "g = graph.GraphDefinition(); n = g.{kind}; e = g.instantiate(); kind(e[n])",
        kind=["empty()", "allocate(64)", "if_then(g.create_condition())", "join()"],
    ),
    *each("graph.GraphDebugPrintOptions({field}={value}).{field}", field=DOT, value="True False None 1"),
    *each("graph.GraphCompleteOptions({field}={value}).{field}", field=COMPLETE, value="True False None 1 'x'"),
    *each("kind(graph.GraphCompleteOptions(upload_stream={value}).upload_stream)", value="stream None 5"),
    *each(
        "{call}(graph.{options}())",
        options="GraphCompleteOptions GraphDebugPrintOptions",
        call="repr hash dataclasses.asdict dataclasses.astuple copy.copy bool len dataclasses.is_dataclass",
    ),
    *each(
        "graph.{options}({arguments})", options="GraphCompleteOptions GraphDebugPrintOptions", arguments="5 none=1 True"
    ),
    *each(
        "[one.name for one in dataclasses.fields(graph.{options})]",
        options="GraphCompleteOptions GraphDebugPrintOptions",
    ),
    *lines("""
        stream.create_graph_builder().is_building
        stream.create_graph_builder().stream == stream
        device.create_graph_builder().stream == stream
        b = device.create_graph_builder(); b == b
        b = device.create_graph_builder(); hash(b) == hash(b)
        b = device.create_graph_builder(); b == device.create_graph_builder()
        b = device.create_graph_builder(); shape(repr(b))
        b = device.create_graph_builder(); b.begin_building() is b
        b = device.create_graph_builder(); b.begin_building().end_building() is b
        b = device.create_graph_builder(); b.begin_building().begin_building()
        b = device.create_graph_builder(); b.begin_building(); b.end_building(); b.end_building()
        b = device.create_graph_builder(); b.begin_building(); b.end_building(); b.begin_building()
        b = device.create_graph_builder(); b.begin_building(); b.stream.sync()
        b = device.create_graph_builder(); b.begin_building(); b.stream.record()
        b = device.create_graph_builder(); b.begin_building(); buffer.fill(1, stream=b)
        b = device.create_graph_builder(); b.begin_building(); buffer.copy_to(other, stream=b)
        b = device.create_graph_builder(); b.begin_building(); resource.allocate(16, stream=b)
        b = device.create_graph_builder(); b.begin_building(); core.GraphMemoryResource(device).allocate(16, stream=b).size
        b = device.create_graph_builder(); b.begin_building(); core.launch(b, one, kernel, buffer)
        b = device.create_graph_builder(); core.launch(b, one, kernel, buffer)
        b = device.create_graph_builder(); b.begin_building(); len(b.graph_definition.nodes())
        b = device.create_graph_builder(); b.begin_building(); core.launch(b, one, none_); b.end_building(); len(b.graph_definition.nodes())
        b = device.create_graph_builder(); b.begin_building(); core.launch(b, one, none_); b.end_building(); b.graph_definition == b.graph_definition
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); one_ is b
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); two.is_join_required
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); one_.is_join_required
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); two.end_building()
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); b.end_building()
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); graph.GraphBuilder.join(one_, two) is b
        b = device.create_graph_builder(); b.begin_building(); one_, two = b.split(2); graph.GraphBuilder.join(one_, two); two.is_closed
        graph.GraphBuilder.join(ended(), ended())
        ended().complete() == ended().complete()
        made == made
        hash(made) == hash(made)
        int(made.handle) != 0
        shape(repr(made))
        weakref.ref(made)() is made
        dies(lambda: small().instantiate())
        dies(lambda: device.create_graph_builder())
        closed(closed(small().instantiate())).is_closed
        closed(closed(device.create_graph_builder())).is_closed
        made.launch(stream); made.launch(stream); stream.sync()
        in_thread(lambda: made.launch(stream))
        in_thread(lambda: device.create_graph_builder())
        called.clear(); b = device.create_graph_builder().begin_building(); b.callback(lambda: called.append(1)); b.end_building(); b.complete().launch(stream); stream.sync(); called
        called.clear(); g = graph.GraphDefinition(); g.callback(lambda: called.append(2)); g.instantiate().launch(stream); stream.sync(); called
        called.clear(); g = graph.GraphDefinition(); g.callback(lambda: 1 / 0); g.instantiate().launch(stream); stream.sync()
        g = graph.GraphDefinition(); g.memset(host, 7, 4); g.instantiate().launch(stream); stream.sync(); np.from_dlpack(host)[:5]
        g = graph.GraphDefinition(); n = g.memset(host, 7, 4); e = g.instantiate(); e[n].update(dst=host, value=9, width=4); e.launch(stream); stream.sync(); np.from_dlpack(host)[:5]
        g = graph.GraphDefinition(); n = g.memset(host, 8, 4); e = g.instantiate(); e[n].disable(); e.launch(stream); stream.sync(); np.from_dlpack(host)[:5]
        g = graph.GraphDefinition(); a = g.allocate(64); m = a.memset(a.dptr, 1, 64); m.deallocate(a.dptr); e = g.instantiate(); e.launch(stream); stream.sync()
        g = graph.GraphDefinition(); c = g.create_condition(1); n = g.if_then(c); n.then.memset(host, 3, 4); g.instantiate().launch(stream); stream.sync(); np.from_dlpack(host)[:4]
        g = graph.GraphDefinition(); c = g.create_condition(0); n = g.if_else(c); n.then.memset(host, 3, 4); n.else_.memset(host, 4, 4); g.instantiate().launch(stream); stream.sync(); np.from_dlpack(host)[:4]
        g = graph.GraphDefinition(); c = g.create_condition(2); n = g.switch(c, 3); n.branches[2].memset(host, 6, 4); g.instantiate().launch(stream); stream.sync(); np.from_dlpack(host)[:4]
        g = graph.GraphDefinition(); c = g.create_condition(0); n = g.while_loop(c); n.body.memset(host, 5, 4); g.instantiate().launch(stream); stream.sync(); np.from_dlpack(host)[:4]
        g = graph.GraphDefinition(); g.record(event); g.instantiate().launch(stream); event.sync(); event.is_done
    """),
]


def names(shared):
    ctypes, core, graph, device, stream = shared.ctypes, shared.core, shared.graph, shared.device, shared.stream
    folder = Path(shared.tempfile.mkdtemp())
    none = shared.cubin.get_kernel("none")

    class Gives:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    def small():
        definition = graph.GraphDefinition()
        definition.empty()
        return definition

    def building():
        builder = device.create_graph_builder().begin_building()
        core.launch(builder, shared.one, none)
        return builder

    return {
        "other": shared.resource.allocate(256, stream=stream),
        "host": shared.pinned.allocate(16),
        "event": device.create_event(),
        "other_event": device.create_event(),
        "work": lambda: None,
        "with_data": lambda data: None,
        "c_function": ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None),
        "small": small,
        "building": building,
        "ended": lambda: building().end_building(),
        "none_": none,
        "made": small().instantiate(),
        "Path": Path,
        "path": lambda: str(folder / "graph.dot"),
        "gives": Gives(),
        "called": [],
    }
