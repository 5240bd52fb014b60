// EventPool. get() and put() are what a program calls around every measurement, so they are plain C methods, and the
// Python objects of events that came back are used again: an object that is still referred to from elsewhere, weakly
// too, stays closed for good, any other becomes the next event's.
//
// The last few events that came back stay here, beside their objects and on loan from the core's pool, so that the next
// get() takes neither a lock nor an atomic step; the GIL keeps other threads out. On a Python without one, a critical
// section of the pool's object does, which like the GIL is released while the thread is outside Python.
#include "cucore/event_pool.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "cucore/device.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {
namespace {

bool is_weakly_referenced(nb::handle object) { return *PyObject_GET_WEAKREFS_LISTPTR(object.ptr()) != nullptr; }

struct PyEventPool {
  explicit PyEventPool(std::shared_ptr<EventPool> of) : pool(std::move(of)), at_hand_most(most_at_hand(*pool)) {
    pool->set_capacity(pool->capacity() - at_hand_most);
  }
  PyEventPool(const PyEventPool&) = delete;
  PyEventPool& operator=(const PyEventPool&) = delete;
  ~PyEventPool() { close(); }

  std::shared_ptr<EventPool> pool;  ///< null once closed
  std::vector<nb::object> objects;  ///< closed Event objects, to be used again
  static constexpr std::size_t max_objects = 16;

  /// An event on loan to this object, and the closed Event that it was.
  struct AtHand {
    nb::object object;
    Event event;
    unsigned kind = 0;
  };
  std::array<AtHand, 16> at_hand;
  std::size_t at_hand_count = 0;
  const std::size_t at_hand_most;  ///< they count towards the capacity; the core's pool has the rest

  static std::size_t most_at_hand(const EventPool& pool) noexcept {
#ifdef Py_GIL_DISABLED
    constexpr bool one_thread_at_a_time = false;
#else
    constexpr bool one_thread_at_a_time = true;
#endif
    return one_thread_at_a_time && pool.capacity() >= 64 ? std::tuple_size_v<decltype(at_hand)> : 0;
  }
  std::size_t capacity() const { return open().capacity() + at_hand_most; }
  std::size_t idle() const { return open().idle() + at_hand_count; }

  EventPool& open() const {
    if (pool == nullptr) [[unlikely]] {
      throw std::runtime_error("the EventPool has been closed");
    }
    return *pool;
  }

  void close() noexcept {
    if (pool == nullptr) return;
    std::shared_ptr<EventPool> closed = std::move(pool);
    closed->set_capacity(closed->capacity() + at_hand_most);
    give_back_all(*closed);
    drop_objects();
    const WithoutGil released;
    closed.reset();
  }

  void trim(std::size_t keep) {
    const std::shared_ptr<EventPool> trimmed = pool;
    open();
    give_back_all(*trimmed);
    without_gil([&] { trimmed->trim(keep); });
  }

  /// The event put back last, in its own object, if that is of this kind and nobody has a reference to it any more.
  PyObject* get_quickly(unsigned kind) noexcept {
    if (pool == nullptr || at_hand_count == 0) return nullptr;
    AtHand& last = at_hand[at_hand_count - 1];
    if (last.kind != kind || Py_REFCNT(last.object.ptr()) != 1 || is_weakly_referenced(last.object)) return nullptr;
    PyEvent& event = *nb::inst_ptr<PyEvent>(last.object);
    event.bare_value() = std::move(last.event);
    event.lender = pool.get();
    --at_hand_count;
    return last.object.release().ptr();
  }

  /// Whether it was one on loan from here whose object may be used again.
  bool put_quickly(PyObject* object) noexcept {
    if (Py_TYPE(object) != event_type) return false;
    PyEvent& event = *nb::inst_ptr<PyEvent>(object);
    if (event.lender == nullptr || event.lender != pool.get() || at_hand_count >= at_hand_most || !event.is_open() ||
        event.bare_value().state().use_count() != 1 || event.is_in_use() || is_weakly_referenced(object)) {
      return false;
    }
    AtHand& next = at_hand[at_hand_count++];
    next.kind = event.kind;
    next.event = std::move(event.bare_value());
    next.object = nb::borrow(object);
    event.lender = nullptr;
    return true;
  }

  nb::object get(const EventOptions& options) {
    EventPool& from = open();
    if (!options.ipc_enabled && at_hand_count > 1) {
      // The one put back last is often still the value of a variable.
      std::swap(at_hand[at_hand_count - 1], at_hand[at_hand_count - 2]);
      if (PyObject* const quickly = get_quickly(EventPool::kind_of(options))) return nb::steal(quickly);
    }
    Event event = event_at_hand(options);
    if (!event) event = from.lend(options);
    if (!event) [[unlikely]] {
      event = new_event(options);
    }
    nb::object object = closed_object();
    if (object.is_valid()) [[likely]] {
      nb::inst_ptr<PyEvent>(object)->assign(std::move(event));
    } else {
      object = object_of(from, std::move(event));
    }
    PyEvent& lent = *nb::inst_ptr<PyEvent>(object);
    lent.lender = &from;
    lent.kind = EventPool::kind_of(options);
    return object;
  }

  void put(nb::handle object) {
    if (Py_TYPE(object.ptr()) != event_type) {
      throw nb::type_error((std::string("event must be an Event, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
    }
    PyEvent& event = *nb::inst_ptr<PyEvent>(object);
    if (!event.is_open()) throw std::runtime_error("the event has been closed, or is back in its pool");
    if (event.lender == nullptr || event.lender != pool.get()) {
      throw nb::value_error("the event is not on loan from this pool: put() takes back what get() gave");
    }
    event.give_back();
#ifndef Py_GIL_DISABLED
    if (objects.size() < max_objects && !is_weakly_referenced(object)) objects.push_back(nb::borrow(object));
#endif
  }

 private:
  // Removes it from the array, whose order matters little.
  nb::object take_at_hand(std::size_t i) noexcept {
    AtHand& taken = at_hand[i];
    nb::object object = std::move(taken.object);
    if (AtHand& last = at_hand[--at_hand_count]; &last != &taken) taken = std::move(last);
    return object;
  }

  // One whose own object cannot be used.
  Event event_at_hand(const EventOptions& options) noexcept {
    for (std::size_t i = at_hand_count; i-- > 0;) {
      if (options.ipc_enabled || at_hand[i].kind != EventPool::kind_of(options)) continue;
      Event event = std::move(at_hand[i].event);
      const nb::object dropped = take_at_hand(i);
      return event;
    }
    return {};
  }

  void give_back_all(EventPool& to) noexcept {
    while (at_hand_count != 0) {
      AtHand& last = at_hand[at_hand_count - 1];
      const unsigned kind = last.kind;
      Event event = std::move(last.event);
      const nb::object object = take_at_hand(at_hand_count - 1);  // goes after the array is in order
      if (to.take_back(event, kind)) continue;
      const WithoutGil released;
      event = Event();
    }
  }

  Event new_event(const EventOptions& options) {
    const std::shared_ptr<EventPool> kept = pool;  // close() may come while the GIL is given up
    return without_gil([&] {
      Event event = kept->context().create_event(options);
      kept->count_loan();
      return event;
    });
  }

  static nb::object object_of(EventPool& from, Event event) {
    try {
      return new_object<PyEvent>(std::move(event));
    } catch (...) {
      Event nothing;
      from.take_back(nothing, 0);
      throw;
    }
  }

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
  const nb::ft_object_guard alone(self);
  if (count == 0 && names == nullptr) [[likely]] {
    if (PyObject* const event = nb::inst_ptr<PyEventPool>(self)->get_quickly(0)) return event;
  }
  return answered([&] {
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    if (count + named > 1 ||
        (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "options") != 0)) {
      throw nb::type_error("EventPool.get takes one argument, options");
    }
    PyEventPool& pool = *nb::inst_ptr<PyEventPool>(self);  // one made by __new__ alone is a closed one
    const EventOptions options = count + named == 0 ? EventOptions{} : event_options(arguments[0]);
    if (!options.ipc_enabled) {
      if (PyObject* const event = pool.get_quickly(EventPool::kind_of(options))) return nb::steal(event);
    }
    return pool.get(options);
  });
}

PyObject* put(PyObject* self, PyObject* event) {
  const nb::ft_object_guard alone(self);
  if (nb::inst_ptr<PyEventPool>(self)->put_quickly(event)) [[likely]] {
    Py_RETURN_NONE;
  }
  return answered([&] {
    nb::inst_ptr<PyEventPool>(self)->put(event);
    return nb::none();
  });
}

constexpr const char* get_document =
    "get(options=None)\n--\n\n"
    "An event on loan: an idle one of that kind, or a new one. close(), leaving `with`, put() and garbage collection "
    "give it back. It may have been recorded by an earlier user.";
constexpr const char* put_document =
    "put(event, /)\n--\n\nTakes back an event that get() gave; it is closed to its user.";

// The pool of a device is one object for all threads as long as anybody refers to it, so all share the events at hand.
nb::object device_event_pool(int ordinal) {
  static auto* const known = new std::map<int, PyObject*>;  // weak references
  static nb::ft_mutex mutex;                                // where there is no GIL to guard them
  const nb::ft_lock_guard lock(mutex);
  if (const auto found = known->find(ordinal); found != known->end()) {
    nb::object pool = nb::steal(PyObject_CallNoArgs(found->second));
    if (!pool.is_valid()) throw nb::python_error();
    if (!pool.is_none() && nb::inst_ptr<PyEventPool>(pool)->pool != nullptr) return pool;
  }
  auto events = without_gil([&] { return Device(ordinal).event_pool(); });
  nb::object pool = new_object<PyEventPool>(std::move(events));
  PyObject* const reference = PyWeakref_NewRef(pool.ptr(), nullptr);
  if (reference == nullptr) throw nb::python_error();
  PyObject*& slot = (*known)[ordinal];
  Py_XSETREF(slot, reference);
  return pool;
}

// The casts are how CPython takes functions of these kinds.
PyMethodDef event_pool_methods[] = {
    {"get", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(get)), METH_FASTCALL | METH_KEYWORDS,
     get_document},
    {"put", put, METH_O, put_document},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot event_pool_slots[] = {{Py_tp_methods, event_pool_methods}, {0, nullptr}};

}  // namespace

void bind_event_pool(nb::module_& module) {
  auto cls = nb::class_<PyEventPool>(
      module, "EventPool", nb::is_weak_referenceable(), nb::type_slots(event_pool_slots),
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
          nb::lock_self(), "The Device whose events they are.")
      .def_prop_ro(
          "idle", [](const PyEventPool& self) { return self.idle(); }, nb::lock_self(),
          "How many events wait to be used.")
      .def_prop_ro(
          "capacity", [](const PyEventPool& self) { return self.capacity(); }, nb::lock_self(),
          "How many idle events of each kind are kept.")
      .def(
          "trim", [](PyEventPool& self, std::size_t keep) { self.trim(keep); }, nb::arg("keep") = 0, nb::lock_self(),
          "Destroys idle events until at most `keep` of each kind are left.")
      .def("close", &PyEventPool::close, nb::lock_self(), "Drops the pool; events on loan stay usable.")
      .def_prop_ro(
          "is_closed", [](const PyEventPool& self) { return self.pool == nullptr; }, nb::lock_self(),
          "Whether it has been closed.")
      .def(
          "__bool__", [](const PyEventPool& self) { return self.pool != nullptr; }, nb::lock_self())
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__", [](PyEventPool& self, const nb::args&) { self.close(); }, nb::arg("exception_info"),
          nb::lock_self())
      .def(
          "__repr__",
          [](const PyEventPool& self) -> std::string {
            if (self.pool == nullptr) return "<EventPool closed>";
            return "<EventPool device=" + std::to_string(self.pool->context().device().ordinal()) +
                   " idle=" + std::to_string(self.idle()) + ">";
          },
          nb::lock_self());
  module.def("_device_event_pool", device_event_pool);
}

}  // namespace cucore::python
