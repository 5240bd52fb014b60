"""Views, caches of programs, batches, managed memory and NVML."""

from common import lines
from of_wrong_arguments import names  # noqa: F401

BEHAVIOURS = lines("""
    g = graph.GraphDefinition(); a = g.empty(); a.pred.discard(a)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.discard(5)
    g = graph.GraphDefinition(); a = g.empty(); a.pred.discard(None)
    g = graph.GraphDefinition(); a = g.empty(); 5 in a.pred, None in a.pred
    g = graph.GraphDefinition(); a = g.empty(); b = a.empty(); b.pred | {g.empty()}, b.pred & {a}, b.pred - {a}, b.pred ^ {a}, b.pred <= {a}, b.pred.isdisjoint({a}), b.pred == a.succ
    v = View.from_any_interface(np.zeros((2, 3), 'f4'), stream_ptr=-1); v.shape, v.strides, v.dtype, v.size, v.ptr != 0, v.device_id, v.is_device_accessible, v.readonly, kind(v.exporting_obj), kind(v.layout) if hasattr(v, 'layout') else None
    v = View.from_any_interface(np.zeros((2, 3), 'f4').T, stream_ptr=-1); v.shape, v.strides
    v = View.from_any_interface(np.zeros((2, 3), 'f4')[:, ::2], stream_ptr=-1); v.shape, v.strides
    v = View.from_any_interface(np.zeros((2, 3), 'f4')[::-1], stream_ptr=-1); v.shape, v.strides
    v = View.from_any_interface(np.zeros(3, '>f4'), stream_ptr=-1)
    v = View.from_any_interface(np.zeros(3, 'U4'), stream_ptr=-1)
    v = View.from_any_interface(np.zeros(3, 'M8[s]'), stream_ptr=-1)
    v = View.from_any_interface(np.zeros(3, object), stream_ptr=-1)
    v = View.from_any_interface(np.zeros(3, [('a', 'i4'), ('b', 'f4')]), stream_ptr=-1)
    v = View.from_any_interface(np.zeros(3, bool), stream_ptr=-1); v.dtype
    v = View.from_any_interface(np.zeros(3, 'c8'), stream_ptr=-1); v.dtype
    v = View.from_any_interface(np.zeros(3, 'f2'), stream_ptr=-1); v.dtype
    v = View.from_any_interface(np.zeros(3, 'g'), stream_ptr=-1); v.dtype
    v = View.from_any_interface([1, 2], stream_ptr=-1)
    v = View.from_any_interface(b'ab', stream_ptr=-1)
    v = View.from_any_interface(memoryview(b'ab'), stream_ptr=-1)
    v = View.from_any_interface(None, stream_ptr=-1)
    v = View.from_any_interface(np.zeros(3))
    v = View.from_dlpack(np.zeros(3), stream_ptr=None).shape
    v = View.from_dlpack(np.zeros(3), stream_ptr=number).shape
    v = View.from_dlpack(np.zeros(3), stream_ptr='x').shape
    v = View.from_dlpack(np.zeros(3), stream_ptr=stream).shape
    v = View.from_dlpack(buffer, stream_ptr=None)
    v = View.from_dlpack(buffer, stream_ptr=-1).shape
    v = View.from_dlpack(buffer, stream_ptr=0)
    v = View.from_dlpack(buffer, stream_ptr=number).dtype
    a = np.zeros(3); a.flags.writeable = False; View.from_any_interface(a, stream_ptr=-1).readonly
    a = np.zeros(3); a.flags.writeable = False; View.from_dlpack(a, stream_ptr=-1).readonly
    View(np.zeros(3), stream_ptr=-1).shape
    View().shape
    View(obj=np.zeros(3)).shape
    v = View.from_buffer(buffer, (4, 4), dtype=np.dtype('f4')); v.shape, v.strides, v.dtype, v.size, v.ptr == address, v.exporting_obj is buffer
    v = View.from_buffer(buffer, (4, 4), strides=(1, 4), dtype=np.dtype('f4')); v.strides
    v = View.from_buffer(buffer, (64,), dtype=np.dtype('f8'))
    v = View.from_buffer(buffer, (32,), dtype=np.dtype('f8')).size
    v = View.from_buffer(buffer, (4,), strides=(-1,), dtype=np.dtype('f8'))
    v = View.from_buffer(buffer, (4,), strides=(0,), dtype=np.dtype('f8')).strides
    v = View.from_buffer(buffer, (-1,), dtype=np.dtype('f8'))
    v = View.from_buffer(buffer, (), dtype=np.dtype('f8')).shape
    v = View.from_buffer(buffer, (0,), dtype=np.dtype('f8')).size
    v = View.from_buffer(buffer, (4,))
    v = View.from_buffer(buffer, 4, itemsize=4)
    v = View.from_buffer(buffer, (4,), itemsize=3).shape
    v = View.from_buffer(buffer, (4,), itemsize=0)
    v = View.from_buffer(buffer, (4,), itemsize=8, dtype=np.dtype('f4'))
    v = View.from_buffer(5, (4,), itemsize=4)
    v = View.from_buffer(buffer, (4,), itemsize=4); v.dtype, kind(v.copy_from), kind(v.copy_to)
    v = View.from_buffer(buffer, (4,), itemsize=4); v.copy_from(v, stream)
    v = View.from_buffer(buffer, (4,), itemsize=4); v.copy_to(v, stream)
    v = View.from_buffer(buffer, (4,), itemsize=4); v.view(dtype=np.dtype('i4')).dtype
    v = View.from_buffer(buffer, (4,), itemsize=4); v.view(dtype=np.dtype('i8'))
    v = View.from_buffer(buffer, (4, 2), dtype=np.dtype('f4')); v.view().shape
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.__dlpack_device__(), kind(v.__dlpack__())
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.__dlpack__(stream=5)
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.__dlpack__(max_version=(1, 0), copy=True)
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.__dlpack__(copy=False) is not None
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.__dlpack__(dl_device=(1, 0))
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); shape(repr(v))
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v == v, v == View.from_buffer(buffer, (4,), dtype=np.dtype('f4')), hash(v) == hash(v)
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.shape = (2, 2)
    v = View.from_buffer(buffer, (4,), dtype=np.dtype('f4')); v.mine = 5
    v = View.from_buffer(make(), (4,), dtype=np.dtype('f4')); gc.collect(); v.exporting_obj.size
    f = utils.args_viewable_as_strided_memory((0,))(lambda x, y=1: (kind(x), y)); f(np.zeros(3)), f(5) if False else None
    f = utils.args_viewable_as_strided_memory((0,))(lambda x, y=1: x.view(-1).shape); f(np.zeros(3)), f(buffer)
    f = utils.args_viewable_as_strided_memory((1,))(lambda x, y=1: kind(y)); f(5, np.zeros(3)), raised(lambda: f(5))
    f = utils.args_viewable_as_strided_memory((5,))(lambda x: 1); f(np.zeros(3))
    utils.args_viewable_as_strided_memory(0)(lambda x: 1)
    utils.args_viewable_as_strided_memory()(lambda x: 1)
    c = utils.InMemoryProgramCache(); c['a'] = ptx; c['a'] == ptx, 'a' in c, len(c), c.get('b'), raised(lambda: c['b'])
    c = utils.InMemoryProgramCache(); c['a'] = b'x'; c['a'], c.get('a')
    c = utils.InMemoryProgramCache(); c['a'] = 'x'
    c = utils.InMemoryProgramCache(); c[5] = b'x'
    c = utils.InMemoryProgramCache(); c[b'a'] = b'x'; c['a'] if 'a' in c else None, c[b'a']
    c = utils.InMemoryProgramCache(); del c['a']
    c = utils.InMemoryProgramCache(); c['a'] = b'x'; del c['a']; len(c)
    c = utils.InMemoryProgramCache(); c.update({'a': b'x', 'b': b'y'}); len(c); c.clear(); len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=10); c['a'] = b'x' * 6; c['b'] = b'y' * 6; len(c), 'a' in c, 'b' in c
    c = utils.InMemoryProgramCache(max_size_bytes=10); c['a'] = b'x' * 20; len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=0)
    c = utils.InMemoryProgramCache(max_size_bytes=-1)
    c = utils.InMemoryProgramCache(max_size_bytes='x')
    c = utils.InMemoryProgramCache(); list(c)
    c = utils.InMemoryProgramCache(); c.keys()
    c = utils.InMemoryProgramCache(); c == c, hash(c) == hash(c), c.close(), c.close(), raised(lambda: c.get('a'))
    with_ = utils.InMemoryProgramCache(); with_.__enter__() is with_, with_.__exit__(None, None, None)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(d); c['a'] = b'x'; c['a'], len(c), 'a' in c, utils.FileStreamProgramCache(d)['a']
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=10); c['a'] = b'x' * 6; c['b'] = b'y' * 6; len(c)
    c = utils.FileStreamProgramCache(5)
    c = utils.FileStreamProgramCache(None); kind(c)
    c = utils.InMemoryProgramCache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); a = p.compile('ptx', cache=c); b = p.compile('ptx', cache=c); len(c), a.code == b.code, a == b
    c = utils.InMemoryProgramCache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('ptx', cache=5)
    c = {}; p = core.Program(SOURCE, 'c++', {'arch': arch}); p.compile('ptx', cache=c)
    utils.ProgramCacheResource()
    class_ = type('Mine', (utils.ProgramCacheResource,), {}); class_()
    kind(utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx'))
    utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx') == utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx')
    utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx') == utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_80'), target_type='ptx')
    utils.make_program_cache_key(code=SOURCE, code_type='nope', options=core.ProgramOptions(arch='sm_90'), target_type='ptx')
    utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='nope')
    utils.make_program_cache_key(code=5, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx')
    utils.make_program_cache_key(SOURCE, 'c++', core.ProgramOptions(arch='sm_90'), 'ptx')
    utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90', include_path='/x'), target_type='ptx')
    utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90', include_path='/x'), target_type='ptx', extra_digest=b'x') is not None
    utils.make_program_cache_key(code='#include <x.h>', code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx') is not None
    utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx', name_expressions=('a', 'b')) == utils.make_program_cache_key(code=SOURCE, code_type='c++', options=core.ProgramOptions(arch='sm_90'), target_type='ptx', name_expressions=('b', 'a'))
    utils.copy_batch(stream, [buffer], [other, other])
    utils.copy_batch(stream, [], [])
    utils.copy_batch(stream, [buffer], [other]), stream.sync()
    utils.copy_batch(stream, buffer, other)
    utils.copy_batch(None, [buffer], [other])
    utils.copy_batch(stream, [buffer, 5], [other, other])
    utils.copy_batch(stream, [make()], [core.Buffer.from_handle(address, 16)])
    utils.copy_batch(stream, [buffer], [other], utils.CopyOptions())
    utils.copy_batch(stream, [buffer], [other], [utils.CopyOptions()])
    utils.copy_batch(stream, [buffer], [other], {'src_access_order': 'any'})
    utils.CopyOptions(), utils.CopyOptions().src_access_order, utils.CopyOptions().overlap_mode
    utils.CopyOptions(src_access_order='nope')
    utils.discard_batch(stream, [buffer])
    utils.prefetch_batch(stream, [buffer], device)
    utils.prefetch_batch(stream, [managed()], [device, device])
    utils.discard_prefetch_batch(stream, [managed()], device)
    m = managed(); kind(m), m.read_mostly, m.preferred_location, kind(m.accessed_by), m.last_prefetch_location if hasattr(m, 'last_prefetch_location') else None
    m = managed(); m.read_mostly = True; m.read_mostly
    m = managed(); m.preferred_location = device; m.preferred_location == device
    m = managed(); m.preferred_location = core.Host(); m.preferred_location
    m = managed(); m.preferred_location = None; m.preferred_location
    m = managed(); m.preferred_location = 5
    m = managed(); m.accessed_by.add(device); device in m.accessed_by, len(m.accessed_by)
    m = managed(); m.accessed_by = [device, core.Host()]; len(m.accessed_by), sorted(kind(x) for x in m.accessed_by)
    m = managed(); m.read_mostly = 'x'; m.read_mostly
    m = managed(); m.prefetch(5, stream=stream)
    core.Host() is core.Host(), core.Host(0) is core.Host(0), core.Host() == core.Host(0), hash(core.Host()) == hash(core.Host()), repr(core.Host()), repr(core.Host(0)), core.Host(0).numa_id, core.Host().numa_id, core.Host.numa_current() if hasattr(core.Host, 'numa_current') else None
    core.Host(-1)
    core.Host('x')
    core.Host().numa_id = 5
    system.get_num_devices(), kind(system.get_user_mode_driver_version()), kind(system.get_nvml_version()), kind(system.get_driver_branch()), kind(system.get_process_name(os.getpid()))
    d = system.Device(index=0); kind(d.name), kind(d.uuid), d.index, kind(d.memory_info), kind(d.pci_info), d.cuda_compute_capability, kind(d.to_cuda_device())
    system.Device(index=99)
    system.Device(index=-1)
    system.Device(index='x')
    system.Device()
    system.Device(index=0, uuid='x')
    system.Device(uuid='x')
    system.Device(pci_bus_id='x')
    system.Device(uuid=system.Device(index=0).uuid).index
    [d.index for d in system.Device.get_all_devices()]
    system.Device.get_device_count()
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=100); [c.__setitem__(str(i), bytes(40)) for i in range(3)]; len(c), [str(i) in c for i in range(3)]
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); [c.__setitem__(str(i), bytes(400)) for i in range(3)]; len(c), [str(i) in c for i in range(3)]
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); [c.__setitem__(str(i), bytes(500)) for i in range(2)]; len(c), [str(i) in c for i in range(2)]
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(1000); len(c)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(1001); len(c)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(960); len(c)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(2000); c['b'] = b'x'; len(c), 'b' in c
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(400); c['b'] = bytes(400); c['a']; c['c'] = bytes(400); 'a' in c, 'b' in c, 'c' in c
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d); c['a'] = bytes(400); sum(os.path.getsize(os.path.join(p, f)) for p, _, fs in os.walk(d) for f in fs)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d); c['a'] = bytes(400); c2 = utils.FileStreamProgramCache(path=d, max_size_bytes=100); len(c2), len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=1000); [c.__setitem__(str(i), bytes(500)) for i in range(2)]; len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=1000); c['a'] = bytes(1000); len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=1000); c['a'] = bytes(1001); len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=1000); c['a'] = bytes(400); c['b'] = bytes(400); c['a']; c['c'] = bytes(400); 'a' in c, 'b' in c, 'c' in c
    c = utils.InMemoryProgramCache(max_size_bytes=1000); c['a'] = bytes(400); c['a'] = bytes(900); len(c)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=100); [operator.setitem(c, k, bytes(40)) for k in 'abc']; len(c), c.get('a'), c.get('b') is None, c.get('c') is None
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); [operator.setitem(c, k, bytes(500)) for k in 'ab']; len(c), c.get('a') is None
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); [operator.setitem(c, k, bytes(400)) for k in 'ab']; c.get('a'); c['c'] = bytes(400); [c.get(k) is None for k in 'abc']
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(400); c['a'] = bytes(900); len(c)
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(900); del c['a']; c['b'] = bytes(900); len(c), c.get('b') is None
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c['a'] = bytes(900); c.clear(); c['b'] = bytes(900); len(c), c.get('b') is None
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(path=d); [operator.setitem(c, k, bytes(400)) for k in 'ab']; c2 = utils.FileStreamProgramCache(path=d, max_size_bytes=1000); c2['c'] = bytes(400); len(c2), len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=1000); [operator.setitem(c, k, bytes(400)) for k in 'ab']; c.get('a'); c['c'] = bytes(400); [c.get(k) is None for k in 'abc']
""")
