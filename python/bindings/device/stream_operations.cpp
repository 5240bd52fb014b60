// What a Stream does besides ordering: host functions, values in memory, attributes and a name.
#include <array>

#include "cucore/stream.hpp"
#include "python/bindings/callback.hpp"
#include "python/bindings/graph/builder.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

void callback(const PyStream& self, nb::handle function) {
  std::function<void()> call = [callback = PythonCallback(function)] { callback.call(); };
  self.use([&](const Stream& stream) { stream.callback(std::move(call)); });
}

template <class Word>
struct Named {
  const char* name;
  Word word;
};

constexpr std::array<Named<WaitCondition>, 4> conditions{{{">=", WaitCondition::greater_or_equal},
                                                          {"==", WaitCondition::equal},
                                                          {"&", WaitCondition::any_bit},
                                                          {"nor", WaitCondition::any_zero_bit}}};
constexpr std::array<Named<SyncPolicy>, 4> policies{{{"auto", SyncPolicy::automatic},
                                                     {"spin", SyncPolicy::spin},
                                                     {"yield", SyncPolicy::yield},
                                                     {"blocking_sync", SyncPolicy::blocking_sync}}};
constexpr std::array<Named<MemSyncDomain>, 2> domains{
    {{"default", MemSyncDomain::default_domain}, {"remote", MemSyncDomain::remote}}};

template <class Table>
auto word_of(const Table& table, std::string_view name, const char* what) {
  std::string legal;
  for (const auto& entry : table) {
    if (name == entry.name) return entry.word;
    legal += (legal.empty() ? "'" : ", '") + std::string(entry.name) + "'";
  }
  throw nb::value_error((std::string(what) + " must be one of " + legal + ", not '" + std::string(name) + "'").c_str());
}

template <class Table, class Word>
const char* name_of(const Table& table, Word word) {
  for (const auto& entry : table) {
    if (entry.word == word) return entry.name;
  }
  return "unknown";
}

// A Buffer, or a number: the address of device memory.
DevicePointer address_of(nb::handle address) {
  nb::object number = nb::borrow(address);
  if (nb::hasattr(address, "handle")) number = address.attr("handle");
  const auto index = nb::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw nb::type_error(
        (std::string("address must be a Buffer or an int, not ") + Py_TYPE(address.ptr())->tp_name).c_str());
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

// The value as the bits of a word; negative ones in two's complement.
std::uint64_t bits_of(nb::handle value, int bits) {
  if (bits != 32 && bits != 64) throw nb::value_error("bits must be 32 or 64");
  const auto index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  std::uint64_t word = static_cast<std::uint64_t>(number);
  bool fits = overflow == 0;
  if (overflow > 0) {
    word = PyLong_AsUnsignedLongLong(index.ptr());
    fits = bits == 64 && PyErr_Occurred() == nullptr;
    PyErr_Clear();
  } else if (bits == 32) {
    fits = fits && number >= INT32_MIN && number <= static_cast<long long>(UINT32_MAX);
  }
  if (!fits) {
    PyErr_Format(PyExc_OverflowError, "the value %R does not fit into %d bits", index.ptr(), bits);
    throw nb::python_error();
  }
  return bits == 32 ? word & UINT32_MAX : word;
}

void wait_value(const PyStream& self, nb::handle at, nb::handle value, std::string_view condition, int bits) {
  const WaitCondition until = word_of(conditions, condition, "condition");
  const DevicePointer address = address_of(at);
  const std::uint64_t word = bits_of(value, bits);
  self.use([&](const Stream& stream) {
    if (bits == 32) return stream.wait_value(address, static_cast<std::uint32_t>(word), until);
    stream.wait_value(address, word, until);
  });
}

void write_value(const PyStream& self, nb::handle at, nb::handle value, int bits) {
  const DevicePointer address = address_of(at);
  const std::uint64_t word = bits_of(value, bits);
  self.use([&](const Stream& stream) {
    if (bits == 32) return stream.write_value(address, static_cast<std::uint32_t>(word));
    stream.write_value(address, word);
  });
}

}  // namespace

void bind_stream_operations(nb::handle stream_class) {
  auto cls = nb::borrow<nb::class_<PyStream>>(stream_class);
  cls.def("create_graph_builder", graph_builder_on, "A GraphBuilder that captures on this stream.")
      .def("callback", callback, nb::arg("function").none(),
           "Calls `function()` on a thread of the driver when the work submitted so far has completed; later work here "
           "waits for it to return. It must not call CUDA; what it raises goes to sys.unraisablehook. It is not called "
           "if that work failed.")
      .def("wait_value", wait_value, nb::arg("address"), nb::arg("value"), nb::arg("condition") = ">=", nb::kw_only(),
           nb::arg("bits") = 32,
           "Later work here waits until the value in device memory at `address` (a Buffer or an int) is as `condition` "
           "says: '>=' (their difference, with a sign, is not negative), '==', '&' (a bit in common) or 'nor' (a bit "
           "set in neither). The host does not wait.")
      .def("write_value", write_value, nb::arg("address"), nb::arg("value"), nb::kw_only(), nb::arg("bits") = 32,
           "Writes a value to device memory when the work submitted so far has completed.")
      .def_prop_rw(
          "sync_policy",
          [](const PyStream& self) {
            return name_of(policies, self.use([](const Stream& stream) { return stream.sync_policy(); }));
          },
          [](const PyStream& self, std::string_view policy) {
            const SyncPolicy chosen = word_of(policies, policy, "sync_policy");
            self.use([&](const Stream& stream) { stream.set_sync_policy(chosen); });
          },
          "How a thread that waits for the stream waits: 'auto', 'spin', 'yield' or 'blocking_sync'.")
      .def_prop_rw(
          "mem_sync_domain",
          [](const PyStream& self) {
            return name_of(domains, self.use([](const Stream& stream) { return stream.mem_sync_domain(); }));
          },
          [](const PyStream& self, std::string_view domain) {
            const MemSyncDomain chosen = word_of(domains, domain, "mem_sync_domain");
            self.use([&](const Stream& stream) { stream.set_mem_sync_domain(chosen); });
          },
          "'default' or 'remote': whose writes the memory fences of its kernels wait for.")
      .def_prop_rw(
          "name", [](const PyStream& self) { return self.name; },
          [](PyStream& self, std::optional<std::string> name) { self.name = std::move(name); },
          nb::for_setter(nb::arg("name").none()), nb::lock_self(),
          "A name for people and tools, shown in its repr; None at first.");
}

}  // namespace cucore::python
