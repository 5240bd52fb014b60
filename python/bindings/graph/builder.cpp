// GraphBuilder: graphs by stream capture.
#include "python/bindings/graph/builder.hpp"

#include <algorithm>
#include <span>

#include "cucore/device.hpp"
#include "python/bindings/graph/graph.hpp"

namespace cucore::python {
namespace {

[[noreturn]] void refuse_closed_builder() { throw std::runtime_error("the GraphBuilder has been closed"); }

PyTypeObject* builder_type = nullptr;  // set at import; nobody derives from it

PyGraphBuilder* as_builder(nb::handle object) {
  return Py_TYPE(object.ptr()) == builder_type ? &self_as<PyGraphBuilder>(object) : nullptr;
}

PyGraphBuilder& required_builder(nb::handle object, const char* what) {
  if (PyGraphBuilder* const builder = as_builder(object)) return *builder;
  throw nb::type_error((std::string(what) + " must be a GraphBuilder, not " + Py_TYPE(object.ptr())->tp_name).c_str());
}

nb::object builder_object(GraphBuilder builder) {
  nb::object stream = new_object<PyStream>(builder.stream().share());
  return new_object<PyGraphBuilder>(std::move(builder), std::move(stream));
}

nb::object builder_tuple(std::vector<GraphBuilder> builders, nb::handle first = {}) {
  nb::list all;
  if (first.is_valid()) all.append(first);
  for (GraphBuilder& builder : builders) all.append(builder_object(std::move(builder)));
  return nb::tuple(all);
}

// Calls `call` with several builders, locked in one order whatever theirs is, and without the GIL.
template <class Call>
decltype(auto) with_builders(const std::vector<PyGraphBuilder*>& builders, Call&& call) {
  std::vector<std::shared_ptr<SharedBuilder>> shared;
  std::vector<GraphBuilder*> bare;
  for (const PyGraphBuilder* const builder : builders) {
    shared.push_back(builder->shared);
    bare.push_back(&builder->shared->builder);
  }
  const WithoutGil released;
  auto in_order = shared;
  std::sort(in_order.begin(), in_order.end());
  std::vector<std::unique_lock<std::recursive_mutex>> locks;
  for (const auto& each : in_order) locks.emplace_back(each->mutex);
  return call(std::span<GraphBuilder* const>(bare));
}

CaptureMode capture_mode(nb::handle mode) {
  constexpr std::pair<const char*, CaptureMode> modes[] = {
      {"relaxed", CaptureMode::relaxed}, {"global", CaptureMode::global}, {"thread_local", CaptureMode::thread_local_}};
  for (const auto& [name, value] : modes) {
    if (nb::isinstance<nb::str>(mode) && PyUnicode_CompareWithASCIIString(mode.ptr(), name) == 0) return value;
  }
  if (!mode.is_none() && !nb::isinstance<nb::str>(mode)) {
    throw nb::type_error((std::string("mode must be a str, not ") + Py_TYPE(mode.ptr())->tp_name).c_str());
  }
  throw nb::value_error(
      (std::string("mode must be 'relaxed', 'global' or 'thread_local', not ") + nb::repr(mode).c_str()).c_str());
}

nb::object begin_building(nb::handle self, nb::handle mode) {
  if (self_as<PyGraphBuilder>(self).use([](GraphBuilder& builder) { return builder.is_building(); })) {
    throw std::runtime_error("the GraphBuilder is building already");
  }
  const CaptureMode wanted = capture_mode(mode);
  self_as<PyGraphBuilder>(self).use([&](GraphBuilder& builder) { builder.begin_building(wanted); });
  return nb::borrow(self);
}

// A capture that an earlier error has made invalid ends here: cuda.core has no error of the driver's for that.
nb::object end_building(nb::handle self) {
  try {
    self_as<PyGraphBuilder>(self).use([](GraphBuilder& builder) { builder.end_building(); });
  } catch (const DriverError& error) {
    constexpr int invalidated = 901;
    if (error.code() != invalidated) throw;
    raise(from_package(Package::RuntimeInvalidatedError), error.what());
  }
  return nb::borrow(self);
}

nb::object split(nb::handle self, Int count) {
  const auto wanted = static_cast<std::size_t>(count < 0 ? 0 : static_cast<int>(count));
  auto forks = self_as<PyGraphBuilder>(self).use([&](GraphBuilder& builder) { return builder.split(wanted); });
  return builder_tuple(std::move(forks), self);
}

nb::object join(const nb::args& objects) {
  std::vector<PyGraphBuilder*> builders;
  for (const nb::handle object : objects) builders.push_back(&required_builder(object, "what is joined"));
  const struct NoteClosed {
    const std::vector<PyGraphBuilder*>& builders;
    ~NoteClosed() {
      for (PyGraphBuilder* const builder : builders) builder->note_closed();
    }
  } note{builders};
  const GraphBuilder* const root =
      with_builders(builders, [](std::span<GraphBuilder* const> all) { return &GraphBuilder::join(all); });
  for (std::size_t i = 0; i < builders.size(); ++i) {
    if (&builders[i]->shared->builder == root) return nb::borrow(objects[i]);
  }
  return nb::none();
}

void embed(nb::handle self, nb::handle child) {
  if (child.is_none()) throw nb::value_error("embed() needs a GraphBuilder that has ended, or a GraphDefinition");
  if (nb::isinstance<PyGraphDefinition>(child)) {
    const GraphView definition = required_definition(child, "child").share();
    return self_as<PyGraphBuilder>(self).use([&](GraphBuilder& builder) { builder.embed(definition); });
  }
  with_builders({&self_as<PyGraphBuilder>(self), &required_builder(child, "child")},
                [](std::span<GraphBuilder* const> both) { both[0]->embed(*both[1]); });
}

void callback(PyGraphBuilder& self, nb::handle function, nb::handle user_data) {
  CallbackArguments given = callback_arguments(function, user_data);
  self.use([&](GraphBuilder& builder) {
    if (given.function) return builder.callback(std::move(given.function));
    builder.callback(given.c_function, given.user_data, std::move(given.owner));
  });
}

nb::object complete(PyGraphBuilder& self, nb::handle options) {
  return with_complete_options(options, [&](const GraphCompleteOptions& wanted) {
    return self.use([&](GraphBuilder& builder) { return builder.complete(wanted); });
  });
}

void debug_dot_print(PyGraphBuilder& self, nb::handle path, nb::handle options) {
  const std::string file = path_of(path);
  const GraphDebugPrintOptions wanted = debug_print_options(options);
  self.use([&](GraphBuilder& builder) { builder.debug_dot_print(file, wanted); });
}

void close(PyGraphBuilder& self) {
  const struct NoteClosed {
    PyGraphBuilder& builder;
    ~NoteClosed() { builder.note_closed(); }
  } note{self};
  self.use([](GraphBuilder& builder) { builder.close(); });
}

// `with builder:` and `with builder.begin_building("global"):`
nb::object enter(nb::handle self) {
  self_as<PyGraphBuilder>(self).use([](GraphBuilder& builder) {
    if (!builder.is_building()) builder.begin_building();
  });
  return nb::borrow(self);
}

void leave(PyGraphBuilder& self, nb::handle type, nb::handle /*value*/, nb::handle /*traceback*/) {
  if (!type.is_none()) return close(self);
  self.use([](GraphBuilder& builder) {
    if (builder && !builder.has_ended()) builder.end_building();
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (nb::inst_ready(object)) Py_VISIT(nb::inst_ptr<PyGraphBuilder>(object)->stream.ptr());
  return 0;
}

int clear(PyObject* object) {
  if (!nb::inst_ready(object)) return 0;
  PyGraphBuilder& self = *nb::inst_ptr<PyGraphBuilder>(object);
  self.is_closed = true;
  const nb::object dropped = std::exchange(self.stream, nb::object());
  return 0;
}

PyType_Slot graph_builder_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

void bind_conditions(nb::class_<PyGraphBuilder>& cls) {
  cls.def(
         "create_condition",
         [](PyGraphBuilder& self, nb::handle default_value) {
           const auto value = default_of(default_value);
           return condition_object(self.use([&](GraphBuilder& builder) { return builder.create_condition(value); }));
         },
         nb::arg("default_value").none() = nb::none(),
         "A GraphCondition for conditional nodes of this graph; with a default it is set to that at each launch.")
      .def(
          "if_then",
          [](PyGraphBuilder& self, nb::handle condition) {
            const GraphCondition wanted = required_condition(condition);
            return builder_object(self.use([&](GraphBuilder& builder) { return builder.if_then(wanted); }));
          },
          nb::arg("condition").none(), "A builder of what runs if the condition is not 0.")
      .def(
          "if_else",
          [](PyGraphBuilder& self, nb::handle condition) {
            const GraphCondition wanted = required_condition(condition);
            auto both = self.use([&](GraphBuilder& builder) { return builder.if_else(wanted); });
            return nb::make_tuple(builder_object(std::move(both.first)), builder_object(std::move(both.second)));
          },
          nb::arg("condition").none(), "Builders of what runs if the condition is not 0, and if it is.")
      .def(
          "while_loop",
          [](PyGraphBuilder& self, nb::handle condition) {
            const GraphCondition wanted = required_condition(condition);
            return builder_object(self.use([&](GraphBuilder& builder) { return builder.while_loop(wanted); }));
          },
          nb::arg("condition").none(), "A builder of what runs again and again while the condition is not 0.")
      .def(
          "switch",
          [](PyGraphBuilder& self, nb::handle condition, Unsigned number) {
            const unsigned count = unsigned_of_32_bits(number, "count");
            const GraphCondition wanted = required_condition(condition);
            return builder_tuple(self.use([&](GraphBuilder& builder) { return builder.switch_on(wanted, count); }));
          },
          nb::arg("condition").none(), nb::arg("count"),
          "Builders of what runs if the condition is 0, 1, ...; nothing does if it is `count` or more.");
}

}  // namespace

void PyGraphBuilder::note_closed() noexcept {
  if (is_closed) return;
  is_closed = use([](const GraphBuilder& builder) { return !builder; });
  // Its memory stays, for calls that are using it; the stream is released now, unless somebody else has the object.
  if (is_closed && stream.is_valid() && Py_REFCNT(stream.ptr()) == 1) nb::inst_ptr<PyStream>(stream)->drop_value();
}

const PyStream* stream_of_builder(nb::handle object) {
  const PyGraphBuilder* const builder = as_builder(object);
  if (builder == nullptr) return nullptr;
  if (builder->is_closed) refuse_closed_builder();
  return &self_as<PyStream>(builder->stream);
}

std::optional<GraphDefinition> definition_of_builder(nb::handle object) {
  const PyGraphBuilder* const builder = as_builder(object);
  if (builder == nullptr) return std::nullopt;
  if (builder->is_closed) refuse_closed_builder();
  return builder->use([](const GraphBuilder& ended) {
    if (!ended.has_ended()) throw nb::value_error("the GraphBuilder has not finished building: call end_building()");
    return ended.graph_definition();
  });
}

nb::object graph_builder_on(nb::handle stream) {
  GraphBuilder builder(kept_stream(required_stream(stream)));
  return new_object<PyGraphBuilder>(std::move(builder), nb::borrow(stream));
}

void bind_graph_builder(nb::module_& module) {
  auto cls = nb::class_<PyGraphBuilder>(module, "GraphBuilder", nb::type_slots(graph_builder_slots),
                                        nb::is_weak_referenceable(),
                                        "Builds a graph by capture: what is given to it, wherever a Stream can be "
                                        "given, is recorded instead of run. Device.create_graph_builder() and "
                                        "Stream.create_graph_builder() make one.");
  builder_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  cls.def(
         "__init__",
         [](PyGraphBuilder*, const nb::args&, const nb::kwargs&) {
           PyErr_SetString(PyExc_NotImplementedError,
                           "GraphBuilder cannot be instantiated directly: use Device.create_graph_builder() or "
                           "Stream.create_graph_builder()");
           throw nb::python_error();
         },
         nb::arg("args"), nb::arg("kwargs"))
      .def_prop_ro(
          "stream",
          [](const PyGraphBuilder& self) {
            if (self.is_closed) refuse_closed_builder();
            return self.stream;
          },
          "The Stream that captures.")
      .def_prop_ro(
          "is_join_required", [](const PyGraphBuilder& self) { return self.kind == GraphBuilderKind::forked; },
          "Whether it is from split(), and so is to be joined.")
      .def_prop_ro(
          "is_building",
          [](const PyGraphBuilder& self) {
            return self.use([](const GraphBuilder& builder) { return builder.is_building(); });
          },
          "Whether it captures now; the driver is asked.")
      .def_prop_ro(
          "is_closed", [](const PyGraphBuilder& self) { return self.is_closed; }, "Whether it has been closed.")
      .def("begin_building", begin_building, nb::arg("mode").none() = "relaxed",
           "Begins the capture, and returns this builder. Calls that could disturb it are refused in the whole process "
           "('global'), in this thread ('thread_local') or nowhere ('relaxed').")
      .def("end_building", end_building, "Ends the capture, and returns this builder.")
      .def("complete", complete, nb::arg("options") = nb::none(),
           "A Graph of what was captured, as often as wanted. `options` are GraphCompleteOptions.")
      .def_prop_ro(
          "graph_definition",
          [](const PyGraphBuilder& self) {
            return definition_object(self.use([](const GraphBuilder& builder) { return builder.graph_definition(); }));
          },
          "The graph as a GraphDefinition, before a body's capture and after any; it outlives the builder.")
      .def("debug_dot_print", debug_dot_print, nb::arg("path").none(), nb::arg("options") = nb::none(),
           "Writes the ended graph in the DOT language. `options` are GraphDebugPrintOptions.")
      .def("split", split, nb::arg("count"),
           "This builder and `count` - 1 more, which go on beside it from here, as a tuple.")
      .def_static("join", join, nb::arg("graph_builders"),
                  "Lets the first that is not forked, or else the first, wait for the others, closes those, and "
                  "returns it.")
      .def("embed", embed, nb::arg("child").none(),
           "Adds a clone of an ended builder's graph, or of a GraphDefinition, as one node.")
      .def("callback", callback, nb::arg("fn").none(), nb::kw_only(), nb::arg("user_data") = nb::none(),
           "Adds a call of `fn` in a thread of the driver's, where it must not use CUDA. `user_data` is the argument "
           "of a C function: an address, or bytes, which are copied.")
      .def("close", close, "Ends a capture that this builder began, and drops it. Closing twice is allowed.")
      .def("__cuda_stream__", [](nb::handle self) { return nb::make_tuple(0, stream_of_builder(self)->identity()); })
      .def("__enter__", enter)
      .def("__exit__", leave, nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none())
      .def("__reduce__", refuse_pickling);
  bind_conditions(cls);
  module.def("_create_graph_builder", graph_builder_on);
}

}  // namespace cucore::python
