// The C++ side of the Python objects that own something of the driver: a reference of the core's, the handle it had
// when it was made (identity: hash and equality survive close()), and what Python wants to know besides.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>

#include "cucore/context.hpp"
#include "cucore/device_resources.hpp"
#include "cucore/event.hpp"
#include "cucore/event_pool.hpp"
#include "cucore/stream.hpp"
#include "python/bindings/getters.hpp"

namespace cucore::python {

inline std::uint64_t address(const void* handle) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
}

/// What tells one object from another: the driver's handle, for calls of the driver too.
template <class T>
std::uint64_t identity_of(const T& value) noexcept {
  return address(value.handle());
}
template <>
inline std::uint64_t identity_of(const Event& event) noexcept {
  return address(detail::native_handle(event));
}

/// A closed reference has nothing to destroy.
template <>
inline bool may_call_driver_at_end(const Event& event) noexcept {
  return static_cast<bool>(event);
}
template <>
inline bool may_call_driver_at_end(const Context& context) noexcept {
  return context.state().use_count() != 0;  // that of a primary context, which stays, counts none
}
template <>
inline bool may_call_driver_at_end(const Stream& stream) noexcept {
  return static_cast<bool>(stream);
}

/// A reference to T, with the identity it was made with.
template <class T>
class Wrapper {
 public:
  explicit Wrapper(T value) : identity_(identity_of(value)), value_(std::move(value)) {}
  Wrapper(Wrapper&&) noexcept = default;

  Reference<T> value() const noexcept {
    const std::lock_guard lock(exclusion_);
    return Reference<T>(*value_);
  }
  /// The value itself, for the garbage collector and where the GIL excludes others.
  T& bare_value() noexcept { return *value_; }
  std::uint64_t identity() const noexcept { return identity_; }
  bool is_open() const noexcept {
    const std::lock_guard lock(exclusion_);
    return static_cast<bool>(*value_);
  }
  bool is_in_use() const noexcept { return uses_ != 0; }

  /// A reference of the caller's own. Throws what T::share() throws of a closed one.
  T share() const {
    const std::lock_guard lock(exclusion_);
    return value_->share();
  }

  /// Another value for a closed wrapper.
  void assign(T value) {
    identity_ = identity_of(value);
    *value_ = std::move(value);
  }

  /// Closes the value; one that is in use is dropped by its last Use.
  void close_value() {
    T closed = take();
    if (!closed) return;
    const WithoutGil released;
    closed.close();
  }

  /// The same at the end of the object, where nobody else has it and nothing may be thrown: a failure is reported.
  void drop_value() noexcept {
    if (!*value_) return;
    const WithoutGil released{WithoutGil::held};
    *value_ = T();
  }

  /// Closes the value and gives it away; one that is in use is left to its last Use, and nothing is given away.
  T take() noexcept {
    const std::lock_guard lock(exclusion_);
    if (!is_in_use()) return std::move(*value_);
    if (*value_) retired_ = std::move(*value_);
    return T();
  }

  /// Calls `call` with a reference of its own and without the GIL, so that a close() in another thread is harmless.
  template <class Call>
  decltype(auto) use(Call&& call) const {
    T copy = share();
    const WithoutGil released{WithoutGil::held};
    const struct Drop {
      T& reference;
      ~Drop() { reference = T(); }
    } drop{copy};
    return call(static_cast<const T&>(copy));
  }

  /// Keeps an open value usable while the GIL is given up, whoever closes it meanwhile: as use(), for calls that a
  /// reference would cost too much. Made and destroyed with the GIL.
  class Use {
   public:
#ifdef Py_GIL_DISABLED
    explicit Use(const Wrapper& wrapper) noexcept : kept_(wrapper.value()) {}
    const T& operator*() const noexcept { return kept_; }
    /// Whether the value was still open when the use began.
    bool is_open() const noexcept { return static_cast<bool>(kept_); }
    /// Saves the destructor releasing the GIL again.
    void end_without_gil() noexcept { static_cast<T&>(kept_) = T(); }
#else
    explicit Use(const Wrapper& wrapper) noexcept : used_(wrapper) { ++used_.uses_; }
    [[gnu::always_inline]] ~Use() {
      --used_.uses_;
      if (used_.retired_) [[unlikely]] {
        used_.drop_retired();
      }
    }
    /// The value, even if it has been closed since.
    const T& operator*() const noexcept { return used_.is_open() ? used_.value() : used_.retired_; }
    bool is_open() const noexcept { return true; }  // as its maker has seen
    void end_without_gil() noexcept {}
#endif
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
#ifdef Py_GIL_DISABLED
    Reference<T> kept_;
#else
    const Wrapper& used_;
#endif
  };

  /// An open value as Use keeps it, for calls of the core that keep nothing of it: it counts no reference of its own.
  class Lent {
   public:
    explicit Lent(const Wrapper& wrapper) noexcept : use_(wrapper), value_(State(State(), (*use_).state().get())) {}
    const T& operator*() const noexcept { return value_; }

   private:
    using State = std::remove_cvref_t<decltype(std::declval<const T&>().state())>;
    Use use_;
    T value_;
  };

  /// Open wrappers of one handle are equal; a closed one equals only itself.
  bool equals(const Wrapper& other) const noexcept {
    return this == &other || (is_open() && other.is_open() && identity_ == other.identity_);
  }

 protected:
  Exclusion& exclusion() const noexcept { return exclusion_; }

 private:
  [[gnu::cold, gnu::noinline]] void drop_retired() const {
    if (uses_ != 0) return;
    T last = std::move(retired_);
    const WithoutGil released;
    last = T();
  }

  std::uint64_t identity_;
  [[no_unique_address]] mutable Exclusion exclusion_;
  Owned<T> value_;
  mutable T retired_;               // closed while in use
  mutable std::uint32_t uses_ = 0;  // with the GIL
};

struct PyContext : Wrapper<Context> {
  using Wrapper::Wrapper;
};

struct PyEvent : Wrapper<Event> {
  explicit PyEvent(Event event) : Wrapper(std::move(event)), is_recordable(value() && !value().is_ipc_enabled()) {}
  PyEvent(PyEvent&& other) noexcept
      : Wrapper(std::move(other)),
        is_recordable(other.is_recordable),
        kind(other.kind),
        lender(std::exchange(other.lender, nullptr)) {}
  ~PyEvent() {
    give_back();
    drop_value();
  }

  bool is_recordable;           ///< again and again: it is not one that other processes know
  unsigned kind = 0;            ///< which of its pool's
  EventPool* lender = nullptr;  ///< the pool it is on loan from, which has counted it

  /// Gives the event back to its pool, if it is from one: for this object it is then closed.
  void give_back() noexcept {
    EventPool* const from = end_loan();
    if (from == nullptr) return;
    Event event = take();  // none if it is in use just now: another user would get it
    if (from->take_back(event, kind) || !event) return;
    const WithoutGil released;
    event = Event();
  }
  /// The pool that is to take it back; only the first caller gets it.
  EventPool* end_loan() noexcept {
    const std::lock_guard lock(exclusion());
    return std::exchange(lender, nullptr);
  }
  void close() {
    give_back();
    close_value();
  }
};

/// The class Event, set when it is bound: of most events it is the type itself.
inline PyTypeObject* event_type = nullptr;

/// What the driver calls the event or stream of an open wrapper.
inline EventHandle native(const Wrapper<Event>& event) noexcept {
  return reinterpret_cast<EventHandle>(event.identity());
}
inline StreamHandle native(const Wrapper<Stream>& stream) noexcept {
  return reinterpret_cast<StreamHandle>(stream.identity());
}

/// A new Python object of `type`, which is T's or one derived from it, holding T(arguments...).
template <class T, class... Arguments>
nb::object new_object_of(nb::handle type, Arguments&&... arguments) {
  nb::object object = nb::inst_alloc(type);
  new (nb::inst_ptr<T>(object)) T(std::forward<Arguments>(arguments)...);
  nb::inst_mark_ready(object);
  return object;
}

/// A new Python object of T's own bound class.
template <class T, class... Arguments>
nb::object new_object(Arguments&&... arguments) {
  static const nb::handle type = nb::type<T>();
  return new_object_of<T>(type, std::forward<Arguments>(arguments)...);
}

/// Before an event is made: in a child of fork() that is a RuntimeError with cuda.core, and here one of both types.
void refuse_event_after_fork();

/// EventOptions of Python as the core's: an EventOptions, a dict of its fields or None. Throws TypeError.
EventOptions event_options(nb::handle options);

struct PyStream : Wrapper<Stream> {
  explicit PyStream(Stream stream, bool shared_default = false)
      : Wrapper(std::move(stream)), is_default(shared_default) {}
  std::optional<std::string> name;  ///< for people and tools
  bool is_default;  ///< one of the two singletons of the module, which everybody shares: close() leaves it open
};

/// How many objects of a pooled class stay in memory to be used again. None on a free-threaded Python before 3.14:
/// there nanobind keeps them for each thread, and empties them when the thread ends, which at the end of the process is
/// another attempt to run Python, and that ends the thread by unwinding its stack: through nanobind, which aborts.
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX < 0x030E0000
inline constexpr std::uint32_t pooled_objects = 0;
#else
inline constexpr std::uint32_t pooled_objects = 128;
#endif

/// tp_new of a pooled class (nb::pooled): one whose objects are made often, in the memory of earlier ones, which spares
/// nanobind's table of all objects by address. An object that nothing has been put into is all zeros here, as it would
/// be in new memory, and so a closed one to whoever does not ask whether it is ready.
inline PyObject* new_without_value(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  return answered([&] {
    nb::object object = nb::inst_alloc(reinterpret_cast<PyObject*>(type));
    nb::inst_zero(object);
    nb::inst_set_state(object, false, false);
    return object;
  });
}

template <class T>
bool is_closed(const T& self) {
  return !self.is_open();
}

/// Adds to a class what all owners have: is_closed, ==, hash, with. Every object is true, closed or not, as programs
/// expect that ask `if stream:` for "is there one".
template <class T, class Class>
void bind_owner(Class& cls) {
  getter<T, is_closed<T>>(cls, "is_closed", "Whether it has been closed.");
  bind_identity<T>(cls);
  cls.def("__enter__",
          [](nb::handle self) {
            if (self_as<T>(self).is_open()) return nb::borrow(self);
            throw std::runtime_error(std::string("the ") + nb::str(self.type().attr("__name__")).c_str() +
                                     " has been closed");
          })
      .def("__exit__", [](nb::handle self, const nb::args&) { self.attr("close")(); }, nb::arg("exception_info"));
}

/// A Stream, or the stream of a GraphBuilder; null for anything else. Throws RuntimeError for a closed builder.
const PyStream* as_stream(nb::handle object);

/// The module's LEGACY_DEFAULT_STREAM, and that or PER_THREAD_DEFAULT_STREAM.
nb::object legacy_default_stream();
nb::object default_stream(bool per_thread);

/// A stream as functions other than launch() take it: a Stream or a GraphBuilder. Throws TypeError for None, with the
/// advice to pass the default stream, and for anything else.
const PyStream& required_stream(nb::handle stream);

/// The stream for what keeps it (a Buffer, to be freed in its order). For a foreign stream it holds a reference of its
/// own to that object, which the keeper can show to the garbage collector.
Stream kept_stream(const PyStream& stream);

/// A foreign stream object, through `__cuda_stream__`; keeps it alive. Throws TypeError (no such attribute) and
/// RuntimeError (an answer that is not (0, address)). A warning is for the Python function of that `level`, 1: the one
/// that runs now.
Stream stream_from_protocol(nb::handle object, int level = 1);

/// The members of Stream in stream_operations.cpp.
void bind_stream_operations(nb::handle stream_class);

PyContext* new_context(Context context);
nb::object resources_object(DeviceResources resources);

}  // namespace cucore::python
