"""Chains of calls with views, textures, code, linkers, caches and memory: what is made of them and of what is closed."""

from common import lines

BEHAVIOURS = lines(
    r"""
    # Views, arrays, textures.
    arr = np.arange(12, dtype=np.float32).reshape(3,4); v = View.from_any_interface(arr, -1); v.shape, v.strides, v.dtype, v.size, v.readonly, v.device_id, v.is_device_accessible, v.ptr == arr.ctypes.data, v.exporting_obj is arr, shape(repr(v))[:40]
    arr = np.arange(12, dtype=np.float32).reshape(3,4).T; v = View.from_any_interface(arr, -1); v.shape, v.strides, kind(v.layout)
    arr = np.arange(12, dtype=np.float32); arr.flags.writeable = False; v = View.from_array_interface(arr); v.readonly
    arr = np.arange(12, dtype=np.float32); arr.flags.writeable = False; v = View.from_dlpack(arr, -1); v.readonly
    arr = np.zeros((0, 3), np.int8); v = View.from_any_interface(arr, -1); v.shape, v.strides, v.size
    arr = np.float32(3); v = View.from_any_interface(arr, -1); v.shape
    arr = np.zeros((), np.int8); v = View.from_any_interface(arr, -1); v.shape, v.strides
    arr = np.zeros(4, dtype='>i4'); View.from_any_interface(arr, -1).dtype
    arr = np.zeros(4, dtype='>i4'); View.from_array_interface(arr).dtype
    arr = np.zeros(4, dtype=[('a', 'i4')]); View.from_array_interface(arr).dtype
    arr = np.zeros(4, dtype='M8[s]'); View.from_array_interface(arr).dtype
    arr = np.zeros(4, dtype=object); View.from_array_interface(arr).dtype
    arr = np.zeros(4, dtype='S3'); View.from_array_interface(arr).dtype
    arr = np.zeros(4, dtype='?'); View.from_array_interface(arr).dtype
    arr = np.arange(12)[::-1]; v = View.from_array_interface(arr); v.strides
    arr = np.arange(12)[::2]; v = View.from_array_interface(arr); v.strides, v.size
    arr = np.broadcast_to(np.arange(3), (4,3)); v = View.from_array_interface(arr); v.strides
    arr = np.zeros(4, np.float32); View.from_any_interface(arr, None)
    arr = np.zeros(4, np.float32); View.from_any_interface(arr)
    View.from_any_interface(5, -1)
    View.from_any_interface([1,2], -1)
    View.from_any_interface(b'abc', -1)
    View.from_any_interface(memoryview(b'abc'), -1)
    View()
    View(np.zeros(3), -1).shape
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); w = v.view(dtype=np.int32); w.dtype, w.shape
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); v.view(dtype=np.int8)
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); v.view(layout=v.layout).shape
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); np.from_dlpack(v).shape, np.asarray(v).shape if hasattr(v, '__array_interface__') else None
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); v.as_tensor_map((2,3))
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); v.copy_from(v, stream)
    v = View.from_any_interface(np.zeros((2,3), np.float32), -1); v == v, hash(v) == hash(v), raised(lambda: pickle.dumps(v)), raised(lambda: copy.copy(v)), raised(lambda: len(v)), raised(lambda: v[0])
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), dtype=np.dtype('f4')); v.shape, v.strides, v.ptr == int(b.handle), v.device_id, v.is_device_accessible, v.readonly, v.exporting_obj is b
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,5), dtype=np.dtype('f4'))
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), strides=(4,1), dtype=np.dtype('f4')); v.strides
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), strides=(8,1), dtype=np.dtype('f4')); v.strides
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,), strides=(-1,), dtype=np.dtype('f4')); v.strides
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4))
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), itemsize=4); v.dtype, v.size
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), itemsize=2, dtype=np.dtype('f4'))
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), itemsize=4, dtype=np.dtype('f4')); v.dtype
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,4), itemsize=4, is_readonly=True); v.readonly
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (-1,), itemsize=4)
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (), itemsize=4); v.shape, v.size
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,), itemsize=3); v.size
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,), itemsize=0)
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,), itemsize=4); b.close(); v.ptr != 0, raised(lambda: v.__dlpack__())
    b = resource.allocate(64, stream=stream); v = View.from_buffer(b, (4,), itemsize=4); core.launch(stream, one, kernel, v)
    f = utils.args_viewable_as_strided_memory((0,)); g = f(lambda a, s: (kind(a), kind(a.view(s.handle if hasattr(s, 'handle') else s)))); g(np.zeros(3), -1)
    f = utils.args_viewable_as_strided_memory((0,)); g = f(lambda a, b: (type(a).__name__, type(b).__name__)); g(np.zeros(3), np.zeros(3))
    f = utils.args_viewable_as_strided_memory((0,1)); g = f(lambda a, b: (a.view(-1).shape, b.view(-1).shape)); g(np.zeros(3), np.zeros((2,2)))
    f = utils.args_viewable_as_strided_memory((0,)); g = f(lambda a: 1); g(5)
    f = utils.args_viewable_as_strided_memory((3,)); g = f(lambda a: 1); g(np.zeros(3))
    f = utils.args_viewable_as_strided_memory((0,)); h = lambda a: 1; h.__name__ = 'mine'; f(h).__name__
    o = texture.OpaqueArrayOptions((8, 4), 'float32', 4); a = device.create_opaque_array(o); a.shape, a.format, a.num_channels, a.size_bytes, a.is_surface_load_store, kind(a.handle), shape(repr(a)), a.device == device
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1)); h = pinned.allocate(8); h.fill(5, stream=stream); a.copy_from(h, stream=stream); k = pinned.allocate(8); a.copy_to(k, stream=stream); stream.sync(); bytes(np.from_dlpack(k).view(np.uint8))
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1)); a.copy_from(np.arange(8, dtype=np.uint8), stream=stream); k = np.zeros(8, np.uint8); a.copy_to(k, stream=stream); stream.sync(); k
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1)); a.copy_from(np.arange(9, dtype=np.uint8), stream=stream)
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1)); a.copy_from(b'12345678', stream=stream)
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1)); a.close(); a.shape, raised(lambda: a.copy_to(np.zeros(8, np.uint8), stream=stream)), a.handle, shape(repr(a))
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 3))
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'float64', 1))
    a = device.create_opaque_array(texture.OpaqueArrayOptions((), 'uint8', 1))
    a = device.create_opaque_array(texture.OpaqueArrayOptions((1,2,3,4), 'uint8', 1))
    a = device.create_opaque_array(texture.OpaqueArrayOptions((0,), 'uint8', 1))
    a = device.create_opaque_array({'shape': (8,), 'format': 'uint8', 'num_channels': 1}); a.shape
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), np.float32, 1)); a.format
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), np.dtype('i2'), 1)); a.format
    r = texture.ResourceDescriptor.from_linear(buffer, 'float32', 1); t = device.create_texture_object(resource=r); kind(t.handle), shape(repr(t)), t.close(), t.handle
    r = texture.ResourceDescriptor.from_linear(buffer, 'float32', 1); shape(repr(r)), [n for n in dir(r) if n[0] != '_']
    texture.TextureObjectOptions()
    repr(texture.TextureObjectOptions())
    texture.TextureObjectOptions(address_mode='wrap').address_mode
    texture.TextureObjectOptions(address_mode=('wrap', 'clamp')).address_mode
    texture.TextureObjectOptions(address_mode='none')
    texture.TextureObjectOptions(filter_mode='linear').filter_mode
    texture.TextureObjectOptions(read_mode='normalized_float').read_mode
    texture.TextureObjectOptions(border_color=(1,2,3)).border_color
    texture.TextureObjectOptions(border_color=(1,2,3,4)).border_color
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1, True)); s = device.create_surface_object(resource=texture.ResourceDescriptor.from_opaque_array(a)); kind(s.handle), s.close(), s.handle
    a = device.create_opaque_array(texture.OpaqueArrayOptions((8,), 'uint8', 1)); s = device.create_surface_object(resource=texture.ResourceDescriptor.from_opaque_array(a))
    # Programs, kernels, linkers, caches, launches.
    p = core.Program(SOURCE, 'c++', {'arch': arch}); shape(repr(p)), p.backend, p.pch_status, kind(p.handle), p.close(), p.handle, raised(lambda: p.compile('ptx')), raised(lambda: p.close()), p.backend
    p = core.Program('bad code', 'c++', {'arch': arch}); raised(lambda: p.compile('ptx'))
    p = core.Program('#error "x"', 'c++', {'arch': arch}); raised(lambda: p.compile('cubin'))
    p = core.Program('', 'c++', {'arch': arch}); p.compile('ptx').code_type
    p = core.Program('', 'ptx', {'arch': arch}); p.compile('cubin').code_type
    p = core.Program('bad', 'ptx', {'arch': arch}); p.compile('cubin').code_type
    import io; l = io.StringIO(); core.Program('__global__ void f() { int unused; }', 'c++', {'arch': arch}).compile('ptx', logs=l); len(l.getvalue()) > 0
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', logs=5).code_type
    core.Program('__global__ void f() { int unused; }', 'c++', {'arch': arch}).compile('ptx', logs=5).code_type
    core.Program(SOURCE, 'C++', {'arch': arch}).compile('PTX').code_type
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('fatbin')
    core.Program(SOURCE, 'c++', {'arch': arch}).compile(None)
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', name_expressions=['fill<int>']).get_kernel('fill<int>').num_arguments
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', name_expressions=['fill<int>']).get_kernel('fill<float>')
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', name_expressions=['nothere<int>'])
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx', name_expressions=['fill<int>']).symbol_mapping
    core.Program(SOURCE, 'c++', {'arch': arch, 'name': 'mine'}).compile('ptx').name
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('ptx').name
    o = core.ProgramOptions(arch=arch); p = core.Program(SOURCE, 'c++', o); o.arch = 'sm_1'; p.compile('ptx').code_type
    o = core.ProgramOptions(arch=arch, define_macro='V=1'); p = core.Program(VALUE, 'c++', o); o.define_macro = 'V=777'; b'777' in p.compile('ptx').code
    o = core.ProgramOptions(arch=arch, define_macro='V=1'); p = core.Program(VALUE, 'c++', o); c = p.compile('ptx'); o.define_macro = 'V=777'; b'777' in c.code, b'777' in p.compile('ptx').code
    o = core.ProgramOptions(arch=arch, define_macro=['V=1']); p = core.Program(VALUE, 'c++', o); o.define_macro[0] = 'V=777'; b'777' in p.compile('ptx').code
    o = {'arch': arch, 'define_macro': ['V=1']}; p = core.Program(VALUE, 'c++', o); o['define_macro'][0] = 'V=777'; b'777' in p.compile('ptx').code
    o = {'arch': arch, 'define_macro': 'V=1'}; p = core.Program(VALUE, 'c++', o); o['define_macro'] = 'V=777'; b'777' in p.compile('ptx').code
    o = core.ProgramOptions(arch=arch, name='first'); p = core.Program(SOURCE, 'c++', o); o.name = 'second'; p.compile('ptx').name
    o = core.ProgramOptions(arch=arch); p = core.Program(ptx.code.decode(), 'ptx', o); o.arch = 'sm_1'; p.compile('cubin').code_type
    o = core.ProgramOptions(arch=arch, name='first'); p = core.Program(ptx.code.decode(), 'ptx', o); o.name = 'second'; p.compile('cubin').name
    o = core.ProgramOptions(arch=arch); p = core.Program(SOURCE, 'c++', o); p.close(); o.max_register_count = 32; p.compile('ptx')
    o = core.ProgramOptions(arch=arch); p = core.Program(SOURCE, 'c++', o); o.std = 'c++99'; raised(lambda: p.compile('ptx')); o.std = 'c++17'; p.compile('ptx').code_type
    o = core.LinkerOptions(arch=arch, name='first'); k = core.Linker(ptx, options=o); o.name = 'second'; o.arch = 'sm_1'; k.link('cubin').name
    o = core.ProgramOptions(arch=arch, define_macro=['A=1', ('B', '2'), 'C']); o.as_bytes('nvrtc')
    o = core.ProgramOptions(arch=arch, define_macro=('B', '2')); o.as_bytes('nvrtc')
    o = core.ProgramOptions(arch=arch, std='c++17', include_path=['/a', '/b'], lineinfo=True, debug=False, fma=True); o.as_bytes('nvrtc')
    o = core.ProgramOptions(arch=arch, device_code_optimize=True, debug=True, ftz=False); o.as_bytes('nvvm', 'ptx')
    o = core.ProgramOptions(arch=arch); o.as_bytes('nvjitlink')
    o = core.ProgramOptions(arch=arch); o.as_bytes('NVRTC')
    o = core.ProgramOptions(arch=arch); o.as_bytes('nvvm')
    o = core.ProgramOptions(arch=arch, relocatable_device_code=True, split_compile=2, ptxas_options=['-v', '-O2']); o.as_bytes('nvrtc')
    o = core.ProgramOptions(arch=arch); o == core.ProgramOptions(arch=arch), o != core.ProgramOptions(arch='sm_80'), raised(lambda: hash(o)), shape(repr(o))
    core.ProgramOptions(nothere=1)
    core.ProgramOptions(**{'name': 5})
    core.ProgramOptions('n', arch).arch
    k = cubin.get_kernel('k'); k == cubin.get_kernel('k'), hash(k) == hash(cubin.get_kernel('k')), k is cubin.get_kernel('k'), shape(repr(k)), k.num_arguments, k.arguments_info, kind(k.handle), kind(k.attributes), k.attributes is k.attributes, k.occupancy is k.occupancy
    k = cubin.get_kernel('many'); k.num_arguments, k.arguments_info
    k = cubin.get_kernel('many'); [(i.offset, i.size) for i in k.arguments_info], type(k.arguments_info).__name__, type(k.arguments_info[0]).__name__
    k = cubin.get_kernel('none'); k.num_arguments, k.arguments_info
    cubin.get_kernel('nothere')
    cubin.get_kernel('')
    a = kernel.attributes; [n for n in dir(a) if n[0] != '_']
    a = kernel.attributes; a.num_regs > 0, a.max_threads_per_block, a.shared_size_bytes, a.const_size_bytes, a.local_size_bytes, a.ptx_version, a.binary_version, a.cache_mode_ca, a.max_dynamic_shared_size_bytes, a.preferred_shared_memory_carveout, a.cluster_size_must_be_set, a.required_cluster_width, a.non_portable_cluster_size_allowed, a.cluster_scheduling_policy_preference
    a = kernel.attributes; raised(lambda: a[0].num_regs), raised(lambda: a[core.Device(0)].num_regs), raised(lambda: a[5]), raised(lambda: a['x'])
    a = kernel.attributes; a.num_regs(0)
    a = kernel.attributes; raised(lambda: a[1].num_regs), kind(a[0]), a[0] is a[0]
    a = kernel.attributes; a[device].max_threads_per_block
    o = kernel.occupancy; o.max_active_blocks_per_multiprocessor(64, 0) > 0, kind(o.max_potential_block_size(0, 0)), o.available_dynamic_shared_memory_per_block(1, 64) > 0
    o = kernel.occupancy; o.max_potential_block_size(0, 0)._fields if hasattr(o.max_potential_block_size(0, 0), '_fields') else [n for n in dir(o.max_potential_block_size(0, 0)) if n[0] != '_']
    o = kernel.occupancy; g, b = o.max_potential_block_size(0, 0)
    o = kernel.occupancy; o.max_active_clusters(core.LaunchConfig(grid=4, block=32, cluster=2), stream=stream), o.max_potential_cluster_size(core.LaunchConfig(grid=4, block=32), stream=stream)
    o = kernel.occupancy; o.max_active_blocks_per_multiprocessor(0, 0)
    o = kernel.occupancy; o.max_active_blocks_per_multiprocessor(5000, 0)
    o = kernel.occupancy; o.max_active_blocks_per_multiprocessor(-1, 0)
    cubin.code_type, cubin.name, kind(cubin.code), kind(cubin.handle), shape(repr(cubin)), cubin == cubin, cubin == ptx, kind(hash(cubin)), cubin.symbol_mapping
    c = pickle.loads(pickle.dumps(cubin)); c.code == cubin.code, c.name == cubin.name, c.symbol_mapping == cubin.symbol_mapping, c.get_kernel('fill<int>').num_arguments, c == cubin
    copy.copy(cubin) == cubin, copy.deepcopy(cubin) == cubin
    c = core.ObjectCode.from_cubin(cubin.code, name='x', symbol_mapping={'f': b'k'}); c.name, c.symbol_mapping, c.get_kernel('f').num_arguments, raised(lambda: c.get_kernel('g'))
    c = core.ObjectCode.from_cubin(bytearray(cubin.code)); kind(c.code), c.get_kernel('k').num_arguments
    core.ObjectCode.from_cubin(ptx.code).get_kernel('k').num_arguments
    core.ObjectCode.from_ptx(ptx.code.decode()).get_kernel('k')
    core.ObjectCode.from_ptx(ptx.code.rstrip(b'\0')).get_kernel('k').num_arguments
    core.ObjectCode.from_fatbin(cubin.code).get_kernel('k').num_arguments
    core.ObjectCode(1)
    core.ObjectCode()
    core.Kernel()
    k = core.Kernel.from_handle(int(kernel.handle)); k == kernel, k.num_arguments
    k = core.Kernel.from_handle(int(kernel.handle), cubin); k == kernel, k.num_arguments
    core.Kernel.from_handle(0)
    core.Kernel.from_handle('x')
    l = core.Linker(ptx); shape(repr(l)), l.backend if hasattr(l, 'backend') else None, kind(l.handle), l.link('cubin').code_type, l.get_error_log(), kind(l.get_info_log()), l.close(), raised(lambda: l.link('cubin')), l.handle, raised(lambda: l.get_error_log())
    l = core.Linker(ptx, options=core.LinkerOptions(arch=arch, ptx=True)); l.link('ptx').code_type
    l = core.Linker(ptx, options={'arch': arch}); l.link('fatbin')
    l = core.Linker(); 1
    l = core.Linker([ptx]); 1
    l = core.Linker(ptx, 5); 1
    l = core.Linker(ptx, options={'nothere': 1}); 1
    a = core.Program('__device__ int add(int a, int b) { return a + b; }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('ptx'); b = core.Program('extern __device__ int add(int, int); extern "C" __global__ void go(int* o) { *o = add(1, 2); }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('ptx'); m = core.Linker(a, b, options={'arch': arch}).link('cubin'); p = pinned.allocate(4); core.launch(stream, one, m.get_kernel('go'), p); stream.sync(); bytes(np.from_dlpack(p).view(np.uint8))
    a = core.Program('__device__ int add(int a, int b) { return a + b; }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('cubin'); b = core.Program('extern __device__ int add(int, int); extern "C" __global__ void go(int* o) { *o = add(1, 2); }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('cubin'); m = core.Linker(a, b, options={'arch': arch}).link('cubin'); p = pinned.allocate(4); core.launch(stream, one, m.get_kernel('go'), p); stream.sync(); bytes(np.from_dlpack(p).view(np.uint8))
    b = core.Program('extern __device__ int add(int, int); extern "C" __global__ void go(int* o) { *o = add(1, 2); }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('cubin'); m = core.Linker(b, options={'arch': arch}).link('cubin')
    b = core.Program('extern __device__ int add(int, int); extern "C" __global__ void go(int* o) { *o = add(1, 2); }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('ptx'); l = core.Linker(b, options={'arch': arch}); raised(lambda: l.link('cubin')), len(l.get_error_log()) > 0
    core.LinkerOptions(); repr(core.LinkerOptions(arch='sm_90'))
    core.LinkerOptions(arch='sm_90', debug=True, lineinfo=True, ptxas_options=['-v'], split_compile=2, time=True).as_bytes()
    core.LinkerOptions(arch='sm_90') == core.LinkerOptions(arch='sm_90')
    c = utils.InMemoryProgramCache(); len(c), c.get('a'), raised(lambda: c['a']), 'a' in c
    c = utils.InMemoryProgramCache(); c['a'] = cubin; len(c), 'a' in c, kind(c['a']), c['a'] == cubin.code
    c = utils.InMemoryProgramCache(max_size_bytes=10); c['a'] = b'12345'; c['b'] = b'123456'; 'a' in c, 'b' in c, len(c)
    c = utils.InMemoryProgramCache(max_size_bytes=10); c['a'] = b'12345678901'; len(c)
    c = utils.InMemoryProgramCache(); c.update({'a': b'1', 'b': b'2'}); c.update([('c', b'3')]); len(c), c.clear(), len(c)
    c = utils.InMemoryProgramCache(); c['a'] = 5
    c = utils.InMemoryProgramCache(); c[5] = b'x'; c[5]
    c = utils.InMemoryProgramCache(); del c['a']
    with utils.InMemoryProgramCache() as c: c['a'] = b'1'
    c = utils.FileStreamProgramCache(tempfile.mkdtemp()); c['a'] = cubin; kind(c['a']), 'a' in c, len(c), kind(c.get('b'))
    c = utils.FileStreamProgramCache(path=tempfile.mkdtemp(), max_size_bytes=100); c['a'] = b'x' * 200; len(c), 'a' in c
    d = tempfile.mkdtemp(); c = utils.FileStreamProgramCache(d); c['a'] = b'1'; e = utils.FileStreamProgramCache(d); e['a'], len(e), e.clear(), len(c)
    c = utils.InMemoryProgramCache(); p = core.Program(SOURCE, 'c++', {'arch': arch}); a = p.compile('cubin', cache=c); b = core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache=c); len(c), a.code == b.code, kind(b)
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache=5)
    core.Program(SOURCE, 'c++', {'arch': arch}).compile('cubin', cache={}).code_type
    isinstance(utils.InMemoryProgramCache(), utils.ProgramCacheResource), issubclass(utils.ProgramCacheResource, __import__('abc').ABC)
    utils.ProgramCacheResource()
    # Linkers, memory, hosts.
    core.launch(stream, one, cubin.get_kernel('many'), np.int32(1), np.float32(2), np.float64(3), np.int8(4), np.int64(5), buffer)
    core.launch(stream, one, cubin.get_kernel('many'), ctypes.c_int(1), ctypes.c_float(2), ctypes.c_double(3), ctypes.c_byte(4), ctypes.c_longlong(5), buffer)
    core.launch(stream, one, kernel, 'x')
    core.launch(stream, one, kernel, [1])
    core.launch(stream, one, kernel, np.zeros(3))
    core.launch(stream, one, kernel, int(buffer.handle))
    core.launch(stream, one, kernel, np.uintp(int(buffer.handle)))
    core.launch(None, one, kernel, buffer)
    core.launch(stream, None, kernel, buffer)
    core.launch(stream, one, None, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=2000), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=(1, 70000), block=1), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, shmem_size=300000), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1, block=1, is_cooperative=True), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=1000000, block=1024, is_cooperative=True), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=4, block=1, cluster=2), kernel, buffer)
    core.launch(stream, core.LaunchConfig(grid=4, block=1, cluster=64), kernel, buffer)
    core.launch(stream, config=one, kernel=kernel)
    core.launch(stream=stream, config=one, kernel=cubin.get_kernel('none'))
    core.LaunchConfig(grid=(1,2,3), block=4, cluster=(2,1,1), shmem_size=5, is_cooperative=True)
    repr(core.LaunchConfig(grid=(1,2,3), block=4, cluster=(2,1,1), shmem_size=5, is_cooperative=True))
    core.LaunchConfig(grid=1)
    core.LaunchConfig(block=1)
    core.LaunchConfig()
    core.LaunchConfig(1, None, 1)
    core.LaunchConfig(grid=(), block=1).grid
    core.LaunchConfig(grid=1, block=1) == core.LaunchConfig(grid=(1,1,1), block=(1,)), hash(core.LaunchConfig(grid=1, block=1)) == hash(core.LaunchConfig(grid=1, block=1)), core.LaunchConfig(grid=1, block=1) == 5
    copy.copy(one) == one, copy.deepcopy(one) == one, raised(lambda: pickle.dumps(one))
    l = core.Linker(ptx); l.link('cubin'); l.close(); l.get_error_log(), l.get_info_log()
    l = core.Linker(ptx); l.close(); l.get_error_log(), l.get_info_log()
    l = core.Linker(ptx); l.get_error_log(), l.get_info_log()
    b = core.Program('extern __device__ int add(int, int); extern "C" __global__ void go(int* o) { *o = add(1, 2); }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('ptx'); l = core.Linker(b, options={'arch': arch}); raised(lambda: l.link('cubin')); l.close(); len(l.get_error_log()) > 0
    b = core.Program('extern __device__ int add(int, int); extern "C" __global__ void go(int* o) { *o = add(1, 2); }', 'c++', {'arch': arch, 'relocatable_device_code': True}).compile('ptx'); l = core.Linker(b, options={'arch': arch}); raised(lambda: l.link('cubin')); raised(lambda: l.link('cubin'))
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.attributes.release_threshold, m.attributes.reserved_mem_current, m.attributes.used_mem_current, m.attributes.used_mem_high, m.attributes.reserved_mem_high, m.attributes.reuse_follow_event_dependencies, m.attributes.reuse_allow_opportunistic, m.attributes.reuse_allow_internal_dependencies
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); [n for n in dir(m.attributes) if n[0] != '_']
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.attributes.release_threshold = 5
    m = core.DeviceMemoryResource(device, {'max_size': 1<<25}); b = m.allocate(100, stream=stream); m.attributes.used_mem_current, m.attributes.used_mem_high, b.close(), m.attributes.used_mem_current
    m = core.DeviceMemoryResource(device); m.attributes.reserved_mem_high = 0; m.attributes.reserved_mem_high
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.allocate(1<<30, stream=stream)
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.is_handle_owned, core.DeviceMemoryResource(device).is_handle_owned, m.is_ipc_enabled, m.is_mapped, m.device_id, m.is_device_accessible, m.is_host_accessible, m.is_managed, m.uuid, raised(lambda: m.allocation_handle)
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.close(); m.handle, raised(lambda: m.allocate(16, stream=stream)), raised(lambda: m.attributes.used_mem_current), raised(lambda: m.device_id), raised(lambda: m.close()), m.is_handle_owned, m.is_ipc_enabled, m.peer_accessible_by
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); b = m.allocate(64, stream=stream); m.close(); b.size, raised(lambda: b.fill(1, stream=stream)), b.close(stream)
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.peer_accessible_by, kind(m.peer_accessible_by)
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.peer_accessible_by = [1]; m.peer_accessible_by, 1 in m.peer_accessible_by, core.Device(1) in m.peer_accessible_by, len(m.peer_accessible_by), list(m.peer_accessible_by)
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.peer_accessible_by = [core.Device(1), device]; m.peer_accessible_by
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.peer_accessible_by.add(1); m.peer_accessible_by.discard(core.Device(1)); m.peer_accessible_by
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.peer_accessible_by = [7]
    m = core.DeviceMemoryResource(device, {'max_size': 1<<20}); m.peer_accessible_by = 1
    m = core.DeviceMemoryResource(device); m.peer_accessible_by = []
    core.DeviceMemoryResource(device) == core.DeviceMemoryResource(device), core.DeviceMemoryResource(device).handle == core.DeviceMemoryResource(device).handle
    core.DeviceMemoryResource(device, core.DeviceMemoryResourceOptions(ipc_enabled=True)).is_ipc_enabled
    m = core.DeviceMemoryResource(device, {'ipc_enabled': True}); b = m.allocate(64, stream=stream); d = b.ipc_descriptor; kind(d), d.size, kind(d.payload), len(d.payload), kind(m.allocation_handle), int(m.allocation_handle) > 0, m.uuid is not None, shape(repr(m.allocation_handle))
    m = core.DeviceMemoryResource(device, {'ipc_enabled': True}); b = m.allocate(64, stream=stream); core.Buffer.from_ipc_descriptor(m, b.ipc_descriptor, stream=stream)
    m = core.PinnedMemoryResource(); b = m.allocate(64, stream=stream); b.is_host_accessible, b.is_device_accessible, b.device_id, m.device_id, m.numa_id if hasattr(m, 'numa_id') else None, m.is_handle_owned
    m = core.PinnedMemoryResource({'numa_id': 0}); m.numa_id
    m = core.PinnedMemoryResource({'numa_id': 99})
    m = core.PinnedMemoryResource({'max_size': -1})
    m = core.ManagedMemoryResource(); b = m.allocate(64, stream=stream); kind(b), b.is_managed, b.is_host_accessible, b.is_device_accessible, b.device_id, m.preferred_location
    m = core.ManagedMemoryResource({'preferred_location': 0}); m.preferred_location
    m = core.ManagedMemoryResource({'preferred_location_type': 'host'}); m.preferred_location
    m = core.ManagedMemoryResource({'preferred_location': 99})
    b = core.ManagedMemoryResource().allocate(64, stream=stream); b.read_mostly, b.preferred_location, b.last_prefetch_location if hasattr(b, 'last_prefetch_location') else None, list(b.accessed_by)
    b = core.ManagedMemoryResource().allocate(64, stream=stream); b.read_mostly = True; b.read_mostly
    b = core.ManagedMemoryResource().allocate(64, stream=stream); b.preferred_location = core.Host(); b.preferred_location
    b = core.ManagedMemoryResource().allocate(64, stream=stream); b.accessed_by.add(device); list(b.accessed_by)
    b = core.ManagedMemoryResource().allocate(64, stream=stream); b.prefetch(device, stream=stream), b.prefetch(core.Host(), stream=stream), b.discard(stream=stream), b.discard_prefetch(device, stream=stream)
    core.Host(), core.Host() is core.Host(), core.Host(0) == core.Host(0), repr(core.Host()), repr(core.Host(1)), core.Host.numa_current(), core.Host().numa_id, core.Host().is_numa_current, hash(core.Host()) == hash(core.Host())
    core.Host(-1)
    core.Host('x')
    core.Host(0, True)
    core.Host(is_numa_current=True)
    v = core.VirtualMemoryResource(device); b = v.allocate(100); b.size, b.device_id, b.is_device_accessible, b.is_host_accessible, v.device == device, v.is_device_accessible, v.is_host_accessible, shape(repr(v.config))[:60], b.memory_resource is v
    M = type('M', (core.MemoryResource,), {}); m = M(); raised(lambda: m.allocate(5)), raised(lambda: m.deallocate(0, 0)), raised(lambda: m.is_device_accessible), raised(lambda: m.device_id), raised(lambda: m.is_host_accessible), raised(lambda: m.is_managed)
    core.MemoryResource()
    device.memory_resource = pinned
    old = device.memory_resource; device.memory_resource = resource; r = device.memory_resource is resource, device.allocate(16, stream=stream).memory_resource is resource; device.memory_resource = old; r
    device.allocate(16)
    device.allocate(-1, stream=stream)
    device.allocate(16, stream=stream).size
    device.sync()
    device.can_access_peer(1), device.can_access_peer(core.Device(1)), device.can_access_peer(0)
    device.properties.max_threads_per_block, device.properties.warp_size, kind(device.properties), raised(lambda: device.properties.nothere)
    """
)


def names(shared):
    return {"VALUE": 'extern "C" __global__ void k(int* x) { *x = V; }'}
