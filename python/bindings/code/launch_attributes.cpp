// Launch attributes: words for the driver's enumerations, events, and the access policy window.
#include "python/bindings/code/launch_attributes.hpp"

#include <array>
#include <limits>
#include <string>

#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

using namespace std::string_literals;

[[noreturn]] void refuse_value(const char* field, const std::string& expected, nb::handle given) {
  throw nb::value_error((field + " must be "s + expected + ", not " + nb::repr(given).c_str()).c_str());
}

// An enumerator by its word; their numbers count from 0.
template <class Enum, std::size_t N>
Enum by_word(nb::handle value, const char* field, const std::array<const char*, N>& words) {
  std::string expected;
  for (std::size_t i = 0; i < N; ++i) {
    if (PyUnicode_Check(value.ptr()) && PyUnicode_CompareWithASCIIString(value.ptr(), words[i]) == 0) {
      return static_cast<Enum>(i);
    }
    expected += (i == 0 ? "'"s : i + 1 == N ? " or '"s : ", '"s) + words[i] + "'";
  }
  refuse_value(field, expected, value);
}

template <class Enum, std::size_t N>
nb::object word_of(const std::optional<Enum>& value, const std::array<const char*, N>& words) {
  if (!value) return nb::none();
  return nb::str(words[static_cast<std::size_t>(*value)]);
}

constexpr std::array<const char*, 2> domains{"default", "remote"};
constexpr std::array<const char*, 3> policies{"default", "spread", "load_balancing"};
constexpr std::array<const char*, 3> access_properties{"normal", "streaming", "persisting"};

LaunchEvent event_reference(nb::handle value, const char* field) {
  const PyEvent* event = nullptr;
  if (!nb::try_cast<const PyEvent*>(value, event) || event == nullptr) {
    throw nb::type_error((field + " must be an Event, not "s + Py_TYPE(value.ptr())->tp_name).c_str());
  }
  const Reference<Event> open = event->value();
  if (!open) throw nb::value_error((field + "'s Event has been closed"s).c_str());
  return LaunchEvent(open);
}

nb::object event_object(const LaunchEvent& event) {
  return nb::cast(new PyEvent(Event(event.state())), nb::rv_policy::take_ownership);
}

std::uint64_t base_address(nb::handle value) {
  const PyBuffer* buffer = nullptr;
  if (nb::try_cast<const PyBuffer*>(value, buffer) && buffer != nullptr) return buffer->value().handle();
  return unsigned_number(value, "access_policy_window.base_ptr");
}

}  // namespace

std::optional<int> optional_int(nb::handle value, const char* field) {
  if (value.is_none()) return std::nullopt;
  const auto number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long whole = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || whole < std::numeric_limits<int>::min() || whole > std::numeric_limits<int>::max()) {
    refuse_value(field, "an int of 32 bits", value);
  }
  return static_cast<int>(whole);
}

nb::object optional_object(const std::optional<int>& value) {
  if (!value) return nb::none();
  return nb::int_(*value);
}

std::optional<ProgrammaticEvent> programmatic_event(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  if (!PyTuple_Check(value.ptr())) return ProgrammaticEvent{event_reference(value, "programmatic_event"), false};
  const auto pair = nb::borrow<nb::tuple>(value);
  if (pair.size() != 2) refuse_value("programmatic_event", "an Event or (Event, trigger_at_block_start)", value);
  const int trigger = PyObject_IsTrue(nb::object(pair[1]).ptr());
  if (trigger < 0) throw nb::python_error();
  return ProgrammaticEvent{event_reference(pair[0], "programmatic_event"), trigger != 0};
}

nb::object programmatic_event_object(const LaunchConfig& config) {
  if (!config.programmatic_event) return nb::none();
  return nb::make_tuple(event_object(config.programmatic_event->event),
                        config.programmatic_event->trigger_at_block_start);
}

std::optional<LaunchEvent> launch_completion_event(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return event_reference(value, "launch_completion_event");
}

nb::object launch_completion_event_object(const LaunchConfig& config) {
  if (!config.launch_completion_event) return nb::none();
  return event_object(*config.launch_completion_event);
}

std::optional<MemorySyncDomain> memory_sync_domain(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return by_word<MemorySyncDomain>(value, "memory_sync_domain", domains);
}

nb::object memory_sync_domain_object(const LaunchConfig& config) { return word_of(config.memory_sync_domain, domains); }

std::optional<MemorySyncDomainMap> memory_sync_domain_map(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  const char* const field = "memory_sync_domain_map";
  const auto pair = nb::steal<nb::tuple>(PySequence_Tuple(value.ptr()));
  if (!pair.is_valid()) throw nb::python_error();
  if (pair.size() != 2) refuse_value(field, "(default, remote)", value);
  std::array<std::uint8_t, 2> domain{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<int> number = optional_int(pair[i], field);
    if (!number || *number < 0 || *number > 255) refuse_value(field, "two domains' numbers", value);
    domain[i] = static_cast<std::uint8_t>(*number);
  }
  return MemorySyncDomainMap{domain[0], domain[1]};
}

nb::object memory_sync_domain_map_object(const LaunchConfig& config) {
  if (!config.memory_sync_domain_map) return nb::none();
  return nb::make_tuple(config.memory_sync_domain_map->normal, config.memory_sync_domain_map->remote);
}

std::optional<ClusterSchedulingPolicy> cluster_scheduling_policy(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return by_word<ClusterSchedulingPolicy>(value, "cluster_scheduling_policy", policies);
}

nb::object cluster_scheduling_policy_object(const LaunchConfig& config) {
  return word_of(config.cluster_scheduling_policy, policies);
}

std::optional<AccessPolicyWindow> access_policy_window(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  // The Python class knows the names and defaults of the fields.
  const nb::handle make = from_package(Package::AccessPolicyWindow);
  nb::object fields;
  if (PyDict_Check(value.ptr())) {
    fields = make(**nb::borrow<nb::dict>(value));
  } else if (PyTuple_Check(value.ptr())) {
    fields = make(*nb::borrow<nb::tuple>(value));
  } else {
    throw nb::type_error(("access_policy_window must be an AccessPolicyWindow or a dict of its fields, not "s +
                          Py_TYPE(value.ptr())->tp_name)
                             .c_str());
  }
  AccessPolicyWindow window;
  window.base = base_address(fields.attr("base_ptr"));
  window.num_bytes = unsigned_number(fields.attr("num_bytes"), "access_policy_window.num_bytes");
  const double ratio = PyFloat_AsDouble(nb::object(fields.attr("hit_ratio")).ptr());
  if (ratio == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  window.hit_ratio = static_cast<float>(ratio);
  window.hit = by_word<AccessProperty>(fields.attr("hit_prop"), "access_policy_window.hit_prop", access_properties);
  window.miss = by_word<AccessProperty>(fields.attr("miss_prop"), "access_policy_window.miss_prop", access_properties);
  return window;
}

nb::object access_policy_window_object(const LaunchConfig& config) {
  if (!config.access_policy_window) return nb::none();
  const AccessPolicyWindow& window = *config.access_policy_window;
  return from_package(Package::AccessPolicyWindow)(window.base, window.num_bytes, window.hit_ratio,
                                                   access_properties[static_cast<std::size_t>(window.hit)],
                                                   access_properties[static_cast<std::size_t>(window.miss)]);
}

}  // namespace cucore::python
