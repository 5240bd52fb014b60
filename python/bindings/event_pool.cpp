// EventPool. get() and put() are what a program calls around every measurement, so they are plain C methods, and the
// Python objects of events that came back are used again: an object that is still referred to from elsewhere, weakly
// too, stays closed for good, any other becomes the next event's.
#include "cucore/event_pool.hpp"

#include <algorithm>

#include "cucore/device.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {
namespace {

bool is_weakly_referenced(nb::handle object) { return *PyObject_GET_WEAKREFS_LISTPTR(object.ptr()) != nullptr; }

struct PyEventPool {
  explicit PyEventPool(std::shared_ptr<EventPool> of) : pool(std::move(of)) {}
  PyEventPool(const PyEventPool&) = delete;
  PyEventPool& operator=(const PyEventPool&) = delete;
  ~PyEventPool() { close(); }

  std::shared_ptr<EventPool> pool;  ///< null once closed
  std::vector<nb::object> objects;  ///< closed Event objects, to be used again
  static constexpr std::size_t max_objects = 16;

  EventPool& open() const {
    if (pool == nullptr) throw std::runtime_error("the EventPool has been closed");
    return *pool;
  }

  void close() noexcept {
    if (pool == nullptr) return;
    drop_objects();
    const WithoutGil released;
    pool.reset();
  }

  nb::object get(const EventOptions& options) {
    EventPool& from = open();
    const std::shared_ptr<EventPool> lender = pool;
    Event event = from.try_take(options);
    if (!event) event = without_gil([&] { return from.get(options).release(); });
    nb::object object = closed_object();
    if (object.is_valid()) {
      nb::inst_ptr<PyEvent>(object)->assign(std::move(event));
    } else {
      object = new_object<PyEvent>(std::move(event));
    }
    nb::inst_ptr<PyEvent>(object)->lender = lender;
    return object;
  }

  void put(nb::handle object) {
    if (Py_TYPE(object.ptr()) != reinterpret_cast<PyTypeObject*>(nb::type<PyEvent>().ptr())) {
      throw nb::type_error((std::string("event must be an Event, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
    }
    PyEvent& event = self_as<PyEvent>(object);
    if (!event.is_open()) throw std::runtime_error("the event has been closed, or is back in its pool");
    if (event.lender == nullptr || event.lender != pool) {
      throw nb::value_error("the event is not on loan from this pool: put() takes back what get() gave");
    }
    event.give_back();
#ifndef Py_GIL_DISABLED
    if (objects.size() < max_objects && !is_weakly_referenced(object)) objects.push_back(nb::borrow(object));
#endif
  }

 private:
  // The callbacks of weak references may call the pool, so `objects` must be in order when one goes.
  void drop_objects() noexcept {
    std::vector<nb::object> dropped;
    dropped.swap(objects);
  }

  // One that nobody else refers to. The one put back last is often still the value of a variable.
  nb::object closed_object() {
    nb::object dropped;
    std::size_t tries = std::min<std::size_t>(objects.size(), 3);
    for (std::size_t i = objects.size(); tries > 0; --tries) {
      --i;
      if (Py_REFCNT(objects[i].ptr()) != 1) continue;
      std::swap(objects[i], objects.back());
      nb::object found = std::move(objects.back());
      objects.pop_back();
      if (!is_weakly_referenced(found)) return found;
      dropped = std::move(found);
      return {};
    }
    if (objects.size() == max_objects) drop_objects();  // all are kept elsewhere
    return {};
  }
};

PyObject* get(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return answered([&] {
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    if (count + named > 1 ||
        (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "options") != 0)) {
      throw nb::type_error("EventPool.get takes one argument, options");
    }
    PyEventPool& pool = self_as<PyEventPool>(self);
    return pool.get(count + named == 0 ? EventOptions{} : event_options(arguments[0]));
  });
}

PyObject* put(PyObject* self, PyObject* event) {
  return answered([&] {
    self_as<PyEventPool>(self).put(event);
    return nb::none();
  });
}

constexpr const char* get_document =
    "get(options=None)\n--\n\n"
    "An event on loan: an idle one of that kind, or a new one. close(), leaving `with`, put() and garbage collection "
    "give it back. It may have been recorded by an earlier user.";
constexpr const char* put_document =
    "put(event, /)\n--\n\nTakes back an event that get() gave; it is closed to its user.";

// The casts are how CPython takes functions of these kinds.
PyMethodDef methods[] = {
    {"get", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(get)), METH_FASTCALL | METH_KEYWORDS,
     get_document},
    {"put", put, METH_O, put_document},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};

}  // namespace

void bind_event_pool(nb::module_& module) {
  auto cls = nb::class_<PyEventPool>(
      module, "EventPool", nb::is_weak_referenceable(), nb::type_slots(slots),
      "Events to use again: get() lends one and put() takes it back. At most `capacity` idle events of each kind are "
      "kept. Any thread may use it. device.event_pool is the device's own.");
  cls.def(
         "__init__",
         [](PyEventPool* self, nb::handle device, std::size_t capacity) {
           const int ordinal = device_ordinal(device);
           new (self) PyEventPool(without_gil([&] { return EventPool::create(Device(ordinal).context(), capacity); }));
         },
         nb::arg("device"), nb::kw_only(), nb::arg("capacity") = EventPool::default_capacity)
      .def_prop_ro(
          "device", [](const PyEventPool& self) { return device_object(self.open().context().device().ordinal()); },
          "The Device whose events they are.")
      .def_prop_ro(
          "idle", [](const PyEventPool& self) { return self.open().idle(); }, "How many events wait to be used.")
      .def_prop_ro(
          "capacity", [](const PyEventPool& self) { return self.open().capacity(); },
          "How many idle events of each kind are kept.")
      .def(
          "trim",
          [](const PyEventPool& self, std::size_t keep) {
            EventPool& pool = self.open();
            without_gil([&] { pool.trim(keep); });
          },
          nb::arg("keep") = 0, "Destroys idle events until at most `keep` of each kind are left.")
      .def("close", &PyEventPool::close, "Drops the pool; events on loan stay usable.")
      .def_prop_ro("is_closed", [](const PyEventPool& self) { return self.pool == nullptr; })
      .def("__bool__", [](const PyEventPool& self) { return self.pool != nullptr; })
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__", [](PyEventPool& self, const nb::args&) { self.close(); }, nb::arg("exception_info"))
      .def("__repr__", [](const PyEventPool& self) -> std::string {
        if (self.pool == nullptr) return "<EventPool closed>";
        return "<EventPool device=" + std::to_string(self.pool->context().device().ordinal()) +
               " idle=" + std::to_string(self.pool->idle()) + ">";
      });
  module.def("_device_event_pool",
             [](int n) { return new PyEventPool(without_gil([&] { return Device(n).event_pool(); })); });
}

}  // namespace cucore::python
