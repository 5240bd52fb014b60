"""What modules export; definitions, their nodes and edges, builders and executable graphs."""

from common import lines
from of_wrong_arguments import names  # noqa: F401

BEHAVIOURS = lines("""
    kind(core.__version__), core.__version__.count('.') >= 2
    core.nope
    hasattr(core, 'experimental'), hasattr(core, 'Context'), hasattr(core, 'system'), hasattr(core, 'utils'), hasattr(core, 'graph'), hasattr(core, 'GraphBuilder'), hasattr(core, 'Graph')
    scope = {}; exec(f'from {core.__name__}.graph import *', scope); sorted(n for n in scope if not n.startswith('_'))
    scope = {}; exec(f'from {core.__name__}.texture import *', scope); sorted(n for n in scope if not n.startswith('_'))
    scope = {}; exec(f'from {core.__name__}.system.typing import *', scope); sorted(n for n in scope if not n.startswith('_'))
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); c = g.join(a, b); sorted(len(n.pred) for n in g.nodes()), len(g.edges()), kind(g.nodes()), kind(g.edges())
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); c = a.join(b); len(c.pred), len(a.succ), c.pred == {a, b}, a.pred == set(), a in c.pred
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); b.pred = {a}; b.pred == {a}, a.succ == {b}
    g = graph.GraphDefinition(); a = g.empty(); b = g.empty(); b.pred.add(a); a.succ == {b}; b.pred.discard(a); len(a.succ)
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); b.pred.clear(); len(a.succ), len(g.edges())
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); a.pred.add(b)
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); a.pred.add(b); g.instantiate()
    g = graph.GraphDefinition(); a = g.empty(); a.pred.add(a)
    g = graph.GraphDefinition(); h = graph.GraphDefinition(); a = g.empty(); h.empty().pred.add(a)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.add(5)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.add(None)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.remove(a)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.discard(a), a.pred.discard(5)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.pop()
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); b.pred.pop() == a, len(b.pred)
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); a.destroy(); len(g.nodes()), len(b.pred), a.is_valid, b.is_valid
    g = graph.GraphDefinition(); a = g.empty(); a.destroy(); a.destroy()
    g = graph.GraphDefinition(); a = g.empty(); a.destroy(); a.pred
    g = graph.GraphDefinition(); a = g.empty(); a.destroy(); a.empty()
    g = graph.GraphDefinition(); a = g.empty(); a.destroy(); kind(a.graph), a.type, int(a.handle or 0) != 0
    g = graph.GraphDefinition(); a = g.empty(); a.destroy(); a == a, hash(a) == hash(a), shape(repr(a))
    g = graph.GraphDefinition(); a = g.empty(); a.graph == g, hash(a.graph) == hash(g), a == g.empty(), a.type
    g = graph.GraphDefinition(); a = g.empty(); w = weakref.ref(a); del a; gc.collect(); w() is None, len(g.nodes())
    g = graph.GraphDefinition(); g.empty(); n = next(iter(g.nodes())); n == next(iter(g.nodes())), n is next(iter(g.nodes())), kind(n)
    g = graph.GraphDefinition(); a = g.empty(); w = weakref.ref(g); del g; gc.collect(); w() is None, kind(a.empty())
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.grid, n.block, n.shmem_size, n.kernel == kernel, kind(n.config)
    g = graph.GraphDefinition(); n = g.launch(core.LaunchConfig(grid=2, block=3, shmem_size=16), kernel, buffer); n.grid, n.block, n.shmem_size, n.config == core.LaunchConfig(grid=2, block=3, shmem_size=16)
    g = graph.GraphDefinition(); n = g.memset(buffer, 5, 16); n.value, n.width, n.height, n.pitch, n.element_size, int(n.dptr) == address
    g = graph.GraphDefinition(); n = g.memset(buffer, np.uint16(5), 8); n.value, n.element_size
    g = graph.GraphDefinition(); n = g.memset(buffer, b'ab', 8); n.value, n.element_size
    g = graph.GraphDefinition(); n = g.memset(buffer, b'abc', 8)
    g = graph.GraphDefinition(); n = g.memset(buffer, 256, 8)
    g = graph.GraphDefinition(); n = g.memset(buffer, -1, 8)
    g = graph.GraphDefinition(); n = g.memset(buffer, 1.5, 8)
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 257)
    g = graph.GraphDefinition(); n = g.memset(buffer, 1, 0)
    g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 16); n.size, int(n.dst) == address, int(n.src) == int(other.handle)
    g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 257)
    g = graph.GraphDefinition(); n = g.memcpy(buffer, other, 0)
    g = graph.GraphDefinition(); n = g.memcpy(buffer, pinned.allocate(16), 16); n.size
    g = graph.GraphDefinition(); n = g.allocate(64); n.bytesize, n.device_id, n.memory_type, n.peer_access, n.options if hasattr(n, 'options') else None
    g = graph.GraphDefinition(); n = g.allocate(64); f = n.deallocate(n.dptr); kind(f), int(f.dptr) == int(n.dptr)
    g = graph.GraphDefinition(); n = g.allocate(64); x = g.instantiate(); x.launch(stream); stream.sync(); x.launch(stream)
    g = graph.GraphDefinition(); n = g.allocate(64, memory_type='host')
    g = graph.GraphDefinition(); n = g.allocate(64, memory_type='managed')
    g = graph.GraphDefinition(); n = g.allocate(64, memory_type='nope')
    g = graph.GraphDefinition(); n = g.allocate(64, device=1).device_id
    g = graph.GraphDefinition(); n = g.allocate(64, peer_access=[1]).peer_access
    g = graph.GraphDefinition(); n = g.record(event); n.event == event, n.event is event
    g = graph.GraphDefinition(); n = g.wait(event); n.event == event, n.type
    g = graph.GraphDefinition(); n = g.callback(called); n.callback is called, n.type
    got = []; g = graph.GraphDefinition(); g.callback(lambda: got.append(1)); g.instantiate().launch(stream); stream.sync(); got
    got = []; g = graph.GraphDefinition(); g.callback(lambda data: got.append(data)); g.instantiate().launch(stream); stream.sync(); got
    g = graph.GraphDefinition(); g.callback(5)
    g = graph.GraphDefinition(); g.callback(None)
    g = graph.GraphDefinition(); g.callback(called, user_data=b'x')
    F = ctypes.CFUNCTYPE(None, ctypes.c_void_p); got = []; f = F(lambda p: got.append(p)); g = graph.GraphDefinition(); g.callback(f); g.instantiate().launch(stream); stream.sync(); got
    F = ctypes.CFUNCTYPE(None, ctypes.c_void_p); got = []; f = F(lambda p: got.append(ctypes.string_at(p, 2))); g = graph.GraphDefinition(); g.callback(f, user_data=b'ab'); g.instantiate().launch(stream); stream.sync(); got
    F = ctypes.CFUNCTYPE(None, ctypes.c_void_p); got = []; f = F(lambda p: got.append(p)); g = graph.GraphDefinition(); g.callback(f, user_data=5); g.instantiate().launch(stream); stream.sync(); got
    g = graph.GraphDefinition(); h = graph.GraphDefinition(); h.empty(); n = g.embed(h); kind(n.child_graph), len(n.child_graph.nodes()), n.child_graph == h
    g = graph.GraphDefinition(); g.embed(5)
    g = graph.GraphDefinition(); c = g.create_condition(default_value=1); kind(c), kind(c.handle), c == c
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.if_then(c); kind(n), n.condition == c, kind(n.then) if hasattr(n, 'then') else None, n.cond_type, len(n.branches)
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.if_else(c); len(n.branches), kind(n.then), kind(n.else_), n.cond_type
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.while_loop(c); kind(n.body), n.cond_type
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.switch(c, 3); len(n.branches), n.cond_type
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.switch(c, 0)
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.switch(c, -1)
    g = graph.GraphDefinition(); c = g.create_condition(); n = g.switch(c, 'x')
    g = graph.GraphDefinition(); g.if_then(5)
    g = graph.GraphDefinition(); g.if_then(graph.GraphDefinition().create_condition())
    g = graph.GraphDefinition(); g.join()
    g = graph.GraphDefinition(); g.join(5)
    g = graph.GraphDefinition(); a = g.empty(); g.join(a, a).pred == {a}
    g = graph.GraphDefinition(); g.join(graph.GraphDefinition().empty())
    g = graph.GraphDefinition(); g.instantiate(5)
    g = graph.GraphDefinition(); g.instantiate(graph.GraphCompleteOptions(auto_free_on_launch=True))
    g = graph.GraphDefinition(); g.instantiate(graph.GraphCompleteOptions(upload_stream=stream, device_launch=False))
    g = graph.GraphDefinition(); g.instantiate(graph.GraphCompleteOptions(device_launch=True))
    graph.GraphCompleteOptions(), graph.GraphCompleteOptions().auto_free_on_launch, graph.GraphCompleteOptions().upload_stream, graph.GraphCompleteOptions().device_launch, graph.GraphCompleteOptions().use_node_priority
    g = graph.GraphDefinition(); g.debug_dot_print('/nonexistent/x.dot')
    p = os.path.join(tempfile.mkdtemp(), 'g.dot'); g = graph.GraphDefinition(); g.empty(); g.debug_dot_print(p); os.path.getsize(p) > 0
    p = os.path.join(tempfile.mkdtemp(), 'g.dot'); g = graph.GraphDefinition(); g.debug_dot_print(p, graph.GraphDebugPrintOptions(verbose=True))
    g = graph.GraphDefinition(); g == g, g == graph.GraphDefinition(), hash(g) == hash(g), kind(g.handle), shape(repr(g))
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); v = x[n]; v.is_enabled, kind(v)
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); v = x[n]; v.is_enabled = False; x.launch(stream); v.is_enabled
    g = graph.GraphDefinition(); n = g.empty(); x = g.instantiate(); v = x[n]; v.is_enabled
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); x[5]
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); x[graph.GraphDefinition().empty()]
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); m = g.launch(one, kernel, buffer); x[m].is_enabled
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); x = g.instantiate(); x[n].update(core.LaunchConfig(grid=1, block=2), kernel, other); x.launch(stream)
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(config=core.LaunchConfig(grid=1, block=2)); n.block
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(kernel=none_); n.kernel == none_
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(kernel=none_, args=()); n.kernel == none_
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(args=(other,))
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update(config=5)
    g = graph.GraphDefinition(); n = g.launch(one, kernel, buffer); n.update()
    x = ended().complete(); x.launch(stream); x.upload(stream); x.close(); x.close(); x.launch(stream)
    x = ended().complete(); x.close(); x.handle
    x = ended().complete(); x.close(); x.upload(stream)
    x = ended().complete(); x.close(); x.update(ended())
    x = ended().complete(); x == x, hash(x) == hash(x), x == 5, shape(repr(x))
    x = ended().complete(); x.launch(None)
    x = ended().complete(); x.launch(5)
    x = ended().complete(); x.launch(gone_stream())
    b = device.create_graph_builder(); b.is_building, b.is_join_required, kind(b.stream), b.stream == stream
    b = device.create_graph_builder(); b.end_building()
    b = device.create_graph_builder(); b.complete()
    b = device.create_graph_builder(); b.begin_building(); b.complete()
    b = device.create_graph_builder(); b.begin_building(); b.begin_building()
    b = device.create_graph_builder(); b.begin_building(); b.end_building(); b.begin_building()
    b = device.create_graph_builder(); b.begin_building('nope')
    b = device.create_graph_builder(); b.begin_building('global').is_building
    b = device.create_graph_builder(); b.begin_building('thread_local').is_building
    b = device.create_graph_builder(); b.begin_building(); b.split(1)
    b = device.create_graph_builder(); b.begin_building(); b.split(0)
    b = device.create_graph_builder(); b.split(2)
    b = device.create_graph_builder(); b.begin_building(); x = b.split(3); len(x), kind(x), [y.is_join_required for y in x]
    b = device.create_graph_builder(); b.begin_building(); x = b.split(2); graph.GraphBuilder.join(*x).end_building().is_building
    b = device.create_graph_builder(); b.begin_building(); x = b.split(2); x[1].end_building()
    b = device.create_graph_builder(); b.begin_building(); x = b.split(2); b.end_building()
    b = device.create_graph_builder(); b.begin_building(); graph.GraphBuilder.join(b)
    graph.GraphBuilder.join()
    graph.GraphBuilder.join(5, 5)
    b = device.create_graph_builder(); b.close(); b.close(); b.begin_building()
    b = device.create_graph_builder(); b.close(); b.is_building
    b = device.create_graph_builder(); b.close(); b.stream
    b = device.create_graph_builder(); b.begin_building(); b.close(); b.end_building()
    b = stream.create_graph_builder(); b.begin_building(); r = raised(lambda: stream.create_graph_builder().begin_building()); b.end_building(); r
    b = device.create_graph_builder(); b.begin_building(); g = b.graph_definition if hasattr(b, 'graph_definition') else None; b.end_building(); kind(g)
    b = ended(); b.graph_definition
    b = ended(); g = b.graph_definition; len(g.nodes()), kind(next(iter(g.nodes())))
    b = device.create_graph_builder(); b.begin_building(); buffer.fill(1, stream=b); b.end_building(); len(b.graph_definition.nodes())
    b = device.create_graph_builder(); b.begin_building(); buffer.copy_from(other, stream=b); b.end_building(); kind(next(iter(b.graph_definition.nodes())))
    b = device.create_graph_builder(); b.begin_building(); x = resource.allocate(16, stream=b)
    b = device.create_graph_builder(); b.begin_building(); x = graph_memory.allocate(16, stream=b); x.size, kind(x.memory_resource), x.close(b), b.end_building().complete().launch(stream), stream.sync()
    b = device.create_graph_builder(); b.begin_building(); b.stream.record()
    b = device.create_graph_builder(); b.begin_building(); event.sync(), raised(lambda: b.stream.wait(event))
    b = device.create_graph_builder(); b.begin_building(); core.launch(b, one, kernel, buffer); core.launch(b.stream, one, kernel, buffer); b.end_building(); len(b.graph_definition.nodes()), len(b.graph_definition.edges())
    b = device.create_graph_builder(); b.begin_building(); device.sync()
    [n for n in core.__all__ if not hasattr(core, n)], [n for n in dir(core) if n[0].isupper() and n not in core.__all__]
    g = graph.GraphDefinition(); a = g.empty(); 5 in a.pred, None in a.pred, a in a.pred
    [raised(lambda: setattr(x, 'mine', 5)) for x in (core.MemoryResource(), core.DeviceMemoryResource(device, {}), core.PinnedMemoryResource({}), core.ManagedMemoryResource({}), core.GraphMemoryResource(device), core.LegacyPinnedMemoryResource(), core.VirtualMemoryResource(device), managed(), make(), device, stream, event, kernel, cubin, one, device.context, made, definition(), definition().empty(), started(), core.Host(), device.properties, kernel.attributes, kernel.occupancy, resource.attributes, core.Program(SOURCE, 'c++'), core.Linker(ptx), cache(), View.from_buffer(buffer, (4,), itemsize=4), arrays(), utils.CopyOptions(), core.ProgramOptions(), core.LinkerOptions(arch=arch), core.DeviceMemoryResourceOptions(), core.PinnedMemoryResourceOptions(), core.ManagedMemoryResourceOptions(), core.VirtualMemoryResourceOptions(), core.SMResourceOptions(), graph.GraphCompleteOptions(), graph.GraphDebugPrintOptions(), array_options, texture.TextureObjectOptions() if hasattr(texture, 'TextureObjectOptions') else None, core.TensorMapDescriptorOptions((16,)) if 0 else None, checkpoint.Process(5), device.resources, device.resources.sm)]
    [raised(lambda: weakref.ref(x)) for x in (core.DeviceMemoryResourceOptions(), core.PinnedMemoryResourceOptions(), core.ManagedMemoryResourceOptions(), core.VirtualMemoryResourceOptions(), core.SMResourceOptions(), graph.GraphCompleteOptions(), graph.GraphDebugPrintOptions(), array_options, utils.CopyOptions(), core.ProgramOptions(), core.LinkerOptions(arch=arch), core.StreamOptions(), core.EventOptions())]
    [hasattr(x, '__dict__') for x in (core.DeviceMemoryResourceOptions(), core.PinnedMemoryResourceOptions(), core.ManagedMemoryResourceOptions(), core.VirtualMemoryResourceOptions(), core.SMResourceOptions(), graph.GraphCompleteOptions(), graph.GraphDebugPrintOptions(), array_options, utils.CopyOptions(), core.ProgramOptions(), core.LinkerOptions(arch=arch), core.StreamOptions(), core.EventOptions())]
""")
