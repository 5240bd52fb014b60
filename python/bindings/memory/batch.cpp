// The batch functions of cucore.utils: their arguments as the core's.
#include "cucore/batch.hpp"

#include <string>
#include <vector>

#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

/// References to the buffers of a batch, as the core takes them; dropped without the GIL.
class Buffers {
 public:
  Buffers(nb::handle sequence, const char* what) {
    if (nb::isinstance<PyBuffer>(sequence)) {
      throw nb::type_error(
          (std::string(what) + " must be a sequence of Buffers: put the one Buffer into a list").c_str());
    }
    if (PySequence_Check(sequence.ptr()) == 0) {
      throw nb::type_error(
          (std::string(what) + " must be a sequence of Buffers, not " + Py_TYPE(sequence.ptr())->tp_name).c_str());
    }
    for (const nb::handle item : sequence) {
      const PyBuffer* buffer = nullptr;
      if (!nb::try_cast<const PyBuffer*>(item, buffer) || buffer == nullptr) {
        throw nb::type_error((std::string(what) + " must hold Buffers, not " + Py_TYPE(item.ptr())->tp_name).c_str());
      }
      shares_.push_back(buffer->share());
    }
    for (const Buffer& buffer : shares_) pointers_.push_back(&buffer);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    const WithoutGil released;
    shares_.clear();
  }
  std::span<const Buffer* const> all() const { return pointers_; }

 private:
  std::vector<Buffer> shares_;
  std::vector<const Buffer*> pointers_;
};

std::vector<MemoryLocation> locations_of(nb::handle locations, std::size_t buffers) {
  if (const auto one = memory_location(locations)) return {*one};
  std::vector<MemoryLocation> all;
  if (locations.is_none() || PySequence_Check(locations.ptr()) == 0 || is_array(locations)) {
    all.push_back(required_location(locations));
    return all;
  }
  const Py_ssize_t count = PySequence_Size(locations.ptr());
  if (count < 0) throw nb::python_error();
  if (static_cast<std::size_t>(count) != buffers) {
    throw nb::value_error(("locations has " + std::to_string(count) + " entries for " + std::to_string(buffers) +
                           " buffers: give one location, or one for each")
                              .c_str());
  }
  for (const nb::handle item : locations) all.push_back(required_location(item));
  return all;
}

CopyOptions copy_options(nb::handle options) {
  const auto is = [&](const char* field, const char* value) {
    return nb::cast<bool>(nb::bool_(options.attr(field).equal(nb::str(value))));
  };
  const auto hint = [&](const char* field) {
    const nb::object place = options.attr(field);
    if (!place.is_none() && PyObject_IsInstance(place.ptr(), from_package(Package::Device).ptr()) != 1 &&
        PyObject_IsInstance(place.ptr(), from_package(Package::Host).ptr()) != 1) {
      throw nb::type_error(
          (std::string(field) + " must be a Device, a Host or None, not " + Py_TYPE(place.ptr())->tp_name).c_str());
    }
    return memory_location(place);
  };
  return {.src_access_order = is("src_access_order", "during_api_call") ? CopySourceOrder::during_api_call
                              : is("src_access_order", "any")           ? CopySourceOrder::any
                                                                        : CopySourceOrder::stream,
          .src_location_hint = hint("src_location_hint"),
          .dst_location_hint = hint("dst_location_hint"),
          .prefer_overlap_with_compute = is("overlap_mode", "prefer_overlap_with_compute")};
}

void copy(nb::handle stream, nb::handle sources, nb::handle destinations, const nb::list& options) {
  const Stream core_stream = required_stream(stream).share();
  const Buffers from(sources, "srcs");
  const Buffers to(destinations, "dsts");
  std::vector<CopyOptions> wanted;
  for (const nb::handle one : options) wanted.push_back(copy_options(one));
  without_gil([&] { copy_batch(core_stream, from.all(), to.all(), wanted); });
}

template <class Call>
void with_locations(nb::handle stream, nb::handle buffers, nb::handle locations, Call&& call) {
  const Stream core_stream = required_stream(stream).share();
  const Buffers all(buffers, "buffers");
  const std::vector<MemoryLocation> places = locations_of(locations, all.all().size());
  if_implemented([&] { without_gil([&] { call(core_stream, all.all(), places); }); });
}

}  // namespace

void bind_batch(nb::module_& module) {
  module.def("_copy_batch", copy, nb::arg("stream").none(), nb::arg("srcs").none(), nb::arg("dsts").none(),
             nb::arg("options"));
  module.def(
      "prefetch_batch",
      [](nb::handle stream, nb::handle buffers, nb::handle locations) {
        with_locations(stream, buffers, locations, [](const Stream& core_stream, auto all, const auto& places) {
          prefetch_batch(core_stream, all, places);
        });
      },
      nb::arg("stream").none(), nb::arg("buffers").none(), nb::arg("locations").none(),
      "Brings managed buffers to a Device or a Host, or each to its own of a sequence, in one call of the driver.");
  module.def(
      "discard_batch",
      [](nb::handle stream, nb::handle buffers) {
        const Stream core_stream = required_stream(stream).share();
        const Buffers all(buffers, "buffers");
        if_implemented([&] { without_gil([&] { discard_batch(core_stream, all.all()); }); });
      },
      nb::arg("stream").none(), nb::arg("buffers").none(),
      "Says that what is in the managed buffers is not needed any more, in one call of the driver.");
  module.def(
      "discard_prefetch_batch",
      [](nb::handle stream, nb::handle buffers, nb::handle locations) {
        with_locations(stream, buffers, locations, [](const Stream& core_stream, auto all, const auto& places) {
          discard_prefetch_batch(core_stream, all, places);
        });
      },
      nb::arg("stream").none(), nb::arg("buffers").none(), nb::arg("locations").none(),
      "Discards what is in the managed buffers and makes room at the locations, in one call of the driver.");
}

}  // namespace cucore::python
