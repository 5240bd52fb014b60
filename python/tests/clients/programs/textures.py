"""Samples a texture between its elements."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

SOURCE = """extern "C" __global__ void sample(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 1.0f, 0.5f);
}"""

device = Device()
device.set_current()
stream = device.create_stream()
array = device.create_opaque_array(OpaqueArrayOptions(shape=(8, 4), format="float32", num_channels=1))
array.copy_from(np.arange(32, dtype=np.float32).reshape(4, 8), stream=stream)
options = TextureObjectOptions(address_mode="clamp", filter_mode="linear", read_mode="element_type")
texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options=options)
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("sample")
out = LegacyPinnedMemoryResource().allocate(32)
launch(stream, LaunchConfig(grid=1, block=8), kernel, texture.handle, out)
stream.sync()
print(np.from_dlpack(out).view(np.float32), array.size_bytes)
