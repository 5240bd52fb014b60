// ResourceDescriptor, TextureObject and SurfaceObject.
#include "cucore/texture.hpp"

#include <algorithm>

#include "python/bindings/memory/memory.hpp"
#include "python/bindings/memory/opaque_array.hpp"

namespace cucore::python {

template <>
inline std::uint64_t identity_of(const TextureObject& texture) noexcept {
  return texture.handle();
}
template <>
inline std::uint64_t identity_of(const SurfaceObject& surface) noexcept {
  return surface.handle();
}

namespace {

// Texture and surface: with the descriptor as Python has it, which is None once closed.
template <class T>
struct Reading : Wrapper<T> {
  Reading(T made, nb::object from, nb::object with)
      : Wrapper<T>(std::move(made)),
        device(this->value().device().ordinal()),
        resource(std::move(from)),
        options(std::move(with)) {}
  Reading(Reading&&) noexcept = default;
  ~Reading() { this->drop_value(); }

  int device;
  nb::object resource;
  nb::object options;  ///< of a texture
};

struct PyTextureObject : Reading<TextureObject> {
  using Reading::Reading;
};
struct PySurfaceObject : Reading<SurfaceObject> {
  using Reading::Reading;
};

struct PyResource {
  PyResource(ResourceDescriptor made, nb::object of) : descriptor(std::move(made)), source(std::move(of)) {}
  PyResource(PyResource&&) noexcept = default;
  Owned<ResourceDescriptor> descriptor;
  nb::object source;
};

template <class T>
int traverse_reading(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (!nb::inst_ready(object)) return 0;
  const T* self = nb::inst_ptr<T>(object);
  Py_VISIT(self->resource.ptr());
  Py_VISIT(self->options.ptr());
  return 0;
}

template <class T>
int clear_reading(PyObject* object) {
  T* self = nb::inst_ptr<T>(object);
  self->resource.reset();
  self->options.reset();
  return 0;
}

template <class T>
PyType_Slot reading_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_reading<T>)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_reading<T>)},
                               {0, nullptr}};

int traverse_resource(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (nb::inst_ready(object)) Py_VISIT(nb::inst_ptr<PyResource>(object)->source.ptr());
  return 0;
}

int clear_resource(PyObject* object) {
  nb::inst_ptr<PyResource>(object)->source.reset();
  return 0;
}

PyType_Slot resource_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_resource)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_resource)},
                                {0, nullptr}};

nb::object kind_object(const PyResource& self) {
  static constexpr const char* names[] = {"array", "mipmapped_array", "linear", "pitch2d"};
  return nb::str(names[static_cast<int>(self.descriptor->kind())]);
}

void bind_resource(nb::module_& module) {
  auto cls = nb::class_<PyResource>(
      module, "ResourceDescriptor", nb::type_slots(resource_slots), nb::is_weak_referenceable(),
      "Which memory a texture or surface is of. It keeps that memory: from_opaque_array(), from_mipmapped_array(), "
      "from_linear() and from_pitch2d() make one.");
  forbid_construction<PyResource>(cls,
                                  "ResourceDescriptor cannot be instantiated directly: use from_opaque_array(), "
                                  "from_mipmapped_array(), from_linear() or from_pitch2d()");
  cls.def_prop_ro("kind", kind_object, "\"array\", \"mipmapped_array\", \"linear\" or \"pitch2d\".")
      .def_prop_ro(
          "source", [](const PyResource& self) { return self.source; }, "The object it was made of.")
      .def_prop_ro(
          "format",
          [](const PyResource& self) {
            const auto format = self.descriptor->format();
            return format.has_value() ? format_object(*format) : nb::none();
          },
          "The ArrayFormatType of a channel of a Buffer's elements, else None.")
      .def_prop_ro(
          "num_channels", [](const PyResource& self) { return self.descriptor->num_channels(); },
          "Channels of a Buffer's elements, else None.")
      .def_prop_ro(
          "size_bytes", [](const PyResource& self) { return self.descriptor->size_bytes(); },
          "Bytes of linear memory, else None.")
      .def_prop_ro(
          "width", [](const PyResource& self) { return self.descriptor->width(); },
          "Elements of a row of pitched memory, else None.")
      .def_prop_ro(
          "height", [](const PyResource& self) { return self.descriptor->height(); },
          "Rows of pitched memory, else None.")
      .def_prop_ro(
          "pitch_bytes", [](const PyResource& self) { return self.descriptor->pitch_bytes(); },
          "Bytes from row to row of pitched memory, else None.")
      .def("__repr__",
           [](const PyResource& self) {
             std::string text = std::string("ResourceDescriptor(kind=") + nb::repr(kind_object(self)).c_str();
             const auto add = [&](const char* name, const std::optional<std::size_t>& value) {
               if (value.has_value()) text += std::string(", ") + name + "=" + std::to_string(*value);
             };
             if (const auto format = self.descriptor->format()) {
               text += ", format=" + format_name(*format);
             }
             add("num_channels", self.descriptor->num_channels());
             add("size_bytes", self.descriptor->size_bytes());
             add("width", self.descriptor->width());
             add("height", self.descriptor->height());
             add("pitch_bytes", self.descriptor->pitch_bytes());
             return text + ")";
           })
      .def(
          "__copy__",
          [](const PyResource& self) {
            return new PyResource(ResourceDescriptor(*self.descriptor), nb::object(self.source));
          },
          nb::rv_policy::take_ownership);
  // cucore.texture checks the arguments.
  cls.def_static(
         "from_opaque_array", [](nb::handle array) { return from_package(Package::texture_memory_of_array)(array); },
         nb::arg("array").none(), "Of an OpaqueArray: for textures and surfaces.")
      .def_static(
          "from_mipmapped_array",
          [](nb::handle array) { return from_package(Package::texture_memory_of_mipmapped_array)(array); },
          nb::arg("mipmapped_array").none(), "Of a MipmappedArray: for textures.")
      .def_static(
          "from_linear",
          [](nb::handle buffer, nb::handle format, nb::handle channels, nb::handle size) {
            return from_package(Package::texture_memory_of_row)(buffer, format, channels, size);
          },
          nb::arg("buffer").none(), nb::kw_only(), nb::arg("format").none(), nb::arg("num_channels").none(),
          nb::arg("size_bytes") = nb::none(),
          "Of a Buffer as one row, all of it or the first `size_bytes`: for textures fetched by index, for which "
          "addressing and filtering do not count.")
      .def_static(
          "from_pitch2d",
          [](nb::handle buffer, nb::handle format, nb::handle channels, nb::handle width, nb::handle height,
             nb::handle pitch) {
            return from_package(Package::texture_memory_of_rows)(buffer, format, channels, width, height, pitch);
          },
          nb::arg("buffer").none(), nb::kw_only(), nb::arg("format").none(), nb::arg("num_channels").none(),
          nb::arg("width").none(), nb::arg("height").none(), nb::arg("pitch_bytes").none(),
          "Of a Buffer as `height` rows of `width` elements, `pitch_bytes` apart: for textures.");
  module.def("_resource_of_array", [](nb::handle array) {
    return new PyResource(ResourceDescriptor::from_opaque_array(nb::cast<const PyOpaqueArray&>(array).share()),
                          nb::borrow(array));
  });
  module.def("_resource_of_mipmapped_array", [](nb::handle array) {
    return new PyResource(ResourceDescriptor::from_mipmapped_array(nb::cast<const PyMipmappedArray&>(array).share()),
                          nb::borrow(array));
  });
  module.def(
      "_resource_of_row",
      [](nb::handle buffer, int format, unsigned channels, std::optional<std::size_t> size) {
        const LinearLayout layout{
            .format = static_cast<ArrayFormat>(format), .num_channels = channels, .size_bytes = size};
        return new PyResource(ResourceDescriptor::from_linear(nb::cast<const PyBuffer&>(buffer).share(), layout),
                              nb::borrow(buffer));
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("_resource_of_rows", [](nb::handle buffer, int format, unsigned channels, std::size_t width,
                                     std::size_t height, std::size_t pitch) {
    const Pitch2dLayout layout{.format = static_cast<ArrayFormat>(format),
                               .num_channels = channels,
                               .width = width,
                               .height = height,
                               .pitch_bytes = pitch};
    return new PyResource(ResourceDescriptor::from_pitch2d(nb::cast<const PyBuffer&>(buffer).share(), layout),
                          nb::borrow(buffer));
  });
}

template <class T, class Class>
void bind_reading(Class& cls, const char* name) {
  bind_owner<T>(cls);
  cls.def_prop_ro(
         "handle", [](const T& self) { return self.is_open() ? self.identity() : 0; },
         "The driver's handle, a 64-bit number; 0 when closed.")
      .def_prop_ro(
          "resource", [](const T& self) { return self.is_open() ? self.resource : nb::none(); },
          "Its ResourceDescriptor; None when closed.")
      .def_prop_ro(
          "device", [](const T& self) { return device_object(self.device); }, "The Device it is for.")
      .def(
          "close", [](T& self) { self.close_value(); },
          "Destroys it; kernels that use it must have completed. Closing twice is allowed.")
      .def(
          "__kernel_argument__",
          [name](const T& self) {
            if (self.is_open()) return self.identity();
            throw std::runtime_error(std::string("the ") + name + " has been closed");
          },
          "What launch() passes for it: the handle.")
      .def("__repr__", [name](const T& self) {
        return std::string(name) + "(handle=" + hex(self.is_open() ? self.identity() : 0) + ")";
      });
}

void bind_objects(nb::module_& module) {
  auto texture = nb::class_<PyTextureObject>(module, "TextureObject", nb::type_slots(reading_slots<PyTextureObject>),
                                             nb::is_weak_referenceable(),
                                             "Memory as kernels read it, with filtering and bounds; an argument of "
                                             "launch(). Device.create_texture_object() makes one.");
  forbid_construction<PyTextureObject>(
      texture, "TextureObject cannot be instantiated directly: use Device.create_texture_object()");
  bind_reading<PyTextureObject>(texture, "TextureObject");
  texture.def_prop_ro(
      "options", [](const PyTextureObject& self) { return self.options; },
      "The TextureObjectOptions it was made with.");

  auto surface = nb::class_<PySurfaceObject>(module, "SurfaceObject", nb::type_slots(reading_slots<PySurfaceObject>),
                                             nb::is_weak_referenceable(),
                                             "An OpaqueArray as kernels write it; an argument of launch(). "
                                             "Device.create_surface_object() makes one.");
  forbid_construction<PySurfaceObject>(
      surface, "SurfaceObject cannot be instantiated directly: use Device.create_surface_object()");
  bind_reading<PySurfaceObject>(surface, "SurfaceObject");
}

}  // namespace

void bind_texture(nb::module_& module) {
  bind_resource(module);
  bind_objects(module);
  module.def("_create_texture_object", [](const PyContext& context, nb::handle resource, nb::handle options,
                                          const std::vector<int>& address_mode, int filter, int read,
                                          unsigned anisotropy, int mipmap_filter, const std::vector<float>& border) {
    TextureObjectOptions wanted{
        .filter_mode = static_cast<FilterMode>(filter),
        .read_mode = static_cast<ReadMode>(read),
        .normalized_coords = nb::cast<bool>(options.attr("normalized_coords")),
        .srgb = nb::cast<bool>(options.attr("srgb")),
        .disable_trilinear_optimization = nb::cast<bool>(options.attr("disable_trilinear_optimization")),
        .seamless_cubemap = nb::cast<bool>(options.attr("seamless_cubemap")),
        .max_anisotropy = anisotropy,
        .mipmap_filter_mode = static_cast<FilterMode>(mipmap_filter),
        .mipmap_level_bias = nb::cast<float>(options.attr("mipmap_level_bias")),
        .min_mipmap_level_clamp = nb::cast<float>(options.attr("min_mipmap_level_clamp")),
        .max_mipmap_level_clamp = nb::cast<float>(options.attr("max_mipmap_level_clamp"))};
    wanted.address_mode.clear();
    for (const int mode : address_mode) wanted.address_mode.push_back(static_cast<AddressMode>(mode));
    std::copy_n(border.begin(), std::min<std::size_t>(border.size(), 4), wanted.border_color.begin());
    const ResourceDescriptor what = *nb::cast<const PyResource&>(resource).descriptor;
    return new PyTextureObject(context.use([&](const Context& in) { return in.create_texture_object(what, wanted); }),
                               nb::borrow(resource), nb::borrow(options));
  });
  module.def("_create_surface_object", [](const PyContext& context, nb::handle resource) {
    const ResourceDescriptor what = *nb::cast<const PyResource&>(resource).descriptor;
    return new PySurfaceObject(context.use([&](const Context& in) { return in.create_surface_object(what); }),
                               nb::borrow(resource), nb::object());
  });
}

}  // namespace cucore::python
