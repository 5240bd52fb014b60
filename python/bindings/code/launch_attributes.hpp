// Launch attributes between Python and the core: the fields of LaunchConfig beyond extents and shared memory.
#pragma once

#include <optional>

#include "cucore/launch_config.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

/// None, or an int.
std::optional<int> optional_int(nb::handle value, const char* field);
nb::object optional_object(const std::optional<int>& value);

/// None, an Event, or (Event, trigger_at_block_start); what is read back is the pair.
std::optional<ProgrammaticEvent> programmatic_event(nb::handle value);
nb::object programmatic_event_object(const LaunchConfig& config);

/// None, or an Event.
std::optional<LaunchEvent> launch_completion_event(nb::handle value);
nb::object launch_completion_event_object(const LaunchConfig& config);

/// None, "default" or "remote".
std::optional<MemorySyncDomain> memory_sync_domain(nb::handle value);
nb::object memory_sync_domain_object(const LaunchConfig& config);

/// None, or (default, remote).
std::optional<MemorySyncDomainMap> memory_sync_domain_map(nb::handle value);
nb::object memory_sync_domain_map_object(const LaunchConfig& config);

/// None, "default", "spread" or "load_balancing".
std::optional<ClusterSchedulingPolicy> cluster_scheduling_policy(nb::handle value);
nb::object cluster_scheduling_policy_object(const LaunchConfig& config);

/// None, or an AccessPolicyWindow, a tuple or a dict of its fields; its base may be a Buffer.
std::optional<AccessPolicyWindow> access_policy_window(nb::handle value);
nb::object access_policy_window_object(const LaunchConfig& config);

}  // namespace cucore::python
