// GraphicsResource: what cucore._graphics.GraphicsResource calls when it has checked its arguments.
#include "cucore/graphics_resource.hpp"

#include "python/bindings/memory/memory.hpp"
#include "python/bindings/memory/opaque_array.hpp"

namespace cucore::python {
namespace {

struct PyGraphicsResource : Wrapper<GraphicsResource> {
  using Wrapper::Wrapper;
  ~PyGraphicsResource() { drop_value(); }
};

GraphicsRegisterFlags flags_of(unsigned flags) { return static_cast<GraphicsRegisterFlags>(flags); }

// A Buffer of a GL buffer, an OpaqueArray of a GL image.
nb::object map(const PyGraphicsResource& self, nb::handle stream) {
  const Stream core_stream = kept_stream(required_stream(stream));
  if (self.value().is_image()) {
    OpaqueArray array = self.use([&](const GraphicsResource& resource) { return resource.map_array(core_stream); });
    return nb::cast(new PyOpaqueArray(std::move(array)), nb::rv_policy::take_ownership);
  }
  Buffer buffer = self.use([&](const GraphicsResource& resource) { return resource.map(core_stream); });
  return nb::cast(new PyBuffer(std::move(buffer)), nb::rv_policy::take_ownership);
}

void unmap(const PyGraphicsResource& self, nb::handle stream) {
  if (stream.is_none()) return self.use([](const GraphicsResource& resource) { resource.unmap(); });
  const Stream core_stream = required_stream(stream).share();
  self.use([&](const GraphicsResource& resource) { resource.unmap(core_stream); });
}

}  // namespace

void bind_graphics_resource(nb::module_& module) {
  nb::class_<PyGraphicsResource>(module, "_GraphicsResource", nb::is_weak_referenceable())
      .def_prop_ro("handle", [](const PyGraphicsResource& self) { return self.is_open() ? self.identity() : 0; })
      .def_prop_ro("is_mapped", [](const PyGraphicsResource& self) { return self.value().is_mapped(); })
      .def("map", map, nb::arg("stream").none())
      .def("unmap", unmap, nb::arg("stream").none())
      .def("close", [](PyGraphicsResource& self) { self.close_value(); });
  module.def("_check_stream", [](nb::handle stream) { required_stream(stream); }, nb::arg("stream").none());
  module.def("_register_gl_buffer", [](unsigned name, unsigned flags) {
    return new PyGraphicsResource(without_gil([&] { return GraphicsResource::from_gl_buffer(name, flags_of(flags)); }));
  });
  module.def("_register_gl_image", [](unsigned name, unsigned target, unsigned flags) {
    return new PyGraphicsResource(
        without_gil([&] { return GraphicsResource::from_gl_image(name, target, flags_of(flags)); }));
  });
}

}  // namespace cucore::python
