"""Explicit graphs: definitions, each kind of node, conditions, and graphs made of them."""

from common import each, lines

# kind of node | how one is made in the definition `g`
MADE = {
    "empty": "g.empty()",
    "kernel": "g.launch(one, kernel, buffer)",
    "memset": "g.memset(buffer, 1, 16)",
    "memcpy": "g.memcpy(buffer, other, 16)",
    "host": "g.callback(work)",
    "record": "g.record(event)",
    "wait": "g.wait(event)",
    "alloc": "g.allocate(64)",
    "child": "g.embed(small())",
    "if_then": "g.if_then(g.create_condition(0))",
    "if_else": "g.if_else(g.create_condition(1))",
    "while_loop": "g.while_loop(g.create_condition(0))",
    "switch": "g.switch(g.create_condition(1), 3)",
    "free": "(lambda a: a.deallocate(a.dptr))(g.allocate(64))",
    "join": "g.join(g.empty(), g.empty())",
}
KINDS = list(MADE)
OF_NODES = "graph is_valid pred succ type handle"
METHODS = [
    "launch(one, kernel, buffer)",
    "memset(buffer, 1, 16)",
    "memcpy(buffer, other, 16)",
    "callback(work)",
    "record(event)",
    "wait(event)",
    "allocate(64)",
    "embed(small())",
    "join()",
    "if_then(n.graph.create_condition(0))",
    "destroy()",
]
OF_KINDS = {
    "kernel": "block config grid kernel shmem_size",
    "memset": "dptr element_size height pitch value width",
    "memcpy": "dst size src",
    "host": "callback",
    "record": "event",
    "wait": "event",
    "alloc": "bytesize device_id dptr memory_type peer_access",
    "child": "child_graph",
    "if_then": "branches cond_type condition then",
    "if_else": "branches cond_type condition then else_",
    "while_loop": "branches cond_type condition body",
    "switch": "branches cond_type condition",
    "free": "dptr",
}
PLAIN = "block grid shmem_size element_size height pitch value width size bytesize device_id memory_type peer_access cond_type"
CALLS = {
    "launch": [
        "",
        "one",
        "one, kernel",
        "one, kernel, buffer",
        "5, kernel, buffer",
        "one, 5, buffer",
        "config=one, kernel=kernel",
        "one, kernel, buffer, 1",
        "None, kernel, buffer",
        "clustered, none_",
        "cooperative, none_",
    ],
    "memset": [
        "",
        "buffer",
        "buffer, 1",
        "buffer, 1, 16",
        "int(buffer.handle), 1, 16",
        "buffer, b'ab', 8",
        "buffer, b'abc', 8",
        "buffer, b'abcd', 4",
        "buffer, 256, 4",
        "buffer, -1, 4",
        "buffer, 1, 0",
        "buffer, 1, -1",
        "buffer, 1, 1000",
        "5.5, 1, 16",
        "None, 1, 16",
        "buffer, 1, 8, 2, 16",
        "buffer, 1, 8, height=2, pitch=16",
        "buffer, 1, 8, 2",
        "buffer, 1, 8, 2, 4",
        "buffer, None, 4",
        "buffer, 'x', 4",
        "buffer, 1.5, 4",
        "buffer, np.int32(1), 4",
        "buffer, np.uint8(1), 4",
        "dst=buffer, value=1, width=4",
        "buffer, 1, 4, dst_owner=buffer",
        "int(buffer.handle), 1, 4, dst_owner=buffer",
        "0, 1, 4",
        "buffer, b'', 4",
    ],
    "memcpy": [
        "",
        "buffer, other",
        "buffer, other, 16",
        "int(buffer.handle), int(other.handle), 16",
        "buffer, other, 0",
        "buffer, other, -1",
        "buffer, other, 1000",
        "buffer, None, 16",
        "None, other, 16",
        "buffer, 'x', 16",
        "buffer, host, 16",
        "host, buffer, 16",
        "dst=buffer, src=other, size=4",
        "buffer, other, 16, dst_owner=5",
        "int(buffer.handle), other, 16, dst_owner=buffer",
        "buffer, other, 1.5",
        "buffer, other, None",
        "0, 0, 16",
    ],
    "callback": [
        "",
        "work",
        "fn=work",
        "None",
        "5",
        "work, user_data=None",
        "work, user_data=b'x'",
        "work, user_data=5",
        "with_data, user_data=b'x'",
        "c_function",
        "c_function, user_data=5",
        "c_function, user_data=b'x'",
        "c_function, user_data=None",
        "print, 5",
    ],
    "record": ["", "event", "event=event", "None", "5", "stream", "closed(device.create_event())", "timed"],
    "wait": ["", "event", "event=event", "None", "5", "stream", "closed(device.create_event())"],
    "allocate": [
        "",
        "64",
        "size=64",
        "0",
        "-1",
        "1.5",
        "'x'",
        "64, device=device",
        "64, device=0",
        "64, device=1",
        "64, device=99",
        "64, device='x'",
        "64, device=None",
        "64, memory_type='device'",
        "64, memory_type='host'",
        "64, memory_type='managed'",
        "64, memory_type='none'",
        "64, memory_type=None",
        "64, memory_type=typing.GraphMemoryType.DEVICE",
        "64, peer_access=None",
        "64, peer_access=[]",
        "64, peer_access=[1]",
        "64, peer_access=[core.Device(1)]",
        "64, peer_access=[99]",
        "64, peer_access=5",
        "64, 0",
        "2**60",
    ],
    "deallocate": [
        "",
        "0",
        "'x'",
        "None",
        "int(buffer.handle)",
        "dptr=5",
        "buffer",
        "g.allocate(64).dptr",
        "g.allocate(64)",
    ],
    "embed": [
        "",
        "small()",
        "None",
        "5",
        "g",
        "child=small()",
        "core.graph.GraphDefinition()",
        "builder",
        "small().instantiate()",
    ],
    "join": ["", "g.empty()", "g.empty(), g.empty()", "5", "None", "[g.empty()]", "small().empty()", "g"],
    "if_then": [
        "",
        "None",
        "5",
        "g.create_condition()",
        "condition=g.create_condition(1)",
        "small().create_condition()",
    ],
    "if_else": ["", "None", "5", "g.create_condition()"],
    "while_loop": ["", "None", "5", "g.create_condition()"],
    "switch": [
        "",
        "g.create_condition()",
        "g.create_condition(), 2",
        "g.create_condition(), 0",
        "g.create_condition(), -1",
        "g.create_condition(), 'x'",
        "g.create_condition(), 1.5",
        "None, 2",
        "condition=g.create_condition(), count=3",
        "g.create_condition(), 40",
    ],
    "create_condition": ["", "0", "1", "None", "default_value=1", "-1", "'x'", "1.5", "True", "2**40"],
}
G = "g = graph.GraphDefinition(); "

BEHAVIOURS = [
    *[
        snippet
        for method, calls in CALLS.items()
        for snippet in each(G + "g.{method}({call})", method=[method], call=calls)
    ],
    *[
        snippet
        for method in ("launch", "memset", "memcpy", "callback", "allocate", "embed", "join")
        for snippet in each(G + "n = g.empty().{method}({call}); len(n.pred)", method=[method], call=CALLS[method][:4])
    ],
    *[
        snippet
        for kind, made in MADE.items()
        for snippet in each(G + "n = {made}; kind(n.{name})", made=[made], name=OF_NODES)
    ],
    *[
        snippet
        for kind, made in MADE.items()
        for snippet in each(
            G + "n = {made}; {call}",
            made=[made],
            call=[
                "n",
                "n.type",
                "n.is_valid",
                "n.graph == g",
                "len(n.pred)",
                "len(n.succ)",
                "n == n",
                "n in g.nodes()",
                "hash(n) == hash(n)",
                "len(g.nodes())",
                "len(g.edges())",
                "n.destroy(); n.is_valid",
                "n.destroy(); n.type",
                "n.destroy(); len(g.nodes())",
                "n.destroy(); n.pred",
                "n.destroy(); shape(repr(n))",
                "n.type = 5",
                "n.none",
                "shape(repr(n))",
                "g.instantiate()",
                "copy.copy(n)",
                "pickle.dumps(n)",
                "weakref.ref(n)() is n",
                "bool(n)",
                "n < n",
            ],
        )
    ],
    *[
        snippet
        for kind, made in MADE.items()
        for snippet in each(G + "n = {made}; len(n.{call}.pred)", made=[made], call=METHODS[:-1])
    ],
    *[
        snippet
        for kind, of_kind in OF_KINDS.items()
        for snippet in each(G + "n = {made}; kind(n.{name})", made=[MADE[kind]], name=of_kind)
    ],
    *[
        snippet
        for kind, of_kind in OF_KINDS.items()
        for snippet in each(G + "n = {made}; n.{name} = 5", made=[MADE[kind]], name=of_kind)
    ],
    *[
        snippet
        for kind, of_kind in OF_KINDS.items()
        for snippet in each(
            G + "n = {made}; n.{name}",
            made=[MADE[kind]],
            name=[name for name in of_kind.split() if name in PLAIN.split()],
        )
    ],
    *[
        snippet
        for kind, of_kind in OF_KINDS.items()
        for snippet in each(G + "n = {made}; n.destroy(); kind(n.{name})", made=[MADE[kind]], name=of_kind)
    ],
    *each(
        "graph.{kind}()",
        kind="AllocNode ChildGraphNode ConditionalNode EmptyNode EventRecordNode EventWaitNode FreeNode GraphNode HostCallbackNode IfElseNode IfNode KernelNode MemcpyNode MemsetNode SwitchNode WhileNode ExecutableGraphNode ExecutableKernelNode ExecutableMemcpyNode ExecutableMemsetNode ExecutableChildGraphNode ExecutableEventRecordNode ExecutableEventWaitNode ExecutableHostCallbackNode Graph GraphBuilder GraphCondition",
    ),
    *each(
        "n = graph.{kind}(); n.is_valid, n.handle, n.type, hash(n) == hash(n), n == n",
        kind="AllocNode ChildGraphNode ConditionalNode EmptyNode EventRecordNode EventWaitNode FreeNode GraphNode HostCallbackNode IfElseNode IfNode KernelNode MemcpyNode MemsetNode SwitchNode WhileNode",
    ),
    *each(
        "[one.__name__ for one in graph.{kind}.__mro__[1:-1] if one.__name__[0] != '_']",
        kind="AllocNode ChildGraphNode ConditionalNode EmptyNode EventRecordNode EventWaitNode FreeNode HostCallbackNode IfElseNode IfNode KernelNode MemcpyNode MemsetNode SwitchNode WhileNode ExecutableKernelNode ExecutableMemcpyNode ExecutableMemsetNode ExecutableChildGraphNode ExecutableEventRecordNode ExecutableEventWaitNode ExecutableHostCallbackNode",
    ),
    *lines("""
        graph.GraphDefinition().is_valid
        graph.GraphDefinition(5)
        graph.GraphDefinition() == graph.GraphDefinition()
        g = graph.GraphDefinition(); g == g
        g = graph.GraphDefinition(); hash(g) == hash(g)
        g = graph.GraphDefinition(); g.handle == g.handle
        g = graph.GraphDefinition(); int(g.handle) != 0
        g = graph.GraphDefinition(); g.none
        g = graph.GraphDefinition(); g.nodes()
        g = graph.GraphDefinition(); g.edges()
        g = graph.GraphDefinition(); g.empty(5)
        g = graph.GraphDefinition(); g.close()
        g = graph.GraphDefinition(); g.is_valid = 5
        g = graph.GraphDefinition(); copy.copy(g)
        g = graph.GraphDefinition(); pickle.dumps(g)
        g = graph.GraphDefinition(); bool(g)
        g = graph.GraphDefinition(); len(g)
        g = graph.GraphDefinition(); shape(repr(g))
        g = graph.GraphDefinition(); weakref.ref(g)() is g
        dies(lambda: graph.GraphDefinition())
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a == b
        g = graph.GraphDefinition(); a = g.empty(); b = a.memset(buffer, 1, 4); a.succ == {b}
        g = graph.GraphDefinition(); a = g.empty(); b = a.memset(buffer, 1, 4); b.pred == {a}
        g = graph.GraphDefinition(); a = g.empty(); b = a.memset(buffer, 1, 4); g.edges() == {(a, b)}
        g = graph.GraphDefinition(); a = g.empty(); b = a.memset(buffer, 1, 4); b.pred = {a}
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); b.pred.add(a); len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ.add(b); a.succ.discard(b); len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ = {b}; len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); a.succ = [b]; b.pred = []; len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); a.succ.add(a)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.add(5)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.add(small().empty())
        g = graph.GraphDefinition(); a = g.empty(); a.succ.remove(g.empty())
        g = graph.GraphDefinition(); a = g.empty(); b = a.memset(buffer, 1, 4); a.succ.clear(); len(g.edges())
        g = graph.GraphDefinition(); a = g.empty(); b = a.memset(buffer, 1, 4); b.destroy(); len(a.succ)
        g = graph.GraphDefinition(); a = g.empty(); a.succ |= {g.empty()}; len(a.succ)
        g = graph.GraphDefinition(); a = g.empty(); isinstance(a.succ, set)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.update([g.empty(), g.empty()]); len(a.succ)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.update(g.empty()); len(a.succ)
        g = graph.GraphDefinition(); a = g.empty(); a.succ.update(5)
        g = graph.GraphDefinition(); c = g.create_condition(); n = g.empty().if_else(c); len(n.branches)
        g = graph.GraphDefinition(); c = g.create_condition(); n = g.empty().switch(c, 2); len(n.branches)
        g = graph.GraphDefinition(); c = g.create_condition(); n = g.empty().while_loop(c); len(n.pred)
        g = graph.GraphDefinition(); a = g.empty(); a.succ & {a}
        g = graph.GraphDefinition(); g.memset(buffer, 1, 4).update(value=2)
        g = graph.GraphDefinition(); n = g.memset(buffer, 1, 4); n.update(value=2); n.value
        g = graph.GraphDefinition(); n = g.memset(buffer, 1, 4); n.update(width=8); n.width
        g = graph.GraphDefinition(); n = g.memset(buffer, 1, 4); n.update(); n.width
        g = graph.GraphDefinition(); n = g.memset(buffer, 1, 4); n.update(5)
        g = graph.GraphDefinition(); n = g.memset(buffer, 1, 4); n.update(dst="x")
        g = graph.GraphDefinition(); n = g.memset(buffer, 1, 4); n.update(dst=other); int(n.dptr) == int(other.handle)
        g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); n.update(size=8); n.size
        g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); n.update(src=buffer, dst=other); int(n.src) == int(buffer.handle)
        g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); n.update(); n.size
        g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); n.update(size="x")
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(config=core.LaunchConfig(grid=2, block=3)); n.grid
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(kernel=none_, args=()); n.kernel == none_
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(args=(other,)); n.grid
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(args=5)
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(); n.grid
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(one)
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(kernel=none_)
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.kernel == kernel
        g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.config == one
        g = graph.GraphDefinition(); n = g.callback(work); n.callback is work
        g = graph.GraphDefinition(); n = g.callback(work); n.update(with_data, user_data=b"x"); n.callback is with_data
        g = graph.GraphDefinition(); n = g.callback(work); n.update(5)
        g = graph.GraphDefinition(); n = g.callback(c_function); n.callback is c_function
        g = graph.GraphDefinition(); n = g.record(event); n.event is event
        g = graph.GraphDefinition(); n = g.record(event); n.event == event
        g = graph.GraphDefinition(); n = g.record(event); n.update(timed); n.event == timed
        g = graph.GraphDefinition(); n = g.wait(event); n.update(timed); n.event == timed
        g = graph.GraphDefinition(); n = g.record(event); n.update(5)
        g = graph.GraphDefinition(); n = g.embed(small()); n.update(small())
        g = graph.GraphDefinition(); n = g.embed(small()); n.update(5)
        g = graph.GraphDefinition(); n = g.embed(small()); len(n.child_graph.nodes())
        g = graph.GraphDefinition(); n = g.embed(small()); n.child_graph.is_valid
        g = graph.GraphDefinition(); n = g.if_then(g.create_condition()); n.then.empty()
        g = graph.GraphDefinition(); n = g.if_else(g.create_condition()); (len(n.then.nodes()), len(n.else_.nodes()), len(n.branches))
        g = graph.GraphDefinition(); n = g.switch(g.create_condition(), 3); len(n.branches)
        g = graph.GraphDefinition(); n = g.while_loop(g.create_condition()); n.body == n.branches[0]
        g = graph.GraphDefinition(); c = g.create_condition(); n = g.if_then(c); n.condition == c
        g = graph.GraphDefinition(); c = g.create_condition(); c == c
        g = graph.GraphDefinition(); c = g.create_condition(); hash(c) == hash(c)
        g = graph.GraphDefinition(); c = g.create_condition(); int(c.handle) != 0
        g = graph.GraphDefinition(); c = g.create_condition(); shape(repr(c))
        g = graph.GraphDefinition(); c = g.create_condition(); g.if_then(c); g.if_then(c)
        g = graph.GraphDefinition(); g.create_condition() == g.create_condition()
        g = graph.GraphDefinition(); g.create_condition().handle = 5
        in_thread(lambda: graph.GraphDefinition().empty())
        in_thread(lambda: graph.GraphDefinition().instantiate())
    """),
]


def names(shared):
    ctypes, core, graph, device = shared.ctypes, shared.core, shared.graph, shared.device

    def small():
        definition = graph.GraphDefinition()
        definition.empty()
        return definition

    return {
        "other": shared.resource.allocate(256, stream=shared.stream),
        "host": shared.pinned.allocate(256),
        "event": device.create_event(),
        "timed": device.create_event({"timing_enabled": True}),
        "work": lambda: None,
        "with_data": lambda data: None,
        "c_function": ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None),
        "small": small,
        "none_": shared.cubin.get_kernel("none"),
        "clustered": core.LaunchConfig(grid=4, cluster=2, block=1),
        "cooperative": core.LaunchConfig(grid=1, block=1, is_cooperative=True),
        "builder": device.create_graph_builder().begin_building().end_building(),
    }
