// StridedLayout: tuples and slices of Python for the core's numbers.
#include "cucore/strided_layout.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <variant>

#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

using Numbers = StridedLayout::Numbers;
using Axes = StridedLayout::Axes;

template <class Sequence>
nb::tuple tuple_of(const Sequence& numbers) {
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!made.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), nb::int_(numbers[i]).release().ptr());
  }
  return nb::borrow<nb::tuple>(made);
}

// `order` as axes: 'C', 'F' or a permutation; nothing for 'K', which keeps the order there is.
std::optional<Axes> order_of(nb::handle order, std::size_t rank) {
  std::string name;
  if (nb::try_cast(order, name)) {
    if (name == "C") return StridedLayout::c_order(rank);
    if (name == "F") return StridedLayout::f_order(rank);
    if (name == "K") return std::nullopt;
    PyErr_Format(PyExc_ValueError, "stride_order must be 'C', 'F', 'K' or a permutation of the axes, not %R",
                 order.ptr());
    throw nb::python_error();
  }
  Axes axes;
  if (!nb::try_cast(order, axes)) throw nb::type_error("stride_order must be 'C', 'F', 'K' or a tuple of axes");
  for (int& axis : axes) {
    if (axis < 0) axis += static_cast<int>(rank);
  }
  return axes;
}

StridedLayout dense(Numbers shape, std::int64_t itemsize, nb::handle order) {
  const std::optional<Axes> axes = order_of(order, shape.size());
  if (!axes.has_value()) throw nb::value_error("stride_order 'K' needs a layout to be like: use dense_like()");
  return StridedLayout::dense(std::move(shape), itemsize, *axes);
}

// `self` if it is what is asked for.
nb::object to_dense(nb::handle self, nb::handle order) {
  const auto& layout = nb::cast<const StridedLayout&>(self);
  const std::optional<Axes> axes = order_of(order, layout.rank());
  StridedLayout made = axes.has_value() ? layout.to_dense(*axes) : layout.to_dense();
  if (layout.slice_offset() == 0 && layout.strides() == made.strides()) return nb::borrow(self);
  return nb::cast(std::move(made));
}

// One index of a subscript on an axis of `extent`.
StridedLayout::Slice slice_of(nb::handle index, std::int64_t extent) {
  if (PySlice_Check(index.ptr())) {
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
    const Py_ssize_t count = PySlice_AdjustIndices(extent, &start, &stop, step);
    return {.start = start, .count = count, .step = step};
  }
  if (!PyIndex_Check(index.ptr())) {
    PyErr_Format(PyExc_TypeError, "a layout is indexed by ints and slices, not by %R", index.ptr());
    throw nb::python_error();
  }
  const Py_ssize_t place = PyNumber_AsSsize_t(index.ptr(), PyExc_ValueError);
  if (place == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return {.start = place < -extent ? place : place < 0 ? place + extent : place};
}

StridedLayout sliced(const StridedLayout& self, nb::handle index) {
  const nb::object all = PyTuple_Check(index.ptr()) ? nb::borrow(index) : nb::make_tuple(index);
  const std::size_t count = nb::len(all);
  std::vector<StridedLayout::Slice> slices;
  for (std::size_t i = 0; i < count; ++i) {
    slices.push_back(slice_of(all[i], i < self.rank() ? self.shape()[i] : 0));
  }
  return self.sliced(slices);
}

StridedLayout unsqueezed(const StridedLayout& self, const std::variant<int, Axes>& axis) {
  if (const int* one = std::get_if<int>(&axis)) return self.unsqueezed({*one});
  return self.unsqueezed(std::get<Axes>(axis));
}

void bind_numbers(nb::class_<StridedLayout>& cls) {
  using Layout = StridedLayout;
  const auto where_given = [](const Layout& self, auto&& numbers) -> nb::object {
    if (!self.has_strides()) return nb::none();
    return tuple_of(numbers());
  };
  cls.def_prop_ro("ndim", &Layout::rank, "How many axes there are.")
      .def_prop_ro(
          "shape", [](const Layout& self) { return tuple_of(self.shape()); }, "How many elements along each axis.")
      .def_prop_ro(
          "strides", [=](const Layout& self) { return where_given(self, [&] { return self.strides(); }); },
          nb::sig("def strides(self) -> tuple[int, ...] | None"),
          "In elements; None for C order that was not spelt out.")
      .def_prop_ro(
          "strides_in_bytes",
          [=](const Layout& self) { return where_given(self, [&] { return self.strides_in_bytes(); }); },
          "The same in bytes.")
      .def_prop_ro(
          "stride_order", [](const Layout& self) { return tuple_of(self.stride_order()); },
          "The axes from the outermost to the innermost.")
      .def_prop_ro("volume", &Layout::volume, "How many elements there are.")
      .def_prop_ro("itemsize", &Layout::itemsize, "Bytes of an element.")
      .def_prop_ro("slice_offset", &Layout::slice_offset,
                   "Where the first element is, in elements from the base address.")
      .def_prop_ro("slice_offset_in_bytes", &Layout::slice_offset_in_bytes, "The same in bytes.")
      .def_prop_ro("is_contiguous_c", &Layout::is_contiguous_c,
                   "Whether the elements lie one after another in C order.")
      .def_prop_ro("is_contiguous_f", &Layout::is_contiguous_f, "Whether they do in Fortran order.")
      .def_prop_ro("is_contiguous_any", &Layout::is_contiguous_any, "Whether they do in some order of the axes.")
      .def_prop_ro("is_dense", &Layout::is_dense, "Whether that is so, from the base address on.")
      .def_prop_ro("is_unique", &Layout::is_unique, "Whether no two elements share an address, as far as can be told.")
      .def_prop_ro("offset_bounds", &Layout::offset_bounds, "The first and the last element, from the base address.")
      .def_prop_ro(
          "min_offset", [](const Layout& self) { return self.offset_bounds().first; },
          "The first element, from the base address.")
      .def_prop_ro(
          "max_offset", [](const Layout& self) { return self.offset_bounds().second; },
          "The last element, from the base address.")
      .def("required_size_in_bytes", &Layout::required_size_in_bytes, "Bytes that memory for it must have.");
}

}  // namespace

void bind_strided_layout(nb::module_& module) {
  using Layout = StridedLayout;
  auto cls = nb::class_<Layout>(module, "StridedLayout", nb::is_weak_referenceable(),
                                "Where the elements of a tensor lie: shape, strides, element size and slice offset.");
  bind_numbers(cls);
  cls.def(
         "__init__",
         [](Layout* self, Numbers shape, std::optional<Numbers> strides, std::int64_t itemsize, bool divide_strides) {
           if (!strides.has_value()) {
             new (self) Layout(std::move(shape), itemsize);
           } else if (divide_strides) {
             new (self) Layout(Layout::with_byte_strides(std::move(shape), std::move(*strides), itemsize));
           } else {
             new (self) Layout(std::move(shape), std::move(*strides), itemsize);
           }
         },
         nb::arg("shape"), nb::arg("strides").none(), nb::arg("itemsize"), nb::arg("divide_strides") = false)
      .def_static("dense", dense, nb::arg("shape"), nb::arg("itemsize"), nb::arg("stride_order") = "C",
                  "Without gaps, its axes in the order \"C\", \"F\", or as listed from the outermost to the innermost.")
      .def_static("dense_like", to_dense, nb::arg("other"), nb::arg("stride_order") = "K",
                  "Without gaps, of the same shape; \"K\" keeps the order of the axes.")
      .def("to_dense", to_dense, nb::arg("stride_order") = "K", "No gaps and no offset; itself if that is so already.")
      .def("reshaped", &Layout::reshaped, nb::arg("shape"), "The same elements in another shape; one extent may be -1.")
      .def("permuted", &Layout::permuted, nb::arg("axes"), "Its axes in another order.")
      .def("squeezed", &Layout::squeezed, "Without the axes of extent 1.")
      .def("unsqueezed", unsqueezed, nb::arg("axis"), "With axes of extent 1 at these places.")
      .def("flattened", &Layout::flattened, nb::arg("start_axis") = 0, nb::arg("end_axis") = -1,
           nb::arg("mask") = nb::none(),
           "Axes from `start_axis` to `end_axis` that can be one, as one; `mask` is as flattened_axis_mask() gives it.")
      .def("flattened_axis_mask", &Layout::flattened_axis_mask,
           "Bit i: axis i continues axis i - 1. What two layouts have in common is the `and` of both.")
      .def("broadcast_to", &Layout::broadcast_to, nb::arg("shape"),
           "Repeated along axes of extent 1, and new ones, to this shape.")
      .def("repacked", &Layout::repacked, nb::arg("itemsize"), nb::arg("data_ptr") = 0, nb::arg("axis") = -1,
           nb::arg("keep_dim") = true, "Elements of another size along an axis of stride 1.")
      .def("max_compatible_itemsize", &Layout::max_compatible_itemsize, nb::arg("max_itemsize") = 16,
           nb::arg("data_ptr") = 0, nb::arg("axis") = -1,
           "The largest element size up to `max_itemsize` that repacked() takes.")
      .def("sliced", sliced, nb::arg("slices").none(), "A part, as layout[slices].")
      .def("__getitem__", sliced, nb::arg("slices").none())
      .def(
          "__eq__", [](const Layout& self, const Layout& other) { return self == other; }, nb::is_operator())
      .def("__repr__", [](nb::handle self) {
        const auto& layout = nb::cast<const Layout&>(self);
        std::string end = ")";
        if (layout.slice_offset() != 0) end = ", slice_offset=" + std::to_string(layout.slice_offset()) + end;
        return nb::str("StridedLayout(shape={}, strides={}, itemsize={}{}")
            .format(self.attr("shape"), self.attr("strides"), layout.itemsize(), end);
      });
  cls.attr("__hash__") = nb::none();
}

}  // namespace cucore::python
